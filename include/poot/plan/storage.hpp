#pragma once
/// Where each value lives: planned after fusion, for the order in which the launches run.

#include <poot/plan/program.hpp>

namespace poot::plan::detail {

using fuse::grouping;

class storage_planner {
 public:
  constexpr storage_planner(program& made, const graph_view& g, const fuse::partition& regions) : p_(made), g_(g), regions_(regions) {
    place_leaves_and_views();
    find_last_uses();
    place_outputs();
    place_arena();
    place_tables();
  }

 private:
  static constexpr uint32 none = grouping::none;
  static constexpr uint32 forever = 0xfffffffeu;

  constexpr const graph_view& g() const { return g_; }
  constexpr uint32 storage_of(uint32 id) const {
    return plan::storage_of(p_.placements.data(), id);
  }

  /// The state that output `o` is the new value of, or none.
  constexpr uint32 state_written_by(const ir::graph_output& o) {
    const auto count = static_cast<uint32>(states_.size());
    const uint32 found = state_names_.find(count, g().chars(o.name), [&](uint32 i) { return g().name_of(states_[i]); });
    return found == count ? none : states_[found];
  }

  constexpr void place_leaves_and_views() {
    p_.placements.resize(g_.size());
    for (uint32 id = 0, size = static_cast<uint32>(g_.size()); id < size; ++id) {
      const ir::eqn& e = g_[id];
      if (e.kind == ir::op::state) states_.push_back(id);
      if (ir::is_named_leaf(e.kind)) p_.placements[id].where = place::leaf;
      else if (e.kind == ir::op::reshape) p_.placements[id] = {place::view, g().first_operand(id)[0], 0};
      else if (e.kind == ir::op::slice && regions_.region_of[id] == none) p_.placements[id] = {place::window, g().first_operand(id)[0], 0};
    }
  }

  /// The launch that makes each value, and the last that reads its storage.
  constexpr void find_last_uses() {
    made_by_.resize(g().size(), none);
    last_use_.resize(g().size(), none);
    const uint32* const ids = p_.ids.data();
    uint32 *const made_by = made_by_.data(), *const last_use = last_use_.data();
    for (uint32 l = 0, count = static_cast<uint32>(p_.launches.size()); l < count; ++l) {
      const slice_of outputs = p_.launches[l].outputs, inputs = p_.launches[l].inputs;
      for (uint32 k = 0; k < outputs.count; ++k) made_by[ids[outputs.first + k]] = last_use[ids[outputs.first + k]] = l;
      for (uint32 k = 0; k < inputs.count; ++k) last_use[storage_of(ids[inputs.first + k])] = l;
    }
    for (const ir::graph_output& o : g().outputs) last_use_[storage_of(o.value)] = forever;
  }

  constexpr view<uint32> run(slice_of s) const { return view<uint32>(p_.ids).subview(s.first, s.count); }

  /// A result is written straight into the caller's buffer, a state in place where that is proved; else it is copied.
  constexpr void place_outputs() {
    const auto count = static_cast<uint32>(g().outputs.size());
    for (uint32 k = 0; k < count; ++k) {
      const uint32 value = g().outputs[k].value, stored = storage_of(value);
      const uint32 leaf = state_written_by(g().outputs[k]);
      const bool is_state = leaf != none;
      if (is_state && stored == leaf) continue;  // a state that keeps its value
      if (is_state && write_in_place(leaf, stored)) continue;
      if (!is_state && made_by_[stored] != none && p_.placements[stored].where == place::none) {
        p_.placements[stored] = {place::output, k, 0};
        continue;
      }
      p_.copies.push_back({value, k});
    }
  }

  /// The chain of updates from the state to its new value may overwrite it if every other reader of the value before an
  /// update has run by then, and nothing else keeps one of the values.
  constexpr bool write_in_place(uint32 state, uint32 value) {
    chain_.clear();
    for (uint32 at = value; at != state;) {
      if (g()[at].kind != ir::op::dynamic_update_slice || made_by_[at] == none ||
          p_.placements[at].where != place::none)
        return false;
      chain_.push_back(at);
      at = storage_of(g().first_operand(at)[0]);
    }
    for (uint32 update : chain_) {
      const uint32 before = storage_of(g().first_operand(update)[0]), overwritten_by = made_by_[update];
      for (uint32 k : {1u, 2u})
        if (storage_of(g().first_operand(update)[k]) == before) return false;  // the update reads what it overwrites
      if (last_use_[before] > overwritten_by) return false;  // read later, or a result itself
    }
    for (uint32 update : chain_) p_.placements[update] = {place::state, state, 0};
    return true;
  }

  /// First fit over the values alive at each launch.
  constexpr void place_arena() {
    vec<uint32> alive;  // values, ascending by offset
    const uint32* const last_use = last_use_.data();
    for (uint32 l = 0; l < p_.launches.size(); ++l) {
      uint32 kept = 0;
      uint32* const values = alive.data();
      for (uint32 k = 0, count = static_cast<uint32>(alive.size()); k < count; ++k)
        if (last_use[values[k]] >= l) values[kept++] = values[k];
      alive.truncate(kept);
      for (uint32 id : run(p_.launches[l].outputs)) {
        if (p_.placements[id].where != place::none) continue;
        const int64 bytes = aligned(g().type(id).bytes());
        int64 offset = 0;
        uint32 at = 0;
        for (; at < alive.size(); ++at) {
          const placement& taken = p_.placements[alive[at]];
          if (taken.offset - offset >= bytes) break;
          offset = taken.offset + aligned(g().type(alive[at]).bytes());
        }
        p_.placements[id] = {place::arena, 0, offset};
        if (bytes > 0) {
          alive.push_back(id);
          for (uint32 i = static_cast<uint32>(alive.size()) - 1; i > at; --i) alive[i] = alive[i - 1];
          alive[at] = id;
        }
        p_.arena_bytes = p_.arena_bytes > offset + bytes ? p_.arena_bytes : offset + bytes;
        p_.unshared_bytes += bytes;
      }
    }
  }

  /// Constants with a memory form, and what the prologue makes.
  constexpr void place_tables() {
    for (uint32 id = 0, size = static_cast<uint32>(g_.size()); id < size; ++id) {
      const ir::eqn& e = g_[id];
      const bool table = e.kind == ir::op::constant || e.kind == ir::op::iota;
      if (table && !is_used(id)) continue;
      if (table) place_table(id);
    }
    for (const launch& l : p_.prologue)
      for (uint32 id : run(l.outputs))
        if (p_.placements[id].where == place::none) place_table(id);
  }
  constexpr void place_table(uint32 id) {
    p_.placements[id] = {place::table, 0, p_.table_bytes};
    p_.table_bytes += aligned(g().type(id).bytes());
  }

  /// Is the constant read from memory by a launch or an output?
  constexpr bool is_used(uint32 id) {
    if (used_.empty()) {
      used_.resize(g().size(), 0);
      for (const vec<launch>* list : {&p_.launches, &p_.prologue})
        for (const launch& l : *list)
          for (uint32 in : run(l.inputs)) used_[storage_of(in)] = 1;
      for (const ir::graph_output& o : g().outputs) used_[storage_of(o.value)] = 1;
    }
    return used_[id];
  }

  program& p_;
  const graph_view g_;  // (made once: each costs g++ 12 kilobytes of memory that it keeps)
  const fuse::partition& regions_;
  vec<uint32> made_by_, last_use_, chain_, states_;
  name_index state_names_;
  vec<uint8> used_;
};

}  // namespace poot::plan::detail

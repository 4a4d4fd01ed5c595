#pragma once
/// Runs a program on memory that remembers only which value lies where: every launch must find what it reads.

#include <poot/plan/compile.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace memory_model {

using namespace poot;
using plan::place;

class machine {
 public:
  explicit machine(const plan::program_view& program) : p(program), arena(static_cast<size_t>(p.arena_bytes / 64), nothing) {
    for (uint32 id = 0; id < p.graph.size(); ++id) {
      const ir::op o = p.graph[id].kind;
      if (p.placements[id].where == place::leaf) other[{'l', id}] = id;
      if (p.placements[id].where == place::table && (o == ir::op::constant || o == ir::op::iota)) other[{'t', id}] = id;
    }
  }

  /// What is wrong with the program, empty if nothing is.
  std::string run() {
    check_tables();
    for (const plan::launch& l : p.prologue) launch(l);
    for (const plan::launch& l : p.launches) launch(l);
    std::vector<std::pair<uint32, uint32>> saved;
    for (const plan::copy& c : p.copies) {
      if (!holds(c.value)) complain("a copy finds another value than", c.value);
      saved.push_back({c.output, source(c.value)});
    }
    std::set<uint32> copied;
    for (const auto& [output, value] : saved) {
      if (!copied.insert(output).second) complain("copied twice: output", output);
      const uint32 state = p.graph.state_of(p.graph.outputs[output]);
      other[state < p.graph.size() ? key('l', state) : key('o', output)] = value;
    }
    for (uint32 k = 0; k < p.graph.outputs.size(); ++k) {
      const uint32 value = source(p.graph.outputs[k].value), state = p.graph.state_of(p.graph.outputs[k]);
      if (const auto at = other.find(state < p.graph.size() ? key('l', state) : key('o', k)); at == other.end() || at->second != value)
        complain("at the end another value than the result lies in output", k);
    }
    for (uint32 id = 0; id < p.graph.size(); ++id)
      if (ir::is_named_leaf(p.graph[id].kind) && other[{'l', id}] != id && !is_new_value(id)) complain("overwritten: leaf", id);
    return wrong;
  }

 private:
  using key = std::pair<char, uint32>;
  static constexpr uint32 nothing = 0xffffffffu;

  /// The value whose bytes `id` shows, through views of every kind, found from the graph alone.
  uint32 source(uint32 id) const {
    while (p.graph[id].kind == ir::op::reshape || p.placements[id].where == place::window) id = p.graph.operands(id)[0];
    return id;
  }
  key where(uint32 id) const {
    const plan::placement& at = p.placements[id];
    switch (at.where) {
      case place::leaf: return {'l', id};
      case place::table: return {'t', id};
      case place::output: return {'o', at.index};
      case place::state: return {'l', at.index};
      default: return {'?', id};
    }
  }
  std::pair<size_t, size_t> blocks(uint32 id) const {
    const int64 bytes = p.graph.type(id).bytes(), first = p.placements[id].offset;
    return {static_cast<size_t>(first / 64), static_cast<size_t>((first + bytes + 63) / 64)};
  }
  bool holds(uint32 id) {
    id = source(id);
    if (p.placements[id].where != place::arena) {
      const auto at = other.find(where(id));
      return at != other.end() && at->second == id;
    }
    const auto [first, last] = blocks(id);
    for (size_t b = first; b < last; ++b)
      if (b >= arena.size() || arena[b] != id) return false;
    return true;
  }
  void launch(const plan::launch& l) {
    for (uint32 in : p(l.inputs))
      if (!holds(in)) complain("a launch finds another value than", in);
    std::set<key> written;
    std::vector<bool> taken(arena.size());
    for (uint32 id : p(l.outputs)) {
      const plan::placement& at = p.placements[id];
      if (at.where == place::arena) {
        if (at.offset % 64) complain("unaligned:", id);
        const auto [first, last] = blocks(id);
        if (at.offset + p.graph.type(id).bytes() > p.arena_bytes) complain("outside the arena:", id);
        for (size_t b = first; b < last && b < arena.size(); ++b) {
          if (taken[b]) complain("two results of one launch overlap:", id);
          taken[b] = true;
        }
      } else if (at.where == place::none || at.where == place::leaf || at.where == place::view || at.where == place::window) {
        complain("a result has no memory:", id);
      } else if (!written.insert(where(id)).second) {
        complain("two results of one launch share memory:", id);
      }
      for (uint32 in : p(l.inputs)) {  // only the value that an update overwrites may lie where the update does
        const uint32 read = source(in);
        const bool updated = p.graph[id].kind == ir::op::dynamic_update_slice && source(p.graph.operands(id)[0]) == read &&
                             source(p.graph.operands(id)[1]) != read && source(p.graph.operands(id)[2]) != read;
        if (updated) continue;
        bool overlaps = at.where != place::arena && p.placements[read].where != place::arena && where(read) == where(id);
        if (at.where == place::arena && p.placements[read].where == place::arena) {
          const auto [a, b] = blocks(id);
          const auto [c, d] = blocks(read);
          overlaps = a < d && c < b;
        }
        if (overlaps) complain("a launch overwrites what it reads:", in);
      }
    }
    for (uint32 id : p(l.outputs)) {
      if (p.placements[id].where != place::arena) {
        other[where(id)] = id;
        continue;
      }
      const auto [first, last] = blocks(id);
      for (size_t b = first; b < last && b < arena.size(); ++b) arena[b] = id;
    }
  }
  void check_tables() {
    std::map<int64, int64> taken;
    for (uint32 id = 0; id < p.graph.size(); ++id) {
      if (p.placements[id].where != place::table || p.graph.type(id).bytes() == 0) continue;
      const int64 first = p.placements[id].offset, last = first + p.graph.type(id).bytes();
      if (first % 64 || last > p.table_bytes) complain("a table outside its memory:", id);
      for (const auto& [a, b] : taken)
        if (first < b && a < last) complain("two tables overlap:", id);
      taken[first] = last;
    }
  }
  bool is_new_value(uint32 state) const {
    for (const ir::graph_output& o : p.graph.outputs)
      if (p.graph.state_of(o) == state) return true;
    return false;
  }
  void complain(const char* what, uint32 id) {
    if (wrong.empty()) wrong = std::string(what) + " " + std::to_string(id);
  }

  const plan::program_view& p;
  std::vector<uint32> arena;  // by blocks of 64 bytes
  std::map<key, uint32> other;
  std::string wrong;
};

}  // namespace memory_model

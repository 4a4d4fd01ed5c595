#pragma once
/// Builds the tile program of a region from its graph, at load.

#include <poot/core/ascending.hpp>
#include <poot/run/host/tile_chain.hpp>

namespace poot::run::host {

/// Turns a member list into phases and instructions. Throws where the list is not a region of its kind.
class tile_builder {
 public:
  tile_builder(const ir::graph_view& g, const region_members& region) : g_(g), region_(region), emit_(g, p_) {}

  tile_program build() {
    p_.kind = region_.kind;
    find_space();
    for (uint32 id : region_.members) add_member(id);
    for (uint32 id : region_.outputs) add_output(id);
    find_needs();
    for (tile_node& n : nodes_)
      if (!n.is_member) bind_external(n);
    emit_row_values(0);
    for (size_t phase = 0; phase < needed_.size(); ++phase) {
      emit_phase(static_cast<int>(phase));
      emit_row_values(static_cast<int>(phase) + 1);
    }
    for (tile_output& o : p_.outputs)
      if (o.level != value_level::tile) o.slot = static_cast<uint16>(nodes_[root(o.id)].reg);
    return static_cast<tile_program&&>(p_);
  }

 private:
  /// Values dearer than this many operations of the op table are kept for later phases rather than computed again.
  static constexpr int cheap = 6;

  // ---- values

  bool is_member(uint32 id) const { return position_in(region_.members, id) < region_.members.size(); }

  /// The node that holds the tile of `id`.
  uint32 root(uint32 id) {
    while (is_member(id) && is_same_tile(g_, id)) id = g_.operands(id)[0];
    for (size_t i = nodes_.size(); i-- > 0;)
      if (nodes_[i].id == id) return static_cast<uint32>(i);
    tile_node n;
    n.id = id;
    n.level = g_.is_scalar_constant(id) ? value_level::uniform : level_of(g_.type(id));
    if (is_head(id)) n.level = value_level::tile;
    if (is_packed(g_.type(id).element)) refuse(id, "a packed value cannot be read by a region");
    note_symbols(g_.type(id));
    nodes_.push_back(n);
    return static_cast<uint32>(nodes_.size() - 1);
  }
  /// Which contraction of an epilogue it is; -1: none.
  int head_number(uint32 id) const {
    for (size_t h = 0; h < region_.heads.size(); ++h)
      if (region_.heads[h] == id) return static_cast<int>(h);
    return -1;
  }
  bool is_head(uint32 id) const { return head_number(id) >= 0; }

  value_level level_of(const tensor_type& t) const {
    bool ones = true;
    for (int i = 0; i < t.rank; ++i) ones = ones && t.extents[i] == extent(1);
    if (region_.kind == region_kind::row)
      return t.last() != extent(1) ? value_level::tile : ones ? value_level::uniform : value_level::row;
    return ones && !space_of_one_ ? value_level::uniform : value_level::tile;
  }

  void note_symbols(const tensor_type& t) {
    for (int i = 0; i < t.rank; ++i) {
      if (!t.extents[i].is_dynamic()) continue;
      bool known = false;
      for (uint64 key : p_.symbols) known = known || key == t.extents[i].key();
      if (!known) p_.symbols.push_back(t.extents[i].key());
    }
  }

  [[noreturn]] void refuse(uint32 id, std::string_view why) const {
    text message;
    message << "region: equation " << id << ", " << ir::name(g_[id].kind) << " of ";
    write_type(message, g_.type(id), g_);
    fail(message << ": " << why);
  }

  void find_space() {
    bool fits = true;
    const auto widen = [&](const tensor_type& t) { fits = fits && ir::detail::broadcast_into(p_.space, t); };
    for (uint32 head : region_.heads) widen(g_.type(head));
    for (uint32 id : region_.members) {
      const tensor_type& t = g_.type(ir::is_reduction(g_[id].kind) ? g_.operands(id)[0] : id);
      widen(t);
      if (!fits) refuse(id, "its extents do not broadcast with the other members'");
    }
    note_symbols(p_.space);
    space_of_one_ = true;
    for (int i = 0; i < p_.space.rank; ++i) space_of_one_ = space_of_one_ && p_.space.extents[i] == extent(1);
  }

  void add_member(uint32 id) {
    const ir::eqn& e = g_[id];
    const bool reduces = ir::is_reduction(e.kind) && region_.kind == region_kind::row;
    if (!reduces && !ir::is_pointwise(e.kind)) refuse(id, "a region of this kind has no such member");
    for (uint32 in : g_.operands(e)) {
      if (is_packed(g_.type(in).element)) refuse(id, "a packed value cannot be read by a region");
      if (g_.type(in).element == dtype::f64 || e.type.element == dtype::f64) p_.slot_bytes = 8 * tile_elements;
    }
    if (is_same_tile(g_, id)) return;
    tile_node n;
    n.id = id;
    n.is_member = true;
    n.level = level_of(e.type);
    n.cost = ir::row(e.kind).flops;
    for (uint32 in : g_.operands(e)) {
      const tile_node& operand = nodes_[root(in)];
      if (!reduces && operand.level > n.level) n.level = operand.level;
      if (operand.ready > n.ready) n.ready = operand.ready;
      if (operand.level == value_level::tile) n.cost += operand.cost;
    }
    if (n.cost > 1000) n.cost = 1000;
    if (n.level == value_level::tile) p_.flops += ir::row(e.kind).flops;
    if (reduces) {
      const tensor_type& t = g_.type(g_.operands(e)[0]);
      if (g_.attrs(e)[0] != t.rank - 1 || t.last() != p_.space.last()) refuse(id, "a row region reduces the last axis, over rows of one length");
      const bool ordered = e.kind == ir::op::reduce_sum && is_float(t.element) && e.sum.lanes != 0;
      if (ordered && (e.sum.lanes != sum_lanes || e.sum.chunk == 0 || e.sum.chunk % tile_elements != 0))
        refuse(id, "the host sums rows in 256 lanes and chunks of a multiple of 512");
      n.level = value_level::row;
      n.ready += 1;
      p_.flops += ir::row(e.kind).flops;
    }
    nodes_.push_back(n);
  }

  void add_output(uint32 id) {
    if (!is_member(id) && !is_head(id)) refuse(id, "only a member can be an output");
    tile_output o;
    o.id = id;
    o.type = g_.type(id);
    const int shift = p_.space.rank - o.type.rank;
    const bool row_value = region_.kind == region_kind::row && o.type.last() == extent(1) && p_.space.last() != extent(1);
    for (int i = 0; i < p_.space.rank - (row_value ? 1 : 0); ++i)
      if ((i < shift ? extent(1) : o.type.extents[i - shift]) != p_.space.extents[i]) refuse(id, "an output must have the extents of the region");
    const tile_node& n = nodes_[root(id)];
    o.level = row_value || (region_.kind == region_kind::row && p_.space.last() == extent(1)) ? value_level::row : value_level::tile;
    if (n.level == value_level::tile) o.level = value_level::tile;
    o.store = emit_.functions().store(o.type.element);
    if (is_carried_as_stored(o.type.element) && o.type.element != dtype::f64) o.stream = emit_.functions().stream();
    p_.outputs.push_back(o);
  }

  // ---- phases

  /// Operand `i` of the member behind node `n`.
  uint32 operand(const tile_node& n, size_t i) { return root(g_.operands(n.id)[i]); }

  void need(uint32 at, int phase, vec<uint8>& seen) {
    if (nodes_[at].level != value_level::tile || seen[at]) return;
    seen[at] = 1;
    if (nodes_[at].is_member) {
      const bool before = nodes_[at].first >= 0 && nodes_[at].first < phase;
      if (before && (nodes_[at].kept || nodes_[at].cost > cheap)) {
        nodes_[at].kept = true;
      } else {
        if (!before) nodes_[at].first = phase;
        const size_t count = g_.operands(nodes_[at].id).size();
        for (size_t i = 0; i < count; ++i) need(operand(nodes_[at], i), phase, seen);
      }
    }
    needed_.back().push_back(at);
  }

  void find_needs() {
    int phases = 0;
    const auto at_least = [&](int count) { phases = phases < count ? count : phases; };
    for (const tile_node& n : nodes_)
      if (n.is_member && ir::is_reduction(g_[n.id].kind)) at_least(n.ready);
    for (const tile_output& o : p_.outputs)
      if (o.level == value_level::tile) at_least(nodes_[root(o.id)].ready + 1);
    p_.phases.resize(static_cast<size_t>(phases));
    for (int phase = 0; phase < phases; ++phase) {
      needed_.push_back({});
      vec<uint8> seen(nodes_.size(), 0);
      const size_t count = nodes_.size();
      for (size_t i = 0; i < count; ++i)
        if (nodes_[i].is_member && ir::is_reduction(g_[nodes_[i].id].kind) && nodes_[i].ready == phase + 1)
          need(operand(nodes_[i], 0), phase, seen);
      for (const tile_output& o : p_.outputs)
        if (o.level == value_level::tile && nodes_[root(o.id)].ready == phase) need(root(o.id), phase, seen);
    }
  }

  // ---- instructions

  void bind_external(tile_node& n) {
    const tensor_type& t = g_.type(n.id);
    if (g_.is_scalar_constant(n.id)) {
      n.reg = emit_.add_constant(t.element, static_cast<uint64>(g_.attrs(n.id)[0]));
      return;
    }
    tile_input in;
    in.id = n.id;
    in.head = head_number(n.id);
    if (in.is_head() && t.element == dtype::f64) refuse(n.id, "an epilogue takes tiles of f32");
    in.type = in.is_head() ? t.with(dtype::f32) : t;
    in.level = n.level;
    in.slot = n.level == value_level::tile ? emit_.add_slot(register_kind::input) : emit_.add_uniform();
    in.load = emit_.functions().load(in.type.element);
    in.fill = emit_.functions().fill(in.type.element);
    n.reg = in.slot;
    p_.inputs.push_back(in);
  }

  tile_emitter::operands operands_of(const tile_node& n, bool in_tile) {
    tile_emitter::operands in;
    const size_t count = g_.operands(n.id).size();
    for (size_t i = 0; i < count; ++i) {
      const tile_node& o = nodes_[operand(n, i)];
      in.reg[i] = static_cast<uint16>(o.reg);
      in.uniform[i] = in_tile && o.level != value_level::tile;
    }
    return in;
  }

  /// Uniform values and row values that stand after `stage` phases.
  void emit_row_values(int stage) {
    for (tile_node& n : nodes_) {
      if (!n.is_member || n.level == value_level::tile || n.ready != stage || ir::is_reduction(g_[n.id].kind)) continue;
      auto& list = n.level == value_level::uniform ? p_.once : stage == 0 ? p_.before : p_.phases[static_cast<size_t>(stage) - 1].after;
      n.reg = emit_.add_uniform();
      uint16 temporary[3];
      const tile_emitter::operands in = operands_of(n, false);
      for (int i = emit_.temporaries(n.id, in); i-- > 0;) temporary[i] = emit_.add_uniform();
      emit_.emit(list, n.id, static_cast<uint16>(n.reg), in, temporary);
    }
  }

  void emit_phase(int number) {
    tile_phase& phase = p_.phases[static_cast<size_t>(number)];
    const vec<uint32>& list = needed_[static_cast<size_t>(number)];
    const int end = static_cast<int>(list.size());
    for (uint32 at : list) nodes_[at].last = -1;
    for (int k = 0; k < end; ++k)
      if (const tile_node& n = nodes_[list[static_cast<size_t>(k)]]; is_computed(n, number))
        for (size_t i = 0; i < g_.operands(n.id).size(); ++i) nodes_[operand(n, i)].last = k;
    for (const tile_node& n : nodes_)
      if (n.is_member && ir::is_reduction(g_[n.id].kind) && n.ready == number + 1) nodes_[operand(n, 0)].last = end;
    for (const tile_output& o : p_.outputs)
      if (stored_after(o, number)) nodes_[root(o.id)].last = end;

    for (int k = 0; k < end; ++k) {
      tile_node& n = nodes_[list[static_cast<size_t>(k)]];
      if (!n.is_member) read_input(n, phase);
      else compute(n, number, k, phase);
    }
    for (tile_node& n : nodes_)
      if (n.is_member && ir::is_reduction(g_[n.id].kind) && n.ready == number + 1) reduce(n, phase);
    for (size_t i = 0; i < p_.outputs.size(); ++i)
      if (stored_after(p_.outputs[i], number)) {
        tile_output& o = p_.outputs[i];
        o.slot = tile_register_of(nodes_[root(o.id)], phase);
        phase.outputs.push_back(static_cast<uint16>(i));
      }
    for (uint32 at : list)
      if (nodes_[at].last == end) release(nodes_[at]);
    join_chains(p_, emit_, phase);
    for (uint16 r : spread_) emit_.give_slot(r);
    spread_.clear();
  }

  bool stored_after(const tile_output& o, int phase) { return o.level == value_level::tile && nodes_[root(o.id)].ready == phase; }
  /// Kept values are computed once, in the first phase that needs them.
  static bool is_computed(const tile_node& n, int phase) { return n.is_member && !(n.kept && n.first < phase); }

  void read_input(tile_node& n, tile_phase& phase) {
    for (size_t i = 0; i < p_.inputs.size(); ++i) {
      if (p_.inputs[i].id != n.id) continue;
      phase.inputs.push_back(static_cast<uint16>(i));
      n.reg = p_.inputs[i].slot;
      if (p_.inputs[i].is_head() && is_narrow(g_.type(n.id).element)) {  // an epilogue has one phase
        n.reg = emit_.add_slot();
        emit_.convert(phase.instructions, wrap_into(g_.type(n.id).element), static_cast<uint16>(n.reg), p_.inputs[i].slot);
      }
    }
  }

  void compute(tile_node& n, int number, int position, tile_phase& phase) {
    if (n.kept) {
      if (n.kept_register < 0) {
        p_.kept.push_back({carried_bytes(g_.type(n.id).element)});
        n.kept_register = emit_.add_register(register_kind::kept, static_cast<uint32>(p_.kept.size() - 1));
      }
      n.reg = n.kept_register;
      phase.kept.push_back(static_cast<uint16>(n.reg));
      if (!is_computed(n, number)) return;
    }
    const tile_emitter::operands in = operands_of(n, true);
    uint16 temporary[3];
    const int temporaries = emit_.temporaries(n.id, in);
    for (int i = 0; i < temporaries; ++i) temporary[i] = emit_.take_slot();
    const bool wide = p_.slot_bytes > 4 * tile_elements;  // an f64 result must not overwrite a 32-bit operand
    if (!wide) release_operands(n, position);
    if (!n.kept) {
      n.reg = output_register(n, number);
      n.owns_slot = n.reg < 0;
      if (n.owns_slot) n.reg = emit_.take_slot();
    }
    if (wide) release_operands(n, position);
    emit_.emit(phase.instructions, n.id, static_cast<uint16>(n.reg), in, temporary);
    for (int i = 0; i < temporaries; ++i) emit_.give_slot(temporary[i]);
  }

  /// A register of an output that takes the result itself; -1 if there is none.
  int output_register(const tile_node& n, int number) {
    for (size_t i = 0; i < p_.outputs.size(); ++i) {
      tile_output& o = p_.outputs[i];
      if (o.id != n.id || !stored_after(o, number) || !is_carried_as_stored(o.type.element)) continue;
      o.direct = true;
      return emit_.add_slot(register_kind::output);
    }
    return -1;
  }

  void release_operands(tile_node& n, int position) {
    for (size_t i = 0; i < g_.operands(n.id).size(); ++i)
      if (tile_node& o = nodes_[operand(n, i)]; o.last == position) release(o);
  }
  /// Gives a slot back; other registers stay.
  void release(tile_node& n) {
    if (n.owns_slot) emit_.give_slot(static_cast<uint16>(n.reg));
    n.owns_slot = false;
    n.last = -1;
  }

  /// The register of a value as a tile, spread if it is uniform.
  uint16 tile_register_of(const tile_node& n, tile_phase& phase) {
    if (n.level == value_level::tile || (region_.kind == region_kind::row && p_.space.last() == extent(1)))
      return static_cast<uint16>(n.reg);
    const uint16 slot = emit_.take_slot();
    spread_.push_back(slot);
    emit_.spread(phase.instructions, g_.type(n.id).element, slot, static_cast<uint16>(n.reg));
    return slot;
  }

  void reduce(tile_node& n, tile_phase& phase) {
    const ir::eqn& e = g_[n.id];
    const dtype t = g_.type(g_.operands(e)[0]).element;
    tile_reduction r;
    r.run = emit_.reduction(e.kind, t);
    r.operand = tile_register_of(nodes_[operand(n, 0)], phase);
    n.reg = r.out = emit_.add_uniform();
    r.state = emit_.add_scratch(reduction_state_bytes);
    r.sums_f32 = e.kind == ir::op::reduce_sum && carrier_of(t) == carrier::f32;
    if (e.sum.lanes) r.chunk = e.sum.chunk;
    phase.reductions.push_back(r);
    emit_.convert(phase.after, emit_.after_reduction(e.kind, t), r.out, r.out);
  }

  const ir::graph_view g_;
  const region_members region_;
  tile_program p_;
  tile_emitter emit_;
  vec<tile_node> nodes_;
  vec<vec<uint32>> needed_;  ///< for each phase the tile values it reads or computes, operands first
  vec<uint16> spread_;
  bool space_of_one_ = false;
};

/// The tile program of a region, for the instruction set in use.
inline tile_program build_tile_program(const ir::graph_view& g, const region_members& region) {
  return tile_builder(g, region).build();
}

}  // namespace poot::run::host

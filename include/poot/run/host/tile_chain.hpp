#pragma once
/// Joins consecutive f32 instructions into chains, whose intermediate values never leave the vector registers.

#include <poot/run/host/tile_emit.hpp>

namespace poot::run::host {

class chain_joiner {
 public:
  chain_joiner(tile_program& p, tile_emitter& emit, tile_phase& phase) : p_(p), emit_(emit), phase_(phase) {}

  void run() {
    vec<tile_instruction> joined;
    const vec<tile_instruction>& list = phase_.instructions;
    for (size_t first = 0; first < list.size();) {
      const size_t count = follow(first);
      const bool sums = count > 0 && add_sum(first + count - 1);
      tile_output* const output = count > 0 ? streamable(first + count - 1) : nullptr;
      if (count < 2 && !sums && !(output && is_long(list[first].chained))) {
        joined.push_back(list[first]);
      } else {
        tile_instruction chain = list[first + count - 1];
        const tile_instruction& head = list[first];
        chain.in[0] = head.operands == form::first_uniform ? head.in[1] : head.in[0];
        chain.in[1] = table_register();
        if (phase_.fetches < 0 && fetches_next_row()) fetch();
        chain.in[2] = emit_.add_register(register_kind::constant, keep_steps(sums && !is_read_after(first + count - 1, chain.out)));
        chain.run = emit_.functions().chain();
        chain.chained = chain_op::end;
        chain.to_output = output != nullptr;
        if (output) output->streamed = true;
        joined.push_back(chain);
      }
      first += count ? count : 1;
    }
    phase_.instructions = static_cast<vec<tile_instruction>&&>(joined);
  }

 private:
  /// Collects the steps from instruction `first` on; returns how many instructions they stand for.
  size_t follow(size_t first) {
    const vec<tile_instruction>& list = phase_.instructions;
    steps_.clear();
    if (list[first].chained == chain_op::end) return 0;
    const tile_instruction& head = list[first];
    const bool from_second = head.operands == form::first_uniform;
    add_step(head, from_second ? 1 : 0);
    size_t next = first + 1;
    for (; next < list.size(); ++next) {
      const tile_instruction& i = list[next];
      const uint16 value = list[next - 1].out;
      if (i.chained == chain_op::end) break;
      const bool is_first = i.operands != form::first_uniform && i.in[0] == value;
      const bool is_second = is_binary(i.chained) && i.operands != form::second_uniform && i.in[1] == value;
      if (!is_first && !is_second) break;
      if (is_first && is_second && i.chained != chain_op::mul && i.chained != chain_op::add) break;
      if (i.out != value ? is_read_after(next, value) : false) steps_.push_back({2 * static_cast<int>(chain_op::store), value});
      if (is_first && is_second) steps_.push_back({static_cast<uint16>(2 * static_cast<int>(i.chained == chain_op::mul ? chain_op::square : chain_op::twice)), 0});
      else add_step(i, is_first ? 0 : 1);
    }
    return next - first;
  }

  /// Takes the sums of the result of instruction `last` into the chain.
  bool add_sum(size_t last) {
    bool any = false;
    const uint16 value = phase_.instructions[last].out;
    for (size_t k = last + 1; k < phase_.instructions.size(); ++k)
      if (phase_.instructions[k].out == value) return false;
    for (tile_reduction& r : phase_.reductions) {
      if (r.operand != value || !r.sums_f32) continue;
      r.is_step = any = true;
      steps_.push_back({2 * static_cast<int>(chain_op::sum), emit_.add_register(register_kind::scratch, r.state)});
    }
    return any;
  }

  /// The output that instruction `last` writes, if nobody reads it again.
  tile_output* streamable(size_t last) {
    const uint16 value = phase_.instructions[last].out;
    if (p_.registers[value].kind != register_kind::output) return nullptr;
    for (size_t k = last + 1; k < phase_.instructions.size(); ++k)
      for (uint16 in : phase_.instructions[k].in)
        if (in == value) return nullptr;
    for (const tile_reduction& r : phase_.reductions)
      if (r.operand == value && !r.is_step) return nullptr;
    tile_output* found = nullptr;
    for (uint16 o : phase_.outputs) {
      if (p_.outputs[o].slot != value) continue;
      if (found || !p_.outputs[o].direct || !p_.outputs[o].stream) return nullptr;  // two outputs from one register
      found = &p_.outputs[o];
    }
    return found;
  }
  /// The second phase of a row waits for arithmetic: among its steps the next row arrives without holding it up.
  bool fetches_next_row() const {
    return p_.kind == region_kind::row && p_.phases.size() > 1 && &phase_ == &p_.phases[1] && p_.phases[0].inputs.size() == 1 &&
           byte_size(p_.inputs[p_.phases[0].inputs[0]].type.element, 1) == 4;
  }
  void fetch() {
    phase_.fetches = emit_.add_register(register_kind::scratch, 0);  // where nothing is fetched, what is near already
    steps_.push_back({2 * static_cast<int>(chain_op::fetch), static_cast<uint16>(phase_.fetches)});
  }

  /// Long enough that being called as a chain costs nothing.
  static bool is_long(chain_op o) {
    return o == chain_op::div || o == chain_op::exp || o == chain_op::sqrt || o == chain_op::recip;
  }

  static bool is_binary(chain_op o) { return o <= chain_op::min; }

  /// The step of an instruction whose operand `accumulator` (0 or 1) is the accumulator.
  void add_step(const tile_instruction& i, int accumulator) {
    chain_op o = i.chained;
    if (!is_binary(o)) return steps_.push_back({static_cast<uint16>(2 * static_cast<int>(o)), 0});
    if (accumulator == 1 && o == chain_op::sub) o = chain_op::sub_from;
    if (accumulator == 1 && o == chain_op::div) o = chain_op::div_into;
    steps_.push_back({static_cast<uint16>(2 * static_cast<int>(o) + (i.operands != form::both_tiles)), i.in[1 - accumulator]});
  }

  /// Whether `value` is read after instruction `at` of the phase, or lives on after the phase.
  bool is_read_after(size_t at, uint16 value) const {
    const vec<tile_instruction>& list = phase_.instructions;
    for (size_t k = at + 1; k < list.size(); ++k) {
      for (uint16 in : list[k].in)
        if (in == value) return true;  // operands that an instruction does not have are register 0: one store too many
      if (list[k].out == value) return false;
    }
    if (p_.registers[value].kind == register_kind::kept) return true;
    for (const tile_reduction& r : phase_.reductions)
      if (r.operand == value && !r.is_step) return true;
    for (uint16 o : phase_.outputs)
      if (p_.outputs[o].slot == value) return true;
    return false;
  }

  uint16 table_register() {
    for (size_t r = 0; r < p_.registers.size(); ++r)
      if (p_.registers[r].kind == register_kind::table) return static_cast<uint16>(r);
    return emit_.add_register(register_kind::table, 0);
  }

  /// Puts the steps beside the constants; returns their offset in bytes.
  uint32 keep_steps(bool drops) {
    steps_.push_back({static_cast<uint16>(2 * static_cast<int>(drops ? chain_op::drop : chain_op::end)), 0});
    const uint32 at = static_cast<uint32>(p_.constants.size() * 8);
    for (size_t i = 0; i < steps_.size(); i += 2) {
      uint64 word = 0;
      __builtin_memcpy(&word, &steps_[i], sizeof(chain_step) * (i + 1 < steps_.size() ? 2 : 1));
      p_.constants.push_back(word);
    }
    return at;
  }

  tile_program& p_;
  tile_emitter& emit_;
  tile_phase& phase_;
  vec<chain_step> steps_;
};

inline void join_chains(tile_program& p, tile_emitter& emit, tile_phase& phase) { chain_joiner(p, emit, phase).run(); }

}  // namespace poot::run::host

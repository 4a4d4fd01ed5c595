#pragma once
/// Lowers one equation to tile instructions, and hands out the registers.

#include <poot/run/host/tile_double.hpp>
#include <poot/run/host/tile_program.hpp>

#include <cstring>

namespace poot::run::host {

/// What is known about a value while its region is built.
struct tile_node {
  uint32 id = 0;
  bool is_member = false;
  value_level level = value_level::tile;
  int ready = 0;        ///< tile values: the first phase that can compute it; row values: after how many phases it stands
  int first = -1;       ///< the first phase that needs it
  bool kept = false;    ///< in a row buffer, for later phases
  int kept_register = -1;
  bool owns_slot = false;  ///< gives it back after its last reader
  int cost = 0;         ///< of recomputing it
  int reg = -1;
  int last = -1;        ///< position of its last reader in the phase
};

/// The same tile: a cast that changes nothing carried, or the size of an unsigned integer.
constexpr bool is_same_tile(const ir::graph_view& g, uint32 id) {
  const ir::eqn& e = g[id];
  const dtype from = e.operands.count ? g.type(g.operands(e)[0]).element : e.type.element;
  if (e.kind == ir::op::abs) return carrier_of(from) == carrier::u32;
  if (e.kind != ir::op::cast) return false;
  if (from == e.type.element) return true;
  return carrier_of(from) != carrier::f64 && carrier_of(e.type.element) != carrier::f64 &&
         steps_of_cast(from, e.type.element).first == conversion::none;
}

class tile_emitter {
 public:
  tile_emitter(const ir::graph_view& g, tile_program& p) : g_(g), p_(p), f_(current_tile_functions()) {}

  const tile_functions& functions() const { return f_; }

  uint16 add_register(register_kind kind, uint32 at) {
    if (p_.registers.size() == 0xffff) fail(text{} << "region: more than 65535 values");
    p_.registers.push_back({kind, at});
    return static_cast<uint16>(p_.registers.size() - 1);
  }
  uint32 add_scratch(uint32 bytes) {
    const uint32 at = p_.scratch_bytes;
    p_.scratch_bytes += (bytes + 63) / 64 * 64;
    return at;
  }
  uint16 add_slot(register_kind kind = register_kind::scratch) { return add_register(kind, add_scratch(p_.slot_bytes)); }
  uint16 add_uniform() { return add_register(register_kind::scratch, add_scratch(uniform_bytes)); }
  uint16 take_slot() {
    if (free_.empty()) return add_slot();
    const uint16 r = free_.back();
    free_.pop_back();
    return r;
  }
  void give_slot(uint16 r) { free_.push_back(r); }

  uint16 add_constant(dtype t, uint64 bits) {
    const uint32 at = static_cast<uint32>(p_.constants.size() * 8);
    uint64 words[uniform_elements]{};
    for (int i = 0; i < uniform_elements; ++i) double_tiles::put_bits(t, words, i, bits);
    p_.constants.append({words, uniform_elements});
    return add_register(register_kind::constant, at);
  }

  void push(vec<tile_instruction>& list, tile_function f, uint16 out, uint16 a, uint16 b = 0, uint16 c = 0) {
    if (!f) fail(text{} << "region: an instruction is missing");
    list.push_back({f, out, {a, b, c}});
  }
  void convert(vec<tile_instruction>& list, conversion c, uint16 out, uint16 in) {
    if (c == conversion::none) return;
    push(list, f_.convert(c), out, in);
    if (c == conversion::round_f16) list.back().chained = chain_op::round_f16;
    if (c == conversion::round_bf16) list.back().chained = chain_op::round_bf16;
  }
  /// A tile of one value.
  void spread(vec<tile_instruction>& list, dtype t, uint16 out, uint16 in) { push(list, f_.fill(t), out, in); }

  /// The operands of one equation: registers, and whether a tile instruction sees them as uniform.
  struct operands {
    uint16 reg[3]{};
    bool uniform[3]{};
  };

  /// Slots that `emit` needs beside operands and result.
  int temporaries(uint32 id, const operands& in) const {
    const ir::eqn& e = g_[id];
    const bool all_uniform = in.uniform[0] && (e.operands.count < 2 || in.uniform[1]) && (e.operands.count < 3 || in.uniform[2]);
    return (all_uniform ? 1 : 0) + (compares_bool(e) ? 2 : 0) + (e.custom && e.operands.count > 2 ? 1 : 0);
  }

  /// Appends the instructions of equation `id`. `temporary` are registers of their own.
  void emit(vec<tile_instruction>& list, uint32 id, uint16 out, operands in, const uint16* temporary) {
    const ir::eqn& e = g_[id];
    const view<uint32> ids = g_.operands(e);
    const dtype t = g_.type(ids[ids.size() - 1]).element, result = e.type.element;
    bool all_uniform = true;
    for (size_t i = 0; i < ids.size(); ++i) all_uniform = all_uniform && in.uniform[i];
    if (all_uniform) {
      spread(list, g_.type(ids[0]).element, *temporary, in.reg[0]);
      in.reg[0] = *temporary++;
      in.uniform[0] = false;
    }
    if (e.custom) {
      uint16 call = add_custom(*e.custom, in);
      if (e.operands.count > 2) {  // an instruction reads three registers
        push(list, with_third, *temporary, in.reg[2], call);
        call = *temporary;
      }
      push(list, run_custom, out, in.reg[0], in.reg[1], call);
      return convert(list, wrap_into(t), out, out);
    }
    if (e.kind == ir::op::cast) return emit_cast(list, t, result, out, in.reg[0]);
    if (e.kind == ir::op::select) {
      const int uniform = in.uniform[0] + 2 * in.uniform[1] + 4 * in.uniform[2];
      return push(list, t == dtype::f64 ? double_tiles::find_select(uniform) : f_.select(uniform), out, in.reg[0], in.reg[1], in.reg[2]);
    }
    if (ids.size() == 1) {
      push(list, t == dtype::f64 ? double_tiles::find(e.kind) : f_.unary(e.kind, carrier_of(t)), out, in.reg[0]);
      if (carrier_of(t) == carrier::f32) list.back().chained = step_of(e.kind);
      const bool exact = is_float(t) && (e.kind == ir::op::neg || e.kind == ir::op::abs || e.kind == ir::op::floor);
      return convert(list, exact ? conversion::none : wrap_into(t), out, out);
    }
    if (compares_bool(e)) {
      for (int i = 0; i < 2; ++i) {
        convert(list, conversion::truth, temporary[i], in.reg[i]);
        in.reg[i] = temporary[i];
      }
    }
    ir::op o = e.kind;
    int first = 0;
    if (o == ir::op::gt || o == ir::op::ge) {
      o = o == ir::op::gt ? ir::op::lt : ir::op::le;
      first = 1;
    }
    const form f = in.uniform[first] ? form::first_uniform : in.uniform[1 - first] ? form::second_uniform : form::both_tiles;
    push(list, t == dtype::f64 ? double_tiles::find(o, f) : f_.binary(o, carrier_of(t), f), out, in.reg[first], in.reg[1 - first]);
    list.back().operands = f;
    if (carrier_of(t) == carrier::f32) list.back().chained = step_of(o);
    const bool exact = ir::is_comparison(o) || o == ir::op::max || o == ir::op::min;
    convert(list, exact ? conversion::none : wrap_into(t), out, out);
  }

  /// What follows the result of a reduction: the one rounding, the wrap, or the clamp of what stands for no elements.
  static conversion after_reduction(ir::op o, dtype t) {
    if (o == ir::op::reduce_argmax || (is_float(t) && o != ir::op::reduce_sum)) return conversion::none;
    if (o == ir::op::reduce_sum) return wrap_into(t);
    return t == dtype::i8 ? conversion::i32_to_i8 : t == dtype::u8 ? conversion::at_most_255 : conversion::none;
  }
  reduction_functions reduction(ir::op o, dtype t) const {
    return t == dtype::f64 ? double_tiles::find_reduction(o) : f_.reduction(o, carrier_of(t));
  }

 private:
  static chain_op step_of(ir::op o) {
    switch (o) {
      case ir::op::add: return chain_op::add;
      case ir::op::sub: return chain_op::sub;
      case ir::op::mul: return chain_op::mul;
      case ir::op::div: return chain_op::div;
      case ir::op::max: return chain_op::max;
      case ir::op::min: return chain_op::min;
      case ir::op::neg: return chain_op::neg;
      case ir::op::abs: return chain_op::abs;
      case ir::op::sqrt: return chain_op::sqrt;
      case ir::op::recip: return chain_op::recip;
      case ir::op::exp: return chain_op::exp;
      default: return chain_op::end;
    }
  }
  /// What `run_custom` reads through its third operand. Words only: these stand among constants, which are copied as words, and
  /// clang 19 drops stores of pointers that only such a copy reads.
  struct custom_call {
    uint64 evaluate;  ///< address of the function
    uint64 arity;
    uint64 step[ir::max_custom_arity];  ///< 0 where the operand is uniform
    uint64 third;  ///< address of the third operand
  };
  uint16 add_custom(const ir::custom_row& row, const operands& in) {
    custom_call call{reinterpret_cast<uint64>(row.evaluate), static_cast<uint64>(row.arity), {}, 0};
    for (int k = 0; k < row.arity; ++k) call.step[k] = !in.uniform[k];
    uint64 words[sizeof(custom_call) / 8];
    std::memcpy(words, &call, sizeof call);
    const auto at = static_cast<uint32>(p_.constants.size() * 8);
    p_.constants.append({words, sizeof words / 8});
    return add_register(register_kind::constant, at);
  }
  /// The call with its third operand.
  static void with_third(void* out, const void* third, const void* call, const void*, int) {
    custom_call c;
    std::memcpy(&c, call, sizeof c);
    c.third = reinterpret_cast<uint64>(third);
    std::memcpy(out, &c, sizeof c);
  }
  static void run_custom(void* out, const void* a, const void* b, const void* call, int count) {
    custom_call c;
    std::memcpy(&c, call, sizeof c);
    const auto evaluate = reinterpret_cast<float (*)(const float*)>(c.evaluate);
    const float* in[ir::max_custom_arity] = {static_cast<const float*>(a), static_cast<const float*>(b), reinterpret_cast<const float*>(c.third)};
    for (uint64 i = 0; i < static_cast<uint64>(count); ++i) {
      float operands[ir::max_custom_arity]{};
      for (uint64 k = 0; k < c.arity; ++k) operands[k] = in[k][i * c.step[k]];
      static_cast<float*>(out)[i] = evaluate(operands);
    }
  }
  bool compares_bool(const ir::eqn& e) const {
    return ir::is_comparison(e.kind) && g_.type(g_.operands(e)[0]).element == dtype::boolean;
  }
  void emit_cast(vec<tile_instruction>& list, dtype from, dtype to, uint16 out, uint16 in) {
    if (from != to && (from == dtype::f64 || to == dtype::f64)) return push(list, double_tiles::find_cast(from, to), out, in);
    const cast_steps steps = from == to ? cast_steps{} : steps_of_cast(from, to);
    convert(list, steps.first, out, in);
    convert(list, steps.second, out, out);
  }

  const ir::graph_view g_;
  tile_program& p_;
  const tile_functions f_;
  vec<uint16> free_;
};

}  // namespace poot::run::host

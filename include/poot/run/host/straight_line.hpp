#pragma once
/// Pointwise regions of typed programs as straight-line code: instantiated from the constant plan, without an interpreter
/// in between. The bits are those of the tile interpreter.

#include <poot/plan/program.hpp>
#include <poot/run/host/tile_values.hpp>

#include <array>

namespace poot::run::host {

/// Where an operand of a member comes from. `index` is a member, an input, or the bits of a constant.
enum class straight_from : uint8 { member, dense, uniform, constant };
struct straight_operand {
  straight_from from = straight_from::member;
  uint32 index = 0;
};
struct straight_member {
  ir::op kind = ir::op::add;
  int arity = 1;
  int output = -1;  ///< number of the output it is, if any
};
template <int N>
struct straight_number {
  static constexpr int value = N;
};

/// A region as constant tables.
template <size_t Members, size_t Inputs, size_t Outputs>
struct straight_region {
  static constexpr int member_count = Members, input_count = Inputs, output_count = Outputs;
  std::array<straight_member, Members> members{};
  std::array<straight_operand, 2 * Members> operands{};
  std::array<bool, Inputs + 1> inputs{};  ///< is it uniform?
};

}  // namespace poot::run::host

#define POOT_BODY <poot/run/host/straight_line.inc>
#include <poot/run/host/each_isa.inc>

namespace poot::run::host {

/// Runs elements begin … end of a region; inputs and outputs in the order of the launch.
using straight_function = void (*)(const float* const* inputs, float* const* outputs, int64 begin, int64 end, bool streams);

/// Members beyond which vectors would spill more than the interpreter costs.
inline constexpr size_t most_straight_members = 64;

/// Whether a launch is a pointwise region of f32 whose values all have one fixed shape, or one element.
constexpr bool is_straight(const plan::program_view& p, const plan::launch& l) {
  const ir::graph_view& g = p.graph;
  if (l.kind != fuse::region_kind::pointwise || l.members.count > most_straight_members || l.outputs.count == 0) return false;
  const tensor_type& space = g.type(p(l.outputs)[0]);
  if (space.is_dynamic() || space.element_count() == 1) return false;
  const auto fits = [&](uint32 id, bool may_be_one) {
    const tensor_type& t = g.type(id);
    return t.element == dtype::f32 && (t.same_extents(space) || (may_be_one && t.element_count() == 1));
  };
  for (uint32 id : p(l.inputs))
    if (!fits(id, true)) return false;
  for (uint32 id : p(l.members)) {
    const ir::eqn& e = g[id];
    if (!fits(id, false) || e.custom || e.operands.count > 2 || ir::is_comparison(e.kind) || e.kind == ir::op::cast) return false;
    for (uint32 in : g.operands(id))
      if (g.type(in).element != dtype::f32) return false;
  }
  return true;
}

namespace detail {

template <const plan::program_view& P, size_t L>
constexpr auto make_straight_region() {
  constexpr plan::launch l = P.launches[L];
  straight_region<l.members.count, l.inputs.count, l.outputs.count> r;
  const ir::graph_view& g = P.graph;
  const view<uint32> members = P(l.members), inputs = P(l.inputs), outputs = P(l.outputs);
  const tensor_type& space = g.type(outputs[0]);
  for (size_t i = 0; i < inputs.size(); ++i) r.inputs[i] = !g.type(inputs[i]).same_extents(space);
  for (size_t m = 0; m < members.size(); ++m) {
    const view<uint32> in = g.operands(members[m]);
    r.members[m] = {g[members[m]].kind, static_cast<int>(in.size()), -1};
    for (size_t o = 0; o < outputs.size(); ++o)
      if (outputs[o] == members[m]) r.members[m].output = static_cast<int>(o);
    for (size_t k = 0; k < in.size(); ++k) {
      straight_operand& to = r.operands[2 * m + k];
      if (g.is_scalar_constant(in[k])) to = {straight_from::constant, static_cast<uint32>(g.attrs(in[k])[0])};
      for (size_t j = 0; j < m; ++j)
        if (members[j] == in[k]) to = {straight_from::member, static_cast<uint32>(j)};
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i] == in[k]) to = {r.inputs[i] ? straight_from::uniform : straight_from::dense, static_cast<uint32>(i)};
    }
  }
  return r;
}
template <const plan::program_view& P, size_t L>
inline constexpr auto straight_region_of = make_straight_region<P, L>();

}  // namespace detail

/// The kernel of launch L of the constant program P for the instruction set in use; null where the interpreter runs it.
template <const plan::program_view& P, size_t L>
straight_function straight_kernel() {
  if constexpr (is_straight(P, P.launches[L])) {
    constexpr const auto& region = detail::straight_region_of<P, L>;
#if POOT_X86
    if (current() == isa::avx512) return &avx512::straight_line<region>;
    if (current() == isa::avx2) return &avx2::straight_line<region>;
#endif
    return &baseline::straight_line<region>;
  } else {
    return nullptr;
  }
}

/// The kernels of every launch of P.
template <const plan::program_view& P>
vec<straight_function> straight_kernels() {
  return []<size_t... L>(std::index_sequence<L...>) {
    return vec<straight_function>{straight_kernel<P, L>()...};
  }(std::make_index_sequence<P.launches.size()>());
}

}  // namespace poot::run::host

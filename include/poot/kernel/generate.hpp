#pragma once
/// The kernel of a launch: one generator for each family, or one that is shipped.

#include <poot/kernel/attention.hpp>
#include <poot/kernel/attention_split.hpp>
#include <poot/kernel/contraction.hpp>
#include <poot/kernel/imported.hpp>
#include <poot/kernel/matrix_unit.hpp>
#include <poot/kernel/metadata.hpp>
#include <poot/kernel/movement.hpp>
#include <poot/kernel/pointwise.hpp>
#include <poot/kernel/random.hpp>
#include <poot/kernel/row.hpp>

namespace poot::kernel {

namespace detail {
constexpr kernel generated_kernel(const program_view& p, const launch& l) {
  switch (l.kind) {
    case fuse::region_kind::pointwise: return pointwise_kernel(p, l);
    case fuse::region_kind::row: return row_kernel(p, l);
    case fuse::region_kind::reduction: return reduction_kernel(p, l);
    case fuse::region_kind::contraction:
      return fuse::is_on_matrix_unit(p.graph, p(l.members)[0]) ? matrix_unit_kernel(p, l) : contraction_kernel(p, l);
    case fuse::region_kind::movement:
    case fuse::region_kind::rope: return movement_kernel(p, l);
    case fuse::region_kind::attention:
      switch (p.graph[p(l.members)[0]].kind) {
        case op::attention_parts: return attention_parts_kernel(p, l);
        case op::attention_join: return attention_join_kernel(p, l);
        default: return attention_kernel(p, l);
      }
    case fuse::region_kind::collective: fail("kernel: a collective has none: a communicator moves its values");
    case fuse::region_kind::generator: break;
  }
  return random_kernel(p, l);
}
}  // namespace detail

inline constexpr uint64 generator_layout = mix(kernel_layout, plan::program_layout);
namespace precompiled {
template <uint64 Layout>
kernel generated_kernel(const program_view& p, const launch& l);
}

/// What a generator writes for launch `l` of `p`, or of its prologue, whatever body its plan says it has. Throws where no
/// device has a kernel for an equation, which the planner refuses before.
constexpr kernel generated_kernel(const program_view& p, const launch& l) {
  if constexpr (!is_precompiled) return detail::generated_kernel(p, l);
  else if (__builtin_is_constant_evaluated()) return detail::generated_kernel(p, l);
  else return precompiled::generated_kernel<generator_layout>(p, l);
}

/// The kernel of launch `l` of `p`, or of its prologue: the body that its plan says, in as many grids as it says. (The text of a
/// program for the host is that of its generators: what the host runs is compiled.)
constexpr kernel generate(const program_view& p, const launch& l) {
  const bool ships = l.body == plan::origin::imported && p.planned_for.kind != backend::host;
  kernel k;
  if (ships) k = imported_kernel(p, l);
  else k = generated_kernel(p, l);
  k.chunked = l.chunks > 1;
  return k;
}

}  // namespace poot::kernel

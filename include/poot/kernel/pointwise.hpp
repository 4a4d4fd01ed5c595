#pragma once
/// Pointwise regions.
///
///   case 1: an extent of the space is a multiple of a run: one invocation for each run of elements, moved four words at a
///           time where they lie so
///   case 2: any other space, and small ones: one invocation for each word of the narrowest output
///
/// An operand of the space's extents is read at the element's number, one of the space's last extent along its row, any other
/// at its broadcast position.

#include <poot/kernel/store.hpp>

namespace poot::kernel {

constexpr kernel pointwise_kernel(const program_view& p, const launch& l) {
  builder k("pointwise", 64);
  region_code code(k, p, l);
  output_list to;
  for (size_t o = 0; o < code.outputs().size(); ++o) to.add(p.graph, code.outputs()[o], code.output(o));
  const uint32 space_of = to.ids[0];
  const tensor_type space = p.graph.type(space_of);
  const uint32 wanted = run_length(code, to, space), length = detail::divides_count(wanted, space) ? wanted : to.pack;
  const bool in_runs = length > 1 && detail::divides_count(length, space);

  const word runs = k.meta({meta_word::what::product, space_of, 0, space.rank, length, 0}), i = k.invocation();
  const auto locate = [&](word flat) { return code.shape().locate(space_of, flat); };
  k.if_(below(i, runs), [&] {
    if (!in_runs) return compute_words(k, code, to, space, i, length == 1 ? runs : code.shape().count(space_of), locate);
    element_run run{{}, detail::divides_row(length, space), true};
    for (uint32 j = 0; j < length; ++j) run.at.push_back(locate(i * word(length) + word(j)));
    compute_run(k, code, to, space, run, i * word(length), [](uint32) {});
  });
  return k.finish();
}

}  // namespace poot::kernel

#pragma once
/// Pointwise regions: one invocation for each run of elements, moved four words at a time where they lie so.
///
///   case 1: an extent of the space is a multiple of the run: every invocation computes a whole run
///   case 2: any other space: the last run is cut, and computed word by word
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
  const uint32 wanted = run_length(code), length = wanted < to.pack ? to.pack : wanted;

  const word runs = k.meta({meta_word::what::product, space_of, 0, space.rank, length, 0}), i = k.invocation();
  const word count = length == 1 ? runs : code.shape().count(space_of), first = i * word(length);
  const auto locate = [&](word flat) { return code.shape().locate(space_of, flat); };
  const auto whole_run = [&] {
    element_run run{{}, detail::divides_row(length, space), true};
    for (uint32 j = 0; j < length; ++j) run.at.push_back(locate(first + word(j)));
    compute_run(k, code, to, space, run, first, [](uint32) {});
  };
  k.if_(below(i, runs), [&] {
    if (detail::divides_count(length, space)) return whole_run();
    const flag cut = below(count - first, length);
    k.if_(not_(cut), whole_run);
    k.if_(cut, [&] {
      const word words = k.meta({meta_word::what::product, space_of, 0, space.rank, to.pack, 0});
      k.for_(first / word(to.pack), words, 1u, [&](word w) { compute_words(k, code, to, space, w, count, locate); });
    });
  });
  return k.finish();
}

}  // namespace poot::kernel

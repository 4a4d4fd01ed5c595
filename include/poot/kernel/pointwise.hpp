#pragma once
/// Pointwise regions: one invocation for each word of the narrowest output.
///
///   case 1: outputs of 4-byte elements: invocation i computes element i
///   case 2: an output of 2-byte or 1-byte elements: invocation i computes elements P·i … P·i + P − 1 and stores one word
///
/// An operand of the space's extents is read at the element's number, any other at its broadcast position.

#include <poot/kernel/store.hpp>

namespace poot::kernel {

constexpr kernel pointwise_kernel(const program_view& p, const launch& l) {
  builder k("pointwise", 64);
  region_code code(k, p, l);
  output_list to;
  for (size_t o = 0; o < code.outputs().size(); ++o) to.add(p.graph, code.outputs()[o], code.output(o));
  const uint32 space_of = to.ids[0];
  const tensor_type space = p.graph.type(space_of);

  const word words = k.meta({meta_word::what::product, space_of, 0, space.rank, to.pack, 0});
  const word count = to.pack == 1 ? words : code.shape().count(space_of), i = k.invocation();
  k.if_(below(i, words), [&] {
    compute_words(k, code, to, space, i, count, [&](word flat) { return code.shape().locate(space_of, flat); });
  });
  return k.finish();
}

}  // namespace poot::kernel

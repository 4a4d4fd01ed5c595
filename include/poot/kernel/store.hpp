#pragma once
/// Results of a region: whole words where one invocation computes all elements of a word.

#include <poot/kernel/region.hpp>

namespace poot::kernel {

/// Outputs of one space, and the buffers that they go to.
struct output_list {
  vec<uint32> ids;
  vec<buffer_id> buffers;
  /// Elements that an invocation computes, so that it fills a word of the narrowest output.
  uint32 pack = 1;

  constexpr void add(const ir::graph_view& g, uint32 id, buffer_id to) {
    ids.push_back(id);
    buffers.push_back(to);
    const uint32 own = elements_per_word(g.type(id).element);
    pack = own > pack ? own : pack;
  }
};

/// Computes and stores elements pack·i … pack·i + pack − 1 of a space of `count` elements, those beyond its end left
/// out. `locate(flat)` gives an element's position, and readies what the region reads there.
template <class Locate>
constexpr void compute_words(builder& k, region_code& code, const output_list& to, const tensor_type& space, word i, word count,
                             Locate locate) {
  vec<word_packer> packers;
  for (uint32 id : to.ids) packers.push_back(word_packer(code.graph().type(id).element));
  for (uint32 j = 0; j < to.pack; ++j) {
    const word at = element_in_word(i, j, to.pack, count);
    const position where = locate(at);
    code.compute(to.ids, space, where);
    for (size_t o = 0; o < to.ids.size(); ++o) {
      const scalar x = code.get(to.ids[o], space, where);
      const uint32 own = elements_per_word(x.element);
      if (own == 1) {
        k.store(to.buffers[o], at, x.bits);
        continue;
      }
      packers[o].add(x);
      if ((j + 1) % own != 0) continue;
      const word packed = packers[o].packed(), index = i * word(to.pack / own) + word(j / own);
      packers[o] = word_packer(x.element);
      if (own == to.pack) k.store(to.buffers[o], index, packed);
      else k.if_(below(index * word(own), count), [&] { k.store(to.buffers[o], index, packed); });
    }
  }
}

/// Computes and stores one element, number `index` of each output, whose words other invocations share.
constexpr void store_each(builder& k, region_code& code, const output_list& to, const tensor_type& space, const position& where,
                          word index) {
  code.compute(to.ids, space, where);
  for (size_t o = 0; o < to.ids.size(); ++o) store_element(k, to.buffers[o], index, code.get(to.ids[o], space, where));
}

}  // namespace poot::kernel

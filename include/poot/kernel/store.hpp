#pragma once
/// Results of a region: whole words where one invocation computes all elements of a word.

#include <poot/kernel/region.hpp>

namespace poot::kernel {

/// Outputs of one space, and the buffers that they go to; behind them perhaps a value that goes to none.
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

namespace detail {

/// Whether the elements of a space are a whole number of runs, as far as its text shows.
constexpr bool divides_count(uint32 run, const tensor_type& space) {
  for (int i = 0; i < space.rank; ++i)
    if (!space.extents[i].is_dynamic() && space.extents[i].code % run == 0) return true;
  return run == 1;
}
/// Whether its rows are.
constexpr bool divides_row(uint32 run, const tensor_type& space) {
  return run == 1 || (space.rank > 0 && !space.last().is_dynamic() && space.last().code % run == 0);
}

}  // namespace detail

/// Elements of a space below which nothing is won by moving four words at a time.
inline constexpr int64 small_space = 4096;

/// How many consecutive elements an invocation computes where memory is moved four words at a time: as many as four words
/// hold of 4-byte elements, twice that where there are 2-byte ones. Fewer in large regions, whose text is written for each;
/// one word of the narrowest output where the space is small.
constexpr uint32 run_length(const region_code& code, const output_list& to, const tensor_type& space) {
  if (space.element_count() < small_space) return to.pack;
  bool narrow = false, small = false;
  const auto look = [&](uint32 id) {
    const uint32 own = elements_per_word(code.graph().type(id).element);
    narrow = narrow || own == 2;
    small = small || own == 4;
  };
  for (uint32 id : code.inputs())
    if (!is_packed(code.graph().type(id).element)) look(id);
  for (uint32 id : code.outputs()) look(id);
  const uint32 weight = text_weight(code.graph(), code.members());
  if (narrow && !small && weight <= 24) return 8;
  return small || weight <= 48 ? 4 : to.pack;
}

/// Stores the elements of a run, the first of them number `first`: whole words, four at a time, where the run is aligned.
constexpr void store_run(builder& k, buffer_id to, word first, const vec<scalar>& run, bool aligned) {
  const auto count = static_cast<uint32>(run.size());
  const uint32 own = elements_per_word(run[0].element), words = count / own;
  if (!aligned || words == 0) {
    for (uint32 j = 0; j < count; ++j) store_element(k, to, first + word(j), run[j]);
    return;
  }
  word parts[4];
  for (uint32 w = 0; w < words; ++w) {
    word_packer packer(run[0].element);
    for (uint32 j = 0; j < own; ++j) packer.add(run[w * own + j]);
    if (words % 4 != 0) {
      k.store(to, first / word(own) + word(w), packer.packed());
      continue;
    }
    parts[w % 4] = packer.packed();
    if (w % 4 == 3) k.store_quad(to, first / word(4 * own) + word(w / 4), k.join(parts));
  }
}

/// Computes and stores all elements of a run, the first of them number `first` of each output; a whole number of words of
/// each where the run is aligned. `ready(j)` makes what element j of the run stands on. Returns what was computed, by value.
template <class Ready>
constexpr vec<vec<scalar>> compute_run(builder& k, region_code& code, const output_list& to, const tensor_type& space, const element_run& run,
                                       word first, Ready ready) {
  const auto count = static_cast<uint32>(run.at.size());
  vec<vec<scalar>> results(to.ids.size());
  code.begin_run(run);
  for (uint32 j = 0; j < count; ++j) {
    ready(j);
    code.compute_in_run(to.ids, space, j);
    for (size_t o = 0; o < to.ids.size(); ++o) results[o].push_back(code.get(to.ids[o], space, run.at[j]));
  }
  code.end_run();
  for (size_t o = 0; o < to.buffers.size(); ++o) store_run(k, to.buffers[o], first, results[o], run.aligned);
  return results;
}

/// Computes and stores one element, number `index` of each output, whose words other invocations share.
constexpr void store_each(builder& k, region_code& code, const output_list& to, const tensor_type& space, const position& where,
                          word index) {
  code.compute(to.ids, space, where);
  for (size_t o = 0; o < to.buffers.size(); ++o) store_element(k, to.buffers[o], index, code.get(to.ids[o], space, where));
}

}  // namespace poot::kernel

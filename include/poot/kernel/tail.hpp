#pragma once
/// What stands behind a head in a dispatch of movements: an element goes through the members of its part and is stored where
/// the last one puts it (fuse/tails.hpp). Parts stand one after the other in the grid.
///
///   the tail keeps the order of elements   one invocation for each word of the result
///   it does not                            one for each element, which changes its part of a word

#include <poot/fuse/tails.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

/// Where update `id` begins along an axis: moved so that it fits.
constexpr word update_start(builder& k, const region_code& code, uint32 id, int axis) {
  const view<uint32> in = code.graph().operands(id);
  const geometry& shape = code.shape();
  const word places = shape.extent_of(in[0], axis) - shape.extent_of(in[1], axis) + 1u;
  return moved_inside(load_element(k, code.input(in[2]), dtype::i32, shape.offset(in[2]) + word(static_cast<uint32>(axis))).bits, places);
}

/// Where the update's element at `at` lies in the result of update `id`.
constexpr word updated_index(builder& k, const region_code& code, uint32 id, const position& at) {
  word to = 0u;
  const int rank = code.graph().type(id).rank;
  for (int a = 0; a < rank; ++a) to = to + (update_start(k, code, id, a) + at.at[a]) * code.shape().product(id, a + 1, rank);
  return to;
}

class tail_code {
 public:
  /// `part`: the head, and what stands behind it.
  constexpr tail_code(builder& k, region_code& code, view<uint32> part) : k_(k), code_(code), part_(part) {}

  constexpr uint32 last() const { return part_[part_.size() - 1]; }
  constexpr bool keeps_order() const {
    for (size_t m = 1; m < part_.size(); ++m)
      if (fuse::relocates(code_.graph(), part_[m])) return false;
    return true;
  }
  /// Does a run of elements along the last axis of the head stay one?
  constexpr bool keeps_runs() const {
    const ir::graph_view& g = code_.graph();
    for (size_t m = 1; m < part_.size(); ++m)
      if (g[part_[m]].kind != op::transpose || g.attrs(part_[m])[g.type(part_[m]).rank - 1] != g.type(part_[m]).rank - 1) return false;
    return true;
  }

  struct placed {
    scalar value;
    word index;  ///< of the result
  };
  /// Takes the head's element through the tail.
  constexpr placed follow(scalar x, position at) {
    const ir::graph_view& g = code_.graph();
    code_.fix(part_[0], x);
    word index = at.flat;
    for (size_t m = 1; m < part_.size(); ++m) {
      const uint32 id = part_[m];
      switch (g[id].kind) {
        case op::reshape: at = code_.shape().locate(id, at.flat); break;
        case op::transpose: at = transposed(id, at); break;
        case op::dynamic_update_slice: at.flat = updated_index(k_, code_, id, at); break;
        default: x = code_.compute_one(id, g.type(id), at);
      }
      index = at.flat;
      code_.fix(id, x);
    }
    return {x, index};
  }

  /// Stores all elements of the result, piece `i` of them by this invocation; `element(flat)` gives those of the head. Returns how many
  /// pieces there are.
  template <class Element>
  constexpr word store_all(buffer_id to, word i, Element element) {
    const uint32 head = part_[0];
    const tensor_type& type = code_.graph().type(head);
    const bool in_words = keeps_order();
    const uint32 pack = in_words ? elements_per_word(code_.graph().type(last()).element) : 1;
    const word pieces = k_.meta({meta_word::what::product, head, 0, type.rank, pack, 0}), count = pack == 1 ? pieces : code_.shape().count(head);
    k_.count_work(pieces);
    k_.if_(below(i, pieces), [&] {
      const auto made = [&](word flat) {
        k_.note(head);
        const scalar x = element(flat);
        const placed p = part_.size() > 1 ? follow(x, code_.shape().locate(head, flat)) : placed{x, flat};
        return p;
      };
      if (!in_words) {
        const placed p = made(i);
        return store_element(k_, to, p.index, p.value);
      }
      word_packer packer(code_.graph().type(last()).element);
      for (uint32 j = 0; j < pack; ++j) packer.add(made(element_in_word(i, j, pack, count)).value);
      k_.store(to, i, packer.packed());
    });
    return pieces;
  }

 private:
  constexpr position transposed(uint32 id, const position& from) const {
    const view<int64> perm = code_.graph().attrs(id);
    const int rank = code_.graph().type(id).rank;
    position to;
    to.flat = 0u;
    for (int i = 0; i < rank; ++i) {
      to.at[i] = from.at[perm[static_cast<size_t>(i)]];
      to.flat = to.flat + to.at[i] * code_.shape().product(id, i + 1, rank);
    }
    return to;
  }

  builder& k_;
  region_code& code_;
  view<uint32> part_;
};

}  // namespace poot::kernel

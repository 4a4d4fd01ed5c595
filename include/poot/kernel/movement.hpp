#pragma once
/// Movement: one kernel that copies bits undecoded, whatever the op and the element; beside movements, ropes, small
/// pointwise regions and random numbers.
///
///   one invocation for each word of the result; element e of the result comes from one element of one operand:
///   gather       (outer, pick, inner) → (outer, index[pick], inner), an index outside moved inside
///   slice        index i along an axis → start + i · step
///   concat       the operand that the index along the axis falls into
///   transpose    axes permuted
///   broadcast    axes of extent 1 stretched
///   update       in place: only the update's elements are written, each into its part of a word; else as a choice
///
/// Rows of packed weights are moved as bytes; a decoding gather and a cast of a packed value make floats of them.

#include <poot/kernel/decode.hpp>
#include <poot/kernel/pointwise.hpp>
#include <poot/kernel/random.hpp>
#include <poot/kernel/rope.hpp>

namespace poot::kernel {

class movement_code {
 public:
  /// `part`: the movement, and its tail.
  constexpr movement_code(builder& k, const program_view& p, region_code& code, view<uint32> part, buffer_id to)
      : p_(p), g_(p.graph), k_(k), code_(code), shape_(code_.shape()), part_(part), id_(part[0]), to_(to), e_(g_[id_]), in_(g_.operands(e_)) {}

  /// Writes piece `i`, if there is one; returns how many there are.
  constexpr word build(word i) {
    if (part_.size() > 1)
      return tail_code(k_, code_, part_).store_all(to_, i, [&](word at) { return from_stored(e_.type.element, element(unit_of(e_.type.element), at)); });
    if (e_.kind == op::dynamic_update_slice && p_.placements[id_].where == plan::place::state) return in_place(i);
    const dtype unit = unit_of(e_.type.element);
    const uint32 pack = elements_per_word(unit);
    const word words = k_.meta(units(id_, 0, e_.type.rank, pack)), count = units_of(id_, 0, e_.type.rank);
    k_.count_work(words);
    k_.if_(below(i, words), [&] {
      word_packer packer(unit);
      for (uint32 j = 0; j < pack; ++j) packer.add({unit, element(unit, element_in_word(i, j, pack, count))});
      k_.store(to_, i, packer.packed());
    });
    return words;
  }

 private:
  /// An element type of the same width whose bits nobody changes; packed rows are bytes.
  static constexpr dtype unit_of(dtype t) {
    return is_packed(t) || poot::row(t).block_bytes == 1 ? dtype::u8 : is_narrow(t) ? dtype::f16 : dtype::u32;
  }

  /// The metadata word for the units of axes [first, last) of a value: elements, of packed types bytes.
  constexpr meta_word units(uint32 value, int first, int last, uint32 divide) const {
    const tensor_type& t = g_.type(value);
    if (!is_packed(t.element) || last < t.rank || first == last)
      return {meta_word::what::product, value, static_cast<uint8>(first), static_cast<uint8>(last), divide, 0};
    return {meta_word::what::bytes, value, static_cast<uint8>(first), static_cast<uint8>(last), divide, 0};
  }
  constexpr word units_of(uint32 value, int first, int last) {
    if (!is_packed(g_.type(value).element)) return shape_.product(value, first, last);
    return k_.meta(units(value, first, last, 1));
  }

  constexpr word load(uint32 value, dtype unit, word index) {
    return to_stored(load_element(k_, code_.input(value), unit, index + shape_.offset(value)));
  }

  /// The stored bits of element `at` of the result.
  constexpr word element(dtype unit, word at) {
    switch (e_.kind) {
      case op::gather:
      case op::packed_gather: return gathered(unit, at);
      case op::cast: return to_stored(decoded(at));
      case op::concat: return concatenated(unit, at);
      case op::dynamic_update_slice: return updated(unit, at);
      default: break;
    }
    const position where = shape_.locate(id_, at);
    word from = 0u;
    const tensor_type& x = g_.type(in_[0]);
    const view<int64> attrs = g_.attrs(e_);
    if (e_.kind == op::broadcast) return load(in_[0], unit, shape_.index(in_[0], e_.type, where));
    for (int i = 0; i < e_.type.rank; ++i) {
      if (e_.kind == op::transpose) {
        const int source = static_cast<int>(attrs[static_cast<size_t>(i)]);
        if (x.extents[source] != extent(1)) from = from + where.at[i] * shape_.product(in_[0], source + 1, x.rank);
      } else {
        const word start = shape_.fixed(attrs[static_cast<size_t>(i)]), step = shape_.fixed(attrs[static_cast<size_t>(2 * x.rank + i)]);
        from = from + (start + where.at[i] * step) * shape_.product(in_[0], i + 1, x.rank);
      }
    }
    return load(in_[0], unit, from);
  }

  struct picked {
    word row, inner;  ///< which row of the table, all outer ones counted, and which unit of it
  };
  constexpr picked pick(word at, word inner) {
    const int axis = static_cast<int>(g_.attrs(e_)[0]);
    const word picks = shape_.count(in_[1]), rows = shape_.extent_of(in_[0], axis);
    const word rest = at / inner, chosen = load_element(k_, code_.input(in_[1]), dtype::i32, rest % picks + shape_.offset(in_[1])).bits;
    return {rest / picks * rows + moved_inside(chosen, rows), at % inner};
  }
  constexpr word gathered(dtype unit, word at) {
    const tensor_type& x = g_.type(in_[0]);
    const int axis = static_cast<int>(g_.attrs(e_)[0]);
    if (is_packed(x.element) && !is_packed(e_.type.element)) {
      const word length = shape_.product(in_[0], axis + 1, x.rank);
      const picked from = pick(at, length);
      return to_stored(round_to(e_.type.element, decode_element(k_, code_.input(in_[0]), x.element, from.row * length + from.inner)));
    }
    const word inner = units_of(in_[0], axis + 1, x.rank);
    const picked from = pick(at, inner);
    return load(in_[0], unit, from.row * inner + from.inner);
  }

  constexpr scalar decoded(word at) {
    return round_to(e_.type.element, decode_element(k_, code_.input(in_[0]), g_.type(in_[0]).element, at));
  }

  constexpr word concatenated(dtype unit, word at) {
    const int axis = static_cast<int>(g_.attrs(e_)[0]);
    const word inner = shape_.product(id_, axis + 1, e_.type.rank), length = shape_.extent_of(id_, axis);
    const word along = at / inner % length, outer = at / inner / length, rest = at % inner;
    const variable<word> found = k_.declare(word(0u));
    word first = 0u;
    for (uint32 part : in_) {
      const word own = shape_.extent_of(part, axis), from = along - first;
      // along - first wraps below the part
      k_.if_(below(from, own), [&] { k_.assign(found, load(part, unit, (outer * own + from) * inner + rest)); });
      first = first + own;
    }
    return k_.read(found);
  }

  constexpr word updated(dtype unit, word at) {
    const position where = shape_.locate(id_, at);
    flag inside = true;
    word from = 0u;
    for (int i = 0; i < e_.type.rank; ++i) {
      const word distance = where.at[i] - update_start(k_, code_, id_, i);  // wraps before the update
      inside = inside & below(distance, shape_.extent_of(in_[1], i));
      from = from + distance * shape_.product(in_[1], i + 1, e_.type.rank);
    }
    const variable<word> value = k_.declare(word(0u));
    k_.if_(inside, [&] { k_.assign(value, load(in_[1], unit, from)); });
    k_.if_(not_(inside), [&] { k_.assign(value, load(in_[0], unit, at)); });
    return k_.read(value);
  }

  constexpr word in_place(word i) {
    const dtype unit = unit_of(e_.type.element);
    const word count = k_.meta({meta_word::what::product, in_[1], 0, e_.type.rank, 1, 0});
    k_.count_work(count);
    k_.if_(below(i, count), [&] {
      const position where = shape_.locate(in_[1], i);
      store_element(k_, to_, updated_index(k_, code_, id_, where), load_element(k_, code_.input(in_[1]), unit, i + shape_.offset(in_[1])));
    });
    return count;
  }

  const program_view& p_;
  const ir::graph_view& g_;
  builder& k_;
  region_code& code_;
  const geometry& shape_;
  view<uint32> part_;
  uint32 id_;
  buffer_id to_;
  const ir::eqn& e_;
  view<uint32> in_;
};

/// Writes piece `i` of a pointwise region beside movements; returns how many there are.
constexpr word pointwise_words(builder& k, region_code& code, view<uint32> part, word i) {
  output_list to;
  for (size_t o = 0; o < code.outputs().size(); ++o)
    for (uint32 id : part)
      if (id == code.outputs()[o]) to.add(code.graph(), id, code.output(o));
  const tensor_type& space = code.graph().type(to.ids[0]);
  const word words = k.meta({meta_word::what::product, to.ids[0], 0, space.rank, to.pack, 0});
  k.count_work(words);
  k.if_(below(i, words), [&] {
    compute_words(k, code, to, space, i, to.pack == 1 ? words : code.shape().count(to.ids[0]),
                  [&](word flat) { return code.shape().locate(to.ids[0], flat); });
  });
  return words;
}

/// Independent parts stand one after the other in the grid.
constexpr kernel movement_kernel(const program_view& p, const launch& l) {
  builder k(l.kind == fuse::region_kind::rope ? "rope" : "movement", 64);
  region_code code(k, p, l);
  const vec<vec<uint32>> parts = fuse::parts_beside(p.graph, code.members());
  word i = k.invocation();
  for (size_t n = 0; n < parts.size(); ++n) {
    const vec<uint32>& part = parts[n];
    word count;
    if (!fuse::has_head(p.graph, part)) {
      count = pointwise_words(k, code, part, i);
    } else {
      size_t o = 0;
      while (code.outputs()[o] != part.back()) ++o;
      const op head = p.graph[part[0]].kind;
      count = head == op::rope             ? turn_rows(k, code, part, code.output(o), i)
              : head == op::random_uniform ? random_elements(k, code, part[0], code.output(o), i)
                                           : movement_code(k, p, code, part, code.output(o)).build(i);
    }
    if (n + 1 < parts.size()) i = i - count;  // beyond all counts for invocations of an earlier part
  }
  return k.finish();
}

}  // namespace poot::kernel

#pragma once
/// The attributes of graph text: which op takes which, how they are read, and how they stand in a graph.

#include <poot/ir/detail/text_reader.hpp>
#include <poot/ir/graph.hpp>

namespace poot::ir::detail {

enum class attr : uint8 { axis, transpose_b, perm, start, size, step, stride, pad, dilation, groups, values, order, group,
                          scale, softcap, width, adjacent, signs, sink, strict };
inline constexpr int attr_count = 20;
inline constexpr std::string_view attr_names[attr_count] = {
    "axis", "transpose_b", "perm", "start", "size", "step", "stride", "pad", "dilation", "groups", "values", "order", "group",
    "scale", "softcap", "width", "adjacent", "signed", "sink", "strict"};
constexpr bool is_list(attr a) { return (a >= attr::perm && a <= attr::dilation) || a == attr::values; }

template <class... Attrs>
constexpr uint32 attr_set(Attrs... attrs) {
  return ((uint32{1} << static_cast<int>(attrs)) | ... | 0u);
}

/// The attributes that `o` may carry in text.
constexpr uint32 attrs_of(op o) {
  switch (o) {
    case op::constant: return attr_set(attr::values);
    case op::iota: case op::gather: case op::packed_gather: case op::concat:
    case op::reduce_max: case op::reduce_min: case op::reduce_argmax: return attr_set(attr::axis);
    case op::reduce_sum: return attr_set(attr::axis, attr::order);
    case op::matmul: case op::packed_contraction: return attr_set(attr::transpose_b, attr::order);
    case op::indexed_matmul: return attr_set(attr::order);
    case op::conv2d: return attr_set(attr::stride, attr::pad, attr::dilation, attr::groups, attr::order);
    case op::slice: return attr_set(attr::start, attr::size, attr::step);
    case op::transpose: return attr_set(attr::perm);
    case op::all_reduce_sum: case op::all_gather: case op::reduce_scatter: return attr_set(attr::group, attr::axis);
    case op::rope: return attr_set(attr::width, attr::adjacent, attr::signs);
    case op::attention: return attr_set(attr::scale, attr::softcap, attr::sink, attr::strict, attr::order);
    case op::attention_parts: return attr_set(attr::scale, attr::softcap, attr::order);
    case op::attention_join: return attr_set(attr::order);
    default: return 0;
  }
}

/// What stood in braces after an operation.
struct attributes {
  vec<int64> pool;
  slice_of where[attr_count]{};
  uint32 present = 0;
  order sum{};
  vec<char> group{};

  constexpr bool has(attr a) const { return present & attr_set(a); }
  constexpr view<int64> list(attr a) const {
    const slice_of s = where[static_cast<int>(a)];
    return view<int64>(pool).subview(s.first, s.count);
  }
  constexpr int64 one(attr a, int64 otherwise) const { return has(a) ? list(a)[0] : otherwise; }
};

inline constexpr int64 attr_limit = int64{1} << 62;

/// `{lanes=256 chunk=4096}`, as numerics.md defines the order of a sum.
constexpr order read_order(text_reader& in) {
  order sum;
  in.expect('{');
  while (!in.take('}')) {
    const size_t where = (in.skip(), in.at);
    const std::string_view key = in.word("lanes, chunk, fused or hardware");
    in.expect('=');
    if (key == "lanes") sum.lanes = static_cast<uint16>(in.integer(0, 65535));
    else if (key == "chunk") sum.chunk = static_cast<uint16>(in.integer(0, 65535));
    else if (key == "fused") sum.fused = in.integer(0, 1) != 0;
    else if (key == "hardware") sum.hardware = in.integer(0, 1) != 0;
    else in.refuse(where, "an order has lanes, chunk, fused and hardware");
  }
  return sum;
}

/// Reads `{key=value …}`; `read_extent` reads the entries of `size`, and `element` is the type of `values`.
template <class ReadExtent>
constexpr attributes read_attributes(text_reader& in, op o, dtype element, ReadExtent read_extent) {
  attributes r;
  if (!in.take('{')) return r;
  while (!in.take('}')) {
    const size_t where = (in.skip(), in.at);
    const std::string_view key = in.word("an attribute or '}'");
    int found = 0;
    while (found < attr_count && attr_names[found] != key) ++found;
    if (found == attr_count || !(attrs_of(o) >> found & 1)) {
      text reason("there is no attribute ");
      in.refuse(where, excerpt(reason, key) << " here");
    }
    const attr a = static_cast<attr>(found);
    if (r.has(a)) in.refuse(where, text{} << "the attribute " << key << " is given twice");
    r.present |= attr_set(a);
    in.expect('=');
    slice_of& s = r.where[found];
    s.first = static_cast<uint32>(r.pool.size());
    if (a == attr::order) {
      r.sum = read_order(in);
    } else if (a == attr::group) {
      r.group = in.quoted("the name of a group");
    } else if (a == attr::scale || a == attr::softcap) {
      r.pool.push_back(static_cast<int64>(read_number(in, dtype::f32)));
    } else if (!is_list(a)) {
      r.pool.push_back(in.integer(-attr_limit, attr_limit));
    } else {
      in.expect('[');
      if (!in.take(']')) {
        do {
          if (a == attr::values) r.pool.push_back(static_cast<int64>(read_number(in, element)));
          else if (a == attr::size) r.pool.push_back(read_extent().code);
          else r.pool.push_back(in.integer(-attr_limit, attr_limit));
        } while (in.take(','));
        in.expect(']');
      }
    }
    s.count = static_cast<uint32>(r.pool.size()) - s.first;
  }
  return r;
}

/// The attributes in the form and order in which an equation keeps them; refuses what is missing or of a wrong length.
constexpr vec<int64> kept_attributes(const text_reader& in, op o, const attributes& a, const tensor_type* first) {
  const auto require = [&](attr key) {
    if (!a.has(key)) in.refuse(text{} << "the attribute " << attr_names[static_cast<int>(key)] << " is missing");
  };
  vec<int64> r;
  const auto put = [&](attr key, size_t count, int64 otherwise) {
    if (a.has(key) && a.list(key).size() != count)
      in.refuse(text{} << "the attribute " << attr_names[static_cast<int>(key)] << " must have " << count << " entries, here "
                       << a.list(key).size());
    for (size_t i = 0; i < count; ++i) r.push_back(a.has(key) ? a.list(key)[i] : otherwise);
  };
  switch (o) {
    case op::constant: require(attr::values); return a.list(attr::values);
    case op::transpose: require(attr::perm); return a.list(attr::perm);
    case op::matmul: case op::packed_contraction: put(attr::transpose_b, 1, 0); break;
    case op::rope:
      require(attr::width);
      put(attr::width, 1, 0);
      put(attr::adjacent, 1, 0);
      put(attr::signs, 1, 0);
      break;
    case op::attention: case op::attention_parts:
      put(attr::scale, 1, 0x3f800000);
      put(attr::softcap, 1, 0);
      if (o == op::attention_parts) break;
      put(attr::sink, 1, 0);
      put(attr::strict, 1, 0);
      break;
    case op::all_reduce_sum:  // it has an axis only because its siblings have
      require(attr::group);
      if (first && a.has(attr::axis) && (a.list(attr::axis)[0] < 0 || a.list(attr::axis)[0] >= first->rank))
        in.refuse(explain(rule::axis_in_range));
      break;
    case op::all_gather: case op::reduce_scatter:
      require(attr::group);
      require(attr::axis);
      put(attr::axis, 1, 0);
      break;
    case op::conv2d:
      put(attr::stride, 2, 1);
      put(attr::pad, 4, 0);
      put(attr::dilation, 2, 1);
      put(attr::groups, 1, 1);
      break;
    case op::slice: {
      require(attr::start);
      require(attr::size);
      const size_t rank = first ? first->rank : 0;
      put(attr::start, rank, 0);
      put(attr::size, rank, 1);
      put(attr::step, rank, 1);
      break;
    }
    default:
      if (attrs_of(o) & attr_set(attr::axis)) {
        require(attr::axis);
        put(attr::axis, 1, 0);
      }
  }
  return r;
}

}  // namespace poot::ir::detail

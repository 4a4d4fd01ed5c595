#pragma once
/// Contractions, each with a chain of pointwise steps behind it: one invocation for each word of the narrowest output.
///
///   result element (batch, m, n) = sum over k of a[batch, m, k] · b[batch, k, n]      matmul; transposed b[batch, n, k]
///                                                 x[t, k] · w[index[t], n, k]          indexed
///                                                 the window of x · w[o, (c, i, j)]    conv2d; taps in the padding read +0
///
/// K runs in chunks of 256: within one k ascends, from +0; chunk results are added in ascending order, from +0. Product and
/// sum round once where the order says so. Packed weights are decoded in place, scale by scale.

#include <poot/kernel/decode.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

class contraction_code {
 public:
  constexpr contraction_code(const program_view& p, const launch& l)
      : p_(p), g_(p.graph), k_("contraction", 64), code_(k_, p, l), shape_(code_.shape()), head_(find_head()), e_(g_[head_]),
        a_(g_.operands(e_)[0]), b_(g_.operands(e_)[1]) {}

  constexpr kernel build() {
    output_list to;
    for (size_t o = 0; o < code_.outputs().size(); ++o) to.add(g_, code_.outputs()[o], code_.output(o));
    const tensor_type space = e_.type;
    const word words = k_.meta({meta_word::what::product, head_, 0, space.rank, to.pack, 0});
    const word count = to.pack == 1 ? words : shape_.count(head_), i = k_.invocation();
    k_.if_(below(i, words), [&] {
      compute_words(k_, code_, to, space, i, count, [&](word flat) {
        const position at = shape_.locate(head_, flat);
        k_.note(head_);
        const number sum = e_.kind == op::conv2d ? convolve(at) : multiply(at);
        code_.fix(head_, round_to(e_.type.element, sum));
        return at;
      });
    });
    return k_.finish();
  }

 private:
  constexpr uint32 find_head() const {
    for (uint32 id : code_.members())
      if (ir::is_contraction(g_[id].kind)) return id;
    fail("kernel: a contraction region has no contraction");
  }

  /// The sum of products in the order of the equation; `terms(first, end, add)` hands over the pairs of a chunk.
  template <class Terms>
  constexpr number sum(word n, Terms terms) {
    const uint32 chunk = e_.sum.chunk ? e_.sum.chunk : 256;
    if (e_.sum.lanes > 1) fail(text{} << "kernel: equation " << head_ << ": contractions on a device sum in one lane");
    const variable<number> total = k_.declare(number(0.0f));
    k_.for_(0u, n, chunk, [&](word first) {
      const variable<number> partial = k_.declare(number(0.0f));
      const word past = first + word(chunk), end = select(below(n, past), n, past);
      terms(first, end, [&](number x, number y) {
        const number before = k_.read(partial);
        k_.assign(partial, e_.sum.fused ? fma(x, y, before) : add(before, mul(x, y)));
      });
      const number before = k_.read(total);
      k_.assign(total, add(before, k_.read(partial)));
    });
    return k_.read(total);
  }

  constexpr number value(uint32 id, word index) {
    return value_of(load_element(k_, code_.input(id), g_.type(id).element, index));
  }

  /// Where the matrix of `x` that belongs to a position of the result begins: its batch axes broadcast.
  constexpr word batch_base(uint32 x, const position& at) {
    const tensor_type& t = g_.type(x);
    word base = is_packed(t.element) ? word(0u) : shape_.offset(x);
    for (int i = 0; i < t.rank - 2; ++i)
      if (t.extents[i] != extent(1)) base = base + at.at[i + e_.type.rank - t.rank] * shape_.stride(x, i);
    return base;
  }

  constexpr number multiply(const position& at) {
    const tensor_type &a = g_.type(a_), &b = g_.type(b_);
    const int rank = e_.type.rank;
    const bool indexed = e_.kind == op::indexed_matmul || g_.operands(e_).size() == 3;
    const view<int64> attrs = g_.attrs(e_);
    const bool transposed = indexed || is_packed(b.element) || (!attrs.empty() && attrs[0] != 0);
    const word m = at.at[rank - 2], n = at.at[rank - 1], length = shape_.extent_of(a_, a.rank - 1);
    const word row = indexed ? shape_.offset(a_) + m * shape_.stride(a_, 0) : batch_base(a_, at) + m * shape_.stride(a_, a.rank - 2);
    word column = indexed ? shape_.offset(b_) + expert(m) * shape_.stride(b_, 0) : batch_base(b_, at);
    if (is_packed(b.element)) return packed_sum(row, column + n * shape_.stride(b_, b.rank - 2), length);
    const word step = transposed ? word(1u) : shape_.stride(b_, b.rank - 2);
    column = column + (transposed ? n * shape_.stride(b_, b.rank - 2) : n);
    return sum(length, [&](word first, word end, auto take) {
      k_.for_(first, end, 1u, [&](word k) {
        const number x = value(a_, row + k);
        take(x, value(b_, column + k * step));
      });
    });
  }

  /// The expert of row `m`, moved inside.
  constexpr word expert(word m) {
    const uint32 index = g_.operands(e_)[2];
    const word chosen = load_element(k_, code_.input(index), dtype::i32, m + shape_.offset(index)).bits;
    return moved_inside(chosen, shape_.extent_of(b_, 0));
  }

  /// K is a whole number of blocks, and a chunk a whole number of scales.
  constexpr number packed_sum(word row, word column, word length) {
    const dtype format = g_.type(b_).element;
    packed_reader weights(k_, code_.input(b_), format);
    const uint32 elements = poot::row(format).block_elements, shared = elements_per_scale(format);
    return sum(length, [&](word first, word end, auto take) {
      k_.for_(first, end, shared, [&](word k) {
        const word index = column + k, block = index / word(elements) * word(poot::row(format).block_bytes), i = index % word(elements);
        const number scale = weights.scale(block, i);
        const number offset = has_offset(format) ? weights.offset(block, i) : number(0.0f);
        k_.for_(0u, shared, 1u, [&](word j) {
          const number x = value(a_, row + k + j), product = mul(scale, weights.code(block, i + j));
          take(x, has_offset(format) ? add(product, offset) : product);
        });
      });
    });
  }

  /// attrs: stride[2] pad[top,bottom,left,right] dilation[2] groups
  constexpr number convolve(const position& at) {
    const view<int64> attrs = g_.attrs(e_);
    const auto attr = [&](size_t i) { return shape_.fixed(attrs[i]); };
    const word o = at.at[1], taps_w = shape_.extent_of(b_, 3), taps = taps_w * shape_.extent_of(b_, 2), depth = shape_.extent_of(b_, 1);
    const word per_group = shape_.extent_of(b_, 0) / attr(8), channel0 = o / per_group * depth;
    const word height = shape_.extent_of(a_, 2), width = shape_.extent_of(a_, 3);
    const word image = shape_.offset(a_) + at.at[0] * shape_.stride(a_, 0), kernel = shape_.offset(b_) + o * (depth * taps);
    return sum(depth * taps, [&](word first, word end, auto take) {
      k_.for_(first, end, 1u, [&](word k) {
        const word c = k / taps, i = k / taps_w % shape_.extent_of(b_, 2), j = k % taps_w;
        const word h = at.at[2] * attr(0) + i * attr(6) - attr(2), v = at.at[3] * attr(1) + j * attr(7) - attr(4);  // wrap before 0
        const variable<word> x = k_.declare(word(0u));
        k_.if_(below(h, height) & below(v, width), [&] {
          k_.assign(x, to_bits(value(a_, image + (channel0 + c) * shape_.stride(a_, 1) + h * shape_.stride(a_, 2) + v)));
        });
        const number tap = from_bits(k_.read(x));
        take(tap, value(b_, kernel + k));
      });
    });
  }

  const program_view& p_;
  const ir::graph_view& g_;
  builder k_;
  region_code code_;
  const geometry& shape_;
  uint32 head_;
  const ir::eqn& e_;
  uint32 a_, b_;
};

constexpr kernel contraction_kernel(const program_view& p, const launch& l) { return contraction_code(p, l).build(); }

}  // namespace poot::kernel

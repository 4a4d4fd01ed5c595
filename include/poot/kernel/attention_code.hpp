#pragma once
/// What the kernels of attention share: scores, weights and sums of a chunk of keys, for one row of queries, or for one of each of several
/// heads that read the same keys and load them once.
///
///   invocations take keys     scores s of each, their greatest m, p = exp(s − m), the sum l of p in the order of rows
///   then columns              o = Σ p · v

#include <poot/core/target.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/kernel/sums.hpp>
#include <poot/kernel/tail.hpp>

namespace poot::kernel {

class attention_code {
 protected:
  constexpr attention_code(std::string_view name, uint32 lanes, const program_view& p, const launch& l)
      : g_(p.graph), k_(name, lanes), code_(k_, p, l), shape_(code_.shape()), width_(lanes), id_(code_.members()[0]), e_(g_[id_]),
        in_(g_.operands(e_)), tail_(k_, code_, code_.members()) {}

  static constexpr uint32 chunk = static_cast<uint32>(ir::attention_chunk);
  static constexpr uint32 minus_infinity = 0xff800000u;

  /// A row of the queries.
  struct query {
    position at;  ///< but for the last axis
    word row;     ///< its number
    word first;   ///< its first element
  };
  constexpr query query_at(const position& at, word row) const {
    const tensor_type& q = g_.type(in_[0]);
    word first = shape_.offset(in_[0]);
    for (int i = 0; i < q.rank - 1; ++i)
      if (q.extents[i] != extent(1)) first = first + at.at[i] * shape_.stride(in_[0], i);
    return {at, row, first};
  }
  constexpr void read_extents() {
    keys_ = shape_.extent_of(in_[1], g_.type(in_[1]).rank - 2);
    columns_ = shape_.extent_of(in_[2], g_.type(in_[2]).rank - 1);
  }

  /// Where the keys or values begin that the heads at `at` share.
  constexpr word entry_of(uint32 id, const position& at) const {
    const tensor_type &q = g_.type(in_[0]), &t = g_.type(id);
    word base = shape_.offset(id);
    for (int i = 0; i < t.rank - 2; ++i) {
      const extent heads = q.extents[i + q.rank - t.rank], shared = t.extents[i];
      if (shared == extent(1)) continue;
      const word own = at.at[i + q.rank - t.rank];
      base = base + (heads == shared ? own : own / word(static_cast<uint32>(heads.code / shared.code))) * shape_.stride(id, i);
    }
    return base;
  }

  static constexpr uint32 run_of(const tensor_type& t) { return detail::divides_row(4, t) ? 4 : 1; }

  static constexpr number greater(number a, number b) {
    return from_bits(detail::extremum(true, {dtype::f32, to_bits(a)}, {dtype::f32, to_bits(b)}));
  }
  static constexpr number sum_of(number a, number b) { return add(a, b); }

  /// The bits of the scores of key `key`, one of each query.
  constexpr vec<word> scores(const vec<query>& queries, word key, word keys) {
    const tensor_type& k = g_.type(in_[1]);
    const uint32 depth = run_of(k);
    const word at = keys + key * shape_.stride(in_[1], k.rank - 2);
    chunked_sums dot(k_, e_.sum, static_cast<uint32>(queries.size()));
    dot.run(shape_.extent_of(in_[1], k.rank - 1), [&](word first, word end) {
      k_.for_(first, end, depth, [&](word d) {
        vec<vec<number>> x;
        for (const query& q : queries) x.push_back(code_.load_numbers(in_[0], q.first + d, depth, true));
        const vec<number> y = code_.load_numbers(in_[1], at + d, depth, true);
        for (uint32 i = 0; i < depth; ++i)
          for (uint32 h = 0; h < queries.size(); ++h) dot.take(h, x[h][i], y[i]);
      });
    });
    vec<word> all;
    for (uint32 h = 0; h < queries.size(); ++h) all.push_back(score_of(queries[h], key, dot.result(h)));
    return all;
  }

  /// m and l of a chunk, for each query; all invocations get them.
  struct chunk_sums {
    vec<number> greatest, sums;
  };
  /// Leaves the weights p of `count` keys from `first` on in shared memory, 256 for each query.
  constexpr chunk_sums weigh_chunk(const vec<query>& queries, word first, word count, word keys) {
    const number nothing = from_bits(word(minus_infinity));
    const auto heads = static_cast<uint32>(queries.size());
    vec<variable<number>> own_greatest;
    for (uint32 h = 0; h < heads; ++h) own_greatest.push_back(k_.declare(nothing));
    k_.for_(lane_, chunk, width_, [&](word j) {
      vec<variable<word>> s;  // beyond the keys: weighs nothing
      for (uint32 h = 0; h < heads; ++h) s.push_back(k_.declare(word(minus_infinity)));
      k_.if_(below(j, count), [&] {
        const vec<word> bits = scores(queries, first + j, keys);
        for (uint32 h = 0; h < heads; ++h) k_.assign(s[h], bits[h]);
      });
      for (uint32 h = 0; h < heads; ++h) {
        const number own = from_bits(k_.read(s[h]));
        k_.store(scores_, j + word(h * chunk), own);
        const number before = k_.read(own_greatest[h]);
        k_.assign(own_greatest[h], greater(before, own));
      }
    });
    vec<number> own;
    for (const variable<number>& g : own_greatest) own.push_back(k_.read(g));
    chunk_sums made{fold(own, greater), {}};
    vec<number> lane_sums;
    for (uint32 h = 0; h < heads; ++h) {
      const flag masked = equal(made.greatest[h], nothing);
      own.clear();
      for (uint32 j = 0; j < chunk; j += width_) {
        const word at = lane_ + word(h * chunk + j);
        const number p = select(masked, number(0.0f), exp(sub(k_.load<number>(scores_, at), made.greatest[h])));
        k_.store(scores_, at, p);
        own.push_back(p);
      }
      for (size_t half = own.size() / 2; half > 0; half /= 2)
        for (size_t r = 0; r < half; ++r) own[r] = add(own[r], own[r + half]);
      lane_sums.push_back(own[0]);
    }
    made.sums = fold(lane_sums, sum_of);  // its barriers show the scores to all
    return made;
  }

  /// Calls put(query, c, d, o) for o = Σ p · v of column c + d, over `count` keys from `first` on, whose weights begin in shared memory.
  template <class Put>
  constexpr void weighted_columns(uint32 heads, word first, word count, word values_at, Put put) {
    const uint32 run = run_of(g_.type(in_[2]));
    k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
      chunked_sums o(k_, e_.sum, heads * run);
      take_values(o, heads, first, count, c, run, values_at);
      for (uint32 h = 0; h < heads; ++h)
        for (uint32 d = 0; d < run; ++d) put(h, c, d, o.result(h * run + d));
    });
  }
  constexpr void take_values(chunked_sums& o, uint32 heads, word first, word count, word c, uint32 run, word values_at) {
    const word step = shape_.stride(in_[2], g_.type(in_[2]).rank - 2);
    o.run(count, [&](word from, word end) {
      k_.for_(from, end, 1u, [&](word j) {
        vec<number> p;
        for (uint32 h = 0; h < heads; ++h) p.push_back(k_.load<number>(scores_, j + word(h * chunk)));
        const vec<number> x = code_.load_numbers(in_[2], values_at + (first + j) * step + c, run, true);
        for (uint32 h = 0; h < heads; ++h)
          for (uint32 d = 0; d < run; ++d) o.take(h * run + d, p[h], x[d]);
      });
    });
  }

  /// Values of all invocations, each folded by halves; all of them get the results.
  template <class Combine>
  constexpr vec<number> fold(const vec<number>& own, Combine combine) {
    const auto count = static_cast<uint32>(own.size());
    for (uint32 h = 0; h < count; ++h) k_.store(folded_, lane_ + word(h * width_), own[h]);
    k_.barrier();
    uint32 left = width_;
    for (; left > 8; left /= 2) {
      k_.if_(below(lane_, left / 2), [&] {
        for (uint32 h = 0; h < count; ++h) {
          const word at = lane_ + word(h * width_);
          const number low = k_.load<number>(folded_, at), high = k_.load<number>(folded_, lane_ + word(h * width_ + left / 2));
          k_.store(folded_, at, combine(low, high));
        }
      });
      k_.barrier();
    }
    vec<number> results;
    for (uint32 h = 0; h < count; ++h) {
      vec<number> all;
      for (uint32 i = 0; i < left; ++i) all.push_back(k_.load<number>(folded_, h * width_ + i));
      for (uint32 half = left / 2; half > 0; half /= 2)
        for (uint32 i = 0; i < half; ++i) all[i] = combine(all[i], all[i + half]);
      results.push_back(all[0]);
    }
    k_.barrier();
    return results;
  }

  /// Operand `id`, the sink of the row of the result at `at`.
  constexpr number sink_of(uint32 id, const position& at, word row) {
    const tensor_type column = e_.type.with(e_.type.rank - 1, extent(1));
    position where = at;
    where.at[e_.type.rank - 1] = 0u;
    where.flat = row;
    const word index = shape_.index(id, column, where);
    return value_of(load_element(k_, code_.input(id), g_.type(id).element, index));
  }

  /// Stores results of the row at `row_at` from column `c` on, where the tail puts them.
  constexpr void store(const position& row_at, word row, word c, const vec<scalar>& results, bool aligned) {
    const auto place = [&](uint32 d) {
      position at = row_at;
      at.at[e_.type.rank - 1] = c + word(d);
      at.flat = row * columns_ + at.at[e_.type.rank - 1];
      return tail_.follow(results[d], at).index;
    };
    if (tail_.keeps_runs()) return store_run(k_, code_.output(0), place(0), results, aligned);
    for (uint32 d = 0; d < results.size(); ++d) store_element(k_, code_.output(0), place(d), results[d]);
  }

  const ir::graph_view& g_;
  builder k_;
  region_code code_;
  const geometry& shape_;
  uint32 width_, id_;
  const ir::eqn& e_;
  view<uint32> in_;
  tail_code tail_;
  shared_id scores_{}, folded_{};
  word lane_{}, keys_{}, columns_{};

 private:
  /// The bits of the score of key `key` and a query whose product is `dot`.
  constexpr word score_of(const query& of, word key, number dot) {
    const view<int64> attrs = g_.attrs(e_);
    const number scale = from_bits(word(static_cast<uint32>(attrs[0]))), cap = from_bits(word(static_cast<uint32>(attrs[1])));
    number s = mul(dot, scale);
    if (attrs[1] != 0) s = mul(cap, tanh(div(s, cap)));
    word bits = to_bits(s);
    const tensor_type &q = g_.type(in_[0]), &k = g_.type(in_[1]);
    const tensor_type space = q.with(q.rank - 1, k.extents[k.rank - 2]);
    position where = of.at;
    where.at[q.rank - 1] = key;
    where.flat = of.row * keys_ + key;
    const size_t masks_end = in_.size() - (e_.kind == op::attention ? static_cast<size_t>(attrs[2]) : 0);
    for (size_t i = 3; i < masks_end; ++i) {
      const dtype t = g_.type(in_[i]).element;
      const scalar mask = load_element(k_, code_.input(in_[i]), t, shape_.index(in_[i], space, where));
      bits = t == dtype::i32 ? select(same(mask.bits, 0u), minus_infinity, bits) : to_bits(add(from_bits(bits), value_of(mask)));
    }
    return bits;
  }
};

}  // namespace poot::kernel

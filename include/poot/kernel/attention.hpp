#pragma once
/// Attention, decode and prefill: one workgroup for each query of each head, in the order that numerics.md defines.
///
///   q[…, L, D]  k[…, S, D]  v[…, S, E]  masks that broadcast into […, L, S]  a sink, into […, L, 1]   →   […, L, E]
///   for each chunk of 256 keys   invocations take keys: scores, their greatest m, p = exp(s − m), the sum l of p in the
///                                order of rows; then columns: o = Σ p · v
///   all chunks joined            M = max m, a = exp(m − M), the result Σ a · o / Σ a · l; a sink is one m more, with l = 1, o = 0
///
/// m, l and o of every chunk stay in shared memory, which bounds the keys (ir/attention_memory.hpp). A strict one keeps the scores of
/// all keys there instead: their greatest, the exponentials, the sum in the order of rows, the quotients, then columns.

#include <poot/core/target.hpp>
#include <poot/ir/attention_memory.hpp>
#include <poot/kernel/sums.hpp>
#include <poot/kernel/tail.hpp>

namespace poot::kernel {

class attention_code {
 public:
  constexpr attention_code(const program_view& p, const launch& l)
      : g_(p.graph), k_("attention", lanes_of(p, l)), code_(k_, p, l), shape_(code_.shape()),
        width_(k_.so_far().workgroup), id_(code_.members()[0]), e_(g_[id_]), in_(g_.operands(e_)), tail_(k_, code_, code_.members()) {}

  constexpr kernel build() {
    k_.count_groups();
    const tensor_type &q = g_.type(in_[0]), &v = g_.type(in_[2]);
    const int64 chunks = (g_.type(in_[1]).extents[g_.type(in_[1]).rank - 2].bound() + chunk - 1) / chunk;
    const auto most_chunks = static_cast<uint32>(chunks ? chunks : 1), columns = static_cast<uint32>(v.last().bound());
    const bool strict = g_.attrs(e_)[3] != 0;
    scores_ = k_.shares("scores", type::number, strict ? most_chunks * chunk : chunk);
    folded_ = k_.shares("folded", type::number, width_);
    if (!strict) {
      greatest_ = k_.shares("greatest", type::number, most_chunks);
      sums_ = k_.shares("sums", type::number, most_chunks);
      parts_ = k_.shares("parts", type::number, most_chunks * columns);
    }
    const word rows = k_.meta({meta_word::what::product, in_[0], 0, static_cast<uint8>(q.rank - 1), 1, 0});
    row_ = k_.group();
    lane_ = k_.lane();
    k_.if_(below(row_, rows), [&] {
      at_ = shape_.locate_row(in_[0], row_);
      query_ = shape_.offset(in_[0]);
      for (int i = 0; i < q.rank - 1; ++i)
        if (q.extents[i] != extent(1)) query_ = query_ + at_.at[i] * shape_.stride(in_[0], i);
      keys_ = shape_.extent_of(in_[1], g_.type(in_[1]).rank - 2);
      columns_ = shape_.extent_of(in_[2], v.rank - 1);
      const word keys = entry_of(in_[1]), values = entry_of(in_[2]);
      if (strict) return whole_row(keys, values);
      k_.for_(0u, keys_, chunk, [&](word first) { one_chunk(first, keys, values); });
      join();
    });
    return k_.finish();
  }

 private:
  static constexpr uint32 lanes_of(const program_view& p, const launch& l) {
    const view<uint32> in = p.graph.operands(p(l.members)[0]);
    const tensor_type &k = p.graph.type(in[1]), &v = p.graph.type(in[2]);
    const int64 lanes = ir::attention_workgroup(p.planned_for.caps, k.extents[k.rank - 2], v.last(), p.graph.attrs(p(l.members)[0])[3] != 0);
    return static_cast<uint32>(lanes ? lanes : 64);  // else the plan refuses the equation
  }
  static constexpr uint32 chunk = static_cast<uint32>(ir::attention_chunk);
  static constexpr uint32 minus_infinity = 0xff800000u;

  /// Where the keys or values begin that the heads of this row share.
  constexpr word entry_of(uint32 id) {
    const tensor_type &q = g_.type(in_[0]), &t = g_.type(id);
    word base = shape_.offset(id);
    for (int i = 0; i < t.rank - 2; ++i) {
      const extent heads = q.extents[i + q.rank - t.rank], shared = t.extents[i];
      if (shared == extent(1)) continue;
      const word own = at_.at[i + q.rank - t.rank];
      base = base + (heads == shared ? own : own / word(static_cast<uint32>(heads.code / shared.code))) * shape_.stride(id, i);
    }
    return base;
  }

  constexpr bool has_sink() const { return g_.attrs(e_)[2] != 0; }
  constexpr size_t masks_end() const { return in_.size() - (has_sink() ? 1 : 0); }
  constexpr number sink() {
    const uint32 id = in_[masks_end()];
    const tensor_type& q = g_.type(in_[0]);
    position where = at_;
    where.at[q.rank - 1] = 0u;
    where.flat = row_;
    const word index = shape_.index(id, q.with(q.rank - 1, extent(1)), where);
    return value_of(load_element(k_, code_.input(id), g_.type(id).element, index));
  }

  static constexpr uint32 run_of(const tensor_type& t) { return detail::divides_row(4, t) ? 4 : 1; }

  static constexpr number greater(number a, number b) {
    return from_bits(detail::extremum(true, {dtype::f32, to_bits(a)}, {dtype::f32, to_bits(b)}));
  }

  /// The bits of the score of key `key`.
  constexpr word score(word key, word keys) {
    const tensor_type& k = g_.type(in_[1]);
    const uint32 depth = run_of(k);
    const word at = keys + key * shape_.stride(in_[1], k.rank - 2);
    chunked_sums dot(k_, e_.sum, 1);
    dot.run(shape_.extent_of(in_[1], k.rank - 1), [&](word first, word end) {
      k_.for_(first, end, depth, [&](word d) {
        const vec<number> x = code_.load_numbers(in_[0], query_ + d, depth, true), y = code_.load_numbers(in_[1], at + d, depth, true);
        for (uint32 i = 0; i < depth; ++i) dot.take(0, x[i], y[i]);
      });
    });
    const view<int64> attrs = g_.attrs(e_);
    const number scale = from_bits(word(static_cast<uint32>(attrs[0]))), cap = from_bits(word(static_cast<uint32>(attrs[1])));
    number s = mul(dot.result(0), scale);
    if (attrs[1] != 0) s = mul(cap, tanh(div(s, cap)));
    word bits = to_bits(s);
    const tensor_type& q = g_.type(in_[0]);
    const tensor_type space = q.with(q.rank - 1, k.extents[k.rank - 2]);
    position where = at_;
    where.at[q.rank - 1] = key;
    where.flat = row_ * keys_ + key;
    for (size_t i = 3; i < masks_end(); ++i) {
      const dtype t = g_.type(in_[i]).element;
      const scalar mask = load_element(k_, code_.input(in_[i]), t, shape_.index(in_[i], space, where));
      bits = t == dtype::i32 ? select(same(mask.bits, 0u), minus_infinity, bits) : to_bits(add(from_bits(bits), value_of(mask)));
    }
    return bits;
  }

  static constexpr number sum_of(number a, number b) { return add(a, b); }

  /// The exponential of a score less m in place of each of 256 from `at` on; adds them to those of the lanes.
  constexpr void weigh(word at, number m, vec<variable<number>>& own) {
    for (size_t r = 0; r < own.size(); ++r) {
      const word j = at + lane_ + word(static_cast<uint32>(r) * width_);
      const number p = exp(sub(k_.load<number>(scores_, j), m));
      k_.store(scores_, j, p);
      const number before = k_.read(own[r]);
      k_.assign(own[r], add(before, p));
    }
  }

  constexpr void whole_row(word keys, word values_at) {
    const word past = (keys_ + word(chunk - 1)) & word(~(chunk - 1));
    const number nothing = from_bits(word(minus_infinity));
    const variable<number> own_greatest = k_.declare(nothing), total = k_.declare(number(0.0f));
    k_.for_(lane_, past, width_, [&](word j) {
      const variable<word> s = k_.declare(word(minus_infinity));
      k_.if_(below(j, keys_), [&] { k_.assign(s, score(j, keys)); });
      const number own = from_bits(k_.read(s));
      k_.store(scores_, j, own);
      const number before = k_.read(own_greatest);
      k_.assign(own_greatest, greater(before, own));
    });
    const number m = fold(k_.read(own_greatest), greater);
    k_.for_(0u, past, 4096u, [&](word first) {  // a chunk of the order of rows
      vec<variable<number>> own;
      for (uint32 j = 0; j < chunk; j += width_) own.push_back(k_.declare(number(0.0f)));
      const word after = first + word(4096u);
      k_.for_(first, select(below(after, past), after, past), chunk, [&](word at) { weigh(at, m, own); });
      vec<number> lanes;
      for (const variable<number>& x : own) lanes.push_back(k_.read(x));
      for (size_t half = lanes.size() / 2; half > 0; half /= 2)
        for (size_t r = 0; r < half; ++r) lanes[r] = add(lanes[r], lanes[r + half]);
      const number l = fold(lanes[0], sum_of), before = k_.read(total);
      k_.assign(total, add(before, l));
    });
    const number all = k_.read(total);
    k_.for_(lane_, keys_, width_, [&](word j) { k_.store(scores_, j, div(k_.load<number>(scores_, j), all)); });
    k_.barrier();
    const uint32 run = run_of(e_.type);
    k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
      chunked_sums o(k_, e_.sum, run);
      take_values(o, 0u, keys_, c, run, values_at);
      vec<scalar> results;
      for (uint32 d = 0; d < run; ++d) results.push_back(round_to(e_.type.element, o.result(d)));
      store(c, results, run == 4);
    });
  }

  /// o = Σ p · v of run columns from c on, over `count` keys from `first` on, whose weights begin in shared memory.
  constexpr void take_values(chunked_sums& o, word first, word count, word c, uint32 run, word values_at) {
    const word step = shape_.stride(in_[2], g_.type(in_[2]).rank - 2);
    o.run(count, [&](word from, word end) {
      k_.for_(from, end, 1u, [&](word j) {
        const number p = k_.load<number>(scores_, j);
        const vec<number> x = code_.load_numbers(in_[2], values_at + (first + j) * step + c, run, true);
        for (uint32 d = 0; d < run; ++d) o.take(d, p, x[d]);
      });
    });
  }

  constexpr void one_chunk(word first, word keys, word values_at) {
    const word rest = keys_ - first, count = select(below(rest, chunk), rest, chunk), i = first >> 8u;
    const number nothing = from_bits(word(minus_infinity));
    const variable<number> own_greatest = k_.declare(nothing);
    k_.for_(lane_, chunk, width_, [&](word j) {
      const variable<word> s = k_.declare(word(minus_infinity));  // beyond the keys: weighs nothing
      k_.if_(below(j, count), [&] { k_.assign(s, score(first + j, keys)); });
      const number own = from_bits(k_.read(s));
      k_.store(scores_, j, own);
      const number before = k_.read(own_greatest);
      k_.assign(own_greatest, greater(before, own));
    });
    const number m = fold(k_.read(own_greatest), greater);
    const flag masked = equal(m, nothing);
    vec<number> own;
    for (uint32 j = 0; j < chunk; j += width_) {
      const number p = select(masked, number(0.0f), exp(sub(k_.load<number>(scores_, lane_ + word(j)), m)));
      k_.store(scores_, lane_ + word(j), p);
      own.push_back(p);
    }
    for (size_t half = own.size() / 2; half > 0; half /= 2)
      for (size_t r = 0; r < half; ++r) own[r] = add(own[r], own[r + half]);
    const number l = fold(own[0], sum_of);  // its barriers show the scores to all
    k_.if_(same(lane_, 0u), [&] {
      k_.store(greatest_, i, m);
      k_.store(sums_, i, l);
    });
    const tensor_type& v = g_.type(in_[2]);
    const uint32 run = run_of(v);
    const word parts = i * columns_;
    k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
      chunked_sums o(k_, e_.sum, run);
      take_values(o, first, count, c, run, values_at);
      for (uint32 d = 0; d < run; ++d) k_.store(parts_, parts + c + word(d), o.result(d));
    });
    k_.barrier();
  }

  /// One value of all invocations, folded by halves; all of them get it.
  template <class Combine>
  constexpr number fold(number own, Combine combine) {
    k_.store(folded_, lane_, own);
    k_.barrier();
    uint32 left = width_;
    for (; left > 8; left /= 2) {
      k_.if_(below(lane_, left / 2), [&] {
        const number low = k_.load<number>(folded_, lane_), high = k_.load<number>(folded_, lane_ + word(left / 2));
        k_.store(folded_, lane_, combine(low, high));
      });
      k_.barrier();
    }
    vec<number> all;
    for (uint32 i = 0; i < left; ++i) all.push_back(k_.load<number>(folded_, i));
    for (uint32 half = left / 2; half > 0; half /= 2)
      for (uint32 i = 0; i < half; ++i) all[i] = combine(all[i], all[i + half]);
    k_.barrier();
    return all[0];
  }

  constexpr void join() {
    const word chunks = (keys_ + word(chunk - 1)) >> 8u;
    const variable<number> most = k_.declare(from_bits(word(minus_infinity))), sum = k_.declare(number(0.0f));
    k_.for_(0u, chunks, 1u, [&](word i) {
      const number before = k_.read(most);
      k_.assign(most, greater(before, k_.load<number>(greatest_, i)));
    });
    number own_sink{};
    if (has_sink()) {
      own_sink = sink();
      const number before = k_.read(most);
      k_.assign(most, greater(before, own_sink));
    }
    k_.barrier();
    k_.for_(lane_, chunks, width_, [&](word i) {  // from here on the weight of each chunk
      k_.store(greatest_, i, exp(sub(k_.load<number>(greatest_, i), k_.read(most))));
    });
    k_.barrier();
    k_.for_(0u, chunks, 1u, [&](word i) {
      const number weight = k_.load<number>(greatest_, i), l = k_.load<number>(sums_, i), before = k_.read(sum);
      k_.assign(sum, multiply_add(e_.sum, weight, l, before));
    });
    number all = k_.read(sum);
    if (has_sink()) all = add(all, exp(sub(own_sink, k_.read(most))));
    const uint32 run = run_of(e_.type);
    const flag empty = same(keys_, 0u);
    k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
      vec<variable<number>> o;
      for (uint32 d = 0; d < run; ++d) o.push_back(k_.declare(number(0.0f)));
      k_.for_(0u, chunks, 1u, [&](word i) {
        const number weight = k_.load<number>(greatest_, i);
        for (uint32 d = 0; d < run; ++d) {
          const number part = k_.load<number>(parts_, i * columns_ + c + word(d)), before = k_.read(o[d]);
          k_.assign(o[d], multiply_add(e_.sum, weight, part, before));
        }
      });
      vec<scalar> results;
      for (uint32 d = 0; d < run; ++d) {
        const number value = div(add(number(0.0f), k_.read(o[d])), all);
        results.push_back(round_to(e_.type.element, select(empty, number(0.0f), value)));
      }
      store(c, results, run == 4);
    });
  }

  /// Stores results of this row from column `c` on, where the tail puts them.
  constexpr void store(word c, const vec<scalar>& results, bool aligned) {
    const auto place = [&](uint32 d) {
      position at = at_;
      at.at[e_.type.rank - 1] = c + word(d);
      at.flat = row_ * columns_ + at.at[e_.type.rank - 1];
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
  shared_id scores_{}, folded_{}, greatest_{}, sums_{}, parts_{};
  word row_{}, lane_{}, query_{}, keys_{}, columns_{};
  position at_{};
};

constexpr kernel attention_kernel(const program_view& p, const launch& l) { return attention_code(p, l).build(); }

}  // namespace poot::kernel

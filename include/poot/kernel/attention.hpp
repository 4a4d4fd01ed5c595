#pragma once
/// Attention, decode and prefill: one workgroup for each query of each head, in the order that numerics.md defines.
///
///   q[…, L, D]  k[…, S, D]  v[…, S, E]  masks that broadcast into […, L, S]  a sink, into […, L, 1]   →   […, L, E]
///   for each chunk of 256 keys   m, l and o (attention_code.hpp)
///   all chunks joined            M = max m, a = exp(m − M), the result Σ a · o / Σ a · l; a sink is one m more, with l = 1, o = 0
///
/// m, l and o of every chunk stay in shared memory, which bounds the keys (ir/attention_memory.hpp); over more, attention_split.hpp. A
/// strict one keeps the scores of all keys there instead: their greatest, the exponentials, the sum in the order of rows, the quotients,
/// then columns.

#include <poot/kernel/attention_code.hpp>

namespace poot::kernel {

class whole_attention_code : attention_code {
 public:
  constexpr whole_attention_code(const program_view& p, const launch& l) : attention_code("attention", lanes_of(p, l), p, l) {}

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
    const word row = k_.group();
    lane_ = k_.lane();
    k_.if_(below(row, rows), [&] {
      const position at = shape_.locate_row(in_[0], row);
      queries_.push_back(query_at(at, row));
      read_extents();
      const word keys = entry_of(in_[1], at), values = entry_of(in_[2], at);
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

  constexpr bool has_sink() const { return g_.attrs(e_)[2] != 0; }

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
      k_.if_(below(j, keys_), [&] { k_.assign(s, scores(queries_, j, keys)[0]); });
      const number own = from_bits(k_.read(s));
      k_.store(scores_, j, own);
      const number before = k_.read(own_greatest);
      k_.assign(own_greatest, greater(before, own));
    });
    const number m = fold({k_.read(own_greatest)}, greater)[0];
    k_.for_(0u, past, 4096u, [&](word first) {  // a chunk of the order of rows
      vec<variable<number>> own;
      for (uint32 j = 0; j < chunk; j += width_) own.push_back(k_.declare(number(0.0f)));
      const word after = first + word(4096u);
      k_.for_(first, select(below(after, past), after, past), chunk, [&](word at) { weigh(at, m, own); });
      vec<number> lanes;
      for (const variable<number>& x : own) lanes.push_back(k_.read(x));
      for (size_t half = lanes.size() / 2; half > 0; half /= 2)
        for (size_t r = 0; r < half; ++r) lanes[r] = add(lanes[r], lanes[r + half]);
      const number l = fold({lanes[0]}, sum_of)[0], before = k_.read(total);
      k_.assign(total, add(before, l));
    });
    const number all = k_.read(total);
    k_.for_(lane_, keys_, width_, [&](word j) { k_.store(scores_, j, div(k_.load<number>(scores_, j), all)); });
    k_.barrier();
    const uint32 run = run_of(e_.type);
    k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
      chunked_sums o(k_, e_.sum, run);
      take_values(o, 1, 0u, keys_, c, run, values_at);
      vec<scalar> results;
      for (uint32 d = 0; d < run; ++d) results.push_back(round_to(e_.type.element, o.result(d)));
      store(queries_[0].at, queries_[0].row, c, results, run == 4);
    });
  }

  constexpr void one_chunk(word first, word keys, word values_at) {
    const word rest = keys_ - first, count = select(below(rest, chunk), rest, chunk), i = first >> 8u;
    const chunk_sums made = weigh_chunk(queries_, first, count, keys);
    k_.if_(same(lane_, 0u), [&] {
      k_.store(greatest_, i, made.greatest[0]);
      k_.store(sums_, i, made.sums[0]);
    });
    const word parts = i * columns_;
    weighted_columns(1, first, count, values_at, [&](uint32, word c, uint32 d, number o) { k_.store(parts_, parts + c + word(d), o); });
    k_.barrier();
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
      own_sink = sink_of(in_[in_.size() - 1], queries_[0].at, queries_[0].row);
      const number before = k_.read(most);
      k_.assign(most, greater(before, own_sink));
    }
    k_.barrier();
    k_.for_(lane_, chunks, width_, [&](word i) {  // from here on the weight of each chunk
      const number all = k_.read(most), own = k_.load<number>(greatest_, i);  // in this order, whatever the compiler
      k_.store(greatest_, i, exp(sub(own, all)));
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
      store(queries_[0].at, queries_[0].row, c, results, run == 4);
    });
  }

  vec<query> queries_;  ///< one
  shared_id greatest_{}, sums_{}, parts_{};
};

constexpr kernel attention_kernel(const program_view& p, const launch& l) { return whole_attention_code(p, l).build(); }

}  // namespace poot::kernel

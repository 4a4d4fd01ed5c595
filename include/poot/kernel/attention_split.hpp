#pragma once
/// Attention over chunks of keys in two kernels (pass/split_attention.hpp).
///
///   parts   q, k, v, masks → […, L, chunks, E + 3]   one workgroup for each query position and chunk, of up to 7 heads that read the
///                                                    same keys: o[E], m, l, and how many keys the chunk has
///   join    parts, a sink → […, L, E]                one workgroup for each row: M = max m, a = exp(m − M), the result Σ a · o / Σ a · l
///
/// A chunk beyond the keys weighs nothing: m = −inf, l = 0, o = 0. Where the first has no key, the row is 0.

#include <poot/kernel/attention_code.hpp>

namespace poot::kernel {

class attention_parts_code : attention_code {
 public:
  constexpr attention_parts_code(const program_view& p, const launch& l) : attention_code("attention_parts", lanes_of(p, l), p, l) {}

  constexpr kernel build() {
    k_.count_groups();
    const auto heads = static_cast<uint32>(ir::heads_at_once(g_.type(in_[0]), g_.type(in_[1])));
    const int last = e_.type.rank - 1;
    scores_ = k_.shares("scores", type::number, heads * chunk);
    folded_ = k_.shares("folded", type::number, heads * width_);
    const word groups = k_.meta({meta_word::what::product, id_, 0, static_cast<uint8>(last), heads, 0}), group = k_.group();
    lane_ = k_.lane();
    k_.if_(below(group, groups), [&] {
      read_extents();
      const word chunks = shape_.extent_of(id_, last - 1), numbers = shape_.extent_of(id_, last), i = group % chunks;
      const vec<query> queries = locate(group / chunks, heads);
      const word keys = entry_of(in_[1], queries[0].at), values = entry_of(in_[2], queries[0].at);
      const word first = i * word(chunk), rest = keys_ - first;
      const word count = select(below(first, keys_), select(below(rest, chunk), rest, chunk), 0u);
      const chunk_sums made = weigh_chunk(queries, first, count, keys);
      const auto part = [&](uint32 h) { return (queries[h].row * chunks + i) * numbers; };
      const auto put = [&](word at, number x) { store_element(k_, code_.output(0), at, {dtype::f32, to_bits(x)}); };
      k_.if_(same(lane_, 0u), [&] {
        for (uint32 h = 0; h < heads; ++h) {
          const word behind = part(h) + columns_;
          put(behind, made.greatest[h]);
          put(behind + 1u, made.sums[h]);
          put(behind + 2u, to_float(count));
        }
      });
      weighted_columns(heads, first, count, values, [&](uint32 h, word c, uint32 d, number o) { put(part(h) + c + word(d), o); });
    });
    return k_.finish();
  }

 private:
  static constexpr uint32 lanes_of(const program_view& p, const launch& l) {
    const view<uint32> in = p.graph.operands(p(l.members)[0]);
    const int64 lanes = ir::attention_parts_workgroup(p.planned_for.caps, ir::heads_at_once(p.graph.type(in[0]), p.graph.type(in[1])));
    return static_cast<uint32>(lanes ? lanes : 64);  // else the plan refuses the equation
  }

  /// The rows of number `rest`: heads one behind the other, at one position.
  constexpr vec<query> locate(word rest, uint32 heads) {
    const int rank = g_.type(in_[0]).rank, of_heads = rank - 3;
    position at;
    word row = 0u;
    for (int i = rank - 2; i >= 0; --i) {
      const word length = shape_.product(in_[0], i, i + 1, i == of_heads ? heads : 1);
      at.at[i] = i > 0 ? rest % length : rest;
      if (i > 0) rest = rest / length;
      if (i == of_heads) at.at[i] = at.at[i] * word(heads);
      row = row + at.at[i] * shape_.product(in_[0], i + 1, rank - 1);
    }
    vec<query> all;
    for (uint32 h = 0; h < heads; ++h) {
      all.push_back(query_at(at, row));
      if (h + 1 == heads) break;
      at.at[of_heads] = at.at[of_heads] + 1u;
      row = row + shape_.extent_of(in_[0], rank - 2);
    }
    return all;
  }
};

class attention_join_code : attention_code {
 public:
  constexpr attention_join_code(const program_view& p, const launch& l) : attention_code("attention_join", lanes_of(p), p, l) {}

  constexpr kernel build() {
    k_.count_groups();
    const int last = g_.type(in_[0]).rank - 1;
    const word rows = k_.meta({meta_word::what::product, in_[0], 0, static_cast<uint8>(last - 1), 1, 0}), row = k_.group();
    lane_ = k_.lane();
    k_.if_(below(row, rows), [&] {
      const position at = shape_.locate_row(id_, row);
      columns_ = shape_.extent_of(id_, e_.type.rank - 1);
      const word chunks = shape_.extent_of(in_[0], last - 1), numbers = shape_.extent_of(in_[0], last);
      const word parts = row * chunks * numbers;
      const bool has_sink = in_.size() > 1;
      const variable<number> greatest = k_.declare(from_bits(word(minus_infinity)));
      k_.for_(0u, chunks, 1u, [&](word i) {
        const number before = k_.read(greatest);
        k_.assign(greatest, greater(before, number_at(parts + i * numbers + columns_)));
      });
      number sink{}, most = k_.read(greatest);
      if (has_sink) {
        sink = sink_of(in_[1], at, row);
        most = greater(most, sink);
      }
      const flag empty = same(to_bits(number_at(parts + columns_ + 2u)) & 0x7fffffffu, 0u);
      const uint32 run = run_of(e_.type);
      k_.for_(lane_ * word(run), columns_, width_ * run, [&](word c) {
        const variable<number> sum = k_.declare(number(0.0f));
        vec<variable<number>> o;
        for (uint32 d = 0; d < run; ++d) o.push_back(k_.declare(number(0.0f)));
        k_.for_(0u, chunks, 1u, [&](word i) {
          const word part = parts + i * numbers, behind = part + columns_;
          const number weight = exp(sub(number_at(behind), most));
          const auto add_to = [&](const variable<number>& to, number x) {
            const number before = k_.read(to);
            k_.assign(to, multiply_add(e_.sum, weight, x, before));
          };
          add_to(sum, number_at(behind + 1u));
          for (uint32 d = 0; d < run; ++d) add_to(o[d], number_at(part + c + word(d)));
        });
        number all = k_.read(sum);
        if (has_sink) all = add(all, exp(sub(sink, most)));
        vec<scalar> results;
        for (uint32 d = 0; d < run; ++d) {
          const number value = div(add(number(0.0f), k_.read(o[d])), all);
          results.push_back(round_to(e_.type.element, select(empty, number(0.0f), value)));
        }
        store(at, row, c, results, run == 4);
      });
    });
    return k_.finish();
  }

 private:
  static constexpr uint32 lanes_of(const program_view& p) {
    const uint32 lanes = p.planned_for.caps.is_processor() ? 32 : 64, most = static_cast<uint32>(p.planned_for.caps.max_workgroup);
    return most > 0 && most < lanes ? most : lanes;
  }
  constexpr number number_at(word index) { return value_of(load_element(k_, code_.input(in_[0]), dtype::f32, index)); }
};

constexpr kernel attention_parts_kernel(const program_view& p, const launch& l) { return attention_parts_code(p, l).build(); }
constexpr kernel attention_join_kernel(const program_view& p, const launch& l) { return attention_join_code(p, l).build(); }

}  // namespace poot::kernel

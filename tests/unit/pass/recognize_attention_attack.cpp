// Every kind of change that a chain of attention may have seen, with its answer: it is recognised and its values stay within what
// its roundings allow, or it keeps its equations and their bits and is declined with this reason and this value.
#include "attention_attack.hpp"

#include <cstdlib>

using namespace attention_attack;
using pass::chain_check;

namespace {

/// Recognised, or the check that fails.
struct answer {
  change what;
  const char* name;
  std::optional<chain_check> failed{};
};

constexpr answer answers[] = {
    {change::nothing, "nothing"},
    {change::operand_order, "operands of sums and products in either order"},
    {change::double_transpose, "keys transposed there and back"},
    {change::computed_twice, "the scores computed again for their maximum"},
    {change::dead_reader, "a reader of the scores that nobody reads"},
    {change::reader_of_operands, "readers of q, k and v"},
    {change::result_read_twice, "a reader of the result beside the output"},
    {change::narrow_operand, "an explicit narrow cast of the query"},
    {change::narrow_result, "a result rounded to a narrow type"},
    {change::one_tensor, "keys that are the values, or the query too"},
    {change::exchanged_roles, "query and keys exchanged"},
    {change::mask_is_query, "the query as the mask too"},
    {change::heads_in_turns, "head h reads key head h mod KV"},
    {change::any_scale, "any finite scale, zero and subnormal ones too"},
    {change::scale_by_one, "a scale of one"},
    {change::power_of_two_divisor, "a division by a power of two"},
    {change::cap_of_one, "a softcap of one"},
    {change::constant_mask, "a number as the mask"},
    {change::mask_computed, "a mask that is computed"},
    {change::mask_without_end, "masks of -inf, whole rows too"},
    {change::one_query, "one query"},
    {change::one_key, "one key"},
    {change::long_keys, "several chunks of keys"},
    {change::large_scores, "scores of hundreds"},
    {change::batch_of_heads, "a batch, and heads that share keys by their extent of one"},
    {change::bounded_length, "a bounded number of keys"},
    {change::shifted_twice, "less the maximum, and less that of the differences"},
    {change::sink_beside, "a sink as a column behind the scores"},
    {change::sink_before, "a sink as a column before the scores"},
    {change::sink_in_sum, "a sink in the maximum and in the sum"},
    {change::sink_of_zero, "a softmax that may weigh nothing"},
    {change::sink_of_one_head, "one sink for all heads"},
    {change::sink_without_end, "sinks and masks of -inf, whole rows too"},
    {change::read_by_output, "a value inside is an output", chain_check::read_elsewhere},
    {change::read_by_step, "a value inside has one more reader", chain_check::read_elsewhere},
    {change::cast_between, "a value inside is narrowed and widened", chain_check::narrow_value},
    {change::negated_between, "one more step inside", chain_check::step_between},
    {change::scaled_query_and_scores, "a scaled query and a scale"},
    {change::reciprocal, "a product with the reciprocal of the sum", chain_check::reciprocal_softmax},
    {change::quotient_of_one, "a product with one over the sum", chain_check::reciprocal_softmax},
    {change::epsilon_in_sum, "a number added to the sum", chain_check::softmax_form},
    {change::other_sum, "the sum of other exponentials", chain_check::softmax_form},
    {change::narrow_sum, "the sum of narrowed exponentials", chain_check::narrow_value},
    {change::reversed_division, "the sum over the exponentials", chain_check::softmax_form},
    {change::doubled_exponential, "doubled exponentials over their sum", chain_check::softmax_form},
    {change::greatest_axis, "the maximum along the queries", chain_check::softmax_axis},
    {change::sum_axis, "the sum along the queries", chain_check::softmax_axis},
    {change::least_for_greatest, "less the minimum", chain_check::softmax_shift},
    {change::greatest_of_narrow, "less the maximum of narrowed scores", chain_check::narrow_value},
    {change::greatest_of_another, "less the maximum before the mask", chain_check::softmax_shift},
    {change::no_shift, "exponentials of the scores themselves", chain_check::softmax_shift},
    {change::reversed_difference, "the maximum less the score", chain_check::softmax_shift},
    {change::factor_in_exponent, "a factor of the exponent", chain_check::softmax_shift},
    {change::scale_is_input, "a scale that is no constant", chain_check::scale_form},
    {change::scale_is_infinite, "a scale of infinity or NaN", chain_check::scale_form},
    {change::divisor_no_power, "a division by another number", chain_check::scale_form},
    {change::scale_after_mask, "a scale after the mask", chain_check::mask_form},
    {change::scale_after_cap, "a scale after the softcap", chain_check::softcap_form},
    {change::caps_differ, "another factor than divisor of the softcap", chain_check::softcap_form},
    {change::cap_is_negative, "a negative or infinite softcap", chain_check::softcap_form},
    {change::cap_after_mask, "a softcap after the mask", chain_check::mask_form},
    {change::mask_is_large, "masked by a large number", chain_check::mask_value},
    {change::mask_reversed, "the masked scores are the chosen ones", chain_check::mask_form},
    {change::mask_multiplied, "a mask to multiply by", chain_check::scale_form},
    {change::mask_twice, "two masks to add", chain_check::mask_form},
    {change::chosen_before_added, "chosen by before one is added", chain_check::mask_form},
    {change::chosen_twice, "two masks to choose by", chain_check::mask_form},
    {change::keys_not_transposed, "keys as they are", chain_check::operand_order},
    {change::values_transposed, "transposed values", chain_check::operand_order},
    {change::weights_as_second, "values times weights", chain_check::operand_order},
    {change::single_key_head, "the contraction broadcasts one key head", chain_check::single_key_head},
    {change::fewer_value_heads, "copies of value heads, and none of key heads", chain_check::heads_differ},
    {change::narrow_product, "scores that are narrow", chain_check::narrow_value},
    {change::narrow_weights, "weights that are narrowed", chain_check::narrow_value},
    {change::wide_chain, "a chain of f64", chain_check::element_type},
    {change::narrow_chain, "a chain of f16 or bf16", chain_check::narrow_value},
    {change::keys_dropped, "one key less in the scores", chain_check::moved_inside},
    {change::scores_moved, "scores that take another shape", chain_check::moved_inside},
    {change::weights_masked, "weights times a mask", chain_check::step_between},
    {change::product_with_quotient, "weights times a number", chain_check::step_between},
    {change::sink_kept, "the sink's column has a value", chain_check::sink_kept},
    {change::scores_dropped, "the first score is dropped, not the sink", chain_check::sink_kept},
    {change::two_sink_columns, "two columns beside the scores", chain_check::sink_shape},
    {change::scale_after_sink, "the sink is scaled with the scores", chain_check::sink_form},
    {change::sink_not_in_greatest, "a sink in the sum alone", chain_check::sink_form},
    {change::sink_not_in_sum, "a sink in the maximum alone", chain_check::softmax_shift},
    {change::sink_scaled_in_sum, "another sink in the sum than in the maximum", chain_check::sink_form},
    {change::sink_not_shifted, "the exponential of the sink itself", chain_check::sink_form},
    {change::sink_for_each_key, "a sink for each key", chain_check::sink_shape},
    {change::sinks_of_both_kinds, "a column beside the scores, and a sink in the sum", chain_check::sink_form},
    {change::sink_of_more_rows, "more sinks than queries", chain_check::sink_shape},
    {change::sink_after_shift, "a sink beside scores that are shifted already", chain_check::step_between},
    {change::length_without_bound, "no bound of the number of keys", chain_check::unbounded_length},
};

/// One more step inside: how it is seen depends on where it stands.
chain_check check_of_step_after(place p) {
  switch (p) {
    case place::quotient: return chain_check::softcap_form;
    case place::greatest: case place::difference: return chain_check::softmax_shift;
    case place::exponential: case place::sum: return chain_check::softmax_form;
    default: return chain_check::step_between;
  }
}

vec<ir::named_tensor> drawn_leaves(const ir::graph_view& g, draws& d, const attacked& a, bool endless) {
  vec<ir::named_tensor> given;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (!ir::is_named_leaf(g[id].kind)) continue;
    tensor_type t = g.type(id);
    for (int i = 0; i < t.rank; ++i)
      if (t.extents[i].is_dynamic()) t.extents[i] = extent(5);
    ir::tensor value(t);
    const bool ends = endless && (g.name_of(id) == std::string_view("added") || g.name_of(id) == std::string_view("sink"));
    const int64 row = t.last().code;
    uint64 masked_row = ends && d.less_than(2) ? d.less_than(3) : 99;
    for (size_t i = 0; i < value.bits.size(); ++i) {
      uint64& bits = value.bits[i];
      if (!is_float(t.element)) bits = d.less_than(3);
      else if (ends && (d.less_than(3) == 0 || i / static_cast<size_t>(row) == masked_row)) bits = bits_of(t.element, -INFINITY);
      else bits = bits_of(t.element, d.between(-a.size, a.size));
    }
    given.push_back({g.name_of(id), std::move(value)});
  }
  return given;
}

/// The attention of operands in f64, by the formula of the chain, and how far f32 may be from it.
///
/// With u = 2^-24, for a row of S keys of width D, in chunks of 256 (numerics.md). The scores s are off by
///   d = |scale| · (min(D, 256) + chunks of D) · u · Σ|q·k| + u·|scale·q·k|                 a contraction, rounded at each step
///   d + u·|s| + 5u·|cap·tanh(s/cap)|    under a cap: a division, 2 ULP of tanh, a product; tanh only shrinks differences
///   d + u·|s|                            after a mask is added
/// The result does not depend on what is subtracted, only the difference rounds: the exponent is off by e = d + u·(M − s). Two
/// exponentials of 2 ULP make the weight p: off by a factor of 1 + t, t = exp(e) − 1 + 8u. Its sum has 8 folds of lanes and one
/// step a chunk, and one for a sink, whose weight is off as others are, with d = 0: L is off by l = Σ p·t / L + (8 + chunks + 1)·u.
/// The weighted sum has min(S, 256) + 1 steps in a chunk and one more a chunk: |O| is off by
/// Σ p·|v|·t + (min(S, 256) + 2 + chunks)·u·Σ p·|v|. The quotient rounds once, and to a narrow type again.
struct expected {
  std::vector<double> value, error;
  bool is_bounded = true;  ///< else the roundings may be as large as the values
  double greatest = 0;     ///< |v|
};

expected reference(const attacked& a, const vec<ir::named_tensor>& given) {
  chain reads = a.c;
  ir::graph plain;
  std::vector<uint32> placed;
  reads.outputs = {a.q, a.k, a.v};
  if (a.added >= 0) reads.outputs.push_back(a.added);
  if (a.chosen >= 0) reads.outputs.push_back(a.chosen);
  if (a.sink >= 0) reads.outputs.push_back(a.sink);
  reads.unread.clear();
  REQUIRE(reads.build(plain));
  const ir::interpretation parts = ir::interpret(plain, given);
  const ir::tensor &q = parts.outputs[0].value, &k = parts.outputs[1].value, &v = parts.outputs[2].value;
  const int rank = q.type.rank;
  const int64 queries = q.type.extents[rank - 2].code, width = q.type.last().code, keys = k.type.extents[k.type.rank - 2].code, columns = v.type.last().code;
  const auto stretched = [&](const ir::tensor& t, int64 rows, int64 last) {
    tensor_type to = q.type.with(t.type.element);
    to.extents[rank - 2] = extent(rows);
    to.extents[rank - 1] = extent(last);
    std::vector<uint64> bits(static_cast<size_t>(to.element_count()));
    ir::detail::copy_broadcast(t, to, bits.data());
    std::vector<double> all;
    for (uint64 b : bits) all.push_back(std::bit_cast<double>(ir::detail::cast_bits(t.type.element, dtype::f64, b)));
    return all;
  };
  const std::vector<double> qs = stretched(q, queries, width), ks = stretched(k, keys, width), vs = stretched(v, keys, columns);
  std::vector<double> added, chosen, sinks;
  size_t next = 3;
  if (a.added >= 0) added = stretched(parts.outputs[next++].value, queries, keys);
  if (a.chosen >= 0) chosen = stretched(parts.outputs[next++].value, queries, keys);
  if (a.sink >= 0) sinks = stretched(parts.outputs[next].value, queries, 1);

  constexpr double u = 0x1p-24;
  const double chunks = static_cast<double>((keys + 255) / 256), depth = static_cast<double>(std::min<int64>(width, 256) + (width + 255) / 256);
  const double narrow = a.result == bf16 ? 0x1p-8 : a.result == f16 ? 0x1p-11 : 0;
  expected out;
  for (double x : vs) out.greatest = std::fmax(out.greatest, std::fabs(x));
  std::vector<double> s(static_cast<size_t>(keys)), off(s.size());
  for (int64 row = 0; row < static_cast<int64>(qs.size()) / width; ++row) {
    const int64 head = row / queries;
    double most = -INFINITY;
    for (int64 j = 0; j < keys; ++j) {
      double sum = 0, sizes = 0;
      for (int64 i = 0; i < width; ++i) {
        const double product = qs[static_cast<size_t>(row * width + i)] * ks[static_cast<size_t>((head * keys + j) * width + i)];
        sum += product, sizes += std::fabs(product);
      }
      double x = sum * a.scale, d = std::fabs(a.scale) * depth * u * sizes + u * std::fabs(x) + 0x1p-148;
      if (a.cap != 0) {
        const double capped = a.cap * std::tanh(x / a.cap);
        d += u * std::fabs(x) + 5 * u * std::fabs(capped);
        x = capped;
      }
      const auto at = static_cast<size_t>(row * keys + j);
      if (!added.empty()) x += added[at], d += u * std::fabs(x);
      if (!chosen.empty() && chosen[at] == 0) x = -INFINITY;
      s[static_cast<size_t>(j)] = x, off[static_cast<size_t>(j)] = d;
      most = std::fmax(most, x);
    }
    const double sink = sinks.empty() ? -INFINITY : sinks[static_cast<size_t>(row)];
    most = std::fmax(most, sink);
    double weights = 0, weights_off = 0;
    if (sink != -INFINITY) {
      weights = std::exp(sink - most);
      weights_off = weights * (std::expm1(u * (most - sink)) + 8 * u);
    }
    std::vector<double> o(static_cast<size_t>(columns)), sizes(o.size()), o_off(o.size());
    for (int64 j = 0; j < keys; ++j) {
      const double x = s[static_cast<size_t>(j)];
      if (x == -INFINITY) continue;
      const double p = std::exp(x - most), t = std::expm1(off[static_cast<size_t>(j)] + u * (most - x)) + 8 * u;
      weights += p, weights_off += p * t;
      for (int64 i = 0; i < columns; ++i) {
        const double value = vs[static_cast<size_t>((head * keys + j) * columns + i)];
        o[static_cast<size_t>(i)] += p * value;
        sizes[static_cast<size_t>(i)] += p * std::fabs(value);
        o_off[static_cast<size_t>(i)] += p * std::fabs(value) * t;
      }
    }
    const double l = weights_off / weights + (8 + chunks + !sinks.empty()) * u;
    out.is_bounded = out.is_bounded && !(l > 0.01);
    for (size_t i = 0; i < o.size(); ++i) {
      const double y = most == -INFINITY ? NAN : o[i] / weights;
      const double steps = static_cast<double>(std::min<int64>(keys, 256)) + 2 + chunks;
      out.value.push_back(y);
      out.error.push_back(1.02 * ((o_off[i] + steps * u * sizes[i]) / weights + std::fabs(y) * (l + u + narrow)) +
                          static_cast<double>(keys) * 0x1p-146 * out.greatest + (a.result == f16 ? 0x1p-25 : 0x1p-149));
    }
  }
  return out;
}

/// What is wrong with the values of the recognised graph, if anything. `greatest_part`: the greatest part of the bound that was used.
std::string outside(const attacked& a, const ir::graph_view& made, const vec<ir::named_tensor>& given, double& greatest_part) {
  const expected want = reference(a, given);
  const ir::tensor got = ir::interpret(made, given).outputs[0].value;
  if (got.bits.size() != want.value.size()) return "another number of elements";
  if (!want.is_bounded) return "the roundings have no useful bound";
  for (size_t i = 0; i < got.bits.size(); ++i) {
    const double x = number_at(got, i), y = want.value[i];
    if (std::isnan(x) && std::isnan(y)) continue;
    greatest_part = std::fmax(greatest_part, std::fabs(x - y) / want.error[i]);
    if (!(std::fabs(x - y) <= want.error[i]))
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " is " + std::to_string(std::fabs(x - y)) + " from " + std::to_string(y) + ", of " + std::to_string(want.error[i]);
    if (a.result == f32 && a.size <= 1.5 && !(std::fabs(x - y) <= 16 * 0x1p-23 * want.greatest)) return "element " + std::to_string(i) + " is outside the class";
  }
  return "";
}

int count_of(const ir::graph_view& g, ir::op o) {
  int n = 0;
  for (const ir::eqn& e : g.eqns) n += e.kind == o;
  return n;
}

}  // namespace

static_assert(std::size(answers) == changes, "every change has an answer");

TEST_CASE("each kind of change to a chain of attention has the answer in the table") {
  const int each = std::getenv("POOT_LONG") ? 20000 / changes + 1 : 60;
  for (const answer& want : answers) {
    double greatest_part = 0;
    int built = 0;
    for (int k = 0; k < each; ++k) {
      draws d(hash_text(want.name) + static_cast<uint64>(k));
      attacked a = speller(want.what, d).spell();
      ir::graph g;
      std::vector<uint32> placed;
      if (!a.c.build(g, &placed)) continue;
      ++built;
      const pass::prepared made = pass::run_passes(g, targets::host), strict = pass::run_passes(g, targets::host, {.strict = true});
      INFO(std::string(want.name) << ", " << k << "\n" << printed(g) << printed(made.optimized));
      REQUIRE(ir::verify(made.optimized));
      const vec<ir::named_tensor> given = drawn_leaves(g, d, a, want.what == change::mask_without_end || want.what == change::sink_without_end);
      REQUIRE(same_results(g, strict.optimized, given));
      for (const ir::eqn& e : strict.optimized.eqns)
        if (e.kind == ir::op::attention) REQUIRE(ir::graph_view(strict.optimized).attrs(e)[3] == 1);
      if (want.failed) {
        REQUIRE(count_of(made.optimized, ir::op::attention) == 0);
        REQUIRE(made.notes.chain_declines.size() == 1);
        REQUIRE(strict.notes.chain_declines == made.notes.chain_declines);
        REQUIRE(count_of(strict.optimized, ir::op::attention) == 0);
        const chain_check failed = want.what == change::negated_between ? check_of_step_after(a.where) : *want.failed;
        REQUIRE(std::string(pass::explain(made.notes.chain_declines[0].failed)) == std::string(pass::explain(failed)));
        if (a.blamed >= 0) REQUIRE(made.notes.chain_declines[0].origin == placed[static_cast<size_t>(a.blamed)]);
        REQUIRE(same_results(g, made.optimized, given));
      } else {
        REQUIRE(count_of(made.optimized, ir::op::attention) == 1);
        REQUIRE(made.notes.chain_declines.empty());
        REQUIRE(outside(a, made.optimized, given, greatest_part) == "");
        if (a.sink < 0) {
          REQUIRE(strict.notes.chain_declines.empty());
          REQUIRE(count_of(strict.optimized, ir::op::attention) == 1);
        } else {
          REQUIRE(strict.notes.chain_declines.size() == 1);
          REQUIRE(strict.notes.chain_declines[0].failed == chain_check::strict);
          REQUIRE(count_of(strict.optimized, ir::op::attention) == 0);
        }
      }
    }
    CAPTURE(std::string(want.name));
    CHECK(built == each);
    if (!want.failed && want.what != change::one_key) CHECK(greatest_part > 0.001);  // else the bound says nothing
  }
}

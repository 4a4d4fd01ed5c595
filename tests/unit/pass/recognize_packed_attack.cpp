// Every kind of change to a contraction or a gather over a packed weight, in every format, with its answer: it decodes as it reads,
// or it reads what was decoded before and says why, or typing refuses it by its rule. No change changes a bit.
#include "chain_mutations.hpp"

#include <cstdlib>
#include <optional>

using namespace chain_mutations;
using pass::chain_check;

namespace {

enum class change : uint8 {
  direct, decoded, transposed_back, decoded_read_twice, decoded_is_output, dead_reader, two_contractions, narrow_rows, narrow_result, scaled_rows, batch, experts,
  decoded_experts, head_is_table, rows, rows_to_narrow, rows_to_f64, rows_read_twice, rows_of_decoded, narrow_rows_of_decoded, rows_moved,
  narrow_weight, wide_weight, columns_of_decoded, weight_first, other_permutation,
  scaled_weight, sum_of_decoded, gathered_columns,
  packed_pointwise, packed_reduced, packed_transposed, packed_columns, packed_first, packed_to_integer, half_a_block, packed_result, column_gather,
};
constexpr int changes = static_cast<int>(change::column_gather) + 1;

/// One op that decodes as it reads, one contraction or gather beside the cast with a reason or without, or the rule that is broken.
struct answer {
  change what;
  const char* name;
  std::optional<ir::op> becomes{};
  std::optional<chain_check> failed{};
  const char* refused = nullptr;
};

constexpr auto contraction = ir::op::packed_contraction, gather = ir::op::packed_gather;
constexpr answer answers[] = {
    {change::direct, "a contraction of the weight itself", contraction},
    {change::decoded, "a cast to f32 before it", contraction},
    {change::transposed_back, "the cast transposed to [K,N]", contraction},
    {change::decoded_read_twice, "another reader of the decoded weight", contraction},
    {change::decoded_is_output, "the decoded weight is an output too", contraction},
    {change::dead_reader, "a reader of the decoded weight that nobody reads", contraction},
    {change::two_contractions, "one weight in two contractions", contraction},
    {change::narrow_rows, "rows of f16 or bf16", contraction},
    {change::narrow_result, "a result of f16 or bf16", contraction},
    {change::scaled_rows, "rows that are computed", contraction},
    {change::batch, "a weight for each of a batch", contraction},
    {change::experts, "the matrix that each row names", contraction},
    {change::decoded_experts, "a cast to f32 of all matrices", contraction},
    {change::head_is_table, "one weight as table and as head", contraction},
    {change::rows, "gathered rows, decoded", gather},
    {change::rows_to_narrow, "gathered rows, decoded to f16 or bf16", gather},
    {change::rows_to_f64, "gathered rows, decoded to f64", gather},
    {change::rows_read_twice, "the packed rows are an output too", gather},
    {change::rows_of_decoded, "rows gathered of the decoded weight", gather},
    {change::narrow_rows_of_decoded, "rows gathered of the weight decoded to bf16", gather},
    {change::rows_moved, "slices of packed rows", {}, {}, "this element type is not accepted here"},
    {change::narrow_weight, "a weight decoded to f16 or bf16", {}, chain_check::narrow_value},
    {change::wide_weight, "a weight decoded to f64", {}, chain_check::element_type},
    {change::columns_of_decoded, "a decoded weight read as [K,N]", {}, chain_check::weight_order},
    {change::weight_first, "a decoded weight as the first operand", {}, chain_check::weight_order},
    {change::other_permutation, "a decoded weight of which other axes are exchanged", {}},
    {change::scaled_weight, "a decoded weight times a number", {}},
    {change::sum_of_decoded, "a sum over a decoded weight", {}},
    {change::gathered_columns, "columns gathered of a decoded weight", {}},
    {change::packed_pointwise, "arithmetic on a packed value", {}, {}, "this element type is not accepted here"},
    {change::packed_reduced, "a sum of a packed value", {}, {}, "this element type is not accepted here"},
    {change::packed_transposed, "a transposed packed value", {}, {}, "this element type is not accepted here"},
    {change::packed_columns, "a packed weight read as [K,N]", {}, {}, "a packed weight is read in [N,K] order: transpose_b=1"},
    {change::packed_first, "a packed value as the first operand", {}, {}, "this element type is not accepted here"},
    {change::packed_to_integer, "a packed value cast to an integer", {}, {}, "a packed value can only be cast to a float"},
    {change::half_a_block, "rows of half a block", {}, {}, "the last extent must be a multiple of the packed block"},
    {change::packed_result, "a float cast to a packed format", {}, {}, "a packed value can only be cast to a float"},
    {change::column_gather, "gathered columns of a packed value", {}, {}, "a packed value is gathered along axis 0 of at least two"},
};
static_assert(std::size(answers) == changes, "every change has an answer");

struct attacked {
  chain c;
  int blamed = -1, ops = 1;  ///< what a decline names; how many become ops that decode
};

attacked spell(change what, dtype format, draws& d) {
  const auto is = [&](auto... x) { return ((what == x) || ...); };
  const auto below = [&](uint64 n) { return static_cast<int64>(d.less_than(n)); };
  attacked a;
  chain& c = a.c;
  const int64 block = row(format).block_elements, rows = 1 + below(4), places = 1 + below(3);
  int64 depth = block * (block == 32 ? 1 + below(2) : 1), columns = 1 + below(5);
  if (is(change::columns_of_decoded, change::gathered_columns, change::column_gather, change::other_permutation)) columns = 3 + below(4);
  if (is(change::half_a_block)) depth = block / 2;
  const dtype narrow = below(2) ? bf16 : f16;
  const bool has_experts = is(change::experts, change::decoded_experts), has_batch = is(change::batch, change::other_permutation);
  tensor_type stored = has_experts || has_batch ? type_of(format, 3, columns, depth) : type_of(format, columns, depth);
  const int w = c.leaf("w", stored, ir::op::weight);
  const auto decoded = [&](dtype t) { return c.apply(ir::op::cast, {w}, {}, type_of(t)); };
  const auto leaf = [&](const char* name, int64 last, dtype t = f32) { return c.leaf(name, has_batch ? type_of(t, 3, rows, last) : type_of(t, rows, last)); };
  const auto index = [&](int64 count) { return c.leaf("i", type_of(i32, count)); };
  const dtype to = is(change::narrow_result) ? narrow : f32;
  const auto matmul = [&](int x, int y, int64 transposed, dtype t = f32) { return c.apply(ir::op::matmul, {x, y}, {transposed}, type_of(t)); };
  int y = -1;
  switch (what) {
    case change::direct: case change::narrow_result: case change::batch: y = matmul(leaf("x", depth), below(2) ? w : decoded(f32), 1, to); break;
    case change::decoded: y = matmul(leaf("x", depth), decoded(f32), 1); break;
    case change::transposed_back: y = matmul(leaf("x", depth), c.apply(ir::op::transpose, {decoded(f32)}, {1, 0}), 0); break;
    case change::decoded_read_twice: case change::decoded_is_output: case change::dead_reader: {
      const int wide = decoded(f32);
      y = matmul(leaf("x", depth), wide, 1);
      const int other = is(change::decoded_is_output) ? wide : c.apply(ir::op::neg, {wide});
      (is(change::dead_reader) ? c.unread : c.outputs).push_back(other);
      break;
    }
    case change::two_contractions:
      c.outputs.push_back(matmul(c.leaf("z", type_of(f32, 2, depth)), decoded(f32), 1));
      y = matmul(leaf("x", depth), below(2) ? w : decoded(f32), 1);
      a.ops = 2;
      break;
    case change::narrow_rows: y = matmul(leaf("x", depth, narrow), below(2) ? w : decoded(f32), 1); break;
    case change::scaled_rows: y = matmul(c.apply(ir::op::exp, {leaf("x", depth)}), decoded(f32), 1); break;
    case change::experts: case change::decoded_experts:
      y = c.apply(ir::op::indexed_matmul, {leaf("x", depth), is(change::experts) ? w : decoded(f32), index(rows)});
      break;
    case change::head_is_table:
      c.outputs.push_back(c.apply(ir::op::cast, {c.apply(ir::op::gather, {w, index(places)}, {0}, type_of(format))}));
      y = matmul(leaf("x", depth), w, 1);
      break;
    case change::rows: case change::rows_to_narrow: case change::rows_to_f64: case change::rows_read_twice: {
      const int some = c.apply(ir::op::gather, {w, index(places)}, {0}, type_of(format));
      if (is(change::rows_read_twice)) c.outputs.push_back(some);
      y = c.apply(ir::op::cast, {some}, {}, type_of(is(change::rows_to_narrow) ? narrow : is(change::rows_to_f64) ? f64 : f32));
      break;
    }
    case change::rows_of_decoded: y = c.apply(ir::op::gather, {decoded(f32), index(places)}, {0}); break;
    case change::narrow_rows_of_decoded: y = c.apply(ir::op::gather, {decoded(bf16), index(places)}, {0}, type_of(bf16)); break;
    case change::rows_moved: y = c.apply(ir::op::cast, {c.apply(ir::op::slice, {w}, {0, 0, 1, depth, 1, 1}, type_of(format))}); break;
    case change::narrow_weight: y = matmul(leaf("x", depth), a.blamed = decoded(narrow), 1); break;
    case change::wide_weight: y = matmul(leaf("x", depth, f64), a.blamed = decoded(f64), 1, f64); break;
    case change::columns_of_decoded: y = a.blamed = matmul(leaf("x", columns), decoded(f32), 0); break;
    case change::weight_first: y = a.blamed = matmul(decoded(f32), leaf("x", depth), 1); break;
    case change::other_permutation: y = c.apply(ir::op::matmul, {c.leaf("x", type_of(f32, columns, rows, depth)), c.apply(ir::op::transpose, {decoded(f32)}, {1, 0, 2})}, {1}); break;
    case change::scaled_weight: y = matmul(leaf("x", depth), c.apply(ir::op::mul, {decoded(f32), c.number(0.5f)}), 1); break;
    case change::sum_of_decoded: y = c.apply(ir::op::reduce_sum, {decoded(f32)}, {1}); break;
    case change::gathered_columns: y = c.apply(ir::op::gather, {decoded(f32), index(places)}, {1}); break;
    case change::packed_pointwise: y = c.apply(ir::op::add, {w, w}, {}, type_of(format)); break;
    case change::packed_reduced: y = c.apply(ir::op::reduce_sum, {w}, {1}, type_of(format)); break;
    case change::packed_transposed: y = c.apply(ir::op::transpose, {w}, {1, 0}, type_of(format)); break;
    case change::packed_columns: y = matmul(leaf("x", columns), w, 0); break;
    case change::packed_first: y = matmul(w, leaf("x", depth), 1); break;
    case change::packed_to_integer: y = c.apply(ir::op::cast, {w}, {}, type_of(i32)); break;
    case change::half_a_block: y = matmul(leaf("x", depth), w, 1); break;
    case change::packed_result: y = c.apply(ir::op::cast, {leaf("x", depth)}, {}, type_of(format)); break;
    case change::column_gather: y = c.apply(ir::op::gather, {w, index(places)}, {1}, type_of(format)); break;
  }
  c.outputs.insert(c.outputs.begin(), y);
  return a;
}

/// Any bytes: scales of infinity and NaN too.
vec<ir::named_tensor> drawn_leaves(const ir::graph_view& g, draws& d) {
  vec<ir::named_tensor> given = drawn_values(g, d);
  for (ir::named_tensor& t : given) {
    if (is_packed(t.value.type.element))
      for (uint64& byte : t.value.bits) byte = d.less_than(256);
    if (t.name == std::string_view("i"))
      for (uint64& at : t.value.bits) at = d.less_than(4);
  }
  return given;
}

}  // namespace

TEST_CASE("each kind of change around a packed weight has the answer in the table, and keeps every bit") {
  constexpr dtype formats[] = {q4_0, q4_1, q5_0, q8_0, q4_k, q6_k, iq4_nl, mxfp4};
  const int each = std::getenv("POOT_LONG") ? 20000 / (8 * changes) + 1 : 4;
  for (const answer& want : answers)
    for (const dtype format : formats)
      for (int k = 0; k < each; ++k) {
        draws d(hash_text(want.name) + static_cast<uint64>(1000 * static_cast<int>(format) + k));
        const attacked a = spell(want.what, format, d);
        ir::graph g;
        std::vector<uint32> placed;
        std::string refused;
        const bool built = a.c.build(g, &placed, &refused);
        INFO(std::string(want.name) << ", " << std::string(name(format)) << ", " << k << ": " << refused);
        REQUIRE(built == !want.refused);
        if (want.refused) {
          REQUIRE(refused.find(want.refused) != std::string::npos);
          continue;
        }
        const pass::prepared made = pass::run_passes(g, targets::host);
        INFO(printed(g) << printed(made.optimized));
        REQUIRE(ir::verify(made.optimized));
        int contractions = 0, gathers = 0;
        for (const ir::eqn& e : made.optimized.eqns) contractions += e.kind == contraction, gathers += e.kind == gather;
        REQUIRE(contractions == (want.becomes == contraction ? a.ops : 0));
        bool of_one_row = false;  // then there is nothing to choose, and no gather is left
        for (const ir::eqn& e : g.eqns) {
          if (e.kind != ir::op::gather) continue;
          const tensor_type& rows = g.view_of().type(g.view_of().operands(e)[0]);
          of_one_row = of_one_row || (!is_packed(rows.element) && e.type == rows && rows.extents[0] == extent(1));
        }
        REQUIRE(gathers == ((want.becomes == gather || want.what == change::head_is_table) && !of_one_row ? 1 : 0));
        REQUIRE(made.notes.chain_declines.size() == (want.failed ? 1 : 0));
        if (want.failed) {
          REQUIRE(std::string(pass::explain(made.notes.chain_declines[0].failed)) == std::string(pass::explain(*want.failed)));
          REQUIRE(made.notes.chain_declines[0].origin == placed[static_cast<size_t>(a.blamed)]);
        }
        REQUIRE(same_results(g, made.optimized, drawn_leaves(g, d)));
      }
}

// Thousands of chains that are changed in one place, whatever that makes of them: the recognised graph is the same function as the
// chain, or the chain keeps its equations and their bits.
#include "chain_mutations.hpp"

#include <map>

using namespace chain_mutations;

namespace {

chain drawn_chain(draws& d) {
  const auto below = [&](uint64 n) { return static_cast<int64>(d.less_than(n)); };
  chain c;
  const int64 shared = 1 + below(2), group = 1 + below(3), heads = shared * group, queries = 1 + below(4), width = 1 + below(5);
  const int64 keys = below(6) ? 1 + below(7) : 250 + below(20), columns = below(2) ? width : 1 + below(5);
  const dtype held = below(3) ? f32 : below(2) ? bf16 : f16;
  const int q = c.leaf("q", type_of(f32, heads, queries, width));
  int k = c.leaf("k", type_of(held, shared, keys, width)), v = c.leaf("v", type_of(held, shared, keys, columns));
  if (held != f32) k = c.apply(ir::op::cast, {k}), v = c.apply(ir::op::cast, {v});
  const auto copies = [&](int x, int64 last) {
    const int one = c.apply(ir::op::reshape, {x}, {}, type_of(f32, shared, 1, keys, last));
    const int all = c.apply(ir::op::broadcast, {one}, {}, type_of(f32, shared, group, keys, last));
    return c.apply(ir::op::reshape, {all}, {}, type_of(f32, heads, keys, last));
  };
  if (group > 1 || below(4) == 0) k = copies(k, width), v = copies(v, columns);
  int query = q;
  if (below(4) == 0) query = c.apply(ir::op::mul, {q, c.number(0.5f)});
  int s = below(4) ? c.apply(ir::op::matmul, {query, k}, {1})
                   : c.apply(ir::op::matmul, {query, c.apply(ir::op::transpose, {k}, {0, 2, 1})}, {0});
  if (below(4)) s = below(2) ? c.apply(ir::op::mul, {s, c.number(0.35f)}) : c.apply(ir::op::div, {s, c.number(2)});
  if (below(4) == 0) {
    const int cap = c.number(2.5f);
    s = c.apply(ir::op::mul, {c.apply(ir::op::tanh, {c.apply(ir::op::div, {s, cap})}), cap});
  }
  if (below(3) == 0) s = c.apply(ir::op::add, {s, c.leaf("added", below(2) ? type_of(f32, queries, keys) : type_of(f32, heads, 1, keys))});
  if (below(2)) s = c.apply(ir::op::select, {c.leaf("chosen", type_of(i32, queries, keys)), s, c.number(-INFINITY)});
  const int64 sinks = below(8);  // 0: a column beside the scores, 1: in the greatest and in the sum
  const int sink = sinks < 2 ? c.leaf("sink", type_of(f32, heads, 1, 1)) : -1;
  if (sinks == 0) s = c.apply(ir::op::concat, {s, c.apply(ir::op::broadcast, {sink}, {}, type_of(f32, heads, queries, 1))}, {2});
  int greatest = c.apply(ir::op::reduce_max, {s}, {2});
  if (sinks == 1) greatest = c.apply(ir::op::max, {greatest, sink});
  const int e = c.apply(ir::op::exp, {c.apply(ir::op::sub, {s, greatest})});
  int sum = c.apply(ir::op::reduce_sum, {e}, {2});
  if (sinks == 1) sum = c.apply(ir::op::add, {sum, c.apply(ir::op::exp, {c.apply(ir::op::sub, {sink, greatest})})});
  int p = c.apply(ir::op::div, {e, sum});
  if (sinks == 0) p = c.apply(ir::op::slice, {p}, {0, 0, 0, heads, queries, keys, 1, 1, 1});
  c.outputs.push_back(c.apply(ir::op::matmul, {p, v}, {0}));
  return c;
}

/// Whether f64 tells the recognised graph from the chain. (How far f32 may be from f64: recognize_attention_attack.)
std::string difference_in_f64(const ir::graph_view& g, const ir::graph_view& made, const vec<ir::named_tensor>& given) {
  ir::interpret_options wide;
  wide.mode = ir::arithmetic::wide;
  const ir::interpretation chain = ir::interpret(g, given, wide), got = ir::interpret(made, given, wide);
  double greatest = 0;
  for (const ir::named_tensor& t : given)
    for (size_t i = 0; i < t.value.bits.size(); ++i) greatest = std::fmax(greatest, std::fabs(number_at(t.value, i)));
  for (size_t o = 0; o < got.outputs.size(); ++o)
    for (size_t i = 0; i < got.outputs[o].value.bits.size(); ++i) {
      const double x = number_at(got.outputs[o].value, i), y = number_at(chain.outputs[o].value, i);
      if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 0x1p-40 * std::fmax(greatest, std::fabs(y))) continue;
      return "output " + std::to_string(o) + " element " + std::to_string(i) + ": " + std::to_string(x) + " is not " + std::to_string(y);
    }
  return "";
}

}  // namespace

TEST_CASE("20,000 changed chains are the same function in f64, or keep their equations and bits") {
  std::map<std::string, int> recognised, declined;
  int unchanged = 0;
  for (int k = 0; k < 20000; ++k) {
    draws d(900 + static_cast<uint64>(k));
    chain c = drawn_chain(d);
    const char* change = mutate(c, d);
    ir::graph g;
    if (!c.build(g)) continue;
    const pass::prepared made = pass::run_passes(g, targets::host);
    bool attention = false;
    for (const ir::eqn& e : made.optimized.eqns) attention |= e.kind == ir::op::attention;
    for (const pass::chain_decline& x : made.notes.chain_declines) ++declined[std::string(pass::explain(x.failed)).substr(0, 14)];
    if (attention) ++recognised[change];
    INFO("seed " << k << ", " << change << "\n" << printed(g) << printed(made.optimized));
    CHECK(ir::verify(made.optimized));
    if (!attention) {
      ++unchanged;
      if (k % 4 == 0) CHECK(same_values(g, made.optimized, d));
      continue;
    }
    CHECK(made.notes.chain_declines.empty());
    const ir::graph kept = pass::run_passes(g, targets::host, {.strict = true}).optimized;  // the chain, or a strict attention: no bit differs
    CHECK(same_values(g, kept, d));
    CHECK(difference_in_f64(kept, made.optimized, values_of(g, d)) == "");
  }
  CHECK(unchanged > 3000);
  CHECK(recognised["nothing"] > 500);
  CHECK(recognised["order"] > 100);
  CHECK(recognised["scaled"] > 100);
  CHECK(recognised["output"] < recognised["nothing"] / 2);  // only what the rewrite keeps may be read
  CHECK(declined.size() > 8);
}

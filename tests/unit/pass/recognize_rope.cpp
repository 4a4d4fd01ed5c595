#include "chain_mutations.hpp"

#include <map>

using namespace chain_mutations;
using pass::chain_check;

namespace {

std::string rope_of(const std::string& body, pass::record* record = nullptr, const target& where = targets::host) {
  const pass::prepared p = pass::run_passes(parsed(body), where);
  ir::verify(p.optimized);
  if (record) *record = p.notes;
  const std::string text = printed(p.optimized);
  const size_t at = text.find("rope %");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

const std::string x = "%x : f32[2,3,8] = input \"x\"\n";
const std::string half_tables = "%c : f32[3,4] = input \"c\"\n%s : f32[3,4] = input \"s\"\n", full_tables = "%c : f32[3,8] = input \"c\"\n%s : f32[3,8] = input \"s\"\n";

/// Slices a and b, their turned products f and g.
std::string halves(const char* a = "start=[0,0,0] size=[2,3,4]", const char* b = "start=[0,0,4] size=[2,3,4]") {
  return std::string("%a : f32[2,3,4] = slice %x {") + a + "}\n%b : f32[2,3,4] = slice %x {" + b +
         "}\n%1 : f32[2,3,4] = mul %a, %c\n%2 : f32[2,3,4] = mul %b, %s\n%f : f32[2,3,4] = sub %1, %2\n%3 : f32[2,3,4] = mul %b, %c\n"
         "%4 : f32[2,3,4] = mul %s, %a\n%g : f32[2,3,4] = add %4, %3\n";
}
const char* const joined = "%y : f32[2,3,8] = concat %f, %g {axis=2}\noutput \"y\" = %y";
const std::string rotated = "%lo : f32[2,3,4] = slice %x {start=[0,0,0] size=[2,3,4]}\n%hi : f32[2,3,4] = slice %x {start=[0,0,4] size=[2,3,4]}\n"
                            "%n : f32[2,3,4] = neg %hi\n%r : f32[2,3,8] = concat %n, %lo {axis=2}\n";
const char* const summed = "%1 : f32[2,3,8] = mul %r, %s\n%2 : f32[2,3,8] = mul %x, %c\n%y : f32[2,3,8] = add %2, %1\noutput \"y\" = %y";

void check_near_miss(const std::string& body, chain_check failed, const target& where = targets::host) {
  pass::record notes;
  INFO(body);
  CHECK(rope_of(body, &notes, where) == "");
  REQUIRE(notes.chain_declines.size() == 1);
  CHECK(std::string(pass::explain(notes.chain_declines[0].failed)) == std::string(pass::explain(failed)));
}

}  // namespace

TEST_CASE("halves, adjacent elements, rotated halves and gathered partners become one equation") {
  CHECK(rope_of(x + half_tables + halves() + joined) == "rope %x, %c, %s {width=8}");
  CHECK(rope_of(x + half_tables + halves("start=[0,0,0] size=[2,3,4] step=[1,1,2]", "start=[0,0,1] size=[2,3,4] step=[1,1,2]") +
                "%p : f32[2,3,4,1] = reshape %f\n%q : f32[2,3,4,1] = reshape %g\n%j : f32[2,3,4,2] = concat %p, %q {axis=3}\n"
                "%y : f32[6,8] = reshape %j\noutput \"y\" = %y") == "rope %x, %c, %s {width=8 adjacent=1}");
  CHECK(rope_of(x + full_tables + rotated + summed) == "rope %x, %c, %s {width=8}");
  for (const auto& [partners, attrs] : {std::pair{"4,5,6,7,0,1,2,3", ""}, std::pair{"1,0,3,2,5,4,7,6", " adjacent=1"}})
    CHECK(rope_of(x + full_tables + "%i : i32[8] = constant {values=[" + partners + "]}\n%r : f32[2,3,8] = gather %x, %i {axis=2}\n" + summed) ==
          std::string("rope %x, %c, %s {width=8") + attrs + " signed=1}");
}

TEST_CASE("a part of the row turns, and the rest is kept") {
  CHECK(rope_of("%x : f32[2,3,11] = input \"x\"\n" + half_tables + halves() +
                "%p : f32[2,3,3] = slice %x {start=[0,0,8] size=[2,3,3]}\n%y : f32[2,3,11] = concat %f, %g, %p {axis=2}\noutput \"y\" = %y") ==
        "rope %x, %c, %s {width=8}");
}

TEST_CASE("a near miss keeps its equations, and is declined with the first check that failed") {
  check_near_miss(x + half_tables + halves() + joined + std::string("\noutput \"f\" = %f"), chain_check::read_elsewhere);
  check_near_miss(x + half_tables + halves() + joined + std::string("\noutput \"a\" = %a"), chain_check::read_elsewhere);
  check_near_miss(x + half_tables + halves("start=[0,0,4] size=[2,3,4]", "start=[0,0,0] size=[2,3,4]") + joined, chain_check::pair_order);
  check_near_miss("%x : f32[2,3,9] = input \"x\"\n" + half_tables + halves("start=[0,0,0] size=[2,3,4]", "start=[0,0,5] size=[2,3,4]") + joined, chain_check::pair_order);
  check_near_miss("%x : f32[2,3,9] = input \"x\"\n" + half_tables + halves("start=[0,0,1] size=[2,3,4]", "start=[0,0,5] size=[2,3,4]") + joined, chain_check::turned_width);
  check_near_miss("%x : f32[2,3,9] = input \"x\"\n" + half_tables + halves() + joined, chain_check::turned_width);
  std::string other = x + half_tables + "%d : f32[3,4] = input \"d\"\n" + halves() + joined;
  other.replace(other.find("mul %b, %c"), 10, "mul %b, %d");
  check_near_miss(other, chain_check::tables);
  std::string kept = "%z : f32[2,1,8] = input \"z\"\n" + x + full_tables + rotated + summed;
  kept.replace(kept.find("mul %x, %c"), 10, "mul %z, %c");
  check_near_miss(kept, chain_check::tables);
  target none = targets::host;
  none.caps.rope = false;
  check_near_miss(x + half_tables + halves() + joined, chain_check::no_kernel, none);
  std::string narrow = x + half_tables + halves() + joined;
  for (size_t at; (at = narrow.find("f32")) != std::string::npos;) narrow.replace(at, 3, "f16");
  check_near_miss(narrow, chain_check::element_type);
}

TEST_CASE("20,000 changed chains keep their bits, recognised or not") {
  std::map<std::string, int> recognised, declined;
  for (int k = 0; k < 20000; ++k) {
    draws d(5000 + static_cast<uint64>(k));
    const auto below = [&](uint64 n) { return static_cast<int64>(d.less_than(n)); };
    chain c;
    const int64 heads = 1 + below(3), rows = 1 + below(3), half = 1 + below(6), rest = below(3) ? 0 : 1 + below(4);
    const int64 form = below(4), width = 2 * half, all = form == 0 ? width + rest : width;
    const bool full = form >= 2;
    const int xs = c.leaf("x", type_of(f32, heads, rows, all));
    const tensor_type table = below(2) ? type_of(f32, rows, full ? width : half) : type_of(f32, heads, 1, full ? width : half);
    const int cos = c.leaf("cos", table), sin = c.leaf("sin", table);
    const auto slice = [&](int64 start, int64 size, int64 by) { return c.apply(ir::op::slice, {xs}, {0, 0, start, heads, rows, size, 1, 1, by}); };
    if (form < 2) {
      const int a = form == 0 ? slice(0, half, 1) : slice(0, half, 2), b = form == 0 ? slice(half, half, 1) : slice(1, half, 2);
      const int f = c.apply(ir::op::sub, {c.apply(ir::op::mul, {a, cos}), c.apply(ir::op::mul, {b, sin})});
      const int g = c.apply(ir::op::add, {c.apply(ir::op::mul, {b, cos}), c.apply(ir::op::mul, {a, sin})});
      if (form == 0) {
        c.outputs.push_back(rest ? c.apply(ir::op::concat, {f, g, slice(width, rest, 1)}, {2}) : c.apply(ir::op::concat, {f, g}, {2}));
      } else {
        const tensor_type one = type_of(f32, heads, rows, half, 1);
        const int pairs = c.apply(ir::op::concat, {c.apply(ir::op::reshape, {f}, {}, one), c.apply(ir::op::reshape, {g}, {}, one)}, {3});
        c.outputs.push_back(c.apply(ir::op::reshape, {pairs}, {}, type_of(f32, heads, rows * width)));
      }
    } else {
      int partners = 0;
      if (form == 2) {
        partners = c.apply(ir::op::concat, {c.apply(ir::op::neg, {slice(half, half, 1)}), slice(0, half, 1)}, {2});
      } else {
        vec<int64> index;
        const bool adjacent = below(2);
        for (int64 i = 0; i < width; ++i) index.push_back(adjacent ? i ^ 1 : i < half ? i + half : i - half);
        if (below(4) == 0) index[static_cast<size_t>(below(static_cast<uint64>(width)))] = below(static_cast<uint64>(width));
        partners = c.apply(ir::op::gather, {xs, c.add({ir::op::constant, {}, index, type_of(i32, width)})}, {2});
      }
      c.outputs.push_back(c.apply(ir::op::add, {c.apply(ir::op::mul, {xs, cos}), c.apply(ir::op::mul, {partners, sin})}));
    }
    const char* change = mutate(c, d);
    ir::graph g;
    if (!c.build(g)) continue;
    const pass::prepared made = pass::run_passes(g, targets::host);
    bool rope = false;
    for (const ir::eqn& e : made.optimized.eqns) rope |= e.kind == ir::op::rope;
    for (const pass::chain_decline& n : made.notes.chain_declines) ++declined[std::string(pass::explain(n.failed)).substr(0, 12)];
    if (rope) ++recognised[change];
    INFO("seed " << k << ", " << change << "\n" << printed(g) << printed(made.optimized));
    CHECK(ir::verify(made.optimized));
    CHECK(same_values(g, made.optimized, d));
  }
  CHECK(recognised["nothing"] > 1000);
  CHECK(recognised["order"] > 300);
  CHECK(recognised["output"] < recognised["nothing"] / 2);
  CHECK(declined.size() >= 4);
}

#include "interpret_values.hpp"

#include <doctest/doctest.h>

#include <poot/ir/equal.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>
#include <poot/ir/verify.hpp>

using namespace interpret_values;

namespace {

/// Uniform in [-1, 1).
tensor drawn(random_words& next, const tensor_type& t) {
  tensor x(t);
  for (uint64& bits : x.bits) {
    const float value = static_cast<float>(static_cast<int64>(next() >> 40) - (1 << 23)) * 0x1p-23f;
    bits = ir::detail::store_float(t.element, value);
  }
  return x;
}

struct attention_case {
  int64 heads, shared, queries, keys, width, columns;
  float scale = 0.5f, softcap = 0;
  bool adds = false, chooses = false, sinks = false, strict = false;
};

/// numerics.md, "Attention", sentence by sentence.
vec<float> by_definition(const attention_case& c, const tensor& q, const tensor& k, const tensor& v, const tensor& added, const tensor& chosen, const tensor& sinks = {}) {
  vec<float> result;
  const auto sum_of_row = [](const vec<float>& p) {  // 256 lanes that fold by halves
    float lane[256]{};
    for (size_t i = 0; i < p.size(); ++i) lane[i] = 0.0f + p[i];
    for (int half = 128; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = lane[i] + lane[i + half];
    return 0.0f + lane[0];
  };
  for (int64 h = 0; h < c.heads; ++h)
    for (int64 row = 0; row < c.queries; ++row) {
      const int64 of = h / (c.heads / c.shared);
      vec<float> m, l;
      vec<vec<float>> o;
      for (int64 first = 0; first < c.keys; first += 256) {
        vec<float> p;
        float most = -infinity;
        for (int64 j = first; j < c.keys && j < first + 256; ++j) {
          float dot = 0;
          for (int64 d0 = 0; d0 < c.width; d0 += 256) {
            float part = 0;
            for (int64 d = d0; d < c.width && d < d0 + 256; ++d)
              part = std::fma(at(q, (h * c.queries + row) * c.width + d), at(k, (of * c.keys + j) * c.width + d), part);
            dot = dot + part;
          }
          float s = dot * c.scale;
          if (c.softcap != 0) s = c.softcap * elementary::tanh(s / c.softcap);
          if (c.adds) s = s + at(added, row * c.keys + j);
          if (c.chooses && chosen.bits[static_cast<size_t>((h * c.queries + row) * c.keys + j)] == 0) s = -infinity;
          p.push_back(s);
          most = s > most ? s : most;
        }
        for (float& s : p) s = most == -infinity ? 0.0f : elementary::exp(s - most);
        vec<float> sums;
        for (int64 e = 0; e < c.columns; ++e) {
          float part = 0;
          for (size_t j = 0; j < p.size(); ++j) part = std::fma(p[j], at(v, (of * c.keys + first + static_cast<int64>(j)) * c.columns + e), part);
          sums.push_back(0.0f + part);
        }
        m.push_back(most);
        l.push_back(sum_of_row(p));
        o.push_back(sums);
      }
      float most = -infinity, sum = 0;
      for (float x : m) most = x > most ? x : most;
      const float sink = c.sinks ? at(sinks, h) : -infinity;
      most = sink > most ? sink : most;
      for (size_t i = 0; i < m.size(); ++i) sum = std::fma(elementary::exp(m[i] - most), l[i], sum);
      if (c.sinks) sum = sum + elementary::exp(sink - most);
      for (int64 e = 0; e < c.columns; ++e) {
        float all = 0;
        for (size_t i = 0; i < m.size(); ++i) all = std::fma(elementary::exp(m[i] - most), o[i][static_cast<size_t>(e)], all);
        result.push_back((0.0f + all) / sum);
      }
    }
  return result;
}

graph graph_of(const attention_case& c) {
  graph g;
  vec<uint32> in{g.input("q", f32, {c.heads, c.queries, c.width}).id, g.input("k", f32, {c.shared, c.keys, c.width}).id,
                 g.input("v", f32, {c.shared, c.keys, c.columns}).id};
  if (c.adds) in.push_back(g.input("added", f32, {c.queries, c.keys}).id);
  if (c.chooses) in.push_back(g.input("chosen", dtype::i32, {c.heads, c.queries, c.keys}).id);
  if (c.sinks) in.push_back(g.input("sinks", f32, {c.heads, 1, 1}).id);
  const int64 attrs[4] = {static_cast<int64>(ieee::to_bits(c.scale)), static_cast<int64>(ieee::to_bits(c.softcap)), c.sinks, c.strict};
  g.add_output("y", g.apply(op::attention, in, {attrs, 4}, type_of(f32)));
  return g;
}

std::string parse_error(const std::string& body) {
  try {
    parse("graph t {\n" + body + "\noutput \"y\" = %y\n}\n");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("attention is what its definition says, for grouped heads, masks, a softcap, sinks and several chunks of keys") {
  random_words next{7};
  const attention_case cases[] = {{2, 2, 3, 5, 4, 4},          {6, 2, 3, 7, 4, 3, 0.25f},      {4, 1, 1, 300, 8, 5},
                                  {2, 1, 2, 600, 300, 2, 0.1f}, {2, 2, 3, 5, 4, 4, 1, 2.5f},     {2, 2, 3, 5, 4, 4, 1, 0, true},
                                  {2, 1, 3, 530, 4, 4, 1, 0, false, true}, {4, 2, 2, 270, 5, 3, 2, 5, true, true},
                                  {4, 2, 3, 9, 4, 3, 1, 0, false, false, true}, {4, 2, 2, 530, 5, 3, 2, 5, true, true, true}};
  for (const attention_case& c : cases) {
    const tensor q = drawn(next, type_of(f32, c.heads, c.queries, c.width)), k = drawn(next, type_of(f32, c.shared, c.keys, c.width)),
                 v = drawn(next, type_of(f32, c.shared, c.keys, c.columns)), added = drawn(next, type_of(f32, c.queries, c.keys));
    tensor sinks = drawn(next, type_of(f32, c.heads, 1, 1));
    sinks.bits[0] = ieee::to_bits(4.0f);  // more than the scores
    tensor chosen(type_of(dtype::i32, c.heads, c.queries, c.keys));
    for (size_t i = 0; i < chosen.bits.size(); ++i) chosen.bits[i] = i % static_cast<size_t>(c.keys) == 0 ? 7 : next() % 2;
    const tensor y = first_output(graph_of(c), {{"q", q}, {"k", k}, {"v", v}, {"added", added}, {"chosen", chosen}, {"sinks", sinks}});
    const vec<float> want = by_definition(c, q, k, v, added, chosen, sinks);
    REQUIRE(y.bits.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i) CHECK(y.bits[i] == ieee::to_bits(want[i]));
  }
}

TEST_CASE("a chunk of masked keys counts for nothing, a row of them is NaN, and no keys give 0") {
  attention_case c{1, 1, 2, 300, 2, 1};
  c.chooses = true;
  random_words next{3};
  const tensor q = drawn(next, type_of(f32, 1, 2, 2)), k = drawn(next, type_of(f32, 1, 300, 2)), v = drawn(next, type_of(f32, 1, 300, 1));
  tensor chosen(type_of(dtype::i32, 1, 2, 300));
  for (size_t j = 256; j < 300; ++j) chosen.bits[j] = 1;  // of row 0 the second chunk, of row 1 nothing
  const tensor y = first_output(graph_of(c), {{"q", q}, {"k", k}, {"v", v}, {"chosen", chosen}});
  CHECK(at(y, 0) == by_definition(c, q, k, v, {}, chosen)[0]);
  CHECK(ieee::is_nan(at(y, 1)));
  c.sinks = true;  // it alone then has weight, unless it has none either
  const tensor one = floats({0.5f}, 1, 1, 1), nothing = floats({-infinity}, 1, 1, 1);
  const tensor sunk = first_output(graph_of(c), {{"q", q}, {"k", k}, {"v", v}, {"chosen", chosen}, {"sinks", one}});
  CHECK(at(sunk, 0) == by_definition(c, q, k, v, {}, chosen, one)[0]);
  CHECK(sunk.bits[1] == 0);
  const tensor same = first_output(graph_of(c), {{"q", q}, {"k", k}, {"v", v}, {"chosen", chosen}, {"sinks", nothing}});
  CHECK(same.bits[0] == y.bits[0]);
  CHECK(ieee::is_nan(at(same, 1)));
  const attention_case none{1, 1, 2, 0, 2, 1};
  const tensor zero = first_output(graph_of(none), {{"q", q}, {"k", tensor(type_of(f32, 1, 0, 2))}, {"v", tensor(type_of(f32, 1, 0, 1))}});
  CHECK(zero.bits == vec<uint64>{0, 0});
}

TEST_CASE("strict attention has the bits of its chain, over any number of keys, and rows that are masked") {
  random_words next{11};
  for (const int64 keys : {1, 7, 255, 257, 4100, 8500}) {
    attention_case c{2, 1, 2, keys, 5, 3, 0.3f, 2.5f, true, true};
    c.strict = true;
    const std::string n = std::to_string(keys);
    const graph chain = parse("graph t {\n%q : f32[2,2,5] = input \"q\"\n%k : f32[1," + n + ",5] = input \"k\"\n%v : f32[1," + n + ",3] = input \"v\"\n%a : f32[2," + n +
                              "] = input \"added\"\n%c : i32[2,2," + n + "] = input \"chosen\"\n%kk : f32[2," + n + ",5] = broadcast %k\n%vv : f32[2," + n +
                              ",3] = broadcast %v\n%0 : f32[2,2," + n + "] = matmul %q, %kk {transpose_b=1 order={lanes=1 chunk=256 fused=1}}\n%1 : f32[2,2," + n +
                              "] = mul %0, f32(0.3)\n%2 : f32[2,2," + n + "] = div %1, f32(2.5)\n%3 : f32[2,2," + n + "] = tanh %2\n%4 : f32[2,2," + n +
                              "] = mul %3, f32(2.5)\n%5 : f32[2,2," + n + "] = add %4, %a\n%6 : f32[2,2," + n + "] = select %c, %5, f32(-inf)\n%m : f32[2,2,1] = reduce_max %6 {axis=2}\n%d : f32[2,2," +
                              n + "] = sub %6, %m\n%e : f32[2,2," + n + "] = exp %d\n%s : f32[2,2,1] = reduce_sum %e {axis=2 order={lanes=256 chunk=4096 fused=0}}\n%p : f32[2,2," + n +
                              "] = div %e, %s\n%y : f32[2,2,3] = matmul %p, %vv {order={lanes=1 chunk=256 fused=1}}\noutput \"y\" = %y\n}\n");
    tensor chosen(type_of(dtype::i32, 2, 2, keys));
    for (size_t i = 0; i < chosen.bits.size(); ++i) chosen.bits[i] = i / static_cast<size_t>(keys) == 3 ? 0 : next() % 3;
    const std::initializer_list<named_tensor> given{{"q", drawn(next, type_of(f32, 2, 2, 5))}, {"k", drawn(next, type_of(f32, 1, keys, 5))}, {"v", drawn(next, type_of(f32, 1, keys, 3))},
                                  {"added", drawn(next, type_of(f32, 2, keys))}, {"chosen", chosen}};
    const tensor want = first_output(chain, given), got = first_output(graph_of(c), given);
    for (size_t i = 0; i < 12; ++i) CHECK((got.bits[i] == want.bits[i] || (ieee::is_nan(at(got, i)) && ieee::is_nan(at(want, i)))));
    for (size_t i = 9; i < 12; ++i) CHECK(ieee::is_nan(at(got, i)));
  }
}

TEST_CASE("attention and rope are evaluated in constant expressions") {
  constexpr uint64 bits = [] {
    graph g;
    const uint32 x = g.input("x", f32, {2, 2}).id, in[3] = {x, x, x};
    const int64 attrs[4] = {0x3f800000, 0, 0, 0};
    g.add_output("y", g.apply(op::attention, {in, 3}, {attrs, 4}, type_of(f32)));
    return first_output(g, {{"x", floats({1, 0, 0, 0}, 2, 2)}}).bits[2];
  }();
  static_assert(bits == 0x3f000000);  // equal scores: the mean
  constexpr uint64 turned = [] {
    graph g;
    const uint32 in[3] = {g.input("x", f32, {2}).id, g.input("c", f32, {1}).id, g.input("s", f32, {1}).id};
    const int64 attrs[3] = {2, 0, 0};
    g.add_output("y", g.apply(op::rope, {in, 3}, {attrs, 3}));
    return first_output(g, {{"x", floats({1, 2}, 2)}, {"c", floats({3}, 1)}, {"s", floats({4}, 1)}}).bits[0];
  }();
  static_assert(turned == ieee::to_bits(1.0f * 3 - 2 * 4));
}

TEST_CASE("rope turns pairs in both orders by tables of pairs or elements, with signs or without, and keeps the rest") {
  const tensor x = floats({1, 2, 3, 4, 5}, 1, 5), half = floats({2, 3}, 2), other = floats({5, 7}, 2);
  const auto run = [&](const char* attrs, int64 entries, const tensor& cos, const tensor& sin) {
    const std::string n = std::to_string(entries);
    const graph g = parse("graph t {\n%x : f32[1,5] = input \"x\"\n%c : f32[" + n + "] = input \"c\"\n%s : f32[" + n +
                          "] = input \"s\"\n%y : f32[1,5] = rope %x, %c, %s {" + attrs + "}\noutput \"y\" = %y\n}\n");
    CHECK(verify(g));
    return first_output(g, {{"x", x}, {"c", cos}, {"s", sin}});
  };
  CHECK(run("width=4", 2, half, other) == floats({1 * 2 - 3 * 5, 2 * 3 - 4 * 7, 3 * 2 + 1 * 5, 4 * 3 + 2 * 7, 5}, 1, 5));
  CHECK(run("width=4 adjacent=1", 2, half, other) == floats({1 * 2 - 2 * 5, 2 * 2 + 1 * 5, 3 * 3 - 4 * 7, 4 * 3 + 3 * 7, 5}, 1, 5));
  const tensor cos = floats({2, 3, 4, 5}, 4), sin = floats({6, 7, 8, 9}, 4);
  CHECK(run("width=4", 4, cos, sin) == floats({1 * 2 - 3 * 6, 2 * 3 - 4 * 7, 3 * 4 + 1 * 8, 4 * 5 + 2 * 9, 5}, 1, 5));
  CHECK(run("width=4 signed=1", 4, cos, sin) == floats({1 * 2 + 3 * 6, 2 * 3 + 4 * 7, 3 * 4 + 1 * 8, 4 * 5 + 2 * 9, 5}, 1, 5));
}

TEST_CASE("recognised chains are printed and read back") {
  const std::string leaves = "%q : f32[6,3,4] = input \"q\"\n%k : bf16[2,L<=900,4] = input \"k\"\n%m : f32[3,L] = input \"m\"\n%c : i32[L] = input \"c\"\n%s : bf16[6,1,1] = weight \"s\"\n";
  for (const char* call : {"attention %q, %k, %k", "attention %q, %k, %k, %m {scale=0x1p-1}", "attention %q, %k, %k, %c {softcap=20}",
                           "attention %q, %k, %k, %m, %c {scale=0x1p-1 softcap=20 order={lanes=1 chunk=256 fused=1}}",
                           "attention %q, %k, %k, %s {sink=1}", "attention %q, %k, %k, %m {softcap=20 strict=1}", "attention %q, %k, %k, %m, %c, %s {scale=0x1p-1 sink=1}"}) {
    const graph g = parse("graph t {\n" + leaves + "%y : f32[6,3,4] = " + call + "\noutput \"y\" = %y\n}\n");
    CHECK(verify(g));
    const std::string text(print(g).str());
    INFO(text);
    CHECK(text.find(std::string("= ") + call + "\n") != std::string::npos);
    CHECK(structurally_equal(g, parse(text)));
    CHECK(print(parse(text)).str() == print(g).str());
  }
}

TEST_CASE("attention and rope refuse what their typing rules do not allow, naming the rule") {
  const std::string q = "%q : f32[6,3,4] = input \"q\"\n";
  const auto attention = [&](const char* k, const char* v, const char* rest, const char* leaves = "") {
    return parse_error(q + "%k : " + k + " = input \"k\"\n%v : " + v + " = input \"v\"\n" + leaves + "%y : f32[6,3,5] = attention %q, %k, %v" + rest);
  };
  CHECK(attention("f32[2,7,4]", "f32[2,7,5]", "") == "");
  CHECK(attention("f32[7,4]", "f32[7,5]", "") == "");
  CHECK(names(attention("f32[4,7,4]", "f32[4,7,5]", ""), "must be that of v, and divide that of q"));
  CHECK(names(attention("f32[2,7,4]", "f32[3,7,5]", ""), "must be that of v, and divide that of q"));
  CHECK(names(attention("f32[2,7,3]", "f32[2,7,5]", ""), "must have one width"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,6,5]", ""), "one number of keys"));
  CHECK(names(attention("f32[1,2,7,4]", "f32[1,2,7,5]", ""), "no more than q"));
  CHECK(names(attention("f64[2,7,4]", "f64[2,7,5]", ""), "this element type is not accepted"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", ", %m", "%m : f32[4,7] = input \"m\"\n"), "broadcast into the scores"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", ", %m, %m", "%m : i32[3,7] = input \"m\"\n"), "then one of i32"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", ", %m", "%m : bf16[3,7] = input \"m\"\n"), "a mask of f32"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", " {softcap=-1}"), "softcap a positive one"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", " {scale=inf}"), "a finite f32"));
  const auto sink = [&](const char* type, const char* attrs) {
    return attention("f32[2,7,4]", "f32[2,7,5]", attrs, (std::string("%s : ") + type + " = input \"s\"\n").c_str());
  };
  for (const char* type : {"f32[6,1,1]", "bf16[6,3,1]", "f16[3,1]", "f32[]", "f32[1]"}) CHECK(sink(type, ", %s {sink=1}") == "");
  for (const char* type : {"f32[6,1,7]", "f32[2,1,1]", "f64[6,1,1]", "i32[6,1,1]", "f32[1,6,1,1]"})
    CHECK(names(sink(type, ", %s {sink=1}"), "a sink of f32, f16 or bf16, which broadcasts into a column"));
  CHECK(names(sink("f32[6,1,1]", ", %s {sink=2}"), "with sink=1"));
  CHECK(names(sink("f32[6,1,1]", " {sink=1}"), "the number of operands is wrong"));
  CHECK(names(sink("f32[6,1,1]", ", %s {sink=1 strict=1}"), "with strict=1 there is no sink"));
  CHECK(names(attention("f32[2,7,4]", "f32[2,7,5]", " {strict=2}"), "strict is 0 or 1"));
  const auto rope = [&](const char* table, const char* attrs) {
    return parse_error(q + "%c : " + table + " = input \"c\"\n%y : f32[6,3,4] = rope %q, %c, %c " + attrs);
  };
  CHECK(rope("f32[3,2]", "{width=4}") == "");
  CHECK(names(rope("f32[3,2]", ""), "width is missing"));
  CHECK(names(rope("f32[3,3]", "{width=6}"), "at most the last extent"));
  CHECK(names(rope("f32[3,3]", "{width=3}"), "must be even"));
  CHECK(names(rope("f32[3,3]", "{width=4}"), "one entry for each pair"));
  CHECK(names(rope("f32[2,2]", "{width=4}"), "broadcast into x"));
  CHECK(names(rope("bf16[3,2]", "{width=4}"), "must be as x"));
  CHECK(names(rope("f32[3,2]", "{width=4 signed=1}"), "signs need a table of that width"));
}

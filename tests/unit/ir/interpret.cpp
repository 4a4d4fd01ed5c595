#include "interpret_values.hpp"

#include <doctest/doctest.h>

using namespace interpret_values;

namespace {

// ---- small graphs, run by the compiler
constexpr bool softmax_row() {
  graph g("softmax");
  const uint32 x = g.input("x", f32, {2, 2}).id;
  const uint32 m = apply(g, op::reduce_max, {x}, {1});
  const uint32 e = apply(g, op::exp, {apply(g, op::sub, {x, m})});
  g.add_output("y", apply(g, op::div, {e, apply(g, op::reduce_sum, {e}, {1})}));
  const tensor y = first_output(g, {{"x", floats({1, 1, 3, -infinity}, 2, 2)}});
  return y == floats({0.5f, 0.5f, 1, 0}, 2, 2);
}
static_assert(softmax_row());

constexpr bool matmul_and_bias() {
  graph g("matmul");
  const uint32 a = g.input("a", f32, {2, 3}).id, b = g.weight("b", f32, {3, 2}).id, bias = g.weight("bias", f32, {2}).id;
  g.add_output("y", apply(g, op::add, {apply(g, op::matmul, {a, b}, {0}, type_of(f32)), bias}));
  const tensor y = first_output(g, {{"a", floats({1, 2, 3, 4, 5, 6}, 2, 3)},
                                    {"b", floats({1, 0, 0, 1, 2, 2}, 3, 2)},
                                    {"bias", floats({10, 20}, 2)}});
  return y == floats({17, 28, 26, 37}, 2, 2);
}
static_assert(matmul_and_bias());

constexpr bool movement() {
  graph g("movement");
  const uint32 x = g.input("x", i32, {2, 3}).id;
  const uint32 t = apply(g, op::transpose, {x}, {1, 0});                    // [3,2]
  const uint32 s = apply(g, op::slice, {t}, {0, 1, 2, 1, 2, 1});            // rows 0 and 2, column 1: [2,1]
  const uint32 b = apply(g, op::broadcast, {s}, {}, type_of(i32, 2, 2));
  g.add_output("y", apply(g, op::concat, {b, x}, {1}));                     // [2,5]
  return first_output(g, {{"x", words({1, 2, 3, 4, 5, 6}, 2, 3)}}) == words({4, 4, 1, 2, 3, 6, 6, 4, 5, 6}, 2, 5);
}
static_assert(movement());

}  // namespace

TEST_CASE("pointwise operands of every rank broadcast") {
  graph g("broadcast");
  const uint32 a = g.input("a", i32, {3, 1}).id, b = g.input("b", i32, {4}).id, c = g.input("c", i32, {2, 1, 1}).id, s = g.input("s", i32, {}).id;
  g.add_output("y", apply(g, op::select, {apply(g, op::lt, {a, b}), apply(g, op::mul, {c, b}), apply(g, op::sub, {s, a})}));
  const tensor y = first_output(g, {{"a", words({1, 2, 3}, 3, 1)}, {"b", words({0, 2, 3, 9}, 4)}, {"c", words({10, 20}, 2, 1, 1)}, {"s", words({7})}});
  REQUIRE(y.type == type_of(i32, 2, 3, 4));
  const int32 av[] = {1, 2, 3}, bv[] = {0, 2, 3, 9}, cv[] = {10, 20};
  for (int k = 0; k < 24; ++k) {
    const int32 p = av[k / 4 % 3], q = bv[k % 4];
    CHECK(y.bits[static_cast<size_t>(k)] == static_cast<uint32>(p < q ? cv[k / 12] * q : 7 - p));
  }
}

TEST_CASE("transposes, strided slices and concatenations move every element to its place") {
  const int64 e[4] = {3, 4, 2, 5};
  graph g("moves");
  const uint32 x = g.input("x", f32, {e[0], e[1], e[2], e[3]}).id;
  g.add_output("t", apply(g, op::transpose, {x}, {2, 0, 3, 1}));
  g.add_output("s", apply(g, op::slice, {x}, {1, 0, 1, 1, 2, 2, 1, 2, 1, 3, 1, 2}));
  g.add_output("c", apply(g, op::concat, {x, x}, {2}));
  const tensor in = random_floats(g.eqns[x].type, 4);
  const named_tensor given{"x", in};
  const interpretation r = interpret(g, {&given, 1});
  auto element = [&](int64 i, int64 j, int64 k, int64 l) { return in.bits[static_cast<size_t>(((i * e[1] + j) * e[2] + k) * e[3] + l)]; };
  size_t n = 0;
  for (int64 k = 0; k < 2; ++k)
    for (int64 i = 0; i < 3; ++i)
      for (int64 l = 0; l < 5; ++l)
        for (int64 j = 0; j < 4; ++j) REQUIRE(r.outputs[0].value.bits[n++] == element(i, j, k, l));
  n = 0;
  for (int64 i = 0; i < 2; ++i)
    for (int64 j = 0; j < 2; ++j)
      for (int64 l = 0; l < 2; ++l) REQUIRE(r.outputs[1].value.bits[n++] == element(1 + i, 3 * j, 1, 1 + 2 * l));
  n = 0;
  for (int64 i = 0; i < 3; ++i)
    for (int64 j = 0; j < 4; ++j)
      for (int64 k = 0; k < 4; ++k)
        for (int64 l = 0; l < 5; ++l) REQUIRE(r.outputs[2].value.bits[n++] == element(i, j, k % 2, l));
}

TEST_CASE("gather takes rows along any axis; an index outside is refused, or clamped on request") {
  graph g("gather");
  const uint32 x = g.input("x", i32, {2, 3, 2}).id, i = g.input("i", i32, {2, 2}).id;
  g.add_output("y", apply(g, op::gather, {x, i}, {1}));
  const tensor in = words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 3, 2);
  const tensor y = first_output(g, {{"x", in}, {"i", words({2, 0, 0, 1}, 2, 2)}});
  CHECK(y == words({4, 5, 0, 1, 0, 1, 2, 3, 10, 11, 6, 7, 6, 7, 8, 9}, 2, 2, 2, 2));
  const std::string why = refusal(g, {{"x", in}, {"i", words({2, 0, 3, 1}, 2, 2)}});
  CHECK(names(why, "gather"));
  CHECK(names(why, "index 3"));
  CHECK(names(refusal(g, {{"x", in}, {"i", words({-1, 0, 0, 1}, 2, 2)}}), "index -1"));
  const tensor clamped = first_output(g, {{"x", in}, {"i", words({-5, 9, 0, 1}, 2, 2)}}, {arithmetic::exact, outside::clamp});
  CHECK(clamped == first_output(g, {{"x", in}, {"i", words({0, 2, 0, 1}, 2, 2)}}));
}

TEST_CASE("dynamic_update_slice writes at start; a start that does not fit is refused, or clamped on request") {
  graph g("update");
  const uint32 x = g.input("x", i32, {3, 4}).id, u = g.input("u", i32, {2, 2}).id, s = g.input("s", i32, {2}).id;
  g.add_output("y", apply(g, op::dynamic_update_slice, {x, u, s}));
  const tensor in = words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4), update = words({90, 91, 92, 93}, 2, 2);
  CHECK(first_output(g, {{"x", in}, {"u", update}, {"s", words({1, 2}, 2)}}) == words({0, 1, 2, 3, 4, 5, 90, 91, 8, 9, 92, 93}, 3, 4));
  CHECK(names(refusal(g, {{"x", in}, {"u", update}, {"s", words({2, 0}, 2)}}), "dynamic_update_slice: start 2"));
  CHECK(first_output(g, {{"x", in}, {"u", update}, {"s", words({7, -3}, 2)}}, {arithmetic::exact, outside::clamp}) ==
        words({0, 1, 2, 3, 90, 91, 6, 7, 92, 93, 10, 11}, 3, 4));
}

TEST_CASE("every read of a state sees its old value, and unwritten states keep theirs") {
  graph g("states");
  const uint32 s = g.state("s", f32, {2}).id, kept = g.state("kept", f32, {1}).id, x = g.input("x", f32, {2}).id;
  g.add_output("s", apply(g, op::add, {s, x}));
  g.add_output("y", apply(g, op::mul, {s, x}));
  g.add_output("k", apply(g, op::neg, {kept}));
  const named_tensor in[] = {{"s", floats({1, 2}, 2)}, {"kept", floats({5}, 1)}, {"x", floats({10, 20}, 2)}};
  const interpretation r = interpret(g, {in, 3});
  REQUIRE(r.states.size() == 2);
  REQUIRE(r.outputs.size() == 2);
  CHECK(*find(r.states, "s") == floats({11, 22}, 2));
  CHECK(*find(r.states, "kept") == floats({5}, 1));
  CHECK(*find(r.outputs, "y") == floats({10, 40}, 2));
}

TEST_CASE("dynamic extents are what the inputs show, and are checked") {
  graph g("dynamic");
  const extent length = g.dynamic("Length", 4);
  const uint32 x = g.input("x", f32, {length, 2}).id, y = g.input("y", f32, {length}).id;
  const int64 axis = 0;
  const uint32 i = g.leaf(op::iota, type_of(f32, length, 2), {&axis, 1});
  g.add_output("sum", apply(g, op::reduce_sum, {apply(g, op::add, {x, i})}, {0}));
  g.add_output("same", y);
  const named_tensor in[] = {{"x", floats({1, 2, 3, 4, 5, 6}, 3, 2)}, {"y", floats({0, 0, 0}, 3)}};
  CHECK(interpret(g, {in, 2}).outputs[0].value == floats({12, 15}, 1, 2));
  const tensor five = random_floats(type_of(f32, 5, 2), 1);
  const std::string above = refusal(g, {{"x", five}, {"y", floats({0, 0, 0}, 3)}});
  CHECK(names(above, "Length"));
  CHECK(names(above, "\"x\""));
  const std::string unlike = refusal(g, {{"x", floats({1, 2}, 1, 2)}, {"y", floats({0, 0}, 2)}});
  CHECK(names(unlike, "Length"));
  CHECK(names(unlike, "\"y\""));
  graph alone("alone");
  const extent free = alone.dynamic("Free", 4);
  alone.add_output("i", alone.leaf(op::iota, [&] { tensor_type t = type_of(i32, 1); t.extents[0] = free; return t; }(), {&axis, 1}));
  CHECK(names(refusal(alone, {}), "Free"));
}

TEST_CASE("a missing value, another dtype and another shape are refused by name") {
  graph g("checks");
  g.add_output("y", apply(g, op::neg, {g.input("hidden", bf16, {2, 2}).id}));
  CHECK(names(refusal(g, {}), "input \"hidden\""));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(f16, 2, 2))}}), "f16[2,2]"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 3))}}), "bf16[2,3]"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 4))}}), "hidden"));
  CHECK(names(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 2), vec<uint64>(3))}}), "3 words"));
  CHECK(refusal(g, {{"hidden", tensor(type_of(bf16, 2, 2))}, {"other", tensor(type_of(f32))}}).empty());
}

TEST_CASE("packed weights are decoded by casts, contractions and gathers of whole rows") {
  graph g("packed");
  const uint32 w = g.weight("w", q8_0, {3, 64}).id, x = g.input("x", f32, {2, 64}).id, i = g.input("i", i32, {2}).id;
  g.add_output("all", apply(g, op::cast, {w}, {}, type_of(f32)));
  g.add_output("half", apply(g, op::cast, {w}, {}, type_of(f16)));
  const uint32 rows = apply(g, op::gather, {w, i}, {0});
  g.add_output("rows", rows);
  g.add_output("y", apply(g, op::matmul, {x, w}, {1}, type_of(f32)));
  // Blocks of 34 bytes: an f16 scale of 2^(block - 2), then 32 signed bytes.
  tensor packed(type_of(q8_0, 3, 64));
  REQUIRE(packed.bits.size() == 6 * 34);
  const uint64 scales[6] = {0x3400, 0x3800, 0x3c00, 0x4000, 0x4400, 0x4800};
  auto weight = [](int64 element) { return std::ldexp(static_cast<float>(element * 37 % 255 - 127), static_cast<int>(element / 32) - 2); };
  for (int64 b = 0; b < 6; ++b) {
    packed.bits[static_cast<size_t>(b * 34)] = scales[b] & 0xff;
    packed.bits[static_cast<size_t>(b * 34 + 1)] = scales[b] >> 8;
    for (int64 k = 0; k < 32; ++k)
      packed.bits[static_cast<size_t>(b * 34 + 2 + k)] = static_cast<uint8>(static_cast<int8>((b * 32 + k) * 37 % 255 - 127));
  }
  const tensor tx = random_integers(type_of(f32, 2, 64), 9, -8, 8);
  const named_tensor in[] = {{"w", packed}, {"x", tx}, {"i", words({2, 0}, 2)}};
  const interpretation r = interpret(g, {in, 3});
  for (int64 k = 0; k < 192; ++k) {
    REQUIRE(at(r.outputs[0].value, k) == weight(k));
    REQUIRE(f16_to_f32(static_cast<uint16>(r.outputs[1].value.bits[static_cast<size_t>(k)])) == weight(k));
  }
  REQUIRE(r.outputs[2].value.type == type_of(q8_0, 2, 64));
  for (int64 k = 0; k < 68; ++k) {
    REQUIRE(r.outputs[2].value.bits[static_cast<size_t>(k)] == packed.bits[static_cast<size_t>(2 * 68 + k)]);
    REQUIRE(r.outputs[2].value.bits[static_cast<size_t>(68 + k)] == packed.bits[static_cast<size_t>(k)]);
  }
  for (int64 m = 0; m < 2; ++m)
    for (int64 n = 0; n < 3; ++n) {
      float sum = 0;  // of multiples of 1/4 below 2^22: exact in any order
      for (int64 k = 0; k < 64; ++k) sum += at(tx, m * 64 + k) * weight(n * 64 + k);
      REQUIRE(at(r.outputs[3].value, m * 3 + n) == sum);
    }
}

TEST_CASE("random_uniform is Philox, element by element") {
  graph g("random");
  const uint32 seed = g.input("seed", u32, {}).id, offset = g.input("offset", u32, {}).id;
  const uint32 in[] = {seed, offset};
  g.add_output("u", g.apply(op::random_uniform, {in, 2}, {}, type_of(f32, 2, 3)));
  const tensor u = first_output(g, {{"seed", tensor(type_of(u32))}, {"offset", tensor(type_of(u32))}});
  const uint32 known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) CHECK(at(u, i) == std::ldexp(static_cast<float>(known[i] >> 8), -24));
  tensor two(type_of(u32));
  two.bits[0] = 2;
  const tensor other = first_output(g, {{"seed", tensor(type_of(u32))}, {"offset", two}});
  CHECK(!(other == u));
}

TEST_CASE("wide arithmetic carries floats as f64 and rounds only where a cast says so") {
  graph g("wide");
  const uint32 x = g.input("x", f32, {2}).id;
  const uint32 third = apply(g, op::div, {x, g.literal(f32, ieee::to_bits(3.0f))});
  g.add_output("third", third);
  g.add_output("half", apply(g, op::cast, {third}, {}, type_of(f16)));
  g.add_output("up", apply(g, op::cast, {third}, {}, type_of(f64)));
  const named_tensor in{"x", floats({1, 2}, 2)};
  const interpretation r = interpret(g, {&in, 1}, {arithmetic::wide, outside::refuse});
  CHECK(r.outputs[0].value.type == type_of(f64, 2));
  CHECK(r.outputs[0].value.bits[0] == ieee::to_bits(1.0 / 3.0));
  CHECK(r.outputs[1].value.bits[0] == ieee::to_bits(0.333251953125));  // the nearest f16 to 1/3
  CHECK(r.outputs[2].value.bits[1] == ieee::to_bits(2.0 / 3.0));
}

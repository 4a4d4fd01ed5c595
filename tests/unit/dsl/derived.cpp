#include <poot/dsl/derived.hpp>

#include <unit/dsl/three_callers.hpp>

using poot::bf16, poot::f16, poot::f32, poot::f64, poot::i32, poot::type_of;

namespace {
constexpr auto x = poot::input<"x", f32, 2, 6>;
struct as_long_as_last {
  constexpr poot::tensor_type operator()(const poot::tensor_type& t) const { return type_of(i32, t.last()); }
};
struct last_as_number {
  constexpr poot::uint64 operator()(const poot::tensor_type& t) const { return poot::dsl::encode(t.element, t.last().code).bits; }
};
static_assert(decltype(poot::dsl::extent_of<-1>(x))::value == 6 && decltype(poot::dsl::extent_of<0>(x))::value == 2);
static_assert(poot::dsl::reciprocal_bits(f32, 1) == 0x3f800000 && poot::dsl::reciprocal_bits(bf16, 3) == 0x3eab);
}  // namespace

TEST_CASE("reciprocals are the division's own rounding") {
  for (poot::int64 n = 1; n < 100'000; n = n < 3000 ? n + 1 : n * 3 / 2) {
    CHECK(poot::dsl::reciprocal_bits(f64, n) == std::bit_cast<poot::uint64>(1.0 / static_cast<double>(n)));
    CHECK(poot::dsl::reciprocal_bits(f32, n) == std::bit_cast<poot::uint32>(1.0f / static_cast<float>(n)));
  }
  CHECK(poot::dsl::reciprocal_bits(f16, 2048) == 0x1000);
}

TEST_CASE("tables and numbers from an operand's type") {
  three_callers::check([](auto v) {
    return v * poot::dsl::literal_from<last_as_number>(v) + poot::cast<f32>(poot::dsl::iota_from<as_long_as_last>(v));
  }, R"(
    %x : f32[2,6] = input "x"
    %0 : f32[2,6] = mul %x, f32(6)
    %i : i32[6] = iota {axis=0}
    %1 : f32[6] = cast %i
    %2 : f32[2,6] = add %0, %1
    output "y" = %2)", x);
}

TEST_CASE("equal tables are one equation, for every caller") {
  constexpr auto f = [](auto v) {
    return v + poot::cast<f32>(poot::dsl::iota_from<as_long_as_last>(v)) * poot::cast<f32>(poot::dsl::iota_from<as_long_as_last>(v) + poot::iota<i32, 0, 6>);
  };
  three_callers::check(f, "", x);
  const poot::graph g = poot::trace(poot::output<"y">(f(x)));
  int tables = 0;
  for (const auto& e : g.eqns) tables += e.kind == poot::ir::op::iota;
  CHECK(tables == 1);
}

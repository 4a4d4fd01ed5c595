#include <poot/dsl/bind.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/contraction.hpp>

#include <array>
#include <vector>

using poot::bf16, poot::f16, poot::f32, poot::i32, poot::q8_0;

namespace {
constexpr auto x = poot::input<"x", f32, 4, 32>;
constexpr auto w = poot::weight<"w", q8_0, 8, 32>;
constexpr auto gain = poot::weight<"gain", bf16, 8>;
constexpr auto y = poot::output<"y">(poot::matmul_t(x, w) * poot::cast<f32>(gain));
constexpr auto total = poot::update(poot::state<"s", f32, 4>, poot::state<"s", f32, 4> + poot::state<"kept", f32, 4>);

std::string problem(std::initializer_list<poot::dsl::binding_row> rows, poot::must_bind needed) {
  return std::string(poot::dsl::binding_problem(poot::frozen<y>.view(), {rows.begin(), rows.size()}, needed).str());
}
template <class B>
poot::dsl::binding_row row(B) {
  return poot::dsl::row_of_binding<B>();
}
}  // namespace

TEST_CASE("arrays, spans and pointers lend their elements") {
  std::vector<float> xs(128);
  const std::array<poot::bf16_t, 8> gains{};
  float out[32];
  const auto bound = poot::bind<"x">(xs);
  CHECK(bound.data() == xs.data());
  CHECK(bound.count() == 128);
  CHECK(poot::bind<"gain">(gains).data() == gains.data());
  CHECK(poot::into<"y">(out).count() == 32);
  CHECK(poot::into<"y">(out, 7).count() == 7);
  static_assert(std::is_same_v<decltype(poot::bind<"x">(xs))::element, float>);
  static_assert(std::is_same_v<decltype(poot::bind<"x">(std::as_const(xs)))::element, const float>);
  static_assert(std::is_same_v<decltype(poot::bind<"x">(std::as_const(out)))::element, const float>);
  static_assert(std::is_same_v<decltype(poot::into<"y">(out))::element, float>);
  const auto warm = poot::bind<"temperature">(0.5f);
  CHECK(*warm.data() == 0.5f);
  CHECK(warm.count() == 1);
}

TEST_CASE("a C++ type holds the element types of its bits") {
  using poot::dsl::holds_element;
  static_assert(holds_element<float>(f32) && !holds_element<double>(f32) && holds_element<poot::int32>(i32));
  static_assert(holds_element<poot::uint16>(f16) && holds_element<poot::uint16>(bf16) && !holds_element<poot::f16_t>(bf16));
  static_assert(holds_element<std::byte>(q8_0) && holds_element<std::byte>(poot::mxfp4) && !holds_element<std::byte>(f32));
  static_assert(!holds_element<long double>(poot::f64) && holds_element<bool>(poot::boolean));
}

TEST_CASE("what a call leaves out, doubles, misnames or mistypes is one sentence") {
  std::vector<float> xs(128), ys(32);
  std::vector<std::byte> ws(8 * 34);
  std::vector<poot::uint16> gains(8);
  std::vector<double> wide(128);
  const auto bx = row(poot::bind<"x">(xs)), bw = row(poot::bind<"w">(ws)), bg = row(poot::bind<"gain">(gains)), by = row(poot::into<"y">(ys));
  using poot::must_bind;
  CHECK(problem({bx, bw, bg, by}, must_bind::everything) == "");
  CHECK(problem({bx}, must_bind::inputs) == "");
  CHECK(problem({bx, bw}, must_bind::inputs_and_weights) == "weight \"gain\" is not bound");
  CHECK(problem({bw, bg}, must_bind::inputs) == "input \"x\" is not bound");
  CHECK(problem({bx, by, bx}, must_bind::inputs) == "bind \"x\": this name is bound twice");
  CHECK(problem({row(poot::bind<"z">(xs))}, must_bind::inputs) == "bind \"z\": the model has no input, weight or state of this name");
  CHECK(problem({bx, row(poot::into<"x">(xs))}, must_bind::inputs) == "into \"x\": the model has no result of this name");
  CHECK(problem({row(poot::bind<"x">(wide))}, must_bind::inputs) == "bind \"x\": the model has f32, the elements given are f64");
  CHECK(problem({bx, row(poot::bind<"w">(xs))}, must_bind::inputs) == "bind \"w\": the model has q8_0, the elements given are f32");
  CHECK(problem({bx, row(poot::into<"y">(std::as_const(ys)))}, must_bind::inputs) == "into \"y\": the elements given are const");
}

TEST_CASE("a complete call passes when it compiles") {
  std::vector<float> xs(128), ys(32);
  const auto bx = poot::bind<"x">(xs);
  const auto by = poot::into<"y">(ys);
  static_assert(poot::check_bindings<y, poot::must_bind::inputs, std::remove_const_t<decltype(bx)>, std::remove_const_t<decltype(by)>>());
}

TEST_CASE("a state that the model writes is bound to memory that can be written") {
  const auto refusal = [](poot::dsl::binding_row r) {
    return std::string(poot::dsl::binding_problem(poot::frozen<total>.view(), {&r, 1}, poot::must_bind::inputs).str());
  };
  float s[4]{};
  const std::array<float, 4> fixed{};
  CHECK(refusal(row(poot::bind<"s">(s))) == "");
  CHECK(refusal(row(poot::bind<"s">(fixed))) == "bind \"s\": the model writes this state, and the elements given are const");
  CHECK(refusal(row(poot::bind<"s">(fixed.data(), 4))) == "bind \"s\": the model writes this state, and the elements given are const");
  CHECK(refusal(row(poot::bind<"s">(1.0f))) == "bind \"s\": the model writes this state, and the elements given are const");
  CHECK(refusal(row(poot::bind<"kept">(fixed))) == "");
  CHECK(refusal(row(poot::into<"s">(s))) == "into \"s\": this result is the new value of a state, and lies where that is bound");
}

#include <poot/dsl/structure.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>

#include <boost/hana/map.hpp>

#include <array>

namespace hana = boost::hana;
using poot::bf16, poot::f32;

namespace {
using gate_t = poot::param<bf16, 6, 4>;
using down_t = poot::param<bf16, 4, 6>;
using norm_t = poot::param<f32, 4>;
struct mlp_weights {
  BOOST_HANA_DEFINE_STRUCT(mlp_weights, (gate_t, gate), (gate_t, up), (down_t, down));
};
struct layer_weights {
  BOOST_HANA_DEFINE_STRUCT(layer_weights, (norm_t, norm), (mlp_weights, mlp));
};

constexpr auto x = poot::input<"x", f32, 2, 4>;
constexpr auto layer = [](auto v, auto, auto w) {
  return v + poot::nn::gated_mlp(poot::nn::rms_norm(v, w.norm), w.mlp.gate, w.mlp.up, w.mlp.down);
};
constexpr auto model = poot::output<"y">(poot::repeat<3>(layer, x, poot::weights<layer_weights, "blk.{}.*.weight">));
static_assert(poot::reads_all<layer_weights, "blk.{}.*.weight", 3>(model));
static_assert(poot::frozen<model>.view().find_leaf("blk.2.mlp.down.weight") < poot::frozen<model>.view().size());
}  // namespace

TEST_CASE("members are weights named by the pattern") {
  const auto g = poot::frozen<model>.view();
  int leaves = 0;
  for (poot::uint32 id = 0; id < g.size(); ++id)
    if (g[id].kind == poot::ir::op::weight) ++leaves;
  CHECK(leaves == 12);
  for (const char* name : {"blk.0.norm.weight", "blk.0.mlp.gate.weight", "blk.1.mlp.up.weight", "blk.2.mlp.down.weight"})
    CHECK(g.find_leaf(name) != g.size());
  CHECK(g.type(g.find_leaf("blk.1.mlp.gate.weight")) == poot::type_of(bf16, 6, 4));
  CHECK(poot::dsl::member_name("blk.0.", "attn_q").str() == "blk.0.attn_q");
  CHECK(poot::dsl::member_name("model.layers.0.*.weight", "q").str() == "model.layers.0.q.weight");
}

TEST_CASE("a tree beside run-time values stands in their graph") {
  poot::graph g("model");
  const auto v = three_callers::value_of(g, x);
  poot::output<"y">(poot::repeat<3>(layer, v, poot::weights<layer_weights, "blk.{}.*.weight">));
  CHECK(three_callers::printed(poot::dsl::in_order_of_outputs(g)) == three_callers::printed(poot::frozen<model>.view()));
  poot::graph h("model");
  auto u = three_callers::value_of(h, x);
  for (int i = 0; i < 3; ++i)
    u = layer(u, i, poot::weights_in<layer_weights>(h, ("blk." + std::to_string(i) + ".*.weight").c_str()));
  poot::output<"y">(u);
  CHECK(three_callers::printed(poot::dsl::in_order_of_outputs(h)) == three_callers::printed(poot::frozen<model>.view()));
}

TEST_CASE("a member that no output reads is found") {
  constexpr auto partly = [](auto v, auto w) { return v * w.norm; };
  constexpr auto y = poot::output<"y">(poot::block(partly, x, poot::weights<layer_weights, "l.">));
  using problem = poot::dsl::unread_member<layer_weights, "l.", 1, std::remove_const_t<decltype(y)>>;
  CHECK(problem{}().str() == "layer_weights: no output of the model reads its member gate (\"l.mlp.gate\")");
}

namespace {
using half_t = poot::param<f32, 2, 4>;
struct two_results {
  BOOST_HANA_DEFINE_STRUCT(two_results, (half_t, low), (half_t, high));
};
}  // namespace

TEST_CASE("results as a hana tuple and as a struct") {
  constexpr auto as_tuple = [](auto v) { return hana::make_tuple(v + v, v * v); };
  constexpr auto as_struct = [](auto v) { return two_results{v + v, v * v}; };
  const char* const wanted = R"(
    %x : f32[2,4] = input "x"
    %0 : f32[2,4] = add %x, %x
    %1 : f32[2,4] = mul %x, %x
    %2 : f32[2,4] = sub %0, %1
    output "y" = %2)";
  constexpr auto t = poot::block(as_tuple, x);
  three_callers::check_text(poot::trace(poot::output<"y">(t[hana::size_c<0>] - t[hana::size_c<1>])), wanted);
  constexpr auto s = poot::block(as_struct, x);
  three_callers::check_text(poot::trace(poot::output<"y">(poot::get<0>(s) - poot::get<1>(s))), wanted);
}

namespace {
using floats = std::array<float, 8>;
struct arrays {
  BOOST_HANA_DEFINE_STRUCT(arrays, (floats, x), (floats, z));
};
}  // namespace

TEST_CASE("structs and maps of arrays bind whole") {
  arrays a{};
  const auto bound = poot::bind_all(a);
  CHECK(bound[hana::size_c<0>].name == "x");
  CHECK(bound[hana::size_c<1>].data() == a.z.data());
  const auto numbered = poot::bind_all<"blk.3.*.weight">(a);
  CHECK(numbered[hana::size_c<1>].name == "blk.3.z.weight");
  CHECK(numbered[hana::size_c<1>].data() == a.z.data());
  const auto map = hana::make_map(hana::make_pair(BOOST_HANA_STRING("x"), floats{}));
  const auto from_map = poot::bind_all(map);
  CHECK(from_map[hana::size_c<0>].name == "x");
  CHECK(from_map[hana::size_c<0>].count() == 8);
}

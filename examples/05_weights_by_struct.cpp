/// Lesson 5: weights by struct. A Hana struct of tensors is a parameter tree: its members name the weights of each layer,
/// every one of them must be read, and structs of arrays of the same names bind whole.

#include <poot/dsl/structure.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include <boost/hana/concat.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace hana = boost::hana;

// What a layer has: shapes and element types. `param` is a tensor inside a block.
struct layer_weights {
  using norm_t = poot::param<poot::f32, 8>;
  using square_t = poot::param<poot::f32, 8, 8>;
  BOOST_HANA_DEFINE_STRUCT(layer_weights, (norm_t, attn_norm), (square_t, ffn_up));
};

inline constexpr auto layer = [](auto x, auto, auto w) { return x + poot::matmul_t(poot::nn::rms_norm(x, w.attn_norm), w.ffn_up); };

// `{}` is the number of the layer, `*` the member: blk.0.attn_norm.weight, as GGUF files spell it.
constexpr auto tree = poot::weights<layer_weights, "blk.{}.*.weight">;
constexpr auto x = poot::input<"x", poot::f32, 2, 8>;
constexpr auto y = poot::output<"y">(poot::repeat<2>(layer, x, tree));

static_assert(poot::reads_all<layer_weights, "blk.{}.*.weight", 2>(y));  // a member that is never read does not compile
static_assert(poot::frozen<y>.view().find_leaf("blk.1.ffn_up.weight") < poot::frozen<y>.view().size());

// The same names with arrays: what a file was read into.
struct layer_arrays {
  BOOST_HANA_DEFINE_STRUCT(layer_arrays, (std::vector<float>, attn_norm), (std::vector<float>, ffn_up));
};

int main() {
  const auto g = poot::frozen<y>.view();
  for (poot::uint32 id = 0; id < g.size(); ++id)
    if (g[id].kind == poot::ir::op::weight) {
      poot::text line = poot::text{} << "weight " << g.name_of(id) << ' ';
      poot::ir::write_type(line, g.type(id));
      std::printf("%.*s\n", static_cast<int>(line.str().size()), line.str().data());
    }

  // Identity matrices and gains of 1 and 2: a layer adds gain · x / rms(x) to x, here 1 and then 2.
  std::vector<float> xs(16, 3.0f), identity(64), out(16);
  for (size_t i = 0; i < 8; ++i) identity[i * 9] = 1;
  const layer_arrays first{std::vector<float>(8, 1.0f), identity}, second{std::vector<float>(8, 2.0f), identity};

  auto run = poot::host().load<y>();
  const auto bound = hana::concat(poot::bind_all<"blk.0.*.weight">(first), poot::bind_all<"blk.1.*.weight">(second));
  hana::unpack(bound, [&](const auto&... weights) { run(poot::bind<"x">(xs), poot::into<"y">(out), weights...); });
  std::printf("two layers make %g of 3\n", static_cast<double>(out[0]));
  return std::fabs(out[0] - 6.0f) < 1e-4f && std::fabs(out[15] - 6.0f) < 1e-4f ? 0 : 1;
}

// How many dispatches a layer of a typed llama takes: what one more layer adds to a step, known when this file compiles.
#include <poot/nn/decoder.hpp>
#include <poot/plan/planned.hpp>

#include <doctest/doctest.h>

using namespace poot;

namespace {

/// Layers of 64 elements and 8 heads on 4, or `times` as wide, over T tokens, with weights of W and f32 caches.
template <int64 T, dtype W, int64 times = 1>
struct llama {
  static constexpr int64 E = 64 * times, K = 32 * times, F = 96 * times;
  static constexpr auto x = input<"x", f32, T, E>;
  static constexpr auto at = input<"at", i32, 1>;
  static constexpr auto weights = nn::decoder_weights{weight<"blk.{}.attn_norm", f32, E>,     weight<"blk.{}.attn_q", W, E, E>,
                                                      weight<"blk.{}.attn_k", W, K, E>,       weight<"blk.{}.attn_v", W, K, E>,
                                                      weight<"blk.{}.attn_output", W, E, E>,  weight<"blk.{}.ffn_norm", f32, E>,
                                                      weight<"blk.{}.ffn_gate", W, F, E>,     weight<"blk.{}.ffn_up", W, F, E>,
                                                      weight<"blk.{}.ffn_down", W, E, F>};
  static constexpr auto keys = state<"keys.{}", f32, 4, 64, 8 * times>;
  static constexpr auto values = state<"values.{}", f32, 4, 64, 8 * times>;
  static constexpr auto layer = [](auto h, auto, auto position, auto w, auto k, auto v) { return nn::decoder_layer(h, position, w, k, v); };
  template <size_t Layers>
  static constexpr auto model = output<"y">(repeat<Layers>(layer, x, at, weights, keys, values));
};

constexpr plan::options documents = [] {
  plan::options o;
  o.document_rules = true;
  return o;
}();

template <class Model, target Where, plan::options Wanted = plan::options{}>
constexpr size_t of_a_layer = planned<Model::template model<2>, Where, Wanted>.dispatch_count() - planned<Model::template model<1>, Where, Wanted>.dispatch_count();

using decode = llama<1, bf16>;

}  // namespace

static_assert(of_a_layer<decode, targets::host, documents> == 14);
static_assert(of_a_layer<decode, targets::host> == 6);
static_assert(of_a_layer<decode, targets::vulkan_lavapipe> == 6);
static_assert(of_a_layer<decode, targets::cuda_sm80> == 6);
static_assert(of_a_layer<decode, targets::hip_gfx90a> == 6);
static_assert(of_a_layer<llama<16, bf16>, targets::host> == 8);

TEST_CASE("a layer takes as many dispatches on every target and for every type of its weights") {
  const auto count = [](const ir::graph_view& one, const ir::graph_view& two, const target& where, bool by_documents) {
    plan::options wanted;
    wanted.document_rules = by_documents;
    return plan::compile(two, where, wanted).dispatch_count() - plan::compile(one, where, wanted).dispatch_count();
  };
  const auto check = [&]<class Model>(Model, size_t fused, size_t by_documents) {
    for (const target& where : {targets::host, targets::vulkan_lavapipe, targets::vulkan_swiftshader, targets::cuda_sm80, targets::hip_gfx90a}) {
      const ir::graph_view one = frozen<Model::template model<1>>.view(), two = frozen<Model::template model<2>>.view();
      CHECK(count(one, two, where, false) == fused);
      CHECK(count(one, two, where, true) == by_documents);
    }
  };
  check(llama<1, f32>{}, 6, 14);
  check(llama<1, bf16>{}, 6, 14);
  check(llama<1, q8_0>{}, 6, 14);
  check(llama<1, q4_k, 8>{}, 6, 14);  // blocks of 256
  check(llama<16, bf16>{}, 8, 18);
}

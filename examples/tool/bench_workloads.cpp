#include "bench_workloads.hpp"

#include "bench_loops.hpp"
#include "transformer.hpp"

#include <poot/nn/attention.hpp>
#include <poot/nn/convolution.hpp>
#include <poot/nn/mlp.hpp>
#include <poot/nn/norm.hpp>
#include <poot/nn/rope.hpp>
#include <poot/nn/softmax.hpp>

#include <cmath>

namespace poot::tool {

namespace {

using ir::graph;
using ir::value;

value number(graph& g, float v) { return {&g, g.literal(dtype::f32, std::bit_cast<uint32>(v))}; }
value relu(graph& g, value x) { return dsl::max(x, number(g, 0)); }
value norm_gain(graph& g, const char* name, int64 width) { return g.weight(name, f32, {width}); }

/// y = f(x), x of [count, columns].
template <class F>
std::function<graph(int64)> over_rows(int64 columns, F f) {
  return [columns, f](int64 count) {
    graph g("bench");
    const value x = g.input("x", f32, {count, columns});
    g.output("y", f(g, x));
    return g;
  };
}

template <class F>
workload pointwise(const char* name, int64 rows, int64 columns, F f, typed_run typed, decltype(workload::loop) loop) {
  const auto make = over_rows(columns, [f](graph&, value x) { return f(x); });
  workload w{name, f32, 8.0 * static_cast<double>(rows * columns), make, rows};
  w.checked = 2;
  w.typed = typed;
  w.loop = loop;
  return w;
}

template <class F>
workload by_row(const char* name, int64 rows, int64 columns, double flops_each, F f) {
  workload w{name, f32, flops_each * static_cast<double>(rows * columns), over_rows(columns, f), rows};
  w.checked = 1;
  return w;
}

/// y = x · wᵀ, one row; `count` columns of the result.
workload vector_matrix(std::string name, dtype t, int64 n, int64 k) {
  workload w{std::move(name), t, 2.0 * static_cast<double>(n * k)};
  w.make = [=](int64 count) {
    graph g("bench");
    const value x = g.input("x", f32, {1, k});
    g.output("y", dsl::matmul_t(x, g.weight("w", t, {count, k})));
    return g;
  };
  w.size = n;
  w.checked = 32;
  w.reads_mostly = true;
  return w;
}

/// A decoder layer with the smallest of vocabularies around it: one token at the end of a full context, or the first `tokens`.
workload decoder_layer(const char* name, dtype t, int64 tokens) {
  architecture c;
  c.width = 2048, c.hidden = 5632, c.layers = 1, c.heads = 32, c.kv_heads = 8, c.head_width = 64;
  c.vocabulary = 32, c.context = tokens == 1 ? 1024 : tokens, c.rotate_halves = true;
  const double macs = 2.0 * 2048 * 2048 + 2.0 * 512 * 2048 + 3.0 * 2048 * 5632;
  const double seen = tokens == 1 ? 1024 : static_cast<double>(tokens + 1) / 2;
  workload w{name, t, static_cast<double>(tokens) * (2 * macs + 4.0 * 32 * 64 * seen)};
  w.make = [c, t, tokens](int64) {
    std::vector<weight_type> types{{"token_embd.weight", t}, {"output_norm.weight", f32}, {"blk.0.attn_norm.weight", f32}, {"blk.0.ffn_norm.weight", f32}};
    for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      types.push_back({std::string("blk.0.") + part + ".weight", t});
    model_step step;
    step.tokens = step.most_tokens = tokens;
    return transformer_graph(c, types, step);
  };
  w.reads_mostly = tokens == 1;
  w.position = c.context - tokens;
  return w;
}

/// 1024 positions of 32 heads, each turned by its tables: halves against each other.
workload rotary() {
  constexpr int64 length = 1024, heads = 32, width = 64;
  workload w{"rope_1024x32x64", f32, 3.0 * static_cast<double>(length * heads * width)};
  w.make = [=](int64 count) {
    graph g("bench");
    const value cos = g.input("cos", f32, {count, 1, width / 2}), sin = g.input("sin", f32, {count, 1, width / 2});
    g.output("y", nn::rope<nn::rope_pairs::halves>(g.input("x", f32, {count, heads, width}), cos, sin));
    return g;
  };
  w.size = length;
  w.checked = 4;
  return w;
}

/// Queries of `heads` heads, four to a head of keys, at the end of 4096 keys.
workload attention_decode(int64 width) {
  constexpr int64 heads = 32, group = 4, keys = 4096;
  workload w{"attn_decode_d" + std::to_string(width), f32, 4.0 * static_cast<double>(heads * keys * width)};
  w.make = [=](int64 count) {
    graph g("bench");
    const value q = g.input("q", f32, {count, 1, width}), k = g.input("k", f32, {count / group, keys, width}), v = g.input("v", f32, {count / group, keys, width});
    const value scores = dsl::matmul_t(q, nn::repeat_heads(k, count)) * number(g, 1 / std::sqrt(static_cast<float>(width)));
    g.output("y", dsl::matmul(nn::softmax(scores), nn::repeat_heads(v, count)));
    return g;
  };
  w.size = heads;
  w.checked = group;
  w.reads_mostly = true;
  return w;
}

/// 1024 queries of eight heads, each over the keys up to its own.
workload attention_prefill() {
  constexpr int64 heads = 8, length = 1024, width = 64;
  workload w{"attn_prefill_causal", f32, 4.0 * static_cast<double>(heads * width * length * (length + 1) / 2)};
  w.make = [=](int64 count) {
    graph g("bench");
    const value q = g.input("q", f32, {count, length, width}), k = g.input("k", f32, {count, length, width}), v = g.input("v", f32, {count, length, width});
    const int64 rows[1] = {0};
    const value positions{&g, g.leaf(ir::op::iota, type_of(i32, length), {rows, 1})};
    g.output("y", nn::attention(q, k, v, positions));
    return g;
  };
  w.size = heads;
  w.checked = 1;
  return w;
}

workload rows_in(workload w, int64 rows) {
  w.checked = rows;
  return w;
}

std::string numbered(const char* before, int64 i) { return before + std::to_string(i); }

}  // namespace

std::vector<workload> workloads() {
  std::vector<workload> all;
  all.push_back(pointwise("chain_16M", 4096, 4096, chain, typed_chain_16M, chain_loop));
  all.push_back(pointwise("chain_64k", 256, 256, chain, typed_chain_64k, chain_loop));
  all.push_back(pointwise("chain_tanh_exp_16M", 4096, 4096, chain_tanh_exp, typed_chain_tanh_exp_16M, nullptr));
  all.push_back(pointwise("chain_tanh_exp_64k", 256, 256, chain_tanh_exp, typed_chain_tanh_exp_64k, nullptr));
  const auto softmax = [](graph&, value x) { return nn::softmax(x); };
  all.push_back(by_row("softmax_4096x4096", 4096, 4096, 5, softmax));
  all.push_back(by_row("softmax_256x131072", 256, 131072, 5, softmax));
  all.push_back(by_row("softmax_32768x128", 32768, 128, 5, softmax));
  all.push_back(by_row("softmax_1024x1024", 1024, 1024, 5, softmax));
  all.push_back(by_row("rms_norm_4096x4096", 4096, 4096, 4, [](graph& g, value x) {
    return nn::rms_norm(x, norm_gain(g, "gain", 4096), number(g, 1e-5f));
  }));
  all.push_back(by_row("layer_norm_4096x4096", 4096, 4096, 7, [](graph& g, value x) {
    return nn::layer_norm(x, norm_gain(g, "gain", 4096), norm_gain(g, "bias", 4096), number(g, 1e-5f));
  }));
  all.push_back(vector_matrix("gemv_2048", f32, 2048, 2048));
  all.push_back(vector_matrix("gemv_4096", f32, 4096, 4096));
  all.push_back(vector_matrix("gemv_4096", bf16, 4096, 4096));
  all.push_back(vector_matrix("gemv_256MB", f32, 16384, 4096));
  all.push_back(vector_matrix("gemv_256MB", bf16, 32768, 4096));
  all.push_back(vector_matrix("gemv_256MB", q8_0, 65536, 4096));
  all.push_back(vector_matrix("gemv_256MB", q4_0, 131072, 4096));
  for (const int64 n : {512, 1024})
    all.push_back(rows_in(by_row(("gemm_" + std::to_string(n) + "_bias_relu").c_str(), n, n, 2.0 * static_cast<double>(n), [n](graph& g, value x) {
      return relu(g, dsl::matmul_t(x, g.weight("w", f32, {n, n})) + g.weight("b", f32, {n}));
    }), 1));
  workload mlp = by_row("gelu_mlp_128", 128, 1024, 4.0 * 4096, [](graph& g, value x) {
    const value h = dsl::matmul_t(x, g.weight("up", f32, {4096, 1024})) + g.weight("up_bias", f32, {4096});
    const value inner = (h + h * h * h * number(g, 0.044715f)) * number(g, 0.7978845608f);
    const value gelu = h * number(g, 0.5f) * (dsl::tanh(inner) + number(g, 1));
    return dsl::matmul_t(gelu, g.weight("down", f32, {1024, 4096})) + g.weight("down_bias", f32, {1024});
  });
  all.push_back(std::move(mlp));
  workload gated = by_row("swiglu_1", 1, 2048, 6.0 * 5632, [](graph& g, value x) {
    const value gate = dsl::matmul_t(x, g.weight("gate", f32, {5632, 2048}));
    const value silu = gate / (dsl::exp(-gate) + number(g, 1));
    return dsl::matmul_t(silu * dsl::matmul_t(x, g.weight("up", f32, {5632, 2048})), g.weight("down", f32, {2048, 5632}));
  });
  gated.reads_mostly = true;
  all.push_back(std::move(gated));
  all.push_back(attention_decode(64));
  all.push_back(attention_decode(128));
  all.push_back(attention_prefill());
  all.push_back(rotary());
  for (dtype t : {f32, bf16}) all.push_back(decoder_layer("llama_layer_decode", t, 1));
  for (dtype t : {f32, bf16}) all.push_back(decoder_layer("llama_layer_prefill128", t, 128));

  workload image{"conv3x3_bn_relu", f32, 2.0 * 64 * 64 * 9 * 56 * 56};
  image.make = [](int64 channels) {
    graph g("bench");
    dsl::conv_options padded;
    for (auto& p : padded.pad) p = 1;
    const auto along = [&](const char* name) { return dsl::reshape(g.weight(name, f32, {channels}), dsl::shape{channels, 1, 1}); };
    const value r = dsl::conv2d(g.input("x", f32, {1, 64, 56, 56}), g.weight("w", f32, {channels, 64, 3, 3}), padded);
    const value normal = (r - along("mean")) / dsl::sqrt(along("variance") + number(g, 1e-5f));
    g.output("y", relu(g, normal * along("gain") + along("bias")));
    return g;
  };
  image.size = 64;
  image.checked = 1;
  all.push_back(std::move(image));

  workload independent{"horizontal_16x4096", f32, 4.0 * 16 * 4096};
  independent.make = [](int64 count) {
    graph g("bench");
    for (int64 i = 0; i < 16; ++i) {
      const auto k = static_cast<float>(i);
      const value x = g.input(numbered("x", i), f32, {count});
      g.output(numbered("y", i), relu(g, x * number(g, 1 + 0.1f * k) + number(g, 0.01f * k)) * number(g, 0.9f - 0.01f * k));
    }
    return g;
  };
  independent.size = independent.checked = 4096;
  all.push_back(std::move(independent));
  all.push_back(rows_in(by_row("call_16", 1, 16, 1, relu), 1));
  for (workload& w : all)
    for (const char* name : {"chain_16M", "chain_64k", "chain_tanh_exp_64k", "softmax_1024x1024", "rms_norm_4096x4096",
                             "layer_norm_4096x4096", "gemm_512_bias_relu", "gemv_2048"})
      w.small = w.small || w.name == name;
  return all;
}

ir::graph additions(int64 count) {
  graph g("additions");
  value y = g.input("x", f32, {16});
  for (int64 i = 0; i < count; ++i) y = y + number(g, 1);
  g.output("y", y);
  return g;
}

ir::graph graph_to_plan(int64 count) {
  constexpr int64 width = 64;
  graph g("plan");
  value x = g.input("x", f32, {8, width});
  for (int64 block = 0; static_cast<int64>(g.size()) < count; ++block) {
    const value h = nn::rms_norm(x, g.weight(numbered("gain.", block), f32, {width}), number(g, 1e-5f));
    const value up = dsl::matmul_t(h, g.weight(numbered("up.", block), f32, {width, width}));
    const value bent = chain(up) + h;
    x = x + dsl::matmul_t(bent, g.weight(numbered("down.", block), f32, {width, width}));
    if (block % 4 == 3) x = nn::softmax(x);
  }
  g.output("y", x);
  return g;
}

}  // namespace poot::tool

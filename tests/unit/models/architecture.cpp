// What a file says of its decoder, and files that contradict themselves: one sentence with the file, the key or tensor, and the rule.
#include "family_file.hpp"

#include "../../../examples/tool/architecture.cpp"
#include "../../../examples/tool/family_tensors.cpp"
#include "../../../examples/tool/transformer.hpp"

#include <poot/ir/verify.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <random>

using namespace poot_tests;
using poot::tool::architecture;

namespace {

architecture read(const family_file& f, poot::int64 context = 0) {
  const std::vector<poot::uint8> bytes = f.bytes();
  return poot::tool::read_architecture(poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf"), context);
}

struct bad_file {
  const char* family;
  std::function<void(family_file&)> spoil;
  const char* sentence;
};

void check_refused(const bad_file& bad) {
  family_file f = small_family(bad.family);
  CHECK(refusal_of(f) == "");
  bad.spoil(f);
  CHECK(refusal_of(f) == bad.sentence);
}

}  // namespace

TEST_CASE("each family is read, with what its name stands for") {
  for (const auto& row : poot::tool::families) {
    const std::string family(row.name);
    CAPTURE(family);
    const architecture a = read(small_family(family));
    CHECK(a.family == family);
    CHECK(a.width == 64);
    CHECK(a.head_width == 16);
    CHECK(a.values() == 16);
    CHECK(a.turned_width() == 16);
    CHECK(a.vocabulary == 40);
    CHECK(a.context == 128);
    CHECK(a.rotate_halves == (family != "llama"));
    CHECK(a.scaled_embedding == family.starts_with("gemma"));
    CHECK(a.slides(0) == family.starts_with("gemma"));
  }
}

TEST_CASE("of gemma's layers the last of each period sees every key") {
  const architecture two = read(small_family("gemma2")), three = read(small_family("gemma3"));
  for (poot::int64 layer = 0; layer < 12; ++layer) {
    CHECK(two.slides(layer) == (layer % 2 == 0));
    CHECK(three.slides(layer) == (layer % 6 != 5));
  }
  CHECK(three.sliding_theta == 10000.0f);
  CHECK(two.sliding_theta == 0.0f);
  CHECK(two.attention_cap == 50.0f);
  CHECK(two.logit_cap == 30.0f);
  // A context within the window slides nowhere: the masks would be equal.
  CHECK(!read(small_family("gemma2"), 16).slides(0));
  CHECK(read(small_family("gemma2"), 17).slides(0));
}

TEST_CASE("experts are counted, and what their family does with them is known") {
  const architecture llama = read(small_family("mixtral")), two = read(small_family("qwen2moe")), three = read(small_family("qwen3moe"));
  for (const architecture* a : {&llama, &two, &three}) {
    CHECK(a->experts == 8);
    CHECK(a->experts_used == 2);
    CHECK(a->hidden == 96);
    CHECK(a->normalised_experts == (a != &two));
    CHECK(a->shared_hidden == (a == &two ? 48 : 0));
  }
  CHECK(read(small_family("llama")).experts == 0);
}

TEST_CASE("head widths may be stated, and need not divide the width then") {
  family_file f = small_family("qwen3");
  f.own("attention.head_count") = 3u;
  f.own("attention.head_count_kv") = 1u;
  f.own("attention.key_length") = 32u;
  f.own("attention.value_length") = 24u;
  for (const char* blk : {"blk.0.", "blk.1."}) {
    f.tensors[std::string(blk) + "attn_q.weight"] = {{96, 64}};
    f.tensors[std::string(blk) + "attn_k.weight"] = {{32, 64}};
    f.tensors[std::string(blk) + "attn_v.weight"] = {{24, 64}};
    f.tensors[std::string(blk) + "attn_output.weight"] = {{64, 72}};
    f.tensors[std::string(blk) + "attn_q_norm.weight"] = f.tensors[std::string(blk) + "attn_k_norm.weight"] = {{32}};
  }
  const architecture a = read(f);
  CHECK(a.head_width == 32);
  CHECK(a.values() == 24);
}

TEST_CASE("rotary frequencies are scaled as the keys say") {
  family_file f = small_family("qwen2");
  f.own("rope.scale_linear") = 2.0f;
  CHECK(read(f).frequency_scale == std::vector<float>(8, 0.5f));
  f.keys.erase("qwen2.rope.scale_linear");
  f.own("rope.scaling.factor") = 4.0f;
  CHECK(read(f).frequency_scale == std::vector<float>(8, 0.25f));
  f.own("rope.scaling.type") = std::string("none");
  CHECK(read(f).frequency_scale.empty());
  f.own("rope.scaling.type") = std::string("linear");
  CHECK(read(f).frequency_scale == std::vector<float>(8, 0.25f));
  CHECK(read(f).rotary_magnitude == 1.0f);
  f.own("rope.scaling.type") = std::string("yarn");
  f.own("rope.scaling.original_context_length") = 32u;
  const architecture a = read(f);
  REQUIRE(a.frequency_scale.size() == 8);
  // The ramp begins at floor(16 ln(32 / (32 · 2π)) / (2 ln 10000)) < 0, so at 0, and ends at ceil(16 ln(32 / 2π) / (2 ln 10000)) = 2.
  CHECK(a.frequency_scale[0] == 1.0f);
  CHECK(a.frequency_scale[1] == doctest::Approx(0.5 + 0.5 / 4));
  for (size_t i = 2; i < 8; ++i) CHECK(a.frequency_scale[i] == 0.25f);
  CHECK(a.rotary_magnitude == doctest::Approx(1 + 0.1 * std::log(4.0)));
  CHECK(a.frequency_divisors.empty());
  f.tensors["rope_freqs.weight"] = {{8}};
  CHECK(read(f).frequency_divisors == "rope_freqs.weight");
}

TEST_CASE("long factors serve contexts beyond the original one") {
  family_file f = small_family("phi3");
  f.tensors["rope_factors_long.weight"] = f.tensors["rope_factors_short.weight"] = {{8}};
  f.own("rope.scaling.original_context_length") = 64u;
  f.own("rope.scaling.attn_factor") = 1.25f;
  CHECK(read(f, 64).frequency_divisors == "rope_factors_short.weight");
  CHECK(read(f, 65).frequency_divisors == "rope_factors_long.weight");
  CHECK(read(f).rotary_magnitude == 1.25f);
}

TEST_CASE("phi3's tensors of several matrices are cut by rows, packed ones too") {
  family_file f = small_family("phi3");
  f.tensors["blk.1.attn_qkv.weight"].gguf_type = 8;
  const std::vector<poot::uint8> bytes = f.bytes();
  const auto file = poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf");
  const auto weights = poot::tool::model_weights(file, poot::tool::read_architecture(file, 0));
  const auto* whole = file.find("blk.1.attn_qkv.weight");
  const poot::uint8* at = whole->data;
  for (const auto& [name, rows] : {std::pair{"blk.1.attn_q.weight", 64}, std::pair{"blk.1.attn_k.weight", 32}, std::pair{"blk.1.attn_v.weight", 32}}) {
    CAPTURE(name);
    const auto found = std::find_if(weights.begin(), weights.end(), [&](const auto& w) { return w.name == name; });
    REQUIRE(found != weights.end());
    CHECK(found->type == poot::type_of(poot::dtype::q8_0, rows, 64));
    CHECK(found->data == at);
    CHECK(found->size == static_cast<size_t>(rows) * 68);
    at += found->size;
  }
  CHECK(at == whole->data + whole->size);
  CHECK(weights.size() == file.tensors().size() + 2 * 3);
}

TEST_CASE("a family that is not known is refused by name") {
  family_file f = small_family("llama");
  f.keys["general.architecture"] = std::string("mamba");
  CHECK(refusal_of(f).starts_with("m.gguf: key general.architecture is \"mamba\", and poot builds llama, qwen2, "));
  f.keys.erase("general.architecture");
  CHECK(refusal_of(f) == "m.gguf: there is no key general.architecture");
}

TEST_CASE("keys that contradict each other are refused") {
  const bad_file table[] = {
      {"llama", [](auto& f) { f.keys.erase("llama.embedding_length"); }, "m.gguf: there is no key llama.embedding_length"},
      {"llama", [](auto& f) { f.own("block_count") = 0u; }, "m.gguf: key llama.block_count is 0, not in 1 to 4096"},
      {"llama", [](auto& f) { f.own("block_count") = std::string("two"); }, "m.gguf: key llama.block_count is string, not an integer"},
      {"llama", [](auto& f) { f.own("attention.head_count") = 6u; },
       "m.gguf: key llama.attention.head_count is 6, which does not divide embedding_length, 64, and there is no attention.key_length"},
      {"qwen2", [](auto& f) { f.own("attention.head_count_kv") = 3u; },
       "m.gguf: key qwen2.attention.head_count_kv is 3, which does not divide attention.head_count, 4"},
      {"llama", [](auto& f) { f.own("rope.dimension_count") = 18u; },
       "m.gguf: key llama.rope.dimension_count is 18, and must be an even number, at most the width of a head, 16"},
      {"llama", [](auto& f) { f.own("rope.dimension_count") = 7u; },
       "m.gguf: key llama.rope.dimension_count is 7, and must be an even number, at most the width of a head, 16"},
      {"llama", [](auto& f) { f.own("rope.freq_base") = 0.0f; }, "m.gguf: key llama.rope.freq_base must be a finite number above 0"},
      {"llama", [](auto& f) { f.own("attention.layer_norm_rms_epsilon") = std::nanf(""); },
       "m.gguf: key llama.attention.layer_norm_rms_epsilon must be a finite number above 0"},
      {"llama", [](auto& f) { f.own("rope.scaling.type") = std::string("su"); },
       "m.gguf: key llama.rope.scaling.type is \"su\", and poot knows none, linear, yarn and longrope"},
      {"llama", [](auto& f) { f.own("rope.scaling.type") = std::string("linear"); }, "m.gguf: there is no key llama.rope.scaling.factor"},
      {"phi3", [](auto& f) { f.tensors["rope_factors_long.weight"] = f.tensors["rope_factors_short.weight"] = {{8}}; },
       "m.gguf: there is no key phi3.rope.scaling.original_context_length"},
      {"llama", [](auto& f) { f.own("attention.sliding_window") = 32u; },
       "m.gguf: key llama.attention.sliding_window is 32, less than the context of 128, and no layer of llama slides here"},
      {"gemma3", [](auto& f) { f.keys.erase("gemma3.attention.sliding_window"); },
       "m.gguf: key gemma3.attention.sliding_window is missing or 0, and layers of gemma3 slide"},
      {"mixtral", [](auto& f) { f.own("expert_used_count") = 9u; }, "m.gguf: key llama.expert_used_count is 9, more than expert_count, 8"},
      {"qwen3moe", [](auto& f) { f.own("expert_count") = 0u; }, "m.gguf: key qwen3moe.expert_count is 0, not in 1 to 4096"},
      {"qwen2moe", [](auto& f) { f.keys.erase("qwen2moe.expert_shared_feed_forward_length"); },
       "m.gguf: there is no key qwen2moe.expert_shared_feed_forward_length"},
      {"qwen3moe", [](auto& f) { f.own("expert_weights_scale") = 2.5f; },
       "m.gguf: key qwen3moe.expert_weights_scale is not 1, and poot scales no experts"},
      {"qwen3moe", [](auto& f) { f.own("expert_gating_func") = 2u; },
       "m.gguf: key qwen3moe.expert_gating_func is not 1, softmax, and poot knows no other"},
      {"llama", [](auto& f) { f.keys["tokenizer.ggml.tokens"] = std::vector<std::string>(39, "x"); },
       "m.gguf: key tokenizer.ggml.tokens has 39 pieces, and tensor \"token_embd.weight\" 40 rows"},
  };
  for (const bad_file& bad : table) check_refused(bad);
  CHECK(refusal_of(small_family("llama"), 129) == "m.gguf: key llama.context_length is 128, less than the context of 129 that is asked for");
}

TEST_CASE("tensors that contradict the keys are refused") {
  const bad_file table[] = {
      {"llama", [](auto& f) { f.tensors.erase("blk.1.attn_q.weight"); }, "m.gguf: there is no tensor blk.1.attn_q.weight"},
      {"qwen2", [](auto& f) { f.tensors.erase("blk.0.attn_v.bias"); }, "m.gguf: there is no tensor blk.0.attn_v.bias"},
      {"qwen3", [](auto& f) { f.tensors.erase("blk.1.attn_k_norm.weight"); }, "m.gguf: there is no tensor blk.1.attn_k_norm.weight"},
      {"gemma2", [](auto& f) { f.tensors.erase("blk.1.post_ffw_norm.weight"); }, "m.gguf: there is no tensor blk.1.post_ffw_norm.weight"},
      {"phi3", [](auto& f) { f.tensors.erase("blk.0.attn_qkv.weight"); }, "m.gguf: there is no tensor blk.0.attn_qkv.weight"},
      {"mixtral", [](auto& f) { f.keys.erase("llama.expert_count"); }, "m.gguf: there is no tensor blk.0.ffn_gate.weight"},
      {"mixtral", [](auto& f) { f.own("expert_count") = 4u; },
       "m.gguf: tensor \"blk.0.ffn_gate_inp.weight\" is f32[8,64], and the keys of the file make it f32[4,64]"},
      {"qwen2moe", [](auto& f) { f.tensors.erase("blk.1.ffn_down_shexp.weight"); }, "m.gguf: there is no tensor blk.1.ffn_down_shexp.weight"},
      {"llama", [](auto& f) { f.tensors["blk.0.ffn_down.weight"] = {{96, 64}}; },
       "m.gguf: tensor \"blk.0.ffn_down.weight\" is f32[96,64], and the keys of the file make it f32[64,96]"},
      {"llama", [](auto& f) { f.tensors["token_embd.weight"] = {{64}}; },
       "m.gguf: tensor \"token_embd.weight\" is f32[64], and the keys of the file make it f32[64,64]"},
      {"llama", [](auto& f) { f.own("attention.key_length") = 32u; },
       "m.gguf: tensor \"blk.0.attn_q.weight\" is f32[64,64], and the keys of the file make it f32[128,64]"},
      {"llama", [](auto& f) { f.tensors["token_embd.weight"] = {{0, 64}}; },
       "m.gguf: tensor \"token_embd.weight\" has no rows, so there is no token"},
      {"phi3", [](auto& f) { f.tensors["blk.1.ffn_up.weight"] = {{96, 64}}; },
       "m.gguf: tensor \"blk.1.ffn_up.weight\" is f32[96,64], and the keys of the file make it f32[192,64]"},
      {"llama", [](auto& f) { f.tensors["blk.0.attn_norm.weight"].gguf_type = 8; },
       "m.gguf: tensor \"blk.0.attn_norm.weight\" is q8_0[64], and only matrices may be packed"},
      {"llama", [](auto& f) { f.tensors["blk.0.attn_q.weight"].gguf_type = 28; },
       "m.gguf: tensor \"blk.0.attn_q.weight\" is f64[64,64], and weights are f32, f16, bf16 or packed"},
      {"llama", [](auto& f) { f.tensors["blk.0.attn_q.weight"].gguf_type = 26; },
       "m.gguf: tensor \"blk.0.attn_q.weight\" is i32[64,64], and weights are f32, f16, bf16 or packed"},
      {"llama", [](auto& f) { f.tensors["blk.2.attn_norm.weight"] = {{64}}; },
       "m.gguf: tensor \"blk.2.attn_norm.weight\" is one that this family does not read"},
      {"qwen2", [](auto& f) { f.tensors["blk.0.attn_q_norm.weight"] = {{16}}; },
       "m.gguf: tensor \"blk.0.attn_q_norm.weight\" is one that this family does not read"},
      {"llama", [](auto& f) { f.tensors["rope_freqs.weight"] = {{16}}; },
       "m.gguf: tensor \"rope_freqs.weight\" is f32[16], and the keys of the file make it f32[8]"},
  };
  for (const bad_file& bad : table) check_refused(bad);
}

TEST_CASE("whatever is spoilt, a file is refused by name, or its graph can be built") {
  std::mt19937 draw(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(draw() % n); };
  const char* const families[] = {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "mixtral", "qwen2moe", "qwen3moe"};
  int refused = 0, built = 0;
  for (int round = 0; round < 1500; ++round) {
    family_file f = small_family(families[below(9)]);
    const auto key = std::next(f.keys.begin(), static_cast<std::ptrdiff_t>(below(f.keys.size())));
    const auto tensor = std::next(f.tensors.begin(), static_cast<std::ptrdiff_t>(below(f.tensors.size())));
    const poot::uint32 counts[] = {0, 1, 2, 3, 4, 6, 8, 16, 32, 33, 64, 96, 128, 4096, 0x7fffffff, 0xffffffff};
    const float numbers[] = {0, -1, 1, 1e-30f, 1e30f, HUGE_VALF, std::nanf("")};
    switch (below(6)) {
      case 0: f.keys.erase(key); break;
      case 1: key->second = counts[below(16)]; break;
      case 2: key->second = numbers[below(7)]; break;
      case 3: f.tensors.erase(tensor); break;
      case 4: tensor->second.extents[below(tensor->second.extents.size())] = counts[below(13)]; break;
      default: tensor->second.extents.resize(below(4), 8);
    }
    CAPTURE(round);
    const std::string why = refusal_of(f);
    if (!why.empty()) {
      ++refused;
      CHECK(why.starts_with("m.gguf: "));
      continue;
    }
    const std::vector<poot::uint8> bytes = f.bytes();
    const auto file = poot::io::gguf::parse({bytes.data(), bytes.size()}, "m.gguf");
    const architecture a = poot::tool::read_architecture(file, 0);
    std::vector<poot::tool::weight_type> types;
    for (const auto& w : poot::tool::model_weights(file, a)) types.push_back({w.name, w.type.element});
    CHECK(poot::ir::verify(poot::tool::transformer_graph(a, types, {})));
    ++built;
  }
  CHECK(refused > 500);
  CHECK(built > 100);
}

TEST_CASE("a doubled tensor is refused") {
  const file_bytes f = file_bytes().gguf_header(2, 0).tensor("w", {1}, 0, 0).tensor("w", {1}, 0, 32).pad(32).data(36);
  CHECK_THROWS_WITH_AS(poot::io::gguf::parse(f.view(), "m.gguf"), "m.gguf: there are two tensors w", poot::error);
}

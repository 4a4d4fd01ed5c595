// Real models, step by step: the recorded texts, and fused against unfused logits at every step.
#include "decoder_model.hpp"

#include "../../../examples/tool/transformer.cpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

using namespace poot_tests;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

/// Greedy ids after BOS; fused and unfused logits must be equal bit for bit on the way.
std::vector<poot::int32> generate(const decoder_model& m, int steps) {
  loaded_model fused(m, true, {{"decode", {}}}), apart(m, false, {{"decode", {}}});
  std::vector<poot::int32> ids;
  poot::int32 token = 1;
  int different = 0;
  for (poot::int32 at = 0; at < steps; ++at) {
    const std::vector<float> logits = fused.step("decode", at, {token});
    different += !same_bits(logits, apart.step("decode", at, {token}));
    ids.push_back(token = greedy(logits));
  }
  CHECK(different == 0);
  return ids;
}

}  // namespace

TEST_CASE("stories260K tells its story, fused and unfused, byte for byte") {
  if (!have_shared("models/stories260K.bin", "stories260K")) return;
  const std::vector<poot::int32> ids = generate(from_llama2c(open_llama2c(shared_path("models/stories260K.bin"))), 200);
  CHECK(ids == read_ids(shared_path("models/stories260K_greedy_tokens.txt")));
  const std::string text = poot::io::tokenizer(open_llama2c_vocabulary(shared_path("models/tok512.bin"))).decode({ids.data(), ids.size()});
  const std::string begin = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.";
  const std::string end = "Lily didn't want to help her mom, so she";
  CHECK(text.substr(0, begin.size()) == begin);
  CHECK(text.substr(text.size() - end.size()) == end);
  CHECK(text.size() == 464);
}

TEST_CASE("meadow's GGUF files give their recorded ids, fused and unfused") {
  for (const auto& [file, kind] : {std::pair{"meadow.gguf", "f16"}, std::pair{"meadow-q8_0.gguf", "q8_0"}}) {
    CAPTURE(file);
    const std::string folder = "examples/models/meadow/";
    const auto opened = poot::io::gguf::open(folder + file);
    const std::vector<poot::int32> ids = generate(from_gguf(opened), 200);
    CHECK(ids == read_ids(folder + "greedy_" + kind + "_ids.txt"));
    std::string text = poot::io::tokenizer::from_gguf(opened).decode({ids.data(), ids.size()});
    CHECK(text + "\n" == read_file(folder + "greedy_" + kind + ".txt"));
  }
}

TEST_CASE("meadow's safetensors file gives the logits that its README records") {
  if (!have_shared("models/meadow/meadow.safetensors", "meadow.safetensors")) return;
  const auto file = poot::io::safetensors::open(shared_path("models/meadow/meadow.safetensors"));
  const decoder_model m = from_meadow_safetensors(file);
  loaded_model model(m, true, {{"decode", {}}});
  const std::vector<float> logits = model.step("decode", 0, {1});
  // logits.json, step 0, computed in f64 from the file
  const std::pair<int, double> expected[] = {{359, 9.426416}, {347, 9.366599}, {409, 8.782048}, {357, 8.694004}, {354, 8.461362}, {423, 8.417858}};
  for (const auto& [id, value] : expected) CHECK(logits[static_cast<size_t>(id)] == doctest::Approx(value).epsilon(1e-4));
  CHECK(generate(m, 200).size() == 200);
}

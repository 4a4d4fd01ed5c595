// A row's bits depend on nothing beside it: a prompt read whole, in chunks, token by token, or beside other sequences.
#include "decoder_model.hpp"

#include <doctest/doctest.h>

using namespace poot_tests;
using poot::tool::model_step;

namespace {

/// Steps of `chunk` tokens at most, with the logits of every token.
std::vector<float> in_chunks(const decoder_model& m, bool fuse, int threads, const std::vector<poot::int32>& prompt, size_t chunk) {
  model_step one, several;
  one.every_logit = several.every_logit = true;
  several.tokens = 0;
  several.most_tokens = 64;
  loaded_model model(m, fuse, {{"one", one}, {"several", several}}, threads);
  std::vector<float> all;
  for (size_t at = 0; at < prompt.size();) {
    const size_t count = prompt.size() - at < chunk ? prompt.size() - at : chunk;
    const std::vector<poot::int32> part(prompt.begin() + static_cast<std::ptrdiff_t>(at), prompt.begin() + static_cast<std::ptrdiff_t>(at + count));
    const std::vector<float> logits = model.step(count == 1 ? "one" : "several", static_cast<poot::int32>(at), part);
    all.insert(all.end(), logits.begin(), logits.end());
    at += count;
  }
  return all;
}

const std::vector<poot::int32> prompt{1,   359, 302, 306, 261, 274, 259, 287, 477, 471, 467, 274, 301, 436, 263, 266, 347,
                                      434, 432, 325, 261, 428, 466, 481, 366, 337, 415, 468, 459, 469, 269, 474, 264, 262,
                                      335, 321, 470, 339, 338, 312, 465};

void check_chunks(const decoder_model& m) {
  const std::vector<float> whole = in_chunks(m, true, 1, prompt, prompt.size());
  REQUIRE(whole.size() == prompt.size() * static_cast<size_t>(m.config.vocabulary));
  for (const size_t chunk : {1, 3, 16}) {
    CAPTURE(chunk);
    CHECK(same_bits(whole, in_chunks(m, true, 1, prompt, chunk)));
  }
  CHECK(same_bits(whole, in_chunks(m, true, 2, prompt, 16)));
  CHECK(same_bits(whole, in_chunks(m, false, 2, prompt, 3)));
}

}  // namespace

TEST_CASE("a prompt gives the same logits whole, in chunks of 1, 3 and 16, fused and unfused, on one thread and two") {
  for (const char* file : {"meadow.gguf", "meadow-q8_0.gguf"}) {
    CAPTURE(file);
    const auto opened = poot::io::gguf::open(std::string("examples/models/meadow/") + file);
    check_chunks(from_gguf(opened));
  }
  if (have_shared("models/stories260K.bin", "stories260K"))
    check_chunks(from_llama2c(open_llama2c(shared_path("models/stories260K.bin"))));
}

TEST_CASE("a sequence gives the same logits alone and beside others in a batch") {
  const auto opened = poot::io::gguf::open("examples/models/meadow/meadow.gguf");
  const decoder_model m = from_gguf(opened);
  model_step alone, batch;
  alone.every_logit = batch.every_logit = true;
  alone.tokens = batch.tokens = 3;
  batch.sequences = 3;
  loaded_model together(m, true, {{"batch", batch}});
  std::vector<std::unique_ptr<loaded_model>> apart;
  for (int s = 0; s < 3; ++s) apart.push_back(std::make_unique<loaded_model>(m, true, std::initializer_list<std::pair<const char*, model_step>>{{"alone", alone}}));
  for (poot::int32 at = 0; at < 30; at += 3) {
    std::vector<poot::int32> all;
    std::vector<float> expected;
    for (size_t s = 0; s < 3; ++s) {
      std::vector<poot::int32> own;
      for (size_t i = 0; i < 3; ++i) own.push_back(prompt[(static_cast<size_t>(at) + i + 7 * s) % prompt.size()]);
      all.insert(all.end(), own.begin(), own.end());
      const std::vector<float> logits = apart[s]->step("alone", at, own);
      expected.insert(expected.end(), logits.begin(), logits.end());
    }
    CHECK(same_bits(together.step("batch", at, all, 3), expected));
  }
}

TEST_CASE("64 sequences of different lengths in one batch give, token by token, the logits that each gives alone") {
  const auto opened = poot::io::gguf::open("examples/models/meadow/meadow.gguf");
  const decoder_model m = from_gguf(opened);
  constexpr size_t count = 64, steps = 70;
  model_step batch;
  batch.sequences = count;
  loaded_model together(m, true, {{"batch", batch}}, 2);
  // Sequence s begins in step 3s mod 41; every fifth place is taken by another sequence in step 50, over the caches of the first.
  const auto begin_of = [](size_t s, size_t n) { return s % 5 == 0 && n >= 50 ? size_t{50} : 3 * s % 41; };
  const auto token_of = [](size_t s, size_t begin, size_t position) { return static_cast<poot::int32>(3 + (97 * s + 31 * position * position + 7 * begin) % 500); };
  std::vector<std::vector<float>> got(steps);
  for (size_t n = 0; n < steps; ++n) {
    std::vector<poot::int32> starts, tokens;
    for (size_t s = 0; s < count; ++s) {
      const size_t begin = begin_of(s, n), position = n < begin ? 0 : n - begin;
      starts.push_back(static_cast<poot::int32>(position));
      tokens.push_back(token_of(s, begin, position));
    }
    got[n] = together.step("batch", starts, tokens);
  }
  int different = 0, compared = 0;
  for (size_t s = 0; s < count; ++s) {
    std::unique_ptr<loaded_model> alone;
    for (size_t n = 3 * s % 41; n < steps; ++n) {
      const size_t begin = begin_of(s, n);
      if (n == begin) alone = std::make_unique<loaded_model>(m, true, std::initializer_list<std::pair<const char*, model_step>>{{"alone", {}}});
      const std::vector<float> logits = alone->step("alone", static_cast<poot::int32>(n - begin), {token_of(s, begin, n - begin)});
      const auto first = got[n].begin() + static_cast<std::ptrdiff_t>(s * logits.size());
      different += !same_bits(logits, {first, first + static_cast<std::ptrdiff_t>(logits.size())});
      ++compared;
    }
  }
  CHECK(different == 0);
  CHECK(compared > 3000);
}

#include <doctest/doctest.h>

#include <poot/io/tokenizer.hpp>

#include "../../support/file_bytes.hpp"
#include "../../support/llama2c.hpp"

#include <chrono>
#include <cmath>
#include <map>

using namespace poot_tests;
using poot::int32;
using poot::uint64;
using poot::io::gguf;
using poot::io::token_type;
using poot::io::tokenizer;
using poot::io::vocabulary;

namespace {

using ids = std::vector<int32>;
poot::view<int32> seen(const ids& v) { return {v.data(), v.size()}; }

/// <unk> <s> </s>, the 256 bytes where asked, then these pieces.
vocabulary with_pieces(std::vector<std::pair<std::string, float>> pieces, bool bytes = true) {
  vocabulary v;
  v.pieces = {"<unk>", "<s>", "</s>"};
  for (int b = 0; bytes && b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", b);
    v.pieces.push_back(name);
  }
  v.scores.assign(v.pieces.size(), 0);
  for (auto& [piece, score] : pieces) {
    v.pieces.push_back(piece);
    v.scores.push_back(score);
  }
  v.space = "_";
  return v;
}

uint64 random_state = 1;
uint64 next_random() {
  random_state += 0x9e3779b97f4a7c15;
  uint64 z = random_state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// The definition, by looking at all pairs again after each join; for texts of ASCII.
ids encode_by_definition(const vocabulary& v, const std::string& text) {
  std::map<std::string, int32> by_piece;
  for (size_t i = v.pieces.size(); i-- > 259;) by_piece[v.pieces[i]] = static_cast<int32>(i);
  std::vector<std::string> parts;
  for (char c : text.empty() ? text : " " + text) parts.push_back(c == ' ' ? v.space : std::string(1, c));
  for (;;) {
    size_t at = parts.size();
    float score = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = by_piece.find(parts[i] + parts[i + 1]);
      if (found == by_piece.end()) continue;
      const float s = v.scores[static_cast<size_t>(found->second)];
      if (at == parts.size() || s > score) at = i, score = s;
    }
    if (at == parts.size()) break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<long>(at) + 1);
  }
  ids out{1};
  for (const std::string& p : parts) {
    if (const auto found = by_piece.find(p); found != by_piece.end()) out.push_back(found->second);
    else
      for (unsigned char c : p) out.push_back(3 + c);
  }
  return out;
}

}  // namespace

static_assert(poot::io::utf8_length("a") == 1 && poot::io::utf8_length("\xc3\xa9") == 2);
static_assert(poot::io::utf8_length("\xe2\x96\x81") == 3 && poot::io::utf8_length("\xf4\x8f\xbf\xbf") == 4);
static_assert(poot::io::utf8_length("") == 0 && poot::io::utf8_length("\x80") == 0 &&
              poot::io::utf8_length("\xc3") == 0);
static_assert(poot::io::utf8_length("\xc0\x80") == 0 && poot::io::utf8_length("\xe0\x9f\xbf") == 0);  // too long
static_assert(poot::io::utf8_length("\xed\xa0\x80") == 0 && poot::io::utf8_length("\xf4\x90\x80\x80") == 0);

TEST_CASE("joins the best score first, leftmost among equals") {
  const vocabulary v = with_pieces({{"_", -9}, {"a", -9}, {"b", -9}, {"ab", -3}, {"ba", -2}, {"aa", -5}, {"_a", -7}});
  const tokenizer t(v);
  const int32 first = 259, space = first, a = first + 1, b = first + 2, ab = first + 3, ba = first + 4, aa = first + 5;
  CHECK(t.encode("ab", false) == ids{space, ab});
  CHECK(t.encode("aba", false) == ids{first + 6, ba});  // ba before ab, then _a
  CHECK(t.encode("aaa", false) == ids{space, aa, a});
  CHECK(t.encode("b b", false) == ids{space, b, space, b});
  CHECK(t.encode("b") == ids{1, space, b});
}

TEST_CASE("agrees with the definition on random vocabularies and texts") {
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::string, float>> pieces;
    const uint64 letters = 2 + next_random() % 3;
    for (uint64 i = 0; i < letters; ++i)
      if (next_random() % 8) pieces.push_back({std::string(1, static_cast<char>('a' + i)), -50});
    const bool spaces = next_random() % 4;
    if (spaces) pieces.push_back({"_", -50});
    for (uint64 n = next_random() % 40; n-- > 0;) {
      std::string p;
      for (uint64 length = 2 + next_random() % 4; length-- > 0;)
        p += next_random() % 5 ? static_cast<char>('a' + next_random() % letters) : '_';
      pieces.push_back({p, -static_cast<float>(next_random() % 12)});  // equal scores happen
    }
    const vocabulary v = with_pieces(pieces);
    const tokenizer t(v);
    for (int k = 0; k < 8; ++k) {
      std::string text;
      for (uint64 length = next_random() % 60; length-- > 0;)
        text += next_random() % 5 ? static_cast<char>('a' + next_random() % (letters + 1)) : ' ';
      const ids got = t.encode(text);
      REQUIRE(got == encode_by_definition(v, text));
      if (spaces) REQUIRE(t.decode(seen(got)) == text);  // else they are the bytes of what pieces write for them
    }
  }
}

TEST_CASE("what is no piece becomes its bytes, and they decode to themselves") {
  const tokenizer t(with_pieces({{"_", 0}, {"a", 0}}));
  const ids got = t.encode("a\xc3\xa9\n");
  CHECK(got == ids{1, 259, 260, 3 + 0xc3, 3 + 0xa9, 3 + 0x0a});
  CHECK(t.decode(seen(got)) == "a\xc3\xa9\n");
  std::string all;
  for (unsigned c = 1; c < 0x11000; c += 7)
    if (c < 0x80) all += static_cast<char>(c);
    else if (c < 0x800) (all += static_cast<char>(0xc0 | c >> 6)) += static_cast<char>(0x80 | (c & 63));
    else if (c < 0xd800 || (c > 0xdfff && c < 0x10000))
      ((all += static_cast<char>(0xe0 | c >> 12)) += static_cast<char>(0x80 | (c >> 6 & 63))) +=
          static_cast<char>(0x80 | (c & 63));
  all += std::string("\0\xf0\x9f\x98\x80", 5);
  CHECK(t.decode(seen(t.encode(all))) == all);
}

TEST_CASE("without byte pieces a character is unknown, or an error where nothing is") {
  vocabulary v = with_pieces({{"_", 0}}, false);
  CHECK(tokenizer(v).encode("x") == ids{1, 3, 0});
  v.unknown = -1;
  CHECK(contains(message_of([&] { tokenizer(v, "m.gguf").encode("x"); }), "m.gguf: the vocabulary has neither"));
}

TEST_CASE("text cannot spell control tokens or bytes") {
  const tokenizer t(with_pieces({{"_", 0}, {"<", 0}, {"s", 0}, {">", 0}, {"<s", 9}}));
  CHECK(t.encode("<s>", false) == ids{259, 263, 262});
  const ids bytes = t.encode("<0x41>", false);
  CHECK(t.decode(seen(bytes)) == "<0x41>");
}

TEST_CASE("an empty text is only BOS, and spaces survive") {
  const tokenizer t(with_pieces({{"_", 0}, {"__", 1}, {"a", 0}}));
  CHECK(t.encode("") == ids{1});
  CHECK(t.encode("", false).empty());
  for (const char* text : {" ", "  ", " a", "a ", "   a  a "}) {
    CHECK(t.decode(seen(t.encode(text))) == text);
    CHECK(t.decode(seen(t.encode(text, false))) == text);
  }
  vocabulary plain = with_pieces({{"_", 0}, {"a", 0}});
  plain.add_space_prefix = false;
  plain.add_bos = false;
  CHECK(tokenizer(plain).encode(" a") == ids{259, 260});
  CHECK(tokenizer(plain).decode(seen({259, 260})) == " a");
}

TEST_CASE("tokens one by one give the text of the whole") {
  const tokenizer t(with_pieces({{"_", 0}, {"_a", 1}, {"a", 0}}));
  const ids all = {1, 260, 260, 2, 0, 3 + 0x21, 1, 260};
  std::string out;
  for (size_t i = 1; i < all.size(); ++i) t.append(out, all[i], all[i - 1]);
  CHECK(out == "a a!a");
  CHECK(t.decode(seen(all)) == out);
}

TEST_CASE("text that is not UTF-8 is refused with its byte") {
  const tokenizer t(with_pieces({}));
  for (const char* text :
       {"ab\xff", "ab\xc3", "ab\xc3(", "ab\xe2\x96", "ab\xed\xa0\x80", "ab\xc0\x80", "ab\xf5\x80\x80\x80"})
    CHECK(message_of([&] { t.encode(text); }) == "a text to encode is not UTF-8 at byte 2");
}

TEST_CASE("ids outside the vocabulary are refused") {
  const tokenizer t(with_pieces({}), "m.gguf");
  for (int32 id : {-1, 259, 1 << 30, -2147483647 - 1}) {
    CHECK(contains(message_of([&] { t.decode(seen({id})); }),
                   "m.gguf: token id " + std::to_string(id) + " is not in 0 to 258"));
    CHECK_THROWS_AS(t.piece(id), poot::error);
  }
  CHECK(t.piece(258) == "<0xFF>");
}

TEST_CASE("refuses vocabularies that do not hold together") {
  const auto refusal = [](auto change) {
    vocabulary v = with_pieces({{"_", 0}});
    change(v);
    return message_of([&] { tokenizer t(v, "m.gguf"); });
  };
  CHECK(contains(refusal([](auto& v) { v.pieces.clear(); }), "m.gguf: the vocabulary has 0 pieces"));
  CHECK(contains(refusal([](auto& v) { v.scores.pop_back(); }), "260 pieces and 259 scores"));
  CHECK(contains(refusal([](auto& v) { v.types.resize(3, token_type::normal); }), "260 pieces and 3 types"));
  CHECK(contains(refusal([](auto& v) { v.types.resize(260, token_type{7}); }), "has type 7 for piece 0"));
  CHECK(contains(refusal([](auto& v) { v.types.resize(260, token_type{0}); }), "has type 0 for piece 0"));
  CHECK(contains(refusal([](auto& v) { v.types.resize(260, token_type::byte); }), "byte piece 0 that is <unk>"));
  CHECK(contains(refusal([](auto& v) { v.scores[7] = std::nanf(""); }), "no number, for piece 7"));
  CHECK(contains(refusal([](auto& v) { v.bos = 260; }), "bos id 260"));
  CHECK(contains(refusal([](auto& v) { v.eos = -2; }), "eos id -2"));
}

TEST_CASE("a long text takes no quadratic time") {
  std::vector<std::pair<std::string, float>> pieces = {{"_", 0}};
  for (int size = 1; size <= 16; ++size)
    pieces.push_back({std::string(static_cast<size_t>(size), 'a'), static_cast<float>(size)});
  const tokenizer t(with_pieces(pieces));
  const auto begin = std::chrono::steady_clock::now();
  const ids got = t.encode(std::string(1 << 18, 'a'));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(got.size() == 2 + (1 << 14));
  CHECK(seconds < 20);  // 2^18 joins that each looked at all pairs would take minutes
}

TEST_CASE("reads the vocabulary of a GGUF file, and refuses other models") {
  const auto file = [](std::string_view model, poot::uint32 bos, size_t scores) {
    file_bytes f;
    f.gguf_header(0, 5).key("tokenizer.ggml.model", 8).string(model);
    f.key("tokenizer.ggml.tokens", 9).u32(8).u64(4).string("<unk>").string("<s>").string("\xe2\x96\x81").string("a");
    f.key("tokenizer.ggml.scores", 9).u32(6).u64(scores);
    for (size_t i = 0; i < scores; ++i) f.f32(0);
    f.key("tokenizer.ggml.token_type", 9).u32(5).u64(4).u32(2).u32(3).u32(1).u32(1);
    f.key("tokenizer.ggml.bos_token_id", 4).u32(bos);
    return f;
  };
  const auto read = [](const file_bytes& f) { return tokenizer::from_gguf(gguf::parse(f.view(), "m.gguf")); };
  const tokenizer t = read(file("llama", 1, 4));
  CHECK(t.encode("a a") == ids{1, 2, 3, 2, 3});
  CHECK(t.decode(seen({1, 2, 3, 2, 3})) == "a a");
  CHECK(t.bos() == 1);
  CHECK(t.size() == 4);
  CHECK(message_of([&] { read(file("bert", 1, 4)); }) == "m.gguf: tokenizer.ggml.model is bert, and poot encodes llama and gpt2");
  CHECK(contains(message_of([&] { read(file("llama", 4, 4)); }), "tokenizer.ggml.bos_token_id is 4, not in 0 to 3"));
  CHECK(contains(message_of([&] { read(file("llama", 1, 3)); }), "4 pieces and 3 scores"));
}

TEST_CASE("the ids of the Meadow models give their texts") {
  const std::string folder = std::string(POOT_SOURCE_DIR) + "/examples/models/meadow/";
  const struct {
    const char* model;
    std::string name;
  } rows[] = {{"meadow.gguf", "greedy_f16"}, {"meadow-q8_0.gguf", "greedy_q8_0"}};
  for (const auto& [model, name] : rows) {
    const tokenizer t = tokenizer::from_gguf(gguf::open(folder + model));
    const ids all = read_ids(folder + name + "_ids.txt");
    REQUIRE(all.size() == 200);
    const std::string text = get(folder + name + ".txt");
    CHECK(t.decode(seen(all)) + "\n" == text);
    // The model did not have to choose the joins that the encoder makes, but the text comes back.
    CHECK(t.decode(seen(t.encode(text))) == text);
  }
}

TEST_CASE("the ids of stories260K give its text") {
  if (!have_shared("models/tok512.bin", "decoding stories260K")) return;
  const tokenizer t(open_llama2c_vocabulary(shared_path("models/tok512.bin")), "tok512.bin");
  CHECK(t.size() == 512);
  const ids all = read_ids(shared_path("models/stories260K_greedy_tokens.txt"));
  REQUIRE(all.size() == 200);
  const std::string text =
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a "
      "big, red ball. She wanted to play with it, but it was too high.\nLily's mom said, \"Lily, let's go to the "
      "park.\" "
      "Lily was sad and didn't know what to do. She said, \"I want to play with your ball, but I can't find "
      "it.\"\nLily "
      "was sad and didn't know what to do. She said, \"I'm sorry, Lily. I didn't know what to do.\"\nLily didn't want "
      "to "
      "help her mom, so she";
  CHECK(text.size() == 464);
  CHECK(t.decode(seen(all)) == text);
  CHECK(t.decode(seen(t.encode(text))) == text);
}

TEST_CASE("the weights of stories260K fill their file") {
  if (!have_shared("models/stories260K.bin", "reading stories260K")) return;
  const llama2c_model m = open_llama2c(shared_path("models/stories260K.bin"));
  CHECK(m.vocab == 512);
  CHECK(m.kv_dim() == 32);
  CHECK(m.tensors.find("ffn_down")->type == poot::type_of(poot::f32, 5, 64, 172));
  for (int i = 0; i < 64; ++i) CHECK(std::fabs(m.data("output_norm")[i]) < 100);
}

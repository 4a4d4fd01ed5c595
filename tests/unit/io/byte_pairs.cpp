#include <poot/io/tokenizer.hpp>

#include "../../support/draws.hpp"
#include "../../support/file_bytes.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace poot_tests;
using poot::int32;
using poot::uint32;
using namespace poot::io;

namespace {

using ids = std::vector<int32>;
using words = std::vector<std::string>;
poot::view<int32> seen(const ids& v) { return {v.data(), v.size()}; }

std::string letter(unsigned byte) {
  const uint32 code = letter_of_byte(static_cast<poot::uint8>(byte));
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

/// The letters of all bytes in order, so that a byte's id is the byte; then the merges' results, from 256 on.
byte_pair_vocabulary with_merges(const words& merges, split_rule split = split_rule::gpt2) {
  byte_pair_vocabulary v;
  for (unsigned b = 0; b < 256; ++b) v.pieces.push_back(letter(b));
  for (const std::string& m : merges) {
    const size_t space = m.find(' ');
    v.pieces.push_back(m.substr(0, space) + m.substr(space + 1));
  }
  v.merges = merges;
  v.split = split;
  return v;
}

words split(std::string_view text, split_rule rule) {
  words all;
  for (splitter s(text, rule); !s.done();) all.emplace_back(s.next());
  return all;
}

/// The definition, by looking at all pairs again after each join; for one word.
ids encode_by_definition(const byte_pair_vocabulary& v, const std::string& word) {
  std::map<std::string, int32> by_piece;
  for (size_t i = v.pieces.size(); i-- > 0;) by_piece[v.pieces[i]] = static_cast<int32>(i);
  words parts;
  for (unsigned char c : word) parts.push_back(letter(c));
  for (;;) {
    size_t rank = v.merges.size(), at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      for (size_t r = 0; r < rank; ++r)
        if (v.merges[r] == parts[i] + ' ' + parts[i + 1]) rank = r, at = i;
    if (rank == v.merges.size()) break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<long>(at) + 1);
  }
  ids out;
  for (const std::string& p : parts) out.push_back(by_piece.at(p));
  return out;
}

}  // namespace

static_assert(class_of_character('a') == character_class::letter && class_of_character('7') == character_class::number);
static_assert(class_of_character(' ') == character_class::space && class_of_character(0x85) == character_class::space &&
              class_of_character(0x3000) == character_class::space && class_of_character(0x200b) == character_class::other);
static_assert(class_of_character('_') == character_class::other && class_of_character(0) == character_class::other);
static_assert(class_of_character(0xe9) == character_class::letter && class_of_character(0x4e2d) == character_class::letter &&
              class_of_character(0x2164) == character_class::number && class_of_character(0x301) == character_class::other);
static_assert(class_of_character(0x10ffff) == character_class::other && class_of_character(0x3134a) == character_class::letter);
static_assert(utf8_code("a") == 'a' && utf8_code("\xc3\xa9") == 0xe9 && utf8_code("\xe2\x96\x81") == 0x2581 &&
              utf8_code("\xf0\x9f\x98\x80") == 0x1f600);

TEST_CASE("a byte has a letter of its own, and its id decodes to it") {
  const tokenizer t(with_merges({}));
  std::string all;
  for (int b = 0; b < 256; ++b) {
    std::string one;
    t.append(one, b, -1);
    CHECK(one == std::string(1, static_cast<char>(b)));
  }
  CHECK(letter(' ') == "\xc4\xa0");   // Ġ
  CHECK(letter('\n') == "\xc4\x8a");  // Ċ
  const std::string text = "a\xc3\xa9 \xf0\x9f\x98\x80\n";
  ids bytes;
  for (unsigned char c : text) bytes.push_back(c);
  CHECK(t.encode(text) == bytes);
  CHECK(t.decode(seen(bytes)) == text);
}

TEST_CASE("merges join the earliest first, leftmost among equals") {
  const tokenizer t(with_merges({"b c", "a b", "a a", "aa a", "\xc4\xa0 a"}));
  const int32 bc = 256, ab = 257, aa = 258, aaa = 259, space_a = 260;
  CHECK(t.encode("abc") == ids{'a', bc});
  CHECK(t.encode("ab") == ids{ab});
  CHECK(t.encode("aaa") == ids{aaa});
  CHECK(t.encode("aaaa") == ids{aa, aa});  // both pairs join before any three
  CHECK(t.encode("a ab") == ids{'a', ' ', ab});
  CHECK(t.encode("a a") == ids{'a', space_a});
  CHECK(t.encode("a b") == ids{'a', ' ', 'b'});  // no join crosses the end of a word
  CHECK(t.encode("").empty());
}

TEST_CASE("byte pairs agree with the definition on random merges and words") {
  draws random(7);
  for (int round = 0; round < 300; ++round) {
    words known{"a", "b", "c"}, merges;
    for (uint32 n = 0, most = static_cast<uint32>(random.less_than(24)); n < most; ++n) {
      const std::string left = known[random.less_than(known.size())], right = known[random.less_than(known.size())];
      if (left.size() + right.size() > 9) continue;
      merges.push_back(left + ' ' + right);
      known.push_back(left + right);
    }
    for (size_t i = merges.size(); i > 1; --i) std::swap(merges[i - 1], merges[random.less_than(i)]);
    const byte_pair_vocabulary v = with_merges(merges);
    const tokenizer t(v);
    for (int k = 0; k < 8; ++k) {
      std::string word;
      for (uint32 n = 0, most = static_cast<uint32>(random.less_than(40)); n < most; ++n) word += static_cast<char>('a' + random.less_than(3));
      const ids got = t.encode(word);
      REQUIRE(got == encode_by_definition(v, word));
      REQUIRE(t.decode(seen(got)) == word);
    }
  }
}

TEST_CASE("texts split as the rules say") {
  const struct {
    const char* text;
    words gpt2, llama3, qwen2;
  } rows[] = {
      {"", {}, {}, {}},
      {"Hello world", {"Hello", " world"}, {"Hello", " world"}, {"Hello", " world"}},
      {"a  b", {"a", " ", " b"}, {"a", " ", " b"}, {"a", " ", " b"}},
      {"a  ", {"a", "  "}, {"a", "  "}, {"a", "  "}},
      {" 1234", {" 1234"}, {" ", "123", "4"}, {" ", "1", "2", "3", "4"}},
      {"x1y", {"x", "1", "y"}, {"x", "1", "y"}, {"x", "1", "y"}},
      {"it's IT'S", {"it", "'s", " IT", "'", "S"}, {"it", "'s", " IT", "'S"}, {"it", "'s", " IT", "'S"}},
      {"we'll'x", {"we", "'ll", "'", "x"}, {"we", "'ll", "'x"}, {"we", "'ll", "'x"}},
      {"(a) b.\n\nc", {"(", "a", ")", " b", ".", "\n", "\n", "c"}, {"(a", ")", " b", ".\n\n", "c"}, {"(a", ")", " b", ".\n\n", "c"}},
      {"a \n \n  b", {"a", " \n \n ", " b"}, {"a", " \n \n", " ", " b"}, {"a", " \n \n", " ", " b"}},
      {"\tx\r\n", {"\t", "x", "\r\n"}, {"\tx", "\r\n"}, {"\tx", "\r\n"}},
      {"  !!?", {" ", " !!?"}, {" ", " !!?"}, {" ", " !!?"}},
      {"\xc3\xa9t\xc3\xa9\xe3\x80\x80\xe4\xb8\xad", {"\xc3\xa9t\xc3\xa9", "\xe3\x80\x80", "\xe4\xb8\xad"},
       {"\xc3\xa9t\xc3\xa9", "\xe3\x80\x80\xe4\xb8\xad"}, {"\xc3\xa9t\xc3\xa9", "\xe3\x80\x80\xe4\xb8\xad"}},
      {"e\xcc\x81", {"e", "\xcc\x81"}, {"e", "\xcc\x81"}, {"e", "\xcc\x81"}},
      {"'", {"'"}, {"'"}, {"'"}},
      {" '", {" '"}, {" '"}, {" '"}},
  };
  for (const auto& [text, gpt2, llama3, qwen2] : rows) {
    CAPTURE(text);
    CHECK(split(text, split_rule::gpt2) == gpt2);
    CHECK(split(text, split_rule::llama3) == llama3);
    CHECK(split(text, split_rule::qwen2) == qwen2);
  }
}

TEST_CASE("user-defined pieces are taken out of a text first, control tokens never") {
  byte_pair_vocabulary v = with_merges({"a b"});
  v.types.assign(v.pieces.size(), token_type::normal);
  const auto add = [&](const char* piece, token_type type) {
    v.pieces.push_back(piece);
    v.types.push_back(type);
    return static_cast<int32>(v.pieces.size() - 1);
  };
  const int32 end = add("<end>", token_type::control), tab = add("<t>", token_type::user_defined), tabs = add("<t><t>", token_type::user_defined);
  const tokenizer t(v);
  CHECK(t.encode("ab<t>ab") == ids{256, tab, 256});
  CHECK(t.encode("<t><t><t>") == ids{tabs, tab});
  CHECK(t.encode("<end>") == ids{'<', 'e', 'n', 'd', '>'});
  CHECK(t.decode(seen({256, tab, end, 'a'})) == "ab<t>a");
  CHECK(t.find_special("<end>") == end);
  CHECK(t.find_special("<t>") == tab);
  CHECK(t.find_special("a") == -1);
  CHECK(t.find_special("<missing>") == -1);
}

TEST_CASE("a word that is a piece is that piece where the rule says so") {
  byte_pair_vocabulary v = with_merges({"a b"});
  v.pieces.push_back("abc");  // which no merge makes
  CHECK(tokenizer(v).encode("abc") == ids{256, 'c'});
  v.whole_words = true;
  CHECK(tokenizer(v).encode("abc") == ids{257});
  CHECK(tokenizer(v).encode("abcd") == ids{256, 'c', 'd'});
}

TEST_CASE("a byte without a piece is unknown, or an error where nothing is") {
  byte_pair_vocabulary v = with_merges({});
  v.pieces.resize(0x80);
  CHECK(message_of([&] { tokenizer(v, "m.gguf").encode("a\xc3\xa9"); }) ==
        "m.gguf: the vocabulary has no piece for byte 195, and no unknown token");
  v.unknown = 0;
  CHECK(tokenizer(v).encode("a\xc3\xa9") == ids{'a', 0, 0});
}

TEST_CASE("refuses byte-pair vocabularies that do not hold together") {
  const auto refusal = [](auto change) {
    byte_pair_vocabulary v = with_merges({"a b"});
    change(v);
    return message_of([&] { tokenizer t(v, "m.gguf"); });
  };
  CHECK(refusal([](auto& v) { v.merges.push_back("a \xc3\xa9x"); }) ==
        "m.gguf: the vocabulary has merge 1 that is a \xc3\xa9x, not two pieces that join to a third");
  for (const char* merge : {"", " ", "a", "ab", "a c", " a", "a ", "a b c"})
    CHECK(contains(refusal([&](auto& v) { v.merges[0] = merge; }), "has merge 0 that is"));
  CHECK(contains(refusal([](auto& v) { v.bos = 257; }), "bos id 257"));
  CHECK(contains(refusal([](auto& v) { v.types.resize(3, token_type::normal); }), "257 pieces and 3 types"));
}

TEST_CASE("a long word takes no quadratic time") {
  words merges;
  for (std::string piece = "a"; piece.size() < 16; piece += piece) merges.push_back(piece + ' ' + piece);
  const ids got = tokenizer(with_merges(merges)).encode(std::string(1 << 18, 'a'));  // looking at all pairs would take hours
  CHECK(got == ids(1 << 14, 259));
}

TEST_CASE("reads byte pairs of a GGUF file, and refuses what it does not know") {
  const auto file = [](std::string_view pre, std::string_view merge) {
    file_bytes f;
    f.gguf_header(0, pre.empty() ? 5 : 6).key("tokenizer.ggml.model", 8).string("gpt2");
    if (!pre.empty()) f.key("tokenizer.ggml.pre", 8).string(pre);
    f.key("tokenizer.ggml.tokens", 9).u32(8).u64(5).string("<s>").string("a").string("b").string("ab").string("1");
    f.key("tokenizer.ggml.merges", 9).u32(8).u64(1).string(merge);
    f.key("tokenizer.ggml.token_type", 9).u32(5).u64(5).u32(3).u32(1).u32(1).u32(1).u32(1);
    f.key("tokenizer.ggml.bos_token_id", 4).u32(0);
    return f;
  };
  const auto read = [](const file_bytes& f) { return tokenizer::from_gguf(gguf::parse(f.view(), "m.gguf")); };
  for (const char* pre : {"", "default", "gpt-2", "qwen2"}) CHECK(read(file(pre, "a b")).encode("ab1b") == ids{3, 4, 2});
  CHECK(read(file("llama-bpe", "a b")).encode("ab") == ids{0, 3});  // its models begin with BOS
  CHECK(read(file("llama-bpe", "a b")).bos() == 0);
  CHECK(message_of([&] { read(file("tekken", "a b")); }) ==
        "m.gguf: tokenizer.ggml.pre is tekken, and poot splits texts as default, gpt-2, llama-bpe, qwen2");
  CHECK(contains(message_of([&] { read(file("gpt-2", "b a")); }), "m.gguf: the vocabulary has merge 0 that is b a"));
  file_bytes none;
  none.gguf_header(0, 2).key("tokenizer.ggml.model", 8).string("gpt2").key("tokenizer.ggml.tokens", 9).u32(8).u64(1).string("a");
  CHECK(message_of([&] { read(none); }) == "m.gguf: there is no key tokenizer.ggml.merges");
}

TEST_CASE("texts of qwen2 are composed first, between the pieces that users defined") {
  const auto read = [](std::string_view pre) {
    const std::string_view bytes = "\xc3\xa9" "e\xcc\x81";
    file_bytes f;
    f.gguf_header(0, 5).key("tokenizer.ggml.model", 8).string("gpt2").key("tokenizer.ggml.pre", 8).string(pre);
    f.key("tokenizer.ggml.tokens", 9).u32(8).u64(6).string("oe\u0301");
    for (unsigned char byte : bytes) {
      std::string letter;
      append_utf8(letter, letter_of_byte(byte));
      f.string(letter);
    }
    f.key("tokenizer.ggml.merges", 9).u32(8).u64(0);
    f.key("tokenizer.ggml.token_type", 9).u32(5).u64(6).u32(4).u32(1).u32(1).u32(1).u32(1).u32(1);
    return tokenizer::from_gguf(gguf::parse(f.view(), "m.gguf"));
  };
  CHECK(read("qwen2").encode("\u00e9") == ids{1, 2});
  CHECK(read("qwen2").encode("e\u0301") == ids{1, 2});
  CHECK(read("gpt-2").encode("e\u0301") == ids{3, 4, 5});
  CHECK(read("qwen2").encode("e\u0301oe\u0301e\u0301") == ids{1, 2, 0, 1, 2});
}

TEST_CASE("text that comes in pieces leaves in whole characters") {
  const std::string text = "a\xc3\xa9\xe2\x96\x81\xf0\x9f\x98\x80z";
  for (size_t size = 1; size <= text.size(); ++size) {
    character_stream s;
    std::string out;
    for (size_t at = 0; at < text.size(); at += size) {
      const std::string now = s.put(std::string_view(text).substr(at, size));
      for (size_t i = 0; i < now.size(); i += utf8_length(std::string_view(now).substr(i))) REQUIRE(utf8_length(std::string_view(now).substr(i)) > 0);
      out += now;
    }
    CHECK(out + s.finish() == text);
  }
  const std::string wrong = "\xef\xbf\xbd";
  character_stream s;
  CHECK(s.put("\xff" "a\x80") == wrong + "a" + wrong);
  CHECK(s.put("\xf0\x9f") == "");
  CHECK(s.put("b") == wrong + wrong + "b");  // bytes that did not become a character
  CHECK(s.put("\xed\xa0") == wrong + wrong);  // half of a surrogate is the begin of none
  CHECK(s.put("\xe2\x96") == "");
  CHECK(s.finish() == wrong);
  CHECK(s.finish() == "");
}

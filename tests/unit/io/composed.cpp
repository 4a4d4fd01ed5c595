#include <doctest/doctest.h>

#include <poot/io/tokenizer/composed.hpp>

#include <iterator>

using poot::uint32;
using poot::uint64;
using poot::io::append_utf8;
using poot::io::composed;

namespace {

/// FNV-1a of texts in Form C, each with a line break behind it; the sums below are of Python's unicodedata.normalize.
struct sum {
  uint64 hash = 14695981039346656037u;
  void add(const std::string& text) {
    for (unsigned char byte : composed(text) + '\n') hash = (hash ^ byte) * 1099511628211u;
  }
};

}  // namespace

TEST_CASE("letters and marks become one character where there is one") {
  CHECK(composed("") == "");
  CHECK(composed("plain, caf\u00e9") == "plain, caf\u00e9");
  CHECK(composed("cafe\u0301") == "caf\u00e9");
  CHECK(composed("e\u0323\u0302") == "\u1ec7");              // in the order of classes
  CHECK(composed("e\u0302\u0323") == "\u1ec7");              // or not
  CHECK(composed("a\u0315\u0300\u05ae\u0300b") == "\u00e0\u05ae\u0300\u0315b");  // a mark of one class holds up the next
  CHECK(composed("\u212b\u2126") == "\u00c5\u03a9");         // other characters stand for these
  CHECK(composed("\u0958") == "\u0915\u093c");               // excluded: stays two
  CHECK(composed("\u0344") == "\u0308\u0301");
  CHECK(composed("\u0301e") == "\u0301e");                   // a mark without a letter
  CHECK(composed("\u1112\u1161\u11ab\u1100\u1173\u11af") == "\ud55c\uae00");  // Hangul
  CHECK(composed("\ud558\u11ab") == "\ud55c");
  CHECK(composed("\u4f60\u597d\uf900") == "\u4f60\u597d\u8c48");
  CHECK(composed(composed("\u1e9b\u0323")) == composed("\u1e9b\u0323"));
}

TEST_CASE("every character, alone and under marks, is what Unicode 14 says") {
  sum all;
  for (uint32 code = 1; code < 0x110000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string s = "a";
    append_utf8(s, code);
    all.add(s + "\u0323\u0301");
  }
  CHECK(all.hash == 0x2af2b26f1d6cd381u);
}

TEST_CASE("runs of letters, marks, jamos and syllables are what Unicode 14 says") {
  constexpr uint32 ranges[][2] = {{0x41, 0x5a},     {0x61, 0x7a},     {0xc0, 0x17f},    {0x300, 0x345},   {0x300, 0x345},
                                  {0x391, 0x3c9},   {0x5b0, 0x5ea},   {0x900, 0x9df},   {0xb00, 0xbd7},   {0x1100, 0x1112},
                                  {0x1161, 0x1175}, {0x11a7, 0x11c2}, {0xac00, 0xd7a3}, {0x1e00, 0x1fff}, {0x3041, 0x30ff},
                                  {0xf900, 0xfad9}, {0x1d15e, 0x1d1c0}, {0x11099, 0x110bb}, {0x2f800, 0x2fa1d}, {0x2100, 0x22ff}};
  uint64 state = 1;
  const auto below = [&](uint64 n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32>((state >> 33) % n);
  };
  sum all;
  for (int i = 0; i < 20000; ++i) {
    std::string s;
    const uint32 count = 1 + below(8);
    for (uint32 k = 0; k < count; ++k) {
      const auto& [first, last] = ranges[below(std::size(ranges))];
      append_utf8(s, first + below(last - first + 1));
    }
    all.add(s);
  }
  CHECK(all.hash == 0xb4924917f79992ccu);
}

TEST_CASE("a long run of marks takes no longer than its length asks for") {
  std::string s = "a";
  for (int i = 0; i < 100000; ++i) s += i % 2 ? "\u0323" : "\u0301";
  const std::string one = composed(s);
  CHECK(one.substr(0, 5) == "\u1ea1\u0323");
  CHECK(one.size() == s.size());  // U+1EA1 takes three bytes, as `a` and a mark do
}

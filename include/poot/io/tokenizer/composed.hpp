#pragma once
/// Text in which letters and their marks are one character where there is one: Normalization Form C of Unicode (its Standard
/// Annex #15).

#include <poot/io/tokenizer/canonical_tables.hpp>
#include <poot/io/tokenizer/utf8.hpp>

#include <algorithm>
#include <vector>

namespace poot::io {

namespace detail {

/// Syllables of Hangul are made of jamos by arithmetic: a leading one, a vowel, and none or one that trails.
struct hangul {
  static constexpr uint32 syllables = 0xac00, leads = 0x1100, vowels = 0x1161, trails = 0x11a7;  // (the first trail is none)
  static constexpr uint32 lead_count = 19, vowel_count = 21, trail_count = 28;
  static constexpr uint32 count = lead_count * vowel_count * trail_count;
};

inline uint32 combining_class(uint32 code) {
  const auto after = std::upper_bound(std::begin(combining_changes), std::end(combining_changes), code << 8 | 0xff);
  return after == std::begin(combining_changes) ? 0 : *(after - 1) & 0xff;
}

/// The pairs as rows, by code or by what they are made of.
class pair_table {
 public:
  struct pair {
    uint32 code, first, second;
  };
  static const pair_table& get() {
    static const pair_table made;
    return made;
  }
  const pair* find(uint32 code) const {
    const auto at = std::lower_bound(by_code_.begin(), by_code_.end(), code, [](const pair& p, uint32 c) { return p.code < c; });
    return at == by_code_.end() || at->code != code ? nullptr : &*at;
  }
  /// What two characters become; 0: they stay two.
  uint32 find(uint32 first, uint32 second) const {
    const auto at = std::lower_bound(by_parts_.begin(), by_parts_.end(), key(first, second), [](const pair& p, uint64 k) { return key(p.first, p.second) < k; });
    return at == by_parts_.end() || at->first != first || at->second != second ? 0 : at->code;
  }

 private:
  static uint64 key(uint32 first, uint32 second) { return uint64{first} << 32 | second; }
  pair_table() {
    for (size_t i = 0; i < std::size(canonical_pairs); i += 3) {
      const pair p{canonical_pairs[i] & 0x7fffffff, canonical_pairs[i + 1], canonical_pairs[i + 2]};
      by_code_.push_back(p);
      if (p.code == canonical_pairs[i]) by_parts_.push_back(p);
    }
    std::sort(by_code_.begin(), by_code_.end(), [](const pair& a, const pair& b) { return a.code < b.code; });
    std::sort(by_parts_.begin(), by_parts_.end(), [](const pair& a, const pair& b) { return key(a.first, a.second) < key(b.first, b.second); });
  }
  std::vector<pair> by_code_, by_parts_;
};

/// Appends what a character is made of in the end.
inline void append_parts(std::vector<uint32>& out, uint32 code) {
  using h = hangul;
  if (const uint32 s = code - h::syllables; s < h::count) {
    out.push_back(h::leads + s / (h::vowel_count * h::trail_count));
    out.push_back(h::vowels + s / h::trail_count % h::vowel_count);
    if (s % h::trail_count) out.push_back(h::trails + s % h::trail_count);
    return;
  }
  if (const pair_table::pair* p = pair_table::get().find(code)) {
    append_parts(out, p->first);
    return append_parts(out, p->second);
  }
  size_t low = 0, high = std::size(canonical_singles) / 2;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (canonical_singles[2 * middle] < code) low = middle + 1;
    else high = middle;
  }
  const bool is_single = 2 * low < std::size(canonical_singles) && canonical_singles[2 * low] == code;
  if (is_single) append_parts(out, canonical_singles[2 * low + 1]);
  else out.push_back(code);
}

/// What two characters become; 0: they stay two.
inline uint32 united(uint32 first, uint32 second) {
  using h = hangul;
  const uint32 lead = first - h::leads, vowel = second - h::vowels, syllable = first - h::syllables, trail = second - h::trails;
  if (lead < h::lead_count && vowel < h::vowel_count) return h::syllables + (lead * h::vowel_count + vowel) * h::trail_count;
  if (syllable < h::count && syllable % h::trail_count == 0 && trail - 1 < h::trail_count - 1) return first + trail;
  return pair_table::get().find(first, second);
}

/// Sorts each run of marks by their classes; those of one class keep their order.
inline void order_marks(std::vector<uint32>& codes) {
  std::vector<std::pair<uint64, uint32>> run;  // class · 2^32 + place, code
  for (size_t i = 0; i < codes.size();) {
    run.clear();
    for (uint32 c = 0; i < codes.size() && (c = combining_class(codes[i])) != 0; ++i) run.push_back({uint64{c} << 32 | run.size(), codes[i]});
    std::sort(run.begin(), run.end());
    for (size_t k = 0; k < run.size(); ++k) codes[i - run.size() + k] = run[k].second;
    if (run.empty()) ++i;
  }
}

}  // namespace detail

/// The text, which must be UTF-8, in Form C. n bytes take n log n steps.
inline std::string composed(std::string_view chars) {
  const auto is_far = [](char c) { return static_cast<unsigned char>(c) >= 0xcc; };  // begins a character from U+0300 on
  if (std::none_of(chars.begin(), chars.end(), is_far)) return std::string(chars);
  std::vector<uint32> codes;
  for (size_t at = 0; at < chars.size();) {
    const size_t length = utf8_length(chars.substr(at));
    detail::append_parts(codes, utf8_code(chars.substr(at, length)));
    at += length;
  }
  detail::order_marks(codes);
  constexpr size_t none = ~size_t{0};
  size_t made = 0, base = none;  // the last character of class 0 among those that were made
  uint32 before = 0;             // class of the character that was made last
  for (uint32 code : codes) {
    const uint32 own = detail::combining_class(code);
    if (base != none && (base + 1 == made || before < own))
      if (const uint32 one = detail::united(codes[base], code)) {
        codes[base] = one;
        continue;
      }
    if (own == 0) base = made;
    before = own;
    codes[made++] = code;
  }
  std::string out;
  for (size_t i = 0; i < made; ++i) append_utf8(out, codes[i]);
  return out;
}

}  // namespace poot::io

#pragma once
/// Byte-pair encoding in the manner of GPT-2 (GGUF's "gpt2"): bytes are joined by an ordered list of merges.

#include <poot/io/tokenizer/composed.hpp>
#include <poot/io/tokenizer/joining.hpp>
#include <poot/io/tokenizer/piece_table.hpp>
#include <poot/io/tokenizer/split.hpp>

namespace poot::io {

/// Pieces by token id, spelt in letters that each stand for a byte: those of '!' to '~', 0xA1 to 0xAC and 0xAE to 0xFF are
/// the characters of these codes, and the other bytes, in their order, are U+0100 and what follows. A user-defined piece is
/// spelt as it is.
struct byte_pair_vocabulary {
  std::vector<std::string> pieces;
  std::vector<std::string> merges;  ///< two pieces with a space between them; an earlier merge comes first
  std::vector<token_type> types{};  ///< empty: every piece is normal
  split_rule split = split_rule::gpt2;
  bool composed = false;     ///< a text is brought to Normalization Form C, between user-defined pieces
  bool whole_words = false;  ///< a word that is a piece is that piece, whatever the merges make of it
  int32 bos = -1, eos = -1, unknown = -1;  ///< -1 where there is none
  bool add_bos = false;
};

/// The letter that stands for a byte.
constexpr uint32 letter_of_byte(uint8 byte) {
  const auto is_own = [](uint32 b) { return (b > 0x20 && b < 0x7f) || (b > 0xa0 && b != 0xad); };
  if (is_own(byte)) return byte;
  uint32 before = 0;
  for (uint32 b = 0; b < byte; ++b) before += !is_own(b);
  return 256 + before;
}

/// Encodes each word of a text by joining neighbours, the earliest merge first and leftmost among equals, until no merge
/// is left. Where user-defined pieces match, the longest at the leftmost place is taken out of the text first. n bytes
/// take n log n steps.
class byte_pairs {
 public:
  byte_pairs(byte_pair_vocabulary v, std::string_view file)
      : table_(std::move(v.pieces), std::move(v.types), {v.bos, v.eos, v.unknown}, file), split_(v.split), composed_(v.composed), whole_words_(v.whole_words) {
    for (int32& byte : bytes_of_letters_) byte = -1;
    for (uint32 b = 0; b < 256; ++b) {
      const uint32 letter = letter_of_byte(static_cast<uint8>(b));
      append_utf8(letters_[b], letter);
      bytes_of_letters_[letter] = static_cast<int32>(b);
      letter_ids_[b] = table_.find(letters_[b]);
    }
    for (int32 id = 0; id < table_.size(); ++id)
      if (table_.type(id) == token_type::user_defined && !table_[id].empty()) defined_.push_back(id);
    std::sort(defined_.begin(), defined_.end(), [&](int32 a, int32 b) {  // by first byte, the longest first
      const std::string_view l = table_[a], r = table_[b];
      return l[0] != r[0] ? l[0] < r[0] : l.size() != r.size() ? l.size() > r.size() : a < b;
    });
    if (v.merges.size() > 0x7fffffff) table_.refuse(text{} << "has " << v.merges.size() << " merges");
    for (size_t rank = 0; rank < v.merges.size(); ++rank) enter(v.merges[rank], static_cast<uint32>(rank));
    std::sort(merges_.begin(), merges_.end(), [](const merge& a, const merge& b) { return a.parts != b.parts ? a.parts < b.parts : a.rank < b.rank; });
  }

  const piece_table& pieces() const { return table_; }

  /// Appends the ids of a text, which must be UTF-8.
  void encode(std::vector<int32>& ids, std::string_view chars) const {
    size_t from = 0;
    for (size_t at = 0; at < chars.size();) {
      const int32 id = defined_at(chars.substr(at));
      if (id < 0) {
        ++at;
        continue;
      }
      encode_words(ids, chars.substr(from, at - from));
      ids.push_back(id);
      from = at += table_[id].size();
    }
    encode_words(ids, chars.substr(from));
  }

  /// Appends the bytes of a token: what its letters stand for, or its piece as it is where that has others.
  void append(std::string& out, int32 id) const {
    const std::string_view p = table_[id];
    if (table_.type(id) == token_type::user_defined) out += p;
    if (table_.type(id) != token_type::normal) return;
    const size_t before = out.size();
    for (size_t at = 0; at < p.size();) {
      const size_t length = utf8_length(p.substr(at));
      const uint32 letter = length ? utf8_code(p.substr(at, length)) : ~uint32{0};
      const int32 byte = letter < std::size(bytes_of_letters_) ? bytes_of_letters_[letter] : -1;
      if (byte < 0) {
        out.resize(before);
        out += p;
        return;
      }
      out += static_cast<char>(byte);
      at += length;
    }
  }

 private:
  struct merge {
    uint64 parts;  // ids, left · 2^32 + right
    uint32 rank;
    int32 result;
  };
  struct symbol {
    int32 id;  // -1 once joined to the left
    uint32 previous, next;
  };
  struct candidate {
    uint32 rank, left, right;
    int32 result;
    uint64 parts;  // when they met: others say that one has since been joined elsewhere
    bool operator<(const candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };

  static uint64 parts_of(int32 left, int32 right) { return uint64{static_cast<uint32>(left)} << 32 | static_cast<uint32>(right); }

  void enter(std::string_view spelt, uint32 rank) {
    const size_t space = spelt.find(' ', 1);
    const int32 left = space == spelt.npos ? -1 : table_.find(spelt.substr(0, space));
    const int32 right = space == spelt.npos ? -1 : table_.find(spelt.substr(space + 1));
    const int32 result = left < 0 || right < 0 ? -1 : table_.find((std::string(table_[left]) += table_[right]));
    if (result < 0)
      table_.refuse(text{} << "has merge " << rank << " that is " << shown(spelt) << ", not two pieces that join to a third");
    merges_.push_back({parts_of(left, right), rank, result});
  }

  /// The longest user-defined piece at the front of a text, or -1.
  int32 defined_at(std::string_view chars) const {
    auto at = std::lower_bound(defined_.begin(), defined_.end(), chars[0], [&](int32 id, char first) { return table_[id][0] < first; });
    for (; at != defined_.end() && table_[*at][0] == chars[0]; ++at)
      if (chars.starts_with(table_[*at])) return *at;
    return -1;
  }

  void encode_words(std::vector<int32>& ids, std::string_view chars) const {
    const std::string normal = composed_ ? composed(chars) : std::string();
    for (splitter words(composed_ ? normal : chars, split_); !words.done();) encode_word(ids, words.next());
  }

  void encode_word(std::vector<int32>& ids, std::string_view word) const {
    if (whole_words_) {
      std::string spelt;
      for (unsigned char byte : word) spelt += letters_[byte];
      if (const int32 id = table_.find(spelt); id >= 0) return ids.push_back(id);
    }
    std::vector<symbol> symbols;
    for (unsigned char byte : word) {
      const int32 known = letter_ids_[byte], id = known >= 0 ? known : table_.special().unknown;
      if (id < 0) table_.refuse(text{} << "has no piece for byte " << static_cast<uint32>(byte) << ", and no unknown token");
      const auto at = static_cast<uint32>(symbols.size());
      symbols.push_back({id, at - 1, at + 1});
    }
    join(symbols);
    for (uint32 i = 0; i < symbols.size(); i = symbols[i].next) ids.push_back(symbols[i].id);
  }

  void join(std::vector<symbol>& symbols) const {
    const auto meets = [this](const symbol& left, const symbol& right, candidate& c) {
      c.parts = parts_of(left.id, right.id);
      const auto at = std::lower_bound(merges_.begin(), merges_.end(), c.parts, [](const merge& m, uint64 wanted) { return m.parts < wanted; });
      if (at == merges_.end() || at->parts != c.parts) return false;
      c.rank = at->rank;
      c.result = at->result;
      return true;
    };
    const auto still_there = [](const symbol& left, const symbol& right, const candidate& c) {
      return left.id >= 0 && right.id >= 0 && parts_of(left.id, right.id) == c.parts;
    };
    const auto unite = [](symbol& left, symbol& right, const candidate& c) {
      left.id = c.result;
      right.id = -1;
    };
    join_best_first<candidate>(symbols, meets, still_there, unite);
  }

  piece_table table_;
  split_rule split_;
  bool composed_, whole_words_;
  std::vector<merge> merges_;    // by parts
  std::vector<int32> defined_;   // user-defined pieces
  std::string letters_[256];     // of bytes, in UTF-8
  int32 letter_ids_[256];        // of bytes
  int32 bytes_of_letters_[324];  // by code; -1 where it stands for none
};

static_assert(letter_of_byte('!') == '!' && letter_of_byte(' ') == 0x120 && letter_of_byte('\n') == 0x10a && letter_of_byte(0xad) == 323);

}  // namespace poot::io

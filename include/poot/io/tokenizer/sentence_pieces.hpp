#pragma once
/// Byte-pair encoding in the manner of SentencePiece (GGUF's "llama"): neighbours are joined where that makes a piece.

#include <poot/core/ieee.hpp>
#include <poot/io/tokenizer/joining.hpp>
#include <poot/io/tokenizer/piece_table.hpp>
#include <poot/io/tokenizer/utf8.hpp>

namespace poot::io {

/// Pieces by token id, with their scores: of two joins the one whose result scores higher comes first.
struct vocabulary {
  std::vector<std::string> pieces;
  std::vector<float> scores;
  /// Empty: `<0x41>` is a byte, bos, eos and unknown are what their names say, and the rest is normal.
  std::vector<token_type> types{};
  int32 bos = 1, eos = 2, unknown = 0;  ///< -1 where there is none
  bool add_bos = true;
  bool add_space_prefix = true;  ///< a text begins with a space that was not written, and that decoding drops
  std::string space = "\xe2\x96\x81";  ///< how pieces spell a space: U+2581 in GGUF
};

/// Encodes by joining neighbours, best score first and leftmost among equals, until no join is a piece; a character
/// that is no piece becomes its bytes. n characters take n log n steps.
class sentence_pieces {
 public:
  sentence_pieces(vocabulary v, std::string_view file)
      : table_(std::move(v.pieces), std::move(v.types), {v.bos, v.eos, v.unknown}, file), scores_(std::move(v.scores)),
        space_(std::move(v.space)), add_space_prefix_(v.add_space_prefix) {
    if (scores_.size() != static_cast<size_t>(table_.size()))
      table_.refuse(text{} << "has " << table_.size() << " pieces and " << scores_.size() << " scores");
    for (int32& id : byte_ids_) id = -1;
    for (int32 id = 0; id < table_.size(); ++id) {
      if (ieee::is_nan(score(id))) table_.refuse(text{} << "has a score that is no number, for piece " << id);
      if (table_.type(id) != token_type::byte) continue;
      const int byte = byte_of(table_[id]);
      if (byte < 0)
        table_.refuse(text{} << "has a byte piece " << id << " that is " << shown(table_[id]) << ", not <0x00> to <0xFF>");
      if (byte_ids_[byte] < 0) byte_ids_[byte] = id;
    }
  }

  /// What pieces are where no types are given.
  static std::vector<token_type> inferred_types(const vocabulary& v) {
    std::vector<token_type> types;
    for (size_t i = 0; i < v.pieces.size(); ++i) {
      const auto id = static_cast<int32>(i);
      types.push_back(id == v.bos || id == v.eos      ? token_type::control
                      : id == v.unknown               ? token_type::unknown
                      : byte_of(v.pieces[i]) >= 0 ? token_type::byte
                                                      : token_type::normal);
    }
    return types;
  }

  const piece_table& pieces() const { return table_; }

  /// Appends the ids of a text, which must be UTF-8.
  void encode(std::vector<int32>& ids, std::string_view chars) const {
    if (chars.empty()) return;
    std::string spelt;  // with spaces as the pieces have them
    std::vector<symbol> symbols;
    const auto add = [&](std::string_view s) {
      const auto at = static_cast<uint32>(symbols.size());
      symbols.push_back({static_cast<uint32>(spelt.size()), static_cast<uint32>(s.size()), at - 1, at + 1});
      spelt += s;
    };
    if (add_space_prefix_) add(space_);
    for (size_t at = 0; at < chars.size();) {
      const size_t length = utf8_length(chars.substr(at));
      add(chars[at] == ' ' ? std::string_view(space_) : chars.substr(at, length));
      at += length;
    }
    join(spelt, symbols);
    for (uint32 i = 0; i < symbols.size(); i = symbols[i].next)
      append_ids(ids, std::string_view(spelt).substr(symbols[i].first, symbols[i].size));
  }

  /// Appends the bytes of a token, given the token before it.
  void append(std::string& out, int32 id, int32 before) const {
    const std::string_view p = table_[id];
    switch (table_.type(id)) {
      case token_type::byte: out += static_cast<char>(byte_of(p)); return;
      case token_type::normal:
      case token_type::user_defined: break;
      default: return;
    }
    size_t at = 0;
    if (before == table_.special().bos && add_space_prefix_ && p.starts_with(space_)) at = space_.size();
    while (at < p.size()) {
      if (!space_.empty() && p.substr(at).starts_with(space_)) {
        out += ' ';
        at += space_.size();
      } else {
        out += p[at++];
      }
    }
  }

 private:
  struct symbol {
    uint32 first, size;  // bytes of the spelt text; size 0 once joined to the left
    uint32 previous, next;
  };
  struct candidate {
    float score;
    uint32 left, right;  // symbols
    uint32 size;  // of both when they met: another size says that one has since been joined elsewhere
    bool operator<(const candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  float score(int32 id) const { return scores_[static_cast<size_t>(id)]; }

  /// The byte that `<0x41>` means, or -1.
  static int byte_of(std::string_view p) {
    if (p.size() != 6 || !p.starts_with("<0x") || p[5] != '>') return -1;
    int value = 0;
    for (char c : p.substr(3, 2)) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  void join(std::string_view spelt, std::vector<symbol>& symbols) const {
    const auto meets = [this, spelt](const symbol& left, const symbol& right, candidate& c) {
      c.size = left.size + right.size;
      const int32 id = table_.find(spelt.substr(left.first, c.size));
      if (id < 0) return false;
      c.score = score(id);
      return true;
    };
    const auto still_there = [](const symbol& left, const symbol& right, const candidate& c) {
      return left.size != 0 && right.size != 0 && left.size + right.size == c.size;
    };
    const auto unite = [](symbol& left, symbol& right, const candidate& c) {
      left.size = c.size;
      right.size = 0;
    };
    join_best_first<candidate>(symbols, meets, still_there, unite);
  }

  void append_ids(std::vector<int32>& ids, std::string_view s) const {
    int32 id = table_.find(s);
    bool spelt_by_bytes = id < 0;
    for (unsigned char byte : s)
      if (byte_ids_[byte] < 0) spelt_by_bytes = false;
    if (spelt_by_bytes) {
      for (unsigned char byte : s) ids.push_back(byte_ids_[byte]);
      return;
    }
    if (id < 0) id = table_.special().unknown;
    if (id < 0)
      table_.refuse(text{} << "has neither pieces nor bytes for " << shown(s) << ", and no unknown token");
    ids.push_back(id);
  }

  piece_table table_;
  std::vector<float> scores_;
  std::string space_;
  bool add_space_prefix_;
  int32 byte_ids_[256];
};

}  // namespace poot::io

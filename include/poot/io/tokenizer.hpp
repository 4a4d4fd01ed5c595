#pragma once
/// Text to token ids and back, for byte-pair vocabularies in the manner of SentencePiece (GGUF's "llama").

#include <poot/core/ieee.hpp>
#include <poot/io/gguf.hpp>

namespace poot::io {

/// What a piece is, in the numbering of GGUF.
enum class token_type : int32 { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

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

/// Bytes of the UTF-8 character at the front of `s`; 0 where none begins. Surrogates, characters beyond U+10FFFF and
/// spellings longer than need be are none.
constexpr size_t utf8_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned lead = byte(0), second = byte(1);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length > s.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                     (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

/// Encodes by joining neighbours, best score first and leftmost among equals, until no join is a piece; a character
/// that is no piece becomes its bytes. n characters take n log n steps. Only normal and user-defined pieces match text,
/// so no text can spell a control token; of equal pieces the first counts.
class tokenizer {
 public:
  /// `file` names the vocabulary in errors.
  explicit tokenizer(vocabulary v, std::string_view file = "vocabulary") : v_(std::move(v)), file_(file) {
    const size_t count = v_.pieces.size();
    if (count == 0 || count > 0x7fffffff) refuse(text{} << "has " << count << " pieces");
    if (v_.scores.size() != count) refuse(text{} << "has " << count << " pieces and " << v_.scores.size() << " scores");
    check_id("bos", v_.bos);
    check_id("eos", v_.eos);
    check_id("unknown", v_.unknown);
    if (v_.types.empty()) infer_types();
    if (v_.types.size() != count) refuse(text{} << "has " << count << " pieces and " << v_.types.size() << " types");
    for (int32& id : byte_ids_) id = -1;
    for (size_t i = 0; i < count; ++i) enter(static_cast<int32>(i));
    std::sort(by_piece_.begin(), by_piece_.end(), [&](int32 a, int32 b) {
      const int order = piece_of(a).compare(piece_of(b));
      return order != 0 ? order < 0 : a < b;
    });
  }

  /// The vocabulary of a model whose `tokenizer.ggml.model` is "llama".
  static tokenizer from_gguf(const gguf& g) {
    const auto model = g.get<std::string_view>("tokenizer.ggml.model");
    if (model != "llama")
      fail(text{} << g.file() << ": tokenizer.ggml.model is " << shown(model) << ", and poot encodes llama only");
    vocabulary v;
    for (std::string_view piece : g.list<std::string_view>("tokenizer.ggml.tokens")) v.pieces.emplace_back(piece);
    v.scores = g.list<float>("tokenizer.ggml.scores");
    if (g.find_key("tokenizer.ggml.token_type"))
      for (int32 type : g.list<int32>("tokenizer.ggml.token_type")) v.types.push_back(static_cast<token_type>(type));
    const int64 last = static_cast<int64>(v.pieces.size()) - 1;
    const auto id = [&](std::string_view key, int32 usual) -> int32 {
      if (g.find_key(key)) return static_cast<int32>(g.integer(key, 0, last));
      return usual <= last ? usual : -1;
    };
    v.bos = id("tokenizer.ggml.bos_token_id", v.bos);
    v.eos = id("tokenizer.ggml.eos_token_id", v.eos);
    v.unknown = id("tokenizer.ggml.unknown_token_id", v.unknown);
    v.add_bos = g.get<bool>("tokenizer.ggml.add_bos_token", true);
    v.add_space_prefix = g.get<bool>("tokenizer.ggml.add_space_prefix", true);
    return tokenizer(std::move(v), g.file());
  }

  int32 size() const { return static_cast<int32>(v_.pieces.size()); }
  int32 bos() const { return v_.bos; }
  int32 eos() const { return v_.eos; }
  std::string_view piece(int32 id) const {
    check_range(id);
    return piece_of(id);
  }

  /// Ids of UTF-8 text, after BOS where the model wants it.
  std::vector<int32> encode(std::string_view chars) const { return encode(chars, v_.add_bos); }
  std::vector<int32> encode(std::string_view chars, bool with_bos) const {
    std::vector<int32> ids;
    if (with_bos && v_.bos >= 0) ids.push_back(v_.bos);
    if (chars.empty()) return ids;
    if (chars.size() > 0x20000000) fail(text{} << "a text to encode has " << chars.size() << " bytes, beyond 2^29");

    std::string spelt;  // with spaces as the pieces have them
    std::vector<symbol> symbols;
    const auto add = [&](std::string_view s) {
      const auto at = static_cast<uint32>(symbols.size());
      symbols.push_back({static_cast<uint32>(spelt.size()), static_cast<uint32>(s.size()), at - 1, at + 1});
      spelt += s;
    };
    if (v_.add_space_prefix) add(v_.space);
    for (size_t at = 0; at < chars.size();) {
      const size_t length = utf8_length(chars.substr(at));
      if (length == 0) fail(text{} << "a text to encode is not UTF-8 at byte " << at);
      add(chars[at] == ' ' ? std::string_view(v_.space) : chars.substr(at, length));
      at += length;
    }
    join(spelt, symbols);
    for (uint32 i = 0; i < symbols.size(); i = symbols[i].next)
      append_ids(ids, std::string_view(spelt).substr(symbols[i].first, symbols[i].size));
    return ids;
  }

  /// Bytes of a sequence from its start; they are UTF-8 where the ids came from text. Control tokens are silent.
  std::string decode(view<int32> ids) const {
    std::string out;
    int32 before = v_.bos;
    for (int32 id : ids) {
      append(out, id, before);
      before = id;
    }
    return out;
  }

  /// Appends the bytes of one token, given the token before it (BOS at the start): for text that comes token by token.
  void append(std::string& out, int32 id, int32 before) const {
    check_range(id);
    const std::string_view p = piece_of(id);
    switch (v_.types[static_cast<size_t>(id)]) {
      case token_type::byte: out += static_cast<char>(byte_of(p)); return;
      case token_type::normal:
      case token_type::user_defined: break;
      default: return;
    }
    size_t at = 0;
    if (before == v_.bos && v_.add_space_prefix && p.starts_with(v_.space)) at = v_.space.size();
    while (at < p.size()) {
      if (!v_.space.empty() && p.substr(at).starts_with(v_.space)) {
        out += ' ';
        at += v_.space.size();
      } else {
        out += p[at++];
      }
    }
  }

 private:
  struct symbol {
    uint32 first, size;  // bytes of the spelt text; size 0 once joined to the left
    uint32 previous, next;  // previous of the first is 2^32 - 1, next of the last their count
  };
  struct candidate {
    float score;
    uint32 left, right;  // symbols
    uint32 size;  // of both when they met: another size says that one has since been joined elsewhere
    bool operator<(const candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  [[noreturn]] void refuse(const text& rule) const { fail(text{} << file_ << ": the vocabulary " << rule); }
  std::string_view piece_of(int32 id) const { return v_.pieces[static_cast<size_t>(id)]; }
  void check_id(std::string_view what, int32 id) const {
    if (id < -1 || id >= size()) refuse(text{} << "has " << what << " id " << id << " and " << size() << " pieces");
  }
  void check_range(int32 id) const {
    if (id < 0 || id >= size()) fail(text{} << file_ << ": token id " << id << " is not in 0 to " << size() - 1);
  }

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

  void infer_types() {
    for (int32 i = 0; i < size(); ++i)
      v_.types.push_back(i == v_.bos || i == v_.eos ? token_type::control
                         : i == v_.unknown          ? token_type::unknown
                         : byte_of(piece_of(i)) >= 0 ? token_type::byte
                                                     : token_type::normal);
  }

  void enter(int32 id) {
    const auto at = static_cast<size_t>(id);
    const auto type = v_.types[at];
    if (ieee::is_nan(v_.scores[at])) refuse(text{} << "has a score that is no number, for piece " << id);
    if (type < token_type::normal || type > token_type::byte)
      refuse(text{} << "has type " << static_cast<int32>(type) << " for piece " << id << ", and types are 1 to 6");
    if (type == token_type::byte) {
      const int byte = byte_of(piece_of(id));
      if (byte < 0)
        refuse(text{} << "has a byte piece " << id << " that is " << shown(piece_of(id)) << ", not <0x00> to <0xFF>");
      if (byte_ids_[byte] < 0) byte_ids_[byte] = id;
    } else if (type == token_type::normal || type == token_type::user_defined) {
      by_piece_.push_back(id);
      if (piece_of(id).size() > longest_) longest_ = piece_of(id).size();
    }
  }

  /// The id whose piece is `s`, or -1.
  int32 find(std::string_view s) const {
    if (s.size() > longest_) return -1;
    const auto at = std::lower_bound(by_piece_.begin(), by_piece_.end(), s,
                                     [&](int32 id, std::string_view wanted) { return piece_of(id) < wanted; });
    return at != by_piece_.end() && piece_of(*at) == s ? *at : -1;
  }

  void join(std::string_view spelt, std::vector<symbol>& symbols) const {
    std::vector<candidate> best;  // a heap
    const auto meet = [&](uint32 left) {
      const uint32 right = symbols[left].next;
      if (right >= symbols.size()) return;
      const uint32 size = symbols[left].size + symbols[right].size;
      const int32 id = find(spelt.substr(symbols[left].first, size));
      if (id < 0) return;
      best.push_back({v_.scores[static_cast<size_t>(id)], left, right, size});
      std::push_heap(best.begin(), best.end());
    };
    for (uint32 i = 0; i < symbols.size(); ++i) meet(i);
    while (!best.empty()) {
      std::pop_heap(best.begin(), best.end());
      const candidate c = best.back();
      best.pop_back();
      symbol &left = symbols[c.left], &right = symbols[c.right];
      if (left.size == 0 || right.size == 0 || left.size + right.size != c.size) continue;
      left.size = c.size;
      left.next = right.next;
      right.size = 0;
      if (left.next < symbols.size()) symbols[left.next].previous = c.left;
      if (left.previous < symbols.size()) meet(left.previous);
      meet(c.left);
    }
  }

  void append_ids(std::vector<int32>& ids, std::string_view s) const {
    int32 id = find(s);
    bool spelt_by_bytes = id < 0;
    for (unsigned char byte : s)
      if (byte_ids_[byte] < 0) spelt_by_bytes = false;
    if (spelt_by_bytes) {
      for (unsigned char byte : s) ids.push_back(byte_ids_[byte]);
      return;
    }
    if (id < 0) id = v_.unknown;
    if (id < 0)
      fail(text{} << file_ << ": the vocabulary has neither pieces nor bytes for " << shown(s)
                  << ", and no unknown token");
    ids.push_back(id);
  }

  vocabulary v_;
  std::string file_;
  std::vector<int32> by_piece_;  // ids that match text, by piece
  size_t longest_ = 0;  // bytes
  int32 byte_ids_[256];
};

}  // namespace poot::io

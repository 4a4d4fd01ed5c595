#pragma once
/// Text to token ids and back, for the vocabularies of GGUF files: sentence pieces ("llama") and byte pairs ("gpt2").

#include <poot/io/gguf.hpp>
#include <poot/io/tokenizer/byte_pairs.hpp>
#include <poot/io/tokenizer/sentence_pieces.hpp>

#include <variant>

namespace poot::io {

/// Values of `tokenizer.ggml.pre` that are known.
struct split_rule_row {
  std::string_view name;
  split_rule rule;
  bool composed, whole_words, add_bos;  ///< add_bos: where the file does not say
};
inline constexpr split_rule_row split_rule_table[] = {{"default", split_rule::gpt2, false, false, false},
                                                      {"gpt-2", split_rule::gpt2, false, false, false},
                                                      {"llama-bpe", split_rule::llama3, false, true, true},
                                                      {"qwen2", split_rule::qwen2, true, false, false}};

/// No text can spell a control token.
class tokenizer {
 public:
  /// `file` names the vocabulary in errors.
  explicit tokenizer(vocabulary v, std::string_view file = "vocabulary") : add_bos_(v.add_bos), how_(pieces_of(std::move(v), file)) {}
  explicit tokenizer(byte_pair_vocabulary v, std::string_view file = "vocabulary")
      : add_bos_(v.add_bos), how_(std::in_place_type<byte_pairs>, std::move(v), file) {}

  /// The vocabulary of a model whose `tokenizer.ggml.model` is "llama" or "gpt2".
  static tokenizer from_gguf(const gguf& g) {
    const auto model = g.get<std::string_view>("tokenizer.ggml.model");
    if (model != "llama" && model != "gpt2")
      fail(text{} << g.file() << ": tokenizer.ggml.model is " << shown(model) << ", and poot encodes llama and gpt2");
    if (model == "llama") {
      vocabulary v;
      read_pieces(g, v);
      v.scores = g.list<float>("tokenizer.ggml.scores");
      v.add_bos = g.get<bool>("tokenizer.ggml.add_bos_token", true);
      v.add_space_prefix = g.get<bool>("tokenizer.ggml.add_space_prefix", true);
      return tokenizer(std::move(v), g.file());
    }
    const split_rule_row& rule = find_rule(g);
    byte_pair_vocabulary v;
    read_pieces(g, v);
    for (std::string_view merge : g.list<std::string_view>("tokenizer.ggml.merges")) v.merges.emplace_back(merge);
    v.split = rule.rule;
    v.composed = rule.composed;
    v.whole_words = rule.whole_words;
    v.add_bos = g.get<bool>("tokenizer.ggml.add_bos_token", rule.add_bos);
    return tokenizer(std::move(v), g.file());
  }

  int32 size() const { return pieces().size(); }
  int32 bos() const { return pieces().special().bos; }
  int32 eos() const { return pieces().special().eos; }
  std::string_view piece(int32 id) const {
    pieces().check_range(id);
    return pieces()[id];
  }
  /// The control or user-defined token of that piece, or -1.
  int32 find_special(std::string_view piece) const {
    for (int32 id = 0; id < size(); ++id)
      if ((pieces().type(id) == token_type::control || pieces().type(id) == token_type::user_defined) && pieces()[id] == piece) return id;
    return -1;
  }

  /// Ids of UTF-8 text, after BOS where the model wants it.
  std::vector<int32> encode(std::string_view chars) const { return encode(chars, add_bos_); }
  std::vector<int32> encode(std::string_view chars, bool with_bos) const {
    if (chars.size() > 0x20000000) fail(text{} << "a text to encode has " << chars.size() << " bytes, beyond 2^29");
    for (size_t at = 0; at < chars.size();) {
      const size_t length = utf8_length(chars.substr(at));
      if (length == 0) fail(text{} << "a text to encode is not UTF-8 at byte " << at);
      at += length;
    }
    std::vector<int32> ids;
    if (with_bos && bos() >= 0) ids.push_back(bos());
    std::visit([&](const auto& how) { how.encode(ids, chars); }, how_);
    return ids;
  }

  /// Bytes of a sequence from its start; they are UTF-8 where the ids came from text. Control tokens are silent.
  std::string decode(view<int32> ids) const {
    std::string out;
    int32 before = bos();
    for (int32 id : ids) {
      append(out, id, before);
      before = id;
    }
    return out;
  }

  /// Appends the bytes of one token, given the token before it (BOS at the start): for text that comes token by token.
  /// A token may end inside a character.
  void append(std::string& out, int32 id, int32 before) const {
    pieces().check_range(id);
    if (const byte_pairs* pairs = std::get_if<byte_pairs>(&how_)) pairs->append(out, id);
    else std::get<sentence_pieces>(how_).append(out, id, before);
  }

 private:
  static sentence_pieces pieces_of(vocabulary v, std::string_view file) {
    if (v.types.empty()) v.types = sentence_pieces::inferred_types(v);
    return sentence_pieces(std::move(v), file);
  }

  static const split_rule_row& find_rule(const gguf& g) {
    const auto name = g.get<std::string_view>("tokenizer.ggml.pre", "default");
    text known;
    for (const split_rule_row& r : split_rule_table) {
      if (r.name == name) return r;
      known << (known.empty() ? "" : ", ") << r.name;
    }
    fail(text{} << g.file() << ": tokenizer.ggml.pre is " << shown(name) << ", and poot splits texts as " << known);
  }

  /// What both kinds have; the special tokens are those of `v` where the file names none.
  template <class Vocabulary>
  static void read_pieces(const gguf& g, Vocabulary& v) {
    for (std::string_view piece : g.list<std::string_view>("tokenizer.ggml.tokens")) v.pieces.emplace_back(piece);
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
  }

  const piece_table& pieces() const {
    return std::visit([](const auto& how) -> const piece_table& { return how.pieces(); }, how_);
  }

  bool add_bos_;
  std::variant<sentence_pieces, byte_pairs> how_;
};

}  // namespace poot::io

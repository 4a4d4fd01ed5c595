#pragma once
/// How a text falls into words before byte pairs are joined; no join crosses the end of a word.

#include <poot/io/tokenizer/character_class.hpp>
#include <poot/io/tokenizer/utf8.hpp>

namespace poot::io {

/// The rules, by the values of `tokenizer.ggml.pre`. Each is a pattern of alternatives, of which the first that matches
/// takes as much as it can:
///
///     gpt2     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///     llama3   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+
///              |\s+(?!\S)|\s+
///     qwen2    llama3's with one \p{N}
enum class split_rule : uint8 { gpt2, llama3, qwen2 };

/// Splits a text of UTF-8 from its front to its end.
class splitter {
 public:
  /// `text` must be UTF-8.
  splitter(std::string_view text, split_rule rule) : text_(text), rule_(rule) {}

  bool done() const { return at_ == text_.size(); }
  /// The next word; there must be one.
  std::string_view next() {
    const size_t end = rule_ == split_rule::gpt2 ? end_of_gpt2() : end_of_llama3(), first = at_;
    at_ = end;
    return text_.substr(first, end - first);
  }

 private:
  struct character {
    size_t end = 0;  // in the text; that of no character is the text's
    uint32 code = ~uint32{0};
    character_class is = character_class::other;
    bool there = false;
    bool breaks() const { return code == '\r' || code == '\n'; }
    bool is_letter() const { return there && is == character_class::letter; }
    bool is_number() const { return there && is == character_class::number; }
    bool is_space() const { return there && is == character_class::space; }
    bool is_other() const { return there && is == character_class::other; }
  };
  character look(size_t at) const {
    if (at >= text_.size()) return {text_.size()};
    const size_t length = utf8_length(text_.substr(at));
    const uint32 code = utf8_code(text_.substr(at, length));
    return {at + length, code, class_of_character(code), true};
  }
  /// The end of the run of characters from `at` that are so, at most `most` of them.
  template <class Is>
  size_t run(size_t at, Is is, size_t most = ~size_t{0}) const {
    for (; most-- > 0;) {
      const character c = look(at);
      if (!c.there || !is(c)) break;
      at = c.end;
    }
    return at;
  }

  /// The end of 's, 't, 're, 've, 'm, 'll or 'd at the front; its begin where there is none. In any case also the long s.
  size_t end_of_contraction(bool any_case) const {
    if (look(at_).code != '\'') return at_;
    const auto lower = [&](uint32 code) {
      if (any_case && code >= 'A' && code <= 'Z') return code + 32;
      return any_case && code == 0x17f ? uint32{'s'} : code;
    };
    const character first = look(at_ + 1), second = look(first.end);
    const uint32 a = lower(first.code), b = lower(second.code);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return first.end;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? second.end : at_;
  }

  /// \s+(?!\S)|\s+: spaces, but for the last where something follows them.
  size_t end_of_spaces() const {
    size_t end = at_, before = at_;
    for (character c = look(at_); c.is_space(); c = look(end)) {
      before = end;
      end = c.end;
    }
    return end < text_.size() && before > at_ ? before : end;
  }

  size_t end_of_gpt2() const {
    if (const size_t end = end_of_contraction(false); end != at_) return end;
    const character first = look(at_);
    const size_t from = first.code == ' ' ? first.end : at_;
    const character word = look(from);
    if (word.is_letter()) return run(from, [](const character& c) { return c.is_letter(); });
    if (word.is_number()) return run(from, [](const character& c) { return c.is_number(); });
    if (word.is_other()) return run(from, [](const character& c) { return c.is_other(); });
    return end_of_spaces();
  }

  size_t end_of_llama3() const {
    if (const size_t end = end_of_contraction(true); end != at_) return end;
    const auto letter = [](const character& c) { return c.is_letter(); };
    const character first = look(at_);
    if (first.is_letter() || (!first.is_number() && !first.breaks() && look(first.end).is_letter())) return run(first.end, letter);
    if (first.is_number())
      return run(at_, [](const character& c) { return c.is_number(); }, rule_ == split_rule::llama3 ? 3 : 1);
    const size_t from = first.code == ' ' ? first.end : at_;
    if (look(from).is_other())
      return run(run(from, [](const character& c) { return c.is_other(); }), [](const character& c) { return c.breaks(); });
    size_t broken = at_;  // the end of the last line break among the spaces
    for (character c = look(at_); c.is_space(); c = look(c.end))
      if (c.breaks()) broken = c.end;
    return broken != at_ ? broken : end_of_spaces();
  }

  std::string_view text_;
  split_rule rule_;
  size_t at_ = 0;
};

}  // namespace poot::io

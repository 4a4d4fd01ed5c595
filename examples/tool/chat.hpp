#pragma once
/// The turns of a conversation as a model was trained to read them.

#include <poot/io/gguf.hpp>
#include <poot/io/tokenizer.hpp>

#include <string>
#include <vector>

namespace poot::tool {

/// A family of chat templates: what stands before and after a user's message. Parts in `specials` are tokens of the
/// vocabulary, the rest is text.
struct chat_format {
  std::string_view name;
  std::string_view marker;  ///< what its templates hold
  std::vector<std::string_view> before, after;
  std::string_view end;     ///< the token that ends the model's turn; empty: EOS only
  bool trimmed;             ///< spaces around a message are dropped
};

/// The format of the file's `tokenizer.chat_template`, found by its markers: templates are programs, and poot runs none.
/// Throws `error` for a file without one, and where the format is not known.
chat_format chat_format_of(const io::gguf& file);

/// The tokens of one message of a user, which must be UTF-8, up to where the model's turn begins. Throws `error` where the vocabulary lacks a token
/// of the format.
std::vector<int32> chat_prompt(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message);

}  // namespace poot::tool

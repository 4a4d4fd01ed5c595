#pragma once
/// The turns of a conversation as a model was trained to read them.

#include <poot/io/gguf.hpp>
#include <poot/io/tokenizer.hpp>

#include <string>
#include <vector>

namespace poot::tool {

/// A family of chat templates: what stands around instructions and a user's messages. Parts in `<…>` are tokens of the
/// vocabulary, the rest is text.
struct chat_format {
  std::string_view name;
  std::string_view marker;  ///< what its templates hold
  std::vector<std::string_view> before_system, after_system;
  bool system_in_message;   ///< instructions are a part of the first message, and no turn of their own
  std::vector<std::string_view> before, after;
  std::string_view end;         ///< the token that ends the model's turn; empty: EOS
  std::string_view behind_end;  ///< text between that and the next message
  bool begins_anew;             ///< BOS stands before each message
  bool trimmed;                 ///< spaces around a message are dropped
};

/// The format of the file's `tokenizer.chat_template`, found by its markers: templates are programs, and poot runs none.
/// Throws `error` for a file without one, and where the format is not known.
chat_format chat_format_of(const io::gguf& file);

/// The token that ends the model's turn: that of the format, or EOS where it has none; -1 where the vocabulary lacks it.
int32 turn_end(const chat_format& format, const io::tokenizer& tokens);

/// The tokens of instructions, where there are any, and of a user's first message, up to where the model's turn begins.
/// Throws `error` where one is no UTF-8, and where the vocabulary lacks a token of the format.
std::vector<int32> chat_prompt(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message,
                               std::string_view system = {});

/// The tokens of a later message, behind what the model has said: its turn ends first, whether it came to an end or not.
std::vector<int32> chat_turn(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message);

}  // namespace poot::tool

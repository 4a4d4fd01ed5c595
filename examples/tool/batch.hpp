#pragma once
/// Many prompts at once: each place of a batch continues one, and takes the next when it ends.

#include "continuation.hpp"

namespace poot::tool {

/// Texts that are continued together at most.
inline constexpr int64 most_sequences = 16;

struct batch_prompt {
  std::string from;     ///< "prompts.txt: line 3", for errors
  std::vector<int32> tokens;
  std::string written;  ///< what the output begins with
};

/// The ids of a text to continue; of an empty one BOS, where there is one.
std::vector<int32> prompt_ids(const io::tokenizer& tokens, std::string_view chars);

/// The prompts of a file, one a line. Throws `error` that names file and line for one that is no UTF-8.
std::vector<batch_prompt> read_prompts(const std::string& path, const io::tokenizer& tokens);

/// Writes the continuation of each prompt to stdout, in their order, a line break behind each, and progress to stderr. Each is
/// what it is alone. The model was loaded for `sequences` at once; a text gets `most_tokens` tokens at most.
void run_batch(language_model& model, const std::vector<batch_prompt>& prompts, int64 sequences, int64 most_tokens, text_end ends);

}  // namespace poot::tool

#pragma once
/// A text that a model continues, in one turn or in several.

#include "language_model.hpp"

#include <functional>
#include <string>
#include <vector>

namespace poot::tool {

/// Which tokens end a text: EOS and BOS, and that of a chat.
struct text_end {
  int32 bos, eos, turn;
  bool operator()(int32 token) const { return token == bos || token == eos || token == turn; }
};

/// Takes text as it comes, whole characters.
using text_sink = std::function<void(const std::string&)>;

class continuation {
 public:
  /// Where there is an `other` model, it reads the same, and must come to the same logits and tokens.
  continuation(language_model& model, language_model* other, text_end ends, text_sink sink)
      : model_(model), other_(other), ends_(ends), sink_(std::move(sink)) {}

  /// Reads `given` behind the text so far, and writes `written` and at most `most` tokens that follow. What is written last is
  /// read with the next turn.
  void write(const std::vector<int32>& given, std::string_view written, int64 most);
  /// Throws `error`, which begins with `from`, where these do not fit behind the text so far.
  void check(std::string_view from, const std::vector<int32>& given) const;

  /// Of all turns: "12 prompt tokens in 3.4 ms, then 56.7 tokens/s".
  std::string figures() const;
  /// Tokens that were read, and tokens that were chosen.
  size_t given() const { return given_; }
  uint32 drawn() const { return drawn_; }

 private:
  void read(const std::vector<int32>& tokens);
  std::vector<int32> behind_unread(const std::vector<int32>& given) const;

  language_model& model_;
  language_model* other_;
  text_end ends_;
  text_sink sink_;
  std::vector<int32> unread_;  ///< written, and not yet in the caches: one token or none
  uint32 drawn_ = 0;
  size_t given_ = 0, followed_ = 0;                  ///< tokens
  double given_seconds_ = 0, followed_seconds_ = 0;
};

}  // namespace poot::tool

#pragma once
/// The pieces of a vocabulary by token id, and ids by piece.

#include <poot/core/error.hpp>
#include <poot/io/words.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace poot::io {

/// What a piece is, in the numbering of GGUF.
enum class token_type : int32 { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// Tokens that are not text; -1 where there is none.
struct special_tokens {
  int32 bos, eos, unknown;
};

/// Only normal and user-defined pieces match text, so no text can spell a control token; of equal pieces the first counts.
class piece_table {
 public:
  /// No types: every piece is normal. `file` names the vocabulary in errors.
  piece_table(std::vector<std::string> pieces, std::vector<token_type> types, special_tokens special, std::string_view file)
      : pieces_(std::move(pieces)), types_(std::move(types)), special_(special), file_(file) {
    const size_t count = pieces_.size();
    if (count == 0 || count > 0x7fffffff) refuse(text{} << "has " << count << " pieces");
    if (types_.empty()) types_.assign(count, token_type::normal);
    if (types_.size() != count) refuse(text{} << "has " << count << " pieces and " << types_.size() << " types");
    check_id("bos", special.bos);
    check_id("eos", special.eos);
    check_id("unknown", special.unknown);
    for (int32 id = 0; id < size(); ++id) {
      if (type(id) < token_type::normal || type(id) > token_type::byte)
        refuse(text{} << "has type " << static_cast<int32>(type(id)) << " for piece " << id << ", and types are 1 to 6");
      if (type(id) != token_type::normal && type(id) != token_type::user_defined) continue;
      by_piece_.push_back(id);
      longest_ = std::max(longest_, (*this)[id].size());
    }
    std::sort(by_piece_.begin(), by_piece_.end(), [&](int32 a, int32 b) {
      const int order = (*this)[a].compare((*this)[b]);
      return order != 0 ? order < 0 : a < b;
    });
  }

  int32 size() const { return static_cast<int32>(pieces_.size()); }
  std::string_view operator[](int32 id) const { return pieces_[static_cast<size_t>(id)]; }
  token_type type(int32 id) const { return types_[static_cast<size_t>(id)]; }
  const special_tokens& special() const { return special_; }
  const std::string& file() const { return file_; }

  /// The id whose piece matches the text `s`, or -1.
  int32 find(std::string_view s) const {
    if (s.size() > longest_) return -1;
    const auto at = std::lower_bound(by_piece_.begin(), by_piece_.end(), s,
                                     [&](int32 id, std::string_view wanted) { return (*this)[id] < wanted; });
    return at != by_piece_.end() && (*this)[*at] == s ? *at : -1;
  }
  /// Throws `error` for an id outside.
  void check_range(int32 id) const {
    if (id < 0 || id >= size()) fail(text{} << file_ << ": token id " << id << " is not in 0 to " << size() - 1);
  }
  [[noreturn]] void refuse(const text& rule) const { fail(text{} << file_ << ": the vocabulary " << rule); }

 private:
  void check_id(std::string_view what, int32 id) const {
    if (id < -1 || id >= size()) refuse(text{} << "has " << what << " id " << id << " and " << size() << " pieces");
  }

  std::vector<std::string> pieces_;
  std::vector<token_type> types_;
  special_tokens special_;
  std::string file_;
  std::vector<int32> by_piece_;  // ids that match text
  size_t longest_ = 0;           // bytes
};

}  // namespace poot::io

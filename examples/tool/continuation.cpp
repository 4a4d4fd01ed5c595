#include "continuation.hpp"

#include <poot/run/host/check.hpp>

#include <bit>
#include <chrono>
#include <cstdio>

namespace poot::tool {

namespace {

using clock = std::chrono::steady_clock;
double seconds_between(clock::time_point from, clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

void continuation::read(const std::vector<int32>& tokens) {
  const int64 position = model_.position();
  const view<int32> all{tokens.data(), tokens.size()};
  view<float> logits;
  try {
    logits = model_.read(all, drawn_);
  } catch (const run::host::difference_found& d) {
    fail(text{} << d.what() << ", in the step that reads " << tokens.size() << " tokens from position " << position);
  }
  if (!other_) return;
  const view<float> again = other_->read(all, drawn_);
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::bit_cast<uint32>(logits[i]) != std::bit_cast<uint32>(again[i]))
      fail(text{} << "check: logit " << i << " at position " << model_.position() - 1 << " differs between fused and unfused");
  if (model_.token() != other_->token()) fail(text{} << "check: the token at position " << model_.position() << " differs between fused and unfused");
}

std::vector<int32> continuation::behind_unread(const std::vector<int32>& given) const {
  std::vector<int32> all = unread_;
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

void continuation::check(std::string_view from, const std::vector<int32>& given) const {
  const std::vector<int32> all = behind_unread(given);
  model_.check_prompt(from, {all.data(), all.size()}, model_.position());
}

void continuation::write(const std::vector<int32>& given, std::string_view written, int64 most) {
  const clock::time_point start = clock::now();
  clock::time_point first = start;
  std::vector<int32> next = behind_unread(given);
  int32 before = next.back();
  int64 made = 0;
  io::character_stream characters;
  sink_(characters.put(written));
  while (made < most && model_.position() + static_cast<int64>(next.size()) <= model_.config().context) {
    read(next);
    next.clear();
    ++drawn_;
    if (made++ == 0) first = clock::now();
    const int32 token = model_.token();
    if (ends_(token)) break;
    std::string piece;
    model_.tokens().append(piece, token, before);
    sink_(characters.put(piece));
    next.push_back(token);
    before = token;
  }
  sink_(characters.finish());
  unread_ = next;
  given_ += given.size();
  given_seconds_ += seconds_between(start, first);
  followed_ += made > 1 ? static_cast<size_t>(made - 1) : 0;
  followed_seconds_ += seconds_between(first, clock::now());
}

std::string continuation::figures() const {
  char chars[128];
  std::snprintf(chars, sizeof chars, "%zu prompt tokens in %.1f ms, then %.1f tokens/s", given_, given_seconds_ * 1e3,
                followed_ > 0 ? static_cast<double>(followed_) / followed_seconds_ : 0.0);
  return chars;
}

}  // namespace poot::tool

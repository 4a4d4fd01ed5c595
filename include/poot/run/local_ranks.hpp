#pragma once
/// Ranks that are threads of one process:
///
///     poot::on_ranks(4, [&](poot::communicator& ranks, int rank) {
///       auto session = poot::host(1).load(poot::compile(g, poot::targets::host), ranks);
///       …                                          // each rank binds values of its own
///       session.run();
///     });

#include <poot/core/error.hpp>
#include <poot/run/communicator.hpp>

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace poot::run {

/// What a rank throws because another one does not go on.
class rank_gone : public error {
 public:
  using error::error;
};

/// As many ranks as wanted; every group has all of them. After one has failed, they exchange nothing more.
class local_ranks {
 public:
  /// Throws `error` for fewer than one rank.
  explicit local_ranks(int count) : given_(count < 1 ? 0 : static_cast<size_t>(count)) {
    if (count < 1) fail(text{} << "local_ranks: " << count << " ranks; there is one at least");
    for (int r = 0; r < count; ++r) members_.push_back(member(*this, static_cast<size_t>(r)));
  }
  local_ranks(const local_ranks&) = delete;
  local_ranks& operator=(const local_ranks&) = delete;

  /// The communicator of a rank, for its thread. Throws `error` where there is no such rank.
  communicator& operator[](int rank) {
    if (rank < 0 || static_cast<size_t>(rank) >= members_.size())
      fail(text("local_ranks: there is no rank ") << rank << "; they are 0 to " << members_.size() - 1);
    return members_[static_cast<size_t>(rank)];
  }
  /// Which rank did not go on first; -1 while all do.
  int first_gone() const {
    const std::lock_guard lock(mutex_);
    return failed_ ? static_cast<int>(failed_rank_) : -1;
  }

 private:
  enum class call : uint8 { none, all_gather, all_to_all };
  /// What a rank brings to an exchange.
  struct offer {
    call what = call::none;
    std::string_view group{}, purpose{};
    const char* from = nullptr;
    int64 bytes = 0;
    bool matches(const offer& o) const { return what == o.what && group == o.group && purpose == o.purpose && bytes == o.bytes; }
  };

  class member final : public communicator {
   public:
    member(local_ranks& all, size_t rank) : all_(&all), rank_(rank) {}
    int64 size(std::string_view) const override { return static_cast<int64>(all_->given_.size()); }
    void all_gather(std::string_view group, std::string_view what, const char* from, int64 bytes, char* to) override {
      all_->exchange(rank_, {call::all_gather, group, what, from, bytes}, to);
    }
    void all_to_all(std::string_view group, std::string_view what, const char* from, int64 bytes, char* to) override {
      all_->exchange(rank_, {call::all_to_all, group, what, from, bytes}, to);
    }
    void abandon(std::string_view why) noexcept override { all_->abandon(rank_, why); }

   private:
    local_ranks* all_;
    size_t rank_;
  };

  void exchange(size_t rank, const offer& mine, char* to) {
    meet(rank, &mine);
    text wrong;
    for (size_t r = 0; r < given_.size() && wrong.empty(); ++r)
      if (!given_[r].matches(given_[0])) wrong = describe(0) << ", and " << describe(r);
    const auto bytes = static_cast<size_t>(mine.bytes), first = mine.what == call::all_to_all ? rank * bytes : 0;
    if (bytes > 0 && wrong.empty())
      for (size_t r = 0; r < given_.size(); ++r) std::memcpy(to + r * bytes, given_[r].from + first, bytes);
    meet(rank, nullptr);  // what was given may change from here on
    if (!wrong.empty()) fail(wrong);
  }

  text describe(size_t r) const {
    const offer& o = given_[r];
    return text("rank ") << r << " is at " << (o.what == call::all_gather ? "all_gather" : "all_to_all") << " of " << o.bytes
                         << " bytes in group \"" << o.group << "\" for " << o.purpose;
  }

  /// Returns when all ranks have come here, each with its offer, if it has one.
  void meet(size_t rank, const offer* mine) {
    std::unique_lock lock(mutex_);
    if (failed_) refuse();
    if (mine) given_[rank] = *mine;
    const uint64 now = meetings_;
    if (++arrived_ == given_.size()) {
      arrived_ = 0;
      ++meetings_;
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return meetings_ != now || failed_; });
    if (meetings_ == now) refuse();
  }
  [[noreturn]] void refuse() const { throw rank_gone(text("rank ") << failed_rank_ << " does not go on: " << why_.c_str()); }

  void abandon(size_t rank, std::string_view why) noexcept {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    failed_ = true;
    failed_rank_ = rank;
    try {
      why_ = why;
    } catch (...) {  // the text is lost, what it is about is not
    }
    all_here_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<offer> given_;      ///< per rank
  std::vector<member> members_;
  size_t arrived_ = 0, failed_rank_ = 0;
  uint64 meetings_ = 0;
  bool failed_ = false;
  std::string why_;
};

/// Calls body(communicator, rank) on a thread of its own for each of `count` ranks, and waits for all. Where one throws, the
/// others throw instead of waiting for it, and what it threw is thrown here: that of the rank that failed first, and not what
/// others threw because of it. Throws `error` where a thread cannot be made.
template <class Body>
void on_ranks(int count, Body body) {
  local_ranks ranks(count);
  std::vector<std::exception_ptr> causes(static_cast<size_t>(count)), consequences(causes);
  const auto run = [&](int rank) {
    const auto at = static_cast<size_t>(rank);
    try {
      body(ranks[rank], rank);
      ranks[rank].abandon("it has ended");
    } catch (const rank_gone& e) {
      consequences[at] = std::current_exception();
      ranks[rank].abandon(e.what());
    } catch (const std::exception& e) {
      causes[at] = std::current_exception();
      ranks[rank].abandon(e.what());
    } catch (...) {
      causes[at] = std::current_exception();
      ranks[rank].abandon(not_described);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(causes.size());
  int without = 0;  // the rank that got no thread
  std::string why;
  try {
    for (int r = 1; r < count; ++r) {
      without = r;
      threads.emplace_back(run, r);
    }
    without = 0;
  } catch (const std::exception& e) {
    why = e.what();
    ranks[without].abandon("it has no thread");
  }
  if (without == 0) run(0);
  for (std::thread& t : threads) t.join();
  if (without > 0) fail(text("on_ranks: no thread can be made for rank ") << without << " of " << count << ": " << why.c_str());
  if (const int gone = ranks.first_gone(); gone >= 0 && causes[static_cast<size_t>(gone)]) std::rethrow_exception(causes[static_cast<size_t>(gone)]);
  for (const auto* thrown : {&causes, &consequences})
    for (const std::exception_ptr& e : *thrown)
      if (e) std::rethrow_exception(e);
}

}  // namespace poot::run

namespace poot {
using run::communicator, run::local_ranks, run::on_ranks, run::rank_gone;
}  // namespace poot

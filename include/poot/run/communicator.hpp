#pragma once
/// How the ranks of a program with collectives reach each other.
///
/// A program is loaded with the communicator of its rank, and calls it in the order of its launches, on the thread that runs it.
/// Sums are made by the library, from the bytes of all ranks and in their order: a communicator moves bytes only, so that no
/// transport changes a bit. Behind this interface may stand threads (run/local_ranks.hpp), MPI (MPI_Allgather, MPI_Alltoall,
/// MPI_Abort), or what else there is.

#include <poot/core/integers.hpp>

#include <string_view>

namespace poot::run {

/// Why a rank does not go on that threw what is no std::exception.
inline constexpr std::string_view not_described = "it threw something that describes nothing";

class communicator {
 public:
  virtual ~communicator() = default;

  /// How many ranks the group has; 0 where this rank is in no such group.
  virtual int64 size(std::string_view group) const = 0;

  /// Puts the `bytes` of `from` of every rank into `to`, one after the other. `what` says for what, in words: op, type, equation
  /// and graph; ranks that do the same bring the same words, whose comparison is the communicator's. Throws `error` where a rank
  /// is elsewhere or has failed; so does `all_to_all`. Neither returns before the others may change what they gave.
  virtual void all_gather(std::string_view group, std::string_view what, const char* from, int64 bytes, char* to) = 0;

  /// Part r of `from`, of `bytes`, goes to rank r; part r of `to` is what rank r sent.
  virtual void all_to_all(std::string_view group, std::string_view what, const char* from, int64 bytes, char* to) = 0;

  /// This rank cannot go on: whoever waits for it, or will, throws `error`.
  virtual void abandon(std::string_view why) noexcept = 0;
};

}  // namespace poot::run

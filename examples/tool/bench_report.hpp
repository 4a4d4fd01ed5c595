#pragma once
/// What `poot bench` prints: for people, or JSON with the keys of benchmarks/peers/README.md.

#include "bench_contestants.hpp"
#include "bench_workloads.hpp"
#include "machine_limits.hpp"

namespace poot::tool {

inline constexpr const char* replay_name = "replay_512";

class report {
 public:
  /// `device` as a person knows it; `threads` of the host, 0 where another device works.
  report(bool json, std::string device, int threads, const machine_limits& limits)
      : json_(json), device_(std::move(device)), threads_(threads), limits_(limits) {}

  /// The limits that were measured.
  void machine() const;
  /// A workload that moves `bytes` at least; the first way is fused, the second unfused.
  void lines(const workload& w, double bytes, const std::vector<contestant>& all) const;
  /// Planning `count` equations; `of_tenth` ns were best for a tenth of them, 0: unknown.
  void planning(int64 count, const contestant& c, double of_tenth) const;
  /// Dispatches that do nothing to speak of, replayed together and submitted one by one.
  void replay(const std::vector<contestant>& all) const;

 private:
  void json(const std::string& work, dtype t, double bytes, double flops, const contestant& c) const;

  bool json_;
  std::string device_;
  int threads_;
  const machine_limits& limits_;
};

}  // namespace poot::tool

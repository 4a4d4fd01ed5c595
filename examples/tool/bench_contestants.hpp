#pragma once
/// How `poot bench` measures: several ways to do the same work, in turns.

#include <poot/core/dtype.hpp>

#include <functional>
#include <string>
#include <vector>

namespace poot::tool {

double now_ns();

/// Processor time in s and minor page faults: of this process, and time of the whole machine where that is known.
struct usage {
  double mine = 0, all = 0, wall = 0;
  int64 faults = 0;

  static usage now();
  usage& operator+=(const usage& o) {
    mine += o.mine, all += o.all, wall += o.wall, faults += o.faults;
    return *this;
  }
  friend usage operator-(usage a, const usage& b) {
    return {a.mine - b.mine, a.all - b.all, a.wall - b.wall, a.faults - b.faults};
  }
};

/// One way to do the work, and how long it took.
struct contestant {
  std::string name;
  std::function<void()> run;
  size_t dispatches = 1;
  double prepared = 0;  ///< s to plan and load
  double error = -1;    ///< the largest, relative to the largest value; none below 0
  std::vector<double> ns{};
  usage used{};

  double best() const { return ns.front(); }
  double median() const { return ns[ns.size() / 2]; }
};

/// Runs all in turns of 20 ms until each has had its time.
void measure(std::vector<contestant>& all, double seconds);

}  // namespace poot::tool

#include "bench_contestants.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace poot::tool {

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

usage usage::now() {
  usage u;
  rusage r{};
  ::getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  u.mine = seconds(r.ru_utime) + seconds(r.ru_stime);
  u.faults = r.ru_minflt;
  u.wall = now_ns() * 1e-9;
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0;
  if (stat >> cpu >> user >> nice >> system) u.all = (user + nice + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return u;
}

void measure(std::vector<contestant>& all, double seconds) {
  for (contestant& c : all) {
    const double start = now_ns();
    for (int i = 0; i < 3 && now_ns() - start < 1e9; ++i) c.run();
  }
  for (bool more = true; more;) {
    more = false;
    for (contestant& c : all) {
      if (c.ns.size() >= 20000 || (c.ns.size() >= 9 && c.used.wall >= seconds) || (c.ns.size() >= 3 && c.used.wall > 5 * seconds)) continue;
      more = true;
      const usage before = usage::now();
      const double start = now_ns();
      for (double at = start, end; c.ns.size() < 20000 && at - start < 20e6; at = end) {
        c.run();
        end = now_ns();
        c.ns.push_back(end - at);
      }
      c.used += usage::now() - before;
    }
  }
  for (contestant& c : all) std::sort(c.ns.begin(), c.ns.end());
}

}  // namespace poot::tool

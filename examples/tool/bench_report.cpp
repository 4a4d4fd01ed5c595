#include "bench_report.hpp"

#include <algorithm>
#include <cstdio>

namespace poot::tool {

namespace {

double others(const contestant& c) { return std::max(0.0, (c.used.all - c.used.mine) / c.used.wall); }

}  // namespace

void report::machine() const {
  if (!json_) {
    std::printf("%s:", device_.c_str());
    for (const auto& s : limits_.memory)
      std::printf("\n  over %.1f MiB: read %.1f, copy %.1f, streaming copy %.1f GB/s", static_cast<double>(s.bytes) / (1 << 20), s.read, s.copy, s.streaming);
    std::printf("\n  fused multiply-add in f32: %.0f GFLOP/s\n", limits_.fma_gflops);
    std::printf("best and median time; speed of the best beside that limit, the same unfused, and a loop by hand\n");
    return;
  }
  const auto line = [&](const char* what, int64 bytes, double value, const char* unit) {
    std::printf("{\"probe\":\"%s\",\"threads\":%d,\"bytes\":%lld,\"best\":%.2f,\"unit\":\"%s\"}\n", what, threads_, static_cast<long long>(bytes), value, unit);
  };
  for (const auto& s : limits_.memory) {
    line("read", s.bytes, s.read, "GB/s");
    line("copy", s.bytes, s.copy, "GB/s");
    line("copy_streaming", s.bytes, s.streaming, "GB/s");
  }
  line("f32_fma", 0, limits_.fma_gflops, "GOP/s");
}

void report::lines(const workload& w, double bytes, const std::vector<contestant>& all) const {
  if (json_) {
    for (const contestant& c : all) json(w.name, w.element, bytes, w.flops, c);
    return;
  }
  const machine_limits::speeds& s = limits_.over(bytes);
  const double memory = bytes / (w.reads_mostly ? s.read : std::max(s.copy, s.streaming)), arithmetic = w.flops / limits_.fma_gflops;
  const contestant& fused = all[0];
  std::printf("%-22s %-5s %9.1f %9.1f us  %4.0f%% of limit, %5.2fx unfused", w.name.c_str(), std::string(name(w.element)).c_str(),
              fused.best() * 1e-3, fused.median() * 1e-3, 100 * std::max(memory, arithmetic) / fused.best(), all[1].best() / fused.best());
  for (size_t i = 2; i < all.size(); ++i) std::printf(", %.2fx %s", all[i].best() / fused.best(), all[i].name.c_str());
  std::printf("; %zu dispatches, unfused %zu; %.1f GB/s, %.1f GFLOP/s", fused.dispatches, all[1].dispatches, bytes / fused.best(), w.flops / fused.best());
  if (fused.error >= 0) std::printf(", error %.1e", fused.error);
  std::printf("; others use %.1f cores\n", others(fused));
}

void report::planning(int64 count, const contestant& c, double of_tenth) const {
  const std::string work = "planning_" + std::to_string(count);
  if (json_) return json(work, f32, 0, 0, c);
  std::printf("%-22s %-5s %9.1f %9.1f us", work.c_str(), "", c.best() * 1e-3, c.median() * 1e-3);
  if (of_tenth > 0) std::printf("  %.1f times as long as a tenth of it", c.best() / of_tenth);
  std::printf("; others use %.1f cores\n", others(c));
}

void report::replay(const std::vector<contestant>& all) const {
  if (json_) {
    for (const contestant& c : all) json(replay_name, f32, 0, 0, c);
    return;
  }
  const auto each = [](const contestant& c) { return c.best() * 1e-3 / static_cast<double>(c.dispatches); };
  std::printf("%-22s %-5s %9.1f %9.1f us  %.2f us a dispatch, one by one %.2f us (%.1f times as long); others use %.1f cores\n", replay_name, "",
              all[0].best() * 1e-3, all[0].median() * 1e-3, each(all[0]), each(all[1]), each(all[1]) / each(all[0]), others(all[0]));
}

void report::json(const std::string& work, dtype t, double bytes, double flops, const contestant& c) const {
  std::printf("{\"workload\":\"%s\",\"peer\":\"%s\",\"dtype\":\"%s\",\"threads\":%d,\"ns_min\":%.0f,\"ns_median\":%.0f,\"runs\":%zu,"
              "\"others_cpu\":%.2f,\"page_faults\":%lld,\"cores\":%.2f,\"bytes_ideal\":%.0f,\"gbps\":%.2f,\"gflops\":%.2f,\"compile_s\":%.3f",
              work.c_str(), c.name.c_str(), std::string(name(t)).c_str(), threads_, c.best(), c.median(), c.ns.size(), others(c),
              static_cast<long long>(c.used.faults / static_cast<int64>(c.ns.size())), c.used.mine / c.used.wall, bytes,
              bytes / c.best(), flops / c.best(), c.prepared);
  if (c.error >= 0) std::printf(",\"error\":%.1e", c.error);
  std::printf(",\"dispatches\":%zu}\n", c.dispatches);
}

}  // namespace poot::tool

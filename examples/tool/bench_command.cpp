/// `poot bench`

#include "bench_loops.hpp"
#include "bench_workloads.hpp"
#include "commands.hpp"

#include <poot/ir/interpret.hpp>
#include <poot/run/host/device.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>

#include <sys/resource.h>
#include <unistd.h>

namespace poot::tool {

namespace {

struct bench_arguments {
  bool json = false;
  std::string only;
  int threads = 0;
  double seconds = 1;
};

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time in s and minor page faults: of this process, and time of the whole machine where that is known.
struct usage {
  double mine = 0, all = 0, wall = 0;
  int64 faults = 0;

  static usage now() {
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
void measure(std::vector<contestant>& all, double seconds) {
  for (contestant& c : all)
    for (int i = 0; i < 3; ++i) c.run();
  for (bool more = true; more;) {
    more = false;
    for (contestant& c : all) {
      if (c.ns.size() >= 20000 || (c.ns.size() >= 9 && c.used.wall >= seconds) || (c.ns.size() >= 3 && c.used.wall > 20)) continue;
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

/// Normal numbers that depend on their place alone, so that a smaller array is a prefix of a larger one.
class numbers {
 public:
  numbers() {
    uint64 state = 7;
    const auto uniform = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>((state >> 33) + 1) * 0x1p-31;
    };
    for (float& v : table_) v = static_cast<float>(std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
  }
  float operator[](int64 i) const { return table_[(i + i / 4096) % 4096]; }

 private:
  float table_[4096];
};

/// Values of a leaf.
run::host::storage values_of(const ir::graph_view& g, uint32 id, const tensor_type& t, const workload& w) {
  static const numbers normal;
  run::host::storage room(t.bytes() + 64);
  const int64 count = t.element_count();
  const bool is_weight = g[id].kind == ir::op::weight, is_matrix = is_weight && t.rank > 1;
  int64 k = 1;
  for (int i = 1; i < t.rank; ++i) k *= t.extents[i].code;
  const float scale = is_matrix ? 1 / std::sqrt(static_cast<float>(k)) : is_weight ? 0.1f : 1.0f, middle = is_weight && !is_matrix ? 1.0f : 0.0f;
  if (t.element == dtype::i32) {  // positions, tokens
    for (int64 i = 0; i < count; ++i)
      reinterpret_cast<int32*>(room.data())[i] = static_cast<int32>(count > 1 ? i : g.name_of(id) == "start" ? w.position : 0);
  } else if (is_packed(t.element)) {  // each block begins with its scale, an f16
    const int64 bytes = row(t.element).block_bytes;
    for (int64 i = 0; i < t.bytes(); ++i) room.data()[i] = static_cast<char>(static_cast<int>(normal[i] * 40));
    const uint16 step = f32_to_f16(scale / 40);
    for (int64 i = 0; i < t.bytes(); i += bytes) std::memcpy(room.data() + i, &step, sizeof step);
  } else {
    for (int64 i = 0; i < count; ++i) {
      const float v = middle + normal[i] * scale;
      if (t.element == dtype::bf16) reinterpret_cast<uint16*>(room.data())[i] = f32_to_bf16(v);
      else reinterpret_cast<float*>(room.data())[i] = v;
    }
  }
  return room;
}

/// A workload with its data, loaded fused and unfused.
class bench {
 public:
  bench(const workload& w, int threads) : work_(w), graph_(w.make(w.size)) {
    const ir::graph_view g = graph_.view_of();
    for (uint32 id = 0; id < g.size(); ++id) {
      if (!ir::is_named_leaf(g[id].kind)) continue;
      const tensor_type t = concrete(g.type(id));
      bytes_ += static_cast<double>(t.bytes());
      if (g[id].kind != ir::op::state) leaves_.push_back({id, t, values_of(g, id, t, w)});
    }
    for (const ir::graph_output& o : g.outputs)
      if (g.state_of(o) == g.size()) bytes_ += static_cast<double>(concrete(g.type(o.value)).bytes());
    for (const bool fuse : {true, false}) load(fuse, threads);
    if (w.typed) add_typed(threads);
    if (w.loop) add_loop(threads);
  }

  std::vector<contestant>& contestants() { return contestants_; }
  double bytes() const { return bytes_; }

  /// Compares the first `checked` rows of the fused result with f64 arithmetic.
  void check() {
    if (work_.checked == 0) return;
    const ir::graph part = work_.make(work_.checked);
    const ir::graph_view g = part.view_of();
    std::vector<ir::named_tensor> given;
    for (uint32 id = 0; id < g.size(); ++id) {
      if (!ir::is_named_leaf(g[id].kind)) continue;
      const run::host::storage data = values_of(g, id, g.type(id), work_);
      ir::tensor t(g.type(id));
      const size_t width = is_packed(t.type.element) ? 1 : row(t.type.element).block_bytes;
      for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(&t.bits[i], data.data() + i * width, width);
      given.push_back({g.name_of(id), std::move(t)});
    }
    ir::interpret_options wide;
    wide.mode = ir::arithmetic::wide;
    const ir::interpretation want = ir::interpret(g, {given.data(), given.size()}, wide);
    contestant& c = contestants_[0];
    c.error = 0;
    for (const ir::named_tensor& n : want.outputs) {
      const auto* got = static_cast<const float*>(sessions_[0]->result(n.name).data);
      double worst = 0, largest = 0;
      for (size_t i = 0; i < n.value.bits.size(); ++i) {
        const double exact = std::bit_cast<double>(n.value.bits[i]);
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - exact));
        largest = std::max(largest, std::abs(exact));
      }
      c.error = std::max(c.error, worst / largest);
      if (!(c.error < 2e-3)) fail(text{} << work_.name << ": the result differs from f64 arithmetic");
    }
    if (work_.typed && std::memcmp(results_[0].data(), sessions_[0]->result("y").data, static_cast<size_t>(results_[0].bytes())) != 0)
      fail(text{} << work_.name << ": the typed program and the one made at run time give different bits");
  }

 private:
  struct leaf {
    uint32 id;
    tensor_type type;
    run::host::storage data;
  };

  /// Dynamic extents at their bound.
  static tensor_type concrete(tensor_type t) { return run::extent_counts()(t); }

  void load(bool fuse, int threads) {
    const double start = now_ns();
    const device_type device = poot::host(threads);
    plan::options wanted;
    wanted.fuse = fuse;
    auto session = std::make_unique<run::host::session>(device.load(plan::compile(graph_, device.target(), wanted)));
    for (const leaf& l : leaves_) {
      const run::buffer b{l.data.data(), l.type};
      if (graph_.view_of()[l.id].kind == ir::op::weight) session->load_weight(graph_.view_of().name_of(l.id), b);
      else session->bind(graph_.view_of().name_of(l.id), b);
    }
    contestant c{fuse ? "poot" : "poot-unfused", [s = session.get()] { s->run(); }, session->program().dispatch_count(), (now_ns() - start) * 1e-9};
    contestants_.push_back(std::move(c));
    sessions_.push_back(std::move(session));
  }

  const float* input() const { return reinterpret_cast<const float*>(leaves_[0].data.data()); }
  float* new_result() {
    results_.emplace_back(leaves_[0].type.bytes());
    return reinterpret_cast<float*>(results_.back().data());
  }

  void add_typed(int threads) {
    const double start = now_ns();
    auto run = work_.typed(input(), new_result(), threads);
    contestants_.push_back({"poot-typed", std::move(run), 1, (now_ns() - start) * 1e-9});
  }

  void add_loop(int threads) {
    pool_ = std::make_unique<run::host::pool>(threads);
    const float* from = input();
    float* to = new_result();
    contestants_.push_back({"loop", [=, this] {
                              pool_->parallel(leaves_[0].type.element_count(),
                                              [&](int64 begin, int64 end, int) { work_.loop(from, to, begin, end); }, 65536);
                            }});
  }

  using device_type = run::host::device;
  const workload& work_;
  ir::graph graph_;
  std::vector<leaf> leaves_;
  double bytes_ = 0;
  std::vector<std::unique_ptr<run::host::session>> sessions_;
  std::unique_ptr<run::host::pool> pool_;
  std::vector<run::host::storage> results_;
  std::vector<contestant> contestants_;
};

class report {
 public:
  report(bool json, int threads, const machine_limits& limits) : json_(json), threads_(threads), limits_(limits) {}

  void machine() const {
    if (!json_) {
      std::printf("this machine, %d threads:", threads_);
      for (const auto& s : limits_.memory)
        std::printf("\n  over %.1f MiB: read %.1f, copy %.1f, streaming copy %.1f GB/s", static_cast<double>(s.bytes) / (1 << 20), s.read, s.copy, s.streaming);
      std::printf("\n  fused multiply-add in f32: %.0f GFLOP/s\n", limits_.fma_gflops);
      std::printf("best and median time; speed of the best beside the machine's limit, the same unfused, and a loop by hand\n");
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

  void lines(const workload& w, double bytes, const std::vector<contestant>& all) const {
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
    std::printf("; %zu dispatches, unfused %zu; %.1f GB/s, %.0f GFLOP/s", fused.dispatches, all[1].dispatches, bytes / fused.best(), w.flops / fused.best());
    if (fused.error >= 0) std::printf(", error %.1e", fused.error);
    std::printf("; others use %.1f cores\n", others(fused));
  }

  void planning(int64 count, const contestant& c, double of_tenth) const {
    const std::string work = "planning_" + std::to_string(count);
    if (json_) return json(work, f32, 0, 0, c);
    std::printf("%-22s %-5s %9.1f %9.1f us", work.c_str(), "", c.best() * 1e-3, c.median() * 1e-3);
    if (of_tenth > 0) std::printf("  %.1f times as long as a tenth of it", c.best() / of_tenth);
    std::printf("; others use %.1f cores\n", others(c));
  }

 private:
  static double others(const contestant& c) { return std::max(0.0, (c.used.all - c.used.mine) / c.used.wall); }

  void json(const std::string& work, dtype t, double bytes, double flops, const contestant& c) const {
    std::printf("{\"workload\":\"%s\",\"peer\":\"%s\",\"dtype\":\"%s\",\"threads\":%d,\"ns_min\":%.0f,\"ns_median\":%.0f,\"runs\":%zu,"
                "\"others_cpu\":%.2f,\"page_faults\":%lld,\"cores\":%.2f,\"bytes_ideal\":%.0f,\"gbps\":%.2f,\"gflops\":%.2f,\"compile_s\":%.3f",
                work.c_str(), c.name.c_str(), std::string(name(t)).c_str(), threads_, c.best(), c.median(), c.ns.size(), others(c),
                static_cast<long long>(c.used.faults / static_cast<int64>(c.ns.size())), c.used.mine / c.used.wall, bytes,
                bytes / c.best(), flops / c.best(), c.prepared);
    if (c.error >= 0) std::printf(",\"error\":%.1e", c.error);
    std::printf(",\"dispatches\":%zu}\n", c.dispatches);
  }

  bool json_;
  int threads_;
  const machine_limits& limits_;
};

int run_bench(const bench_arguments& a) {
  const std::regex only(a.only);
  machine_limits limits;
  int threads = a.threads;
  {
    run::host::pool pool(a.threads);
    threads = pool.threads();
    limits = probe(pool);
  }
  const report out(a.json, threads, limits);
  out.machine();
  for (const workload& w : workloads()) {
    if (!std::regex_search(w.name, only)) continue;
    bench b(w, threads);
    measure(b.contestants(), a.seconds);
    b.check();
    out.lines(w, b.bytes(), b.contestants());
    std::fflush(stdout);
  }
  double before = 0;
  for (int64 count : {1000, 10000, 100000}) {
    if (!std::regex_search("planning_" + std::to_string(count), only)) continue;
    const ir::graph g = graph_to_plan(count);
    std::vector<contestant> one(1);
    one[0].name = "poot";
    one[0].run = [&] { one[0].dispatches = plan::compile(g, targets::host).view_of().dispatch_count(); };
    measure(one, a.seconds);
    out.planning(count, one[0], before);
    before = one[0].best();
  }
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("bench", "Measure poot beside the limits of this machine, probed in the same run, fused and unfused in turns");
  auto a = std::make_shared<bench_arguments>();
  command->add_flag("--json", a->json, "One JSON object a line, with the keys of benchmarks/peers/README.md");
  command->add_option("--only", a->only, "A regular expression on the names of workloads");
  command->add_option("--threads", a->threads, "0: one for each processor")->capture_default_str()->check(CLI::Range(0, 1024));
  command->add_option("--seconds", a->seconds, "For each contestant of a workload")->capture_default_str()->check(CLI::PositiveNumber);
  command->callback([a, &result] { result.status = run_bench(*a); });
}

}  // namespace poot::tool

/// `poot bench`

#include "bench_loops.hpp"
#include "bench_report.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "options.hpp"

#include <poot/ir/interpret.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/host/memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <regex>

namespace poot::tool {

namespace {

struct bench_arguments {
  bool json = false;
  std::string only, device = "host";
  int threads = 0;
  double seconds = 1;
};

constexpr int64 planned_counts[] = {1000, 10000, 100000};
std::string planning_name(int64 count) { return "planning_" + std::to_string(count); }

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
  bench(const workload& w, const std::string& device, int threads) : work_(w), graph_(w.make(w.size)) {
    const ir::graph_view g = graph_.view_of();
    for (uint32 id = 0; id < g.size(); ++id) {
      if (!ir::is_named_leaf(g[id].kind)) continue;
      const tensor_type t = concrete(g.type(id));
      bytes_ += static_cast<double>(t.bytes());
      if (g[id].kind != ir::op::state) leaves_.push_back({id, t, values_of(g, id, t, w)});
    }
    for (const ir::graph_output& o : g.outputs)
      if (g.state_of(o) == g.size()) bytes_ += static_cast<double>(concrete(g.type(o.value)).bytes());
    for (const bool fuse : {true, false}) load(fuse, device, threads);
    typed_ = w.typed && device == "host";
    if (typed_) add_typed(threads);
    if (w.loop && device == "host") add_loop(threads);
  }

  std::vector<contestant>& contestants() { return contestants_; }
  double bytes() const { return bytes_; }

  /// Compares the fused result with the unfused one, and its first `checked` rows with f64 arithmetic.
  void check() {
    for (const ir::graph_output& o : graph_.view_of().outputs) {
      const std::string_view name = graph_.view_of().chars(o.name);
      const run::buffer fused = devices_[0]->result("main", name), apart = devices_[1]->result("main", name);
      if (std::memcmp(fused.data, apart.data, static_cast<size_t>(fused.type.bytes())) != 0)
        fail(text{} << work_.name << ": fused and unfused give different bits");
    }
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
      const auto* got = static_cast<const float*>(devices_[0]->result("main", n.name).data);
      double worst = 0, largest = 0;
      for (size_t i = 0; i < n.value.bits.size(); ++i) {
        const double exact = std::bit_cast<double>(n.value.bits[i]);
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - exact));
        largest = std::max(largest, std::abs(exact));
      }
      c.error = std::max(c.error, worst / largest);
      if (!(c.error < 2e-3)) fail(text{} << work_.name << ": the result differs from f64 arithmetic");
    }
    if (typed_ && std::memcmp(results_[0].data(), devices_[0]->result("main", "y").data, static_cast<size_t>(results_[0].bytes())) != 0)
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

  void load(bool fuse, const std::string& name, int threads) {
    const double start = now_ns();
    std::unique_ptr<device> on = open_device(name, threads);
    plan::options wanted;
    wanted.fuse = fuse;
    on->add_entry("main", plan::compile(graph_, on->target(), wanted));
    for (const leaf& l : leaves_) {
      const run::buffer b{l.data.data(), l.type};
      const std::string_view of = graph_.view_of().name_of(l.id);
      if (graph_.view_of()[l.id].kind == ir::op::weight) on->load_weight(of, b);
      else on->bind_kept("main", of, b);
    }
    contestants_.push_back({fuse ? "poot" : "poot-unfused", [d = on.get()] { d->run("main"); }, on->program("main").dispatch_count(),
                            (now_ns() - start) * 1e-9});
    devices_.push_back(std::move(on));
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

  const workload& work_;
  ir::graph graph_;
  std::vector<leaf> leaves_;
  double bytes_ = 0;
  bool typed_ = false;
  std::vector<std::unique_ptr<device>> devices_;
  std::unique_ptr<run::host::pool> pool_;
  std::vector<run::host::storage> results_;
  std::vector<contestant> contestants_;
};

/// The pattern of the names that are asked for.
std::regex names_of(const bench_arguments& a) {
  if (a.only.size() > 200) fail("--only: a pattern of more than 200 characters");  // std::regex recurses over long ones
  try {
    return std::regex(a.only);
  } catch (const std::regex_error& e) {
    fail(text{} << "--only " << a.only << ": is no regular expression: " << e.what());
  }
}

/// The workloads whose names match; all of them, on devices other than the host those small enough for a software GPU.
std::vector<workload> chosen(const bench_arguments& a) {
  const std::regex only = names_of(a);
  std::vector<workload> all;
  for (workload& w : workloads())
    if (std::regex_search(w.name, only) && (a.device == "host" || !a.only.empty() || w.small)) all.push_back(std::move(w));
  return all;
}

void measure_planning(const bench_arguments& a, const report& out) {
  const std::regex only = names_of(a);
  double before = 0;
  for (int64 count : planned_counts) {
    if (!std::regex_search(planning_name(count), only)) continue;
    const ir::graph g = graph_to_plan(count);
    std::vector<contestant> one(1);
    one[0].name = "poot";
    one[0].run = [&] { one[0].dispatches = plan::compile(g, targets::host).view_of().dispatch_count(); };
    measure(one, a.seconds);
    out.planning(count, one[0], before);
    before = one[0].best();
  }
}

/// What replay saves the host, of dispatches that take no time themselves.
void measure_replay(const bench_arguments& a, const report& out) {
  if (!std::regex_search(replay_name, names_of(a))) return;
  std::vector<std::unique_ptr<device>> devices;
  std::vector<contestant> all;
  const float x[16]{};
  for (const bool replay : {true, false}) {
    devices.push_back(open_device(a.device, 0, replay));
    device* const d = devices.back().get();
    plan::options wanted;
    wanted.fuse = false;
    d->add_entry("main", plan::compile(additions(512), d->target(), wanted));
    d->bind("main", "x", run::read_only(x, f32, 16));
    all.push_back({replay ? "poot" : "poot-one-by-one", [d] { d->run("main"); }, d->program("main").dispatch_count()});
  }
  measure(all, a.seconds);
  out.replay(all);
}

/// Names that nothing has are refused before anything is measured.
void check_only(const bench_arguments& a, const std::vector<workload>& found) {
  if (!found.empty()) return;
  std::vector<std::string> names;
  for (const workload& w : workloads())
    if (std::find(names.begin(), names.end(), w.name) == names.end()) names.push_back(w.name);
  for (int64 count : planned_counts)
    if (a.device == "host") names.push_back(planning_name(count));
  if (a.device != "host") names.push_back(replay_name);
  text all;
  for (const std::string& n : names) {
    if (std::regex_search(n, names_of(a))) return;
    all << (all.empty() ? "" : ", ") << n;
  }
  fail(text{} << "--only " << a.only << ": no workload has such a name; they are " << all);
}

int run_bench(const bench_arguments& a) {
  const std::vector<workload> found = chosen(a);
  check_only(a, found);
  const bool on_host = a.device == "host";
  const int threads = on_host ? run::host::pool(a.threads).threads() : 0;
  machine_limits limits;
  std::string about;
  {
    const std::unique_ptr<device> d = open_device(a.device, a.threads);
    limits = d->measure_limits();
    about = on_host ? "this machine, " + d->description() : d->description();
  }
  const report out(a.json, about, threads, limits);
  out.machine();
  for (const workload& w : found) {
    bench b(w, a.device, threads);
    measure(b.contestants(), a.seconds);
    b.check();
    out.lines(w, b.bytes(), b.contestants());
    std::fflush(stdout);
  }
  if (on_host) measure_planning(a, out);
  else measure_replay(a, out);
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("bench", "Measure poot beside the limits of this machine, probed in the same run, fused and unfused in turns");
  auto a = std::make_shared<bench_arguments>();
  command->add_flag("--json", a->json, "One JSON object a line, with the keys of benchmarks/peers/README.md");
  command->add_option("--only", a->only, "A regular expression on the names of workloads; without it, a device other than the host measures those small enough for a software GPU");
  add_device_option(*command, a->device);
  add_threads_option(*command, a->threads);
  command->add_option("--seconds", a->seconds, "For each contestant of a workload")->capture_default_str()->check(number(1e-3, 86400));
  command->callback([a, &result] { result.status = run_bench(*a); });
}

}  // namespace poot::tool

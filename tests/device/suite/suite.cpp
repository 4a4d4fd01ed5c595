#include "suite.hpp"

#include <poot/ir/equal.hpp>
#include <poot/plan/compile.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace poot_tests {

namespace {

/// What of `g` a target has no form of. (The host takes everything but split attention.)
expected_refusals refusals_of(const ir::graph_view& g, const target& where) {
  expected_refusals all;
  using plan::capability;
  if (where.kind == backend::host) {
    for (const ir::eqn& e : g.eqns)
      if (e.kind == op::attention_parts || e.kind == op::attention_join) all.emplace(e.kind, capability::attention);
    return all;
  }
  const std::set<op> functions = {op::exp, op::log, op::sin, op::cos, op::tanh, op::erf, op::pow};
  for (const ir::eqn& e : g.eqns) {
    if (e.type.element == f64) all.emplace(e.kind, functions.count(e.kind) ? capability::f64_functions : capability::f64_values);
    if (e.kind == op::custom && e.custom->steps.empty()) all.emplace(e.kind, capability::custom_functions);
    if (e.kind == op::rope && !where.caps.rope) all.emplace(e.kind, capability::rope);
    if (ir::is_attention(e.kind) && !where.caps.attention) all.emplace(e.kind, capability::attention);
    const std::set<uint32> read(g.operands(e).begin(), g.operands(e).end());
    if (static_cast<int>(read.size()) + 1 > where.caps.max_buffers) all.emplace(e.kind, capability::max_buffers);
  }
  return all;
}

/// Can op `o` have an operand of type `t`, or be a leaf of that type?
bool may_meet(op o, dtype t) {
  switch (o) {
    case op::random_uniform: return t == f32;
    case op::select: return !is_packed(t);                      // what is picked; the condition is i32
    case op::custom:
    case op::attention:
    case op::attention_parts:
    case op::packed_contraction: return is_float(t) && t != f64;
    case op::attention_join: return t == f32;
    case op::packed_gather: return is_packed(t);                // what the pass makes of gather
    default: return ir::accepts(ir::row(o).accepts, t);
  }
}

std::vector<ir::interpretation> interpreted(const ir::graph_view& g, const sample& s, const device_caps& caps) {
  return interpret_runs(g, s.given, ir::outside::clamp, caps.flushes ? subnormals::flushed : subnormals::kept);
}

std::set<std::pair<op, dtype>> ops_of(const ir::graph_view& g) {
  std::set<std::pair<op, dtype>> all;
  for (const ir::eqn& e : g.eqns) {
    const view<uint32> in = g.operands(e);
    all.emplace(e.kind, ir::is_leaf(e.kind) ? e.type.element : g.type(in[e.kind == op::select ? 1 : 0]).element);
  }
  return all;
}

constexpr size_t samples_at_once = 24;

thread_local std::string running;

/// A crash names its sample too.
void name_and_die(int signal) {
  std::printf("FAIL %s: signal %d\n", running.c_str(), signal);
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace

const std::vector<ir::interpretation>& suite::referenced::on(const device_caps& caps, std::mutex& making) {
  const std::lock_guard one_at_a_time(making);
  const auto [at, is_new] = wanted.try_emplace({caps.fma_fused, caps.flushes});
  auto& [key, reference] = *at;
  if (is_new) {
    pass::record notes;
    reference.ordered = pass::prepare_reductions(made.graph, target{.caps = caps}, false, notes);
    reference.results = interpreted(reference.ordered, made, caps);
  }
  return reference.results;
}

void suite::run(const executors& on) {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, name_and_die);
  for (size_t first = 0; first < all_.size(); first += samples_at_once) {
    std::vector<referenced> some;
    for (size_t i = first; i < all_.size() && i < first + samples_at_once; ++i) try {
        some.push_back({all_[i].name, all_[i].make(), all_[i].has_long_kernels, {}});
      } catch (const std::exception& thrown) {
        check(std::string("no program: ") + thrown.what(), all_[i].name);
      }
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i; (i = next++) < on.size();) run_some(*on[i], some);
    };
    std::thread beside(work);
    work();
    beside.join();
  }
}

bool suite::is_left_out(const executor& e, const referenced& r, const ir::graph_view& planned, counts& c) const {
  const size_t in = is_patient_ || !r.has_long_kernels ? 1 : e.one_long_kernel_in();
  const auto ops = ops_of(planned);
  if (in == 1 || !std::includes(c.met.begin(), c.met.end(), ops.begin(), ops.end()) || c.long_kernels++ % static_cast<int>(in) == 0) return false;
  ++c.left_out;
  return true;
}

void suite::run_some(executor& e, std::vector<referenced>& some) {
  const auto began = std::chrono::steady_clock::now();
  counts& c = [&]() -> counts& {
    const std::lock_guard one_at_a_time(counting_);
    return counted_[e.name()];
  }();
  std::vector<std::pair<referenced*, planned_sample>> planned;
  std::vector<plan::program> coming;
  plan::options apart;
  apart.fuse = false;
  for (referenced& r : some) {
    planned_sample p{plan::compile(r.made.graph, e.where()), plan::compile(r.made.graph, e.where(), apart)};
    if (is_left_out(e, r, p.fused.graph, c)) continue;
    for (const ir::graph_view& g : {r.made.graph.view_of(), p.fused.graph.view_of()}) c.met.merge(ops_of(g));
    coming.push_back(p.fused);
    coming.push_back(p.unfused);
    planned.push_back({&r, std::move(p)});
  }
  try {
    e.prepare(coming);
    for (const auto& [r, p] : planned) run_one(e, *r, p, c);
  } catch (const std::exception& thrown) {
    check(thrown.what(), e.name() + ", from \"" + some.front().name + "\" on");
  }
  c.took += std::chrono::steady_clock::now() - began;
}

void suite::run_one(executor& e, referenced& r, const planned_sample& p, counts& c) {
  if (!p.fused.refused.empty() || !p.unfused.refused.empty() || !refusals_of(r.made.graph, e.where()).empty())
    return check(refused(e, r, p, c), r.name + ", refused on " + e.name());
  ++c.ran;
  if (!ir::structurally_equal(p.fused.graph, p.unfused.graph)) return check("fusion changes the graph", r.name);
  // Recognising a chain may move a rounding. Then the recognised graph says what its values are.
  const bool exact = p.fused.comparison_class() == plan::comparison::exact;
  for (const plan::program* planned : {&p.fused, &p.unfused}) {
    running = r.name + (planned == &p.fused ? ", fused, on " : ", unfused, on ") + e.name();
    std::string wrong;
    try {
      const std::vector<ir::interpretation> want = exact ? r.on(e.where().caps, making_) : interpreted(p.fused.graph, r.made, e.where().caps);
      const std::unique_ptr<machine> m = e.load(*planned);
      for (size_t k = 0; k < want.size() && wrong.empty(); ++k)
        if (wrong = difference(want[k], m->run(r.made.given[k]), r.made.moves ? nans::by_their_bits : nans::alike); !wrong.empty()) wrong = "run " + std::to_string(k) + ", " + wrong;
      if (wrong.empty()) wrong = e.complaints();
    } catch (const std::exception& thrown) {
      wrong = std::string("refused: ") + thrown.what();
    }
    check(wrong, running);
  }
}

/// What is wrong with how a sample is refused.
std::string suite::refused(executor& e, const referenced& r, const planned_sample& p, counts& c) {
  const expected_refusals expected = refusals_of(p.fused.graph, e.where());
  if (expected.empty() != refusals_of(r.made.graph, e.where()).empty()) return "the passes remove what should be refused";
  std::set<std::string> missing;
  for (const auto& [o, capability] : expected) missing.insert(std::string(plan::explain(capability).substr(0, plan::explain(capability).find(':'))));
  for (const std::string& m : missing) ++c.refused[m];
  for (const plan::program* planned : {&p.fused, &p.unfused}) {
    expected_refusals found;
    for (const plan::refusal& refusal : planned->refused) found.emplace(planned->graph.eqns[refusal.equation].kind, refusal.missing);
    for (const auto& [o, capability] : expected)
      if (!found.count({o, capability})) return "the plan does not refuse " + std::string(ir::name(o)) + ": " + std::string(plan::explain(capability));
    for (const auto& [o, capability] : found)
      if (!expected.count({o, capability})) return "the plan refuses " + std::string(ir::name(o)) + ": " + std::string(plan::explain(capability));
    const std::string reason(plan::explain(planned->refused[0].missing));
    try {
      e.load(*planned);
      return "it is loaded, and should be refused: " + reason;
    } catch (const error& refusal) {
      if (std::string(refusal.what()).find(reason) == std::string::npos) return "refused without \"" + reason + "\": " + refusal.what();
    }
  }
  return {};
}

void suite::check_coverage() {
  std::set<std::pair<op, dtype>> met;
  for (const auto& [executor, c] : counted_) met.insert(c.met.begin(), c.met.end());
  for (int i = 0; i < ir::op_count; ++i) {
    const op o = static_cast<op>(i);
    if (ir::is_collective(o)) continue;  // of several ranks: tests/unit/run/collectives.cpp
    std::string unmet;
    for (int t = 0; t < dtype_count; ++t)
      if (may_meet(o, static_cast<dtype>(t)) && !met.count({o, static_cast<dtype>(t)})) unmet += " " + std::string(name(static_cast<dtype>(t)));
    check(unmet.empty() ? "" : "no sample has one of" + unmet, std::string(ir::name(o)));
  }
}

void suite::skip(const std::string& why) {
  ++skipped_;
  std::printf("[SKIP] %s\n", why.c_str());
}

void suite::check(const std::string& wrong, const std::string& where) {
  const std::lock_guard one_at_a_time(counting_);
  ++(wrong.empty() ? passed_ : failed_);
  if (!wrong.empty()) std::printf("FAIL %s: %s\n", where.c_str(), wrong.c_str());
  std::fflush(stdout);
}

int suite::finish() const {
  int left_out = 0;
  for (const auto& [executor, c] : counted_) {
    std::printf("%s: %d programs ran, fused and unfused, in %.1f s;", executor.c_str(), c.ran, c.took.count());
    std::string refused;
    for (const auto& [what, programs] : c.refused) refused += (refused.empty() ? " " : ", ") + std::to_string(programs) + " for want of " + what;
    std::printf(" refused as they should be:%s\n", refused.empty() ? " none" : refused.c_str());
    left_out += c.left_out;
    if (c.left_out)
      std::printf("[SKIP] %s: %d programs of ops that others have shown; their kernels take long to compile\n", executor.c_str(), c.left_out);
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed_, failed_, skipped_ + left_out);
  return failed_ != 0;
}

}  // namespace poot_tests

#include "suite.hpp"

#include <poot/ir/equal.hpp>
#include <poot/plan/compile.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace poot_tests {

namespace {

/// What of `g` kernels for a device have no form of. (The host takes everything.)
expected_refusals refusals_of(const ir::graph_view& g, const target& where) {
  expected_refusals all;
  if (where.kind == backend::host) return all;
  for (const ir::eqn& e : g.eqns) {
    const std::set<op> functions = {op::exp, op::log, op::sin, op::cos, op::tanh, op::erf, op::pow};
    if (e.type.element == f64) all.emplace(e.kind, functions.count(e.kind) ? plan::capability::f64_functions : plan::capability::f64_values);
    if (e.kind == op::custom) all.emplace(e.kind, plan::capability::custom_functions);
  }
  return all;
}

/// The buffers of the first equation that binds more than a device can; 0 if there is none.
size_t too_many_buffers(const ir::graph_view& g, const device_caps& caps) {
  for (const ir::eqn& e : g.eqns) {
    const std::set<uint32> read(g.operands(e).begin(), g.operands(e).end());
    if (static_cast<int>(read.size()) + 1 > caps.max_buffers) return read.size() + 1;
  }
  return 0;
}

/// Can op `o` have an operand of type `t`, or be a leaf of that type?
bool may_meet(op o, dtype t) {
  switch (o) {
    case op::random_uniform: return t == f32;
    case op::select: return !is_packed(t);                      // what is picked; the condition is i32
    case op::custom:
    case op::packed_contraction: return is_float(t) && t != f64;
    case op::packed_gather: return is_packed(t);                // what the pass makes of gather
    default: return ir::accepts(ir::row(o).accepts, t);
  }
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
    reference.ordered = pass::prepare_reductions(made.graph, caps.fma_fused, notes);
    reference.results = interpret_runs(reference.ordered, made.given, ir::outside::clamp, caps.flushes ? subnormals::flushed : subnormals::kept);
  }
  return reference.results;
}

suite::counts& suite::counts::operator+=(const counts& more) {
  ran += more.ran;
  for (const auto& [what, programs] : more.refused) refused[what] += programs;
  took += more.took;
  return *this;
}

void suite::run(const executors& on) {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, name_and_die);
  for (size_t first = 0; first < all_.size(); first += samples_at_once) {
    std::vector<referenced> some;
    for (size_t i = first; i < all_.size() && i < first + samples_at_once; ++i) some.push_back({all_[i].name, all_[i].make(), {}});
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i; (i = next++) < on.size();) run_some(*on[i], some);
    };
    std::thread beside(work);
    work();
    beside.join();
  }
}

void suite::run_some(executor& e, std::vector<referenced>& some) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<planned_sample> planned;
  std::vector<plan::program> coming;
  plan::options apart;
  apart.fuse = false;
  for (const referenced& r : some) {
    planned.push_back({plan::compile(r.made.graph, e.where()), plan::compile(r.made.graph, e.where(), apart)});
    coming.push_back(planned.back().fused);
    coming.push_back(planned.back().unfused);
  }
  try {
    e.prepare(coming);
  } catch (const std::exception& thrown) {
    check(thrown.what(), e.name() + ", from \"" + some.front().name + "\" on");
    return;
  }
  counts c;
  for (size_t i = 0; i < some.size(); ++i) run_one(e, some[i], planned[i], c);
  c.took = std::chrono::steady_clock::now() - began;

  const std::lock_guard one_at_a_time(counting_);
  counted_[e.name()] += c;
  for (size_t i = 0; i < some.size(); ++i) {
    note_ops(some[i].made.graph);
    note_ops(planned[i].fused.graph);
  }
}

void suite::run_one(executor& e, referenced& r, const planned_sample& p, counts& c) {
  const size_t buffers = too_many_buffers(r.made.graph, e.where().caps);
  if (!p.fused.refused.empty() || !p.unfused.refused.empty() || buffers || !refusals_of(r.made.graph, e.where()).empty())
    return check(refused(e, r, p, c), r.name + ", refused on " + e.name());
  ++c.ran;
  if (p.fused.comparison_class() != plan::comparison::exact) return check("its values are not exact", r.name);
  if (!ir::structurally_equal(p.fused.graph, p.unfused.graph)) return check("fusion changes the graph", r.name);
  for (const plan::program* planned : {&p.fused, &p.unfused}) {
    running = r.name + (planned == &p.fused ? ", fused, on " : ", unfused, on ") + e.name();
    std::string wrong;
    try {
      const std::vector<ir::interpretation>& want = r.on(e.where().caps, making_);
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
  const size_t buffers = too_many_buffers(r.made.graph, e.where().caps);
  std::set<std::string> missing;
  for (const auto& [o, capability] : expected) missing.insert(std::string(plan::explain(capability).substr(0, plan::explain(capability).find(':'))));
  if (buffers) missing.insert("max_buffers");
  for (const std::string& m : missing) ++c.refused[m];
  for (const plan::program* planned : {&p.fused, &p.unfused}) {
    expected_refusals found;
    for (const plan::refusal& refusal : planned->refused) found.emplace(planned->graph.eqns[refusal.equation].kind, refusal.missing);
    for (const auto& [o, capability] : expected)
      if (!found.count({o, capability})) return "the plan does not refuse " + std::string(ir::name(o)) + ": " + std::string(plan::explain(capability));
    for (const auto& [o, capability] : found)
      if (!expected.count({o, capability})) return "the plan refuses " + std::string(ir::name(o)) + ": " + std::string(plan::explain(capability));
    const std::string reason = buffers ? std::to_string(buffers) + " buffers" : std::string(plan::explain(planned->refused[0].missing));
    try {
      e.load(*planned);
      return "it is loaded, and should be refused: " + reason;
    } catch (const error& refusal) {
      if (std::string(refusal.what()).find(reason) == std::string::npos) return "refused without \"" + reason + "\": " + refusal.what();
    }
  }
  return {};
}

void suite::note_ops(const ir::graph_view& g) {
  for (const ir::eqn& e : g.eqns) {
    const view<uint32> in = g.operands(e);
    met_.emplace(e.kind, ir::is_leaf(e.kind) ? e.type.element : g.type(in[e.kind == op::select ? 1 : 0]).element);
  }
}

void suite::check_coverage() {
  for (int i = 0; i < ir::op_count; ++i) {
    const op o = static_cast<op>(i);
    if (ir::row(o).kind == ir::op_class::collective) {
      const tensor_type t = type_of(f32, 2);
      check(ir::infer(o, {}, {&t, 1}, t).broken == ir::rule::collectives ? "" : "collectives have come: they need samples", std::string(ir::name(o)));
      continue;
    }
    std::string unmet;
    for (int t = 0; t < dtype_count; ++t)
      if (may_meet(o, static_cast<dtype>(t)) && !met_.count({o, static_cast<dtype>(t)})) unmet += " " + std::string(name(static_cast<dtype>(t)));
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
  for (const auto& [executor, c] : counted_) {
    std::printf("%s: %d programs ran, fused and unfused, in %.1f s;", executor.c_str(), c.ran, c.took.count());
    std::string refused;
    for (const auto& [what, programs] : c.refused) refused += (refused.empty() ? " " : ", ") + std::to_string(programs) + " for want of " + what;
    std::printf(" refused as they should be:%s\n", refused.empty() ? " none" : refused.c_str());
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed_, failed_, skipped_);
  return failed_ != 0;
}

}  // namespace poot_tests

#pragma once
/// The CPU as a device:
///
///     auto device = poot::host();
///     auto run = device.load<y>();                                       // a typed model, planned by the compiler
///     run(poot::bind<"x">(xs), poot::bind<"gain">(gs), poot::into<"y">(out));
///
///     auto session = device.load(poot::compile(g, device.target()));     // a graph made at run time
///     session.bind("x", poot::read_only(xs.data(), poot::f32, 8, 4096)).run();

#include <poot/dsl/bind.hpp>
#include <poot/plan/planned.hpp>
#include <poot/run/host/executor.hpp>

namespace poot::run::host {

/// One loaded program with memory of its own.
class session {
 public:
  session(plan::program p, int threads, const load_options& options = {})
      : executor_(std::make_unique<executor>(threads)), entry_(&executor_->add_entry("main", std::move(p), options)) {}

  const plan::program_view& program() const { return entry_->program(); }
  /// Lends memory for an input, a weight or a state until the next call for that name.
  session& bind(std::string_view name, const buffer& b) {
    entry_->bind(name, b);
    return *this;
  }
  /// Lends memory for a result; a result without is kept here.
  session& into(std::string_view name, const buffer& b) {
    entry_->into(name, b);
    return *this;
  }
  /// Gives a weight once, laid out for the contractions that read it. Returns whether its memory must stay valid.
  bool load_weight(std::string_view name, const buffer& b) { return executor_->load_weight(name, b); }
  void run() { entry_->run(); }
  /// Where a result lies after a run, with its concrete type.
  buffer result(std::string_view name) const { return entry_->result(name); }

 private:
  std::unique_ptr<executor> executor_;
  entry* entry_;
};

/// A typed model, loaded: names and element types of a call are checked when it compiles, counts when it runs.
template <auto Model, plan::options Wanted>
class typed_session {
 public:
  explicit typed_session(int threads)
      : session_(plan::instantiate<Model, targets::host, Wanted>(), threads,
                 load_options{.kernels = straight_kernels<planned<Model, targets::host, Wanted>>()}) {}

  /// Binds and runs. States that are not bound keep their values here, zero at first.
  template <dsl::any_binding... B>
  void operator()(const B&... bindings) {
    static_assert(dsl::check_bindings<Model, dsl::must_bind::inputs_and_weights, B...>());
    (lend(bindings), ...);
    session_.run();
  }
  const plan::program_view& program() const { return session_.program(); }
  buffer result(std::string_view name) const { return session_.result(name); }

 private:
  template <dsl::any_binding B>
  void lend(const B& b) {
    const ir::graph_view& g = session_.program().graph;
    void* data = const_cast<void*>(static_cast<const void*>(b.data()));
    if constexpr (B::is_result) {
      for (const ir::graph_output& o : g.outputs)
        if (g.chars(o.name) == B::name) session_.into(B::name, {data, concrete(B::name, g.type(o.value), b.count())});
    } else {
      session_.bind(B::name, {data, concrete(B::name, g.type(g.find_leaf(B::name)), b.count())});
    }
  }

  /// The declared type with its one dynamic extent, if any, as `count` elements (bytes of a packed type) say.
  static tensor_type concrete(std::string_view name, tensor_type t, size_t count) {
    int64 fixed = 1, dynamic = -1;
    int unknown = 0;
    for (int i = 0; i < t.rank; ++i) {
      if (!t.extents[i].is_dynamic()) fixed *= t.extents[i].code;
      else dynamic = i, ++unknown;
    }
    const auto given = static_cast<int64>(is_packed(t.element) ? count / row(t.element).block_bytes * row(t.element).block_elements : count);
    if (unknown > 1) fail(text{} << "bind \"" << name << "\": the elements of several dynamic extents cannot be told from a count");
    if (unknown == 1) {
      if (fixed == 0 || given % fixed != 0)
        fail(text{} << "bind \"" << name << "\": " << given << " elements are no whole number of rows of " << fixed);
      t.extents[dynamic] = extent(given / fixed);
    } else if (given != fixed) {
      fail(text{} << "bind \"" << name << "\": the model has " << fixed << " elements, " << given << " are given");
    }
    return t;
  }

  session session_;
};

/// The CPU this program runs on. Cheap to copy; sessions own their threads.
class device {
 public:
  /// 0 threads: one for each processor, or as many as POOT_THREADS says.
  explicit device(int threads = 0) : threads_(threads) {}

  constexpr poot::target target() const { return targets::host; }
  /// Loads a planned program.
  session load(plan::program p) const { return {std::move(p), threads_}; }
  /// Loads a typed model, whose plan is `planned<Model, targets::host, Wanted>`.
  template <auto Model, plan::options Wanted = plan::options{}>
  typed_session<Model, Wanted> load() const {
    return typed_session<Model, Wanted>(threads_);
  }
  /// An executor for several entries that share weights and states.
  executor make_executor() const { return executor(threads_); }

 private:
  int threads_;
};

}  // namespace poot::run::host

namespace poot {
/// The CPU as a device.
inline run::host::device host(int threads = 0) { return run::host::device(threads); }
using run::read_only, run::writable, run::buffer;
using plan::compile, plan::options, plan::program;
}  // namespace poot

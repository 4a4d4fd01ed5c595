#pragma once
/// The CPU as a device:
///
///     auto device = poot::host();
///     auto run = device.load<y>();                                       // a typed model, planned by the compiler
///     run(poot::bind<"x">(xs), poot::bind<"gain">(gs), poot::into<"y">(out));
///
///     auto session = device.load(poot::compile(g, device.target()));     // a graph made at run time
///     session.bind("x", poot::read_only(xs.data(), poot::f32, 8, 4096)).run();

#include <poot/plan/planned.hpp>
#include <poot/run/host/executor.hpp>
#include <poot/run/typed_session.hpp>

namespace poot::run::host {

/// One loaded program with memory of its own.
class session {
 public:
  session(plan::program p, int threads, const load_options& options = {})
      : executor_(std::make_unique<executor>(threads)), entry_(&executor_->add_entry("main", std::move(p), options)) {}

  const plan::program_view& program() const { return entry_->program(); }
  /// Lends memory for an input, a weight or a state until the next call for that name, `load_weight` included.
  session& bind(std::string_view name, const buffer& b) {
    entry_->bind(name, b);
    return *this;
  }
  /// Lends memory for a result. A result without is kept here, and the new value of a state lies where that is bound.
  session& into(std::string_view name, const buffer& b) {
    entry_->into(name, b);
    return *this;
  }
  /// Gives a weight, laid out for the contractions that read it, until the next call for that name. Returns whether its
  /// memory must stay valid until then.
  bool load_weight(std::string_view name, const buffer& b) { return executor_->load_weight(name, b); }
  void run() { entry_->run(); }
  /// Where a result lies after a run, with its concrete type. Throws `error` where there was none, or the last one failed.
  buffer result(std::string_view name) const { return entry_->result(name); }

 private:
  std::unique_ptr<executor> executor_;
  entry* entry_;
};

/// The CPU this program runs on. Cheap to copy; sessions own their threads.
class device {
 public:
  /// 0 threads: one for each processor, or as many as POOT_THREADS says.
  explicit device(int threads = 0) : threads_(threads) {}

  constexpr poot::target target() const { return targets::host; }
  /// Loads a planned program.
  session load(plan::program p) const { return {std::move(p), threads_}; }
  /// The same of a program with collectives: `ranks` is the communicator of this rank, and stays as long as the session.
  session load(plan::program p, communicator& ranks) const { return {std::move(p), threads_, load_options{.ranks = &ranks}}; }
  /// Loads a typed model, whose plan is `planned<Model, targets::host, Wanted>`.
  template <auto Model, plan::options Wanted = plan::options{}>
  typed_session<Model, session> load() const {
    return load_typed<Model, Wanted>(nullptr);
  }
  /// The same of a model with collectives.
  template <auto Model, plan::options Wanted = plan::options{}>
  typed_session<Model, session> load(communicator& ranks) const {
    return load_typed<Model, Wanted>(&ranks);
  }
  /// An executor for several entries that share weights and states.
  executor make_executor() const { return executor(threads_); }

 private:
  template <auto Model, plan::options Wanted>
  typed_session<Model, session> load_typed(communicator* ranks) const {
    return typed_session<Model, session>({plan::instantiate<Model, targets::host, Wanted>(), threads_,
                                          load_options{.kernels = straight_kernels<planned<Model, targets::host, Wanted>>(), .ranks = ranks}});
  }
  int threads_;
};

}  // namespace poot::run::host

namespace poot {
/// The CPU as a device.
inline run::host::device host(int threads = 0) { return run::host::device(threads); }
using run::read_only, run::writable, run::buffer;
using plan::compile, plan::options, plan::program;
}  // namespace poot

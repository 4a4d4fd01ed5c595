#pragma once
/// A Vulkan device:
///
///     auto device = poot::vulkan(0);
///     auto run = device.load<y>();                                       // a typed model
///     run(poot::bind<"x">(xs), poot::bind<"gain">(gs), poot::into<"y">(out));
///
///     auto session = device.load(poot::compile(g, device.target()));     // a graph made at run time
///     session.bind("x", poot::read_only(xs.data(), poot::f32, 8, 4096)).run();
///
/// Nothing of Vulkan is linked: where there is no loader, no driver or no compiler, the first call says so.

#include <poot/dsl/trace.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/typed_session.hpp>
#include <poot/run/vulkan/executor.hpp>

namespace poot::run::vulkan {

/// One loaded program with memory of its own.
class session {
 public:
  session(plan::program p, std::shared_ptr<opened_device> d)
      : executor_(std::make_unique<executor>(std::move(d))), entry_(&executor_->add_entry("main", std::move(p))) {}

  const plan::program_view& program() const { return entry_->program(); }
  /// Lends memory for an input, a weight or a state until the next call for that name, `load_weight` included. The bytes of
  /// a weight or a state are taken by the next run, and not looked at again.
  session& bind(std::string_view name, const buffer& b) {
    entry_->bind(name, b);
    return *this;
  }
  /// Lends memory for a result. A result without is kept here, and the new value of a state lies where that is bound.
  session& into(std::string_view name, const buffer& b) {
    entry_->into(name, b);
    return *this;
  }
  /// Memory of the session for an input, with dynamic extents at their bounds: what is bound from here is not copied.
  buffer own_input(std::string_view name) const { return entry_->own_input(name); }
  /// Gives a weight until the next call for that name. Returns whether its memory must stay valid: it need not.
  bool load_weight(std::string_view name, const buffer& b) { return executor_->load_weight(name, b); }
  void run() { entry_->run(); }
  /// Where a result lies after a run, with its concrete type; until the next run. Throws `error` where there was none, or the
  /// last one failed.
  buffer result(std::string_view name) const { return entry_->result(name); }
  counters counted() const { return executor_->counted(); }

 private:
  std::unique_ptr<executor> executor_;
  entry* entry_;
};

/// A device of those that the loader finds. Cheap to copy; opened when it is first used, and closed with its last session.
class device {
 public:
  /// Throws `error` where there is no such device, and says what there is.
  explicit device(int index, const device_options& wanted = {}) : opened_(opened_device::get(index, wanted)) {}

  /// Its limits as it states them and its arithmetic as it was measured.
  poot::target target() const { return opened_->is; }
  std::string_view name() const { return opened_->open.about().name(); }
  counters counted() const { return opened_->open.counted(); }

  /// Loads a planned program.
  session load(plan::program p) const { return {std::move(p), opened_}; }
  /// Plans a typed model for this device and loads it.
  template <auto Model, plan::options Wanted = plan::options{}>
  typed_session<Model, session> load() const {
    return typed_session<Model, session>(load(plan::compile(frozen<Model>.view(), target(), Wanted)));
  }
  /// An executor for several entries that share weights and states.
  executor make_executor() const { return executor(opened_); }

 private:
  std::shared_ptr<opened_device> opened_;
};

}  // namespace poot::run::vulkan

namespace poot {
/// The Vulkan device number `index`, in the order of the loader.
inline run::vulkan::device vulkan(int index, const run::vulkan::device_options& wanted = {}) { return run::vulkan::device(index, wanted); }
using run::read_only, run::writable, run::buffer;
using plan::compile, plan::options, plan::program;
}  // namespace poot

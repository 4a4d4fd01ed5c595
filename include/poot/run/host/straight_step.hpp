#pragma once
/// A launch of a straight-line kernel.

#include <poot/run/host/region.hpp>
#include <poot/run/host/step.hpp>
#include <poot/run/host/straight_line.hpp>

namespace poot::run::host {

class straight_step : public step {
 public:
  straight_step(const plan::program_view& p, const plan::launch& l, straight_function kernel)
      : launch_(l), kernel_(kernel), count_(p.graph.type(p(l.outputs)[0]).element_count()) {
    const int64 of_one = l.flops / (count_ ? count_ : 1) + 2;
    grain_ = operations_per_thread / of_one + 1;
    inputs_.resize(l.inputs.count, nullptr);
    outputs_.resize(l.outputs.count, nullptr);
  }

  void prepare(const run_context& c) override {
    for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = c.at<float>(c.program(launch_.inputs)[i]);
    for (size_t o = 0; o < outputs_.size(); ++o) outputs_[o] = c.at<float>(c.program(launch_.outputs)[o]);
    // past the caches where the results do not fit them, and only if all lie alike
    streams_ = 4 * count_ * static_cast<int64>(outputs_.size()) > stream_above_bytes;
    for (const float* out : outputs_)
      streams_ = streams_ && reinterpret_cast<uintptr_t>(out) % 64 == reinterpret_cast<uintptr_t>(outputs_[0]) % 64 &&
                 reinterpret_cast<uintptr_t>(out) % 4 == 0;
  }

  void run(const run_context& c) override {
    c.threads.parallel(count_, [&](int64 begin, int64 end, int) {
      kernel_(inputs_.data(), outputs_.data(), begin, end, streams_);
      if (streams_) finish_streams();
    }, grain_);
  }

 private:
  plan::launch launch_;
  straight_function kernel_;
  int64 count_, grain_ = 1;
  vec<const float*> inputs_;
  vec<float*> outputs_;
  bool streams_ = false;
};

}  // namespace poot::run::host

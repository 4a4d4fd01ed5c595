#pragma once
/// A launch in check mode: its equations run one by one, then the fused body, on the same inputs; the first value that
/// differs is an error, and so is an index that lies outside.

#include <poot/run/host/make_step.hpp>
#include <poot/run/host/straight_step.hpp>
#include <poot/run/tables.hpp>

#include <vector>

namespace poot::run::host {

/// The first value in which a fused region differs from its equations one by one.
struct mismatch {
  uint32 launch = 0;    ///< its number in the program
  uint32 equation = 0;
  int64 index = 0;      ///< of the element, row-major
  uint64 fused = 0, unfused = 0;  ///< bits
};

class difference_found : public error {
 public:
  difference_found(const text& message, const mismatch& first) : error(message), first_(first) {}
  const mismatch& first() const { return first_; }

 private:
  mismatch first_;
};

/// How a program is loaded.
struct load_options {
  bool check = false;  ///< slow: every region also runs unfused
  view<straight_function> kernels{};  ///< of a typed program: the straight-line kernel of each launch, null where it has none
  communicator* ranks = nullptr;  ///< of this rank, for a program that has collectives; stays as long as the program
  /// Exchanges the step of a launch; tests break a region's body with it.
  std::unique_ptr<step> (*substitute)(std::unique_ptr<step>, const plan::program_view&, const plan::launch&) = nullptr;
};

class checked_step : public step {
 public:
  checked_step(const plan::program_view& p, uint32 number, const plan::launch& l, std::unique_ptr<step> fused)
      : alone_(p), launch_(l), number_(number), fused_(std::move(fused)), members_(p(l.members)), outputs_(p(l.outputs)) {
    alone_.ids = members_;
    for (uint32 k = 0; k < members_.size(); ++k) {
      plan::launch one;
      one.kind = fuse::kind_of(p.graph, members_[k]);
      one.members = one.outputs = {k, 1};
      steps_.push_back(make_step(alone_, one));
    }
  }

  void prepare(const run_context& c) override {
    fused_->prepare(c);
    place(c);
    const run_context own = context(c);
    for (const std::unique_ptr<step>& s : steps_) s->prepare(own);
  }

  void run(const run_context& c) override {
    const run_context own = context(c);
    const bool compares = members_.size() > 1;
    for (uint32 k = 0; k < members_.size(); ++k) {
      refuse_outside(own, members_[k]);
      if (compares) steps_[k]->run(own);
    }
    fused_->run(c);
    if (!compares) return;
    for (uint32 id : outputs_) compare(c, id);
  }

 private:
  run_context context(const run_context& c) const { return {alone_, memory_, c.counts, c.loaded, c.threads, c.ranks, c.digest}; }

  /// Memory of its own for every member, and for what no other kernel needs in memory: the constants of a body.
  void place(const run_context& c) {
    memory_ = c.memory;
    int64 bytes = 0;
    each_own(c, [&](uint32, const tensor_type& t) { bytes += plan::aligned(t.bytes()); });
    if (room_.bytes() < bytes) room_ = storage(bytes);
    char* at = room_.data();
    each_own(c, [&](uint32 id, const tensor_type& t) {
      memory_[id] = at;
      at += plan::aligned(t.bytes());
      if (c.program.graph[id].kind == ir::op::constant) fill_constant(t, c.program.graph.attrs(id), memory_[id]);
    });
    for (uint32 id = 0; id < memory_.size(); ++id)  // views of members
      if (const plan::placement& p = c.program.placements[id]; p.where == plan::place::view) memory_[id] = memory_[p.index];
  }
  template <class F>
  void each_own(const run_context& c, F&& f) const {
    const ir::graph_view& g = c.program.graph;
    for (uint32 id : members_) f(id, c.type(id));
    vec<uint32> seen;
    for (uint32 id : members_)
      for (uint32 in : g.operands(id)) {
        bool again = c.memory[in] != nullptr || g[in].kind != ir::op::constant;
        for (uint32 s : seen) again = again || s == in;
        if (again) continue;
        seen.push_back(in);
        f(in, c.type(in));
      }
  }

  void refuse_outside(const run_context& own, uint32 id) const {
    const ir::graph_view& g = own.program.graph;
    const ir::eqn& e = g[id];
    const view<uint32> in = g.operands(id);
    const auto refuse = [&](int64 value, int64 at, int64 last) {
      fail(text{} << "check: %" << id << ' ' << ir::name(e.kind) << ": index " << value << " at " << at << " of %" << in[in.size() - 1]
                  << " is outside 0 to " << last);
    };
    const bool indexed = ir::is_contraction(e.kind) && e.kind != ir::op::conv2d && in.size() == 3;
    if (e.kind == ir::op::gather || e.kind == ir::op::packed_gather || indexed) {
      const uint32 index = in[in.size() - 1];
      const int64 extent = indexed ? own.type(in[1]).extents[0].code : own.type(in[0]).extents[g.attrs(id)[0]].code;
      const int64 count = own.type(index).element_count();
      for (int64 i = 0; i < count; ++i)
        if (const int32 value = own.at<int32>(index)[i]; value < 0 || value >= extent) refuse(value, i, extent - 1);
    }
    if (e.kind == ir::op::dynamic_update_slice) {
      const tensor_type x = own.type(in[0]), update = own.type(in[1]);
      for (int i = 0; i < x.rank; ++i)
        if (const int64 start = own.at<int32>(in[2])[i], last = x.extents[i].code - update.extents[i].code; start < 0 || start > last)
          refuse(start, i, last);
    }
  }

  void compare(const run_context& c, uint32 id) const {
    const tensor_type t = c.type(id);
    const int64 count = t.element_count();
    const auto width = static_cast<size_t>(row(t.element).block_bytes);
    const char *fused = c.at(id), *alone = memory_[id];
    if (count == 0 || std::memcmp(fused, alone, static_cast<size_t>(count) * width) == 0) return;
    for (int64 i = 0; i < count; ++i) {
      mismatch m{number_, id, i, 0, 0};
      std::memcpy(&m.fused, fused + static_cast<size_t>(i) * width, width);
      std::memcpy(&m.unfused, alone + static_cast<size_t>(i) * width, width);
      if (m.fused == m.unfused || (is_float(t.element) && is_nan_bits(format_of(t.element), m.fused) &&
                                   is_nan_bits(format_of(t.element), m.unfused)))
        continue;
      report(c, m);
    }
  }

  [[noreturn]] void report(const run_context& c, const mismatch& m) const {
    const ir::graph_view& g = c.program.graph;
    text message;
    message << "check: launch " << m.launch << ", a " << fuse::name(launch_.kind) << " region of " << members_.size()
            << " equations, %" << members_[0] << " to %" << members_[members_.size() - 1] << ": %" << m.equation << ' '
            << ir::name(g[m.equation].kind) << ' ';
    ir::write_type(message, c.type(m.equation));
    message << " element " << m.index << " has the bits ";
    message.hex(m.fused) << " fused and ";
    message.hex(m.unfused) << " unfused";
    throw difference_found(message, m);
  }

  plan::program_view alone_;  ///< the program, its ids replaced by the members of this launch
  plan::launch launch_;
  uint32 number_;
  std::unique_ptr<step> fused_;
  vec<uint32> members_, outputs_;
  std::vector<std::unique_ptr<step>> steps_;  ///< of each member alone
  vec<char*> memory_;
  storage room_;
};

}  // namespace poot::run::host

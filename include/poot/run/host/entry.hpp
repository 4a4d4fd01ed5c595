#pragma once
/// A loaded program: steps with their memory, run as often as wanted without planning or allocating.

#include <poot/plan/program.hpp>
#include <poot/run/bindings.hpp>
#include <poot/run/host/checked_step.hpp>
#include <poot/run/host/self_test.hpp>
#include <poot/run/host/strided_copy.hpp>
#include <poot/run/overlap.hpp>
#include <poot/run/tables.hpp>

#include <memory>
#include <vector>

namespace poot::run::host {

class entry {
 public:
  entry(plan::program planned, shared_memory& shared, pool& threads, const load_options& options = {})
      : program_(std::move(planned)), view_(program_.view_of()), shared_(shared), threads_(threads), bound_(view_),
        memory_(view_.graph.size(), nullptr), loaded_(view_.graph.size(), nullptr), given_at_(view_.graph.size(), 0),
        arena_(view_.arena_bytes), tables_(view_.table_bytes) {
    if (view_.planned_for.kind != backend::host)
      fail(text{} << "load: the program is planned for " << name(view_.planned_for.kind) << ", this device is the host");
    if (!view_.refused.empty())
      fail(text{} << "load: %" << view_.refused[0].equation << " cannot run on " << name(view_.planned_for.kind) << ": "
                  << plan::explain(view_.refused[0].missing));
    require_exact();
    find_ranks(options.ranks);
    shared_.declare(view_.graph);
    own_states();
    note_weights();
    place_fixed();
    place_inner();
    make_constants(false);
    for (const plan::launch& l : view_.prologue) run_once(l);
    for (uint32 i = 0; i < view_.launches.size(); ++i) {
      const straight_function kernel = i < options.kernels.size() ? options.kernels[i] : nullptr;
      std::unique_ptr<step> s;
      if (kernel) s = std::make_unique<straight_step>(view_, view_.launches[i], kernel);
      else s = make_step(view_, view_.launches[i]);
      if (options.substitute) s = options.substitute(std::move(s), view_, view_.launches[i]);
      if (options.check) s = std::make_unique<checked_step>(view_, i, view_.launches[i], std::move(s));
      steps_.push_back(std::move(s));
      follows_counts_.push_back(has_dynamic_type(view_.launches[i]));
    }
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  const plan::program_view& program() const { return view_; }

  /// Lends memory for an input, a weight or a state until the next call for that name, `load_weight` included.
  entry& bind(std::string_view name, const buffer& b) {
    const uint32 id = bound_.lend(name, b);
    given_at_[id] = shared_.loads();
    if (loaded_[id]) settled_ = false;
    loaded_[id] = nullptr;
    return *this;
  }
  /// Lends memory for a result. A result without is kept in memory of the entry, and the new value of a state lies where that
  /// is bound.
  entry& into(std::string_view name, const buffer& b) {
    bound_.lend_result(name, b);
    return *this;
  }

  /// One step. Throws `error` before anything is written when a binding is missing or does not fit.
  void run() {
    if (!ranks_) return run_steps();
    try {
      run_steps();
    } catch (const std::exception& e) {
      ranks_->abandon(e.what());
      throw;
    } catch (...) {
      ranks_->abandon(not_described);
      throw;
    }
  }

  /// Where a result lies after a run, with its concrete type. Throws `error` where there was none, or the last one failed.
  buffer result(std::string_view name) const {
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      if (view_.graph.chars(view_.graph.outputs[k].name) != name) continue;
      if (!has_run_) fail(text{} << "result \"" << name << "\": no run has given it");
      return {results_[k], bound_.counts()(view_.graph.type(view_.graph.outputs[k].value))};
    }
    fail(text{} << "result \"" << name << "\": the program has no result of this name");
  }

 private:
  run_context context() { return {view_, memory_, bound_.counts(), loaded_, threads_, ranks_, digest_}; }

  void run_steps() {
    const float_environment ieee;
    has_run_ = false;
    settle();
    const run_context c = context();
    for (const std::unique_ptr<step>& s : steps_) s->run(c);
    finish_copies();
    has_run_ = true;
  }

  /// Keeps the communicator of a program with collectives; refuses one that does not fit their groups.
  void find_ranks(communicator* ranks) {
    for (const plan::launch& l : view_.launches) {
      if (l.kind != fuse::region_kind::collective) continue;
      const uint32 id = view_(l.members)[0];
      const std::string_view group = view_.graph.name_of(id);
      const auto refuse = [&](const text& why) { fail(text{} << "load: %" << id << " (" << ir::name(view_.graph[id].kind) << ") " << why); };
      if (!ranks) refuse(text("exchanges values in the group \"") << group << "\", and no communicator is given");
      const int64 there = ranks->size(group), wanted = ir::ranks_of(view_.graph, id);
      if (there < 1) refuse(text("needs the group \"") << group << "\", and the communicator has none of this name");
      if (wanted != 0 && wanted != there)
        refuse(text("needs ") << wanted << " ranks in the group \"" << group << "\", and the communicator has " << there);
      ranks_ = ranks;
    }
    if (ranks_) digest_ = ir::digest_of(view_.graph);
  }

  void own_states() {
    for (uint32 id = 0; id < view_.graph.size(); ++id)
      if (view_.graph[id].kind == ir::op::state)
        bound_.keep(id, shared_.state(view_.graph.name_of(id), view_.graph.type(id).bytes()).data());
  }

  /// Tells the shared memory how this program reads each weight.
  void note_weights() {
    for (uint32 id = 0; id < view_.graph.size(); ++id)
      if (view_.graph[id].kind == ir::op::weight) shared_.weight(view_.graph.name_of(id));
    for (const plan::launch& l : view_.launches)
      for (uint32 id : view_(l.members)) {
        const view<uint32> in = view_.graph.operands(id);
        for (size_t k = 0; k < in.size(); ++k) {
          if (view_.graph[in[k]].kind != ir::op::weight) continue;
          stored_weight& w = shared_.weight(view_.graph.name_of(in[k]));
          interleaved_form form;
          if (k == 1 && contracts_over(view_.graph, id, form) && (!w.wants_form || w.form == form)) {
            w.form = form;
            w.wants_form = true;
          } else {
            read_source(view_.graph.name_of(in[k]));
          }
        }
      }
    for (uint32 id = 0; id < view_.graph.size(); ++id)  // views and results read the rows as they are
      if (view_.placements[id].where == plan::place::view || view_.placements[id].where == plan::place::window)
        note_source(view_.storage_of(id));
    for (const plan::copy& c : view_.copies) note_source(view_.storage_of(c.value));
  }
  void note_source(uint32 id) {
    if (view_.graph[id].kind == ir::op::weight) read_source(view_.graph.name_of(id));
  }
  void read_source(std::string_view name) {
    stored_weight& w = shared_.weight(name);
    if (w.released()) fail(text{} << "add_entry: weight \"" << name << "\" was loaded before this entry, which reads it in another way");
    w.reads_source = true;
  }

  /// Values whose memory does not depend on what is bound.
  void place_fixed() {
    results_.resize(view_.graph.outputs.size(), nullptr);
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      const uint32 leaf = view_.graph.state_of(view_.graph.outputs[k]);
      if (leaf == view_.graph.size()) own_results_.push_back(storage(view_.graph.type(view_.graph.outputs[k].value).bytes()));
      else own_results_.push_back({});
    }
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const plan::placement& p = view_.placements[id];
      if (p.where == plan::place::arena) memory_[id] = arena_.data() + p.offset;
      else if (p.where == plan::place::table) memory_[id] = tables_.data() + p.offset;
    }
    place_views();
  }

  /// Memory for what passes from a head to its tail. Dispatches run one after the other and share it; a view has that of its
  /// operand.
  void place_inner() {
    int64 most = 0;
    const auto place = [&](char* from) {
      for (const vec<plan::launch>* list : {&program_.launches, &program_.prologue})
        for (const plan::launch& l : *list) {
          if (!fuse::stands_side_by_side(l.kind) || l.members.count == 1) continue;
          int64 at = 0;
          for (const vec<uint32>& part : fuse::parts_beside(view_.graph, view_(l.members))) {
            if (!fuse::has_head(view_.graph, part)) continue;
            for (size_t m = 0; m + 1 < part.size(); ++m) {
              if (m > 0 && view_.graph[part[m]].kind == ir::op::reshape) {
                memory_[part[m]] = memory_[part[m - 1]];
                continue;
              }
              if (from) memory_[part[m]] = from + at;
              at += plan::aligned(view_.graph.type(part[m]).bytes());
            }
          }
          most = most > at ? most : at;
        }
    };
    place(nullptr);
    inner_ = storage(most);
    place(inner_.data());
  }

  /// Fills constants and index tables: those of fixed type at load, those with dynamic extents when these change.
  void make_constants(bool of_dynamic_type) {
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const ir::eqn& e = view_.graph[id];
      if (view_.placements[id].where != plan::place::table || e.type.is_dynamic() != of_dynamic_type) continue;
      fill_table(view_.graph, id, bound_.counts()(e.type), memory_[id]);
    }
  }

  void run_once(const plan::launch& l) {
    const std::unique_ptr<step> s = make_step(view_, l);
    const run_context c = context();
    const float_environment ieee;
    s->prepare(c);
    s->run(c);
  }

  /// Whether a launch reads or writes a value with a dynamic extent.
  bool has_dynamic_type(const plan::launch& l) const {
    for (uint32 id : view_(l.members)) {
      if (view_.graph.type(id).is_dynamic()) return true;
      for (uint32 in : view_.graph.operands(id)) {
        const plan::placement& p = view_.placements[in];
        if (view_.graph.type(in).is_dynamic() || (p.where == plan::place::window && view_.graph.type(p.index).is_dynamic())) return true;
      }
    }
    return false;
  }

  /// Takes the weights that were loaded after they were bound.
  void take_loaded_weights() {
    if (loads_taken_ == shared_.loads()) return;
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      if (view_.graph[id].kind != ir::op::weight) continue;
      const stored_weight* const w = shared_.find_weight(view_.graph.name_of(id));
      if (w->loaded_at <= given_at_[id]) continue;
      if (w->released()) bound_.provide(id, w->source.type);
      else bound_.lend(view_.graph.name_of(id), w->source);
      given_at_[id] = w->loaded_at;
      loaded_[id] = w;
      settled_ = false;
    }
    loads_taken_ = shared_.loads();
  }

  /// Resolves memory and prepares the steps when a binding has changed: all of them when memory has, else those that
  /// follow the dynamic extents.
  void settle() {
    take_loaded_weights();
    const bindings::change changed = bound_.settle();
    if (!changed.anything && settled_) return;
    const bool all = changed.memory || !settled_;
    settled_ = false;
    if (all) place_bound();
    const bool moved = place_views() || all;
    make_constants(true);
    overlaps_.refuse(view_, bound_, results_, all || changed.results);
    const run_context c = context();
    for (size_t k = 0; k < steps_.size(); ++k)
      if (moved || follows_counts_[k]) steps_[k]->prepare(c);
    settled_ = true;
  }

  /// Values whose memory is lent, or stands in for what is not.
  void place_bound() {
    for (uint32 k = 0; k < results_.size(); ++k) {
      const uint32 leaf = view_.graph.state_of(view_.graph.outputs[k]);
      results_[k] = leaf < view_.graph.size()   ? static_cast<char*>(bound_.leaf(leaf).data)
                    : bound_.result(k).data     ? static_cast<char*>(bound_.result(k).data)
                                                : own_results_[k].data();
    }
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const plan::placement& p = view_.placements[id];
      if (p.where == plan::place::leaf) memory_[id] = static_cast<char*>(bound_.leaf(id).data);
      else if (p.where == plan::place::output) memory_[id] = results_[p.index];
      else if (p.where == plan::place::state) memory_[id] = static_cast<char*>(bound_.leaf(p.index).data);
    }
  }

  /// Returns whether one lies elsewhere than before.
  bool place_views() {
    bool moved = false;
    const auto put = [&](uint32 id, char* at) {
      moved = moved || memory_[id] != at;
      memory_[id] = at;
    };
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const plan::placement& p = view_.placements[id];
      if (p.where == plan::place::view) put(id, memory_[p.index]);
      if (p.where != plan::place::window || !memory_[p.index]) continue;
      const dense_strides strides(bound_.counts()(view_.graph.type(p.index)));
      const view<int64> start = view_.graph.attrs(id);
      int64 offset = 0;
      for (int i = 0; i < view_.graph.type(id).rank; ++i) offset += start[i] * strides.bytes[i];
      put(id, memory_[p.index] + offset);
    }
    return moved;
  }

  /// Results that could not be written where they belong. What is read is saved first where it is itself overwritten.
  void finish_copies() {
    if (view_.copies.empty()) return;
    int64 bytes = 0;
    for (const plan::copy& c : view_.copies) bytes += plan::aligned(view_.graph.type(c.value).bytes());
    if (saved_.bytes() < bytes) saved_ = storage(bytes);
    char* at = saved_.data();
    for (const plan::copy& c : view_.copies) {
      const int64 size = bound_.counts()(view_.graph.type(c.value)).bytes();
      if (size) std::memcpy(at, memory_[c.value], static_cast<size_t>(size));
      at += plan::aligned(size);
    }
    at = saved_.data();
    for (const plan::copy& c : view_.copies) {
      const int64 size = bound_.counts()(view_.graph.type(c.value)).bytes();
      if (size) std::memcpy(results_[c.output], at, static_cast<size_t>(size));
      at += plan::aligned(size);
    }
  }

  plan::program program_;
  plan::program_view view_;
  shared_memory& shared_;
  pool& threads_;
  communicator* ranks_ = nullptr;  ///< where there are collectives
  uint64 digest_ = 0;              ///< of a graph with collectives
  bindings bound_;
  overlap_check overlaps_;
  vec<char*> memory_, results_;
  vec<const stored_weight*> loaded_;  ///< per equation: a weight as it was loaded, null for one that is lent
  vec<uint64> given_at_;              ///< per equation: how many loads there were at the call that holds
  storage arena_, tables_, saved_, inner_;
  std::vector<storage> own_results_;
  std::vector<std::unique_ptr<step>> steps_;
  vec<uint8> follows_counts_;   ///< per step: whether a value of a dynamic type passes through it
  uint64 loads_taken_ = 0;      ///< how many loads there were at the last run
  bool settled_ = false;        ///< everything is prepared for what is bound
  bool has_run_ = false;        ///< the last run was completed
};

}  // namespace poot::run::host

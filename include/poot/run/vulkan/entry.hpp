#pragma once
/// A loaded program: commands with their memory, recorded once and run as often as wanted.
///
/// Inputs are carried to the device before each run, results that were lent memory back after it. A weight or a state is
/// carried once, by the run after its `bind`; a state that is lent comes back after each run.

#include <poot/run/bindings.hpp>
#include <poot/run/overlap.hpp>
#include <poot/run/tables.hpp>
#include <poot/run/vulkan/prologue.hpp>

namespace poot::run::vulkan {

class entry {
 public:
  entry(plan::program planned, shared_memory& shared, opened_device& device)
      : program_(std::move(planned)), view_(loadable(program_, device)), shared_(shared), context_(device.open),
        bound_(view_), launches_(view_, device), memory_(view_, context_), commands_(context_) {
    own_.resize(view_.graph.size());
    own_results_.resize(view_.graph.outputs.size());
    lent_.resize(view_.graph.size(), 0);
    given_at_.resize(view_.graph.size(), 0);
    shared_.declare(view_.graph);
    place_leaves();
    place_results();
    words_ = storage(context_, launches_.word_bytes(), use::work, "metadata");
    if (!context_.shares_memory()) {
      carry_in_ = storage(context_, input_bytes_, use::to_device, "carrying inputs");
      carry_out_ = storage(context_, output_bytes_, use::from_device, "carrying results");
    }
    launches_.count(bound_.counts(), true);
    write_words();
    make_tables(false);
    fill_tables(view_, launches_, memory_, device, [&] { compute_prologue(); });
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  const plan::program_view& program() const { return view_; }

  /// Lends memory for an input, a weight or a state until the next call for that name, `load_weight` included. The bytes of a weight or a state
  /// are taken by the next run, and not looked at again.
  entry& bind(std::string_view name, const buffer& b) {
    const uint32 id = bound_.lend(name, b);
    if (view_.graph[id].kind == ir::op::input) return *this;
    fresh_.push_back(id);
    given_at_[id] = shared_.loads();
    if (lent_[id]) return *this;
    lent_[id] = 1;
    unrecorded_ = true;
    own_[id] = leaf_storage(id);
    memory_.leaves[id] = &own_[id];
    return *this;
  }
  /// Lends memory for a result. A result without is kept in memory of the entry, and the new value of a state lies where that
  /// is bound.
  entry& into(std::string_view name, const buffer& b) {
    bound_.lend_result(name, b);
    return *this;
  }

  /// Memory of the entry for an input, with dynamic extents at their bounds: what is bound from here is not copied.
  buffer own_input(std::string_view name) const {
    for (const input& i : inputs_)
      if (view_.graph.name_of(i.id) == name) return {carried_from(i), extent_counts()(view_.graph.type(i.id))};
    fail(text{} << "own_input \"" << name << "\": the program has no input of this name");
  }

  /// One step. Throws `error` before anything is written when a binding is missing or does not fit.
  void run() {
    has_run_ = false;
    settle();
    carry_in();
    commands_.run();
    carry_out();
    has_run_ = true;
  }

  /// Where a result lies after a run, with its concrete type; until the next run. Throws `error` where there was none, or the
  /// last one failed.
  buffer result(std::string_view name) const {
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      if (view_.graph.chars(view_.graph.outputs[k].name) != name) continue;
      if (!has_run_) fail(text{} << "result \"" << name << "\": no run has given it");
      return {result_at(k), bound_.counts()(view_.graph.type(view_.graph.outputs[k].value))};
    }
    fail(text{} << "result \"" << name << "\": the program has no result of this name");
  }

  /// Barriers between the commands of a run.
  size_t barriers() const { return commands_.barriers(); }

 private:
  struct input {
    uint32 id = 0;
    int64 offset = 0;  ///< bytes, where it is carried
  };

  static plan::program_view loadable(const plan::program& p, const opened_device& d) {
    if (!p.refused.empty())
      fail(text{} << "load: %" << p.refused[0].equation << " cannot run on " << name(p.planned_for.kind) << ": "
                  << plan::explain(p.refused[0].missing));
    if (const text missing = missing_for(p.planned_for, d.is); !missing.empty())
      fail(text{} << "load: the program is planned for " << missing << " (" << d.open.about().name() << ')');
    const plan::program_view view = p.view_of();
    for (const view_of_launches& list : {view.prologue, view.launches})
      for (const plan::launch& l : list) {
        for (uint32 id : view(l.inputs)) check_reach(view, view.storage_of(id), d);
        for (uint32 id : view(l.outputs)) check_reach(view, view.storage_of(id), d);
      }
    return view;
  }
  using view_of_launches = poot::view<plan::launch>;
  /// Values have the memory of their bounds; the plan refuses those that are too large at any extents.
  static void check_reach(const plan::program_view& p, uint32 id, const opened_device& d) {
    const int64 bytes = p.graph.type(id).bytes(), most = d.is.caps.buffer_bytes;
    if (bytes <= most) return;
    text value;
    if (ir::is_named_leaf(p.graph[id].kind)) value << ir::name(p.graph[id].kind) << " \"" << p.graph.name_of(id) << '"';
    else value << '%' << id << " (" << ir::name(p.graph[id].kind) << ')';
    fail(text{} << "load: " << value << " has up to " << bytes << " bytes, and kernels of " << d.open.about().name() << " reach " << most
                << " of one buffer (buffer_bytes)");
  }

  bool is_state(uint32 output) const { return view_.graph.state_of(view_.graph.outputs[output]) < view_.graph.size(); }

  storage leaf_storage(uint32 id) {
    return storage(context_, view_.graph.type(id).bytes(), use::work, (text{} << ir::name(view_.graph[id].kind) << ' ' << view_.graph.name_of(id)).str());
  }

  /// Inputs lie in memory of the entry, states and weights in memory of the executor.
  void place_leaves() {
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const std::string_view name = ir::is_named_leaf(view_.graph[id].kind) ? view_.graph.name_of(id) : "";
      const int64 bytes = view_.graph.type(id).bytes();
      if (view_.graph[id].kind == ir::op::state) {
        memory_.leaves[id] = &shared_.state(name, bytes);
        bound_.keep(id, nullptr);
      }
      if (view_.graph[id].kind != ir::op::input) continue;
      own_[id] = leaf_storage(id);
      memory_.leaves[id] = &own_[id];
      inputs_.push_back({id, std::exchange(input_bytes_, input_bytes_ + plan::aligned(bytes))});
    }
    input_bytes_ += launches_.word_bytes();
  }
  void place_results() {
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      result_offsets_.push_back(output_bytes_);
      if (is_state(k)) continue;
      const int64 bytes = view_.graph.type(view_.graph.outputs[k].value).bytes();
      own_results_[k] = storage(context_, bytes, use::work, (text("result ") << view_.graph.chars(view_.graph.outputs[k].name)).str());
      memory_.results[k] = &own_results_[k];
      output_bytes_ += plan::aligned(bytes);
    }
  }

  /// Fills constants and index tables: those of fixed type at load, those with dynamic extents when these change.
  void make_tables(bool of_dynamic_type) {
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      const ir::eqn& e = view_.graph[id];
      if (view_.placements[id].where != plan::place::table || e.type.is_dynamic() != of_dynamic_type) continue;
      if (e.kind != ir::op::constant && e.kind != ir::op::iota) continue;
      const tensor_type t = bound_.counts()(e.type);
      table_.resize(static_cast<size_t>(t.bytes()));
      fill_table(view_.graph, id, t, table_.data());
      memory_.write_table(id, table_.data(), t.bytes());
    }
  }
  void write_words() { words_.write(0, launches_.words().data(), launches_.word_bytes()); }

  void compute_prologue() {
    launches_.load_prologue();
    std::vector<command> list;
    for (const prepared_launch& l : launches_.prologue) append(list, l);
    commands once(context_);
    once.record(list);
    once.run();
  }

  /// The dispatches of a launch. Its chunks differ in their metadata only.
  void append(std::vector<command>& list, const prepared_launch& l) const {
    dispatch d;
    d.kernel = l.code;
    const auto bind_words = [&] { d.buffers.push_back({words_.handle(), l.words_at, l.word_bytes, false}); };
    for (uint32 i = 0; i < l.bindings.size(); ++i) {
      if (i == l.reads) bind_words();
      d.buffers.push_back(memory_.whole(l.bindings[i]));
      d.buffers.back().written = i >= l.reads;
    }
    if (l.reads == l.bindings.size()) bind_words();
    d.x = launches_.groups(l, 0);
    d.y = launches_.groups(l, 1);
    if (l.follows_counts) d.counts = {words_.handle(), l.groups_at, 12, false};
    for (uint32 i = 0; i < l.chunks; ++i) {
      list.push_back(d);
      d.buffers[l.reads].offset += l.step;
      d.continues = true;
    }
  }

  /// Takes the weights that were loaded after they were bound.
  void take_loaded_weights() {
    if (loads_taken_ == shared_.loads()) return;
    for (uint32 id = 0; id < view_.graph.size(); ++id) {
      if (view_.graph[id].kind != ir::op::weight) continue;
      const shared_memory::loaded_weight* const w = shared_.find_weight(view_.graph.name_of(id));
      if (!w || w->loaded_at <= given_at_[id]) continue;
      bound_.provide(id, w->type);
      unrecorded_ = unrecorded_ || memory_.leaves[id] != &w->memory;
      memory_.leaves[id] = &w->memory;
      given_at_[id] = w->loaded_at;
      lent_[id] = 0;
      own_[id] = {};
    }
    loads_taken_ = shared_.loads();
  }

  /// Prepares a run when a binding has changed. Commands are recorded anew only where other memory is bound than before.
  void settle() {
    take_loaded_weights();
    const bindings::change changed = bound_.settle();
    if (!changed.anything && settled_) return;
    const bool all = changed.memory || changed.results || !settled_;
    settled_ = false;
    find_written_memory();
    overlaps_.refuse(view_, bound_, written_, all);
    launches_.count(bound_.counts(), false);
    if (context_.shares_memory()) write_words();
    make_tables(true);
    find_last_copies();
    if (unrecorded_ || !same(last_copies_, copies_)) {
      copies_ = last_copies_;
      record();
      unrecorded_ = false;
    }
    settled_ = true;
  }

  void find_written_memory() {
    written_.clear();
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      const uint32 state = view_.graph.state_of(view_.graph.outputs[k]);
      written_.push_back(static_cast<char*>(state < view_.graph.size() ? bound_.leaf(state).data : bound_.result(k).data));
    }
  }

  static bool same(const std::vector<transfer>& a, const std::vector<transfer>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i].from.buffer != b[i].from.buffer || a[i].from.offset != b[i].from.offset || a[i].to.buffer != b[i].to.buffer) return false;
    return true;
  }

  /// Results that could not be written where they belong, with dynamic extents at their bound. What is read is saved first
  /// where a copy overwrites it.
  void find_last_copies() {
    std::vector<transfer>& all = last_copies_;
    all.clear();
    bool overwritten = false;
    int64 saved = 0;
    for (const plan::copy& c : view_.copies) {
      const tensor_type bound = extent_counts()(view_.graph.type(c.value));
      if (bound.bytes() == 0) continue;
      const int64 offset = kernel::evaluate({kernel::meta_word::what::offset, c.value}, view_, [&](uint32 id) { return bound_.counts()(view_.graph.type(id)); });
      const uint32 state = view_.graph.state_of(view_.graph.outputs[c.output]);
      const storage& to = state < view_.graph.size() ? *memory_.leaves[state] : *memory_.results[c.output];
      all.push_back({memory_.exact(c.value, bound, offset), {to.handle(), 0, bound.bytes(), true}});
      for (const transfer& earlier : all) overwritten = overwritten || earlier.to.conflicts_with(all.back().from);
      saved += plan::aligned(bound.bytes());
    }
    if (!overwritten) return;
    if (saved_.bytes() < saved) saved_ = storage(context_, saved, use::work, "results on their way");
    const size_t count = all.size();
    all.resize(2 * count);
    int64 at = 0;
    for (size_t i = 0; i < count; at += plan::aligned(all[i++].to.bytes)) {
      const transfer direct = all[i];
      all[i].to = {saved_.handle(), at, direct.to.bytes, true};
      all[count + i] = {{saved_.handle(), at, direct.to.bytes, false}, direct.to};
    }
  }

  void record() {
    std::vector<command> list;
    const bool carries = !context_.shares_memory();
    if (carries) {
      if (const int64 bytes = launches_.word_bytes())
        list.push_back(transfer{{carry_in_.handle(), words_at(), bytes, false}, {words_.handle(), 0, bytes, true}});
      for (const input& i : inputs_) {
        const int64 bytes = view_.graph.type(i.id).bytes();
        if (bytes) list.push_back(transfer{{carry_in_.handle(), i.offset, bytes, false}, {own_[i.id].handle(), 0, bytes, true}});
      }
    }
    for (const prepared_launch& l : launches_.main) append(list, l);
    for (const transfer& t : copies_) list.push_back(t);
    for (uint32 k = 0; carries && k < own_results_.size(); ++k)
      if (const int64 bytes = view_.graph.type(view_.graph.outputs[k].value).bytes(); bytes && own_results_[k])
        list.push_back(transfer{{own_results_[k].handle(), 0, bytes, false}, {carry_out_.handle(), result_offsets_[k], bytes, true}});
    commands_.record(list);
  }
  /// Where the host writes an input.
  char* carried_from(const input& i) const { return carry_in_.mapped() ? carry_in_.mapped() + i.offset : own_[i.id].mapped(); }
  int64 words_at() const { return input_bytes_ - launches_.word_bytes(); }

  void carry_in() {
    char* const stage = carry_in_.mapped();
    if (stage) std::memcpy(stage + words_at(), launches_.words().data(), static_cast<size_t>(launches_.word_bytes()));
    for (const input& i : inputs_) {
      const buffer& b = bound_.leaf(i.id);
      const auto bytes = static_cast<size_t>(b.type.bytes());
      if (char* const to = carried_from(i); bytes && b.data != to) std::memcpy(to, b.data, bytes);
    }
    for (uint32 id : fresh_)
      if (lent_[id]) own_[id].write(0, bound_.leaf(id).data, bound_.leaf(id).type.bytes());
    fresh_.clear();
  }
  void carry_out() {
    for (uint32 k = 0; k < view_.graph.outputs.size(); ++k) {
      const int64 bytes = bound_.counts()(view_.graph.type(view_.graph.outputs[k].value)).bytes();
      const uint32 state = view_.graph.state_of(view_.graph.outputs[k]);
      if (state < view_.graph.size()) {
        if (lent_[state]) own_[state].read(0, bound_.leaf(state).data, bytes);
      } else if (bound_.result(k).data && bytes) {
        std::memcpy(bound_.result(k).data, own_result_at(k), static_cast<size_t>(bytes));
      }
    }
  }

  char* own_result_at(uint32 k) const {
    return carry_out_.mapped() ? carry_out_.mapped() + result_offsets_[k] : own_results_[k].mapped();
  }
  char* result_at(uint32 k) const {
    const uint32 state = view_.graph.state_of(view_.graph.outputs[k]);
    if (written_[k]) return written_[k];
    if (state == view_.graph.size()) return own_result_at(k);
    const storage& kept = shared_.state(view_.graph.name_of(state), view_.graph.type(state).bytes());
    if (char* const mapped = kept.mapped()) return mapped;
    std::vector<char>& seen = seen_states_[state];
    seen.resize(static_cast<size_t>(kept.bytes()));
    kept.read(0, seen.data(), kept.bytes());
    return seen.data();
  }

  plan::program program_;
  plan::program_view view_;
  shared_memory& shared_;
  context& context_;
  bindings bound_;
  overlap_check overlaps_;
  launches launches_;
  program_memory memory_;
  commands commands_;
  std::vector<storage> own_, own_results_;  ///< per value: inputs, and what was lent; per output
  vec<input> inputs_;
  vec<int64> result_offsets_;               ///< bytes, where results are carried
  int64 input_bytes_ = 0, output_bytes_ = 0;
  storage words_, carry_in_, carry_out_, saved_;
  std::vector<transfer> copies_, last_copies_;  ///< recorded, and what they would be now
  vec<char*> written_;          ///< per output: where its bytes end up in the caller's memory, or null
  std::vector<char> table_;     ///< one that is being filled
  vec<uint32> fresh_;           ///< weights and states lent since the last run
  vec<uint8> lent_;             ///< per weight and state: what is bound is what was lent
  vec<uint64> given_at_;        ///< per weight: how many loads there were at the call that holds
  uint64 loads_taken_ = 0;      ///< how many loads there were at the last run
  mutable std::map<uint32, std::vector<char>> seen_states_;
  bool settled_ = false;        ///< everything is prepared for what is bound
  bool has_run_ = false;        ///< the last run was completed
  bool unrecorded_ = true;      ///< other memory is bound than was recorded
};

}  // namespace poot::run::vulkan

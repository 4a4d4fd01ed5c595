#pragma once
/// The pointwise part of a region: what its members are at one position of its space.

#include <poot/core/ascending.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/kernel/arithmetic.hpp>
#include <poot/kernel/element.hpp>
#include <poot/kernel/geometry.hpp>

namespace poot::kernel {

/// How long the text of one element of these equations is, about: flops, and what rounds to narrow floats by integer code.
/// Drivers compile long kernels slowly.
constexpr uint32 text_weight(const ir::graph_view& g, view<uint32> members) {
  uint32 weight = 0;
  for (uint32 id : members) {
    const ir::eqn& e = g[id];
    if (ir::is_contraction(e.kind)) continue;
    if (e.custom)
      for (const ir::custom_step& s : e.custom->steps) weight += ir::row(s.kind).flops;
    weight += ir::row(e.kind).flops + (e.type.element == dtype::f16 ? 16u : e.type.element == dtype::bf16 ? 4u : 0u);
  }
  return weight;
}

/// Consecutive elements of a space that one invocation computes together.
struct element_run {
  vec<position> at;     ///< of each element
  bool in_row = false;  ///< they lie in one row
  bool aligned = false; ///< the first one's number, and its index along the row where they lie in one, are multiples of their count
};

/// Binds a launch's inputs and outputs and computes its members, element by element.
class region_code {
 public:
  constexpr region_code(builder& k, const program_view& p, const launch& l) : k_(k), p_(p), l_(l), shape_(k, p) {
    values_.resize(members().size());
    state_.resize(members().size(), 0);
    for (uint32 id : p(l.inputs)) {
      text name;
      name << 'x' << id;
      inputs_.push_back(k.reads(name.str(), id));
    }
    for (uint32 id : p(l.outputs)) {
      text name;
      name << 'y' << id;
      outputs_.push_back(k.writes(name.str(), id, elements_per_word(p.graph.type(id).element) > 1));
    }
  }

  constexpr const geometry& shape() const { return shape_; }
  constexpr const ir::graph_view& graph() const { return p_.graph; }
  constexpr view<uint32> members() const { return p_(l_.members); }
  constexpr view<uint32> inputs() const { return p_(l_.inputs); }
  constexpr view<uint32> outputs() const { return p_(l_.outputs); }
  constexpr buffer_id output(size_t i) const { return outputs_[i]; }
  constexpr buffer_id input(uint32 id) const {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs()[i] == id) return inputs_[i];
    fail(text{} << "kernel: equation " << id << " is no input of its launch");
  }

  /// The position of a member in the list, or the number of members.
  constexpr size_t find(uint32 id) const { return position_in(members(), id); }

  /// Gives a member a value that holds from here on: a contraction's sum, the result of a reduction.
  constexpr void fix(uint32 id, const scalar& x) {
    const size_t at = find(id);
    values_[at] = x;
    state_[at] = fixed;
  }

  /// From here on, member `id` is what shared memory holds at its place along the last axis: bits of an element, one a word.
  constexpr void read_shared(uint32 id, shared_id from) {
    shared_value_ = id;
    shared_ = from;
  }

  /// From here to `end_run`, inputs are read for all elements of a run at once, four words at a time where they lie so.
  constexpr void begin_run(const element_run& run) {
    run_ = &run;
    loaded_.clear();
    loaded_.resize(inputs_.size());
  }
  constexpr void end_run() { run_ = nullptr; }
  /// Computes `wanted` at element `element` of the run.
  constexpr void compute_in_run(view<uint32> wanted, const tensor_type& space, uint32 element) {
    element_ = element;
    compute(wanted, space, run_->at[element]);
  }

  /// Computes `wanted`, and what they need, at a position of a space. What was computed before is forgotten.
  constexpr void compute(view<uint32> wanted, const tensor_type& space, const position& at) {
    const size_t count = members().size();
    for (size_t i = 0; i < count; ++i)
      if (state_[i] != fixed) state_[i] = 0;
    for (uint32 id : wanted) need(id);
    for (size_t i = count; i-- > 0;)
      if (state_[i] == needed && members()[i] != shared_value_)
        for (uint32 in : p_.graph.operands(members()[i])) need(in);
    for (size_t i = 0; i < count; ++i) {
      if (state_[i] != needed) continue;
      k_.note(members()[i]);
      values_[i] = evaluate(members()[i], space, at);
      state_[i] = known;
    }
    k_.note(instruction::no_note);
  }

  /// One member whose operands among the members are known.
  constexpr scalar compute_one(uint32 id, const tensor_type& space, const position& at) {
    k_.note(id);
    const scalar x = evaluate(id, space, at);
    k_.note(instruction::no_note);
    return x;
  }

  /// An operand: a member that was computed, a constant, or an element of an input.
  constexpr scalar get(uint32 id, const tensor_type& space, const position& at) {
    if (const size_t i = find(id); i < members().size()) return values_[i];
    const dtype t = p_.graph.type(id).element;
    if (p_.graph.is_scalar_constant(id)) return literal_of(t, static_cast<uint64>(p_.graph.attrs(id)[0]));
    if (run_) return loaded(id, space);
    return load_element(k_, input(id), t, shape_.index(id, space, at));
  }

  /// `count` elements of an unpacked input from element `first` of its storage on; `aligned`: `first` is a multiple of `count`,
  /// but for where a window begins.
  constexpr vec<scalar> load_elements(uint32 id, word first, uint32 count, bool aligned) {
    vec<scalar> out;
    const buffer_id from = input(id);
    const dtype t = p_.graph.type(id).element;
    const uint32 own = elements_per_word(t), words = count / own;
    if (!aligned || !shape_.offset(id).is_literal() || count % own != 0) {
      for (uint32 j = 0; j < count; ++j) out.push_back(load_element(k_, from, t, first + word(j)));
      return out;
    }
    quad four;
    for (uint32 w = 0; w < words; ++w) {
      const bool by_quads = words % 4 == 0;
      if (by_quads && w % 4 == 0) four = k_.load_quad(from, first / word(4 * own) + word(w / 4));
      const word stored = by_quads ? k_.part(four, w % 4) : k_.load(from, first / word(own) + word(w));
      for (uint32 j = 0; j < own; ++j) out.push_back(from_stored(t, stored >> word(j * (32 / own))));
    }
    return out;
  }

  /// The same as numbers, of an input of floats.
  constexpr vec<number> load_numbers(uint32 id, word first, uint32 count, bool aligned) {
    vec<number> out;
    for (const scalar& x : load_elements(id, first, count, aligned)) out.push_back(value_of(x));
    return out;
  }

 private:
  enum : uint8 { needed = 1, known = 2, fixed = 3 };

  constexpr void need(uint32 id) {
    if (const size_t i = find(id); i < members().size() && state_[i] == 0) state_[i] = needed;
  }

  /// An input at the current element of the run.
  constexpr scalar loaded(uint32 id, const tensor_type& space) {
    size_t i = 0;
    while (inputs()[i] != id) ++i;
    vec<scalar>& got = loaded_[i];
    if (got.empty()) got = load_run(id, inputs_[i], space);
    return got.size() == 1 ? got[0] : got[element_];
  }
  constexpr vec<scalar> load_run(uint32 id, buffer_id from, const tensor_type& space) {
    const tensor_type& t = p_.graph.type(id);
    const auto index = [&](uint32 j) { return shape_.index(id, space, run_->at[j]); };
    const auto count = static_cast<uint32>(run_->at.size());
    const bool whole = t.same_extents(space) && !shape_.is_strided(id);
    vec<scalar> out;
    if (whole || (run_->in_row && t.rank > 0 && t.last() == space.last()))
      return load_elements(id, index(0), count, run_->aligned);
    if (run_->in_row) {
      out.push_back(load_element(k_, from, t.element, index(0)));
      return out;
    }
    for (uint32 j = 0; j < count; ++j) out.push_back(load_element(k_, from, t.element, index(j)));
    return out;
  }

  constexpr scalar evaluate(uint32 id, const tensor_type& space, const position& at) {
    const ir::eqn& e = p_.graph[id];
    if (id == shared_value_) return {e.type.element, k_.load<word>(shared_, at.at[space.rank - 1])};
    scalar in[3];
    size_t n = 0;
    bool literal = true;
    for (uint32 operand : p_.graph.operands(e)) {
      in[n] = get(operand, space, at);
      literal = literal && in[n].bits.is_literal();
      ++n;
    }
    if (e.custom) return evaluate_custom(*e.custom, e.type.element, in);
    return evaluate(e.kind, e.type.element, in, literal);
  }
  constexpr scalar evaluate(ir::op o, dtype result, const scalar* in, bool literal) {
    if (!literal) return apply(o, result, in[0], in[1], in[2]);
    if (p_.planned_for.caps.flushes) {  // the device's own arithmetic decides
      const word first = k_.read(k_.declare(in[0].bits));
      return apply(o, result, {in[0].element, first}, in[1], in[2]);
    }
    const dtype t = in[o == ir::op::select ? 1 : 0].element;
    return literal_of(result, ir::evaluate(o, t, result, in[0].bits.id, in[1].bits.id, in[2].bits.id));
  }
  /// The recorded steps of a user's op, in f32; its result is rounded once.
  constexpr scalar evaluate_custom(const ir::custom_row& row, dtype result, const scalar* operands) {
    vec<scalar> values;
    for (const ir::custom_step& s : row.steps) {
      if (s.kind == ir::op::input) {
        values.push_back({dtype::f32, to_bits(value_of(operands[s.a]))});
      } else if (s.kind == ir::op::constant) {
        values.push_back(literal_of(dtype::f32, s.a));
      } else {
        const int arity = ir::row(s.kind).arity;
        const scalar in[3] = {values[s.a], values[arity > 1 ? s.b : s.a], values[arity > 2 ? s.c : s.a]};
        const bool literal = in[0].bits.is_literal() && in[1].bits.is_literal() && in[2].bits.is_literal();
        const bool truth = ir::is_comparison(s.kind) || s.kind == ir::op::bit_and || s.kind == ir::op::bit_or;
        values.push_back(evaluate(s.kind, truth ? dtype::i32 : dtype::f32, in, literal));
      }
    }
    return round_to(result, value_of(values[row.result]));
  }

  builder& k_;
  const program_view& p_;
  const launch& l_;
  geometry shape_;
  vec<buffer_id> inputs_, outputs_;
  const element_run* run_ = nullptr;
  uint32 element_ = 0, shared_value_ = 0xffffffffu;
  shared_id shared_{};
  vec<vec<scalar>> loaded_;  ///< of each input, its elements of the run, or one for all
  vec<scalar> values_;
  vec<uint8> state_;
};

}  // namespace poot::kernel

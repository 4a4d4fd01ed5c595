#pragma once
/// Writes kernels: values that record what is done with them.
///
///     builder k("twice", 64);
///     const buffer_id x = k.reads("x", x_value), y = k.writes("y", y_value);
///     const word i = k.invocation();
///     k.if_(i < k.meta(count), [&] { k.store(y, i, to_bits(add(from_bits(k.load(x, i)), from_bits(k.load(x, i))))); });
///
/// A value without a builder is a literal: it becomes an instruction where it meets one that has.

#include <poot/core/error.hpp>
#include <poot/core/ieee.hpp>
#include <poot/kernel/schedule.hpp>

#include <concepts>

namespace poot::kernel {

class builder;

/// A value of type `T` in a kernel under construction, or a literal of these bits.
template <type T>
struct handle {
  builder* in = nullptr;
  uint32 id = 0;  ///< the bits of a literal
  constexpr bool is_literal() const { return !in; }
};

struct flag : handle<type::flag> {
  constexpr flag() = default;
  template <std::same_as<bool> Bool>
  constexpr flag(Bool b) : handle{nullptr, b} {}
  constexpr flag(builder* b, uint32 value) : handle{b, value} {}
};
struct word : handle<type::word> {
  constexpr word() = default;
  template <std::integral Int>
  constexpr word(Int bits) : handle{nullptr, static_cast<uint32>(bits)} {}
  constexpr word(builder* b, uint32 value) : handle{b, value} {}
};
/// Four words, of a 128-bit access.
struct quad : handle<type::quad> {
  constexpr quad() = default;
  constexpr quad(builder* b, uint32 value) : handle{b, value} {}
};
/// Tiles of 16 × 16 that a subgroup holds: operands of a matrix unit, and its sums.
template <type T>
struct fragment : handle<T> {
  constexpr fragment() = default;
  constexpr fragment(builder* b, uint32 value) : handle<T>{b, value} {}
};
struct number : handle<type::number> {
  constexpr number() = default;
  template <std::same_as<float> Float>
  constexpr number(Float x) : handle{nullptr, ieee::to_bits(x)} {}
  constexpr number(builder* b, uint32 value) : handle{b, value} {}
};

template <class Value>
inline constexpr type type_of_handle = type::none;
template <>
inline constexpr type type_of_handle<flag> = type::flag;
template <>
inline constexpr type type_of_handle<word> = type::word;
template <>
inline constexpr type type_of_handle<number> = type::number;
template <>
inline constexpr type type_of_handle<quad> = type::quad;
template <type T>
inline constexpr type type_of_handle<fragment<T>> = T;

struct buffer_id { uint32 index = 0; };
struct shared_id { uint32 index = 0; };
struct function_id { uint32 index = 0; };
/// A variable of the kernel: read and assigned.
template <class Value>
struct variable { builder* in = nullptr; uint32 id = 0; };

class builder {
 public:
  constexpr builder(std::string_view name, uint32 workgroup) {
    made_.name << name;
    made_.workgroup = workgroup;
  }
  constexpr builder(const builder&) = delete;
  constexpr builder& operator=(const builder&) = delete;

  constexpr kernel finish() {
    made_.code = schedule(code_, made_.buffers);
    number_metadata();
    return std::move(made_);
  }
  constexpr const kernel& so_far() const { return made_; }
  constexpr void count_groups() { made_.by_group = true; }
  constexpr void take_subgroups(uint32 invocations) { made_.subgroup = invocations; }
  /// A word of metadata counts work; without this, the first one that was asked for does. A literal becomes such a word, which
  /// is returned.
  constexpr word count_work(word w) {
    if (w.is_literal()) w = meta({meta_word::what::fixed, 0, 0, 0, 1, w.id});
    counts_.push_back(code_[w.id].a);
    return w;
  }

  /// The equation that the following instructions compute a part of.
  constexpr void note(uint32 equation) { note_ = equation; }

  // ---- instructions (first: clang 19 evaluates no template that is defined further down)

  constexpr uint32 emit(opcode c, type t, uint32 a = 0, uint32 b = 0, uint32 third = 0) {
    code_.push_back({c, t, a, b, third, note_});
    return static_cast<uint32>(code_.size() - 1);
  }
  /// The id of a value; a literal becomes an instruction.
  template <type T>
  constexpr uint32 use(const handle<T>& v) {
    if (!v.is_literal()) return v.id;
    constexpr opcode literal = T == type::word     ? opcode::literal_word
                               : T == type::number ? opcode::literal_number
                                                   : opcode::literal_flag;
    return emit(literal, T, v.id);
  }

  template <class Value>
  constexpr void emit_store(opcode c, uint32 where, word index, Value value) {
    const uint32 at = use(index), given = use(value);
    emit(c, type::none, where, at, given);
  }

  // ---- memory

  constexpr buffer_id reads(std::string_view name, uint32 value) { return add_buffer(name, value, access::read); }
  constexpr buffer_id writes(std::string_view name, uint32 value, bool in_place = false) {
    return add_buffer(name, value, in_place ? access::read_write : access::write);
  }
  /// An array of the workgroup's memory; equal ones are one.
  constexpr shared_id shares(std::string_view name, type t, uint32 size) {
    for (uint32 i = 0; i < made_.shared.size(); ++i)
      if (made_.shared[i].name.str() == name && made_.shared[i].kind == t && made_.shared[i].size == size) return {i};
    made_.shared.push_back({text(name), t, size});
    return {static_cast<uint32>(made_.shared.size() - 1)};
  }
  /// A word of metadata; equal ones are one.
  constexpr word meta(const meta_word& m) {
    uint32 at = 0;
    while (at < made_.metadata.size() && !(made_.metadata[at] == m)) ++at;
    if (at == made_.metadata.size()) made_.metadata.push_back(m);
    return {this, emit(opcode::meta, type::word, at)};
  }
  constexpr word load(buffer_id b, word index) { return {this, emit(opcode::load, type::word, b.index, use(index))}; }
  constexpr void store(buffer_id b, word index, word value) { emit_store(opcode::store, b.index, index, value); }
  /// Words 4 · index … 4 · index + 3.
  constexpr quad load_quad(buffer_id b, word index) { return {this, emit(opcode::load_quad, type::quad, b.index, use(index))}; }
  constexpr void store_quad(buffer_id b, word index, quad value) { emit_store(opcode::store_quad, b.index, index, value); }
  constexpr word part(quad q, uint32 i) { return {this, emit(opcode::part, type::word, q.id, i)}; }
  constexpr quad join(const word (&parts)[4]) {
    uint32 ids[4]{};
    for (int i = 0; i < 4; ++i) ids[i] = use(parts[i]);
    const uint32 first = arguments({ids, 4});
    return {this, emit(opcode::join, type::quad, 0, first, 4)};
  }
  constexpr void atomic_and(buffer_id b, word index, word value) { emit_store(opcode::atomic_and, b.index, index, value); }
  constexpr void atomic_or(buffer_id b, word index, word value) { emit_store(opcode::atomic_or, b.index, index, value); }
  template <class Value>
  constexpr Value load(shared_id s, word index) {
    return {this, emit(opcode::shared_load, type_of_handle<Value>, s.index, use(index))};
  }
  template <class Value>
  constexpr void store(shared_id s, word index, Value value) { emit_store(opcode::shared_store, s.index, index, value); }

  // ---- fragments

  /// Rows m, or n, of 16 elements along K, `stride` quads apart.
  template <type T>
  constexpr fragment<T> load_fragment(shared_id s, word index, uint32 stride) {
    return {this, emit(T == type::left ? opcode::mma_left : opcode::mma_right, T, s.index, use(index), stride)};
  }
  constexpr fragment<type::sums> no_sums() { return {this, emit(opcode::mma_zero, type::sums)}; }
  /// `multiply`: mma_bf16 or mma_f16.
  constexpr fragment<type::sums> multiply_add(opcode multiply, fragment<type::left> a, fragment<type::right> b, fragment<type::sums> to) {
    return {this, emit(multiply, type::sums, a.id, b.id, to.id)};
  }
  constexpr void store_fragment(shared_id s, word index, fragment<type::sums> value) { emit_store(opcode::mma_store, s.index, index, value); }

  // ---- where this invocation is

  constexpr word group() { return {this, emit(opcode::group, type::word)}; }
  constexpr word lane() { return {this, emit(opcode::lane, type::word)}; }
  constexpr word subgroup() { return {this, emit(opcode::subgroup, type::word)}; }
  constexpr word invocation();

  // ---- control

  template <class Value>
  constexpr variable<Value> declare(Value first) { return {this, emit(opcode::variable, type_of_handle<Value>, use(first))}; }
  template <class Value>
  constexpr Value read(variable<Value> v) { return {this, emit(opcode::read, type_of_handle<Value>, v.id)}; }
  template <class Value>
  constexpr void assign(variable<Value> v, Value value) {
    const uint32 given = use(value);
    emit(opcode::assign, type::none, v.id, given);
  }
  template <class Body>
  constexpr void for_(word from, word to, word step, Body write) {
    const uint32 a = use(from), b = use(to), c = use(step);
    write(word{this, emit(opcode::loop, type::word, a, b, c)});
    emit(opcode::loop_end, type::none);
  }
  template <class Body>
  constexpr void if_(flag condition, Body write) {
    if (condition.is_literal()) {
      if (condition.id) write();
      return;
    }
    emit(opcode::branch, type::none, use(condition));
    write();
    emit(opcode::branch_end, type::none);
  }
  constexpr void barrier() { emit(opcode::barrier, type::none); }

  // ---- functions

  /// The function called `name`, written by `write(parameters…)` the first time.
  template <class Result, class... Parameters, class Write>
  constexpr function_id define(std::string_view name, Write write) {
    for (uint32 i = 0; i < made_.functions.size(); ++i)
      if (made_.functions[i].name.str() == name) return {i};
    function f;
    f.name << name;
    f.result = type_of_handle<Result>;
    (f.parameters.push_back(type_of_handle<Parameters>), ...);
    body outer = std::move(code_);
    code_ = {};
    const uint32 noted = note_;
    note_ = instruction::no_note;
    emit(opcode::result, type::none, use(with_parameters<Result, Parameters...>(write, std::index_sequence_for<Parameters...>{})));
    f.code = schedule(code_, {});
    code_ = std::move(outer);
    note_ = noted;
    made_.functions.push_back(std::move(f));
    return {static_cast<uint32>(made_.functions.size() - 1)};
  }
  template <class Result, class... Values>
  constexpr Result call(function_id f, Values... values) {
    const uint32 ids[] = {use(values)...};
    const uint32 first = arguments({ids, sizeof...(Values)});
    return {this, emit(opcode::call, type_of_handle<Result>, f.index, first, sizeof...(Values))};
  }

 private:
  constexpr uint32 arguments(view<uint32> ids) {
    const auto first = static_cast<uint32>(code_.size());
    for (uint32 id : ids) emit(opcode::argument, type::none, id);
    return first;
  }
  /// Parameters are the first values of a function's body.
  template <class Result, class... Parameters, class Write, size_t... I>
  constexpr Result with_parameters(Write write, std::index_sequence<I...>) {
    (emit(opcode::parameter, type_of_handle<Parameters>, I), ...);
    return write(Parameters{this, static_cast<uint32>(I)}...);
  }
  /// Words of metadata in the order in which the code reads them, but for the first ones, which count the work.
  constexpr void number_metadata() {
    vec<meta_word> used;
    vec<uint32> renamed(made_.metadata.size(), instruction::no_note);
    const auto take = [&](uint32 old) {
      if (renamed[old] != instruction::no_note) return;
      renamed[old] = static_cast<uint32>(used.size());
      used.push_back(made_.metadata[old]);
    };
    for (uint32 i : counts_) {  // one that counts the work of two parts stands twice
      if (renamed[i] == instruction::no_note) renamed[i] = static_cast<uint32>(used.size());
      used.push_back(made_.metadata[i]);
    }
    made_.work = counts_.empty() ? 1 : static_cast<uint32>(used.size());
    if (!made_.metadata.empty()) take(0);
    for (instruction& i : made_.code) {
      if (i.code != opcode::meta) continue;
      take(i.a);
      i.a = renamed[i.a];
    }
    made_.metadata = std::move(used);
  }
  constexpr buffer_id add_buffer(std::string_view name, uint32 value, access how) {
    made_.buffers.push_back({text(name), how});
    made_.bindings.push_back(value);
    return {static_cast<uint32>(made_.buffers.size() - 1)};
  }

  kernel made_;
  body code_;
  vec<uint32> counts_;  ///< words of metadata that count work
  uint32 note_ = instruction::no_note;
};

}  // namespace poot::kernel

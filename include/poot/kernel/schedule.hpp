#pragma once
/// One order for the instructions of a body, whatever order the compiler of the generator evaluated arguments in.
///
/// Ensures: values that depend on their operands alone stand before their first use, in the block where they were made,
/// operands first; equal ones are one, also loads of a buffer that is only read; unused ones are gone. What touches memory or
/// variables, and control, keeps its order.

#include <poot/core/hash.hpp>
#include <poot/core/hash_index.hpp>
#include <poot/kernel/kernel.hpp>

namespace poot::kernel {

namespace detail {

/// Calls are movable: functions touch no memory. Arguments go with their call.
constexpr bool is_movable(opcode c) { return c <= opcode::join || c == opcode::call; }
constexpr bool opens(opcode c) { return c == opcode::loop || c == opcode::branch || c == opcode::branch_else; }
constexpr bool closes(opcode c) { return c == opcode::loop_end || c == opcode::branch_end || c == opcode::branch_else; }

/// Calls f(value) for each value that `i`, of `code`, reads, variables too. (Above the class: clang 19 evaluates no
/// template that is defined further down.)
template <class F>
constexpr void each_operand(const body& code, const instruction& i, F f) {
  if (takes_arguments(i.code)) {
    for (uint32 k = 0; k < i.c; ++k) f(code[i.b + k].a);
    return;
  }
  const operand_use use = operands_of(i.code);
  if (use.a) f(i.a);
  if (use.b) f(i.b);
  if (use.c) f(i.c);
}

class scheduler {
 public:
  constexpr scheduler(const body& code, view<buffer> buffers)
      : from_(code), buffers_(buffers), renamed_(code.size(), unset), seen_(code.size(), 0) {}

  constexpr body run() {
    is_open_.push_back(1);
    open_.push_back(0);
    for (uint32 i = 0; i < from_.size(); ++i) {
      const instruction& at = from_[i];
      if (is_movable(at.code) || at.code == opcode::argument) continue;
      each_operand(from_, at, [&](uint32 v) { make(v, i + 1); });
      if (at.code == opcode::loop || at.code == opcode::branch) make_for_block(i);
      if (closes(at.code)) close();
      renamed_[i] = is_constant(at) ? find_or_append(rename(at)) : append(rename(at));
      if (opens(at.code)) open();
    }
    return std::move(to_);
  }

 private:
  static constexpr uint32 unset = 0xffffffffu;

  /// A load that gives one value wherever it stands in its block: in place, an element is read before it is written.
  constexpr bool is_constant(const instruction& i) const {
    return (i.code == opcode::load || i.code == opcode::load_quad) && buffers_[i.a].how == access::read;
  }

  constexpr void open() {
    is_open_.push_back(1);
    open_.push_back(static_cast<uint32>(is_open_.size() - 1));
  }
  constexpr void close() {
    is_open_[open_.back()] = 0;
    open_.pop_back();
  }
  constexpr uint32 append(const instruction& i) {
    to_.push_back(i);
    block_of_.push_back(open_.back());
    return static_cast<uint32>(to_.size() - 1);
  }

  /// Values made before block `opener` and read within it are made before it.
  constexpr void make_for_block(uint32 opener) {
    const uint32 mark = ++stamp_;
    for (uint32 i = opener + 1, depth = 1; depth > 0; ++i) {
      const instruction& at = from_[i];
      if (at.code == opcode::loop || at.code == opcode::branch) ++depth;
      if (at.code == opcode::loop_end || at.code == opcode::branch_end) --depth;
      if (!is_movable(at.code) && at.code != opcode::argument) each_operand(from_, at, [&](uint32 v) { search(v, opener, mark); });
    }
  }
  /// Makes what `v` needs of the values made before `opener`.
  constexpr void search(uint32 v, uint32 opener, uint32 mark) {
    vec<uint32> stack;
    stack.push_back(v);
    while (!stack.empty()) {
      const uint32 at = stack.back();
      stack.pop_back();
      if (!is_movable(from_[at].code) || seen_[at] == mark) continue;
      seen_[at] = mark;
      if (at < opener) {
        make(at, opener);
        continue;
      }
      const size_t first = stack.size();
      each_operand(from_, from_[at], [&](uint32 in) { stack.push_back(in); });
      for (size_t i = first, j = stack.size(); i + 1 < j; ++i, --j) std::swap(stack[i], stack[j - 1]);  // the first operand on top
    }
  }

  /// Makes `v` here, operands first; all of them were made before `limit`.
  constexpr void make(uint32 v, uint32 limit) {
    if (v >= limit || renamed_[v] != unset || !is_movable(from_[v].code)) return;
    vec<uint32> stack;
    stack.push_back(v);
    while (!stack.empty()) {
      const uint32 at = stack.back();
      if (renamed_[at] != unset) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      each_operand(from_, from_[at], [&](uint32 in) {
        if (renamed_[in] == unset) stack.push_back(in);
      });
      if (stack.size() == before) {
        stack.pop_back();
        renamed_[at] = takes_arguments(from_[at].code) ? append_call(from_[at]) : find_or_append(rename(from_[at]));
        continue;
      }
      for (size_t i = before, j = stack.size(); i + 1 < j; ++i, --j) std::swap(stack[i], stack[j - 1]);
    }
  }

  constexpr instruction rename(instruction i) const {
    const operand_use use = operands_of(i.code);
    if (use.a || i.code == opcode::read || i.code == opcode::assign) i.a = renamed_[i.a];
    if (use.b) i.b = renamed_[i.b];
    if (use.c) i.c = renamed_[i.c];
    return i;
  }
  constexpr uint32 append_call(instruction call) {
    const auto first = static_cast<uint32>(to_.size());
    for (uint32 k = 0; k < call.c; ++k) {
      instruction argument = from_[call.b + k];
      argument.a = renamed_[argument.a];
      append(argument);
    }
    call.b = first;
    return append(call);
  }

  constexpr uint32 find_or_append(const instruction& i) {
    const uint64 h = mix(mix(mix(static_cast<uint64>(i.code) << 8 | static_cast<uint64>(i.kind), i.a), i.b), i.c);
    const uint32 found = made_.find(h, [&](uint32 id) {
      const instruction& made = to_[id];
      return made.code == i.code && made.kind == i.kind && made.a == i.a && made.b == i.b && made.c == i.c && is_open_[block_of_[id]];
    });
    if (found != hash_index::none) return found;
    const uint32 id = append(i);
    made_.insert(h, id);
    return id;
  }

  const body& from_;
  view<buffer> buffers_;
  body to_;
  vec<uint32> renamed_, seen_;
  hash_index made_;
  vec<uint32> block_of_;  ///< of each new instruction
  vec<uint32> open_;      ///< blocks that stand open, outermost first
  vec<uint8> is_open_;    ///< of each block
  uint32 stamp_ = 0;
};

}  // namespace detail

constexpr body schedule(const body& code, view<buffer> buffers) { return detail::scheduler(code, buffers).run(); }

}  // namespace poot::kernel

#pragma once
/// The form of a kernel: what each instruction must be by itself for a kernel to mean anything. `interpret` and `verify`
/// start from it.

#include <poot/core/error.hpp>
#include <poot/kernel/kernel.hpp>

namespace poot::kernel {

constexpr std::string_view name(type t) {
  switch (t) {
    case type::none: return "none";
    case type::flag: return "flag";
    case type::word: return "word";
    case type::number: return "number";
    case type::quad: return "quad";
    case type::left: return "left";
    case type::right: return "right";
    case type::sums: return "sums";
  }
  return "";
}

constexpr bool is_literal(opcode c) { return c <= opcode::literal_flag; }

/// "kernel twice: load at instruction 12 of equation 3", for an error.
constexpr text describe(const kernel& k, const body& code, uint32 i) {
  text out("kernel ");
  out << k.name << ": " << name(code[i].code) << " at instruction " << i;
  for (const function& f : k.functions)
    if (&f.code == &code) out << " of function " << f.name;
  if (code[i].note != instruction::no_note) out << " of equation " << code[i].note;
  return out;
}

/// Of each instruction that opens or splits a block, the next one that splits or ends it; 0 for any other. Of a body whose
/// blocks are balanced.
constexpr vec<uint32> block_ends(const body& code) {
  vec<uint32> ends(code.size()), open;
  for (uint32 i = 0; i < code.size(); ++i) {
    const opcode c = code[i].code;
    if (c == opcode::loop_end || c == opcode::branch_else || c == opcode::branch_end) {
      ends[open.back()] = i;
      open.pop_back();
    }
    if (c == opcode::loop || c == opcode::branch || c == opcode::branch_else) open.push_back(i);
  }
  return ends;
}

namespace detail {

/// The types of the operands that are values; none where an operand is no value or any type will do.
struct signature {
  type a = type::none, b = type::none, c = type::none, result = type::none;
};
constexpr signature signature_of(opcode c) {
  constexpr type flag = type::flag, word = type::word, number = type::number, none = type::none;
  switch (c) {
    case opcode::literal_word:
    case opcode::group:
    case opcode::lane:
    case opcode::subgroup:
    case opcode::meta: return {none, none, none, word};
    case opcode::literal_number: return {none, none, none, number};
    case opcode::literal_flag: return {none, none, none, flag};
    case opcode::add: case opcode::sub: case opcode::mul: case opcode::mul_high: case opcode::div: case opcode::rem:
    case opcode::div_signed: case opcode::bit_and: case opcode::bit_or: case opcode::bit_xor: case opcode::shl:
    case opcode::shr: case opcode::shr_signed: return {word, word, none, word};
    case opcode::bit_not: return {word, none, none, word};
    case opcode::less: case opcode::less_signed: case opcode::equal: return {word, word, none, flag};
    case opcode::fadd: case opcode::fsub: case opcode::fmul: case opcode::fdiv: return {number, number, none, number};
    case opcode::fsqrt: case opcode::ffloor: return {number, none, none, number};
    case opcode::ffma: return {number, number, number, number};
    case opcode::fless: case opcode::fless_equal: case opcode::fequal: return {number, number, none, flag};
    case opcode::to_bits: case opcode::to_int: return {number, none, none, word};
    case opcode::from_bits: case opcode::to_number: return {word, none, none, number};
    case opcode::to_word: return {flag, none, none, word};
    case opcode::and_: case opcode::or_: return {flag, flag, none, flag};
    case opcode::not_: return {flag, none, none, flag};
    case opcode::select: return {flag, none, none, none};
    case opcode::part: return {type::quad, none, none, word};
    case opcode::join: return {none, none, none, type::quad};
    case opcode::load: return {none, word, none, word};
    case opcode::load_quad: return {none, word, none, type::quad};
    case opcode::store_quad: return {none, word, type::quad, none};
    case opcode::store: case opcode::atomic_and: case opcode::atomic_or: return {none, word, word, none};
    case opcode::shared_load: case opcode::shared_store: return {none, word, none, none};
    case opcode::mma_left: return {none, word, none, type::left};
    case opcode::mma_right: return {none, word, none, type::right};
    case opcode::mma_zero: return {none, none, none, type::sums};
    case opcode::mma_bf16: case opcode::mma_f16: return {type::left, type::right, type::sums, type::sums};
    case opcode::mma_store: return {none, word, type::sums, none};
    case opcode::loop: return {word, word, word, word};
    case opcode::branch: return {flag, none, none, none};
    default: return {};
  }
}

class form_checker {
 public:
  constexpr form_checker(const kernel& k, const body& code, const function* f, uint32 functions)
      : k_(k), code_(code), function_(f), functions_(functions), visible_(code.size()) {}

  constexpr void check() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      check_operands();
      check_places();
      check_blocks();
      check_function();
      visible_[at_] = code_[at_].kind != type::none;
    }
    if (!open_.empty()) {
      at_ = open_.back();
      wrong(text("its block is never ended"));
    }
    if (function_ && (code_.empty() || code_.back().code != opcode::result))
      fail(text("kernel ") << k_.name << ": function " << function_->name << " ends without a result");
  }

 private:
  constexpr const instruction& now() const { return code_[at_]; }
  [[noreturn]] void wrong(const text& what) const { fail(describe(k_, code_, at_) << ": " << what); }

  constexpr void check_value(char which, uint32 id, type wanted) const {
    if (id >= at_) wrong(text("operand ") << which << " is %" << id << ", which is not defined before it");
    if (code_[id].kind == type::none) wrong(text("operand ") << which << " is %" << id << ", which has no value");
    if (!visible_[id]) wrong(text("operand ") << which << " is %" << id << ", of a block that has ended");
    if (wanted != type::none && code_[id].kind != wanted)
      wrong(text("operand ") << which << " is a " << name(code_[id].kind) << ", not a " << name(wanted));
  }
  constexpr void check_operands() const {
    const operand_use uses = operands_of(now().code);
    const signature s = signature_of(now().code);
    if (uses.a) check_value('a', now().a, s.a);
    if (uses.b) check_value('b', now().b, s.b);
    if (uses.c) check_value('c', now().c, s.c);
    type gives = s.result;
    switch (now().code) {
      case opcode::select:
        if (code_[now().b].kind != code_[now().c].kind) wrong(text("it chooses between values of two types"));
        gives = code_[now().b].kind;
        if (gives == type::quad || is_fragment(gives)) wrong(text("it chooses between ") << (gives == type::quad ? "quads" : "fragments"));
        break;
      case opcode::part:
        if (now().b > 3) wrong(text("part ") << now().b << " of four words");
        break;
      case opcode::join:
        if (now().c != 4) wrong(text("a quad has four words"));
        check_arguments();
        for (uint32 p = 0; p < 4; ++p)
          if (code_[code_[now().b + p].a].kind != type::word) wrong(text("argument ") << p << " is no word");
        break;
      case opcode::variable:
        gives = code_[now().a].kind;
        if (gives == type::quad) wrong(text("variables hold no quads"));
        break;
      case opcode::read:
      case opcode::assign:
        check_value('a', now().a, type::none);
        if (code_[now().a].code != opcode::variable) wrong(text("operand a is no variable"));
        if (now().code == opcode::read) gives = code_[now().a].kind;
        else if (code_[now().a].kind != code_[now().b].kind) wrong(text("it assigns a value of another type"));
        break;
      case opcode::literal_flag:
        if (now().a > 1) wrong(text("a flag is 0 or 1"));
        break;
      default: break;
    }
    const bool fixed = now().code != opcode::shared_load && now().code != opcode::parameter && now().code != opcode::call;
    if (fixed && now().kind != gives) wrong(text("it defines a ") << name(gives) << ", declared is " << name(now().kind));
  }

  /// Buffers, arrays, metadata: the numbers that name no value.
  constexpr void check_places() const {
    switch (now().code) {
      case opcode::meta:
        if (now().a >= k_.metadata.size())
          wrong(text("word ") << now().a << " of a metadata of " << k_.metadata.size() << " words");
        break;
      case opcode::load:
      case opcode::store:
      case opcode::load_quad:
      case opcode::store_quad:
      case opcode::atomic_and:
      case opcode::atomic_or: {
        if (now().a >= k_.buffers.size()) wrong(text("there is no buffer ") << now().a);
        const buffer& b = k_.buffers[now().a];
        const bool loads = now().code == opcode::load || now().code == opcode::load_quad;
        if (loads && b.how == access::write) wrong(text("buffer ") << b.name << " is only written");
        if (!loads && b.how == access::read) wrong(text("buffer ") << b.name << " is only read");
        break;
      }
      case opcode::shared_load:
      case opcode::shared_store: {
        if (now().a >= k_.shared.size()) wrong(text("there is no shared array ") << now().a);
        const shared_array& s = k_.shared[now().a];
        const bool loads = now().code == opcode::shared_load;
        if ((loads ? now().kind : code_[now().c].kind) != s.kind)
          wrong(text("shared ") << s.name << " holds values of type " << name(s.kind));
        if (!loads && now().kind != type::none) wrong(text("it defines no value"));
        const instruction& index = code_[now().b];
        if (index.code == opcode::literal_word && index.a >= s.size)
          wrong(text("index ") << index.a << " of shared " << s.name << ", which has " << s.size << " elements");
        break;
      }
      case opcode::mma_left:
      case opcode::mma_right:
      case opcode::mma_store: {
        if (now().a >= k_.shared.size()) wrong(text("there is no shared array ") << now().a);
        const shared_array& s = k_.shared[now().a];
        const type held = now().code == opcode::mma_store ? type::number : type::quad;
        if (s.kind != held) wrong(text("shared ") << s.name << " holds values of type " << name(s.kind) << ", not " << name(held));
        if (held == type::quad && (now().c < 2 || now().c > s.size)) wrong(text("rows of two quads, ") << now().c << " apart");
        break;
      }
      default: break;
    }
  }

  constexpr void check_blocks() {
    const opcode c = now().code;
    if (c == opcode::loop_end || c == opcode::branch_else || c == opcode::branch_end) {
      const opcode opened = open_.empty() ? opcode::barrier : code_[open_.back()].code;
      const bool fits = c == opcode::loop_end      ? opened == opcode::loop
                        : c == opcode::branch_else ? opened == opcode::branch
                                                   : opened == opcode::branch || opened == opcode::branch_else;
      if (!fits) wrong(text("it ends no block"));
      for (uint32 id = open_.back(); id < at_; ++id) visible_[id] = 0;
      open_.pop_back();
    }
    if (c == opcode::loop || c == opcode::branch || c == opcode::branch_else) open_.push_back(at_);
  }

  constexpr void check_function() const {
    switch (now().code) {
      case opcode::parameter:
        if (!function_ || now().a != at_ || at_ >= function_->parameters.size() || now().kind != function_->parameters[at_])
          wrong(text("parameters are the first values of a function, in order and of their types"));
        break;
      case opcode::result:
        if (!function_ || at_ + 1 != code_.size() || !open_.empty()) wrong(text("a result is the last instruction of a function"));
        if (code_[now().a].kind != function_->result) wrong(text("the function gives a ") << name(function_->result));
        break;
      case opcode::call: check_call(); break;
      case opcode::mma_left: case opcode::mma_right: case opcode::mma_zero: case opcode::mma_bf16: case opcode::mma_f16: case opcode::mma_store:
      case opcode::group: case opcode::lane: case opcode::subgroup: case opcode::meta: case opcode::load: case opcode::store: case opcode::load_quad: case opcode::store_quad:
      case opcode::atomic_and: case opcode::atomic_or: case opcode::shared_load: case opcode::shared_store:
      case opcode::barrier:
        if (function_) wrong(text("a function is of its parameters alone"));
        break;
      default: break;
    }
    if (k_.subgroup == 0 && (is_of_fragments(now().code) || now().code == opcode::subgroup)) wrong(text("the kernel says no size of subgroups"));
    if (function_ && at_ < function_->parameters.size() && now().code != opcode::parameter)
      wrong(text("parameter ") << at_ << " should stand here");
  }
  constexpr void check_arguments() const {
    if (now().b > at_ || at_ - now().b != now().c) wrong(text("its arguments are not right before it"));
    for (uint32 p = 0; p < now().c; ++p)
      if (code_[now().b + p].code != opcode::argument) wrong(text("argument ") << p << " is none");
  }
  constexpr void check_call() const {
    if (now().a >= functions_) wrong(text("it calls function ") << now().a << ", which is not defined before");
    const function& called = k_.functions[now().a];
    if (now().c != called.parameters.size())
      wrong(text("function ") << called.name << " takes " << called.parameters.size() << " values, given are " << now().c);
    if (now().kind != called.result) wrong(text("function ") << called.name << " gives a " << name(called.result));
    check_arguments();
    for (uint32 p = 0; p < now().c; ++p) {
      const instruction& argument = code_[now().b + p];
      if (code_[argument.a].kind != called.parameters[p])
        wrong(text("argument ") << p << " of function " << called.name << " is a " << name(code_[argument.a].kind) << ", not a "
                                << name(called.parameters[p]));
    }
  }

  const kernel& k_;
  const body& code_;
  const function* function_;
  uint32 functions_;  ///< that can be called
  uint32 at_ = 0;
  vec<uint8> visible_;
  vec<uint32> open_;
};

}  // namespace detail

/// Throws `error` naming the first instruction whose operands, types, places or blocks are not what its opcode needs;
/// returns true otherwise. Functions call earlier ones only and touch nothing but their parameters.
constexpr bool check_form(const kernel& k) {
  if (k.workgroup == 0) fail(text("kernel ") << k.name << ": a workgroup has no invocation");
  if (k.subgroup != 0 && ((k.subgroup != 32 && k.subgroup != 64) || k.workgroup % k.subgroup != 0))
    fail(text("kernel ") << k.name << ": " << k.workgroup << " invocations in subgroups of " << k.subgroup << ", which are of 32 or 64");
  for (const shared_array& s : k.shared)
    if (words_of(s.kind) == 0) fail(text("kernel ") << k.name << ": shared " << s.name << " holds values of type " << name(s.kind));
  bool written = false;
  for (const buffer& b : k.buffers) {
    if (written && b.how == access::read)
      fail(text("kernel ") << k.name << ": buffer " << b.name << " is only read, so it stands before those that are written");
    written = b.how != access::read;
  }
  if (k.bindings.size() != k.buffers.size()) fail(text("kernel ") << k.name << ": a buffer has no value behind it");
  if (k.work == 0 || (k.work > 1 && k.work > k.metadata.size()))
    fail(text("kernel ") << k.name << ": " << k.work << " words of " << k.metadata.size() << " count its work");
  for (const meta_word& m : k.metadata)
    if (m.divide == 0) fail(text("kernel ") << k.name << ": a word of its metadata is divided by 0");
  for (const function& f : k.functions)
    for (uint32 p = 0; p <= f.parameters.size(); ++p)
      if (is_fragment(p < f.parameters.size() ? f.parameters[p] : f.result))
        fail(text("kernel ") << k.name << ": function " << f.name << " takes or gives fragments");
  for (uint32 f = 0; f < k.functions.size(); ++f)
    detail::form_checker(k, k.functions[f].code, &k.functions[f], f).check();
  detail::form_checker(k, k.code, nullptr, static_cast<uint32>(k.functions.size())).check();
  return true;
}

}  // namespace poot::kernel

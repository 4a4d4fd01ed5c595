#pragma once
/// Runs a kernel without a device: the bits that its text must give everywhere.
///
///     interpret(k, {buffers, 2}, metadata, groups);  // throws where the kernel does what no text defines
///
/// The invocations of a workgroup take every instruction together; branches and loops narrow the set of those that do.
/// Workgroups run one after the other. So a kernel without races has one result, and a kernel with one is refused.

#include <poot/core/float_environment.hpp>
#include <poot/core/fma.hpp>
#include <poot/ir/evaluate.hpp>
#include <poot/kernel/frame.hpp>
#include <poot/kernel/touches.hpp>

namespace poot::kernel {

/// The memory behind a buffer; `count` is in words.
struct words {
  uint32* data = nullptr;
  size_t count = 0;
};

struct interpretation {
  /// Refuse two invocations that touch one word without order, unless both read or both are atomic. Between invocations
  /// of a workgroup a barrier orders shared memory; nothing orders a buffer within a dispatch.
  bool races = true;
  subnormals small = subnormals::kept;  ///< flushed: as on a device whose caps say so
};

namespace detail {

class interpreter {
 public:
  constexpr interpreter(const kernel& k, view<words> buffers, view<uint32> metadata, interpretation wanted)
      : k_(k), buffers_(buffers), wanted_(wanted), width_(k.workgroup) {
    if (buffers.size() != k.buffers.size())
      fail(text{} << "kernel " << k.name << ": has " << k.buffers.size() << " buffers, given are " << buffers.size());
    if (metadata.size() != k.metadata_words())
      fail(text{} << "kernel " << k.name << ": has " << k.metadata_words() << " words of metadata, given are " << metadata.size());
    for (const function& f : k.functions) frames_.push_back(frame(k, f.code, metadata));
    frames_.push_back(frame(k, k.code, metadata));
    for (const shared_array& s : k.shared) {
      shared_.push_back(vec<uint32>(s.size * words_of(s.kind)));
      written_.push_back(vec<uint8>(s.size));
      shared_touches_.push_back(vec<touches>(wanted.races ? s.size : 0));
    }
    for (uint32 b = 0; b < buffers.size(); ++b) {
      memory_of_.push_back(first_with(buffers[b].data));
      buffer_touches_.push_back({});
      if (wanted.races && k.buffers[b].how != access::read) buffer_touches_[memory_of_[b]].resize(buffers[b].count);
    }
    for (uint32 l = 0; l < width_; ++l) everyone_.push_back(l);
  }

  constexpr void run_group(uint32 group) {
    group_ = group;
    ++interval_;
    for (vec<uint32>& s : shared_)
      for (uint32& element : s) element = 0x7fa5a5a5u;  // a signalling NaN
    for (vec<uint8>& s : written_)
      for (uint8& element : s) element = 0;
    frame& f = frames_.back();
    for (uint32 i = 0; i < f.code->size(); ++i)
      if ((*f.code)[i].code == opcode::group) f.fill(i, group);
    run(f, 0, static_cast<uint32>(f.code->size()), everyone_);
  }

 private:
  /// Two buffers may be one memory, as where a state is read and updated.
  constexpr uint32 first_with(const uint32* data) const {
    uint32 b = 0;
    while (buffers_[b].data != data) ++b;
    return b;
  }
  template <class F>
  constexpr void each(view<uint32> active, F f) const {
    if (active.size() == width_)
      for (uint32 l = 0; l < width_; ++l) f(l);
    else
      for (uint32 l : active) f(l);
  }

  [[noreturn]] void wrong(const frame& f, uint32 i, uint32 lane, text what) const {
    fail(describe(k_, *f.code, i) << ": " << what << ", in invocation " << lane << " of workgroup " << group_);
  }

  constexpr void meet(const frame& f, uint32 i, view<uint32> active) const {
    if (active.size() == width_) return;
    wrong(f, i, active[0], text("only ") << active.size() << " of " << width_ << " invocations get here");
  }

  /// Runs instructions [from, to) for the invocations `active`, of which there is one at least.
  constexpr void run(frame& f, uint32 from, uint32 to, view<uint32> active) {
    for (uint32 i = from; i < to; ++i) {
      const instruction& now = (*f.code)[i];
      if (is_of_fragments(now.code)) {
        meet(f, i, active);
        for (uint32 first = 0; first < width_; first += k_.subgroup) run_fragment(f, i, first);
        continue;
      }
      switch (now.code) {
        case opcode::loop:
          run_loop(f, i, active);
          i = f.ends[i];
          break;
        case opcode::branch:
          i = run_branch(f, i, active);
          break;
        case opcode::barrier:
          meet(f, i, active);
          ++interval_;
          break;
        case opcode::call: call(f, i, active); break;
        case opcode::join:
          for (uint32 p = 0; p < 4; ++p) {
            const uint32* const given = f.row((*f.code)[now.b + p].a);
            each(active, [&](uint32 l) { f.row(i)[p * width_ + l] = given[l]; });
          }
          break;
        case opcode::load:
        case opcode::store:
        case opcode::load_quad:
        case opcode::store_quad:
        case opcode::atomic_and:
        case opcode::atomic_or: touch_buffer(f, i, active); break;
        case opcode::shared_load:
        case opcode::shared_store: touch_shared(f, i, active); break;
        default: compute(f, i, active);
      }
    }
  }

  constexpr void run_loop(frame& f, uint32 i, view<uint32> active) {
    const instruction& now = (*f.code)[i];
    uint32* const at = f.row(i);
    const uint32 *first = f.row(now.a), *end = f.row(now.b), *step = f.row(now.c);
    vec<uint32> live;
    live.reserve(active.size());
    for (uint32 l : active) {
      at[l] = first[l];
      if (at[l] < end[l]) live.push_back(l);
    }
    while (!live.empty()) {
      run(f, i + 1, f.ends[i], live);
      size_t kept = 0;
      for (uint32 l : live) {
        const uint32 next = at[l] + step[l];
        if (next <= at[l]) wrong(f, i, l, text("the loop never ends: from ") << at[l] << " it steps by " << step[l]);
        at[l] = next;
        if (next < end[l]) live[kept++] = l;
      }
      live.truncate(kept);
    }
  }

  /// Returns the end of the branch.
  constexpr uint32 run_branch(frame& f, uint32 i, view<uint32> active) {
    const uint32* const condition = f.row((*f.code)[i].a);
    const uint32 middle = f.ends[i];
    const bool has_else = (*f.code)[middle].code == opcode::branch_else;
    vec<uint32> taken, other;
    taken.reserve(active.size());
    other.reserve(active.size());
    for (uint32 l : active) (condition[l] ? taken : other).push_back(l);
    if (!taken.empty()) run(f, i + 1, middle, taken);
    if (has_else && !other.empty()) run(f, middle + 1, f.ends[middle], other);
    return has_else ? f.ends[middle] : middle;
  }

  constexpr void call(frame& f, uint32 i, view<uint32> active) {
    const instruction& now = (*f.code)[i];
    frame& called = frames_[now.a];
    const body& code = *called.code;
    for (uint32 p = 0; p < now.c; ++p) {
      const uint32* const given = f.row((*f.code)[now.b + p].a);
      uint32* const parameter = called.row(p);
      each(active, [&](uint32 l) { parameter[l] = given[l]; });
    }
    run(called, now.c, static_cast<uint32>(code.size()), active);
    const uint32* const result = called.row(code.back().a);
    uint32* const out = f.row(i);
    each(active, [&](uint32 l) { out[l] = result[l]; });
  }

  constexpr void touch_buffer(frame& f, uint32 i, view<uint32> active) {
    const instruction& now = (*f.code)[i];
    const words memory = buffers_[now.a];
    vec<touches>& noted = buffer_touches_[memory_of_[now.a]];
    const bool loads = now.code == opcode::load || now.code == opcode::load_quad;
    const uint32 each_touches = now.code == opcode::load_quad || now.code == opcode::store_quad ? 4 : 1;
    const uint32* const index = f.row(now.b);
    uint32* const out = f.row(i);
    const uint32* const given = loads ? nullptr : f.row(now.c);
    const touch how = loads ? touch::read : now.code == opcode::atomic_and || now.code == opcode::atomic_or ? touch::atomic : touch::write;
    each(active, [&](uint32 l) {
      for (uint32 word = 0; word < each_touches; ++word) {
        const uint64 at = uint64{index[l]} * each_touches + word;
        if (at >= memory.count)
          wrong(f, i, l, text("index ") << at << " of buffer " << k_.buffers[now.a].name << ", which has " << memory.count << " words");
        if (at < noted.size() && !note(noted[at], 0, group_ * width_ + l, how))
          wrong(f, i, l, text("word ") << at << " of buffer " << k_.buffers[now.a].name << " is touched by another invocation too");
        if (loads) out[word * width_ + l] = memory.data[at];
        else if (now.code == opcode::atomic_and) memory.data[at] &= given[l];
        else if (now.code == opcode::atomic_or) memory.data[at] |= given[l];
        else memory.data[at] = given[word * width_ + l];
      }
    });
  }

  constexpr void touch_shared(frame& f, uint32 i, view<uint32> active) {
    const instruction& now = (*f.code)[i];
    const shared_array& array = k_.shared[now.a];
    vec<uint32>& memory = shared_[now.a];
    const bool loads = now.code == opcode::shared_load;
    const uint32 words = words_of(array.kind);
    const uint32* const index = f.row(now.b);
    uint32* const out = f.row(i);
    const uint32* const given = loads ? nullptr : f.row(now.c);
    each(active, [&](uint32 l) {
      const uint32 at = index[l];
      const auto complain = [&](const char* what) {
        wrong(f, i, l, text("element ") << at << " of shared " << array.name << what);
      };
      if (at >= array.size)
        wrong(f, i, l, text("index ") << at << " of shared " << array.name << ", which has " << array.size << " elements");
      if (loads && !written_[now.a][at]) complain(" is read before it is written");
      if (wanted_.races && !note(shared_touches_[now.a][at], interval_, l, loads ? touch::read : touch::write))
        complain(" is touched by another invocation too, with no barrier between");
      for (uint32 word = 0; word < words; ++word) {
        uint32& element = memory[at * words + word];
        if (loads) out[word * width_ + l] = element;
        else element = given[word * width_ + l];
      }
      written_[now.a][at] = 1;
    });
  }

  constexpr void copy(frame& f, uint32 from, uint32 to, view<uint32> active) {
    for (uint32 w = 0, words = words_of_value((*f.code)[to].kind, k_.subgroup); w < words; ++w)
      each(active, [&](uint32 l) { f.row(to)[w * width_ + l] = f.row(from)[w * width_ + l]; });
  }

  /// What a subgroup does as one, from invocation `first` on.
  constexpr void run_fragment(frame& f, uint32 i, uint32 first) {
    const instruction& now = (*f.code)[i];
    const auto words = [&](uint32 id) { return f.fragment(id, first); };
    if (now.code == opcode::mma_zero) {
      for (uint32 w = 0; w < fragment_side * fragment_side; ++w) words(i)[w] = 0;
      return;
    }
    if (now.code == opcode::mma_bf16 || now.code == opcode::mma_f16)
      return multiply_add(now.code == opcode::mma_bf16, words(now.a), words(now.b), words(now.c), words(i));
    const shared_array& array = k_.shared[now.a];
    const uint32 at = f.row(now.b)[first], each_has = words_of(array.kind);
    for (uint32 l = first; l < first + k_.subgroup; ++l)
      if (f.row(now.b)[l] != at) wrong(f, i, l, text("its subgroup does not agree on the index"));
    const bool stores = now.code == opcode::mma_store;
    const footprint all = footprint_of(now);
    for (uint32 e = 0; e < all.rows * all.length; ++e) {
      const uint64 element = uint64{at} + uint64{e / all.length} * all.stride + e % all.length;
      const auto complain = [&](const char* what) { wrong(f, i, first, text("element ") << element << " of shared " << array.name << what); };
      if (element >= array.size) complain(" is outside");
      if (!stores && !written_[now.a][element]) complain(" is read before it is written");
      if (wanted_.races && !note(shared_touches_[now.a][element], interval_, toucher(k_, i, first / k_.subgroup), stores ? touch::write : touch::read))
        complain(" is touched by another invocation too, with no barrier between");
      for (uint32 w = 0; w < each_has; ++w) {
        uint32& memory = shared_[now.a][element * each_has + w];
        if (stores) memory = words(now.c)[e];
        else words(i)[e * each_has + w] = memory;
      }
      written_[now.a][element] = 1;
    }
  }

  /// Instructions that touch nothing but values.
  constexpr void compute(frame& f, uint32 i, view<uint32> active) {
    using namespace ieee;
    const instruction& now = (*f.code)[i];
    const operand_use uses = operands_of(now.code);
    uint32* const out = f.row(i);
    const uint32* const a = uses.a ? f.row(now.a) : nullptr;
    const uint32* const b = uses.b ? f.row(now.b) : nullptr;
    const uint32* const c = uses.c ? f.row(now.c) : nullptr;
    const auto one = [&](auto op) { each(active, [&](uint32 l) { out[l] = op(a[l]); }); };
    const auto two = [&](auto op) { each(active, [&](uint32 l) { out[l] = op(a[l], b[l]); }); };
    const auto numbers = [&](auto op) { two([&](uint32 x, uint32 y) { return ieee::to_bits(op(ieee::from_bits(x), ieee::from_bits(y))); }); };
    const auto compare = [&](auto op) { two([&](uint32 x, uint32 y) -> uint32 { return op(ieee::from_bits(x), ieee::from_bits(y)); }); };
    const auto need = [&](auto ok, const char* rule) {
      each(active, [&](uint32 l) {
        if (!ok(l)) wrong(f, i, l, text(rule));
      });
    };
    const auto as_signed = [](uint32 x) { return static_cast<int32>(x); };
    switch (now.code) {
      case opcode::add: two([](uint32 x, uint32 y) { return x + y; }); break;
      case opcode::sub: two([](uint32 x, uint32 y) { return x - y; }); break;
      case opcode::mul: two([](uint32 x, uint32 y) { return x * y; }); break;
      case opcode::mul_high: two([](uint32 x, uint32 y) { return static_cast<uint32>(uint64{x} * y >> 32); }); break;
      case opcode::div:
      case opcode::rem:
        need([&](uint32 l) { return b[l] != 0; }, "the divisor is 0");
        if (now.code == opcode::div) two([](uint32 x, uint32 y) { return x / y; });
        else two([](uint32 x, uint32 y) { return x % y; });
        break;
      case opcode::div_signed:
        need([&](uint32 l) { return b[l] != 0; }, "the divisor is 0");
        need([&](uint32 l) { return b[l] != 0xffffffffu || a[l] != 0x80000000u; }, "the quotient does not fit");
        two([&](uint32 x, uint32 y) { return static_cast<uint32>(as_signed(x) / as_signed(y)); });
        break;
      case opcode::bit_and:
      case opcode::and_: two([](uint32 x, uint32 y) { return x & y; }); break;
      case opcode::bit_or:
      case opcode::or_: two([](uint32 x, uint32 y) { return x | y; }); break;
      case opcode::bit_xor: two([](uint32 x, uint32 y) { return x ^ y; }); break;
      case opcode::bit_not: one([](uint32 x) { return ~x; }); break;
      case opcode::not_: one([](uint32 x) { return x ^ 1u; }); break;
      case opcode::shl:
      case opcode::shr:
      case opcode::shr_signed:
        need([&](uint32 l) { return b[l] < 32; }, "it shifts by 32 bits or more");
        if (now.code == opcode::shl) two([](uint32 x, uint32 y) { return x << y; });
        else if (now.code == opcode::shr) two([](uint32 x, uint32 y) { return x >> y; });
        else two([&](uint32 x, uint32 y) { return static_cast<uint32>(as_signed(x) >> y); });
        break;
      case opcode::less: two([](uint32 x, uint32 y) -> uint32 { return x < y; }); break;
      case opcode::less_signed: two([&](uint32 x, uint32 y) -> uint32 { return as_signed(x) < as_signed(y); }); break;
      case opcode::equal: two([](uint32 x, uint32 y) -> uint32 { return x == y; }); break;
      case opcode::fadd: numbers([](float x, float y) { return ieee::add(x, y); }); break;
      case opcode::fsub: numbers([](float x, float y) { return ieee::sub(x, y); }); break;
      case opcode::fmul: numbers([](float x, float y) { return ieee::mul(x, y); }); break;
      case opcode::fdiv: numbers([](float x, float y) { return ieee::div(x, y); }); break;
      case opcode::fsqrt: one([](uint32 x) { return ieee::to_bits(ieee::sqrt(ieee::from_bits(x))); }); break;
      case opcode::ffma:
        each(active, [&](uint32 l) { out[l] = ieee::to_bits(ieee::fma(ieee::from_bits(a[l]), ieee::from_bits(b[l]), ieee::from_bits(c[l]))); });
        break;
      case opcode::ffloor: one([](uint32 x) { return ieee::to_bits(ir::detail::round_down(ieee::from_bits(x))); }); break;
      case opcode::fless: compare([](float x, float y) { return ieee::less(x, y); }); break;
      case opcode::fless_equal: compare([](float x, float y) { return ieee::less(x, y) || ieee::equal(x, y); }); break;
      case opcode::fequal: compare([](float x, float y) { return ieee::equal(x, y); }); break;
      case opcode::to_number: one([&](uint32 x) { return ieee::to_bits(static_cast<float>(as_signed(x))); }); break;
      case opcode::to_int:
        need([&](uint32 l) { return (a[l] & 0x7fffffffu) < 0x4f000000u; }, "the number does not fit 32 bits");
        one([](uint32 x) { return static_cast<uint32>(static_cast<int32>(ieee::from_bits(x))); });
        break;
      case opcode::select: each(active, [&](uint32 l) { out[l] = a[l] ? b[l] : c[l]; }); break;
      case opcode::part: {
        const uint32* const from = f.row(now.a) + size_t{now.b} * width_;
        each(active, [&](uint32 l) { out[l] = from[l]; });
        break;
      }
      case opcode::to_bits:
      case opcode::from_bits:
      case opcode::to_word:
      case opcode::variable:
      case opcode::read: copy(f, now.a, i, active); break;
      case opcode::assign: copy(f, now.b, now.a, active); break;
      default: break;  // values that were filled in before, and arguments
    }
  }

  const kernel& k_;
  view<words> buffers_;
  interpretation wanted_;
  uint32 width_, group_ = 0, interval_ = 0;
  vec<frame> frames_;  ///< of the functions, then of the kernel
  vec<vec<uint32>> shared_;
  vec<vec<uint8>> written_;
  vec<vec<touches>> shared_touches_, buffer_touches_;
  vec<uint32> memory_of_;  ///< of each buffer, the first one of the same memory
  vec<uint32> everyone_;
};

constexpr void run_groups(const kernel& k, view<words> buffers, view<uint32> metadata, uint32 groups, const interpretation& wanted) {
  check_form(k);
  const float_environment environment(wanted.small);
  interpreter in(k, buffers, metadata, wanted);
  const uint32 first = k.chunked ? metadata[metadata.size() - 1] : 0;
  for (uint32 g = 0; g < groups; ++g) in.run_group(first + g);
}

}  // namespace detail

inline constexpr uint64 interpreter_layout = mix(kernel_layout, layout_of<words, interpretation>);
namespace precompiled {
template <uint64 Layout>
void interpret(const kernel& k, view<words> buffers, view<uint32> metadata, uint32 groups, const interpretation& wanted);
}

/// Runs workgroups [0, groups), of a chunked kernel [first, first + groups). Buffers are in the order of
/// `kernel.buffers`; those that begin at one address are one memory.
/// Throws `error` naming the instruction, its equation and the invocation where an index lies outside, a shared element is
/// read before it is written, a barrier is not reached by all, two invocations race, or an operation has no defined result.
constexpr void interpret(const kernel& k, view<words> buffers, view<uint32> metadata, uint32 groups, const interpretation& wanted = {}) {
  if constexpr (!is_precompiled) return detail::run_groups(k, buffers, metadata, groups, wanted);
  else if (__builtin_is_constant_evaluated()) return detail::run_groups(k, buffers, metadata, groups, wanted);
  else return precompiled::interpret<interpreter_layout>(k, buffers, metadata, groups, wanted);
}

}  // namespace poot::kernel

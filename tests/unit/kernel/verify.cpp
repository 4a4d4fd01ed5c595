#include "kernel_cases.hpp"

#include <poot/kernel/elementary.hpp>
#include <poot/kernel/verify.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace kernel_cases;
using pk::instruction;
using pk::opcode;
using pk::type;

namespace {

constexpr device_caps caps = targets::cuda_sm80.caps;

std::string why(const pk::kernel& k, const device_caps& c = caps) {
  return refusal([&] { pk::verify(k, c); });
}

/// Sums each workgroup's numbers: with a function, a loop, a branch, shared memory and barriers.
constexpr pk::kernel sum_of_squares() {
  pk::builder k("sum", 8);
  const pk::buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const pk::shared_id s = k.shares("part", type::number, 8);
  const auto square = k.define<pk::number, pk::number>("square", [](pk::number a) { return mul(a, a); });
  const pk::word l = k.lane();
  const pk::variable<pk::number> own = k.declare(pk::number(0.0f));
  k.for_(l, k.meta({}), 8u, [&](pk::word i) { k.assign(own, add(k.read(own), k.call<pk::number>(square, from_bits(k.load(x, i))))); });
  k.store(s, l, k.read(own));
  k.barrier();
  for (uint32 half = 4; half; half /= 2) {
    k.if_(below(l, half), [&] {
      const pk::number low = k.load<pk::number>(s, l), high = k.load<pk::number>(s, l + pk::word(half));
      k.store(s, l, add(low, high));
    });
    k.barrier();
  }
  k.if_(same(l, 0u), [&] { k.store(y, k.group(), to_bits(k.load<pk::number>(s, 0u))); });
  return k.finish();
}
static_assert(pk::verify(sum_of_squares(), caps));

/// Changes the `nth` instruction of that opcode in the kernel, or in its function.
template <class Change>
std::string changed(opcode c, Change change, uint32 nth = 0, bool in_function = false) {
  pk::kernel k = sum_of_squares();
  for (instruction& i : in_function ? k.functions[0].code : k.code)
    if (i.code == c && nth-- == 0) {
      change(i);
      return why(k);
    }
  return "no such instruction";
}

/// A kernel of 8 invocations with the shared array `s` of 64 words and the buffer `y`, written by `write(k, s, y)`.
template <class Write>
std::string sharing(Write write) {
  pk::builder k("sharing", 8);
  const pk::buffer_id y = k.writes("y", 0);
  const pk::shared_id s = k.shares("s", type::word, 64);
  write(k, s, y);
  return why(k.finish());
}
constexpr const char* races = "another invocation may touch the same element of shared s";

}  // namespace

TEST_CASE("a sound kernel is accepted, and so are its twins below") {
  CHECK(why(sum_of_squares()) == "accepted");
  CHECK(changed(opcode::fadd, [](instruction&) {}) == "accepted");
}

TEST_CASE("operands are defined before, visible, and of the right type") {
  CHECK(holds(changed(opcode::fadd, [](instruction& i) { i.a = 1000; }), "operand a is %1000, which is not defined before it"));
  CHECK(holds(changed(opcode::fadd, [](instruction& i) { i.b = i.a; }), "accepted"));
  CHECK(holds(changed(opcode::load, [](instruction& i) { i.b = 0xffffffffu; }), "operand b"));
  // a word where a number should be: the group
  pk::kernel k = sum_of_squares();
  uint32 word = 0, number = 0, assign = 0;
  for (uint32 i = 0; i < k.code.size(); ++i) {
    if (k.code[i].code == opcode::lane) word = i;
    if (k.code[i].code == opcode::literal_number) number = i;
    if (k.code[i].code == opcode::assign) assign = i;
  }
  CHECK(holds(changed(opcode::fadd, [&](instruction& i) { i.a = word; }), "kernel sum: fadd at instruction "));
  CHECK(holds(changed(opcode::fadd, [&](instruction& i) { i.a = word; }), "operand a is a word, not a number"));
  CHECK(holds(changed(opcode::branch, [&](instruction& i) { i.a = word; }), "operand a is a word, not a flag"));
  CHECK(holds(changed(opcode::load, [&](instruction& i) { i.b = number; }), "operand b is a number, not a word"));
  CHECK(holds(changed(opcode::assign, [&](instruction& i) { i.b = word; }), "it assigns a value of another type"));
  CHECK(holds(changed(opcode::assign, [&](instruction& i) { i.a = number; }), "operand a is no variable"));
  CHECK(holds(changed(opcode::read, [&](instruction& i) { i.a = word; }), "operand a is no variable"));
  CHECK(holds(changed(opcode::fadd, [&](instruction& i) { i.kind = type::word; }), "it defines a number, declared is word"));
  CHECK(holds(changed(opcode::assign, [&](instruction& i) { i.kind = type::word; }), "it defines a none, declared is word"));
  CHECK(holds(changed(opcode::shared_store, [&](instruction& i) { i.c = word; }), "shared part holds values of type number"));
  CHECK(holds(changed(opcode::shared_load, [&](instruction& i) { i.kind = type::word; }), "shared part holds values of type number"));
  CHECK(holds(changed(opcode::shared_store, [&](instruction& i) { i.c = assign; }), "which has no value"));
  CHECK(holds(changed(opcode::shared_store, [&](instruction& i) { i.c = assign - 1; }), "of a block that has ended"));
}

TEST_CASE("select chooses between values of one type, and a flag is 0 or 1") {
  const auto k = [](bool mixed, uint32 flag) {
    pk::builder b("select", 1);
    const pk::buffer_id y = b.writes("y", 0);
    const uint32 c = b.emit(opcode::literal_flag, type::flag, flag);
    const uint32 chosen = b.emit(opcode::select, type::word, c, b.use(pk::word(1u)), mixed ? c : b.use(pk::word(2u)));
    b.store(y, 0u, pk::word(&b, chosen));
    return b.finish();
  };
  CHECK(why(k(false, 1)) == "accepted");
  CHECK(holds(why(k(true, 1)), "it chooses between values of two types"));
  CHECK(holds(why(k(false, 2)), "a flag is 0 or 1"));
}

TEST_CASE("blocks are balanced") {
  const auto swapped = [](opcode c, opcode by, uint32 nth = 0) { return changed(c, [by](instruction& i) { i.code = by; }, nth); };
  CHECK(holds(swapped(opcode::loop_end, opcode::branch_end), "it ends no block"));
  CHECK(holds(swapped(opcode::branch_end, opcode::loop_end), "it ends no block"));
  CHECK(holds(swapped(opcode::barrier, opcode::branch_else), "it ends no block"));
  CHECK(holds(swapped(opcode::loop_end, opcode::barrier), "loop at instruction "));
  CHECK(holds(swapped(opcode::loop_end, opcode::barrier), ": its block is never ended"));
  pk::kernel k = sum_of_squares();
  while (k.code.back().code != opcode::branch) k.code.pop_back();
  CHECK(holds(why(k), "its block is never ended"));
}

TEST_CASE("buffers, shared arrays and metadata are there, and used as they are declared") {
  CHECK(holds(changed(opcode::load, [](instruction& i) { i.a = 2; }), "there is no buffer 2"));
  CHECK(holds(changed(opcode::load, [](instruction& i) { i.a = 1; }), "buffer y is only written"));
  CHECK(holds(changed(opcode::store, [](instruction& i) { i.a = 0; }), "buffer x is only read"));
  CHECK(holds(changed(opcode::store, [](instruction& i) { i.code = opcode::atomic_or, i.a = 0; }), "buffer x is only read"));
  CHECK(changed(opcode::store, [](instruction& i) { i.code = opcode::atomic_or; }) == "accepted");
  CHECK(holds(changed(opcode::shared_load, [](instruction& i) { i.a = 1; }), "there is no shared array 1"));
  CHECK(holds(changed(opcode::meta, [](instruction& i) { i.a = 1; }), "word 1 of a metadata of 1 words"));
  pk::kernel both = sum_of_squares();
  both.buffers[1].how = pk::access::read_write;
  for (instruction& i : both.code)
    if (i.code == opcode::load) i.a = 1;
  CHECK(why(both) == "accepted");
  std::swap(both.buffers[0], both.buffers[1]);
  CHECK(holds(why(both), "buffer x is only read, so it stands before"));
  pk::kernel odd = sum_of_squares();
  odd.metadata[0].divide = 0;
  CHECK(holds(why(odd), "divided by 0"));
  odd = sum_of_squares();
  odd.bindings.pop_back();
  CHECK(holds(why(odd), "a buffer has no value behind it"));
  odd = sum_of_squares();
  odd.workgroup = 0;
  CHECK(holds(why(odd), "a workgroup has no invocation"));
}

TEST_CASE("a literal index lies in its shared array") {
  const auto at = [](uint32 index) {
    return sharing([index](pk::builder& k, pk::shared_id s, pk::buffer_id) { k.if_(same(k.lane(), 0u), [&] { k.store(s, index, pk::word(1u)); }); });
  };
  CHECK(at(63) == "accepted");
  CHECK(holds(at(64), "index 64 of shared s, which has 64 elements"));
}

TEST_CASE("functions are of their parameters alone, call earlier ones, and end in one result") {
  const auto in_function = [](opcode c, auto change) { return changed(c, change, 0, true); };
  CHECK(in_function(opcode::fmul, [](instruction& i) { i.code = opcode::fadd; }) == "accepted");
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i = {opcode::lane, type::word}; }),
              "lane at instruction 1 of function square: a function is of its parameters alone"));
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i.code = opcode::barrier, i.kind = type::none; }), "a function is of its parameters alone"));
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i = {opcode::load, type::word, 0, 0}; }), "operand b is a number"));
  CHECK(holds(in_function(opcode::parameter, [](instruction& i) { i.a = 1; }), "parameters are the first values of a function"));
  CHECK(holds(in_function(opcode::parameter, [](instruction& i) { i = {opcode::literal_number, type::number}; }), "parameter 0 should stand here"));
  CHECK(holds(in_function(opcode::result, [](instruction& i) { i = {opcode::fsqrt, type::number, i.a}; }), "function square ends without a result"));
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i = {opcode::result, type::none, 0}; }), "a result is the last instruction"));
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i = {opcode::to_bits, type::word, 0}; }), "the function gives a number"));
  CHECK(holds(in_function(opcode::fmul, [](instruction& i) { i = {opcode::call, type::number, 0, 1, 0}; }), "it calls function 0, which is not defined before"));
  CHECK(holds(changed(opcode::call, [](instruction& i) { i.a = 1; }), "it calls function 1, which is not defined before"));
  CHECK(holds(changed(opcode::call, [](instruction& i) { i.c = 0; }), "function square takes 1 values, given are 0"));
  CHECK(holds(changed(opcode::call, [](instruction& i) { i.kind = type::word; }), "function square gives a number"));
  CHECK(holds(changed(opcode::call, [](instruction& i) { --i.b; }), "its arguments are not right before it"));
  CHECK(holds(changed(opcode::argument, [](instruction& i) { i.code = opcode::fsqrt, i.kind = type::number; }), "argument 0 is none"));
  uint32 lane = 0;
  while (sum_of_squares().code[lane].code != opcode::lane) ++lane;
  CHECK(holds(changed(opcode::argument, [&](instruction& i) { i.a = lane; }), "argument 0 of function square is a word, not a number"));
  CHECK(holds(changed(opcode::barrier, [](instruction& i) { i.code = opcode::result; }), "a result is the last instruction of a function"));
  CHECK(holds(changed(opcode::barrier, [](instruction& i) { i = {opcode::parameter, type::word}; }), "parameters are the first values"));
}

TEST_CASE("every invocation reaches a barrier") {
  using pk::word;
  const auto under = [](auto condition) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id) { k.if_(condition(k, s), [&] { k.barrier(); }); });
  };
  const auto fails = [](const std::string& message) {
    return holds(message, "kernel sharing: barrier at instruction ") && holds(message, "not every invocation gets here, because of the branch at instruction ");
  };
  CHECK(under([](pk::builder& k, pk::shared_id) { return below(k.group(), k.meta({})); }) == "accepted");
  CHECK(fails(under([](pk::builder& k, pk::shared_id) { return below(k.lane(), k.meta({})); })));
  CHECK(fails(under([](pk::builder& k, pk::shared_id) { return below(k.invocation(), k.meta({})); })));
  // a branch that all take alike, inside of one that they do not
  const auto nested = [](bool outer_of_lane) {
    return sharing([outer_of_lane](pk::builder& k, pk::shared_id, pk::buffer_id y) {
      k.if_(below(outer_of_lane ? k.lane() : k.group(), 3u), [&] {
        k.if_(below(k.group(), 2u), [&] { k.store(y, k.invocation(), word(1u)); });
        k.barrier();
      });
    });
  };
  CHECK(nested(false) == "accepted");
  CHECK(fails(nested(true)));
  // shared memory at a uniform index
  CHECK(under([](pk::builder& k, pk::shared_id s) { return same(k.load<word>(s, k.group()), 0u); }) == "accepted");
  CHECK(fails(under([](pk::builder& k, pk::shared_id s) { return same(k.load<word>(s, k.lane()), 0u); })));
  // a variable: what is assigned, and by whom
  const auto variable = [&](bool of_lane, bool by_some) {
    return under([&](pk::builder& k, pk::shared_id) {
      const auto v = k.declare(word(0u));
      const auto give = [&] { k.assign(v, of_lane ? k.lane() : k.group()); };
      if (by_some) k.if_(below(k.lane(), 2u), give);
      else give();
      return same(k.read(v), 0u);
    });
  };
  CHECK(variable(false, false) == "accepted");
  CHECK(fails(variable(true, false)));
  CHECK(fails(variable(false, true)));
  // a variable that a later turn of a loop makes different
  const auto later = [](bool of_lane) {
    return sharing([of_lane](pk::builder& k, pk::shared_id, pk::buffer_id) {
      const auto a = k.declare(word(0u)), b = k.declare(word(0u));
      k.for_(0u, 3u, 1u, [&](word) {
        k.if_(same(k.read(a), 0u), [&] { k.barrier(); });
        k.assign(a, k.read(b));
        k.assign(b, of_lane ? k.lane() : k.group());
      });
    });
  };
  CHECK(later(false) == "accepted");
  CHECK(fails(later(true)));
}

TEST_CASE("loads at a uniform index are uniform from a buffer that is only read") {
  const auto k = [](pk::access how, bool at_lane) {
    pk::builder b("loads", 8);
    const pk::buffer_id x = b.reads("x", 0);
    const pk::word v = b.load(x, at_lane ? b.lane() : b.group());
    b.if_(same(v, 0u), [&] { b.barrier(); });
    pk::kernel made = b.finish();
    made.buffers[0].how = how;
    return made;
  };
  CHECK(why(k(pk::access::read, false)) == "accepted");
  CHECK(holds(why(k(pk::access::read_write, false)), "not every invocation gets here"));
  CHECK(holds(why(k(pk::access::read, true)), "not every invocation gets here"));
}

TEST_CASE("a barrier in a loop needs bounds that all share") {
  const auto loop = [](auto bound) {
    return sharing([&](pk::builder& k, pk::shared_id, pk::buffer_id) { k.for_(0u, bound(k), 1u, [&](pk::word) { k.barrier(); }); });
  };
  CHECK(loop([](pk::builder& k) { return k.meta({}); }) == "accepted");
  CHECK(holds(loop([](pk::builder& k) { return k.lane(); }), "because of the loop at instruction "));
}

TEST_CASE("a call is uniform where its arguments are") {
  const auto called = [](bool of_lane) {
    return sharing([of_lane](pk::builder& k, pk::shared_id, pk::buffer_id) {
      const pk::number x = pk::exp(to_float(of_lane ? k.lane() : k.group()));
      k.if_(less(x, 1.5f), [&] { k.barrier(); });
    });
  };
  CHECK(called(false) == "accepted");
  CHECK(holds(called(true), "not every invocation gets here"));
}

TEST_CASE("stores to shared memory race where two invocations may meet") {
  using pk::word;
  const auto store_at = [](auto index) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id) { k.store(s, index(k), word(1u)); });
  };
  CHECK(store_at([](pk::builder& k) { return k.lane(); }) == "accepted");
  CHECK(holds(store_at([](pk::builder&) { return word(3u); }), races));
  CHECK(holds(store_at([](pk::builder& k) { return k.group(); }), races));
  CHECK(store_at([](pk::builder& k) { return k.lane() * word(8u) + k.group(); }) == "accepted");
  CHECK(store_at([](pk::builder& k) { return k.lane() / word(2u) + (k.lane() & 1u) * word(9u); }) == "accepted");  // a transposed tile, padded
  CHECK(holds(store_at([](pk::builder& k) { return k.lane() / word(2u) + (k.lane() & 1u) * word(2u); }), races));
  CHECK(store_at([](pk::builder& k) { return (k.lane() << 3u) ^ 7u; }) == "accepted");
  CHECK(holds(store_at([](pk::builder& k) { return k.lane() >> 1u; }), races));
  CHECK(store_at([](pk::builder& k) { return select(below(k.lane(), 4u), k.lane(), k.lane() + word(10u)); }) == "accepted");
  CHECK(holds(store_at([](pk::builder& k) { return select(below(k.lane(), 4u), k.lane(), k.lane() - word(4u)); }), races));
  CHECK(holds(store_at([](pk::builder& k) { return k.lane() * k.meta({}); }), races));  // what the metadata holds is not known
  CHECK(holds(store_at([](pk::builder& k) {
                const auto v = k.declare(k.lane());
                return k.read(v);
              }),
              races));
}

TEST_CASE("a branch that one invocation takes makes its accesses safe") {
  using pk::word;
  const auto by = [](auto condition, uint32 load_from) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id) {
      k.if_(condition(k), [&] {
        k.store(s, 3u, word(1u));
        k.store(s, 4u, k.load<word>(s, load_from));
      });
    });
  };
  CHECK(by([](pk::builder& k) { return same(k.lane(), 5u); }, 3) == "accepted");
  CHECK(by([](pk::builder& k) { return same(k.lane(), 5u) & below(k.group(), 2u); }, 3) == "accepted");
  CHECK(by([](pk::builder& k) { return not_(below(k.lane(), 7u) | below(k.group(), 2u)); }, 3) == "accepted");
  CHECK(holds(by([](pk::builder& k) { return below(k.lane(), 2u); }, 3), races));
  CHECK(holds(by([](pk::builder& k) { return not_(below(k.lane(), 7u) & below(k.group(), 2u)); }, 3), races));
  // at any index
  const auto anywhere = [](uint32 lanes) {
    return sharing([lanes](pk::builder& k, pk::shared_id s, pk::buffer_id) {
      k.if_(below(k.lane(), lanes), [&] {
        const auto v = k.declare(k.lane());
        k.store(s, k.read(v), word(1u));
        k.store(s, 4u, k.load<word>(s, k.read(v) + word(1u)));
      });
    });
  };
  CHECK(anywhere(1) == "accepted");
  CHECK(holds(anywhere(2), races));
  CHECK(holds(by([](pk::builder& k) { return same(k.lane(), 5u) | below(k.group(), 2u); }, 3), races));
}

TEST_CASE("a load and a store of other elements need a barrier between") {
  using pk::word;
  const auto pair = [](auto first, auto second, bool store_first, bool with_barrier) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id y) {
      const auto store = [&](word at) { k.store(s, at, word(1u)); };
      const auto load = [&](word at) { k.store(y, k.invocation(), k.load<word>(s, at)); };
      store_first ? store(first(k)) : load(first(k));
      if (with_barrier) k.barrier();
      store_first ? load(second(k)) : store(second(k));
    });
  };
  const auto own = [](pk::builder& k) { return k.lane(); };
  const auto next = [](pk::builder& k) { return k.lane() + word(1u); };
  const auto away = [](pk::builder& k) { return k.lane() + word(8u); };
  const auto first = [](pk::builder&) { return word(0u); };
  const auto own_of_group = [](pk::builder& k) { return k.lane() + k.group(); };
  for (const bool store_first : {true, false}) {
    CHECK(pair(own, own, store_first, false) == "accepted");
    CHECK(pair(own, away, store_first, false) == "accepted");
    CHECK(pair(own_of_group, own_of_group, store_first, false) == "accepted");
    CHECK(holds(pair(own, next, store_first, false), races));
    CHECK(pair(own, next, store_first, true) == "accepted");
    CHECK(holds(pair(own, own_of_group, store_first, false), races));
    CHECK(pair(own, own_of_group, store_first, true) == "accepted");
  }
  // an element that two invocations load and one of them stores
  const auto half = [](bool with_barrier) {
    return sharing([with_barrier](pk::builder& k, pk::shared_id s, pk::buffer_id y) {
      k.store(y, k.invocation(), k.load<word>(s, k.lane() / word(2u)));
      if (with_barrier) k.barrier();
      k.if_(same(k.lane() & 1u, 0u), [&] { k.store(s, k.lane() / word(2u), word(1u)); });
    });
  };
  CHECK(half(true) == "accepted");
  CHECK(holds(half(false), races));
  CHECK(holds(pair(own, first, true, false), races));
  CHECK(pair(own, first, true, true) == "accepted");
}

TEST_CASE("the ways of a branch") {
  using pk::word;
  const auto ways = [](bool uniform, uint32 shift) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id) {
      k.emit(opcode::branch, type::none, k.use(below(uniform ? k.group() : k.lane(), uniform ? k.meta({}) : word(4u))));
      k.store(s, k.lane(), word(1u));
      k.emit(opcode::branch_else, type::none);
      k.store(s, k.lane() - word(shift), word(2u));
      k.emit(opcode::branch_end, type::none);
    });
  };
  const auto one_by_one = [](uint32 last) {
    return sharing([last](pk::builder& k, pk::shared_id s, pk::buffer_id) {
      k.emit(opcode::branch, type::none, k.use(below(k.lane(), last)));
      k.emit(opcode::branch_else, type::none);
      k.store(s, 3u, word(2u));
      k.emit(opcode::branch_end, type::none);
    });
  };
  CHECK(one_by_one(7) == "accepted");
  CHECK(holds(one_by_one(6), races));
  // a barrier on both ways, on one, on the only one
  const auto barriers = [](bool first, bool has_else, bool second) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id y) {
      k.store(s, k.lane(), word(1u));
      k.emit(opcode::branch, type::none, k.use(below(k.group(), k.meta({}))));
      if (first) k.barrier();
      if (has_else) k.emit(opcode::branch_else, type::none);
      if (second) k.barrier();
      k.emit(opcode::branch_end, type::none);
      k.store(y, k.invocation(), k.load<word>(s, word(7u) - k.lane()));
    });
  };
  CHECK(barriers(true, true, true) == "accepted");
  CHECK(holds(barriers(false, true, true), races));
  CHECK(holds(barriers(true, true, false), races));
  CHECK(holds(barriers(true, false, false), races));
  CHECK(ways(true, 4) == "accepted");  // one way only
  CHECK(ways(false, 0) == "accepted");
  CHECK(holds(ways(false, 4), races));
}

TEST_CASE("turns of a loop race with each other") {
  using pk::word;
  const auto turns = [](auto index, auto bound, uint32 step, bool with_barrier) {
    return sharing([&](pk::builder& k, pk::shared_id s, pk::buffer_id) {
      k.for_(0u, bound(k), step, [&](word i) {
        k.store(s, index(k, i), word(1u));
        if (with_barrier) k.barrier();
      });
    });
  };
  const auto four = [](pk::builder&) { return word(4u); };
  const auto unknown = [](pk::builder& k) { return k.meta({}); };
  CHECK(turns([](pk::builder& k, word i) { return k.lane() * word(4u) + i; }, four, 1, false) == "accepted");
  CHECK(holds(turns([](pk::builder& k, word i) { return k.lane() * word(4u) + i; }, unknown, 1, false), races));
  CHECK(holds(turns([](pk::builder& k, word i) { return k.lane() * word(3u) + i; }, four, 1, false), races));
  CHECK(turns([](pk::builder& k, word i) { return k.lane() + i * word(8u); }, four, 1, false) == "accepted");
  CHECK(turns([](pk::builder& k, word i) { return k.lane() + (i << 3u); }, unknown, 1, false) == "accepted");
  CHECK(holds(turns([](pk::builder& k, word i) { return k.lane() + i * word(4u); }, four, 1, false), races));
  CHECK(turns([](pk::builder& k, word i) { return k.lane() + i; }, unknown, 8, false) == "accepted");
  CHECK(holds(turns([](pk::builder& k, word i) { return k.lane() + i; }, unknown, 4, false), races));
  // an index that is one for all in each turn, and not known: turns need a barrier between
  const auto mixed = [](pk::builder& k, word i) { return k.lane() + i / k.meta({}); };
  CHECK(holds(turns(mixed, unknown, 1, false), races));
  CHECK(turns(mixed, unknown, 1, true) == "accepted");
}

TEST_CASE("the end of a loop meets its beginning") {
  using pk::word;
  const auto loop = [](bool last_barrier) {
    return sharing([last_barrier](pk::builder& k, pk::shared_id s, pk::buffer_id y) {
      const auto sum = k.declare(word(0u));
      k.for_(0u, k.meta({}), 1u, [&](word) {
        k.store(s, k.lane(), word(1u));
        k.barrier();
        k.assign(sum, k.read(sum) + k.load<word>(s, word(7u) - k.lane()));
        if (last_barrier) k.barrier();
      });
      k.store(y, k.invocation(), k.read(sum));
    });
  };
  CHECK(loop(true) == "accepted");
  CHECK(holds(loop(false), races));
}

TEST_CASE("all invocations do not store at one index of a buffer") {
  using pk::word;
  const auto at = [](auto index, uint32 width, bool by_some = false) {
    pk::builder k("one_index", width);
    const pk::buffer_id y = k.writes("y", 0);
    const auto store = [&] { k.store(y, index(k), word(1u)); };
    if (by_some) k.if_(same(k.lane(), 0u), store);
    else store();
    return why(k.finish());
  };
  const auto zero = [](pk::builder&) { return word(0u); };
  CHECK(at([](pk::builder& k) { return k.invocation(); }, 8) == "accepted");
  CHECK(holds(at(zero, 8), "every invocation stores at one index of buffer y"));
  CHECK(holds(at([](pk::builder& k) { return k.group(); }, 8), "every invocation stores at one index of buffer y"));
  CHECK(at(zero, 1) == "accepted");
  CHECK(at(zero, 8, true) == "accepted");
}

TEST_CASE("the device has what the kernel needs") {
  const pk::kernel k = sum_of_squares();
  const auto with = [&k](auto change) {
    device_caps c = caps;
    change(c);
    return why(k, c);
  };
  CHECK(with([](device_caps& c) { c.max_workgroup = 8, c.shared_bytes = 32, c.max_buffers = 2; }) == "accepted");
  CHECK(with([](device_caps& c) { c.max_workgroup = 7; }) == "kernel sum: 8 invocations in a workgroup, the device allows 7");
  CHECK(with([](device_caps& c) { c.shared_bytes = 31; }) == "kernel sum: 32 bytes of shared memory, the device allows 31");
  CHECK(with([](device_caps& c) { c.max_buffers = 1; }) == "kernel sum: 2 buffers, the device allows 1");
  CHECK(holds(why(k, targets::host.caps), "the device allows 0"));
}

TEST_CASE("operations that the device rounds otherwise are refused, in functions too") {
  const auto of = [](auto f, bool called) {
    pk::builder k("rounds", 8);
    const pk::buffer_id y = k.writes("y", 0);
    const pk::number x = to_float(k.lane());
    k.store(y, k.invocation(), to_bits(called ? k.call<pk::number>(k.define<pk::number, pk::number>("f", f), x) : f(x)));
    return k.finish();
  };
  const auto lacking = [](auto which) {
    device_caps c = caps;
    which(c) = false;
    return c;
  };
  const device_caps no_fma = lacking([](device_caps& c) -> bool& { return c.fma_fused; });
  const device_caps no_div = lacking([](device_caps& c) -> bool& { return c.div_exact; });
  const device_caps no_sqrt = lacking([](device_caps& c) -> bool& { return c.sqrt_exact; });
  for (const bool called : {false, true}) {
    const pk::kernel fused = of([](pk::number x) { return fma(x, x, x); }, called);
    const pk::kernel quotient = of([](pk::number x) { return div(x, 3.0f); }, called);
    const pk::kernel root = of([](pk::number x) { return sqrt(x); }, called);
    CHECK(why(fused) + why(quotient) + why(root) == "acceptedacceptedaccepted");
    CHECK(why(fused, no_div) + why(quotient, no_sqrt) + why(root, no_fma) == "acceptedacceptedaccepted");
    CHECK(holds(why(fused, no_fma), "kernel rounds: ffma at instruction "));
    CHECK(holds(why(quotient, no_div), "fdiv at instruction "));
    CHECK(holds(why(root, no_sqrt), ": the device rounds it otherwise"));
  }
}

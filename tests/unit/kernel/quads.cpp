// Four words that move together: what the form allows, and what they do.
#include "kernel_cases.hpp"

#include <poot/kernel/values.hpp>
#include <poot/kernel/verify.hpp>

#include <doctest/doctest.h>

using namespace kernel_cases;
using pk::opcode;
using pk::type;

namespace {

/// y[i] = x[i] with its words turned round, in quads, through shared memory.
constexpr pk::kernel turned(uint32 lanes) {
  pk::builder k("turned", lanes);
  const pk::buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const pk::shared_id staged = k.shares("staged", type::quad, lanes);
  const pk::word lane = k.lane();
  k.store(staged, lane, k.load_quad(x, lane));
  const pk::quad q = k.load<pk::quad>(staged, lane);
  k.store_quad(y, lane, k.join({k.part(q, 3), k.part(q, 2), k.part(q, 1), k.part(q, 0)}));
  return k.finish();
}

/// The kernel with instruction `code` changed by `change`, as what check_form says of it.
template <class Change>
std::string changed(opcode code, Change change) {
  pk::kernel k = turned(4);
  for (pk::instruction& i : k.code)
    if (i.code == code) {
      change(i);
      break;
    }
  return refusal([&] { pk::check_form(k); });
}

}  // namespace

TEST_CASE("quads go through memory and shared memory in the order of their words") {
  constexpr bool holds = [] {
    run r{turned(2), {{1, 2, 3, 4, 5, 6, 7, 8}, vec<uint32>(8)}};
    r.go();
    return r.memory[1] == vec<uint32>{4, 3, 2, 1, 8, 7, 6, 5};
  }();
  static_assert(holds);
  CHECK(turned(2).shared_bytes() == 32);
  CHECK(pk::verify(turned(2), targets::vulkan_lavapipe.caps));
}

TEST_CASE("a quad beyond its buffer is refused, word by word") {
  run r{turned(2), {{1, 2, 3, 4, 5, 6, 7}, vec<uint32>(8)}};
  CHECK(holds(r.why(), "load_quad at instruction 1: index 7 of buffer x, which has 7 words, in invocation 1"));
  run written{turned(2), {{1, 2, 3, 4, 5, 6, 7, 8}, vec<uint32>(7)}};
  CHECK(holds(written.why(), "index 7 of buffer y"));
}

TEST_CASE("quads race like the words they are made of") {
  pk::builder k("race", 2);
  const pk::buffer_id y = k.writes("y", 0);
  const pk::word lane = k.lane();
  k.store_quad(y, lane, k.join({lane, lane, lane, lane}));
  k.store(y, lane * 4u, lane);      // its own quad
  k.store(y, pk::word(4u) - lane * 4u, lane);  // the other's
  run r{k.finish(), {vec<uint32>(8)}};
  CHECK(holds(r.why(), "of buffer y is touched by another invocation too"));
}

TEST_CASE("the form of quads") {
  CHECK(changed(opcode::part, [](pk::instruction&) {}) == "accepted");
  CHECK(holds(changed(opcode::part, [](pk::instruction& i) { i.b = 4; }), "part 4 of four words"));
  CHECK(holds(changed(opcode::part, [](pk::instruction& i) { i.a = 0; }), "operand a is a word, not a quad"));
  CHECK(holds(changed(opcode::join, [](pk::instruction& i) { i.c = 3, ++i.b; }), "a quad has four words"));
  CHECK(holds(changed(opcode::join, [](pk::instruction& i) { --i.b; }), "its arguments are not right before it"));
  CHECK(holds(changed(opcode::store_quad, [](pk::instruction& i) { i.c = i.b; }), "operand c is a word, not a quad"));
  CHECK(holds(changed(opcode::store_quad, [](pk::instruction& i) { i.a = 0; }), "buffer x is only read"));
  CHECK(holds(changed(opcode::load_quad, [](pk::instruction& i) { i.a = 1; }), "buffer y is only written"));
  CHECK(holds(changed(opcode::argument, [](pk::instruction& i) { i.a = 1; }), "argument 0 is no word"));
}

TEST_CASE("variables and choices hold no quads") {
  pk::builder k("held", 1);
  const pk::buffer_id x = k.reads("x", 0);
  const pk::quad q = k.load_quad(x, 0u);
  k.emit(opcode::variable, type::quad, q.id);
  CHECK(holds(refusal([&] { pk::check_form(k.finish()); }), "variables hold no quads"));
}

TEST_CASE("equal loads are one where nothing writes the buffer, and in the block of the first") {
  const auto count = [](const pk::kernel& k) {
    int loads = 0;
    for (const pk::instruction& i : k.code) loads += i.code == opcode::load;
    return loads;
  };
  const auto twice = [&](bool written, bool in_block) {
    pk::builder k("twice", 1);
    const pk::buffer_id x = written ? k.writes("x", 0, true) : k.reads("x", 0), y = k.writes("y", 1);
    const pk::word i = k.lane();
    if (in_block) k.if_(below(i, 1u), [&] { k.store(y, i, k.load(x, i)); });
    else k.store(y, i, k.load(x, i));
    k.store(y, i, k.load(x, i) + 1u);
    return count(k.finish());
  };
  CHECK(twice(false, false) == 1);
  CHECK(twice(true, false) == 2);
  CHECK(twice(false, true) == 2);
}

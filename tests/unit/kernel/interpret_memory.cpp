// What the interpreter of kernels refuses of invocations that share memory: races, barriers missed, elements outside or unwritten.
#include "kernel_cases.hpp"

#include <poot/kernel/values.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace kernel_cases;

namespace {

/// Turns the words of each workgroup around by way of shared memory.
constexpr pk::kernel turn_around(bool with_barrier) {
  pk::builder k("turn_around", 8);
  const pk::buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const pk::shared_id s = k.shares("row", pk::type::word, 8);
  k.store(s, k.lane(), k.load(x, k.invocation()));
  if (with_barrier) k.barrier();
  k.note(3);
  k.store(y, k.invocation(), k.load<pk::word>(s, pk::word(7u) - k.lane()));
  return k.finish();
}

vec<uint32> counted(uint32 n) {
  vec<uint32> x;
  for (uint32 i = 0; i < n; ++i) x.push_back(i);
  return x;
}

}  // namespace

TEST_CASE("shared memory carries words past a barrier") {
  run made{turn_around(true), {counted(24), vec<uint32>(24)}};
  made.groups = 3;
  made.go();
  for (uint32 i = 0; i < 24; ++i) CHECK(made.memory[1][i] == i / 8 * 8 + 7 - i % 8);
}

TEST_CASE("a race in shared memory is refused") {
  run made{turn_around(false), {counted(8), vec<uint32>(8)}};
  const std::string why = made.why();
  CHECK(holds(why, "kernel turn_around: shared_load at instruction "));
  CHECK(holds(why, " of equation 3: element 7 of shared row is touched by another invocation too"));
  CHECK(holds(why, "in invocation 0 of workgroup 0"));
  made.wanted.races = false;
  CHECK(made.why() == "accepted");
}

TEST_CASE("a barrier that some invocations miss is refused") {
  const auto k = [](uint32 first) {
    pk::builder b("missed", 4);
    b.if_(below(b.lane(), first), [&] { b.barrier(); });
    return b.finish();
  };
  CHECK(run{k(4), {}}.why() == "accepted");
  CHECK(run{k(0), {}}.why() == "accepted");  // nobody gets there
  const std::string why = run{k(3), {}}.why();
  CHECK(holds(why, "kernel missed: barrier at instruction "));
  CHECK(holds(why, ": only 3 of 4 invocations get here, in invocation 0 of workgroup 0"));
}

TEST_CASE("an index outside is refused, with everything about it") {
  const auto k = [](bool stores) {
    pk::builder b("outside", 4);
    const pk::buffer_id x = b.reads("x", 0), y = b.writes("y", 1);
    b.note(7);
    const pk::word at = b.invocation() * pk::word(3u);
    if (stores) b.store(y, at, at);
    else b.store(y, b.invocation(), b.load(x, at));
    return b.finish();
  };
  CHECK(run{k(false), {vec<uint32>(10), vec<uint32>(4)}}.why() == "accepted");
  CHECK(holds(run{k(false), {vec<uint32>(9), vec<uint32>(4)}}.why(),
              " of equation 7: index 9 of buffer x, which has 9 words, in invocation 3 of workgroup 0"));
  CHECK(holds(run{k(true), {{}, vec<uint32>(3)}}.why(), "index 3 of buffer y, which has 3 words, in invocation 1 of workgroup 0"));
  const auto shared = [](uint32 size) {
    pk::builder b("outside", 4);
    const pk::shared_id s = b.shares("row", pk::type::flag, size);
    b.store(s, b.lane(), same(b.lane(), 0u));
    return b.finish();
  };
  CHECK(run{shared(4), {}}.why() == "accepted");
  CHECK(holds(run{shared(3), {}}.why(), "index 3 of shared row, which has 3 elements"));
}

TEST_CASE("a shared element is written before it is read, by every workgroup") {
  const auto k = [](bool every_group) {
    pk::builder b("unwritten", 4);
    const pk::buffer_id y = b.writes("y", 0);
    const pk::shared_id s = b.shares("row", pk::type::number, 4);
    const auto write = [&] { b.store(s, b.lane(), pk::number(1.5f)); };
    if (every_group) write();
    else b.if_(same(b.group(), 0u), write);
    b.store(y, b.invocation(), to_bits(b.load<pk::number>(s, b.lane())));
    return b.finish();
  };
  run good{k(true), {vec<uint32>(8)}}, bad{k(false), {vec<uint32>(8)}};
  good.groups = bad.groups = 2;
  CHECK(good.why() == "accepted");
  CHECK(holds(bad.why(), "element 0 of shared row is read before it is written, in invocation 0 of workgroup 1"));
}

TEST_CASE("races in buffers are refused across the dispatch, barriers or not; atomics race with plain accesses only") {
  enum way { stores, loads, ands, ors };
  const auto k = [](way first, way second, bool with_barrier, uint32 width) {
    pk::builder b("words", width);
    const pk::buffer_id y = b.writes("y", 0, true), sink = b.writes("sink", 1);
    const auto touch = [&](way how, pk::word at) {
      if (how == stores) b.store(y, at, b.invocation());
      if (how == loads) b.store(sink, b.invocation(), b.load(y, at));
      if (how == ands) b.atomic_and(y, at, ~(pk::word(1u) << b.invocation()));
      if (how == ors) b.atomic_or(y, at, pk::word(1u) << b.invocation());
    };
    const pk::word i = b.invocation();
    b.if_(same(i, 0u), [&] { touch(first, 0u); });
    if (with_barrier) b.barrier();
    b.if_(same(i, 3u), [&] { touch(second, 0u); });
    return b.finish();
  };
  const auto why = [&](way first, way second, bool with_barrier, uint32 width) {
    run r{k(first, second, with_barrier, width), {vec<uint32>(1), vec<uint32>(8)}};
    r.groups = 8 / width;
    return r.why();
  };
  for (const uint32 width : {4u, 2u})  // in one workgroup, in two
    for (const bool with_barrier : {false, true}) {
      CHECK(holds(why(stores, loads, with_barrier, width), "word 0 of buffer y is touched by another invocation too"));
      CHECK(holds(why(loads, stores, with_barrier, width), "word 0 of buffer y is touched by another invocation too"));
      CHECK(holds(why(stores, stores, with_barrier, width), "store at instruction"));
      CHECK(holds(why(stores, ors, with_barrier, width), "atomic_or at instruction"));
      CHECK(holds(why(ands, loads, with_barrier, width), "load at instruction"));
      CHECK(holds(why(loads, ors, with_barrier, width), "atomic_or at instruction"));
      CHECK(why(loads, loads, with_barrier, width) == "accepted");
      CHECK(why(ands, ors, with_barrier, width) == "accepted");
    }
}

TEST_CASE("a race is seen through two buffers of one memory") {
  const auto why = [](uint32 distance) {
    pk::builder b("shifted", 4);
    const pk::buffer_id x = b.reads("x", 0), y = b.writes("y", 1);
    b.store(y, b.invocation(), b.load(x, b.invocation() + pk::word(distance)));
    const pk::kernel k = b.finish();
    vec<uint32> memory(16);
    const pk::words both[] = {{memory.data(), 16}, {memory.data(), 8}};
    return refusal([&] { pk::interpret(k, {both, 2}, {}, 2); });
  };
  CHECK(why(0) == "accepted");
  CHECK(why(8) == "accepted");
  CHECK(holds(why(1), "store at instruction "));
  CHECK(holds(why(7), "store at instruction "));
}

TEST_CASE("atomics change bits of a word that many invocations share") {
  pk::builder b("bytes", 8);
  const pk::buffer_id y = b.writes("y", 0);
  const pk::word i = b.invocation(), shift = (i & 3u) << 3u;
  b.atomic_and(y, i >> 2u, ~(pk::word(0xffu) << shift));
  b.atomic_or(y, i >> 2u, (i + pk::word(0x10u)) << shift);
  run made{b.finish(), {vec<uint32>{0xdeadbeefu, 0x12345678u}}};
  made.go();
  CHECK(made.memory[0] == vec<uint32>{0x13121110u, 0x17161514u});
}

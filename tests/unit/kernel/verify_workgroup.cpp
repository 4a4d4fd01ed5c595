// What a workgroup does together: barriers that all invocations reach, and shared memory that no two touch at once.
#include "verify_cases.hpp"

#include <poot/kernel/elementary.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace kernel_cases;
using pk::opcode;
using pk::type;

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

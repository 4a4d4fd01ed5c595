#include "verify_cases.hpp"

#include <poot/kernel/elementary.hpp>

#include <doctest/doctest.h>

using namespace poot;
using namespace kernel_cases;
using pk::instruction;
using pk::opcode;
using pk::type;

namespace {

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
  for (uint32 work : {0u, 2u}) {
    odd = sum_of_squares();
    odd.work = work;
    CHECK(holds(why(odd), std::to_string(work) + " words of 1 count its work"));
  }
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
    CHECK(holds(why(fused, no_fma), ": the device rounds it otherwise"));
    CHECK(why(quotient, no_div) + why(root, no_sqrt) == "acceptedaccepted");  // their texts write it in integers
  }
}

#include "kernel_cases.hpp"

#include <poot/kernel/elementary.hpp>

#include <support/draws.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace poot;
using namespace kernel_cases;
using pk::opcode;
using poot_tests::draws;

namespace {

/// Reads x, y and z, and writes what `f` makes of three words to r, one word an invocation.
template <class F>
constexpr pk::kernel of_words(F f) {
  pk::builder k("words", 64);
  const pk::buffer_id x = k.reads("x", 0), y = k.reads("y", 1), z = k.reads("z", 2), r = k.writes("r", 3);
  const pk::word i = k.invocation();
  k.store(r, i, f(k.load(x, i), k.load(y, i), k.load(z, i)));
  return k.finish();
}

constexpr uint32 of_three(const pk::kernel& k, uint32 a, uint32 b, uint32 c) {
  run r{k, {vec<uint32>(64, a), vec<uint32>(64, b), vec<uint32>(64, c), vec<uint32>(64)}};
  r.go();
  return r.memory[3][63];
}
static_assert(of_three(of_words([](pk::word a, pk::word b, pk::word) { return a + b; }), 3, 0xffffffffu, 0) == 2);
static_assert(of_three(of_words([](pk::word a, pk::word, pk::word) { return to_bits(pk::exp(from_bits(a))); }), 0x3f800000u, 0, 0) ==
              ieee::to_bits(elementary::exp(1.0f)));

/// How many results of `f` over 64 · 40 draws differ from `reference`'s. Draws mix small, large and special words.
template <class F, class Reference>
size_t differing(F f, Reference reference) {
  constexpr uint32 specials[] = {0, 1, 2, 31, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x3f800000u, 0xbf800000u, 0x7f800000u,
                                 0xff800000u, 0x7fc00001u, 0xff812345u, 0x00000001u, 0x807fffffu, 0x7f7fffffu, 0x4effffffu};
  draws random(5);
  const auto draw = [&] {
    const uint64 way = random.less_than(4);
    if (way == 0) return specials[random.less_than(sizeof(specials) / sizeof(uint32))];
    if (way == 1) return static_cast<uint32>(random.less_than(40));
    if (way == 2) return ieee::to_bits(static_cast<float>(random.between(-100, 100)));
    return static_cast<uint32>(random.next() >> 32);
  };
  run r{of_words(f), {{}, {}, {}, vec<uint32>(64 * 40)}};
  r.groups = 40;
  for (int i = 0; i < 64 * 40; ++i)
    for (int b = 0; b < 3; ++b) r.memory[b].push_back(draw());
  r.go();
  size_t wrong = 0;
  for (int i = 0; i < 64 * 40; ++i) wrong += r.memory[3][i] != reference(r.memory[0][i], r.memory[1][i], r.memory[2][i]);
  return wrong;
}

constexpr int64 as_signed(uint32 x) { return static_cast<int32>(x); }
float f32_of(uint32 b) { return std::bit_cast<float>(b); }
uint32 bits_of(float x) { return std::bit_cast<uint32>(x); }

}  // namespace

TEST_CASE("operations on words are those of C++") {
  using pk::word;
#define WORDS(EXPRESSION, VALUE)                                                                       \
  CHECK_MESSAGE(differing([](word a, word b, word c) -> word { (void)b, (void)c; return EXPRESSION; }, \
                          [](uint32 a, uint32 b, uint32 c) -> uint32 { (void)a, (void)b, (void)c; return static_cast<uint32>(VALUE); }) == 0, #EXPRESSION)
  WORDS(a + b, uint64{a} + b);
  WORDS(a - b, int64{a} - int64{b});
  WORDS(a * b, uint64{a} * b);
  WORDS(mul_high(a, b), (uint64{a} * b) >> 32);
  WORDS(a / (b | 1u), a / (b | 1));
  WORDS(a % (b | 1u), a % (b | 1));
  WORDS(div_signed(a, (b & 0x7fffffffu) | 1u), as_signed(a) / as_signed((b & 0x7fffffffu) | 1));
  WORDS(a & b, a & b);
  WORDS(a | b, a | b);
  WORDS(a ^ b, a ^ b);
  WORDS(~a, ~a);
  WORDS(a << (b & 31u), uint64{a} << (b & 31));
  WORDS(a >> (b & 31u), uint64{a} >> (b & 31));
  WORDS(shift_right_signed(a, b & 31u), as_signed(a) >> (b & 31));
  WORDS(to_word(below(a, b)), a < b);
  WORDS(to_word(below_signed(a, b)), as_signed(a) < as_signed(b));
  WORDS(to_word(same(a & 3u, b & 3u)), (a & 3) == (b & 3));
  WORDS(to_word(below(a, b) & below(b, c)), a < b && b < c);
  WORDS(to_word(below(a, b) | below(b, c)), a < b || b < c);
  WORDS(to_word(not_(below(a, b))), !(a < b));
  WORDS(select(below(a, b), b, c), a < b ? b : c);
#undef WORDS
}

TEST_CASE("operations on numbers are single IEEE operations, and moves keep every bit") {
  using pk::word;
  const auto equal_numbers = [](auto op, auto reference) {
    const auto canonical = [](uint32 b) { return ieee::is_nan(ieee::from_bits(b)) ? 0x7fc00000u : b; };
    // NaNs are compared as NaNs: which bits an operation gives one is the machine's
    return differing([op](word a, word b, word c) { return select(is_nan(op(from_bits(a), from_bits(b), from_bits(c))), 0x7fc00000u,
                                                                  to_bits(op(from_bits(a), from_bits(b), from_bits(c)))); },
                     [=](uint32 a, uint32 b, uint32 c) { return canonical(bits_of(reference(f32_of(a), f32_of(b), f32_of(c)))); });
  };
  using pk::number;
  CHECK(equal_numbers([](number a, number b, number) { return add(a, b); }, [](float a, float b, float) { return a + b; }) == 0);
  CHECK(equal_numbers([](number a, number b, number) { return sub(a, b); }, [](float a, float b, float) { return a - b; }) == 0);
  CHECK(equal_numbers([](number a, number b, number) { return mul(a, b); }, [](float a, float b, float) { return a * b; }) == 0);
  CHECK(equal_numbers([](number a, number b, number) { return div(a, b); }, [](float a, float b, float) { return a / b; }) == 0);
  CHECK(equal_numbers([](number a, number, number) { return sqrt(a); }, [](float a, float, float) { return std::sqrt(a); }) == 0);
  CHECK(equal_numbers([](number a, number b, number c) { return fma(a, b, c); }, [](float a, float b, float c) { return std::fma(a, b, c); }) == 0);
  CHECK(equal_numbers([](number a, number, number) { return floor(a); }, [](float a, float, float) { return std::floor(a); }) == 0);
  CHECK(differing([](word a, word b, word) { return to_word(less(from_bits(a), from_bits(b))); },
                  [](uint32 a, uint32 b, uint32) -> uint32 { return f32_of(a) < f32_of(b); }) == 0);
  CHECK(differing([](word a, word b, word) { return to_word(less_equal(from_bits(a), from_bits(b))); },
                  [](uint32 a, uint32 b, uint32) -> uint32 { return f32_of(a) <= f32_of(b); }) == 0);
  CHECK(differing([](word a, word b, word) { return to_word(equal(from_bits(a & ~1u), from_bits(b & ~1u))); },
                  [](uint32 a, uint32 b, uint32) -> uint32 { return f32_of(a & ~1u) == f32_of(b & ~1u); }) == 0);
  CHECK(differing([](word a, word, word) { return to_bits(to_float(a)); },
                  [](uint32 a, uint32, uint32) { return bits_of(static_cast<float>(static_cast<int32>(a))); }) == 0);
  CHECK(differing([](word a, word, word) { return to_int(from_bits(select(below(a & 0x7fffffffu, 0x4f000000u), a, 0u))); },
                  [](uint32 a, uint32, uint32) { return (a & 0x7fffffffu) < 0x4f000000u ? static_cast<uint32>(static_cast<int32>(f32_of(a))) : 0; }) == 0);
  CHECK(differing([](word a, word b, word c) { return to_bits(select(below(a, b), from_bits(b), from_bits(c))); },
                  [](uint32 a, uint32 b, uint32 c) { return a < b ? b : c; }) == 0);
}

TEST_CASE("invocations take branches and loops of their own") {
  pk::builder k("own_ways", 8);
  const pk::buffer_id r = k.writes("r", 0);
  const pk::word l = k.lane();
  const pk::variable<pk::word> sum = k.declare(pk::word(0u));
  k.for_(0u, l, 1u, [&](pk::word i) {
    k.if_(same(i & 1u, 1u), [&] { k.assign(sum, k.read(sum) + i); });  // the odd numbers below the lane
  });
  k.emit(opcode::branch, pk::type::none, k.use(below(l, 4u)));
  k.assign(sum, k.read(sum) + pk::word(1000u));
  k.emit(opcode::branch_else, pk::type::none);
  k.assign(sum, k.read(sum) + pk::word(2000u));
  k.emit(opcode::branch_end, pk::type::none);
  k.for_(10u, 10u + l, 4u, [&](pk::word i) { k.assign(sum, k.read(sum) + i * pk::word(10000u)); });
  k.store(r, k.invocation(), k.read(sum));
  run made{k.finish(), {vec<uint32>(16)}};
  made.groups = 2;
  made.go();
  for (uint32 i = 0; i < 16; ++i) {
    uint32 wanted = i % 8 < 4 ? 1000 : 2000;
    for (uint32 odd = 1; odd < i % 8; odd += 2) wanted += odd;
    for (uint32 j = 10; j < 10 + i % 8; j += 4) wanted += 10000 * j;
    CHECK(made.memory[0][i] == wanted);
  }
}

TEST_CASE("values of every type are chosen, kept in variables and shared") {
  pk::builder k("types", 4);
  const pk::buffer_id r = k.writes("r", 0);
  const pk::shared_id flags = k.shares("flags", pk::type::flag, 4), numbers = k.shares("numbers", pk::type::number, 4);
  const pk::word l = k.lane();
  const pk::variable<pk::flag> kept = k.declare(pk::flag(true));
  const pk::variable<pk::number> x = k.declare(pk::number(-0.0f));
  k.if_(below(l, 2u), [&] { k.assign(kept, same(l, 1u)); });
  k.if_(same(l, 3u), [&] { k.assign(x, from_bits(0x7f800001u + l)); });  // a signalling NaN
  k.store(flags, l, k.read(kept));
  k.store(numbers, l, k.read(x));
  const pk::flag is_last = same(l, 3u);
  const pk::number chosen{&k, k.emit(opcode::select, pk::type::number, k.use(is_last), k.use(k.load<pk::number>(numbers, l)), k.use(pk::number(2.0f)))};
  const pk::flag either{&k, k.emit(opcode::select, pk::type::flag, k.use(is_last), k.use(pk::flag(false)), k.use(k.load<pk::flag>(flags, l)))};
  k.store(r, l, to_bits(chosen) + to_word(either));
  run made{k.finish(), {vec<uint32>(4)}};
  made.go();
  CHECK(made.memory[0] == vec<uint32>{0x40000000u, 0x40000001u, 0x40000001u, 0x7f800004u});
}

TEST_CASE("a variable begins anew in each turn of a loop") {
  pk::builder k("anew", 2);
  const pk::buffer_id r = k.writes("r", 0);
  const pk::variable<pk::word> last = k.declare(pk::word(0u));
  k.for_(0u, 3u, 1u, [&](pk::word i) {
    const pk::variable<pk::word> inner = k.declare(i);
    k.assign(inner, k.read(inner) + pk::word(5u));
    k.assign(last, k.read(inner));
  });
  k.store(r, k.lane(), k.read(last));
  run made{k.finish(), {vec<uint32>(2)}};
  made.go();
  CHECK(made.memory[0] == vec<uint32>{7, 7});
}

TEST_CASE("what has no defined result is refused, and only where it happens") {
  const auto why = [](auto f, uint32 a, uint32 b) {
    pk::builder k("undefined", 2);
    const pk::buffer_id x = k.reads("x", 0), y = k.reads("y", 1), r = k.writes("r", 2);
    const pk::word l = k.lane();
    k.if_(same(l, 1u), [&] { k.store(r, l, f(k, k.load(x, l), k.load(y, l))); });
    // the invocation that does not get there has 0 and 99 everywhere
    return run{k.finish(), {vec<uint32>{0, a}, vec<uint32>{0, b}, vec<uint32>(2)}}.why();
  };
  using pk::word;
  const auto quotient = [](pk::builder&, word a, word b) { return a / b; };
  CHECK(why(quotient, 1, 2) == "accepted");
  CHECK(holds(why(quotient, 1, 0), ": the divisor is 0, in invocation 1 of workgroup 0"));
  CHECK(holds(why([](pk::builder&, word a, word b) { return a % b; }, 1, 0), "rem at instruction"));
  const auto whole = [](pk::builder&, word a, word b) { return div_signed(a, b); };
  CHECK(why(whole, 0x80000000u, 1) == "accepted");
  CHECK(holds(why(whole, 0x80000000u, 0), "the divisor is 0"));
  CHECK(holds(why(whole, 0x80000000u, 0xffffffffu), "the quotient does not fit"));
  for (const auto shift : {+[](pk::builder&, word a, word b) { return a << b; }, +[](pk::builder&, word a, word b) { return a >> b; },
                           +[](pk::builder&, word a, word b) { return shift_right_signed(a, b); }}) {
    CHECK(why(shift, 1, 31) == "accepted");
    CHECK(holds(why(shift, 1, 32), "it shifts by 32 bits or more"));
  }
  const auto truncated = [](pk::builder&, word a, word) { return to_int(from_bits(a)); };
  CHECK(why(truncated, 0xceffffffu, 0) == "accepted");
  for (const uint32 bits : {0x4f000000u, 0xcf000000u, 0x7f800000u, 0x7fc00000u}) CHECK(holds(why(truncated, bits, 0), "the number does not fit 32 bits"));
  const auto endless = [](pk::builder& k, word a, word b) {
    k.for_(a, 0xffffffffu, b, [](word) {});
    return a;
  };
  CHECK(why(endless, 0xfffffff0u, 15) == "accepted");
  CHECK(holds(why(endless, 0xfffffff0u, 0), "the loop never ends: from 4294967280 it steps by 0"));
  CHECK(holds(why(endless, 0xfffffff0u, 14), "the loop never ends: from 4294967294 it steps by 14"));
}

TEST_CASE("a function called by some leaves the others as they are") {
  pk::builder k("some", 4);
  const pk::buffer_id r = k.writes("r", 0);
  const auto f = k.define<pk::number, pk::number, pk::word>("twice_plus", [](pk::number x, pk::word n) { return add(add(x, x), to_float(n)); });
  const pk::variable<pk::number> v = k.declare(pk::number(1.0f));
  k.if_(below(k.lane(), 2u), [&] { k.assign(v, k.call<pk::number>(f, pk::number(2.0f), k.lane())); });
  k.assign(v, k.call<pk::number>(f, k.read(v), k.lane()));
  k.store(r, k.lane(), to_bits(k.read(v)));
  run made{k.finish(), {vec<uint32>(4)}};
  made.go();
  const float wanted[] = {8.0f, 11.0f, 4.0f, 5.0f};
  for (int l = 0; l < 4; ++l) CHECK(made.memory[0][l] == bits_of(wanted[l]));
}

TEST_CASE("metadata and buffers are those of the kernel") {
  pk::builder k("given", 2);
  const pk::buffer_id r = k.writes("r", 0);
  pk::meta_word second;
  second.fixed = 9;
  const pk::word hundreds = k.meta({}) * pk::word(100u), ones = k.meta(second);
  k.store(r, k.invocation(), hundreds + ones);
  const pk::kernel made = k.finish();
  run good{made, {vec<uint32>(4)}, {3, 9}};
  good.groups = 2;
  good.go();
  CHECK(good.memory[0] == vec<uint32>{309, 309, 309, 309});
  CHECK(run{made, {vec<uint32>(4)}, {3}}.why() == "kernel given: has 2 words of metadata, given are 1");
  CHECK(run{made, {}, {3, 9}}.why() == "kernel given: has 1 buffers, given are 0");
}

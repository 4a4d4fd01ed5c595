#pragma once
/// Kernels that together hold every instruction, with what to run them on: values at the edges of every operation.

#include <poot/emit/write.hpp>
#include <poot/kernel/elementary.hpp>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace poot_tests {

/// A kernel and a launch of it. Every result is defined to the bit: NaNs that arithmetic made are made one NaN.
struct sample_kernel {
  poot::kernel::kernel code;
  std::vector<std::vector<poot::uint32>> buffers;  ///< as they are before the launch
  std::vector<poot::uint32> metadata;
  poot::uint32 groups = 1;

  std::string name() const { return std::string(code.name.str()); }
  /// Whether the dialect can spell its product of fragments, for subgroups of that size.
  bool stands_in(poot::emit::dialect d) const {
    using poot::emit::dialect;
    if (code.subgroup == 0 || d == dialect::cpp) return true;
    for (const poot::kernel::instruction& i : code.code)
      if (i.code == poot::kernel::opcode::mma_f16) return d == dialect::glsl;
    return d == (code.subgroup == 32 ? dialect::cuda : dialect::hip);
  }
};

namespace sample {

using namespace poot;
using namespace poot::kernel;

inline constexpr uint32 special_numbers[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x3effffff, 0x3f000000,
    0x3f7fffff, 0x3f800000, 0xbf800000, 0x3fc00000, 0xc0200000, 0x3dcccccd, 0xbf7fffff, 0x40490fdb, 0xc2c80000, 0x42af0000,
    0x4affffff, 0x4b000001, 0xcaffffff, 0x4b7fffff, 0x4effffff, 0xceffffff, 0x5f000001, 0x1f800001, 0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x7f800001};
inline constexpr uint32 special_words[] = {0,          1,          2,          3,          5,          7,          31,
                                           32,         255,        65535,      65536,      0x7ffffffe, 0x7fffffff, 0x80000000,
                                           0x80000001, 0xdeadbeef, 0xfffffffe, 0xffffffff, 0x01000001, 0xfeffffff};

/// Result `row` of invocation `i` of `count`.
struct results {
  builder& k;
  buffer_id to;
  word i, count;
  uint32 row = 0;
  constexpr void put(word w) { k.store(to, i + count * word(row++), w); }
  constexpr void put(flag f) { put(to_word(f)); }
  /// Of arithmetic: which NaN it is, is nobody's business.
  constexpr void put(number x) { put(select(is_nan(x), word(0x7fc00000u), to_bits(x))); }
};

/// Every pair of `n` values; word 0 of the metadata counts them, word 1 is n.
template <class Write>
constexpr poot::kernel::kernel over_pairs(std::string_view name, uint32 n, Write write) {
  builder k(name, 64);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  k.note(1);
  const word i = k.invocation(), count = k.meta({.fixed = n * n});
  k.if_(below(i, count), [&] {
    const word width = k.meta({.fixed = n});
    const word a = k.load(x, i / width), b = k.load(x, i % width);
    results out{k, y, i, count};
    k.note(2);
    write(k, a, b, out);
  });
  return k.finish();
}

constexpr poot::kernel::kernel numbers() {
  return over_pairs("numbers", std::size(special_numbers), [](builder& k, word left, word right, results& out) {
    const number a = from_bits(left), b = from_bits(right);
    out.put(add(a, b));
    out.put(sub(a, b));
    out.put(mul(a, b));
    out.put(div(a, b));
    out.put(poot::kernel::sqrt(a));
    out.put(poot::kernel::floor(a));
    out.put(add(mul(a, b), a));
    out.put(sub(mul(a, b), mul(b, a)));
    out.put(less(a, b));
    out.put(less_equal(a, b));
    out.put(equal(a, b));
    out.put(not_(less(a, b)));
    out.put(to_bits(select(less(a, b), a, b)));  // moves bits
    out.put(to_bits(number(&k, k.emit(opcode::select, type::number, k.use(less_equal(a, b)), a.id, b.id))));
    out.put(mul(a, number(-3.0f)));
    out.put(add(a, number(0.1f)));
    out.put(to_float(left));
    const number small = select(less(a, number(2147483648.0f)) & less(number(-2147483648.0f), a), a, number(0.0f));
    out.put(to_int(small));
  });
}

constexpr poot::kernel::kernel fused() {
  return over_pairs("fused", std::size(special_numbers), [](builder&, word left, word right, results& out) {
    const number a = from_bits(left), b = from_bits(right);
    out.put(fma(a, b, a));
    out.put(fma(a, a, b));
    out.put(fma(a, b, number(-1.0f)));
  });
}

constexpr poot::kernel::kernel words() {
  return over_pairs("words", std::size(special_words), [](builder&, word a, word b, results& out) {
    const word divisor = b + to_word(same(b, 0u)), count = b & 31u;
    const word signed_divisor = divisor + word(2u) * to_word(same(divisor, 0xffffffffu));
    out.put(a + b);
    out.put(a - b);
    out.put(a * b);
    out.put(mul_high(a, b));
    out.put(a / divisor);
    out.put(a % divisor);
    out.put(div_signed(a, signed_divisor));
    out.put(a & b);
    out.put(a | b);
    out.put(a ^ b);
    out.put(~a);
    out.put(a << count);
    out.put(a >> count);
    out.put(shift_right_signed(a, count));
    out.put(below(a, b));
    out.put(below_signed(a, b));
    out.put(same(a, b));
    out.put((below(a, b) & below_signed(a, b)) | not_(same(a & 1u, 0u)));
    out.put(select(below(a, b), a, b));
    out.put(a + word(0xfffffff0u));
    out.put(to_bits(from_bits(a)));
  });
}

constexpr poot::kernel::kernel functions() {
  return over_pairs("functions", std::size(special_numbers), [](builder&, word left, word right, results& out) {
    const number a = from_bits(left), b = from_bits(right);
    out.put(poot::kernel::exp(a));
    out.put(poot::kernel::log(a));
    out.put(poot::kernel::tanh(a));
    out.put(poot::kernel::erf(a));
    out.put(poot::kernel::sin(a));
    out.put(poot::kernel::cos(a));
    out.put(poot::kernel::pow(a, b));
  });
}

/// Row r of 40 numbers: its sum by 16 lanes and halves, the number of elements below zero, and what each lane saw.
constexpr poot::kernel::kernel rows() {
  constexpr uint32 lanes = 16, width = 40;
  builder k("rows", lanes);
  const buffer_id x = k.reads("x", 0), sums = k.writes("sums", 1), seen = k.writes("seen", 2);
  const shared_id partial = k.shares("partial", type::number, lanes), below_zero = k.shares("below zero", type::word, lanes),
                  any = k.shares("any", type::flag, lanes);
  k.count_groups();
  k.note(7);
  const word row = k.group(), lane = k.lane();
  const flag works = below(row, k.meta({.fixed = 3}));
  const auto sum = k.declare(number(0.0f));
  const auto count = k.declare(word(0u));
  const auto found = k.declare(flag(false));
  k.if_(works, [&] {
    k.for_(lane, width, lanes, [&](word column) {
      const number value = from_bits(k.load(x, row * word(width) + column));
      k.note(8);
      k.assign(sum, add(k.read(sum), value));
      k.emit(opcode::branch, type::none, k.use(less(value, number(0.0f))));
      k.assign(count, k.read(count) + 1u);
      k.assign(found, flag(true));
      k.emit(opcode::branch_else, type::none);
      k.if_(equal(value, number(0.0f)), [&] { k.assign(count, k.read(count) + 256u); });
      k.emit(opcode::branch_end, type::none);
    });
  });
  k.store(partial, lane, k.read(sum));
  k.store(below_zero, lane, k.read(count));
  k.store(any, lane, k.read(found));
  k.barrier();
  const auto reach = k.declare(word(lanes / 2));
  k.for_(0u, 4u, 1u, [&](word) {
    k.note(9);
    const word half = k.read(reach);
    k.if_(below(lane, half), [&] {
      const number own = k.load<number>(partial, lane), other = k.load<number>(partial, lane + half);
      k.store(partial, lane, add(own, other));
      const word own_count = k.load<word>(below_zero, lane), other_count = k.load<word>(below_zero, lane + half);
      k.store(below_zero, lane, own_count + other_count);
    });
    k.assign(reach, half >> 1u);
    k.barrier();
  });
  k.if_(works, [&] {
    k.store(seen, row * word(lanes) + lane, to_word(k.load<flag>(any, lane)));
    k.if_(same(lane, 0u), [&] {
      k.store(sums, row * word(2u), to_bits(k.load<number>(partial, 0u)));
      k.store(sums, row * word(2u) + 1u, k.load<word>(below_zero, 0u));
    });
  });
  return k.finish();
}

/// Bit i of `set` is set, and of `cleared` cleared, where number i is below zero: 40 numbers, two words.
constexpr poot::kernel::kernel bits() {
  builder k("bits", 32);
  const buffer_id x = k.reads("x", 0), set = k.writes("set", 1), cleared = k.writes("cleared", 2, true);
  const word i = k.invocation();
  k.if_(below(i, k.meta({.fixed = 40})), [&] {
    const word bit = word(1u) << (i & 31u);
    k.if_(below_signed(k.load(x, i), 0u), [&] {
      k.atomic_or(set, i >> 5u, bit);
      k.atomic_and(cleared, i >> 5u, ~bit);
    });
  });
  return k.finish();
}

/// Four words at a time through shared memory: y[i] = {w, x of the mirrored, y, z of the mirrored}; each word of `sums` adds
/// a word read alone to one read with three others.
constexpr poot::kernel::kernel quads() {
  constexpr uint32 lanes = 32, count = 30;
  builder k("quads", lanes);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1), sums = k.writes("sums", 2);
  const shared_id staged = k.shares("staged", type::quad, lanes);
  const word lane = k.lane(), groups = k.meta({.fixed = lanes});
  const flag works = below(lane, count) & below(k.group() * word(lanes) + lane, groups);
  k.if_(works, [&] {
    const quad own = k.load_quad(x, lane);
    k.store(staged, lane, own);
    k.store(sums, lane, k.load(x, lane * 4u + 1u) + k.part(own, 2));
  });
  k.barrier();
  k.if_(works, [&] {
    const quad own = k.load<quad>(staged, lane), other = k.load<quad>(staged, word(count - 1) - lane);
    k.store_quad(y, lane, k.join({k.part(own, 3), k.part(other, 0), k.part(own, 1), k.part(other, 2)}));
  });
  return k.finish();
}

/// y[16][32] = a[16][16] · b[32][16], twice: a subgroup takes 16 columns.
constexpr poot::kernel::kernel fragments(std::string_view name, uint32 subgroup, opcode unit) {
  constexpr uint32 stride = 3;
  builder k(name, 2 * subgroup);
  k.take_subgroups(subgroup);
  k.count_groups();
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  const shared_id a = k.shares("a", type::quad, 16 * stride), b = k.shares("b", type::quad, 32 * stride), sums = k.shares("sums", type::number, 512);
  const word lane = k.lane(), part = k.subgroup(), row = lane / 2u, at = row * word(stride) + lane % 2u;
  k.if_(below(k.group(), k.meta({.fixed = 1})), [&] {
    k.if_(below(lane, 32u), [&] { k.store(a, at, k.load_quad(x, lane)); });
    k.if_(below(lane, 64u), [&] { k.store(b, at, k.load_quad(x, lane + 32u)); });
    k.barrier();
    const auto left = k.load_fragment<type::left>(a, 0u, stride);
    const auto right = k.load_fragment<type::right>(b, part * word(16 * stride), stride);
    const auto sum = k.declare(k.no_sums());
    k.for_(0u, 2u, 1u, [&](word) { k.assign(sum, k.multiply_add(unit, left, right, k.read(sum))); });
    k.store_fragment(sums, part * 256u, k.read(sum));
    k.barrier();
    k.for_(lane, 512u, 2 * subgroup, [&](word i) { k.store(y, i, to_bits(k.load<number>(sums, i))); });
  });
  return k.finish();
}

}  // namespace sample

inline std::vector<sample_kernel> sample_kernels() {
  using poot::uint32;
  const std::vector<uint32> numbers(std::begin(sample::special_numbers), std::end(sample::special_numbers));
  const std::vector<uint32> words(std::begin(sample::special_words), std::end(sample::special_words));
  std::vector<uint32> row_values(3 * 40);
  for (uint32 i = 0; i < row_values.size(); ++i)
    row_values[i] = poot::ieee::to_bits(i % 7 == 3 ? 0.0f : static_cast<float>(static_cast<int>(i * 37 % 101) - 50) * 0.37f);

  std::vector<sample_kernel> out;
  const auto pairs = [&](poot::kernel::kernel code, const std::vector<uint32>& values, uint32 rows) {
    const auto n = static_cast<uint32>(values.size());
    out.push_back({std::move(code), {values, std::vector<uint32>(n * n * rows)}, {n * n, n}, (n * n + 63) / 64});
  };
  pairs(sample::numbers(), numbers, 18);
  pairs(sample::fused(), numbers, 3);
  pairs(sample::words(), words, 21);
  pairs(sample::functions(), numbers, 7);
  out.push_back({sample::rows(), {row_values, std::vector<uint32>(6), std::vector<uint32>(48)}, {3}, 4});
  out.push_back({sample::bits(), {row_values, {0, 0}, {0xffffffffu, 0xffffffffu}}, {40}, 2});
  out.push_back({sample::quads(), {row_values, std::vector<uint32>(120), std::vector<uint32>(30)}, {32}, 1});
  std::vector<uint32> halves(4 * 96);
  const auto fragments = [&](const char* name, uint32 subgroup, poot::kernel::opcode unit, uint32 one) {
    const auto half = [one](uint32 i) { return (one + i * 13 % 64) | (i % 3 == 0 ? 0x8000u : 0u); };  // from 1 to 1.5, some below zero
    for (uint32 i = 0; i < halves.size(); ++i) halves[i] = half(2 * i) | half(2 * i + 1) << 16;
    out.push_back({sample::fragments(name, subgroup, unit), {halves, std::vector<uint32>(512)}, {1}, 1});
  };
  fragments("fragments_bf16_32", 32, poot::kernel::opcode::mma_bf16, 0x3f80);
  fragments("fragments_bf16_64", 64, poot::kernel::opcode::mma_bf16, 0x3f80);
  fragments("fragments_f16", 32, poot::kernel::opcode::mma_f16, 0x3c00);
  return out;
}

}  // namespace poot_tests

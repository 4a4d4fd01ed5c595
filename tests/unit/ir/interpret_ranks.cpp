// What collectives mean: sums in the order of ranks, parts in the order of ranks, on every rank the same.
#include <poot/ir/interpret_ranks.hpp>
#include <poot/ir/parse.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <initializer_list>
#include <string>
#include <vector>

using namespace poot;
using namespace poot::ir;

namespace {

uint64 bits(float x) { return std::bit_cast<uint32>(x); }

/// `g` on ranks whose input x has these bits.
std::vector<std::vector<uint64>> on_ranks(std::string_view source, const std::vector<std::vector<uint64>>& xs) {
  const graph g = parse(source);
  std::vector<named_tensor> inputs(xs.size());
  std::vector<view<named_tensor>> given;
  for (size_t r = 0; r < xs.size(); ++r) {
    inputs[r] = {"x", tensor(g.eqns[0].type)};
    for (size_t i = 0; i < xs[r].size(); ++i) inputs[r].value.bits[i] = xs[r][i];
    given.push_back({&inputs[r], 1});
  }
  std::vector<std::vector<uint64>> results;
  for (const interpretation& one : interpret_ranks(g, {given.data(), given.size()})) {
    const vec<uint64>& y = one.outputs[0].value.bits;
    results.emplace_back(y.begin(), y.end());
  }
  return results;
}

std::string message_of(std::string_view source, size_t ranks) {
  try {
    on_ranks(source, std::vector<std::vector<uint64>>(ranks));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

constexpr std::string_view sum = "graph s { %x : f32[1] = input \"x\"\n%y : f32[1] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n}";

}  // namespace

TEST_CASE("a sum over ranks adds them one after the other, from rank 0 on") {
  // 2^24 + 1 is 2^24 in f32, so that every order of these has another sum
  CHECK(on_ranks(sum, {{bits(0x1p24f)}, {bits(1)}, {bits(1)}, {bits(-0x1p24f)}}) == std::vector<std::vector<uint64>>(4, {bits(0)}));
  CHECK(on_ranks(sum, {{bits(1)}, {bits(1)}, {bits(0x1p24f)}, {bits(-0x1p24f)}}) == std::vector<std::vector<uint64>>(4, {bits(2)}));
  CHECK(on_ranks(sum, {{bits(-0.0f)}}) == std::vector<std::vector<uint64>>{{bits(-0.0f)}});
}

TEST_CASE("narrow floats add in f32 and round once; integers wrap") {
  constexpr std::string_view halves = "graph s { %x : f16[1] = input \"x\"\n%y : f16[1] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n}";
  // 2048 + 1 + 1 is 2050; rounded to f16 at each step, 2048
  CHECK(on_ranks(halves, {{0x6800}, {0x3c00}, {0x3c00}}) == std::vector<std::vector<uint64>>(3, {0x6801}));
  constexpr std::string_view bytes = "graph s { %x : i8[1] = input \"x\"\n%y : i8[1] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n}";
  CHECK(on_ranks(bytes, {{100}, {100}}) == std::vector<std::vector<uint64>>(2, {200}));
}

TEST_CASE("gathers parts in the order of ranks, and scatters the parts of a sum") {
  static constexpr std::string_view gather = "graph s { %x : i32[2,2] = input \"x\"\n%y : i32[2,4] = all_gather %x {group=\"g\" axis=1}\noutput \"y\" = %y\n}";
  CHECK(on_ranks(gather, {{1, 2, 3, 4}, {5, 6, 7, 8}}) == std::vector<std::vector<uint64>>(2, {1, 2, 5, 6, 3, 4, 7, 8}));
  constexpr std::string_view scatter = "graph s { %x : i32[2,4] = input \"x\"\n%y : i32[2,2] = reduce_scatter %x {group=\"g\" axis=1}\noutput \"y\" = %y\n}";
  CHECK(on_ranks(scatter, {{1, 2, 3, 4, 5, 6, 7, 8}, {10, 20, 30, 40, 50, 60, 70, 80}}) ==
        std::vector<std::vector<uint64>>{{11, 22, 55, 66}, {33, 44, 77, 88}});
  static_assert([] {
    const graph g = parse(gather);
    const named_tensor x{"x", tensor(type_of(i32, 2, 2), {1, 2, 3, 4})}, z{"x", tensor(type_of(i32, 2, 2), {5, 6, 7, 8})};
    const view<named_tensor> given[] = {{&x, 1}, {&z, 1}};
    return interpret_ranks(g, {given, 2})[1].outputs[0].value.bits == vec<uint64>{1, 2, 5, 6, 3, 4, 7, 8};
  }());
}

TEST_CASE("refuses other numbers of ranks, and a run of one rank alone") {
  constexpr std::string_view gather = "graph s { %x : i32[2] = input \"x\"\n%y : i32[4] = all_gather %x {group=\"g\" axis=0}\noutput \"y\" = %y\n}";
  CHECK(message_of(sum, 0) == "interpret_ranks: 0 ranks; there is one at least");
  CHECK(message_of(gather, 3) == "%1: all_gather: the group \"g\" has 2 ranks, and 3 are interpreted");
  const graph g = parse(gather);
  const named_tensor x{"x", tensor(type_of(i32, 2))};
  CHECK_THROWS_WITH(interpret(g, {&x, 1}), "%1: all_gather: this is a run of one rank; interpret_ranks runs all of a group");
}

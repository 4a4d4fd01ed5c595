#include <poot/core/dtype.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace poot;

namespace {

static_assert(byte_size(f64, 3) == 24 && byte_size(f32, 3) == 12 && byte_size(f16, 3) == 6 && byte_size(bf16, 3) == 6);
static_assert(byte_size(i32, 5) == 20 && byte_size(u32, 5) == 20 && byte_size(i8, 5) == 5 &&
              byte_size(boolean, 5) == 5);
static_assert(byte_size(f32, 0) == 0 && byte_size(f32, int64{1} << 40) == int64{1} << 42);
static_assert(is_float(bf16) && !is_float(i32) && !is_float(boolean) && !is_float(q8_0));
static_assert(is_integer(u8) && !is_integer(boolean) && !is_integer(f16));
static_assert(is_narrow(f16) && is_narrow(bf16) && !is_narrow(f32) && !is_narrow(i8));
static_assert(is_signed(i8) && is_signed(i32) && !is_signed(u8) && !is_signed(u32));

constexpr dtype nth(int i) { return static_cast<dtype>(i); }

}  // namespace

TEST_CASE("each type has its own name, and is found by it") {
  std::set<std::string> seen;
  for (int i = 0; i < dtype_count; ++i) {
    const std::string_view text = name(nth(i));
    CHECK(seen.insert(std::string(text)).second);
    dtype found{};
    REQUIRE(find_dtype(text, found));
    CHECK(found == nth(i));
  }
  dtype untouched = i8;
  for (const char* none : {"", "f", "F32", "f32 ", "float", "q4_2", "boolean"}) CHECK(!find_dtype(none, untouched));
  CHECK(untouched == i8);
}

TEST_CASE("packed blocks have the sizes of their formats") {
  // elements and bytes per block, from the layouts: scales, minima, sub-scales, high bits, codes
  struct block {
    dtype type;
    int elements, bytes;
  };
  const block blocks[] = {{q4_0, 32, 2 + 16},
                          {q4_1, 32, 2 + 2 + 16},
                          {q5_0, 32, 2 + 4 + 16},
                          {q8_0, 32, 2 + 32},
                          {q4_k, 256, 2 + 2 + 12 + 128},
                          {q6_k, 256, 128 + 64 + 16 + 2},
                          {iq4_nl, 32, 2 + 16},
                          {mxfp4, 32, 1 + 16}};
  int packed = 0;
  for (int i = 0; i < dtype_count; ++i) packed += is_packed(nth(i));
  CHECK(packed == static_cast<int>(sizeof blocks / sizeof blocks[0]));
  for (const block& b : blocks) {
    CHECK(is_packed(b.type));
    CHECK(row(b.type).block_elements == b.elements);
    CHECK(byte_size(b.type, 4 * b.elements) == 4 * b.bytes);
  }
}

TEST_CASE("every type is of exactly one kind, and only packed types have blocks") {
  for (int i = 0; i < dtype_count; ++i) {
    const dtype t = nth(i);
    CHECK(is_float(t) + is_integer(t) + is_packed(t) + (t == boolean) == 1);
    if (!is_packed(t)) CHECK(row(t).block_elements == 1);
  }
}

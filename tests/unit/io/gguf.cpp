#include <doctest/doctest.h>

#include <poot/io/gguf.hpp>

#include "../../support/file_bytes.hpp"

using namespace poot_tests;
using poot::dtype;
using poot::int64;
using poot::uint64;
using poot::io::gguf;

namespace {

gguf parse(const file_bytes& f) { return gguf::parse(f.view(), "m.gguf"); }
std::string refusal(const file_bytes& f) {
  return message_of([&] { parse(f); });
}

/// One tensor of one key-free file, with 256 bytes of data.
file_bytes one_tensor(std::vector<uint64> extents, poot::uint32 type, uint64 offset) {
  file_bytes f;
  f.gguf_header(1, 0).tensor("blk.0.w", extents, type, offset).pad(32).data(256);
  return f;
}

/// One key; the value is appended by `value`.
template <class Value>
file_bytes one_key(std::string_view key, poot::uint32 kind, Value value) {
  file_bytes f;
  f.gguf_header(0, 1).key(key, kind);
  value(f);
  return f;
}

}  // namespace

TEST_CASE("reads tensors with extents outermost first") {
  file_bytes f;
  f.gguf_header(3, 0).tensor("norm", {3}, 0, 0).tensor("w", {32, 2}, 8, 32).tensor("scalar", {}, 28, 128);
  f.pad(32);
  const size_t data = f.bytes.size();
  f.data(160);
  const gguf g = parse(f);
  REQUIRE(g.tensors().size() == 3);
  CHECK(g.tensor("norm").type == poot::type_of(poot::f32, 3));
  CHECK(g.tensor("norm").offset == data);
  CHECK(g.tensor("norm").size == 12);
  CHECK(g.tensor("w").type == poot::type_of(poot::q8_0, 2, 32));
  CHECK(g.tensor("w").bytes() == poot::view<poot::uint8>(f.bytes.data() + data + 32, 68));
  CHECK(g.tensor("scalar").type == poot::type_of(poot::f64));
  CHECK(g.tensor("scalar").size == 8);
  CHECK(g.find("nor") == nullptr);
  CHECK(message_of([&] { g.tensor("nor"); }) == "m.gguf: there is no tensor nor");
}

TEST_CASE("reads every kind of value") {
  file_bytes f;
  f.gguf_header(0, 15);
  f.key("a.u8", 0).u8(250).key("a.i8", 1).u8(0x80).key("a.u16", 2).u16(65535).key("a.i16", 3).u16(0x8000);
  f.key("a.u32", 4).u32(4000000000u).key("a.i32", 5).u32(0x80000000u).key("a.f32", 6).f32(-1.5f).key("a.bool", 7).u8(1);
  f.key("a.string", 8).string("two\nlines").key("a.u64", 10).u64(~uint64{0}).key("a.i64", 11).u64(uint64{1} << 63);
  f.key("a.f64", 12).f64(0.1).key("a.names", 9).u32(8).u64(3).string("x").string("").string("yz");
  f.key("a.scores", 9).u32(6).u64(2).f32(0.5f).f32(-2).key("a.flags", 9).u32(7).u64(2).u8(1).u8(0);
  const gguf g = parse(f);
  CHECK(g.entries().size() == 15);
  CHECK(g.get<poot::uint8>("a.u8") == 250);
  CHECK(g.get<poot::int8>("a.i8") == -128);
  CHECK(g.get<poot::uint16>("a.u16") == 65535);
  CHECK(g.get<poot::int16>("a.i16") == -32768);
  CHECK(g.get<poot::uint32>("a.u32") == 4000000000u);
  CHECK(g.get<poot::int32>("a.i32") == -2147483647 - 1);
  CHECK(g.get<float>("a.f32") == -1.5f);
  CHECK(g.get<bool>("a.bool"));
  CHECK(g.get<std::string_view>("a.string") == "two\nlines");
  CHECK(g.get<uint64>("a.u64") == ~uint64{0});
  CHECK(g.get<int64>("a.i64") == INT64_MIN);
  CHECK(g.get<double>("a.f64") == 0.1);
  CHECK(g.list<std::string_view>("a.names") == std::vector<std::string_view>{"x", "", "yz"});
  CHECK(g.list<float>("a.scores") == std::vector<float>{0.5f, -2});
  CHECK(g.list<bool>("a.flags") == std::vector<bool>{true, false});
  CHECK(g.find_key("a") == nullptr);
  CHECK(g.get<poot::uint32>("absent", 7) == 7);

  CHECK(g.integer("a.i8", -128, 0) == -128);
  CHECK(g.integer("a.u32", 0, INT64_MAX) == 4000000000);
  CHECK(g.real("a.f32") == -1.5);
  CHECK(g.real("a.f64") == 0.1);
}

TEST_CASE("a getter of another kind names file, key and both kinds") {
  file_bytes f;
  f.gguf_header(0, 3).key("llama.block_count", 4).u32(5).key("wide", 10).u64(~uint64{0});
  f.key("list", 9).u32(8).u64(0);
  const gguf g = parse(f);
  CHECK(message_of([&] { g.get<std::string_view>("llama.block_count"); }) ==
        "m.gguf: key llama.block_count is u32, not string");
  CHECK(message_of([&] { g.get<int64>("list"); }) == "m.gguf: key list is array of string, not i64");
  CHECK(message_of([&] { g.list<float>("list"); }) == "m.gguf: key list is array of string, not array of f32");
  CHECK(message_of([&] { g.list<float>("wide"); }) == "m.gguf: key wide is u64, not array of f32");
  CHECK(message_of([&] { g.real("wide"); }) == "m.gguf: key wide is u64, not a float");
  CHECK(message_of([&] { g.integer("list", 0, 1); }) == "m.gguf: key list is array of string, not an integer");
  CHECK(message_of([&] { g.integer("llama.block_count", 6, 99); }) ==
        "m.gguf: key llama.block_count is 5, not in 6 to 99");
  CHECK(message_of([&] { g.integer("wide", 0, INT64_MAX); }) ==
        "m.gguf: key wide is 18446744073709551615, not in 0 to 9223372036854775807");
  CHECK(message_of([&] { g.get<float>("nothing"); }) == "m.gguf: there is no key nothing");
}

TEST_CASE("maps every element type by its number") {
  struct { poot::uint32 number; dtype type; uint64 elements, bytes; } const rows[] = {
      {0, dtype::f32, 1, 4},       {1, dtype::f16, 1, 2},      {2, dtype::q4_0, 32, 18},    {3, dtype::q4_1, 32, 20},
      {6, dtype::q5_0, 32, 22},    {8, dtype::q8_0, 32, 34},   {12, dtype::q4_k, 256, 144}, {14, dtype::q6_k, 256, 210},
      {20, dtype::iq4_nl, 32, 18}, {24, dtype::i8, 1, 1},      {26, dtype::i32, 1, 4},      {28, dtype::f64, 1, 8},
      {30, dtype::bf16, 1, 2},     {39, dtype::mxfp4, 32, 17}};
  for (const auto& r : rows) {
    const file_bytes f = one_tensor({r.elements}, r.number, 0);
    const gguf g = parse(f);
    CHECK(g.tensor("blk.0.w").type.element == r.type);
    CHECK(g.tensor("blk.0.w").size == r.bytes);
    if (r.elements == 1) continue;
    for (uint64 partial : {uint64{1}, r.elements - 1, r.elements + 1}) {
      const std::string why = refusal(one_tensor({partial}, r.number, 0));
      CHECK(contains(why, "blk.0.w"));
      CHECK(contains(why, "not a multiple of the"));
    }
  }
}

TEST_CASE("refuses element types by number and tensor") {
  CHECK(contains(refusal(one_tensor({1}, 27, 0)),
                 "type of tensor blk.0.w at byte 51 is 27 (I64), for which poot has no"));
  CHECK(contains(refusal(one_tensor({256}, 10, 0)), "is 10 (Q2_K)"));
  for (poot::uint32 number : {4u, 5u, 31u, 33u, 36u, 38u, 40u, 1000u, ~0u}) {
    const std::string why = refusal(one_tensor({256}, number, 0));
    CHECK(contains(why, "blk.0.w"));
    CHECK(contains(why, "is " + std::to_string(number) + ", which is no type"));
  }
}

TEST_CASE("refuses what is not GGUF version 3") {
  CHECK(contains(refusal(file_bytes()), "m.gguf: magic at byte 0 needs 4 bytes"));
  CHECK(contains(refusal(file_bytes().chars("GGML").u32(3)), "no GGUF file"));
  CHECK(contains(refusal(file_bytes().chars("GGUF").u32(2).u64(0).u64(0)), "version at byte 4 is 2"));
  CHECK(contains(refusal(file_bytes().chars("GGUF").u32(0x03000000).u64(0).u64(0)), "big-endian"));
}

TEST_CASE("no count is believed before it is compared with the bytes left") {
  // among them counts whose product with the size of an item wraps to little
  for (uint64 count : {uint64{1}, uint64{1} << 32, uint64{1} << 60, uint64{1} << 61, uint64{1} << 62,
                       ~uint64{0} / 24 + 1, ~uint64{0}}) {
    CHECK(contains(refusal(file_bytes().gguf_header(count, 0)), "tensor count at byte 8 claims"));
    CHECK(contains(refusal(file_bytes().gguf_header(0, count)), "key count at byte 16 claims"));
    for (poot::uint32 item : {0u, 4u, 8u, 10u}) {
      const std::string why = refusal(one_key("a.b", 9, [&](file_bytes& f) { f.u32(item).u64(count); }));
      CHECK(contains(why, "item count of key a.b at byte 43 claims"));
    }
  }
}

TEST_CASE("no length wraps") {
  for (uint64 length : {uint64{100}, ~uint64{0}, ~uint64{0} - 7, ~uint64{0} - 44, uint64{1} << 63}) {
    const std::string value = refusal(one_key("general.name", 8, [&](file_bytes& f) { f.u64(length).chars("ab"); }));
    CHECK(contains(value, "value of key general.name at byte 48 claims a length of"));
    CHECK(contains(refusal(file_bytes().gguf_header(0, 1).u64(length).data(30)), "key at byte 24 claims a length"));
    CHECK(contains(refusal(file_bytes().gguf_header(1, 0).u64(length).data(30)), "tensor name at byte 24 claims"));
  }
}

TEST_CASE("every cut of a file is refused or lacks only padding") {
  file_bytes f;
  f.gguf_header(1, 2).key("a", 8).string("xyz").key("b", 9).u32(8).u64(2).string("p").string("q");
  f.tensor("w", {4}, 0, 0).pad(32).data(16);
  CHECK_NOTHROW(parse(f));
  for (size_t size = 0; size < f.bytes.size(); ++size) {
    // an exact allocation, so that a reader past the end is seen by the sanitizer
    const std::vector<poot::uint8> cut(f.bytes.begin(), f.bytes.begin() + static_cast<long>(size));
    CHECK_THROWS_AS(gguf::parse({cut.data(), cut.size()}, "cut"), poot::error);
  }
}

TEST_CASE("refuses ranks beyond four") {
  for (size_t rank : {size_t{5}, size_t{9}}) {
    const std::string why = refusal(one_tensor(std::vector<uint64>(rank, 1), 0, 0));
    CHECK(contains(why, "rank of tensor blk.0.w at byte 39 is " + std::to_string(rank)));
  }
  file_bytes f;
  f.gguf_header(1, 0).string("blk.0.w").u32(~0u).data(64);
  CHECK(contains(refusal(f), "rank of tensor blk.0.w"));
}

TEST_CASE("refuses extents whose product wraps, whatever their order") {
  const uint64 big = uint64{1} << 32, half = uint64{1} << 31;
  for (const std::vector<uint64>& extents :
       {std::vector<uint64>{big, big}, {half, half, 2}, {uint64{1} << 62}, {0, big, big}, {big, big, 0}, {big, 0, big},
        {uint64{1} << 33, uint64{1} << 33, 1, 1}})
    CHECK(contains(refusal(one_tensor(extents, 0, 0)), "extents of tensor blk.0.w at byte 43 multiply to more than"));
  CHECK(
      contains(refusal(one_tensor({~uint64{0}}, 0, 0)), "extent of tensor blk.0.w at byte 43 is 18446744073709551615"));
  CHECK(contains(refusal(one_tensor({uint64{1} << 63, 0}, 0, 0)), "extent of tensor blk.0.w"));
}

TEST_CASE("refuses a tensor past the end of the file") {
  CHECK_NOTHROW(parse(one_tensor({64}, 0, 0)));
  for (const file_bytes& f : {one_tensor({65}, 0, 0), one_tensor({64}, 0, 32), one_tensor({1}, 0, 256),
                              one_tensor({1}, 0, ~uint64{0} - 31), one_tensor({uint64{1} << 60}, 0, 0)})
    CHECK(contains(refusal(f), "tensor blk.0.w has"));
}

TEST_CASE("an empty tensor is fine anywhere inside the file") {
  const file_bytes f = one_tensor({0, 7}, 0, 256);
  const gguf g = parse(f);
  CHECK(g.tensor("blk.0.w").type == poot::type_of(poot::f32, 7, 0));
  CHECK(g.tensor("blk.0.w").size == 0);
  CHECK(contains(refusal(one_tensor({0, 7}, 0, 288)), "tensor blk.0.w"));
}

TEST_CASE("refuses offsets off the alignment") {
  for (uint64 offset : {1u, 4u, 16u, 31u, 33u})
    CHECK(contains(refusal(one_tensor({1}, 0, offset)), "offset of tensor blk.0.w"));
  file_bytes f;
  f.gguf_header(2, 1).key("general.alignment", 4).u32(8).tensor("a", {2}, 0, 0).tensor("b", {2}, 0, 8).pad(8).data(16);
  CHECK(parse(f).tensor("b").size == 8);
}

TEST_CASE("refuses alignments that are no power of two") {
  for (poot::uint32 alignment : {0u, 3u, 7u, 24u, ~0u}) {
    const std::string why =
        refusal(one_key("general.alignment", 4, [&](file_bytes& f) { f.u32(alignment); }));
    CHECK(contains(why, "general.alignment is " + std::to_string(alignment) + ", not a power of two"));
  }
  CHECK(contains(refusal(one_key("general.alignment", 10, [](file_bytes& f) { f.u64(32); })), "is u64, not u32"));
  file_bytes f;
  f.gguf_header(1, 1).key("general.alignment", 4).u32(0x80000000u).tensor("w", {1}, 0, 0).data(64);
  CHECK(contains(refusal(f), "tensor w"));
}

TEST_CASE("refuses two tensors of one name, two keys of one name, and shared bytes") {
  file_bytes names;
  names.gguf_header(3, 0).tensor("b", {1}, 0, 0).tensor("a", {1}, 0, 32).tensor("b", {1}, 0, 64).pad(32).data(96);
  CHECK(refusal(names) == "m.gguf: there are two tensors b");
  file_bytes keys;
  keys.gguf_header(0, 3).key("k", 0).u8(1).key("j", 0).u8(1).key("k", 7).u8(1);
  CHECK(refusal(keys) == "m.gguf: there are two keys k");
  file_bytes shared;
  shared.gguf_header(2, 0).tensor("a", {9}, 0, 0).tensor("b", {1}, 0, 32).pad(32).data(96);
  CHECK(contains(refusal(shared), "tensor b begins at byte"));
  CHECK(contains(refusal(shared), "inside tensor a"));
}

TEST_CASE("refuses unknown value types, nested arrays and other bools") {
  CHECK(contains(refusal(one_key("k", 13, [](file_bytes& f) { f.data(64); })), "value type of key k at byte 33 is 13"));
  CHECK(contains(refusal(one_key("k", 9, [](file_bytes& f) { f.u32(13).data(64); })), "item type of key k"));
  CHECK(contains(refusal(one_key("k", 9, [](file_bytes& f) { f.u32(9).u64(1).u32(0).u64(0); })), "nested"));
  CHECK(contains(refusal(one_key("k", 7, [](file_bytes& f) { f.u8(2); })), "value of key k at byte 37 is 2"));
  CHECK(
      contains(refusal(one_key("k", 9, [](file_bytes& f) { f.u32(7).u64(3).u8(1).u8(9).u8(0); })), "at byte 50 is 9"));
}

TEST_CASE("a name from a file cannot break a message") {
  const std::string why =
      refusal(one_key(std::string("a\n\x1b[2J") + std::string(500, 'x'), 13, [](file_bytes& f) { f.data(9); }));
  CHECK(contains(why, "a\\x0a\\x1b[2Jxxx"));
  CHECK(why.size() < 300);
}

TEST_CASE("reads the Meadow model and gives its pages back") {
  const std::string path = std::string(POOT_SOURCE_DIR) + "/examples/models/meadow/meadow-q8_0.gguf";
  gguf g = gguf::open(path);
  CHECK(g.file() == path);
  CHECK(g.get<std::string_view>("general.architecture") == "llama");
  CHECK(g.integer("llama.block_count", 1, 1000) == 5);
  CHECK(g.tensors().size() == 47);  // embedding, 5 layers of 9, last norm
  CHECK(g.tensor("token_embd.weight").type == poot::type_of(poot::q8_0, 512, 64));
  CHECK(g.tensor("blk.0.ffn_gate.weight").type == poot::type_of(poot::q8_0, 172, 64));
  CHECK(g.tensor("blk.0.ffn_down.weight").type == poot::type_of(poot::f16, 64, 172));
  const auto sum = [&] {
    uint64 total = 0;
    for (const auto& t : g.tensors())
      for (poot::uint8 byte : t.bytes()) total += byte;
    return total;
  };
  const uint64 before = sum();
  for (const auto& t : g.tensors()) g.drop(t);
  const gguf moved = std::move(g);
  for (const auto& t : moved.tensors()) CHECK(t.data != nullptr);
  g = gguf::open(path);
  CHECK(sum() == before);
}

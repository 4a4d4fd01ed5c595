#include <doctest/doctest.h>

#include <poot/io/safetensors.hpp>

#include "../../support/file_bytes.hpp"

using namespace poot_tests;
using poot::uint64;
using poot::io::safetensors;

namespace {

std::string refusal(const file_bytes& f) {
  return message_of([&] { safetensors::parse(f.view(), "m.safetensors"); });
}
std::string refusal(std::string_view header, size_t data = 0) { return refusal(file_bytes::safetensors(header, data)); }

/// One tensor "w".
std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "{\"w\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[" + std::string(shape) + "],\"data_offsets\":[" +
         std::string(offsets) + "]}}";
}

}  // namespace

TEST_CASE("reads tensors in any order, metadata apart, empty tensors too") {
  const auto f = file_bytes::safetensors(
      "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"b\"}, "
      "\"late\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[8,20]},"
      "\"early\":{\"data_offsets\":[0,8],\"shape\":[2,2],\"dtype\":\"BF16\"},"
      "\"none\":{\"dtype\":\"F64\",\"shape\":[0,4],\"data_offsets\":[20,20]},"
      "\"one \\u00e9\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[20,21]}}   ",
      21);
  const size_t data = f.bytes.size() - 21;
  const safetensors s = safetensors::parse(f.view(), "m.safetensors");
  CHECK(s.tensors().size() == 4);
  CHECK(s.tensor("late").type == poot::type_of(poot::f32, 3));
  CHECK(s.tensor("late").bytes() == poot::view<poot::uint8>(f.bytes.data() + data + 8, 12));
  CHECK(s.tensor("late").offset == data + 8);
  CHECK(s.tensor("early").type == poot::type_of(poot::bf16, 2, 2));
  CHECK(s.tensor("none").type == poot::type_of(poot::f64, 0, 4));
  CHECK(s.tensor("none").size == 0);
  CHECK(s.tensor("one \xc3\xa9").type == poot::type_of(poot::u8));
  CHECK(s.find("__metadata__") == nullptr);
  CHECK(message_of([&] { s.tensor("x"); }) == "m.safetensors: there is no tensor x");
  REQUIRE(s.metadata().size() == 2);
  CHECK(s.metadata()[1].first == "format");
  CHECK(s.metadata()[1].second == "pt");
}

TEST_CASE("a file without tensors is a file") {
  const auto f = file_bytes::safetensors("{}", 0);
  CHECK(safetensors::parse(f.view(), "f").tensors().empty());
}

TEST_CASE("maps every element type by its name") {
  struct { const char* name; poot::dtype type; int bytes;
  } const rows[] = {{"F64", poot::f64, 8},   {"F32", poot::f32, 4}, {"F16", poot::f16, 2},
                    {"BF16", poot::bf16, 2}, {"I32", poot::i32, 4}, {"U32", poot::u32, 4},
                    {"I8", poot::i8, 1},     {"U8", poot::u8, 1},   {"BOOL", poot::boolean, 1}};
  for (const auto& r : rows) {
    const auto f =
        file_bytes::safetensors(entry(r.name, "1", "0," + std::to_string(r.bytes)), static_cast<size_t>(r.bytes));
    CHECK(safetensors::parse(f.view(), "f").tensor("w").type.element == r.type);
  }
  for (const char* name : {"I64", "U64", "I16", "F8_E4M3", "f32", ""})
    CHECK(contains(refusal(entry(name, "1", "0,8"), 8), "tensor w has dtype"));
}

TEST_CASE("the header's length is compared with the file and with the format's limit") {
  CHECK(contains(refusal(file_bytes()), "has 0 bytes"));
  CHECK(contains(refusal(file_bytes().u32(0)), "has 4 bytes"));
  for (uint64 length : {uint64{3}, uint64{100000001}, uint64{1} << 63, ~uint64{0}, ~uint64{0} - 7})
    CHECK(contains(refusal(file_bytes().u64(length).chars("{}")),
                   "header length at byte 0 is " + std::to_string(length)));
  CHECK(contains(refusal(""), "does not begin with {"));
  CHECK(contains(refusal(" {}"), "does not begin with {"));
}

TEST_CASE("offsets must be in order, inside, and of the shape's size") {
  CHECK(refusal(entry("F32", "1", "8,4"), 8) ==
        "m.safetensors: tensor w has data_offsets that end at 4, before they begin at 8");
  CHECK(contains(refusal(entry("F32", "1", "0,4"), 3), "tensor w has data_offsets up to 4, and the file has 3 bytes"));
  CHECK(contains(refusal(entry("F32", "1000,1000", "0,4"), 4), "tensor w has a shape of 4000000 bytes"));
  CHECK(contains(refusal(entry("F32", "1", "0,5"), 5), "tensor w has a shape of 4 bytes and data_offsets of 5"));
  CHECK(contains(refusal(entry("F32", "", "0,0")), "tensor w has a shape of 4 bytes and data_offsets of 0"));
  CHECK(contains(refusal(entry("U8", "0", "0,1"), 1), "tensor w has a shape of 0 bytes"));
}

TEST_CASE("a shape that wraps is refused, whatever its order") {
  for (const char* shape : {"4294967296,4294967296", "0,4294967296,4294967296", "4294967296,4294967296,0",
                            "4611686018427387904", "9223372036854775808", "18446744073709551615"})
    CHECK(contains(refusal(entry("F32", shape, "0,0")), "tensor w has "));
  CHECK(contains(refusal(entry("F32", "18446744073709551616", "0,0")), "tensor w has the number"));
  CHECK(contains(refusal(entry("F32", "1,1,1,1,1,1,1", "0,4"), 4), "more than the 6 axes"));
}

TEST_CASE("refuses shared bytes and holes") {
  const auto two = [](const char* a, const char* b, size_t data) {
    return refusal(std::string("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[") + a +
                       "]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[" + b + "]}}", data);
  };
  CHECK(two("0,4", "4,8", 8) == "no error");
  CHECK(contains(two("0,4", "3,7", 8), "tensor b begins at byte"));
  CHECK(contains(two("0,4", "0,4", 8), "inside tensor"));
  CHECK(contains(two("0,4", "5,9", 9), "tensors use 8 of 9 bytes of data, and the format allows no holes"));
  CHECK(contains(two("1,5", "5,9", 9), "no holes"));
  CHECK(contains(two("0,4", "4,8", 9), "no holes"));
  CHECK(contains(refusal("{}", 1), "no holes"));
}

TEST_CASE("refuses whatever comes twice") {
  const std::string w = "\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  CHECK(refusal("{" + w + "}") == "no error");
  CHECK(refusal("{" + w + "," + w + "}") == "m.safetensors: there are two tensors w");
  CHECK(contains(refusal("{" + w + ",\"\\u0077\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"),
                 "two tensors w"));
  CHECK(contains(refusal("{\"__metadata__\":{},\"__metadata__\":{}}"), "__metadata__ stands twice"));
  CHECK(contains(refusal("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"), "two entries a"));
  CHECK(contains(refusal("{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"), "tensor w has two fields dtype"));
}

TEST_CASE("refuses what the format does not hold") {
  for (const char* header : {"{\"w\":1}",
                             "{\"w\":null}",
                             "{\"w\":[]}",
                             "{\"w\":\"x\"}",
                             "{\"w\":true}",
                             "{\"w\":{\"dtype\":1}}",
                             "{\"w\":{\"dtype\":[\"F32\"]}}",
                             "{\"w\":{\"dtype\":{}}}",
                             "{\"w\":{\"shape\":1}}",
                             "{\"w\":{\"shape\":[-1]}}",
                             "{\"w\":{\"shape\":[1.0]}}",
                             "{\"w\":{\"shape\":[1e3]}}",
                             "{\"w\":{\"shape\":[[1]]}}",
                             "{\"w\":{\"shape\":[{}]}}",
                             "{\"w\":{\"shape\":[\"1\"]}}",
                             "{\"w\":{\"shape\":[null]}}",
                             "{\"w\":{\"data_offsets\":[0]}}",
                             "{\"w\":{\"data_offsets\":[0,0,0]}}",
                             "{\"w\":{\"data_offsets\":{}}}",
                             "{\"w\":{\"extra\":0}}",
                             "{\"w\":{}}",
                             "{\"w\":{\"dtype\":\"U8\",\"shape\":[0]}}"})
    CHECK_MESSAGE(contains(refusal(header), "tensor w "), header);
  for (const char* header : {"{\"__metadata__\":1}", "{\"__metadata__\":[]}", "{\"__metadata__\":{\"a\":1}}",
                             "{\"__metadata__\":{\"a\":{}}}", "{\"__metadata__\":{\"a\":[]}}"})
    CHECK_MESSAGE(contains(refusal(header), "__metadata__ "), header);
}

TEST_CASE("a header that is not JSON names the byte") {
  CHECK(contains(refusal("{,}"), "at byte 9"));
  CHECK(contains(refusal("{\"w\":{\"shape\":[1,]}}"), "at byte 25"));
  for (const char* header : {"{", "{}}", "{} x", "{\"a\xff\":1}", "{'w':1}", "{\"w\":{\"shape\":[1e999]}}", "{//\n}"})
    CHECK_MESSAGE(contains(refusal(header), "no JSON that poot reads"), header);
}

TEST_CASE("depth is bounded") {
  std::string deep = "{\"w\":{\"shape\":";
  deep.append(1000000, '[');
  CHECK(contains(refusal(deep), "tensor w has an array"));
  std::string objects = "{\"w\":";
  for (int i = 0; i < 100000; ++i) objects += "{\"dtype\":";
  CHECK(contains(refusal(objects), "tensor w has an object"));
}

TEST_CASE("every cut of a file is refused") {
  const auto f = file_bytes::safetensors(entry("F32", "2,2", "0,16"), 16);
  for (size_t size = 0; size < f.bytes.size(); ++size) {
    const std::vector<poot::uint8> cut(f.bytes.begin(), f.bytes.begin() + static_cast<long>(size));
    CHECK_THROWS_AS(safetensors::parse({cut.data(), cut.size()}, "cut"), poot::error);
  }
}

TEST_CASE("maps a file") {
  scratch_directory dir;
  const auto f = file_bytes::safetensors(entry("F16", "2,3", "0,12"), 12);
  put(dir / "a.safetensors", f.view());
  const safetensors s = safetensors::open(dir / "a.safetensors");
  CHECK(s.tensor("w").bytes() == f.view().subview(f.bytes.size() - 12, 12));
  s.drop(s.tensor("w"));
  CHECK(s.tensor("w").bytes() == f.view().subview(f.bytes.size() - 12, 12));
  CHECK(s.file() == dir / "a.safetensors");
  CHECK(contains(message_of([&] { safetensors::open(dir / "none"); }), "cannot open"));
}

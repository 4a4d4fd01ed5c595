#include <doctest/doctest.h>

#include <poot/io/npy.hpp>

#include "../../support/file_bytes.hpp"

#include <dirent.h>
#include <sys/resource.h>

#include <csignal>

using namespace poot_tests;
using poot::io::npy;
using poot::io::write_npy;

namespace {

std::string refusal(const file_bytes& f) {
  return message_of([&] { npy::parse(f.view(), "a.npy"); });
}
std::string refusal(std::string_view header, size_t data = 0) { return refusal(file_bytes::npy(header, data)); }

int files_in(const scratch_directory& dir) {
  int count = 0;
  DIR* const d = ::opendir(dir.path().c_str());
  while (const dirent* e = ::readdir(d)) count += e->d_name[0] != '.';
  ::closedir(d);
  return count;
}

}  // namespace

TEST_CASE("reads headers of versions 1, 2 and 3") {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
  for (int version : {1, 2, 3}) {
    file_bytes f;
    f.chars("\x93NUMPY").u8(static_cast<poot::uint64>(version)).u8(0).word(header.size(), version == 1 ? 2 : 4);
    f.chars(header).data(24);
    const npy a = npy::parse(f.view(), "a.npy");
    CHECK(a.type() == poot::type_of(poot::f32, 2, 3));
    CHECK(a.bytes() == f.view().subview(f.bytes.size() - 24, 24));
  }
  for (int version : {0, 4, 255}) {
    const file_bytes f =
        file_bytes().chars("\x93NUMPY").u8(static_cast<poot::uint64>(version)).u8(0).u16(2).chars("{}");
    CHECK(contains(refusal(f), "version at byte 6 is " + std::to_string(version)));
  }
}

TEST_CASE("reads scalars, vectors, empty arrays and other spellings of the header") {
  const auto type = [](std::string_view header, size_t data) {
    const file_bytes f = file_bytes::npy(header, data);
    return npy::parse(f.view(), "a.npy").type();
  };
  CHECK(type("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8) == poot::type_of(poot::f64));
  CHECK(type("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", 6) == poot::type_of(poot::f16, 3));
  CHECK(type("{'descr': '<i4', 'fortran_order': False, 'shape': (0, 7), }", 0) == poot::type_of(poot::i32, 0, 7));
  CHECK(type("{\"shape\":(1,1,1,1,1,2,),\"descr\":\"|u1\",\"fortran_order\":False}\n", 2) ==
        poot::type_of(poot::u8, 1, 1, 1, 1, 1, 2));
}

TEST_CASE("maps every element type by its description") {
  struct { const char* descr; poot::dtype type; int bytes; } const rows[] = {
      {"<f8", poot::f64, 8}, {"<f4", poot::f32, 4}, {"<f2", poot::f16, 2}, {"<i4", poot::i32, 4},
      {"<u4", poot::u32, 4}, {"|i1", poot::i8, 1},  {"|u1", poot::u8, 1}};
  const auto header = [](std::string_view descr) {
    return "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (1,), }";
  };
  for (const auto& r : rows) {
    const file_bytes f = file_bytes::npy(header(r.descr), static_cast<size_t>(r.bytes));
    CHECK(npy::parse(f.view(), "a.npy").type().element == r.type);
  }
  const file_bytes flag = file_bytes::npy(header("|b1"), 1);  // one byte of value 1
  CHECK(npy::parse(flag.view(), "a.npy").type().element == poot::boolean);
  for (const char* descr : {"<i8", "<c8", "=f4", "f4", "|S3", "<U1", "|O", ""})
    CHECK(contains(refusal(header(descr), 8), "for which poot has no element type"));
  CHECK(contains(refusal(header(">f4"), 4), "big-endian"));
  CHECK(contains(refusal(header("|V2"), 2), "npy has no type for bf16"));
}

TEST_CASE("refuses Fortran order in one sentence") {
  CHECK(contains(refusal("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24),
                 "says Fortran order, and poot reads arrays whose last axis is contiguous"));
}

TEST_CASE("refuses bools that are neither 0 nor 1") {
  const file_bytes f = file_bytes::npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 2);  // 1, 8
  CHECK(contains(refusal(f), "is 8, and a bool is 0 or 1"));
}

TEST_CASE("refuses headers that are anything else") {
  for (const char* header : {"",
                             "{",
                             "{}",
                             "x",
                             "{'descr'",
                             "{'descr':",
                             "{'descr': '<f4'",
                             "{'descr': '<f4'}",
                             "{'descr': <f4}",
                             "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': ()}",
                             "{'descr': [('a', '<f4')]}",
                             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                             "{'other': 1}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': 4}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                             "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"})
    CHECK_MESSAGE(contains(refusal(header, 4), "a.npy: the header at byte"), header);
}

TEST_CASE("the shape must have the bytes that follow") {
  const auto shape = [](std::string_view s, size_t data) {
    return refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::string(s) + "), }", data);
  };
  CHECK(shape("2, 2", 16) == "no error");
  CHECK(contains(shape("2, 2", 15), "the shape has 16 bytes, and 15 bytes follow the header"));
  CHECK(contains(shape("2, 2", 17), "the shape has 16 bytes, and 17 bytes follow the header"));
  CHECK(contains(shape("4294967296, 4294967296", 0), "more than 2^63 - 1 bytes"));
  CHECK(contains(shape("4294967296, 4294967296, 0", 0), "more than 2^63 - 1 bytes"));
  CHECK(contains(shape("9223372036854775807,", 0), "more than 2^63 - 1 bytes"));
  CHECK(contains(shape("9223372036854775808,", 0), "an extent beyond 2^63 - 1"));
  CHECK(contains(shape("99999999999999999999999,", 0), "an extent beyond 2^63 - 1"));
  CHECK(contains(shape("1, 1, 1, 1, 1, 1, 1", 4), "more than the 6 axes"));
}

TEST_CASE("every cut of a file is refused") {
  for (int version : {1, 2}) {
    file_bytes f;
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    f.chars("\x93NUMPY").u8(static_cast<poot::uint64>(version)).u8(0).word(header.size(), version == 1 ? 2 : 4);
    f.chars(header).data(8);
    for (size_t size = 0; size < f.bytes.size(); ++size) {
      const std::vector<poot::uint8> cut(f.bytes.begin(), f.bytes.begin() + static_cast<long>(size));
      CHECK_THROWS_AS(npy::parse({cut.data(), cut.size()}, "cut"), poot::error);
    }
  }
}

TEST_CASE("writes what NumPy writes") {
  scratch_directory dir;
  // numpy.save of numpy.array([[1, 2]], 'f4'), format version 1.0
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  expected.append(128 - 1 - expected.size(), ' ');
  expected += '\n';
  const std::string data("\0\0\x80\x3f\0\0\0\x40", 8);
  write_npy(dir / "a.npy", poot::type_of(poot::f32, 1, 2), {reinterpret_cast<const poot::uint8*>(data.data()), 8});
  CHECK(get(dir / "a.npy") == expected + data);
}

TEST_CASE("what is written reads the same") {
  scratch_directory dir;
  for (poot::dtype t : {poot::f64, poot::f32, poot::f16, poot::i32, poot::u32, poot::i8, poot::u8, poot::boolean})
    for (const poot::tensor_type& type : {poot::type_of(t), poot::type_of(t, 5), poot::type_of(t, 0, 3),
                                          poot::type_of(t, 2, 3, 1, 2, 1, 1)}) {
      std::vector<poot::uint8> bytes(static_cast<size_t>(type.bytes()));
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<poot::uint8>(t == poot::boolean ? i & 1 : i * 37);
      write_npy(dir / "a.npy", type, {bytes.data(), bytes.size()});
      const npy a = npy::open(dir / "a.npy");
      CHECK(a.type() == type);
      CHECK(a.bytes() == poot::view<poot::uint8>(bytes.data(), bytes.size()));
      CHECK(reinterpret_cast<std::uintptr_t>(a.bytes().data()) % 64 == 0);
    }
  CHECK(files_in(dir) == 1);
}

TEST_CASE("a write that cannot be leaves the file as it was") {
  scratch_directory dir;
  put(dir / "a.npy", "old");
  const std::vector<poot::uint8> bytes(1 << 16);
  const poot::view<poot::uint8> data(bytes.data(), bytes.size());
  const auto attempt = [&](const std::string& path, const poot::tensor_type& type) {
    return message_of([&] { write_npy(path, type, data); });
  };
  CHECK(attempt(dir / "a.npy", poot::type_of(poot::bf16, 1 << 15)) ==
        (dir / "a.npy") + ": npy has no type for bf16; cast to f32 before writing");
  CHECK(contains(attempt(dir / "a.npy", poot::type_of(poot::q8_0, 32)), "npy has no type for q8_0"));
  CHECK(contains(attempt(dir / "a.npy", poot::type_of(poot::f32, 3)), "65536 bytes, not those of its extents"));
  CHECK(
      contains(attempt(dir / "a.npy", poot::type_of(poot::f32, poot::extent::dynamic("L", 16384))), "dynamic extent"));
  CHECK(contains(attempt(dir / "none/a.npy", poot::type_of(poot::f32, 1 << 14)), "No such file or directory"));
  ::mkdir((dir / "full").c_str(), 0700);
  put(dir / "full/x", "x");
  CHECK(contains(attempt(dir / "full", poot::type_of(poot::f32, 1 << 14)), "no regular file"));

  // A disk that fills up in the middle, as a limit on the size of files.
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string full = attempt(dir / "a.npy", poot::type_of(poot::f32, 1 << 14));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(full, (dir / "a.npy") + ": cannot write: File too large"));

  CHECK(get(dir / "a.npy") == "old");
  CHECK(files_in(dir) == 2);
}

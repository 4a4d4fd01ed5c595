#include <doctest/doctest.h>

#include <poot/io/mapping.hpp>

#include "../../support/file_bytes.hpp"

using namespace poot_tests;
using poot::io::mapping;

TEST_CASE("shows the bytes of a file") {
  scratch_directory dir;
  put(dir / "five", "hello");
  const mapping m(dir / "five");
  CHECK(std::string(m.bytes().begin(), m.bytes().end()) == "hello");
  CHECK(m.path() == dir / "five");
}

TEST_CASE("an empty file has no bytes") {
  scratch_directory dir;
  put(dir / "none", "");
  mapping m(dir / "none");
  CHECK(m.bytes().size() == 0);
  m.drop(0, 0);
  mapping moved = std::move(m);
  CHECK(moved.bytes().empty());
}

TEST_CASE("names the file and the system's reason") {
  scratch_directory dir;
  const std::string missing = message_of([&] { mapping m(dir / "missing"); });
  CHECK(contains(missing, dir / "missing"));
  CHECK(contains(missing, "cannot open: No such file or directory"));
  CHECK(contains(message_of([&] { mapping m(dir.path()); }), "is not a regular file"));
  CHECK(contains(message_of([&] { mapping m(std::string("a\0b", 3)); }), "zero byte"));
}

TEST_CASE("refuses a pipe without waiting for a writer") {
  scratch_directory dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(contains(message_of([&] { mapping m(dir / "pipe"); }), "is not a regular file"));
}

TEST_CASE("a moved mapping keeps its bytes where they are") {
  scratch_directory dir;
  put(dir / "a", "first");
  put(dir / "b", "second");
  mapping a(dir / "a"), b(dir / "b");
  const poot::uint8* const where = b.bytes().data();
  a = std::move(b);
  CHECK(a.bytes().data() == where);
  CHECK(a.path() == dir / "b");
  CHECK(b.bytes().empty());
}

TEST_CASE("dropped pages leave memory and read the same again") {
  scratch_directory dir;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  file_bytes content;
  content.data(8 * page + 100);
  put(dir / "pages", content.view());
  const mapping m(dir / "pages");
  CHECK(m.bytes() == content.view());

  m.drop(page + 10, 3 * page);  // ends inside page 4
  m.drop(8 * page, 100);  // the part of a page that ends the file
  CHECK(m.bytes() == content.view());

  CHECK(contains(message_of([&] { m.drop(8 * page + 101, 0); }), "cannot drop"));
  CHECK(contains(message_of([&] { m.drop(8, ~size_t{0}); }), "cannot drop"));
}

TEST_CASE("a range loses the page it begins in and keeps the one it ends in") {
  scratch_directory dir;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  file_bytes content;
  content.data(4 * page);
  put(dir / "pages", content.view());
  // Resident pages cannot be told from cached ones through a file mapping, so the advice is watched where it shows:
  // private pages that were written would lose what was written.
  const mapping m(dir / "pages");
  auto* const first = const_cast<poot::uint8*>(m.bytes().data());
  REQUIRE(::mprotect(first, 4 * page, PROT_READ | PROT_WRITE) == 0);
  for (size_t i = 0; i < 4; ++i) first[i * page] ^= 0xff;
  m.drop(page / 2, 2 * page);  // begins in page 0, ends in page 2
  CHECK(first[0] == content.bytes[0]);
  CHECK(first[page] == content.bytes[page]);
  CHECK(first[2 * page] != content.bytes[2 * page]);
  CHECK(first[3 * page] != content.bytes[3 * page]);
  m.drop(3 * page + 5, page - 5);  // to the end of the file
  CHECK(first[3 * page] == content.bytes[3 * page]);
}

#include <doctest/doctest.h>

#include <poot/io/replacement_file.hpp>

#include "../../support/file_bytes.hpp"

#include <thread>

using namespace poot_tests;
using poot::io::replacement_file;

namespace {
poot::view<poot::uint8> bytes_of(std::string_view s) { return {reinterpret_cast<const poot::uint8*>(s.data()), s.size()}; }
}  // namespace

TEST_CASE("the file has its name only when it is whole") {
  scratch_directory dir;
  replacement_file file(dir / "a");
  file.write(bytes_of("new "));
  file.write(bytes_of("text"));
  CHECK(::access((dir / "a").c_str(), F_OK) != 0);
  file.commit();
  CHECK(get(dir / "a") == "new text");
}

TEST_CASE("a file that is given up leaves the old one and nothing else") {
  scratch_directory dir;
  put(dir / "a", "old");
  {
    replacement_file file(dir / "a");
    file.write(bytes_of("half"));
  }
  CHECK(get(dir / "a") == "old");
  CHECK(::rmdir(dir.path().c_str()) != 0);
  ::unlink((dir / "a").c_str());
  CHECK(::rmdir(dir.path().c_str()) == 0);  // nothing was left beside it
  ::mkdir(dir.path().c_str(), 0700);
}

TEST_CASE("writers at the same time leave one whole file") {
  scratch_directory dir;
  const auto write = [&](char c) {
    for (int i = 0; i < 20; ++i) {
      replacement_file file(dir / "a");
      file.write(bytes_of(std::string(10000, c)));
      file.commit();
    }
  };
  std::thread a(write, 'a'), b(write, 'b');
  a.join();
  b.join();
  const std::string got = get(dir / "a");
  CHECK(got.size() == 10000);
  CHECK(got.find_first_not_of(got[0]) == got.npos);
}

TEST_CASE("what a link leads to is replaced, and the link stays") {
  scratch_directory dir;
  ::mkdir((dir / "far").c_str(), 0700);
  put(dir / "far/old", "old");
  REQUIRE(::symlink("far/old", (dir / "near").c_str()) == 0);
  REQUIRE(::symlink((dir / "near").c_str(), (dir / "again").c_str()) == 0);
  REQUIRE(::symlink("far/new", (dir / "dangling").c_str()) == 0);
  for (const char* name : {"again", "dangling"}) {
    replacement_file file(dir / name);
    file.write(bytes_of(name));
    file.commit();
  }
  CHECK(get(dir / "far/old") == "again");
  CHECK(get(dir / "far/new") == "dangling");
  for (const char* name : {"near", "again", "dangling"}) {
    char target[256];
    CHECK(::readlink((dir / name).c_str(), target, sizeof target) > 0);
  }
}

TEST_CASE("links that lead to themselves are refused") {
  scratch_directory dir;
  REQUIRE(::symlink("b", (dir / "a").c_str()) == 0);
  REQUIRE(::symlink("a", (dir / "b").c_str()) == 0);
  CHECK(contains(message_of([&] { replacement_file file(dir / "a"); }), "cannot follow this link: Too many levels of symbolic links"));
}

TEST_CASE("a folder that is not there is named with the reason") {
  scratch_directory dir;
  CHECK(contains(message_of([&] { replacement_file file(dir / "none/a"); }),
                 (dir / "none/a") + ": cannot create a file beside it: No such file or directory"));
}

#include <poot/run/library.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using namespace poot;

namespace {

std::string refusal(const char* variable, std::initializer_list<const char*> names) {
  try {
    const run::library found("things", variable, names);
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("the first library that is found is opened") {
  const run::library mathematics("things", "POOT_UNSET_LIBRARY", {"libnowhere.so.7", "libm.so.6"});
  CHECK(mathematics.name() == "libm.so.6");
  CHECK(mathematics.function<double(double)>("floor")(3.5) == 3.0);
}

TEST_CASE("a library that is not there is a sentence that names what was looked for") {
  CHECK(refusal("POOT_UNSET_LIBRARY", {"libnowhere.so.7", "libnowhere.so.6"}) ==
        "things: none of the libraries libnowhere.so.7, libnowhere.so.6 can be opened, and POOT_UNSET_LIBRARY is not set");
}

TEST_CASE("the environment names one library, and no other is tried") {
  ::setenv("POOT_SOME_LIBRARY", "/nowhere/libthing.so", 1);
  const std::string sentence = refusal("POOT_SOME_LIBRARY", {"libm.so.6"});
  CHECK(sentence.find("things: the library that POOT_SOME_LIBRARY names cannot be opened: ") == 0);
  CHECK(sentence.find("/nowhere/libthing.so") != std::string::npos);
  ::setenv("POOT_SOME_LIBRARY", "libm.so.6", 1);
  CHECK(run::library("things", "POOT_SOME_LIBRARY", {}).name() == "libm.so.6");
  ::setenv("POOT_SOME_LIBRARY", "", 1);
  CHECK(run::library("things", "POOT_SOME_LIBRARY", {"libm.so.6"}).name() == "libm.so.6");
  ::unsetenv("POOT_SOME_LIBRARY");
}

TEST_CASE("a function that a library lacks is named") {
  const run::library mathematics("things", "POOT_UNSET_LIBRARY", {"libm.so.6"});
  CHECK_THROWS_WITH_AS(mathematics.function<void()>("no_such_function"), "things: libm.so.6 has no function no_such_function", error);
}

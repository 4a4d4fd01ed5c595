#include <poot/run/rejection.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

namespace {

std::string describe(std::string_view log, std::string_view source) {
  return std::string(run::describe_rejection("a compiler", "softmax", log, source).str());
}

}  // namespace

TEST_CASE("the first line that the log names is shown among its neighbours") {
  constexpr std::string_view source = "one\ntwo\nthree\nfour\nfive\nsix\n";
  constexpr std::string_view shown = "\n  2  two\n  3  three\n  4  four\n  5  five\n  6  six";
  CHECK(describe("kernel.cu(4): error: no\nkernel.cu(6): error: no\n", source) ==
        "a compiler rejects kernel \"softmax\": kernel.cu(4): error: no\nkernel.cu(6): error: no" + std::string(shown));
  CHECK(describe("/tmp/a:4:2: error: no", source) ==
        "a compiler rejects kernel \"softmax\": /tmp/a:4:2: error: no" + std::string(shown));
}

TEST_CASE("lines at the edges, beyond them, and none at all") {
  CHECK(describe("k:1: no", "one").ends_with("k:1: no\n  1  one"));
  CHECK(describe("k:7: no", "one\ntwo\n").ends_with("k:7: no"));
  CHECK(describe("k:99999999999999999999: no", "one\n").ends_with("no"));
  CHECK(describe("no (architecture)", "one\n").ends_with("\": no (architecture)"));
  CHECK(describe("", "one\n") == "a compiler rejects kernel \"softmax\": without a word");
  CHECK(describe(std::string_view("log\n\0\0", 6), "one\n") == "a compiler rejects kernel \"softmax\": log");
}

#include <poot/ir/parse.hpp>
#include <poot/plan/countable.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;

namespace {

bool countable(const std::string& equations) { return plan::is_countable(ir::parse("graph g {\n" + equations + "}\n")); }

}  // namespace

TEST_CASE("counts elements once for each equation, operand and result") {
  // An input, its negation and a result: 2 equations, 1 operand, 1 output, so 4 times the elements.
  const auto chain = [](const std::string& extent) {
    return countable("%x : i8[" + extent + "] = input \"x\"\n%y : i8[" + extent + "] = neg %x\noutput \"y\" = %y\n");
  };
  CHECK(chain(std::to_string(int64{1} << 55)));
  CHECK_FALSE(chain(std::to_string((int64{1} << 55) + 1)));
}

TEST_CASE("counts the multiply-adds of contractions") {
  const auto product = [](const std::string& k) {  // 2^20 · 2^20 · k, read as 3 equations, 2 operands and 1 output
    return countable("%a : f32[1048576," + k + "] = input \"a\"\n%b : f32[" + k + ",1048576] = input \"b\"\n" +
                     "%c : f32[1048576,1048576] = matmul %a, %b\noutput \"c\" = %c\n");
  };
  CHECK(product("16384"));
  CHECK_FALSE(product("32768"));
  const auto windows = [](const std::string& c) {  // 2^16 · 2^15 · 2^15 · c, six times
    return countable("%x : f32[1," + c + ",32768,32768] = input \"x\"\n%w : f32[65536," + c + ",1,1] = input \"w\"\n" +
                     "%y : f32[1,65536,32768,32768] = conv2d %x, %w\noutput \"y\" = %y\n");
  };
  CHECK(windows("128"));
  CHECK_FALSE(windows("512"));
}

TEST_CASE("an extent of zero makes nothing, whatever stands beside it") {
  CHECK(countable("%x : f32[1073741824,1073741824,0] = input \"x\"\n"));
}

TEST_CASE("a model of billions of weights is far from the limit") {
  CHECK(countable("%x : bf16[4096,16384] = input \"x\"\n%w : bf16[262144,16384] = weight \"w\"\n"
                  "%y : bf16[4096,262144] = matmul %x, %w {transpose_b=1}\noutput \"y\" = %y\n"));
}

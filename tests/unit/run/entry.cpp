#include <doctest/doctest.h>

#include <poot/nn/softmax.hpp>
#include <poot/run/host/device.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

using namespace poot;

namespace {

/// y = softmax(x) + 1, x of [rows, N].
program softmax_of_dynamic(int64 rows) {
  graph g("softmax");
  const value x = g.input("x", f32, {rows, g.dynamic("N", 8)});
  const value one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  g.output("y", nn::softmax(x) + one);
  return compile(g, targets::host);
}

}  // namespace

TEST_CASE("follows an extent that changes while the memory stays") {
  auto session = host(1).load(softmax_of_dynamic(1));
  const float x[8]{};
  for (const int64 n : {3, 8, 1, 8, 5}) {
    session.bind("x", read_only(x, f32, 1, n)).run();
    const buffer y = session.result("y");
    CHECK(y.type == type_of(f32, 1, n));
    for (int64 i = 0; i < n; ++i) CHECK(static_cast<const float*>(y.data)[i] == 1.0f / static_cast<float>(n) + 1.0f);
  }
}

TEST_CASE("reads memory that is lent anew and memory whose content changed") {
  auto session = host(1).load(softmax_of_dynamic(1));
  float a[2]{0, 0}, b[2]{0, -INFINITY}, out[2]{};
  session.bind("x", read_only(a, f32, 1, 2)).into("y", writable(out, f32, 1, 2)).run();
  CHECK(out[0] == 1.5f);
  session.bind("x", read_only(b, f32, 1, 2)).run();
  CHECK(out[0] == 2.0f);
  CHECK(out[1] == 1.0f);
  b[1] = 0;
  session.bind("x", read_only(b, f32, 1, 2)).run();
  CHECK(out[1] == 1.5f);
}

TEST_CASE("refuses memory that overlaps at every run, and runs once it does not") {
  auto session = host(1).load(softmax_of_dynamic(1));
  float memory[12]{}, apart[8]{};
  session.bind("x", read_only(memory, f32, 1, 4)).into("y", writable(memory + 2, f32, 1, 4));
  CHECK_THROWS_AS(session.run(), error);
  CHECK_THROWS_AS(session.run(), error);
  session.into("y", writable(apart, f32, 1, 4));
  session.run();
  CHECK(apart[3] == 1.25f);
}

TEST_CASE("refuses an overlap that only a longer extent makes") {
  graph g("pair");
  const value x = g.input("x", f32, {g.dynamic("N", 8)}), z = g.input("z", f32, {2});
  g.output("y", z + z);
  g.output("s", dsl::sum<0>(x));
  auto session = host(1).load(compile(g, targets::host));
  float memory[10]{}, ones[2]{1, 1};
  session.bind("z", read_only(ones, f32, 2)).into("y", writable(memory + 4, f32, 2));
  session.bind("x", read_only(memory, f32, 4)).run();
  CHECK(memory[4] == 2.0f);
  session.bind("x", read_only(memory, f32, 5));
  CHECK_THROWS_AS(session.run(), error);
  session.bind("x", read_only(memory, f32, 4)).run();
}

TEST_CASE("a state that nobody lends has the extents of what is lent") {
  graph g("running_sum");
  const extent n = g.dynamic("N", 8);
  const value x = g.input("x", f32, {n, 4}), kept = g.state("kept", f32, {n, 4});
  g.output("kept", kept + x);
  auto session = host(1).load(compile(g, targets::host));
  const float ones[12]{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (float times : {1.0f, 2.0f}) {
    session.bind("x", read_only(ones, f32, 3, 4)).run();
    const buffer sum = session.result("kept");
    CHECK(sum.type == type_of(f32, 3, 4));
    CHECK(static_cast<const float*>(sum.data)[11] == times);
  }
}

TEST_CASE("refuses a number of threads that no machine has, and environment that names none") {
  CHECK_THROWS_WITH_AS(host(100000).load(softmax_of_dynamic(1)), "host: 100000 threads; they are 1 to 1024, or 0", error);
  CHECK_THROWS_WITH_AS(host(-3).load(softmax_of_dynamic(1)), "host: -3 threads; they are 1 to 1024, or 0", error);
  const char* const before = std::getenv("POOT_THREADS");
  const std::string kept = before ? before : "";
  ::setenv("POOT_THREADS", "many", 1);
  CHECK_THROWS_WITH_AS(host().load(softmax_of_dynamic(1)), "POOT_THREADS=many: must be a number from 1 to 1024", error);
  before ? ::setenv("POOT_THREADS", kept.c_str(), 1) : ::unsetenv("POOT_THREADS");
}

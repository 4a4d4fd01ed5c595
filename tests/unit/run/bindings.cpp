/// What may be lent for a run, and what a run gives back.

#include <doctest/doctest.h>

#include <poot/dsl/pointwise.hpp>
#include <poot/run/host/device.hpp>

#include <support/refusal.hpp>

#include <array>
#include <string>
#include <vector>

using namespace poot;
using poot_tests::refusal;

namespace {

/// y = x + x, x of [N,2].
program doubled() {
  graph g("doubled");
  const value x = g.input("x", f32, {g.dynamic("N", 8), 2});
  g.output("y", x + x);
  return compile(g, targets::host);
}

/// State s of 4 becomes s + s.
program doubled_state() {
  graph g("doubled_state");
  const value s = g.state("s", f32, {4});
  g.output("s", s + s);
  return compile(g, targets::host);
}

}  // namespace

TEST_CASE("a refusal names the call that lent the memory") {
  auto session = host(1).load(doubled());
  float y[16]{};
  const auto into = [&](const buffer& b) { return refusal([&] { session.into("y", b); }); };
  CHECK(into(writable(y, f16, 2, 2)) == "into \"y\": declared is f32[N,2], given is f16[2,2]: the element types must be equal");
  CHECK(into(writable(y, f32, 9, 2)) == "into \"y\": declared is f32[N,2], given is f32[9,2]: the dynamic extent is beyond its bound");
  CHECK(into(writable(nullptr, f32, 2, 2)) == "into \"y\": the pointer is null");
  CHECK(refusal([&] { session.bind("x", read_only(y, f32, 2, 3)); }) ==
        "bind \"x\": declared is f32[N,2], given is f32[2,3]: the extents must be equal");
}

TEST_CASE("extents of memory are counts") {
  auto session = host(1).load(doubled());
  const float x[16]{};
  for (const int64 n : {int64{-1}, int64{-1000000}, -(int64{1} << 32), extent::dynamic("N", 8).code})
    CHECK(refusal([&] { session.bind("x", read_only(x, f32, n, 2)); }) == "bind \"x\": extent 0 is no count, which is 0 or more");
  session.bind("x", read_only(x, f32, 0, 2)).run();
  CHECK(session.result("y").type == type_of(f32, 0, 2));
}

TEST_CASE("what has more dynamic extents than a run binds is refused when it is loaded") {
  const auto sums = [](int count) {
    graph g("sums");
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const value x = g.input("x" + number, f32, {g.dynamic("N" + number, 4)});
      g.output("y" + number, x + x);
    }
    return compile(g, targets::host);
  };
  CHECK(refusal([&] { host(1).load(sums(17)); }) == "load: inputs, weights and states have 17 dynamic extents, and a run binds at most 16");
  auto session = host(1).load(sums(16));
  const float x[4]{1, 1, 1, 1};
  for (int i = 0; i < 16; ++i) session.bind("x" + std::to_string(i), read_only(x, f32, i % 5));
  session.run();
  CHECK(session.result("y14").type == type_of(f32, 4));
}

TEST_CASE("there is no result before a run, nor after one that failed") {
  auto session = host(1).load(doubled());
  const float x[4]{1, 2, 3, 4};
  float y[2]{};
  CHECK(refusal([&] { (void)session.result("y"); }) == "result \"y\": no run has given it");
  session.bind("x", read_only(x, f32, 2, 2)).run();
  const void* const own = session.result("y").data;
  session.into("y", writable(y, f32, 1, 2));
  CHECK(session.result("y").data == own);
  CHECK_THROWS_AS(session.run(), error);
  CHECK(refusal([&] { (void)session.result("y"); }) == "result \"y\": no run has given it");
  session.bind("x", read_only(x, f32, 1, 2)).run();
  CHECK(session.result("y").data == y);
}

TEST_CASE("the new value of a state lies where that is bound") {
  auto session = host(1).load(doubled_state());
  float s[4]{1, 2, 3, 4};
  CHECK(refusal([&] { session.into("s", writable(s, f32, 4)); }) ==
        "into \"s\": this result is the new value of a state, and lies where that is bound");
  session.bind("s", writable(s, f32, 4)).run();
  CHECK(s[3] == 8.0f);
  CHECK(session.result("s").data == s);
}

TEST_CASE("memory that is read only is not written") {
  auto session = host(1).load(doubled_state());
  float s[4]{1, 2, 3, 4};
  const std::string refused = "bind \"s\": the program writes this state, and the memory given is read only";
  CHECK(refusal([&] { session.bind("s", read_only(s, f32, 4)); }) == refused);
  session.bind("s", writable(s, f32, 4)).run();
  CHECK(refusal([&] { session.bind("s", read_only(s, f32, 4)); }) == refused);
  session.run();
  CHECK(s[0] == 4.0f);
  auto rows = host(1).load(doubled());
  CHECK(refusal([&] { rows.into("y", read_only(s, f32, 2, 2)); }) == "into \"y\": the memory given is read only");

  graph g("kept");
  const value kept = g.state("s", f32, {4});
  g.output("y", kept + kept);
  auto reader = host(1).load(compile(g, targets::host));
  reader.bind("s", read_only(s, f32, 4)).run();
  CHECK(static_cast<const float*>(reader.result("y").data)[0] == 8.0f);
}

namespace {

constexpr auto doubled_rows = [] {
  constexpr auto x = poot::input<"x", f32, 4, 2>;
  return poot::output<"y">(x + x);
}();

/// A session that runs nothing.
struct idle_session {
  plan::program_view program() const {
    plan::program_view p;
    p.graph = frozen<doubled_rows>.view();
    return p;
  }
  void bind(std::string_view, const buffer&) {}
  void into(std::string_view, const buffer&) {}
  void run() {}
  buffer result(std::string_view) const { return {}; }
};

}  // namespace

TEST_CASE("a typed call names the memory whose elements are miscounted") {
  run::typed_session<doubled_rows, idle_session> run{idle_session{}};
  const std::vector<float> xs(8);
  std::vector<float> ys(8), few(6);
  run(poot::bind<"x">(xs), poot::into<"y">(ys));
  CHECK(refusal([&] { run(poot::bind<"x">(few), poot::into<"y">(ys)); }) == "bind \"x\": the model has 8 elements, 6 are given");
  CHECK(refusal([&] { run(poot::bind<"x">(xs), poot::into<"y">(few)); }) == "into \"y\": the model has 8 elements, 6 are given");
}

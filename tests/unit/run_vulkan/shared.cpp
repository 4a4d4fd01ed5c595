/// What entries of an executor share on a device, and the memory that is given for it.

#include "each_device.hpp"

#include <poot/dsl/pointwise.hpp>

#include <support/refusal.hpp>

#include <string>

using namespace poot;
using poot_tests::refusal;
using poot_tests::on_each_device;

namespace {

/// State s of `t` becomes s + s.
graph doubled(dtype t, std::initializer_list<extent> extents) {
  graph g("doubled");
  const value s = g.state("s", t, extents);
  g.output("s", s + s);
  return g;
}

/// y = x * w, of 4.
graph scaled() {
  graph g("scaled");
  g.output("y", g.input("x", f32, {4}) * g.weight("w", f32, {4}));
  return g;
}

}  // namespace

TEST_CASE("entries that share a name agree on what it is") {
  on_each_device([](const run::vulkan::device& d) {
    auto executor = d.make_executor();
    executor.add_entry("first", compile(doubled(f32, {4}), d.target()));
    CHECK(refusal([&] { executor.add_entry("other", compile(doubled(i32, {2, 2}), d.target())); }) ==
          "add_entry: \"s\" is state f32[4] in an earlier entry and state i32[2,2] in this one; both must be the same");
  });
}

TEST_CASE("a weight that does not fit is refused before it is read") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(scaled(), d.target()));
    const float w[4]{};
    CHECK(refusal([&] { session.load_weight("w", read_only(w, f32, 2)); }) ==
          "load_weight \"w\": declared is f32[4], given is f32[2]: the extents must be equal");
    CHECK(refusal([&] { session.load_weight("w", read_only(nullptr, f32, 4)); }) == "load_weight \"w\": the pointer is null");
    session.bind("x", read_only(w, f32, 4));
    CHECK(refusal([&] { session.run(); }) == "run: weight \"w\" is not bound");
  });
}

TEST_CASE("the latest of loading and lending a weight holds") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(scaled(), d.target()));
    const float one[4]{1, 1, 1, 1}, two[4]{2, 2, 2, 2}, three[4]{3, 3, 3, 3};
    session.bind("x", read_only(one, f32, 4));
    const auto product = [&] {
      session.run();
      return *static_cast<const float*>(session.result("y").data);
    };
    session.bind("w", read_only(one, f32, 4));
    CHECK(product() == 1);
    for (const auto* w : {two, three}) {
      session.load_weight("w", read_only(w, f32, 4));
      CHECK(product() == w[0]);
      session.bind("w", read_only(one, f32, 4));
      CHECK(product() == 1);
    }
    session.bind("w", read_only(two, f32, 4));
    session.load_weight("w", read_only(three, f32, 4));
    CHECK(product() == 3);
    session.load_weight("w", read_only(two, f32, 4));
    session.bind("w", read_only(one, f32, 4));
    CHECK(product() == 1);
  });
}

TEST_CASE("there is no result before a run, and the new value of a state lies where that is bound") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(doubled(f32, {4}), d.target()));
    float s[4]{1, 2, 3, 4};
    const auto result = [&] { return session.result("s").data; };
    CHECK(refusal([&] { result(); }) == "result \"s\": no run has given it");
    session.run();
    CHECK(*static_cast<const float*>(result()) == 0);
    CHECK(refusal([&] { session.into("s", writable(s, f32, 4)); }) ==
          "into \"s\": this result is the new value of a state, and lies where that is bound");
    CHECK(refusal([&] { session.bind("s", read_only(s, f32, 4)); }) ==
          "bind \"s\": the program writes this state, and the memory given is read only");
    session.bind("s", writable(s, f32, 4));
    CHECK(*static_cast<const float*>(result()) == 0);
    session.run();
    CHECK(result() == s);
    CHECK(s[3] == 8);
  });
}

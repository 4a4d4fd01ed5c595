/// What entries of an executor share, and the memory that is given for it.

#include <doctest/doctest.h>

#include <poot/dsl/contraction.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/nn/softmax.hpp>
#include <poot/run/host/device.hpp>

#include <support/refusal.hpp>

#include <string>
#include <vector>

using namespace poot;
using poot_tests::refusal;

namespace {

/// State s of `t` becomes s + s.
program doubled(dtype t, std::initializer_list<extent> extents) {
  graph g("doubled");
  const value s = g.state("s", t, extents);
  g.output("s", s + s);
  return compile(g, targets::host);
}

/// y = x · w^T, w of [3,8].
program product() {
  graph g("product");
  g.output("y", dsl::matmul_t(g.input("x", f32, {1, 8}), g.weight("w", f32, {3, 8})));
  return compile(g, targets::host);
}

float* floats(const buffer& b) { return static_cast<float*>(b.data); }

}  // namespace

TEST_CASE("entries that share a name agree on what it is, and a state never moves") {
  auto executor = host(1).make_executor();
  run::host::entry& first = executor.add_entry("first", doubled(f32, {4}));
  CHECK(refusal([&] { executor.add_entry("other", doubled(i32, {2, 2})); }) ==
        "add_entry: \"s\" is state f32[4] in an earlier entry and state i32[2,2] in this one; both must be the same");
  CHECK(refusal([&] { executor.add_entry("larger", doubled(f32, {4096})); }) != "");
  graph g("weight");
  g.output("y", nn::softmax(g.weight("s", f32, {4})));
  CHECK(refusal([&] { executor.add_entry("weight", compile(g, targets::host)); }) ==
        "add_entry: \"s\" is state f32[4] in an earlier entry and weight f32[4] in this one; both must be the same");
  run::host::entry& again = executor.add_entry("again", doubled(f32, {4}));
  first.run();
  floats(first.result("s"))[3] = 1;
  again.run();
  first.run();
  CHECK(floats(first.result("s"))[3] == 4.0f);
}

TEST_CASE("a weight that does not fit is refused before it is read") {
  auto session = host(1).load(product());
  const std::vector<float> w(24, 1.0f);
  const auto refused = [&](const buffer& b) { return refusal([&] { session.load_weight("w", b); }); };
  CHECK(refused(read_only(w.data(), f32, 2, 2)) == "load_weight \"w\": declared is f32[3,8], given is f32[2,2]: the extents must be equal");
  CHECK(refused(read_only(w.data(), f16, 3, 8)) == "load_weight \"w\": declared is f32[3,8], given is f16[3,8]: the element types must be equal");
  CHECK(refused(read_only(w.data(), f32, 24)) == "load_weight \"w\": declared is f32[3,8], given is f32[24]: the ranks must be equal");
  CHECK(refused(read_only(w.data(), f32, -3, 8)) == "load_weight \"w\": extent 0 is no count, which is 0 or more");
  CHECK(refused(read_only(nullptr, f32, 3, 8)) == "load_weight \"w\": the pointer is null");
  session.bind("x", read_only(w.data(), f32, 1, 8));
  CHECK(refusal([&] { session.run(); }) == "run: weight \"w\" is not bound");
}

TEST_CASE("the latest of loading and lending a weight holds") {
  auto session = host(1).load(product());
  const std::vector<float> x(8, 1.0f);
  session.bind("x", read_only(x.data(), f32, 1, 8));
  const auto sum = [&] {
    session.run();
    return floats(session.result("y"))[2];
  };
  const std::vector<float> lent(24, 3.0f), other(24, 4.0f);
  for (const float w : {1.0f, 2.0f}) {
    {
      const std::vector<float> gone(24, w);
      CHECK(!session.load_weight("w", read_only(gone.data(), f32, 3, 8)));
    }
    CHECK(sum() == 8 * w);
    CHECK(sum() == 8 * w);
    session.bind("w", read_only(lent.data(), f32, 3, 8));
    CHECK(sum() == 24.0f);
  }
  session.load_weight("w", read_only(lent.data(), f32, 3, 8));
  session.bind("w", read_only(other.data(), f32, 3, 8));
  CHECK(sum() == 32.0f);
}

TEST_CASE("a weight that is loaded leaves its memory to results") {
  auto session = host(1).load(product());
  std::vector<float> x(8, 1.0f), memory(24, 2.0f);
  session.load_weight("w", read_only(memory.data(), f32, 3, 8));
  session.bind("x", read_only(x.data(), f32, 1, 8)).into("y", writable(memory.data(), f32, 1, 3)).run();
  CHECK(memory[0] == 16.0f);
  session.run();
  CHECK(memory[2] == 16.0f);
}

TEST_CASE("a loaded weight is read in the form it was loaded in, by windows and batches too") {
  graph g("window");
  const value x = g.input("x", f32, {2, 5, 8});
  g.output("y", dsl::matmul_t(dsl::slice(x, 1, 1, 3), g.weight("w", f32, {3, 8})));
  auto session = host(1).load(compile(g, targets::host));
  const std::vector<float> xs(80, 1.0f);
  {
    const std::vector<float> gone(24, 2.0f);
    CHECK(!session.load_weight("w", read_only(gone.data(), f32, 3, 8)));
  }
  session.bind("x", read_only(xs.data(), f32, 2, 5, 8)).run();
  for (int i = 0; i < 18; ++i) CHECK(floats(session.result("y"))[i] == 16.0f);
}

TEST_CASE("an input with the name of another entry's weight is what is bound") {
  auto executor = host(1).make_executor();
  executor.add_entry("weight", product());
  graph g("input");
  g.output("y", dsl::matmul_t(g.input("x", f32, {1, 8}), g.input("w", f32, {3, 8})));
  run::host::entry& e = executor.add_entry("input", compile(g, targets::host));
  const std::vector<float> x(8, 1.0f), loaded(24, 2.0f), bound(24, 3.0f);
  executor.load_weight("w", read_only(loaded.data(), f32, 3, 8));
  e.bind("x", read_only(x.data(), f32, 1, 8)).bind("w", read_only(bound.data(), f32, 3, 8)).run();
  CHECK(floats(e.result("y"))[0] == 24.0f);
}

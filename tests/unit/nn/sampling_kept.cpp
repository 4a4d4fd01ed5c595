// What top_k, top_p and min_p keep, and how often what they keep is drawn.
#include <poot/nn/sampling.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/core/elementary.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/pass/prepare_reductions.hpp>
#include <poot/plan/compile.hpp>
#include <poot/run/host/executor.hpp>

#include "../../support/draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using poot::f32, poot::u32, poot::int64, poot::uint32;
using namespace poot::literals;
using poot_tests::draws;
using floats = std::vector<float>;

namespace {

// The definitions, one row at a time.

float row_sum(const floats& x) {
  float total = 0;
  for (size_t first = 0; first < x.size(); first += 4096) {
    float lane[256]{};
    for (size_t i = first; i < std::min(first + 4096, x.size()); ++i) lane[(i - first) % 256] += x[i];
    for (size_t half = 128; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) lane[i] += lane[i + half];
    total += lane[0];
  }
  return total;
}
floats excess(const floats& scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  floats e;
  for (float s : scores) e.push_back(most - s);
  return e;
}
floats keep_up_to(floats scores, float threshold) {
  const floats e = excess(scores);
  for (size_t i = 0; i < e.size(); ++i)
    if (e[i] > std::max(threshold, 0x1p-64f)) scores[i] = -HUGE_VALF;
  return scores;
}
floats top_k(const floats& scores, size_t k) {
  floats e = excess(scores);
  std::sort(e.begin(), e.end());
  return keep_up_to(scores, e[std::min(k, e.size()) - 1]);
}
floats weights(const floats& scores) {
  floats w;
  for (float e : excess(scores)) w.push_back(poot::elementary::exp(-e));
  return w;
}
floats top_p(const floats& scores, float p) {
  const floats e = excess(scores), w = weights(scores);
  const float wanted = row_sum(w) * p;
  floats candidates = e;
  std::sort(candidates.begin(), candidates.end());
  size_t low = 0, high = candidates.size() - 1;  // sums grow with what they hold
  while (low < high) {
    const size_t middle = (low + high) / 2;
    floats held = w;
    for (size_t i = 0; i < e.size(); ++i)
      if (e[i] > candidates[middle]) held[i] = 0;
    if (row_sum(held) >= wanted) high = middle;
    else low = middle + 1;
  }
  return keep_up_to(scores, candidates[low]);
}
floats min_p(floats scores, float p) {
  const floats w = weights(scores);
  for (size_t i = 0; i < w.size(); ++i)
    if (w[i] < p) scores[i] = -HUGE_VALF;
  return scores;
}

struct settings {
  float k, p, least;
};

enum class filling { spread, below_zero, near, ties, tiny, with_infinities, equal };

floats scores_of(filling how, int64 count, draws& random) {
  floats x;
  for (int64 i = 0; i < count; ++i) {
    const double u = random.between(-6, 6);
    switch (how) {
      case filling::spread: x.push_back(static_cast<float>(u)); break;
      case filling::below_zero: x.push_back(i ? -static_cast<float>(std::exp(u)) : 0); break;  // the excess has every bit of a float
      case filling::near: x.push_back(static_cast<float>(10 + u * 1e-6)); break;
      case filling::ties: x.push_back(static_cast<float>(std::floor(u))); break;
      case filling::tiny: x.push_back(static_cast<float>(u * 1e-24)); break;
      case filling::with_infinities: x.push_back(i > 0 && u < 0 ? -HUGE_VALF : static_cast<float>(u * 40)); break;
      case filling::equal: x.push_back(1.5f); break;
    }
  }
  return x;
}

/// The three values of scores[rows, V], each of what the last kept.
poot::graph kept_graph(int64 rows, int64 count) {
  poot::graph g;
  const auto x = g.input("x", f32, {rows, count}), k = g.input("k", f32, {}), p = g.input("p", f32, {}), least = g.input("least", f32, {});
  const auto greatest = poot::nn::top_k(x, k), nucleus = poot::nn::top_p(greatest, p);
  g.output("greatest", greatest);
  g.output("nucleus", nucleus);
  g.output("likely", poot::nn::min_p(nucleus, least));
  return g;
}

std::vector<floats> interpreted(const poot::graph& g, const floats& x, settings s) {
  poot::pass::record notes;
  const auto ordered = poot::pass::prepare_reductions(g, poot::targets::host, false, notes);
  poot::vec<poot::ir::named_tensor> given;
  const auto give = [&](const char* name, const floats& values) {
    poot::ir::tensor t(ordered.eqns[ordered.view_of().find_leaf(name)].type);
    for (size_t i = 0; i < values.size(); ++i) t.bits[i] = poot::ieee::to_bits(values[i]);
    given.push_back({name, t});
  };
  give("x", x);
  give("k", {s.k});
  give("p", {s.p});
  give("least", {s.least});
  std::vector<floats> results;
  const auto out = poot::ir::interpret(ordered, given);
  for (const auto& o : out.outputs) {
    results.emplace_back();
    for (poot::uint64 bits : o.value.bits) results.back().push_back(std::bit_cast<float>(static_cast<uint32>(bits)));
  }
  return results;
}

std::vector<floats> on_host(const poot::graph& g, const floats& x, settings s, bool fuse) {
  poot::plan::options wanted;
  wanted.fuse = fuse;
  poot::run::host::executor host(1);
  host.add_entry("kept", poot::plan::compile(g, poot::targets::host, wanted));
  auto& e = host["kept"];
  const poot::tensor_type t = g.eqns[g.view_of().find_leaf("x")].type;
  e.bind("x", poot::run::read_only(x.data(), f32, t.extents[0].code, t.extents[1].code));
  e.bind("k", poot::run::read_only(&s.k, f32)).bind("p", poot::run::read_only(&s.p, f32)).bind("least", poot::run::read_only(&s.least, f32));
  e.run();
  std::vector<floats> results;
  for (const char* name : {"greatest", "nucleus", "likely"}) {
    const float* first = static_cast<const float*>(e.result(name).data);
    results.emplace_back(first, first + x.size());
  }
  return results;
}

bool same_bits(const floats& a, const floats& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; }

size_t count_kept(const floats& x) {
  return static_cast<size_t>(std::count_if(x.begin(), x.end(), [](float s) { return s > -HUGE_VALF; }));
}

}  // namespace

TEST_CASE("what is kept is what the definitions say, in the interpreter and on the host, fused and unfused") {
  draws random(11);
  const settings all[] = {{1, 0.5f, 0}, {2, 0.9f, 0.3f}, {40, 0.95f, 0.05f}, {300, 0.1f, 0.001f}, {1e6f, 0.999f, 0}, {1e6f, 1, 1}};
  size_t at = 0;
  for (const int64 rows : {1, 3})
    for (const int64 count : {1, 2, 5, 255, 257, 1000, 4097, 9001})
      for (const filling how : {filling::spread, filling::below_zero, filling::near, filling::ties, filling::tiny, filling::with_infinities, filling::equal}) {
        const settings s = all[at++ % std::size(all)];
        CAPTURE(rows);
        CAPTURE(count);
        CAPTURE(static_cast<int>(how));
        CAPTURE(s.k);
        CAPTURE(s.p);
        const poot::graph g = kept_graph(rows, count);
        floats x;
        std::vector<floats> wanted(3);
        for (int64 r = 0; r < rows; ++r) {
          const floats row = scores_of(how, count, random);
          x.insert(x.end(), row.begin(), row.end());
          const floats greatest = top_k(row, static_cast<size_t>(s.k)), nucleus = top_p(greatest, s.p), likely = min_p(nucleus, s.least);
          REQUIRE(count_kept(likely) > 0);
          for (const auto& [to, from] : {std::pair{&wanted[0], &greatest}, {&wanted[1], &nucleus}, {&wanted[2], &likely}}) to->insert(to->end(), from->begin(), from->end());
        }
        const bool small = rows * count <= 4097;  // the interpreter takes seconds over more
        const std::vector<floats> fused = on_host(g, x, s, true), apart = on_host(g, x, s, false), slow = small ? interpreted(g, x, s) : fused;
        for (size_t i = 0; i < 3; ++i) {
          CAPTURE(i);
          CHECK(same_bits(fused[i], wanted[i]));
          CHECK(same_bits(apart[i], wanted[i]));
          CHECK(same_bits(slow[i], wanted[i]));
        }
      }
}

TEST_CASE("equal scores stay together, the greatest always, and others by their rank") {
  const floats x{3, 1, 3, 2, 2, -HUGE_VALF, 0};
  const auto kept = [&](settings s, size_t which) { return count_kept(on_host(kept_graph(1, 7), x, s, true)[which]); };
  CHECK(kept({1, 1, 0}, 0) == 2);
  CHECK(kept({2, 1, 0}, 0) == 2);
  CHECK(kept({3, 1, 0}, 0) == 4);
  CHECK(kept({5, 1, 0}, 0) == 5);
  CHECK(kept({100, 1, 0}, 0) == 6);
  CHECK(kept({100, 0, 0}, 1) == 2);   // as all of its excess
  CHECK(kept({100, 0.6f, 0}, 1) == 2);   // 2 of 2 + 2/e + 1/e² + 1/e³ = 2.92
  CHECK(kept({100, 0.7f, 0}, 1) == 4);   // 2.74 of 2.92
  CHECK(kept({100, 0.95f, 0}, 1) == 5);
  CHECK(kept({100, 1, 1}, 2) == 2);
  CHECK(kept({100, 1, 0.3f}, 2) == 4);  // 1/e = 0.37
}

TEST_CASE("sampling is one row region and its noise, whatever is kept") {
  poot::graph g;
  const auto x = g.input("x", f32, {1, 32000});
  const auto kept = poot::nn::min_p(poot::nn::top_p(poot::nn::top_k(x / g.input("t", f32, {}), g.input("k", f32, {})), g.input("p", f32, {})), 0.05f);
  g.output("y", poot::nn::draw(kept, g.input("seed", u32, {}), g.input("offset", u32, {})));
  CHECK(poot::plan::compile(g, poot::targets::host).dispatch_count() == 2);
}

TEST_CASE("the three callers give one graph") {
  three_callers::check([](auto x, auto k) { return poot::nn::top_p(poot::nn::top_k(x, k), 0.9_f); }, "", poot::input<"x", f32, 2, 50>, poot::scalar<"k">);
  three_callers::check([](auto x, auto p) { return poot::nn::min_p(x, p); }, "", poot::input<"x", f32, 2, 50>, poot::scalar<"p">);
}

TEST_CASE("what is kept is drawn as often as its softmax says, and nothing else") {
  constexpr int tokens = 12, times = 20000;
  const floats row{0.0f, 1.0f, -1.0f, 0.25f, 0.5f, 2.0f, -2.0f, 1.5f, -0.5f, 0.75f, -6.0f, 0.1f};
  const settings s{9, 0.95f, 0.12f};
  poot::graph g;
  const auto x = g.input("x", f32, {times, tokens});
  g.output("y", poot::nn::draw(poot::nn::min_p(poot::nn::top_p(poot::nn::top_k(x, g.input("k", f32, {})), s.p), s.least), g.input("seed", u32, {}), g.input("offset", u32, {})));
  const floats kept = min_p(top_p(top_k(row, static_cast<size_t>(s.k)), s.p), s.least);
  REQUIRE(count_kept(kept) > 4);
  REQUIRE(count_kept(kept) < 9);
  poot::run::host::executor host(1);
  host.add_entry("draw", poot::plan::compile(g, poot::targets::host));
  floats all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), row.begin(), row.end());
  double sum = 0;
  for (float score : kept) sum += std::exp(static_cast<double>(score));
  for (const uint32 offset : {1u, 2u, 99u}) {
    const uint32 seed = 42;
    auto& e = host["draw"];
    e.bind("x", poot::run::read_only(all.data(), f32, times, tokens)).bind("k", poot::run::read_only(&s.k, f32));
    e.bind("seed", poot::run::read_only(&seed, u32)).bind("offset", poot::run::read_only(&offset, u32));
    e.run();
    const poot::int32* drawn = static_cast<const poot::int32*>(e.result("y").data);
    int count[tokens]{};
    for (int i = 0; i < times; ++i) ++count[drawn[i]];
    double distance = 0;
    for (size_t t = 0; t < tokens; ++t) {
      const double expected = times * std::exp(static_cast<double>(kept[t])) / sum;
      if (expected == 0) CHECK(count[t] == 0);
      else distance += (count[t] - expected) * (count[t] - expected) / expected;
    }
    CHECK(distance < 26.1);  // 8 degrees of freedom at most: above this once in a thousand
  }
}

/// Plans that no chooser makes: regions of random graphs, merged and parted at random as long as the checker finds them legal, in
/// any order that can run. Their text is read back, and on the host and the kernel interpreters the bits are those of the
/// interpreter.
///
///     random_partitions [COUNT [FIRST_SEED]]

#include "random_programs.hpp"

#include <poot/plan/equal.hpp>
#include <poot/plan/parse.hpp>

#include <algorithm>

using namespace poot_tests;

namespace {

constexpr uint32 none = fuse::grouping::none;

class partition_maker {
 public:
  partition_maker(const ir::graph_view& g, const fuse::rules& allowed, uint64 seed) : g_(g), singles_(g), allowed_(allowed), draw_(seed) {
    const fuse::partition chosen = fuse::choose_regions(g, allowed, draw_.less_than(3) != 0);
    of_.assign(chosen.region_of.begin(), chosen.region_of.end());
    count_ = static_cast<uint32>(chosen.regions.size());
  }

  /// So many tries to change something; how many were legal.
  int mutate(int tries) {
    int legal = 0;
    for (; tries > 0 && count_ > 0; --tries) {
      std::vector<uint32> now = of_;
      change(now);
      if (now == of_) continue;
      const uint32 count = renumber(now);
      if (!fuse::check_partition(g_, {now.data(), now.size()}, allowed_).legal()) continue;
      of_ = now;
      count_ = count;
      ++legal;
    }
    return legal;
  }

  /// The regions in an order drawn among those in which they can run, what runs at load first.
  fuse::partition make() {
    const std::vector<uint32> order = draw_order();
    fuse::partition p;
    p.region_of.resize(g_.size(), none);
    for (const bool prologue : {true, false})
      for (uint32 r : order) add(p, r, prologue);
    return p;
  }

 private:
  uint32 any(size_t count) { return static_cast<uint32>(draw_.less_than(count)); }

  void change(std::vector<uint32>& of) {
    const uint32 id = any(g_.size()), other = any(g_.size());
    if (of[id] == none) return;
    switch (draw_.less_than(4)) {
      case 0:  // one equation goes elsewhere, or stands alone
        of[id] = draw_.less_than(3) ? any(count_) : count_;
        return;
      case 1: return merge(of, any(count_), of[id]);
      case 2:  // two of a kind
        if (of[other] != none && fuse::kind_of(g_, id) == fuse::kind_of(g_, other)) merge(of, of[other], of[id]);
        return;
      default: break;
    }
    if (g_.operand_count(id) == 0) return;  // with what it reads, and the views between
    uint32 in = g_.operands(id)[draw_.less_than(g_.operand_count(id))];
    for (; of[in] == none && g_[in].kind == ir::op::reshape; in = g_.operands(in)[0]) of[in] = of[id];
    if (of[in] != none) merge(of, of[in], of[id]);
  }
  static void merge(std::vector<uint32>& of, uint32 gone, uint32 kept) { std::replace(of.begin(), of.end(), gone, kept); }

  /// Numbers without gaps; how many.
  static uint32 renumber(std::vector<uint32>& of) {
    std::vector<uint32> known;
    for (uint32& r : of) {
      if (r == none) continue;
      const auto at = std::find(known.begin(), known.end(), r);
      if (at == known.end()) known.push_back(r);
      r = static_cast<uint32>(std::find(known.begin(), known.end(), r) - known.begin());
    }
    return static_cast<uint32>(known.size());
  }

  std::vector<uint32> draw_order() {
    std::vector<std::vector<uint32>> feeds(count_);
    std::vector<uint32> waits(count_, 0), ready, order;
    for (uint32 id = 0; id < g_.size(); ++id) {
      if (of_[id] == none) continue;
      for (uint32 in : g_.operands(id)) {
        while (of_[in] == none && g_.operand_count(in) > 0) in = g_.operands(in)[0];
        if (of_[in] == none || of_[in] == of_[id]) continue;
        feeds[of_[in]].push_back(of_[id]);
        ++waits[of_[id]];
      }
    }
    for (uint32 r = 0; r < count_; ++r)
      if (waits[r] == 0) ready.push_back(r);
    while (!ready.empty()) {
      const uint32 at = any(ready.size()), r = ready[at];
      ready.erase(ready.begin() + at);
      order.push_back(r);
      for (uint32 next : feeds[r])
        if (--waits[next] == 0) ready.push_back(next);
    }
    if (order.size() != count_) fail("regions that were found legal wait for each other");
    return order;
  }

  void add(fuse::partition& p, uint32 region, bool prologue) const {
    fuse::partition::region r;
    r.prologue = prologue;
    r.members.first = static_cast<uint32>(p.members.size());
    for (uint32 id = 0; id < g_.size(); ++id) {
      if (of_[id] != region) continue;
      const bool is_view = !singles_.grouped(id);
      if (!is_view && singles_.of(id).prologue != prologue) return;
      const bool is_first = p.members.size() == r.members.first;
      if (!is_view) plan::detail::program_reader::shape_of(r, singles_.of(id).kind, singles_.space(id), is_first);
      p.members.push_back(id);
      p.region_of[id] = static_cast<uint32>(p.regions.size());
    }
    r.members.count = static_cast<uint32>(p.members.size()) - r.members.first;
    p.regions.push_back(r);
  }

  const ir::graph_view g_;
  const fuse::grouping singles_;
  const fuse::rules allowed_;
  draws draw_;
  std::vector<uint32> of_;
  uint32 count_ = 0;
};

/// What is wrong with the program on the executor, in words.
std::string disagreement(executor& e, const plan::program& p, const text& written, const runs& given) {
  if (const std::string_view part = plan::first_difference(plan::parse(written.str()), p); !part.empty()) return "read back, its " + std::string(part) + " differ";
  const auto want = interpret_runs(p.graph, given, ir::outside::clamp, e.where().caps.flushes ? subnormals::flushed : subnormals::kept);
  const std::unique_ptr<machine> m = e.load(p);
  return first_difference(*m, given, want);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64 count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500, first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  executors on = hosts();
  for (auto& e : kernel_interpreters()) on.push_back(std::move(e));
  uint64 passed = 0, failed = 0, changed = 0;
  for (uint64 seed = first; seed < first + count && failed < 20; ++seed) {
    const ir::graph drawn = graph_generator(seed).make();
    const runs given = draw_runs(seed, drawn, 2);
    executor& e = *on[seed % on.size()];
    const ir::graph ready = pass::run_passes(drawn, e.where(), {.strict = seed % 2 == 0}).optimized;
    plan::options wide;
    wide.fuse_narrow_casts = true;
    std::string why;
    for (uint64 variant = 0; variant < 4 && why.empty(); ++variant) {
      text written;
      try {
        partition_maker made(ready, plan::region_rules(e.where(), wide), seed * 4 + variant);
        changed += static_cast<uint64>(made.mutate(60));
        const plan::program p = plan::plan_regions(ready, e.where(), made.make());
        if (!p.refused.empty()) break;
        written = plan::print(p);
        why = disagreement(e, p, written, given);
      } catch (const std::exception& thrown) {
        why = std::string("refused: ") + thrown.what();
      }
      if (!why.empty())
        std::printf("FAIL seed %llu on %s: %s\n%.*s", static_cast<unsigned long long>(seed), e.name().c_str(), why.c_str(),
                    static_cast<int>(written.size()), written.str().data());
    }
    ++(why.empty() ? passed : failed);
  }
  std::printf("legal changes of plans: %llu\n", static_cast<unsigned long long>(changed));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed), static_cast<unsigned long long>(failed));
  return failed ? 1 : 0;
}

#pragma once
/// Memory that is written and read under two names.

#include <poot/run/bindings.hpp>

#include <algorithm>
#include <vector>

namespace poot::run {

namespace detail {

/// Bytes that a name stands for in a run.
struct occupied {
  const char* first = nullptr;
  const char* last = nullptr;
  std::string_view name;
  bool written = false;
};

[[noreturn]] inline void refuse_overlap(const occupied& a, const occupied& b) {
  const occupied &to = a.written ? a : b, &other = a.written ? b : a;
  fail(text{} << "run: \"" << to.name << "\" is written, and its memory overlaps that of \"" << other.name << '"');
}

}  // namespace detail

/// Looks at what a run lends, step after step.
class overlap_check {
 public:
  /// What a run writes must not lie in memory that another name lends. `results`: where each output is written, null where
  /// nobody else sees it. Unless `all`, only leaves whose shapes have changed can overlap anew.
  void refuse(const plan::program_view& p, const bindings& bound, view<char*> results, bool all) {
    const auto of_output = [&](uint32 k) {
      const ir::graph_output& o = p.graph.outputs[k];
      return detail::occupied{results[k], results[k] + bound.counts()(p.graph.type(o.value)).bytes(), p.graph.chars(o.name), true};
    };
    const auto of_leaf = [&](uint32 id) {
      const auto* data = static_cast<const char*>(bound.leaf(id).data);
      return detail::occupied{data, data + (data ? bound.leaf(id).type.bytes() : 0), p.graph.name_of(id), false};
    };
    if (!all) {
      bool moves = false;
      for (uint32 k = 0; k < results.size(); ++k) {
        if (!results[k]) continue;
        moves = moves || p.graph.type(p.graph.outputs[k].value).is_dynamic();
        const detail::occupied to = of_output(k);
        const uint32 own = p.graph.state_of(p.graph.outputs[k]);
        for (uint32 id : bound.changed_leaves())
          if (const detail::occupied from = of_leaf(id); id != own && from.first && from.first < to.last && to.first < from.last) refuse_overlap(to, from);
      }
      if (!moves) return;
    }
    spans_.clear();
    is_written_.assign(p.graph.size(), 0);
    for (uint32 k = 0; k < results.size(); ++k) {
      if (!results[k]) continue;
      spans_.push_back(of_output(k));
      if (const uint32 own = p.graph.state_of(p.graph.outputs[k]); own < p.graph.size()) is_written_[own] = 1;
    }
    for (uint32 id = 0; id < p.graph.size(); ++id)
      if (ir::is_named_leaf(p.graph[id].kind) && !is_written_[id]) spans_.push_back(of_leaf(id));
    std::erase_if(spans_, [](const detail::occupied& s) { return s.first == s.last; });
    std::sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const detail::occupied *furthest = nullptr, *furthest_written = nullptr;  // of the spans so far, by their ends
    for (const detail::occupied& s : spans_) {
      const detail::occupied* const before = s.written ? furthest : furthest_written;
      if (before && s.first < before->last) refuse_overlap(s, *before);
      if (!furthest || furthest->last < s.last) furthest = &s;
      if (s.written && (!furthest_written || furthest_written->last < s.last)) furthest_written = &s;
    }
  }

 private:
  // kept, so that a step allocates nothing
  std::vector<detail::occupied> spans_;
  std::vector<uint8> is_written_;  ///< a state's own memory counts once, as written
};

}  // namespace poot::run

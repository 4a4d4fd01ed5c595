#pragma once
/// Memory that is written and read under two names.

#include <poot/run/bindings.hpp>

namespace poot::run {

/// What a run writes must not lie in memory that another name lends. `results`: where each output is written, null where
/// nobody else sees it. Unless `all`, only leaves whose shapes have changed can overlap anew.
inline void refuse_overlaps(const plan::program_view& p, const bindings& bound, view<char*> results, bool all) {
  for (uint32 k = 0; k < results.size(); ++k) {
    if (!results[k]) continue;
    const ir::graph_output& written = p.graph.outputs[k];
    const uint32 own = p.graph.state_of(written);
    const char* first = results[k];
    const char* last = first + bound.counts()(p.graph.type(written.value)).bytes();
    const auto check = [&](std::string_view other, const char* begin, int64 bytes) {
      if (begin && begin < last && first < begin + bytes)
        fail(text{} << "run: \"" << p.graph.chars(written.name) << "\" is written, and its memory overlaps that of \"" << other << '"');
    };
    const auto check_leaf = [&](uint32 id) {
      if (id != own) check(p.graph.name_of(id), static_cast<const char*>(bound.leaf(id).data), bound.leaf(id).type.bytes());
    };
    if (!all && !p.graph.type(written.value).is_dynamic()) {
      for (uint32 id : bound.changed_leaves()) check_leaf(id);
      continue;
    }
    for (uint32 id = 0; id < p.graph.size(); ++id)
      if (ir::is_named_leaf(p.graph[id].kind)) check_leaf(id);
    for (uint32 j = 0; j < k; ++j)
      check(p.graph.chars(p.graph.outputs[j].name), results[j], bound.counts()(p.graph.type(p.graph.outputs[j].value)).bytes());
  }
}

}  // namespace poot::run

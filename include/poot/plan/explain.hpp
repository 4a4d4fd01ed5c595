#pragma once
/// A program for readers: what each dispatch is and saves, what stayed apart and why, and the totals.

#include <poot/plan/compile.hpp>
#include <poot/plan/print.hpp>

namespace poot::plan {

/// What a dispatch saves against one dispatch per equation.
struct saving {
  int64 dispatches = 0;
  int64 bytes = 0;
};

/// The plan of the same graph with one dispatch per equation.
constexpr program unfused_plan(const program& p) {
  options apart;
  apart.fuse = false;
  return plan_prepared(p.graph, p.planned_for, apart);
}

/// For each launch of `fused`, what it saves against `unfused`, a plan of the same graph.
constexpr vec<saving> savings(const program_view& fused, const program_view& unfused) {
  vec<saving> alone(fused.graph.size(), {1, 0});  // what each equation takes in a launch of its own
  for (const view<launch>& list : {unfused.launches, unfused.prologue})
    for (const launch& l : list)
      for (uint32 id : unfused(l.members)) alone[id] = {l.chunks, l.bytes / l.members.count};
  vec<saving> all;
  for (const launch& l : fused.launches) {
    saving s{-int64{l.chunks}, -l.bytes};
    for (uint32 id : fused(l.members)) {
      s.dispatches += alone[id].dispatches;
      s.bytes += alone[id].bytes;
    }
    all.push_back(s);
  }
  return all;
}

/// Appends `%x` for a leaf, `"y"` for a result, else `%12`, the number of the equation.
constexpr void write_value_name(text& out, const graph_view& g, uint32 id) {
  if (ir::is_named_leaf(g[id].kind)) {
    out << '%' << g.name_of(id);
    return;
  }
  for (const ir::graph_output& o : g.outputs)
    if (o.value == id) {
      out << '"' << g.chars(o.name) << '"';
      return;
    }
  out << '%' << id;
}

/// The op of an equation; a user's op has a name of its own.
constexpr std::string_view op_name(const ir::eqn& e) { return e.custom ? e.custom->name : ir::name(e.kind); }

/// Appends a count of bytes with three or four digits: `840 B`, `270.3 kB`, `1.25 MB`.
constexpr void write_bytes(text& out, int64 bytes) {
  if (bytes < 0) {
    out << '-';
    bytes = -bytes;
  }
  if (bytes < 1000) {
    out << bytes << " B";
    return;
  }
  int64 unit = 1000;
  int scale = 0;
  while (scale < 3 && bytes / unit >= 1000) unit *= 1000, ++scale;
  const int64 hundredths = bytes / (unit / 100) % 100;
  out << bytes / unit << '.' << hundredths / 10;
  if (scale > 0) out << hundredths % 10;
  out << ' ' << std::string_view("kMGT").substr(static_cast<size_t>(scale), 1) << 'B';
}

namespace detail {

struct program_explainer {
  const program_view& p;
  const program_view& unfused;
  text out{};

  constexpr void count(int64 n, std::string_view one, std::string_view many) { out << n << ' ' << (n == 1 ? one : many); }
  constexpr void names(slice_of ids) {
    constexpr uint32 most = 8;
    for (uint32 i = 0; i < ids.count && i < most; ++i) write_value_name(out << ' ', p.graph, p(ids)[i]);
    if (ids.count > most) out << " and " << ids.count - most << " more";
  }

  /// Why these equations are one dispatch.
  constexpr void write_reason(const launch& l) {
    const graph_view& g = p.graph;
    const view<uint32> members = p(l.members);
    uint32 head = members[0];
    tensor_type space = g.type(head);
    for (uint32 id : members) {
      if (fuse::kind_of(g, id) == l.kind && l.kind != fuse::region_kind::pointwise) head = id;
      if (g.type(id).element_count() > space.element_count()) space = g.type(id);
    }
    switch (l.kind) {
      case fuse::region_kind::pointwise:
        count(static_cast<int64>(members.size()), "step", "steps");
        ir::write_type(out << " element by element over ", space, g);
        break;
      case fuse::region_kind::row:
        count(static_cast<int64>(members.size()), "step", "steps");
        ir::write_type(out << " row by row over ", g.type(g.operands(head)[0]), g);
        break;
      case fuse::region_kind::contraction: {
        int64 heads = 0;
        bool reduces = false;
        for (uint32 id : members) {
          heads += ir::is_contraction(g[id].kind);
          reduces = reduces || ir::is_reduction(g[id].kind);
        }
        const fuse::contraction_parts all = reduces ? fuse::parts_of(g, members) : fuse::contraction_parts{};
        const bool has_runs = all.runs != fuse::contraction_parts::none;
        const auto rows = static_cast<int64>(all.prologue.size()), behind = static_cast<int64>(all.epilogue.size());
        if (rows > 0) {
          count(rows, "step", "steps");
          ir::write_type(out << " row by row over ", g.type(g.operands(head)[0]), g);
          out << ", then ";
        }
        if (heads > 1) write_value_name(out << heads << " products of ", g, g.operands(head)[0]);
        else ir::write_type(out << op_name(g[head]) << (fuse::is_on_matrix_unit(g, head) ? " by matrix units to " : " to "), g.type(head), g);
        if (const int64 steps = static_cast<int64>(members.size()) - heads - rows - behind - has_runs; steps > 0) {
          out << " with ";
          count(steps, "step", "steps");
          out << " on each tile";
        }
        if (has_runs) {
          out << ", then ";
          count(behind, "step", "steps");
          ir::write_type(out << " run by run over ", g.type(all.runs), g);
        }
        break;
      }
      case fuse::region_kind::collective:
        ir::write_type(out << "among the ranks of \"" << g.name_of(head) << "\", makes ", g.type(head), g);
        break;
      default:
        write_parts(fuse::parts_beside(g, members));
    }
    out << ':';
    constexpr size_t most = 16;
    for (size_t i = 0; i < members.size() && i < most; ++i) out << ' ' << op_name(g[members[i]]);
    if (members.size() > most) out << " and " << members.size() - most << " more";
  }

  constexpr void write_parts(const vec<vec<uint32>>& parts) {
    uint32 tails = 0, steps = 0;
    for (const vec<uint32>& part : parts) {
      if (part.size() == 1 || !fuse::has_head(p.graph, part)) continue;
      ++tails;
      steps += part.size() - 1;
    }
    if (parts.size() > 1) out << parts.size() << " side by side";
    else ir::write_type(out << (tails ? "" : "alone, ") << "makes ", p.graph.type(parts[0].back()), p.graph);
    if (tails == 0) return;
    out << ", ";
    if (parts.size() > 1) out << tails << " with ";
    count(steps, "step", "steps");
    out << " behind";
  }

  constexpr void column(size_t width, const text& chars) {
    for (size_t i = chars.size(); i < width; ++i) out << ' ';
    out << chars;
  }
  static constexpr text bytes_text(int64 bytes) {
    text t;
    write_bytes(t, bytes);
    return t;
  }

  constexpr void write_launch(uint32 index, const saving& saved) {
    const launch& l = p.launches[index];
    column(6, text{} << index);
    out << "  " << fuse::name(l.kind);
    for (size_t i = fuse::name(l.kind).size(); i < 12; ++i) out << ' ';
    column(10, bytes_text(l.bytes));
    out << "  ";
    write_reason(l);
    out << "\n                                reads";
    names(l.inputs);
    out << "; writes";
    names(l.outputs);
    if (const shipped_kernel s = shipped_of(p, l); s.family != shipped::none) out << "; imported, " << name(s);
    if (l.body == origin::none && l.kind != fuse::region_kind::collective) out << "; no kernel";
    if (l.chunks > 1) out << "; in " << l.chunks << " chunks";
    if (saved.dispatches > 0) {
      out << "; saves ";
      count(saved.dispatches, "dispatch", "dispatches");
      out << " and ";
      write_bytes(out, saved.bytes);
    }
    out << '\n';
  }

  constexpr void write_launches() {
    const vec<saving> saved = savings(p, unfused);
    if (!p.launches.empty()) out << "\n     #  kind             moves  what and why\n";
    uint32 next_section = 0;
    for (uint32 i = 0; i < p.launches.size();) {
      if (next_section < p.repeated.size() && p.repeated[next_section].first == i) {
        const section& s = p.repeated[next_section++];
        out << "-- " << s.times << " times dispatches " << s.first << " to " << s.first + s.length - 1 << ":\n";
        for (uint32 k = 0; k < s.length; ++k) write_launch(i + k, saved[i + k]);
        i += s.length * s.times;
        out << "-- up to dispatch " << i - 1 << '\n';
      } else {
        write_launch(i, saved[i]);
        ++i;
      }
    }
    for (const copy& c : p.copies) {
      write_value_name(out << "  copy  ", p.graph, c.value);
      out << " to \"" << p.graph.chars(p.graph.outputs[c.output].name) << "\": its memory is that of another value\n";
    }
  }

  /// An item of a list that is broken into lines.
  constexpr void item(size_t& line, const text& chars) {
    const bool first = line == 0;
    if (first || line + chars.size() > 110) {
      out << (first ? "    " : ",\n    ");
      line = 4;
    } else {
      out << ", ";
      line += 2;
    }
    out << chars;
    line += chars.size();
  }
  constexpr void write_edge(text& to, const fuse::decline& d) const {
    write_value_name(to, p.graph, d.producer);
    to << " (" << op_name(p.graph[d.producer]) << ") and ";
    write_value_name(to, p.graph, d.consumer);
    to << " (" << op_name(p.graph[d.consumer]) << ')';
  }

  constexpr void write_declines() {
    if (!p.declined.empty()) out << "\nstayed apart\n";
    for (int why = 0; why <= static_cast<int>(fuse::reason::cycle); ++why) {
      size_t line = 0;
      fuse::decline before{};
      for (const fuse::decline& d : p.declined) {
        if (static_cast<int>(d.why) != why || d == before) continue;  // a value may be read twice
        before = d;
        if (line == 0) out << "  " << fuse::explain(d.why) << '\n';
        text edge;
        write_edge(edge, d);
        item(line, edge);
      }
      if (line) out << '\n';
    }
    if (!p.declined_numerically.empty()) out << "\nnot rewritten, to keep every bit (equations of the graph as written)\n";
    for (int why = 0; why <= static_cast<int>(pass::inexact::factor_scalar); ++why) {
      size_t line = 0;
      for (const pass::numerical_decline& d : p.declined_numerically) {
        if (static_cast<int>(d.reason) != why) continue;
        if (line == 0) out << "  " << pass::explain(d.reason) << '\n';
        item(line, text{} << '%' << d.origin);
      }
      if (line) out << '\n';
    }
    if (!p.declined_chains.empty()) out << "\nnearly one equation (equations of the graph as written)\n";
    for (int why = 0; why <= static_cast<int>(pass::last_chain_check); ++why) {
      size_t line = 0;
      for (const pass::chain_decline& d : p.declined_chains) {
        if (static_cast<int>(d.failed) != why) continue;
        if (line == 0) out << "  " << pass::explain(d.failed) << '\n';
        item(line, text{} << '%' << d.origin);
      }
      if (line) out << '\n';
    }
    if (!p.refused.empty()) out << "\nrefused\n";
    for (const refusal& r : p.refused) {
      write_value_name(out << "  ", p.graph, r.equation);
      out << " (" << op_name(p.graph[r.equation]) << "): " << explain(r.missing) << '\n';
    }
  }

  constexpr void total(std::string_view what, const text& before, const text& now) {
    out << what;
    for (size_t i = what.size(); i < 28; ++i) out << ' ';
    column(12, before);
    column(12, now);
    out << '\n';
  }

  constexpr void write_all() {
    out << "program " << p.graph.chars(p.graph.name) << " for " << poot::name(p.planned_for.kind);
    if (!p.planned_for.arch.view().empty()) out << ' ' << p.planned_for.arch.view();
    out << ": ";
    count(static_cast<int64>(p.graph.size()), "equation", "equations");
    out << ", ";
    count(static_cast<int64>(p.dispatch_count()), "dispatch", "dispatches");
    out << " of ";
    count(static_cast<int64>(p.kernel_table.size()), "kernel", "distinct kernels");
    if (!p.prologue.empty()) out << ", " << p.prologue.size() << " more once at load";
    out << "; values are " << name(p.comparison_class()) << "\npasses that changed the graph:";
    for (pass::pass_id id : p.changed) out << ' ' << pass::name(id);
    if (p.changed.empty()) out << " none";
    out << '\n';
    write_launches();
    write_declines();
    out << "\n                                 unfused       fused\n";
    total("dispatches", text{} << unfused.dispatch_count(), text{} << p.dispatch_count());
    total("bytes moved", bytes_text(unfused.bytes_moved()), bytes_text(p.bytes_moved()));
    total("transient, nothing shared", bytes_text(unfused.unshared_bytes), bytes_text(p.unshared_bytes));
    total("transient, storage reused", bytes_text(unfused.arena_bytes), bytes_text(p.arena_bytes));
  }
};

}  // namespace detail

/// The table of a program, beside `unfused`, a plan of the same graph with one dispatch per equation.
constexpr text explain(const program_view& p, const program_view& unfused) {
  detail::program_explainer writer{p, unfused};
  writer.write_all();
  return std::move(writer.out);
}
constexpr text explain(const program& p) {
  const program apart = unfused_plan(p);
  return explain(p.view_of(), apart.view_of());
}

}  // namespace poot::plan

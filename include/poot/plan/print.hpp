#pragma once
/// Program to text: `print(program)` writes the form that `parse` reads, the same text for equal programs.

#include <poot/ir/print.hpp>
#include <poot/plan/program.hpp>

namespace poot::plan {

constexpr std::string_view name(place p) {
  switch (p) {
    case place::none: return "none";
    case place::leaf: return "leaf";
    case place::table: return "table";
    case place::arena: return "arena";
    case place::output: return "output";
    case place::view: return "view";
    case place::window: return "window";
    case place::state: return "state";
  }
  return "";
}

namespace detail {

/// The name of a reason: its sentence up to the colon.
constexpr std::string_view reason_name(std::string_view sentence) { return sentence.substr(0, sentence.find(':')); }

/// Writes the graph with every equation under a name of its own, scalar constants too: a leaf under its name, any other
/// under its number in the program, so that `%12` is equation 12 wherever it stands.
struct program_writer : ir::detail::graph_writer {
  program_view p{};

  constexpr explicit program_writer(const program_view& program) : p(program) {
    g = program.graph;
    is_output = vec<uint8>(g.size(), 1);  // no constant is written where it is read
    numbers = vec<uint32>(g.size(), 0);
    mentioned = vec<uint8>(g.symbols.size(), 0);
    for (uint32 id = 0; id < g.size(); ++id)
      numbers[id] = ir::is_named_leaf(g[id].kind) && ir::detail::is_identifier(g.name_of(id)) ? by_name : id;
  }

  constexpr void write_ids(slice_of ids) {
    const char* between = "[";
    for (uint32 id : p(ids)) {
      out << between;
      write_value(id);
      between = ",";
    }
    out << (ids.count ? "]" : "[]");
  }
  constexpr void write_ids(std::string_view key, slice_of ids) {
    out << ' ' << key << '=';
    write_ids(ids);
  }
  constexpr void write_launch(std::string_view word, const launch& l) {
    out << "  " << word << ' ' << fuse::name(l.kind) << ' ' << name(l.body) << ' ' << name(l.compares)
        << " {kernel=" << l.kernel;
    write_ids("members", l.members);
    write_ids("inputs", l.inputs);
    write_ids("outputs", l.outputs);
    out << " bytes=" << l.bytes << " flops=" << l.flops;
    if (l.chunks > 1) out << " chunks=" << l.chunks;
    out << "}\n";
  }
  constexpr void write_placement(uint32 id) {
    const placement& at = p.placements[id];
    if (at.where == place::none) return;
    out << "  place ";
    write_value(id);
    out << ' ' << name(at.where);
    switch (at.where) {
      case place::table: case place::arena: out << ' ' << at.offset; break;
      case place::output: out << ' ' << at.index; break;
      case place::view: case place::window: case place::state:
        out << ' ';
        write_value(at.index);
        break;
      default: break;
    }
    out << '\n';
  }
  constexpr void write_edge(uint32 producer, uint32 consumer) {
    write_value(producer);
    out << ' ';
    write_value(consumer);
    out << ' ';
  }

  constexpr void write_program() {
    const device_caps& c = p.planned_for.caps;
    out << "program {\n  target " << poot::name(p.planned_for.kind);
    if (!p.planned_for.arch.view().empty()) out << ' ' << p.planned_for.arch.view();
    out << " {buffers=" << c.max_buffers << " members=" << c.max_members << " buffer_bytes=" << c.buffer_bytes << " groups_x=" << c.max_groups_x
        << " groups_y=" << c.max_groups_y << " workgroup=" << c.max_workgroup << " shared=" << c.shared_bytes << " subgroup=" << c.subgroup;
    const auto flag = [this](const char* key, bool yes) { out << ' ' << key << '=' << (yes ? 1 : 0); };
    flag("fma", c.fma_fused);
    flag("flushes", c.flushes);
    flag("div_exact", c.div_exact);
    flag("sqrt_exact", c.sqrt_exact);
    flag("max_nan", c.max_nan);
    flag("pack_rne", c.pack_rne);
    flag("rope", c.rope);
    flag("attention", c.attention);
    flag("matrix_bf16", c.matrix_bf16);
    flag("matrix_f16", c.matrix_f16);
    if (p.planned_for.kind == backend::aie) {
      const aie_caps& t = p.planned_for.tiles;
      out << " columns=" << t.columns << " rows=" << t.rows << " tile_bytes=" << t.tile_bytes << " program_bytes=" << t.program_bytes
          << " memory_tile_bytes=" << t.memory_tile_bytes << " vector_bits=" << t.vector_bits;
    }
    out << "}\n";
    for (pass::pass_id id : p.changed) out << "  pass " << pass::name(id) << '\n';
    out << "  memory {arena=" << p.arena_bytes << " unshared=" << p.unshared_bytes << " tables=" << p.table_bytes << "}\n";
    for (const launch& l : p.prologue) write_launch("prologue", l);
    for (const launch& l : p.launches) write_launch("launch", l);
    for (const copy& moved : p.copies) {
      out << "  copy ";
      write_value(moved.value);
      out << " output " << moved.output << '\n';
    }
    for (const kernel& k : p.kernel_table)
      (out << "  kernel ").hex(k.hash) << " {first=" << k.first_launch << " launches=" << k.launches << "}\n";
    for (const section& s : p.repeated)
      out << "  section {first=" << s.first << " length=" << s.length << " times=" << s.times << "}\n";
    for (uint32 id = 0; id < p.placements.size(); ++id) write_placement(id);
    for (const fuse::decline& d : p.declined) {
      out << "  decline ";
      write_edge(d.producer, d.consumer);
      out << reason_name(fuse::explain(d.why)) << '\n';
    }
    for (const pass::numerical_decline& d : p.declined_numerically)
      out << "  numerical_decline " << d.origin << ' ' << reason_name(pass::explain(d.reason)) << '\n';
    for (const pass::chain_decline& d : p.declined_chains)
      out << "  chain_decline " << d.origin << ' ' << reason_name(pass::explain(d.failed)) << '\n';
    for (const refusal& r : p.refused) {
      out << "  refuse ";
      write_value(r.equation);
      out << ' ' << reason_name(explain(r.missing)) << '\n';
    }
    write_origins();
    out << "}\n";
    write_equations();
  }

 private:
  /// For each equation, the one of the traced graph that it comes from.
  constexpr void write_origins() {
    const char* between = "  origins [";
    for (const ir::eqn& e : g.eqns) {
      out << between << e.origin;
      between = ",";
    }
    if (g.size()) out << "]\n";
  }
  constexpr void write_equations() {
    out << "graph ";
    if (ir::detail::is_identifier(g.chars(g.name))) out << g.chars(g.name);
    else write_quoted(g.chars(g.name));
    out << " {\n";
    for (uint32 id = 0; id < g.size(); ++id) write_equation(id);
    for (const ir::graph_output& o : g.outputs) {
      out << "  output ";
      write_quoted(g.chars(o.name));
      out << " = ";
      write_value(o.value);
      out << '\n';
    }
    out << "}\n";
  }
};

constexpr text written(const program_view& p) {
  program_writer writer(p);
  writer.write_program();
  return std::move(writer.out);
}

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
text print(const program_view& p);
}

/// The text of a program: `program { … }` with the plan, then the graph. `parse` gives back a program that is `equal`,
/// and its text is the same.
constexpr text print(const program_view& p) {
  if constexpr (!is_precompiled) return detail::written(p);
  else if (__builtin_is_constant_evaluated()) return detail::written(p);
  else return precompiled::print<program_layout>(p);
}

}  // namespace poot::plan

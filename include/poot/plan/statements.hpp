#pragma once
/// The statements of a program's text beside its graph: what the plan says, before it is believed.

#include <poot/ir/parse.hpp>
#include <poot/plan/print.hpp>

namespace poot::plan::detail {

struct plan_statements : ir::detail::graph_reader {
  program told{};                     // what the plan says, before it is believed
  vec<size_t> launch_places{}, prologue_places{}, placement_places{}, decline_places{};
  size_t memory_place = 0, copy_place = 0, kernel_place = 0, section_place = 0, refusal_place = 0;
  uint32 seen = 0;                    // statements that stand once

  static constexpr uint32 none = fuse::grouping::none;
  static constexpr size_t nowhere = ~size_t{0};

  // ---- words of the plan
  constexpr int64 field(std::string_view key, int64 most, int64 least = 0) {
    const size_t where = (skip(), at);
    if (word(key) != key) refuse(where, text("expected ") << key);
    expect('=');
    return integer(least, most);
  }
  constexpr uint32 count_field(std::string_view key) { return static_cast<uint32>(field(key, 0xffffffff)); }
  constexpr uint32 value() {
    const size_t where = (skip(), at);
    const std::string_view wanted = value_name();
    const uint32 found = find_value(wanted);
    if (found != hash_index::none) return values[found].id;
    text reason("the graph has no value ");
    refuse(where, ir::detail::excerpt(reason, wanted));
  }
  constexpr slice_of value_list(std::string_view key) {
    const size_t where = (skip(), at);
    if (word(key) != key) refuse(where, text("expected ") << key);
    expect('=');
    expect('[');
    slice_of s{static_cast<uint32>(told.ids.size()), 0};
    if (!take(']')) {
      do told.ids.push_back(value());
      while (take(','));
      expect(']');
    }
    s.count = static_cast<uint32>(told.ids.size()) - s.first;
    return s;
  }
  /// The first of 0 … last whose name stands next.
  template <class Enum, class Name>
  constexpr Enum one_of(std::string_view what, Enum last, Name name_of) {
    const size_t where = (skip(), at);
    const std::string_view chars = word(what);
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (name_of(static_cast<Enum>(i)) == chars) return static_cast<Enum>(i);
    text reason("'");
    ir::detail::excerpt(reason, chars) << "' is not ";
    refuse(where, reason << what);
  }
  constexpr void once(size_t where, uint32 bit) {
    if (seen & bit) refuse(where, text("this stands twice"));
    seen |= bit;
  }

  // ---- statements
  constexpr void read_statement() {
    const size_t where = (skip(), at);
    subject = {};
    const std::string_view kind = word("a statement of a plan or '}'");
    subject = kind;
    if (kind == "target") read_target(where);
    else if (kind == "pass") told.changed.push_back(one_of("a pass", pass::pass_id::prepare_reductions, [](pass::pass_id i) { return pass::name(i); }));
    else if (kind == "memory") read_memory(where);
    else if (kind == "prologue") read_launch(where, told.prologue, prologue_places);
    else if (kind == "launch") read_launch(where, told.launches, launch_places);
    else if (kind == "copy") read_copy(where);
    else if (kind == "kernel") read_kernel(where);
    else if (kind == "section") read_section(where);
    else if (kind == "place") read_placement(where);
    else if (kind == "decline") read_decline(where);
    else if (kind == "numerical_decline") read_numerical_decline();
    else if (kind == "chain_decline") read_chain_decline();
    else if (kind == "refuse") read_refusal(where);
    else if (kind == "origins") read_origins(where);
    else {
      subject = {};
      text reason("there is no statement ");
      refuse(where, ir::detail::excerpt(reason, kind));
    }
  }
  constexpr void read_target(size_t where) {
    once(where, 1);
    told.planned_for.kind = one_of("a target", backend::aie, [](backend b) { return poot::name(b); });
    const size_t spelt = (skip(), at);
    if (!take('{')) {
      const std::string_view arch = word("an architecture or '{'");
      if (arch.size() > architecture::longest) refuse(spelt, text("the name of the architecture is too long"));
      told.planned_for.arch = arch;
      expect('{');
    }
    device_caps& c = told.planned_for.caps;
    const auto count = [this](std::string_view key) { return static_cast<int32>(field(key, 0x7fffffff)); };
    c.max_buffers = count("buffers");
    c.max_members = count("members");
    c.buffer_bytes = field("buffer_bytes", ir::detail::attr_limit);
    c.max_groups_x = count("groups_x");
    c.max_groups_y = count("groups_y");
    c.max_workgroup = count("workgroup");
    c.shared_bytes = count("shared");
    c.subgroup = count("subgroup");
    c.fma_fused = field("fma", 1) != 0;
    c.flushes = field("flushes", 1) != 0;
    c.div_exact = field("div_exact", 1) != 0;
    c.sqrt_exact = field("sqrt_exact", 1) != 0;
    c.max_nan = field("max_nan", 1) != 0;
    c.pack_rne = field("pack_rne", 1) != 0;
    c.rope = field("rope", 1) != 0;
    c.attention = field("attention", 1) != 0;
    c.matrix_bf16 = field("matrix_bf16", 1) != 0;
    c.matrix_f16 = field("matrix_f16", 1) != 0;
    if (told.planned_for.kind == backend::aie) {
      aie_caps& t = told.planned_for.tiles;
      t.columns = count("columns");
      t.rows = count("rows");
      t.tile_bytes = count("tile_bytes");
      t.program_bytes = count("program_bytes");
      t.memory_tile_bytes = count("memory_tile_bytes");
      t.vector_bits = count("vector_bits");
    }
    expect('}');
  }
  constexpr void read_memory(size_t where) {
    once(where, 2);
    memory_place = where;
    expect('{');
    told.arena_bytes = field("arena", ir::detail::attr_limit);
    told.unshared_bytes = field("unshared", ir::detail::attr_limit);
    told.table_bytes = field("tables", ir::detail::attr_limit);
    expect('}');
  }
  constexpr void read_launch(size_t where, vec<launch>& to, vec<size_t>& places) {
    launch l;
    l.kind = one_of("a kind of region", fuse::region_kind::collective, [](fuse::region_kind k) { return fuse::name(k); });
    l.body = one_of("generated, imported or none", origin::none, [](origin o) { return name(o); });
    l.compares = one_of("a comparison class", comparison::approximate, [](comparison c) { return name(c); });
    expect('{');
    l.kernel = count_field("kernel");
    l.members = value_list("members");
    l.inputs = value_list("inputs");
    l.outputs = value_list("outputs");
    l.bytes = field("bytes", ir::detail::attr_limit);
    l.flops = field("flops", ir::detail::attr_limit);
    if (!take('}')) {
      l.chunks = static_cast<uint32>(field("chunks", 0xffffffff, 2));
      expect('}');
    }
    if (l.members.count == 0) refuse(where, text("has no member"));
    for (uint32 i = 1; i < l.members.count; ++i)
      if (told.ids[l.members.first + i] <= told.ids[l.members.first + i - 1]) refuse(where, text("the members do not ascend"));
    to.push_back(l);
    places.push_back(where);
  }
  constexpr void read_copy(size_t where) {
    copy_place = where;
    copy c;
    c.value = value();
    if (word("'output'") != "output") unexpected("'output'");
    c.output = static_cast<uint32>(integer(0, static_cast<int64>(g.outputs.size()) - 1));
    told.copies.push_back(c);
  }
  constexpr void read_kernel(size_t where) {
    kernel_place = where;
    kernel k;
    const std::string_view chars = number();
    if (!parse_natural(chars, ~uint64{0}, k.hash)) refuse(where, text("the hash is not a number of 64 bits"));
    expect('{');
    k.first_launch = count_field("first");
    k.launches = count_field("launches");
    expect('}');
    told.kernel_table.push_back(k);
  }
  constexpr void read_section(size_t where) {
    section_place = where;
    section s;
    expect('{');
    s.first = count_field("first");
    s.length = count_field("length");
    s.times = count_field("times");
    expect('}');
    told.repeated.push_back(s);
  }
  constexpr void read_placement(size_t where) {
    const uint32 id = value();
    placement& p = told.placements[id];
    if (p.where != place::none) refuse(where, text("this value is placed twice"));
    p.where = one_of("a place", place::state, [](place at_place) { return name(at_place); });
    placement_places[id] = where;
    switch (p.where) {
      case place::none: refuse(where, text("a value in no memory is left out"));
      case place::table: case place::arena: p.offset = integer(0, ir::detail::attr_limit); break;
      case place::output: p.index = static_cast<uint32>(integer(0, static_cast<int64>(g.outputs.size()) - 1)); break;
      case place::view: case place::window: case place::state: p.index = value(); break;
      case place::leaf: break;
    }
  }
  constexpr void read_decline(size_t where) {
    fuse::decline d;
    d.producer = value();
    d.consumer = value();
    d.why = one_of("a reason", fuse::reason::cycle, [](fuse::reason r) { return reason_name(fuse::explain(r)); });
    if (d.why == fuse::reason::none) refuse(where, text("a decline has a reason"));
    told.declined.push_back(d);
    decline_places.push_back(where);
  }
  constexpr void read_numerical_decline() {
    pass::numerical_decline d;
    d.origin = static_cast<uint32>(integer(0, 0xffffffff));
    d.reason = one_of("a reason", pass::inexact::factor_scalar, [](pass::inexact r) { return reason_name(pass::explain(r)); });
    told.declined_numerically.push_back(d);
  }
  constexpr void read_chain_decline() {
    pass::chain_decline d;
    d.origin = static_cast<uint32>(integer(0, 0xffffffff));
    d.failed = one_of("a check", pass::last_chain_check, [](pass::chain_check c) { return reason_name(pass::explain(c)); });
    told.declined_chains.push_back(d);
  }
  constexpr void read_refusal(size_t where) {
    refusal_place = where;
    refusal r;
    r.equation = value();
    r.missing = one_of("a capability", capability::execution, [](capability c) { return reason_name(explain(c)); });
    told.refused.push_back(r);
  }
  constexpr void read_origins(size_t where) {
    once(where, 4);
    expect('[');
    for (uint32 id = 0; id < g.size(); ++id) {
      if (id) expect(',');
      g.eqns[id].origin = static_cast<uint32>(integer(0, 0xffffffff));
    }
    expect(']');
  }
};

}  // namespace poot::plan::detail

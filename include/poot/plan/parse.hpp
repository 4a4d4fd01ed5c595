#pragma once
/// Text to program: `parse(text)` reads what `print` writes, and trusts none of it.

#include <poot/fuse/check.hpp>
#include <poot/plan/compile.hpp>
#include <poot/plan/countable.hpp>
#include <poot/plan/equal.hpp>
#include <poot/plan/statements.hpp>

namespace poot::plan {

namespace detail {

/// Reads a program, and makes its plan anew of the regions that it states.
struct program_reader : plan_statements {
  vec<uint32> region_of{};
  fuse::partition regions{};

  constexpr program read() {
    form = "program text";
    if (source.size() > size_t{1} << 30) refuse(text("a program of more than 2^30 characters"));
    if (word("'program'") != "program") {
      at = 0;
      skip();
      unexpected("'program'");
    }
    expect('{');
    const size_t plan = at;
    for (int depth = 1; depth > 0; ++at) {
      const char next = peek();
      if (!next && at >= source.size()) unexpected("'}' at the end of the plan");
      depth += next == '{' ? 1 : next == '}' ? -1 : 0;
    }
    read_graph();
    at = plan;
    told.placements.resize(g.size());
    placement_places.resize(g.size(), nowhere);
    region_of.resize(g.size(), none);
    while (!take('}')) read_statement();
    subject = "program";
    if (!(seen & 1)) refuse(plan, text("has no target"));
    if (!is_countable(g)) refuse(plan, text(uncountable));
    return believed(plan);
  }

  // ---- what a plan must be: legal regions in an order that runs, and for these what the planner makes of them
  constexpr void add_regions(const vec<launch>& launches, const vec<size_t>& places, bool prologue, const fuse::grouping& singles) {
    subject = prologue ? "prologue" : "launch";
    for (size_t i = 0; i < launches.size(); ++i) {
      fuse::partition::region r;
      r.prologue = prologue;
      r.members = {static_cast<uint32>(regions.members.size()), launches[i].members.count};
      const auto index = static_cast<uint32>(regions.regions.size());
      for (uint32 id : view<uint32>(told.ids).subview(launches[i].members.first, launches[i].members.count)) {
        const bool is_view = g.eqns[id].kind == ir::op::reshape;
        if (!singles.grouped(id) && !is_view) refuse(places[i], text("an equation that needs no dispatch is a member"));
        if (region_of[id] != none) refuse(places[i], text("an equation is a member of two dispatches"));
        if (!is_view && singles.of(id).prologue != prologue)
          refuse(places[i], text(prologue ? "the prologue depends on constants only" : "what depends on constants only belongs to the prologue"));
        region_of[id] = index;
        regions.members.push_back(id);
        if (!is_view) shape_of(r, singles.of(id).kind, singles.space(id), id == regions.members[r.members.first]);
      }
      regions.regions.push_back(r);
    }
  }
  /// Kind and iteration space after one more member.
  static constexpr void shape_of(fuse::partition::region& r, fuse::region_kind kind, const tensor_type& space, bool first) {
    const bool head = kind != fuse::region_kind::pointwise;
    const bool turns = kind == fuse::region_kind::rope && r.kind == fuse::region_kind::movement;
    if (turns || (fuse::stands_side_by_side(kind) && r.kind == fuse::region_kind::generator)) r.kind = kind;
    const bool product = kind == fuse::region_kind::contraction && r.kind == fuse::region_kind::row;  // behind a row prologue
    if (first || product || (head && r.kind == fuse::region_kind::pointwise)) {
      r.kind = kind;
      r.space = space;
    } else if (r.kind == fuse::region_kind::pointwise) {
      tensor_type united = r.space;
      if (ir::detail::broadcast_into(united, space) && !united.same_extents(r.space)) r.space = space;
    }
  }

  /// Each dispatch reads what leaves hold or dispatches before it have made.
  constexpr void check_order(const fuse::grouping& singles, const vec<launch>& launches, const vec<size_t>& places, uint32 first) {
    subject = &launches == &told.prologue ? "prologue" : "launch";
    for (size_t i = 0; i < launches.size(); ++i)
      for (uint32 id : view<uint32>(told.ids).subview(launches[i].members.first, launches[i].members.count))
        for (uint32 in : g.view_of().operands(id)) {
          const uint32 made = singles.behind_views(in);
          if (singles.grouped(made) && region_of[made] > first + i)
            refuse(places[i], text("reads what a later dispatch makes"));
        }
  }

  constexpr program believed(size_t plan) {
    ir::verify(g);
    subject = "program";
    for (uint32 id = 0; id < g.size(); ++id)
      if (g.eqns[id].sum.hardware && !ir::fits_matrix_unit(g, id, told.planned_for.caps))
        refuse(plan, text("equation %") << id << " has the order of a matrix unit, and the target has none for it");
    for (uint32 id = 0; id < g.size(); ++id)
      if (!(g.eqns[id].sum == pass::order_on(g, id, told.planned_for, g.eqns[id].sum.hardware)))
        refuse(plan, text("equation %") << id << " has an order that the target does not add in");
    const fuse::grouping singles(g);
    add_regions(told.prologue, prologue_places, true, singles);
    add_regions(told.launches, launch_places, false, singles);
    subject = "program";
    for (uint32 id = 0; id < g.size(); ++id)
      if (singles.grouped(id) && region_of[id] == none) refuse(plan, text("equation %") << id << " belongs to no dispatch");
    const fuse::rules widest = region_rules(told.planned_for, {.fuse_narrow_casts = true});
    const fuse::finding found = fuse::check_partition(g, region_of, widest);
    const auto prologue_size = static_cast<uint32>(told.prologue.size());
    if (!found.legal()) {
      const bool early = found.region < prologue_size;
      subject = early ? "prologue" : "launch";
      refuse(early ? prologue_places[found.region] : launch_places[found.region - prologue_size], text(fuse::explain(found.why)));
    }
    check_order(singles, told.prologue, prologue_places, 0);
    check_order(singles, told.launches, launch_places, prologue_size);
    subject = "decline";
    for (size_t i = 0; i < told.declined.size(); ++i) {
      const fuse::decline& d = told.declined[i];
      if (!singles.grouped(d.producer) || !singles.grouped(d.consumer) || region_of[d.producer] == region_of[d.consumer])
        refuse(decline_places[i], text("names two values of one dispatch, or one of none"));
      bool reads = false;  // also through views
      for (uint32 in : g.view_of().operands(d.consumer)) reads |= in == d.producer || singles.behind_views(in) == d.producer;
      if (!reads) refuse(decline_places[i], text("the second value does not read the first"));
    }
    regions.region_of = region_of;
    program made = plan_regions(std::move(g), told.planned_for, std::move(regions));
    compare(made, made.prologue, told.prologue, prologue_places, "prologue");
    compare(made, made.launches, told.launches, launch_places, "launch");
    compare_rest(made, plan);
    made.declined = std::move(told.declined);
    made.changed = std::move(told.changed);
    made.declined_numerically = std::move(told.declined_numerically);
    made.declined_chains = std::move(told.declined_chains);
    return made;
  }
  constexpr void compare(const program& made, const vec<launch>& wanted, const vec<launch>& given, const vec<size_t>& places,
                         std::string_view what) {
    subject = what;
    program_view said;
    said.ids = told.ids;
    said.graph = made.graph;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const std::string_view field_name = difference(made, wanted[i], said, given[i]);
      if (field_name.empty()) continue;
      text reason = text("dispatch ") << i << ": its members make " << field_name << ' ';
      write_field(reason, made, wanted[i], field_name);
      write_field(reason << ", and ", said, given[i], field_name);
      refuse(places[i], reason << " is written");
    }
  }
  /// What `difference` names, as it is written.
  static constexpr void write_field(text& out, const program_view& p, const launch& l, std::string_view field_name) {
    if (field_name == "kind") out << fuse::name(l.kind);
    else if (field_name == "origin") out << name(l.body);
    else if (field_name == "comparison class") out << name(l.compares);
    else if (field_name == "kernel") out << l.kernel;
    else if (field_name == "bytes") out << l.bytes;
    else if (field_name == "flops") out << l.flops;
    else if (field_name == "chunks") out << l.chunks;
    else {
      program_writer list(p);
      list.write_ids(field_name == "members" ? l.members : field_name == "inputs" ? l.inputs : l.outputs);
      out << list.out.str();
    }
  }
  constexpr void compare_rest(const program& made, size_t plan) {
    subject = "place";
    for (uint32 id = 0; id < made.placements.size(); ++id)
      if (!same(made.placements[id], told.placements[id])) {
        const std::string_view right = name(made.placements[id].where);
        if (placement_places[id] != nowhere)
          refuse(placement_places[id], text("%") << id << " is not where this order of dispatches puts it, " << right);
        const auto prologue_size = static_cast<uint32>(told.prologue.size());
        const size_t maker = region_of[id] == none           ? plan
                             : region_of[id] < prologue_size ? prologue_places[region_of[id]]
                                                             : launch_places[region_of[id] - prologue_size];
        refuse(maker, text("%") << id << " has no place, and this order of dispatches gives it one, " << right);
      }
    const auto require = [&](bool holds, std::string_view what, size_t where) {
      subject = what;
      if (!holds) refuse(where ? where : plan, text("is not what follows from the dispatches"));
    };
    require(made.arena_bytes == told.arena_bytes && made.unshared_bytes == told.unshared_bytes && made.table_bytes == told.table_bytes,
            "memory", memory_place);
    require(all_same<copy>(made.copies, told.copies), "copy", copy_place);
    require(all_same<kernel>(made.kernel_table, told.kernel_table), "kernel", kernel_place);
    require(all_same<section>(made.repeated, told.repeated), "section", section_place);
    require(all_same<refusal>(made.refused, told.refused), "refuse", refusal_place);
  }
};

constexpr program read(std::string_view source, view<const ir::custom_row*> customs) {
  program_reader reader{{{{source}}}};
  reader.customs = customs;
  return reader.read();
}

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
program parse(std::string_view source, view<const ir::custom_row*> customs);
}

/// Reads a program. Throws `error` with line, column, statement and rule where the text is not well formed, breaks a rule
/// of graphs, holds regions that are not legal or stand in an order that cannot run, or says of them what does not follow.
/// `customs` are the user's ops that the graph may name.
constexpr program parse(std::string_view source, view<const ir::custom_row*> customs = {}) {
  if constexpr (!is_precompiled) return detail::read(source, customs);
  else if (__builtin_is_constant_evaluated()) return detail::read(source, customs);
  else return precompiled::parse<program_layout>(source, customs);
}

}  // namespace poot::plan

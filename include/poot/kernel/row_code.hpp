#pragma once
/// One row of a row region at a time, by a workgroup: its reductions, where its elements are, and how results are stored. Row kernels and the rows before
/// the products of a contraction kernel are made of it.

#include <poot/fuse/turns.hpp>
#include <poot/kernel/reduce.hpp>
#include <poot/kernel/store.hpp>

namespace poot::kernel {

class row_code {
 public:
  /// `members` are those of the row region, ascending; `code` may hold others.
  constexpr row_code(builder& k, region_code& code, view<uint32> members)
      : k_(k), code_(code), members_(members), reducer_(k, has_argmax(code.graph(), members)) {
    for (uint32 id : members)
      if (ir::is_reduction(code.graph()[id].kind)) space_of_ = code.graph().operands(id)[0];
    last_ = space().rank - 1;
  }

  /// A value with the extents of the region, its last axis whole.
  constexpr uint32 space_of() const { return space_of_; }
  constexpr const tensor_type& space() const { return code_.graph().type(space_of_); }
  constexpr word columns() const { return code_.shape().extent_of(space_of_, last_); }

  /// Takes row `row`, the same for all invocations of the workgroup, and reduces it: what its reductions give, and what is made of
  /// that alone, one value a row, holds from here on.
  constexpr void reduce(word row) {
    start_ = code_.shape().locate_row(space_of_, row);
    row_ = row;
    const vec<fuse::turns> repeated = find_turns();
    size_t next = 0;
    for (uint32 at = 0; at < members_.size();) {
      if (next < repeated.size() && repeated[next].first == at) {
        take_turns(repeated[next]);
        at = repeated[next++].end();
      } else {
        take(members_[at++]);
      }
    }
  }

  /// Of the row that was taken: element `c`, and `count` elements from there on.
  constexpr position column(word c) const {
    position at = start_;
    at.at[last_] = c;
    at.flat = row_ * columns() + c;
    return at;
  }
  constexpr element_run run_at(word c, uint32 count) const {
    element_run run{{}, true, detail::divides_row(count, space())};
    for (uint32 j = 0; j < count; ++j) run.at.push_back(column(c + word(j)));
    return run;
  }
  /// Computes `wanted` at each of them and calls `take` with its position.
  template <class Take>
  constexpr void each_in_run(view<uint32> wanted, word c, uint32 count, Take take) {
    const element_run run = run_at(c, count);
    code_.begin_run(run);
    for (uint32 j = 0; j < count; ++j) {
      code_.compute_in_run(wanted, space(), j);
      take(run.at[j]);
    }
    code_.end_run();
  }

  /// Stores the outputs among the members: those of whole rows, run by run, then those of one value a row.
  constexpr void store() {
    const ir::graph_view& g = code_.graph();
    output_list whole, single;
    for (size_t o = 0; o < code_.outputs().size(); ++o) {
      const uint32 id = code_.outputs()[o];
      if (is_member(id)) (g.type(id).last() == space().last() ? whole : single).add(g, id, code_.output(o));
    }
    if (!whole.ids.empty()) {
      // runs, and the words in them, do not cross rows where the rows are whole runs
      const uint32 length = run_length(code_, whole, space());
      const uint32 step = detail::divides_row(length, space()) ? length : detail::divides_row(whole.pack, space()) ? whole.pack : 1;
      k_.for_(k_.lane() * word(step), columns(), k_.so_far().workgroup * step, [&](word c) {
        if (step == 1 && whole.pack > 1) return store_each(k_, code_, whole, space(), column(c), row_ * columns() + c);
        compute_run(k_, code_, whole, space(), run_at(c, step), row_ * columns() + c, [](uint32) {});
      });
    }
    if (!single.ids.empty())
      k_.if_(same(k_.lane(), 0u), [&] { store_each(k_, code_, single, space(), column(0u), row_); });
  }
  constexpr bool has_outputs() const {
    for (uint32 id : code_.outputs())
      if (is_member(id)) return true;
    return false;
  }

 private:
  /// Is a member of such a type the same along the row? What it reads is so too.
  constexpr bool is_row_value(const tensor_type& t) const {
    return space().last() != extent(1) && fuse::is_single(t);
  }
  /// A reduction, or what is made of such results alone.
  constexpr void take(uint32 id) {
    const ir::graph_view& g = code_.graph();
    const ir::eqn& e = g[id];
    if (!ir::is_reduction(e.kind)) {
      if (is_row_value(e.type)) code_.fix(id, code_.compute_one(id, space(), column(0u)));
      return;
    }
    const uint32 operand = g.operands(e)[0];
    code_.fix(id, reducer_.run(e.kind, g.type(operand).element, e.sum, k_.lane(), columns(), space().last(), [&](word c, uint32 count) {
      vec<scalar> out;
      each_in_run({&operand, 1}, c, count, [&](const position& at) { out.push_back(code_.get(operand, space(), at)); });
      return out;
    }));
  }

  constexpr vec<fuse::turns> find_turns() const { return fuse::turn_finder(code_.graph(), members_).find([&](uint32 id, uint32 last) { return is_read_beyond(id, last); }); }
  /// By outputs, or by any member of the launch but the turns that end in `last`: also by products behind the rows.
  constexpr bool is_read_beyond(uint32 id, uint32 last) const {
    for (uint32 output : code_.outputs())
      if (output == id) return true;
    for (uint32 reader : code_.members()) {
      if (reader <= last && is_member(reader)) continue;
      for (uint32 in : code_.graph().operands(reader))
        if (in == id) return true;
    }
    return false;
  }
  /// Turns in a loop: what one hands on, or the last leaves, is kept in variables.
  constexpr void take_turns(const fuse::turns& t) {
    struct kept {
      uint32 offset = 0;
      bool is_handed_on = false, is_left = false;
      variable<word> bits{};
    };
    const ir::graph_view& g = code_.graph();
    const fuse::turn_finder finder(g, members_);
    const uint32 last = t.end() - t.period;
    vec<kept> all;
    for (uint32 offset = 0; offset < t.period; ++offset) {
      const uint32 from = finder.begins_with(t, offset);
      kept k{offset, from != fuse::turn_finder::none, is_read_beyond(members_[last + offset], members_[t.end() - 1])};
      if (!k.is_handed_on && !k.is_left) continue;
      k.bits = k_.declare(k.is_handed_on ? code_.get(from, space(), column(0u)).bits : word(0u));
      all.push_back(k);
    }
    const auto value_of_type = [&](uint32 at, word bits) { return scalar{g.type(members_[at]).element, bits}; };
    k_.for_(0u, t.count, 1u, [&](word) {
      for (const kept& k : all)
        if (k.is_handed_on) code_.fix(members_[t.first + k.offset], value_of_type(t.first + k.offset, k_.read(k.bits)));
      const uint32 second = t.first + t.period;  // it reads what the first has made
      for (uint32 at = second; at < second + t.period; ++at) take(members_[at]);
      for (const kept& k : all) k_.assign(k.bits, code_.get(members_[second + k.offset], space(), column(0u)).bits);
    });
    for (const kept& k : all)
      if (k.is_left) code_.fix(members_[last + k.offset], value_of_type(last + k.offset, k_.read(k.bits)));
  }
  constexpr bool is_member(uint32 id) const {
    for (uint32 m : members_)
      if (m == id) return true;
    return false;
  }
  static constexpr bool has_argmax(const ir::graph_view& g, view<uint32> members) {
    for (uint32 id : members)
      if (g[id].kind == op::reduce_argmax) return true;
    return false;
  }

  builder& k_;
  region_code& code_;
  view<uint32> members_;
  group_reducer reducer_;
  uint32 space_of_ = 0;
  int last_ = 0;
  position start_{};
  word row_{};
};

}  // namespace poot::kernel

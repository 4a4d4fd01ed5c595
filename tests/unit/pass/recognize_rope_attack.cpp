// Every kind of change to a rotary chain, in five spellings, with its answer: it is recognised, or it keeps its equations and is
// declined with this reason and this value. No change changes a bit.
#include "chain_mutations.hpp"

#include <cstdlib>
#include <optional>

using namespace chain_mutations;
using pass::chain_check;

namespace {

/// joined: the turned halves side by side. adjacent: even and odd elements, by turns. rotated: the second half negated before the first.
/// exchanged: the halves exchanged, the signs in the table. gathered: partners by a constant index, signs in the table.
enum class form : uint8 { joined, adjacent, rotated, exchanged, gathered };
constexpr int forms = 5;
constexpr unsigned in(form f) { return 1u << static_cast<int>(f); }
constexpr unsigned sliced = in(form::joined) | in(form::adjacent), added = in(form::rotated) | in(form::exchanged) | in(form::gathered), any_form = sliced | added;

enum class change : uint8 {
  nothing, operand_order, spread_tables, tables_of_rank_one, one_table, one_table_of_slices, computed_tables, turned_value_is_computed, dead_reader, outer_readers, computed_twice,
  rest_kept, part_turned_apart, one_pair, table_is_of_the_value,
  read_by_output, read_by_step, cast_between, negated_between, sum_before_difference, two_sums, reversed_difference, another_table, exchanged_tables, one_entry_tables,
  slices_exchanged, slice_off_by_one, slice_of_another, step_of_three, start_of_two, rest_is_wrong, rest_first, rest_missing, another_axis, sign_on_the_other,
  both_negated, kept_is_another, wrong_partner, half_turned_twice, narrow_chain, wide_chain, pairs_are_output, no_kernel,
};
constexpr int changes = static_cast<int>(change::no_kernel) + 1;

/// Where it applies, and recognised or the check that fails.
struct answer {
  change what;
  const char* name;
  unsigned where;
  std::optional<chain_check> failed{};
};

constexpr answer answers[] = {
    {change::nothing, "nothing", any_form},
    {change::operand_order, "operands of sums and products in either order", any_form},
    {change::spread_tables, "tables that are broadcast first", any_form},
    {change::tables_of_rank_one, "one row of the tables for all", any_form},
    {change::one_table, "one table as cos and as sin", added},
    {change::one_table_of_slices, "one table, so that each product is read twice", sliced, chain_check::read_elsewhere},
    {change::computed_tables, "tables that are computed", any_form},
    {change::turned_value_is_computed, "a value that is computed", any_form},
    {change::dead_reader, "a reader inside that nobody reads", any_form},
    {change::outer_readers, "readers of the value, the tables and the result", any_form},
    {change::computed_twice, "slices and partners written twice", any_form},
    {change::rest_kept, "elements behind the turned ones", in(form::joined)},
    {change::part_turned_apart, "a slice of a row is turned", any_form},
    {change::one_pair, "rows of one pair", any_form},
    {change::table_is_of_the_value, "a table that is a part of the value", sliced, chain_check::read_elsewhere},
    {change::read_by_output, "a value inside is an output", any_form, chain_check::read_elsewhere},
    {change::read_by_step, "a value inside has one more reader", any_form, chain_check::read_elsewhere},
    {change::cast_between, "a value inside is narrowed and widened", any_form, chain_check::narrow_value},
    {change::negated_between, "one more step inside", any_form, chain_check::turn_form},
    {change::sum_before_difference, "the sum before the difference", sliced, chain_check::turn_form},
    {change::two_sums, "two sums", sliced, chain_check::turn_form},
    {change::reversed_difference, "b·s less a·c", sliced, chain_check::pair_order},
    {change::another_table, "another table in one product", sliced, chain_check::tables},
    {change::exchanged_tables, "cos and sin exchanged in the sum", sliced, chain_check::tables},
    {change::one_entry_tables, "one entry of the tables for all pairs", any_form, chain_check::tables},
    {change::slices_exchanged, "the second of a pair first", any_form, chain_check::pair_order},
    {change::slice_off_by_one, "the second half begins one later", in(form::joined) | in(form::rotated) | in(form::exchanged), chain_check::pair_order},
    {change::slice_of_another, "the second of a pair is of another value", sliced},
    {change::step_of_three, "every third element", in(form::adjacent), chain_check::pair_order},
    {change::start_of_two, "pairs that begin at the second element", in(form::adjacent), chain_check::pair_order},
    {change::rest_is_wrong, "elements of another value behind the turned ones", in(form::joined), chain_check::turned_width},
    {change::rest_first, "elements before the turned ones", in(form::joined), chain_check::turned_width},
    {change::rest_missing, "elements behind the turned ones are dropped", in(form::joined), chain_check::turned_width},
    {change::another_axis, "halves joined along another axis", in(form::joined), chain_check::pair_order},
    {change::sign_on_the_other, "the first half negated", in(form::rotated), chain_check::turn_form},
    {change::both_negated, "both halves negated", in(form::rotated), chain_check::turn_form},
    {change::kept_is_another, "another value is not turned", added, chain_check::tables},
    {change::wrong_partner, "one wrong partner", in(form::gathered), chain_check::pair_order},
    {change::half_turned_twice, "the first half joined twice", in(form::joined), chain_check::turn_form},
    {change::narrow_chain, "a chain of f16 or bf16", any_form, chain_check::element_type},
    {change::wide_chain, "a chain of f64", any_form, chain_check::element_type},
    {change::pairs_are_output, "the pairs before they become rows are an output", in(form::adjacent), chain_check::read_elsewhere},
    {change::no_kernel, "a target without a kernel", any_form, chain_check::no_kernel},
};
static_assert(std::size(answers) == changes, "every change has an answer");

/// Neither a chain nor nearly one.
constexpr bool is_no_chain(change what) { return what == change::slice_of_another; }

struct attacked {
  chain c;
  int blamed = -1;  ///< what a decline names; -1: not asked
};

class speller {
 public:
  speller(change what, form f, draws& d) : is_(what), form_(f), d_(d) {}

  attacked spell() {
    heads_ = 1 + below(3), rows_ = 1 + below(3), half_ = is(change::one_pair) ? 1 : 2 + below(4), width_ = 2 * half_;
    if (is(change::another_axis)) heads_ = 2;
    if (is(change::narrow_chain)) element_ = below(2) ? bf16 : f16;
    if (is(change::wide_chain)) element_ = f64;
    const bool has_rest = is_one_of(change::rest_kept, change::rest_is_wrong, change::rest_first, change::rest_missing);
    all_ = width_ + (has_rest || (is_sliced() && is(change::slice_off_by_one)) ? 1 + below(3) : 0);
    if (is(change::step_of_three)) all_ = 3 * half_;
    if (is(change::start_of_two)) all_ = width_ + 1;
    x_ = c().leaf("x", type_of(element_, heads_, rows_, all_));
    if (is(change::part_turned_apart)) {
      const int wide = c().leaf("wide", type_of(element_, heads_, rows_, all_ + 3));
      x_ = c().apply(ir::op::slice, {wide}, {0, 0, 2, heads_, rows_, all_, 1, 1, 1}, type_of(element_));
    }
    if (is(change::turned_value_is_computed)) x_ = apply(ir::op::exp, {x_});
    make_tables();
    const int y = is_sliced() ? turned_slices() : turned_sum();
    c().outputs.insert(c().outputs.begin(), y);
    if (is(change::outer_readers)) {
      c().outputs.push_back(apply(ir::op::neg, {x_}));
      c().outputs.push_back(cos_);
      c().outputs.push_back(apply(ir::op::exp, {sin_}));
      c().outputs.push_back(apply(ir::op::abs, {y}));
    }
    return std::move(a_);
  }

 private:
  bool is(change x) const { return is_ == x; }
  template <class... C>
  bool is_one_of(C... x) const { return (is(x) || ...); }
  bool is_sliced() const { return (in(form_) & sliced) != 0; }
  int64 below(uint64 n) { return static_cast<int64>(d_.less_than(n)); }
  chain& c() { return a_.c; }
  int apply(ir::op o, std::initializer_list<int> in, std::initializer_list<int64> attrs = {}) { return c().apply(o, in, attrs, type_of(element_)); }
  int either(ir::op o, int x, int y) { return is(change::operand_order) && below(2) ? apply(o, {y, x}) : apply(o, {x, y}); }

  /// A value inside, which may be the one that the change is about.
  int keep(int step) {
    if (at_++ != where_) return step;
    if (is(change::read_by_output)) c().outputs.push_back(a_.blamed = step);
    if (is(change::read_by_step)) c().outputs.push_back(apply(ir::op::exp, {a_.blamed = step}));
    if (is(change::dead_reader)) c().unread.push_back(apply(ir::op::exp, {step}));
    if (is(change::cast_between)) {
      step = c().apply(ir::op::cast, {step}, {}, type_of(below(2) ? bf16 : f16));
      step = a_.blamed = apply(ir::op::cast, {step});
    }
    if (is(change::negated_between)) step = apply(below(2) ? ir::op::exp : ir::op::floor, {step});
    return step;
  }

  void make_tables() {
    const int64 entries = is(change::one_entry_tables) ? 1 : is_sliced() ? half_ : width_;
    tensor_type t = below(2) ? type_of(element_, rows_, entries) : type_of(element_, heads_, 1, entries);
    if (is(change::table_is_of_the_value)) t = type_of(element_, heads_, rows_, entries);
    if (is(change::tables_of_rank_one)) t = type_of(element_, entries);
    cos_ = c().leaf("cos", t), sin_ = is_one_of(change::one_table, change::one_table_of_slices) ? cos_ : c().leaf("sin", t);
    if (is(change::computed_tables)) cos_ = apply(ir::op::cos, {sin_}), sin_ = apply(ir::op::sin, {sin_});
    const tensor_type whole = type_of(element_, heads_, rows_, entries);
    if (is(change::spread_tables)) cos_ = c().apply(ir::op::broadcast, {cos_}, {}, whole), sin_ = c().apply(ir::op::broadcast, {sin_}, {}, whole);
    if (is(change::table_is_of_the_value)) (below(2) ? cos_ : sin_) = form_ == form::adjacent ? slice(x_, 1, 2, half_) : slice(x_, half_, 1, half_);
  }

  int slice(int of, int64 start, int64 by, int64 size) { return apply(ir::op::slice, {of}, {0, 0, start, heads_, rows_, size, 1, 1, by}); }
  int again(int step) { return is(change::computed_twice) ? c().add(c().steps[static_cast<size_t>(step)]) : step; }

  int turned_slices() {
    // slices a and b, four products, difference and sum, and of pairs the two reshapes
    where_ = below(form_ == form::adjacent ? 10 : 8);
    if (is(change::negated_between) && where_ >= 8) where_ = 7;
    int64 first = 0, second = form_ == form::joined ? half_ : 1, by = form_ == form::joined ? 1 : 2;
    if (is(change::slice_off_by_one)) ++second;
    if (is(change::step_of_three)) by = 3;
    if (is(change::start_of_two)) first = 1, second = 2, all_ -= 1;
    if (is(change::slices_exchanged)) std::swap(first, second);
    if (is(change::rest_first)) first += all_ - width_, second += all_ - width_;
    const int other = is(change::slice_of_another) ? c().leaf("other", type_of(element_, heads_, rows_, all_)) : x_;
    const int a = keep(slice(x_, first, by, half_)), b = keep(slice(other, second, by, half_));
    int last_cos = cos_, last_sin = sin_;
    if (is(change::another_table)) (below(2) ? last_cos : last_sin) = c().leaf("third", c().steps[static_cast<size_t>(cos_)].declared);
    if (is(change::exchanged_tables)) std::swap(last_cos, last_sin);
    const int ac = keep(either(ir::op::mul, a, cos_)), bs = keep(either(ir::op::mul, b, sin_));
    const int bc = keep(either(ir::op::mul, again(b), last_cos)), as = keep(either(ir::op::mul, again(a), last_sin));
    const int difference = is(change::two_sums) ? apply(ir::op::add, {ac, bs}) : is(change::reversed_difference) ? apply(ir::op::sub, {bs, ac}) : apply(ir::op::sub, {ac, bs});
    int f = keep(difference), g = keep(either(ir::op::add, bc, as));
    if (is(change::sum_before_difference)) std::swap(f, g);
    if (is(change::half_turned_twice)) g = f;
    if (form_ == form::adjacent) {
      const tensor_type one = type_of(element_, heads_, rows_, half_, 1);
      const int p = keep(c().apply(ir::op::reshape, {f}, {}, one)), q = keep(c().apply(ir::op::reshape, {g}, {}, one));
      const int pairs = apply(ir::op::concat, {p, q}, {3});
      if (is(change::pairs_are_output)) c().outputs.push_back(a_.blamed = pairs);
      return c().apply(ir::op::reshape, {pairs}, {}, type_of(element_, heads_, rows_ * width_));
    }
    if (is(change::another_axis)) return a_.blamed = apply(ir::op::concat, {f, g}, {below(2)});
    if (is(change::rest_first)) return a_.blamed = apply(ir::op::concat, {slice(x_, 0, 1, all_ - width_), f, g}, {2});
    if (is_one_of(change::rest_kept, change::rest_is_wrong)) {
      const int from = is(change::rest_is_wrong) ? c().leaf("other", type_of(element_, heads_, rows_, all_)) : x_;
      const int y = apply(ir::op::concat, {f, g, slice(from, width_, 1, all_ - width_)}, {2});
      if (is(change::rest_is_wrong)) a_.blamed = y;
      return y;
    }
    const int y = apply(ir::op::concat, {f, g}, {2});
    if (is(change::rest_missing)) a_.blamed = y;
    return y;
  }

  int turned_sum() {
    // the slices and the negated one, or the gather; the two products, the partners
    where_ = below(form_ == form::gathered ? 3 : form_ == form::exchanged ? 5 : 6);
    int partners;
    if (form_ == form::gathered) {
      vec<int64> index;
      const bool adjacent = below(2);
      for (int64 i = 0; i < width_; ++i) index.push_back(adjacent ? i ^ 1 : i < half_ ? i + half_ : i - half_);
      if (is(change::wrong_partner) || is(change::slices_exchanged)) std::swap(index[0], index[1 + static_cast<size_t>(below(static_cast<uint64>(width_ - 1)))]);
      partners = apply(ir::op::gather, {x_, c().add({ir::op::constant, {}, index, type_of(i32, width_)})}, {2});
      if (is(change::computed_twice)) partners = apply(ir::op::gather, {x_, c().add({ir::op::constant, {}, index, type_of(i32, width_)})}, {2});
    } else {
      int64 first = 0, second = half_;
      if (is(change::slices_exchanged)) std::swap(first, second);
      if (is(change::slice_off_by_one)) second -= 1;
      int a = keep(slice(x_, first, 1, half_)), b = keep(again(slice(x_, second, 1, half_)));
      const bool negated = form_ == form::rotated;
      if (is_one_of(change::sign_on_the_other, change::both_negated)) a = apply(ir::op::neg, {a});
      if (negated && !is(change::sign_on_the_other)) b = keep(apply(ir::op::neg, {b}));
      partners = apply(ir::op::concat, {b, a}, {2});
    }
    if (is_one_of(change::slices_exchanged, change::slice_off_by_one, change::sign_on_the_other, change::both_negated, change::wrong_partner)) a_.blamed = partners;
    partners = keep(partners);
    const int kept = is(change::kept_is_another) ? c().leaf("other", type_of(element_, heads_, rows_, width_)) : x_;
    const int xc = keep(either(ir::op::mul, kept, cos_)), ps = keep(either(ir::op::mul, partners, sin_));
    if (is(change::kept_is_another)) a_.blamed = xc;
    return either(ir::op::add, xc, ps);
  }

  change is_;
  form form_;
  draws& d_;
  attacked a_;
  dtype element_ = f32;
  int64 heads_ = 1, rows_ = 1, half_ = 1, width_ = 2, all_ = 2, at_ = 0, where_ = 0;
  int x_ = -1, cos_ = -1, sin_ = -1;
};

}  // namespace

TEST_CASE("each kind of change to a rotary chain has the answer in the table, and keeps every bit") {
  int cases = 0;
  for (const answer& want : answers) cases += __builtin_popcount(want.where);
  const int each = std::getenv("POOT_LONG") ? 20000 / cases + 1 : 30;
  target bare = targets::host;
  bare.caps.rope = false;
  for (const answer& want : answers)
    for (int f = 0; f < forms; ++f) {
      if ((want.where >> f & 1) == 0) continue;
      int built = 0;
      for (int k = 0; k < each; ++k) {
        draws d(hash_text(want.name) + static_cast<uint64>(1000 * f + k));
        const attacked a = speller(want.what, static_cast<form>(f), d).spell();
        ir::graph g;
        std::vector<uint32> placed;
        if (!a.c.build(g, &placed)) continue;
        ++built;
        const pass::prepared made = pass::run_passes(g, want.what == change::no_kernel ? bare : targets::host);
        INFO(std::string(want.name) << ", form " << f << ", " << k << "\n" << printed(g) << printed(made.optimized));
        REQUIRE(ir::verify(made.optimized));
        int ropes = 0;
        for (const ir::eqn& e : made.optimized.eqns) ropes += e.kind == ir::op::rope;
        REQUIRE(ropes == (want.failed || is_no_chain(want.what) ? 0 : 1));
        REQUIRE(made.notes.chain_declines.size() == (want.failed ? 1 : 0));
        if (want.failed) {
          REQUIRE(std::string(pass::explain(made.notes.chain_declines[0].failed)) == std::string(pass::explain(*want.failed)));
          if (a.blamed >= 0) REQUIRE(made.notes.chain_declines[0].origin == placed[static_cast<size_t>(a.blamed)]);
        }
        REQUIRE(same_values(g, made.optimized, d));
      }
      CAPTURE(std::string(want.name));
      CAPTURE(f);
      CHECK(built == each);
    }
}

#pragma once
/// Random graphs whose equations often could share a region: few extents that broadcast into each other, all region
/// kinds, narrowing and widening casts, selects, views, windows, work on constants only, dynamic extents.

#include <poot/ir/verify.hpp>

#include <support/draws.hpp>

#include <string>
#include <vector>

namespace poot_tests {

class fusion_draws {
 public:
  explicit fusion_draws(poot::uint64 seed) : d(seed) {}

  /// A graph with `ops` equations that are no leaves; `updates` adds states that are written, in every way there is.
  poot::ir::graph make(int ops, bool updates = false) {
    using namespace poot;
    g = ir::graph("drawn");
    values.clear();
    states.clear();
    rows = chance(20) ? g.dynamic("L", 6) : extent(chance(50) ? 4 : 8);
    cols = extent(8);
    const int leaves = 2 + below(3);
    for (int i = 0; i < leaves; ++i) leaf(ir::op::input, i);
    if (chance(50)) leaf(ir::op::weight, 0);
    if (chance(30)) leaf(ir::op::state, 0);
    updates_ = updates;
    if (updates_)
      for (int i = 1; i < 4; ++i) {
        values.push_back(g.leaf(ir::op::state, type_of(f32, 4, cols), {}, "cache" + std::to_string(i)));
        states.push_back(values.back());
      }
    for (int made = 0, tries = 0; made < ops && tries < 40 * ops; ++tries) {
      const size_t before = g.size();
      one_equation();
      for (size_t id = before; id < g.size(); ++id) made += !ir::is_leaf(g.eqns[id].kind);
    }
    finish();
    return std::move(g);
  }

  int below(int n) { return static_cast<int>(d.less_than(static_cast<poot::uint64>(n))); }
  bool chance(int percent) { return below(100) < percent; }
  draws d;

 private:
  static constexpr poot::uint32 none = 0xffffffffu;

  poot::tensor_type shape(poot::dtype t) {
    using poot::type_of;
    switch (below(12)) {
      case 0: return type_of(t, 1, cols);
      case 1: return type_of(t, rows, 1);
      case 2: return type_of(t, cols);
      case 3: return type_of(t, 2, rows, cols);
      case 4: return type_of(t, cols, cols);
      case 5: return type_of(t);
      default: return type_of(t, rows, cols);
    }
  }
  poot::dtype element() {
    const int k = below(20);
    return k < 14 ? poot::f32 : k < 17 ? poot::bf16 : k < 19 ? poot::i32 : poot::f64;
  }
  void leaf(poot::ir::op kind, int number) {
    const std::string name = std::string(poot::ir::name(kind)) + std::to_string(number);
    values.push_back(g.leaf(kind, number == 0 && kind == poot::ir::op::input ? poot::type_of(poot::f32, rows, cols) : shape(element()), {}, name));
  }

  poot::uint32 any() {
    const size_t near = values.size() < 8 ? values.size() : 8;
    return chance(60) ? values[values.size() - 1 - d.less_than(near)] : values[d.less_than(values.size())];
  }
  /// A value of element type `t`, or none after some tries.
  poot::uint32 of(poot::dtype t) {
    for (int i = 0; i < 6; ++i)
      if (const poot::uint32 id = any(); g.eqns[id].type.element == t) return id;
    return none;
  }
  poot::uint32 of_floats() {
    for (int i = 0; i < 6; ++i)
      if (const poot::uint32 id = any(); is_float(g.eqns[id].type.element)) return id;
    return none;
  }

  poot::uint32 apply(poot::ir::op o, std::vector<poot::uint32> in, std::vector<poot::int64> at = {}, poot::tensor_type declared = {}) {
    std::vector<poot::tensor_type> types;
    for (poot::uint32 id : in) {
      if (id == none) return none;
      types.push_back(g.eqns[id].type);
    }
    const poot::ir::typing t = poot::ir::infer(o, {at.data(), at.size()}, {types.data(), types.size()}, declared);
    if (!t.ok() || t.type.element_count() > 4096) return none;
    const poot::uint32 id = g.apply(o, {in.data(), in.size()}, {at.data(), at.size()}, declared);
    values.push_back(id);
    return id;
  }
  poot::uint32 constant(const poot::tensor_type& t, poot::uint64 bits) {
    const poot::int64 at[1] = {static_cast<poot::int64>(bits)};
    return g.leaf(poot::ir::op::constant, t, {at, 1});
  }
  poot::uint64 one(poot::dtype t) {
    if (!is_float(t)) return 1;
    const poot::float_format f = format_of(t);
    return static_cast<poot::uint64>(f.bias()) << f.fraction_bits;
  }

  void one_equation() {
    using poot::ir::op;
    using namespace poot;
    const uint32 a = any();
    const tensor_type ta = g.eqns[a].type;
    if (updates_ && chance(25)) return update();
    if (chance(6)) return head_with_tail();
    if (chance(2)) return norm_and_products();
    if (chance(4)) return product_in_runs();
    switch (below(28)) {
      case 0: case 1: apply(op::neg, {a}); break;
      case 2: apply(op::exp, {a}); break;
      case 3: case 4: case 5: case 6: case 7: {
        static constexpr op binary[] = {op::add, op::sub, op::mul, op::max};
        apply(binary[below(4)], {a, of(ta.element)});
        break;
      }
      case 8: apply(op::mul, {a, constant(type_of(ta.element), one(ta.element))}); break;
      case 9: apply(op::cast, {of_floats()}, {}, type_of(bf16)); break;
      case 10: apply(op::cast, {of(bf16)}, {}, type_of(f32)); break;
      case 11: apply(op::cast, {a}, {}, type_of(i32)); break;
      case 12: apply(op::lt, {a, of(ta.element)}); break;
      case 13: apply(op::select, {of(i32), a, of(ta.element)}); break;
      case 14: case 15: case 16: {
        static constexpr op reductions[] = {op::reduce_sum, op::reduce_max, op::reduce_sum, op::reduce_argmax};
        if (ta.rank) apply(reductions[below(4)], {a}, {chance(75) ? ta.rank - 1 : below(ta.rank)});
        break;
      }
      case 17: case 18: {
        const uint32 b = of_floats();
        if (b == none) break;
        const int64 turned = chance(50);
        const tensor_type made = type_of(ta.element == f64 ? f64 : chance(80) ? f32 : bf16);
        const uint32 first = apply(op::matmul, {a, b}, {turned}, made);
        if (first == none || chance(50)) break;
        const uint32 second = apply(op::matmul, {a, chance(50) ? b : of_floats()}, {turned}, made);  // of the same rows
        if (second != none && chance(50)) apply(op::mul, {first, second});
        break;
      }
      case 19:
        if (ta.rank >= 2) {
          std::vector<int64> perm;
          for (int i = 0; i < ta.rank; ++i) perm.push_back(i);
          std::swap(perm[static_cast<size_t>(ta.rank) - 1], perm[static_cast<size_t>(ta.rank) - 2]);
          apply(op::transpose, {a}, perm);
        }
        break;
      case 20: {  // whole rows, or not
        std::vector<int64> at;
        for (int i = 0; i < ta.rank; ++i) at.push_back(0);
        for (int i = 0; i < ta.rank; ++i) at.push_back(ta.extents[i].code);
        for (int i = 0; i < ta.rank; ++i) at.push_back(1);
        const size_t axis = ta.rank ? d.less_than(ta.rank) : 0;
        if (ta.rank && !ta.extents[axis].is_dynamic() && ta.extents[axis].code > 1) {
          at[axis] = 1;
          at[static_cast<size_t>(ta.rank) + axis] = ta.extents[axis].code / 2;
          const uint32 part = apply(op::slice, {a}, at);
          if (part != none && chance(60)) apply(op::matmul, {part, of_floats()}, {1}, type_of(ta.element == f64 ? f64 : f32));
        }
        break;
      }
      case 21:
        if (ta.rank == 2) apply(op::reshape, {a}, {}, type_of(ta.element, 1, ta.extents[0], ta.extents[1]));
        else if (ta.rank == 3 && ta.extents[0] == extent(1)) apply(op::reshape, {a}, {}, type_of(ta.element, ta.extents[1], ta.extents[2]));
        break;
      case 22: apply(op::broadcast, {a}, {}, type_of(ta.element, rows, cols)); break;
      case 23:
        if (!rows.is_dynamic()) {  // work on constants only
          const int64 axis[1] = {below(2)};
          values.push_back(g.leaf(op::iota, type_of(chance(70) ? f32 : i32, rows, cols), {axis, 1}));
          apply(op::neg, {values.back()});
        }
        break;
      case 24:
        if (chance(40)) apply(op::random_uniform, {constant(type_of(u32), 7), constant(type_of(u32), 1)}, {}, type_of(f32, rows, cols));
        break;
      case 25: case 26: norm_and_products(); break;
      default: {  // one more step upon the last value
        const uint32 last = values.back();
        apply(chance(50) ? op::abs : op::add, chance(50) ? std::vector<uint32>{last} : std::vector<uint32>{last, a});
        break;
      }
    }
  }

  /// Rows scaled by a sum of theirs, and products of them; sometimes something else reads the rows, or a part of what makes them.
  void norm_and_products() {
    using poot::ir::op;
    using namespace poot;
    uint32 x = none;
    for (int i = 0; i < 10 && x == none; ++i)
      if (const uint32 id = of_floats(); id != none && g.eqns[id].type.rank >= 2 && g.eqns[id].type.last() == cols) x = id;
    if (x == none) return;
    const tensor_type t = g.eqns[x].type;
    const uint32 sum = apply(op::reduce_sum, {chance(50) ? apply(op::mul, {x, x}) : x}, {t.rank - 1});
    uint32 rows_made = apply(op::mul, {x, chance(50) ? apply(op::add, {sum, constant(type_of(t.element), one(t.element))}) : sum});
    if (chance(25)) rows_made = apply(op::mul, {rows_made, of(t.element)});
    if (chance(8)) rows_made = apply(op::cast, {rows_made}, {}, type_of(bf16));
    const tensor_type made = type_of(t.element == f64 ? f64 : f32);
    uint32 before = none;
    for (int k = 1 + below(3); k > 0; --k) {
      uint32 w = none;
      for (int i = 0; i < 8 && w == none; ++i)
        if (const uint32 id = chance(10) ? rows_made : of_floats(); id != none && g.eqns[id].type.rank >= 2 && (chance(20) || g.eqns[id].type.rank == 2)) w = id;
      uint32 product = apply(op::matmul, {rows_made, w}, {chance(50)}, made);
      if (product != none && chance(50)) product = apply(op::neg, {product});
      if (product != none && before != none && chance(40)) product = apply(op::add, {product, before});
      before = product;
    }
    if (chance(20)) apply(op::add, {chance(50) ? sum : rows_made, chance(50) && before != none ? before : x});
  }

  /// A product, mostly of one row, and rows that reduce runs of it; sometimes something else reads it, or its runs, or the rows read more.
  void product_in_runs() {
    using poot::ir::op;
    using namespace poot;
    const std::string number = std::to_string(g.size());
    const int64 columns = 8 * (1 + below(3)), many = chance(75) ? 1 : 2;
    uint32 x = none;
    for (int i = 0; i < 10 && x == none; ++i)
      if (const uint32 id = of_floats(); id != none && g.eqns[id].type == type_of(f32, many, cols)) x = id;
    if (x == none) x = g.leaf(op::input, type_of(f32, many, cols), {}, "row" + number);
    if (chance(30)) x = apply(op::mul, {x, apply(op::reduce_sum, {x}, {1})});
    uint32 y = apply(op::matmul, {x, g.leaf(op::weight, type_of(f32, columns, cols), {}, "head" + number)}, {1}, type_of(chance(85) ? f32 : bf16));
    if (y == none) return;
    if (chance(40)) y = apply(op::mul, {y, constant(type_of(g.eqns[y].type.element), one(g.eqns[y].type.element))});
    if (chance(10)) y = apply(op::cast, {y}, {}, type_of(bf16));
    if (y == none) return;
    const dtype t = g.eqns[y].type.element;
    const int64 run = many == 2 && chance(60) ? many * columns : chance(60) ? 8 : chance(50) ? 4 : columns;
    const uint32 made = y, runs = apply(op::reshape, {y}, {}, chance(50) ? type_of(t, 1, many * columns / run, run) : type_of(t, many * columns / run, run));
    if (runs == none) return;
    const int64 last = g.eqns[runs].type.rank - 1;
    const uint32 shifted = chance(40) ? apply(op::mul, {runs, runs}) : runs;
    const uint32 reduced = apply(chance(50) ? op::reduce_max : chance(50) ? op::reduce_sum : op::reduce_argmax, {shifted}, {last});
    if (chance(50) && reduced != none && g.eqns[reduced].type.element == t) apply(op::sub, {runs, reduced});
    if (chance(30)) apply(op::reduce_max, {runs}, {last});
    if (chance(8)) apply(op::add, {runs, of(t)});
    if (chance(8)) apply(op::transpose, {runs}, last == 2 ? std::vector<int64>{0, 2, 1} : std::vector<int64>{1, 0});
    if (chance(15)) apply(op::neg, {made});
  }

  /// A movement, rope or attention, and what may stand behind it: views, steps, transposes, at the end often the update of a state
  /// of its own.
  void head_with_tail() {
    using poot::ir::op;
    using namespace poot;
    const uint32 x = of(f32);
    if (x == none) return;
    const std::string number = std::to_string(g.size());
    const auto input = [&](const char* name, const tensor_type& t) { return g.leaf(op::input, t, {}, name + number); };
    const auto swap_last = [&](uint32 id) {
      const int rank = id == none ? 0 : g.eqns[id].type.rank;
      if (rank < 2) return none;
      std::vector<int64> perm;
      for (int i = 0; i < rank; ++i) perm.push_back(i);
      const size_t from = rank > 2 && chance(60) ? 0 : static_cast<size_t>(rank) - 2;
      std::swap(perm[from], perm[from + 1]);
      return apply(op::transpose, {id}, perm);
    };
    uint32 at = none;
    switch (below(updates_ ? 5 : 4)) {  // attention's values follow the order of its sums, which passes set
      case 0: at = swap_last(x); break;
      case 1: at = apply(op::gather, {x, input("index", type_of(i32, 3))}, {0}); break;
      case 2: at = apply(op::concat, {x, x}, {0}); break;
      case 3: at = apply(op::rope, {x, input("cos", type_of(f32, 4)), input("sin", type_of(f32, 4))}, {chance(70) ? 8 : 4, chance(50), 0}); break;
      default: {
        const uint32 keys = input("keys", type_of(f32, 5, cols));
        const tensor_type t = g.eqns[x].type;
        uint32 queries = x;
        if (t.rank == 3 && chance(50)) queries = apply(op::reshape, {x}, {}, type_of(f32, t.extents[0], 1, t.extents[1], t.extents[2]));
        at = apply(op::attention, {queries, keys, keys}, {0x3f000000, 0, 0, 0});
        if (queries != x && at != none) at = apply(op::reshape, {at}, {}, t);
        if (queries != x && at != none) at = swap_last(at);
        break;
      }
    }
    for (int steps = below(4); steps > 0 && at != none; --steps) {
      const tensor_type t = g.eqns[at].type;
      uint32 next = none;
      switch (below(6)) {
        case 0: next = apply(op::mul, {at, constant(type_of(t.element), one(t.element))}); break;
        case 1: next = apply(op::neg, {at}); break;
        case 2: next = apply(op::cast, {at}, {}, type_of(t.element == f32 ? bf16 : f32)); break;
        case 3: next = swap_last(at); break;
        default:
          if (t.rank == 2) next = apply(op::reshape, {at}, {}, type_of(t.element, 1, t.extents[0], t.extents[1]));
          else if (t.rank == 3 && t.extents[0] == extent(1)) next = apply(op::reshape, {at}, {}, type_of(t.element, t.extents[1], t.extents[2]));
      }
      if (next != none) at = next;
    }
    if (at == none || chance(40) || g.eqns[at].type.rank == 0 || g.eqns[at].type.is_dynamic()) return;
    tensor_type held = g.eqns[at].type;
    held.extents[0] = extent(held.extents[0].code + below(3));
    const uint32 state = g.leaf(op::state, held, {}, "tail" + number);
    const uint32 written = apply(op::dynamic_update_slice, {state, at, input("at", type_of(i32, held.rank))});
    if (written == none) return;
    values.pop_back();
    g.add_output(chance(90) ? "tail" + number : "copied" + number, written);
    if (chance(10)) g.add_output("again" + number, written);
    if (chance(30)) apply(op::neg, {written});
  }

  /// Writes part of a cache, or of what an update made of it.
  void update() {
    using poot::ir::op;
    using namespace poot;
    uint32 cache = states[d.less_than(states.size())];
    if (chance(50))
      for (uint32 id = static_cast<uint32>(g.size()); id-- > 0;)
        if (g.eqns[id].kind == op::dynamic_update_slice && chance(70)) {
          cache = id;
          break;
        }
    const int64 at[2] = {below(3), 0};
    const uint32 start = g.leaf(op::constant, type_of(i32, 2), {at, 2});
    uint32 part = none;
    for (int i = 0; i < 10 && part == none; ++i) {
      const uint32 id = any();
      const tensor_type& t = g.eqns[id].type;
      if (t == type_of(f32, 1, cols) || t == type_of(f32, 4, cols)) part = id;
    }
    apply(op::dynamic_update_slice, {cache, part, start});
    if (chance(30)) {  // views and other readers of caches
      const uint32 id = chance(50) ? cache : values.back();
      const uint32 seen = apply(op::reshape, {id}, {}, type_of(f32, cols, 4));
      if (seen != none && chance(50)) apply(op::neg, {seen});
    }
  }

  void finish() {
    using namespace poot;
    for (uint32 s : states) {
      vec<uint32> fitting;
      for (uint32 id = 0; id < g.size(); ++id)
        if (g.eqns[id].type == g.eqns[s].type && (g.eqns[id].kind == ir::op::dynamic_update_slice || chance(15))) fitting.push_back(id);
      if (!fitting.empty() && chance(85)) g.add_output(std::string(g.view_of().name_of(s)), fitting[fitting.size() - 1 - d.less_than(fitting.size() < 3 ? fitting.size() : 3)]);
    }
    std::vector<bool> read(g.size(), false);
    for (const poot::ir::eqn& e : g.eqns)
      for (poot::uint32 in : g.view_of().operands(e)) read[in] = true;
    int count = 0;
    for (poot::uint32 id = 0; id < g.size(); ++id) {
      if (poot::ir::is_leaf(g.eqns[id].kind) && g.eqns[id].kind != poot::ir::op::random_uniform) continue;
      if (!read[id] || chance(8)) g.add_output("out" + std::to_string(count++), id);
    }
  }

  poot::ir::graph g;
  std::vector<poot::uint32> values, states;
  bool updates_ = false;
  poot::extent rows, cols;
};

}  // namespace poot_tests

#pragma once
/// Legal graphs at random, from a seed: every op but collectives, every element type, shared values, states, dynamic
/// extents, several outputs, and known patterns in random surroundings.

#include "graph_states.hpp"

namespace poot_tests {

class graph_generator : private graph_states {
 public:
  explicit graph_generator(uint64 seed) : graph_states(seed) {}

  ir::graph make() {
    const int wanted = 5 + below(chance(30) ? 36 : 14);
    const int focus = below(6);
    for (int step = 0; equations() < wanted && step < 60; ++step) {
      if (chance(6)) pattern();
      else if (chance(focus == 4 ? 40 : 2)) chance(50) ? state_traffic() : tail();
      else if (focus == 0 || chance(55)) pointwise();
      else if (focus == 1 || chance(30)) reduction();
      else if (focus == 2 || chance(35)) movement();
      else if (focus == 3 || chance(60)) contraction();
      else leaf();
    }
    finish();
    return std::move(g_);
  }

 private:
  /// Equations that compute something.
  int equations() const {
    int count = 0;
    for (const ir::eqn& e : g_.eqns) count += !ir::is_leaf(e.kind);
    return count;
  }

  // ---- single ops
  void pointwise() {
    using namespace ir;
    const int kind = below(100);
    if (kind < 25) {
      static constexpr op unary[] = {op::neg, op::exp, op::log, op::sqrt, op::recip, op::sin, op::cos, op::tanh, op::erf, op::abs, op::floor, op::bit_not};
      const op o = unary[below(12)];
      add(o, {any(row(o).accepts)});
    } else if (kind < 65) {
      static constexpr op binary[] = {op::add, op::add, op::sub, op::mul, op::mul, op::div, op::max, op::min, op::pow,
                                      op::bit_and, op::bit_or, op::bit_xor, op::shl, op::shr};
      const op o = binary[below(14)];
      const uint32 a = any(row(o).accepts), b = companion(type(a), element(a));
      chance(30) ? add(o, {b, a}) : add(o, {a, b});
    } else if (kind < 75) {
      const op o = static_cast<op>(static_cast<int>(op::eq) + below(6));
      const uint32 a = any(row(o).accepts);
      const uint32 b = companion(type(a), element(a));
      chance(30) ? add(o, {b, a}) : add(o, {a, b});
    } else if (kind < 85) {
      const uint32 a = any(dtypes::unpacked), b = companion(type(a), element(a));
      tensor_type both = type(a);
      ir::detail::broadcast_into(both, type(b));
      const uint32 c = companion(both, i32);
      chance(50) ? add(op::select, {c, a, b}) : add(op::select, {c, b, a});
    } else {
      const uint32 a = any(dtypes::unpacked);
      add(op::cast, {a}, {}, type(a).with(draw_dtype()));
    }
  }

  void reduction() {
    static constexpr op kinds[] = {op::reduce_sum, op::reduce_sum, op::reduce_max, op::reduce_min, op::reduce_argmax};
    const op o = kinds[below(5)];
    const uint32 a = any_of_rank(ir::row(o).accepts, 1);
    const int axis = chance(60) ? rank(a) - 1 : below(rank(a));
    if (o == op::reduce_argmax && type(a)[axis] == extent(0)) return;
    add(o, {a}, {axis});
  }

  void movement() {
    const int kind = below(100);
    if (kind < 18) gather();
    else if (kind < 36) slice();
    else if (kind < 50) concat();
    else if (kind < 64) transpose();
    else if (kind < 72) broadcast();
    else if (kind < 86) reshape(any(ir::dtypes::unpacked));
    else update();
  }

  void gather() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 1);
    const int axis = chance(60) ? 0 : below(rank(x));
    if (type(x)[axis] == extent(0)) return;
    const uint32 index = find([&](uint32 v) {
      return element(v) == i32 && rank(v) + rank(x) - 1 <= max_rank &&
             elements(type(x).with(axis, extent(1))) * elements(type(v)) <= most_elements_;
    });
    if (index != none && !chance(30)) {
      add(op::gather, {x, index}, {axis});
      return;
    }
    if (rank(x) > 5) return;
    extent rows = chance(30) ? type(x)[axis] : extent(1 + below(5));
    if (elements(type(x).with(axis, rows)) > most_elements_) rows = extent(1);
    add(op::gather, {x, leaf_of({rows}, i32)}, {axis});
  }

  void slice() {
    const uint32 x = any(ir::dtypes::unpacked);
    vec<int64> start, size, step;
    const bool rows = chance(40);  // whole rows, or a part of each
    for (int i = 0; i < rank(x); ++i) {
      const extent e = type(x)[i];
      const bool whole = e.is_dynamic() || e.code == 0 || chance(40) || (rows && i == rank(x) - 1);
      const int64 s = whole ? 1 : 1 + (chance(25) ? below(3) : 0);
      const int64 first = whole ? 0 : below(static_cast<int>(e.code));
      const int64 most = whole ? e.code : (e.code - 1 - first) / s + 1;
      start.push_back(first);
      size.push_back(whole || chance(40) ? most : chance(3) ? 0 : 1 + below(static_cast<int>(most)));
      step.push_back(s);
    }
    vec<int64> attrs(start);
    attrs.append(size);
    attrs.append(step);
    const uint32 in[1] = {x};
    add_with(op::slice, {in, 1}, attrs);
  }

  void concat() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 1);
    const int axis = below(rank(x));
    if (type(x)[axis].is_dynamic()) return;
    vec<uint32> in{x};
    int64 along = type(x)[axis].code;
    const int64 each = elements(type(x).with(axis, extent(1)));
    for (int i = below(4); i > 0; --i) {
      uint32 y = find([&](uint32 v) {
        return element(v) == element(x) && rank(v) == rank(x) && !type(v)[axis].is_dynamic() &&
               type(v).with(axis, type(x)[axis]).same_extents(type(x));
      });
      if (y == none || chance(30)) y = leaf_of(type(x).with(axis, extent(1 + below(4))));
      if ((along + type(y)[axis].code) * each > most_elements_) break;
      along += type(y)[axis].code;
      in.push_back(y);
    }
    add_with(op::concat, in, {axis});
  }

  void transpose() {
    const uint32 x = any_of_rank(ir::dtypes::unpacked, 2);
    vec<int64> perm;
    for (int i = 0; i < rank(x); ++i) perm.push_back(i);
    const bool last_two = chance(40);
    for (int i = rank(x) - 1; i > 0; --i) {
      std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(last_two ? rank(x) - 2 : below(i + 1))]);
      if (last_two) break;
    }
    const uint32 in[1] = {x};
    add_with(op::transpose, {in, 1}, perm);
  }

  void broadcast() {
    const uint32 x = any(ir::dtypes::unpacked);
    tensor_type to = type(x);
    for (int i = 0; i < to.rank; ++i)
      if (to.extents[i] == extent(1) && chance(70)) to = grown(to, i);
    if (to.rank < 4 && chance(50)) {
      for (int i = to.rank++; i > 0; --i) to.extents[i] = to.extents[i - 1];
      to.extents[0] = extent(1);
      to = grown(to, 0);
    }
    if (!knows(to)) return;
    add(op::broadcast, {x}, {}, to);
  }
  tensor_type grown(const tensor_type& t, int axis) {
    const tensor_type to = t.with(axis, extents_[below(static_cast<int>(extents_.size()))]);
    return elements(to) <= most_elements_ ? to : t;
  }

  void update() {
    uint32 x = find([&](uint32 v) { return g_.eqns[v].kind == op::state && rank(v) > 0; });
    if (x == none || chance(50)) x = any_of_rank(ir::dtypes::unpacked, 1);
    update_of(x);
  }
  void leaf() {
    if (chance(20)) {
      const tensor_type scalar = type_of(u32);
      const uint32 seed = chance(60) ? literal(u32) : any_of_type(scalar), offset = chance(60) ? literal(u32) : any_of_type(scalar);
      tensor_type t = draw_type(f32);
      if (knows(t)) add(op::random_uniform, {seed, offset}, {}, t);
    } else {
      leaf_of(draw_type(draw_dtype()));
    }
  }

  // ---- outputs and states
  void finish() {
    vec<uint8> read(g_.size(), 0);
    for (uint32 id = 0; id < g_.size(); ++id)
      for (uint32 in : g_.view_of().operands(id)) read[in] = 1;
    vec<uint32> states;
    const auto body = static_cast<uint32>(g_.size());
    for (uint32 id = 0; id < body; ++id)
      if (g_.eqns[id].kind == op::state) states.push_back(id);
    for (uint32 s : states)
      if (!has_output(g_.view_of().name_of(s))) finish_state(s, states);
    const int most = chance(30) ? 1 : 1 + below(6);
    int made = 0;
    const auto result = [&](uint32 id) { g_.add_output((text{"y"} << made++).str(), id); };
    for (uint32 id = body; id-- > 0 && made < most;)
      if (!read[id] && !ir::is_leaf(g_.eqns[id].kind) && chance(90)) result(id);
    while (chance(30) && made < 8) result(static_cast<uint32>(below(static_cast<int>(body))));
    if (const auto id = static_cast<uint32>(below(static_cast<int>(body))); chance(12) && !is_packed(element(id))) result(reshape(id));
    if (made == 0) result(body - 1);
  }
  bool has_output(std::string_view name) const {
    for (const ir::graph_output& o : g_.outputs)
      if (g_.view_of().chars(o.name) == name) return true;
    return false;
  }
  void finish_state(uint32 s, const vec<uint32>& states) {
    const std::string name(g_.view_of().name_of(s));
    const auto same = [&](uint32 v) { return v != s && type(v) == type(s); };
    uint32 value = none;
    switch (below(8)) {
      case 0: return;
      case 1: value = s; break;
      case 2:
        for (uint32 other : states)
          if (same(other)) value = other;
        break;
      case 3:
      case 4: value = find(same); break;
      case 5: value = find([&](uint32 v) { return same(v) && g_.eqns[v].kind == op::dynamic_update_slice; }); break;
      default: break;
    }
    if (value == none) {
      value = s;
      for (int i = 1 + below(3); i > 0; --i) value = update_of(value);
    }
    g_.add_output(name, value);
  }
};

}  // namespace poot_tests

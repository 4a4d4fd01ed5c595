// What stands behind movements, ropes and attention in one dispatch: views, casts and steps, transposes, and at the end an update
// of a state in place.
#include "sample.hpp"

namespace poot_tests {

namespace {

constexpr int64 bits_of(float x) { return std::bit_cast<uint32>(x); }

/// Bits that only move, with odd numbers of elements to a word.
sample moved(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 cache = m.state(type_of(t, 4, 9, 7)), rows = m.state(type_of(t, 1, 8, 5)), turned = m.state(type_of(t, 5, 3, 3));
  m.update(cache, m.apply(op::dynamic_update_slice, {cache, m.apply(op::transpose, {m.input(type_of(t, 3, 4, 7))}, {1, 0, 2}), m.places(type_of(i32, 3), 7)}));
  const uint32 picked = m.apply(op::gather, {m.input(type_of(t, 6, 5)), m.places(type_of(i32, 3), 6)}, {0});
  m.update(rows, m.apply(op::dynamic_update_slice, {rows, m.apply(op::reshape, {picked}, {}, type_of(t, 1, 3, 5)), m.places(type_of(i32, 3), 6)}));
  const uint32 joined = m.apply(op::concat, {m.input(type_of(t, 2, 3)), m.input(type_of(t, 3, 3))}, {0});
  const uint32 apart = m.apply(op::transpose, {m.apply(op::reshape, {joined}, {}, type_of(t, 5, 1, 3))}, {0, 2, 1});
  m.update(turned, m.apply(op::dynamic_update_slice, {turned, apart, m.places(type_of(i32, 3), 3)}));
  m.result(m.apply(op::transpose, {m.apply(op::slice, {m.input(type_of(t, 5, 9))}, {1, 2, 3, 5, 1, 1})}, {1, 0}));
  return m.finish_moving(3);
}

/// Steps of the one value that passes, in order and out of order; a small pointwise region beside.
sample computed(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 picked = m.apply(op::gather, {m.input(type_of(t, 6, 5), filling::mixed), m.places(type_of(i32, 3), 6)}, {0});
  m.result(m.apply(op::mul, {m.cast(picked, f32), m.number(f32, 1.5)}));
  const uint32 moved = m.apply(op::transpose, {m.input(type_of(t, 3, 5), filling::mixed)}, {1, 0});
  m.result(m.apply(op::neg, {m.apply(op::neg, {m.apply(op::transpose, {m.apply(op::neg, {moved})}, {1, 0})})}));
  m.result(m.cast(m.apply(op::slice, {m.input(type_of(t, 4, 9), filling::mixed)}, {1, 2, 3, 5, 1, 1}), is_float(t) ? bf16 : f16));
  const uint32 x = m.input(type_of(f32, 3, 7), filling::mixed), y = m.apply(op::exp, {x});
  m.result(m.apply(op::add, {y, m.apply(op::mul, {y, x})}));
  return m.finish();
}

/// Queries and keys turn, heads move in front of positions, keys and values join their caches.
sample heads(const std::string& name, dtype kept, int64 tokens) {
  sample_maker m(name);
  const uint32 cos = m.input(type_of(f32, tokens, 1, 3), filling::plain), sin = m.input(type_of(f32, tokens, 1, 3), filling::plain);
  const uint32 keys = m.state(type_of(kept, 2, 9, 6), filling::plain), values = m.state(type_of(kept, 2, 9, 6), filling::plain), at = m.places(type_of(i32, 3), 9);
  const int64 attrs[3] = {6, 0, 0};
  const auto turned = [&](int64 count) {
    const uint32 x = m.apply(op::reshape, {m.input(type_of(f32, tokens, 6 * count), filling::mixed)}, {}, type_of(f32, tokens, count, 6));
    const vec<uint32> in{x, cos, sin};
    return m.apply(op::transpose, {m.graph().apply(op::rope, in, {attrs, 3}, {})}, {1, 0, 2});
  };
  const auto written = [&](uint32 cache, uint32 rows) { m.update(cache, m.apply(op::dynamic_update_slice, {cache, kept == f32 ? rows : m.cast(rows, kept), at})); };
  m.result(turned(4));
  written(keys, turned(2));
  written(values, m.apply(op::transpose, {m.apply(op::reshape, {m.input(type_of(f32, tokens, 12), filling::mixed)}, {}, type_of(f32, tokens, 2, 6))}, {1, 0, 2}));
  return m.finish(3);
}

/// Attention, its heads behind positions, and its columns in front of them.
sample attended(const std::string& name, dtype to) {
  sample_maker m(name);
  const int64 attrs[4] = {bits_of(0.25f), 0, 0, 0};
  for (const auto& [queries, width] : {std::pair<int64, int64>{1, 8}, {3, 7}, {5, 12}}) {
    const vec<uint32> in{m.input(type_of(f32, 2, 2, queries, 8), filling::plain), m.input(type_of(f32, 2, 1, 9, 8), filling::plain), m.input(type_of(f32, 2, 1, 9, width), filling::mixed)};
    const auto made = [&] { return m.graph().apply(op::attention, in, {attrs, 4}, type_of(to)); };
    m.result(m.apply(op::transpose, {m.apply(op::reshape, {made()}, {}, type_of(to, 4, queries, width))}, {1, 0, 2}));
    m.result(m.apply(op::transpose, {made()}, {0, 3, 1, 2}));
  }
  return m.finish();
}

}  // namespace

samples tail_samples() {
  samples all;
  for (dtype t : unpacked_types) {
    const std::string of = " of " + std::string(poot::name(t));
    all.push_back({"movements with tails" + of, [=] { return moved("movements with tails" + of, t); }});
    if (t != boolean && t != u8 && t != u32) all.push_back({"movements with steps behind" + of, [=] { return computed("movements with steps behind" + of, t); }});
  }
  for (dtype t : {f32, f16, bf16}) {
    const std::string of = " of " + std::string(poot::name(t));
    for (int64 tokens : {1, 3}) {
      const std::string what = "heads into caches" + of + ", " + std::to_string(tokens) + (tokens == 1 ? " token" : " tokens");
      all.push_back({what, [=] { return heads(what, t, tokens); }});
    }
    all.push_back({"attention with a tail" + of, [=] { return attended("attention with a tail" + of, t); }});
  }
  return all;
}

}  // namespace poot_tests

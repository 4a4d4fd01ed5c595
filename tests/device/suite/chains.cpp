// What passes recognise: attention and rope, as equations and as the chains that they are written as.
#include "sample.hpp"

namespace poot_tests {

namespace {

constexpr int64 bits_of(float x) { return std::bit_cast<uint32>(x); }

enum class mask : uint8 { none, added, chosen, both };
constexpr const char* spelling[] = {"", ", added to", ", chosen from", ", added to and chosen from"};

/// Keys around a chunk of 256, heads that share keys, one query and several.
sample attention(const std::string& name, dtype q, dtype kept, dtype to, mask with, float softcap, bool strict = false) {
  sample_maker m(name);
  for (const auto& [queries, keys] : {std::pair<int64, int64>{1, 1}, {3, 17}, {1, 256}, {2, 257}, {1, 600}}) {
    const uint32 x = m.input(type_of(q, 4, queries, 24), filling::plain), k = m.input(type_of(kept, 2, keys, 24), filling::plain),
                 v = m.input(type_of(kept, 2, keys, 20), filling::mixed);
    vec<uint32> in{x, k, v};
    if (with == mask::added || with == mask::both) in.push_back(m.input(type_of(f32, queries, keys), filling::plain));
    if (with == mask::chosen || with == mask::both) in.push_back(m.input(type_of(i32, queries, keys), filling::plain));
    const int64 attrs[4] = {bits_of(0.25f), bits_of(softcap), 0, strict};
    m.result(m.graph().apply(op::attention, in, {attrs, 4}, type_of(to)));
  }
  return m.finish();
}

/// Parts of chunks and their join, for `heads` that share one head of keys and for a pair that shares another; the parts are a result too.
sample split_attention(const std::string& name, int64 heads, dtype kept, dtype to, mask with) {
  sample_maker m(name);
  const bool sinks = with == mask::both;
  for (const auto& [all, shared, queries, keys] : {std::tuple<int64, int64, int64, int64>{heads, 1, 1, 600}, {4, 2, 2, 256}}) {
    vec<uint32> in{m.input(type_of(kept, all, queries, 12), filling::plain), m.input(type_of(kept, shared, keys, 12), filling::plain), m.input(type_of(kept, shared, keys, 7), filling::mixed)};
    if (with == mask::added || with == mask::both) in.push_back(m.input(type_of(f32, all, 1, keys), filling::plain));
    if (with == mask::chosen || with == mask::both) in.push_back(m.apply(op::le, {m.apply(op::iota, {}, {0}, type_of(i32, keys)), m.places(type_of(i32, queries, 1), keys)}));
    const int64 attrs[2] = {bits_of(0.25f), bits_of(with == mask::both ? 5.0f : 0.0f)};
    const uint32 parts = m.graph().apply(op::attention_parts, in, {attrs, 2}, {});
    const uint32 both[2] = {parts, sinks ? m.input(type_of(kept, all, 1, 1), filling::plain) : 0};
    if (shared == 2) m.result(parts);
    m.result(m.graph().apply(op::attention_join, {both, sinks ? 2u : 1u}, {}, type_of(to)));
  }
  return m.finish();
}

/// Joins of any parts, those of no key among them.
sample join_of_parts(const std::string& name) {
  sample_maker m(name);
  for (const tensor_type& t : {type_of(f32, 3, 2, 5, 7), type_of(f32, 2, 3, 11), type_of(f32, 1, 1, 3)})
    m.result(m.apply(op::attention_join, {m.input(t, filling::mixed)}, {}, type_of(f32)));
  return m.finish();
}

/// softmax(q·kᵀ·scale + bias)·v.
sample attention_chain(const std::string& name, dtype kept) {
  sample_maker m(name);
  const uint32 q = m.input(type_of(f32, 3, 5, 16), filling::plain), k = m.input(type_of(kept, 3, 40, 16), filling::plain), v = m.input(type_of(kept, 3, 40, 16), filling::plain);
  const uint32 scores = m.apply(op::mul, {m.apply(op::matmul, {q, k}, {1}, type_of(f32)), m.number(f32, 0.25)});
  const uint32 masked = m.apply(op::add, {scores, m.input(type_of(f32, 5, 40), filling::plain)});
  const uint32 e = m.apply(op::exp, {m.apply(op::sub, {masked, m.apply(op::reduce_max, {masked}, {2})})});
  m.result(m.apply(op::matmul, {m.apply(op::div, {e, m.apply(op::reduce_sum, {e}, {2})}), v}, {0}, type_of(f32)));
  return m.finish();
}

/// A score of each head without a value, alone and behind a mask that leaves no key, less and more than the scores.
sample attention_with_sinks(const std::string& name, dtype kept, mask with) {
  sample_maker m(name);
  for (const auto& [queries, keys] : {std::pair<int64, int64>{1, 1}, {3, 17}, {2, 257}, {1, 600}}) {
    vec<uint32> in{m.input(type_of(f32, 4, queries, 12), filling::plain), m.input(type_of(f32, 2, keys, 12), filling::plain), m.input(type_of(f32, 2, keys, 9), filling::mixed)};
    if (with == mask::chosen) in.push_back(m.apply(op::le, {m.apply(op::iota, {}, {0}, type_of(i32, keys)), m.places(type_of(i32, queries, 1), keys)}));
    in.push_back(m.input(type_of(kept, 4, queries == 3 ? 3 : 1, 1), filling::mixed));
    const int64 attrs[4] = {bits_of(0.25f), 0, 1, 0};
    m.result(m.graph().apply(op::attention, in, {attrs, 4}, type_of(f32)));
  }
  return m.finish();
}

/// The chain with a sink: as a column beside the scores, or in their greatest and their sum.
sample sunk_chain(const std::string& name, bool as_column) {
  sample_maker m(name);
  for (const auto& [queries, keys] : {std::pair<int64, int64>{1, 7}, {5, 40}, {3, 270}}) {
    const uint32 q = m.input(type_of(f32, 4, queries, 12), filling::plain), k = m.input(type_of(f32, 4, keys, 12), filling::plain), v = m.input(type_of(f32, 4, keys, 9), filling::plain);
    const uint32 chosen = m.apply(op::le, {m.apply(op::iota, {}, {0}, type_of(i32, keys)), m.places(type_of(i32, queries, 1), keys)});
    uint32 s = m.apply(op::select, {chosen, m.apply(op::mul, {m.apply(op::matmul, {q, k}, {1}, type_of(f32)), m.number(f32, 0.25)}), m.number(f32, -INFINITY)});
    const uint32 sink = m.input(type_of(f32, 4, 1, 1), filling::plain);
    if (as_column) s = m.apply(op::concat, {s, m.apply(op::broadcast, {sink}, {}, type_of(f32, 4, queries, 1))}, {2});
    const uint32 own = m.apply(op::reduce_max, {s}, {2}), greatest = as_column ? own : m.apply(op::max, {own, sink});
    const uint32 e = m.apply(op::exp, {m.apply(op::sub, {s, greatest})});
    uint32 sum = m.apply(op::reduce_sum, {e}, {2});
    if (!as_column) sum = m.apply(op::add, {sum, m.apply(op::exp, {m.apply(op::sub, {sink, greatest})})});
    uint32 p = m.apply(op::div, {e, sum});
    if (as_column) p = m.apply(op::slice, {p}, {0, 0, 0, 4, queries, keys, 1, 1, 1});
    m.result(m.apply(op::matmul, {p, v}, {0}, type_of(f32)));
  }
  return m.finish();
}

/// Widths of heads that fill no vector, and of values that differ from those of keys.
sample attention_of_odd_heads(const std::string& name, dtype kept) {
  sample_maker m(name);
  for (const auto& [width, columns] : {std::pair<int64, int64>{1, 1}, {3, 5}, {33, 7}, {65, 63}, {127, 129}}) {
    const int64 queries = width == 33 ? 1 : 2, keys = width == 3 ? 300 : 9, attrs[4] = {bits_of(0.5f), 0, 0, 0};
    const uint32 q = m.input(type_of(f32, 2, queries, width), filling::plain);
    const uint32 in[3] = {q, m.input(type_of(kept, 2, keys, width), filling::plain), m.input(type_of(kept, 2, keys, columns), filling::mixed)};
    m.result(m.graph().apply(op::attention, {in, 3}, {attrs, 4}, type_of(f32)));
  }
  return m.finish();
}

/// Every way in which query heads share those of keys: each its own, groups, one for all; in a batch, for all of it.
sample attention_of_groups(const std::string& name) {
  sample_maker m(name);
  const int64 attrs[4] = {bits_of(0.5f), 0, 0, 0};
  const auto attend = [&](const tensor_type& q, const tensor_type& k) {
    const uint32 x = m.input(q, filling::plain), keys = m.input(k, filling::plain), values = m.input(k, filling::mixed);
    const uint32 in[3] = {x, keys, values};
    m.result(m.graph().apply(op::attention, {in, 3}, {attrs, 4}, type_of(f32)));
  };
  for (int64 shared : {1, 2, 3, 6}) attend(type_of(f32, 6, shared % 2 + 1, 16), type_of(f32, shared, 20, 16));
  attend(type_of(f32, 3, 16), type_of(f32, 20, 16));
  attend(type_of(f32, 2, 4, 3, 16), type_of(f32, 2, 2, 20, 16));
  attend(type_of(f32, 2, 4, 1, 16), type_of(f32, 1, 1, 20, 16));
  attend(type_of(f32, 2, 4, 2, 16), type_of(f32, 4, 20, 16));
  return m.finish();
}

enum class seen : uint8 { causal, sliding, added, alibi, alibi_capped };

/// The chain under masks of positions, which lie outside the keys too: rows that see no key are NaN.
sample masked_chain(const std::string& name, seen by) {
  sample_maker m(name);
  for (const auto& [queries, keys] : {std::pair<int64, int64>{1, 7}, {5, 40}, {3, 270}}) {
    const uint32 q = m.input(type_of(f32, 4, queries, 12), filling::plain);
    const auto copies = [&](uint32 x) {
      return m.apply(op::reshape, {m.apply(op::broadcast, {m.apply(op::reshape, {x}, {}, type_of(f32, 2, 1, keys, 12))}, {}, type_of(f32, 2, 2, keys, 12))}, {}, type_of(f32, 4, keys, 12));
    };
    const uint32 k = copies(m.input(type_of(f32, 2, keys, 12), filling::plain)), v = copies(m.input(type_of(f32, 2, keys, 12), filling::plain));
    uint32 s = m.apply(op::mul, {m.apply(op::matmul, {q, k}, {1}, type_of(f32)), m.number(f32, 0.25)});
    if (by == seen::alibi_capped) s = m.apply(op::mul, {m.apply(op::tanh, {m.apply(op::div, {s, m.number(f32, 5)})}), m.number(f32, 5)});
    const uint32 key = m.apply(op::iota, {}, {0}, type_of(i32, keys)), query = m.places(type_of(i32, queries, 1), keys);
    if (by == seen::added) {
      s = m.apply(op::add, {s, m.input(type_of(f32, 4, 1, keys), filling::mixed)});
    } else if (by == seen::alibi || by == seen::alibi_capped) {
      const uint32 behind = m.apply(op::cast, {m.apply(op::sub, {key, m.apply(op::max, {query, m.number(i32, 0)})})}, {}, type_of(f32));
      s = m.apply(op::add, {s, m.apply(op::mul, {m.input(type_of(f32, 4, 1, 1), filling::plain), behind})});
    }
    uint32 chosen = m.apply(op::le, {key, query});
    if (by == seen::sliding) chosen = m.apply(op::bit_and, {chosen, m.apply(op::gt, {m.apply(op::add, {key, m.number(i32, 4)}), query})});
    if (by != seen::added) s = m.apply(op::select, {chosen, s, m.number(f32, -INFINITY)});
    const uint32 e = m.apply(op::exp, {m.apply(op::sub, {s, m.apply(op::reduce_max, {s}, {2})})});
    m.result(m.apply(op::matmul, {m.apply(op::div, {e, m.apply(op::reduce_sum, {e}, {2})}), v}, {0}, type_of(f32)));
  }
  return m.finish();
}

/// Whole rows and parts of them, one pair and many; tables of rows, of heads and of one row for all, for each pair or each element.
sample rope(const std::string& name, dtype t, bool adjacent, bool has_signs) {
  sample_maker m(name);
  int kind = 0;
  for (const auto& [last, width] : {std::pair<int64, int64>{8, 8}, {11, 6}, {2, 2}, {130, 128}, {5, 2}}) {
    const int64 attrs[3] = {width, adjacent, has_signs}, entries = has_signs || last == 11 ? width : width / 2;
    const tensor_type tables[3] = {type_of(t, 3, entries), type_of(t, 2, 1, entries), type_of(t, entries)};
    const tensor_type& table = tables[kind++ % 3];
    const uint32 x = m.input(type_of(t, 2, 3, last), filling::mixed);
    const uint32 in[3] = {x, m.input(table, filling::mixed), m.input(table, filling::mixed)};
    m.result(m.graph().apply(op::rope, {in, 3}, {attrs, 3}, {}));
  }
  return m.finish();
}

/// What rope is made of: halves with a rest, even and odd elements, halves negated.
sample rope_chain(const std::string& name, dtype t) {
  sample_maker m(name);
  const auto part = [&](uint32 x, int64 start, int64 size, int64 step) { return m.apply(op::slice, {x}, {0, 0, start, 2, 3, size, 1, 1, step}); };
  const auto turned = [&](uint32 a, uint32 b, uint32 c, uint32 s) {
    return std::pair(m.apply(op::sub, {m.apply(op::mul, {a, c}), m.apply(op::mul, {b, s})}), m.apply(op::add, {m.apply(op::mul, {b, c}), m.apply(op::mul, {a, s})}));
  };
  const uint32 x = m.input(type_of(t, 2, 3, 11), filling::mixed), y = m.input(type_of(t, 2, 3, 10), filling::mixed), z = m.input(type_of(t, 2, 3, 10), filling::mixed);
  const auto [f, g] = turned(part(x, 0, 4, 1), part(x, 4, 4, 1), m.input(type_of(t, 3, 4), filling::mixed), m.input(type_of(t, 3, 4), filling::mixed));
  m.result(m.apply(op::concat, {f, g, part(x, 8, 3, 1)}, {2}));
  const auto [p, q] = turned(part(y, 0, 5, 2), part(y, 1, 5, 2), m.input(type_of(t, 3, 5), filling::mixed), m.input(type_of(t, 3, 5), filling::mixed));
  const tensor_type one = type_of(t, 2, 3, 5, 1);
  m.result(m.apply(op::reshape, {m.apply(op::concat, {m.apply(op::reshape, {p}, {}, one), m.apply(op::reshape, {q}, {}, one)}, {3})}, {}, type_of(t, 2, 3, 10)));
  const uint32 partners = m.apply(op::concat, {m.apply(op::neg, {part(z, 5, 5, 1)}), part(z, 0, 5, 1)}, {2});
  m.result(m.apply(op::add, {m.apply(op::mul, {z, m.input(type_of(t, 3, 10), filling::mixed)}), m.apply(op::mul, {partners, m.input(type_of(t, 3, 10), filling::mixed)})}));
  return m.finish();
}

}  // namespace

samples chain_samples() {
  samples all;
  const auto list = [&](const std::string& name, auto make) { all.push_back({name, [name, make] { return make(name); }}); };
  const auto types = [](auto... t) { return std::string(((std::string(" ") + std::string(poot::name(t))) + ...)); };
  for (dtype q : {f32, f16, bf16})
    for (dtype kept : {f32, f16, bf16})
      list("attention" + types(q, kept), [=](const std::string& n) { return attention(n, q, kept, q, mask::none, 0); });
  for (mask with : {mask::none, mask::added, mask::chosen, mask::both})
    for (float softcap : {0.0f, 5.0f})
      list(std::string("attention") + (softcap > 0 ? " under a cap" : "") + spelling[static_cast<int>(with)] + types(f32, f16),
           [=](const std::string& n) { return attention(n, f32, f16, f32, with, softcap); });
  for (const auto& [heads, kept, with] : {std::tuple{1, f32, mask::none}, {3, f16, mask::added}, {5, bf16, mask::chosen}, {8, f32, mask::both}})
    list(std::string("attention, split") + spelling[static_cast<int>(with)] + types(kept),
         [heads, kept, with](const std::string& n) { return split_attention(n, heads, kept, kept, with); });
  list("attention, joined of any parts", join_of_parts);
  for (mask with : {mask::none, mask::both})
    for (dtype kept : {f32, bf16})
      list(std::string("attention, strict") + spelling[static_cast<int>(with)] + types(f32, kept),
           [=](const std::string& n) { return attention(n, f32, kept, kept, with, with == mask::both ? 5.0f : 0.0f, true); });
  for (dtype kept : {f32, bf16}) list("attention of odd heads" + types(kept), [=](const std::string& n) { return attention_of_odd_heads(n, kept); });
  list("attention of groups", [](const std::string& n) { return attention_of_groups(n); });
  for (dtype kept : {f32, f16, bf16})
    for (mask with : {mask::none, mask::chosen})
      list(std::string("attention with sinks") + spelling[static_cast<int>(with)] + types(kept), [=](const std::string& n) { return attention_with_sinks(n, kept, with); });
  for (bool as_column : {true, false})
    list(std::string("attention as a chain, with sinks ") + (as_column ? "beside the scores" : "in the sum"), [=](const std::string& n) { return sunk_chain(n, as_column); });
  for (const auto& [by, how] : {std::pair{seen::causal, "causal"}, {seen::sliding, "over a window"}, {seen::added, "with a mask of heads"},
                                {seen::alibi, "with slopes"}, {seen::alibi_capped, "with slopes under a cap"}})
    list(std::string("attention as a chain, ") + how, [mask_by = by](const std::string& n) { return masked_chain(n, mask_by); });
  for (dtype t : {f32, f16, bf16, f64})
    for (bool adjacent : {false, true})
      for (bool has_signs : {false, true})
        list(std::string("rope") + (adjacent ? " of adjacent elements" : "") + (has_signs ? " by signed tables" : "") + types(t),
             [=](const std::string& n) { return rope(n, t, adjacent, has_signs); });
  for (dtype t : {f32, f16, bf16}) list("rope as a chain" + types(t), [=](const std::string& n) { return rope_chain(n, t); });
  for (dtype kept : {f32, f16, bf16}) list("attention as a chain" + types(kept), [=](const std::string& n) { return attention_chain(n, kept); });
  return all;
}

}  // namespace poot_tests

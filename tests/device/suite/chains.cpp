// What passes recognise: attention, as an equation and as the chain that it is written as.
#include "sample.hpp"

namespace poot_tests {

namespace {

constexpr int64 bits_of(float x) { return std::bit_cast<uint32>(x); }

enum class mask : uint8 { none, added, chosen, both };
constexpr const char* spelling[] = {"", ", added to", ", chosen from", ", added to and chosen from"};

/// Keys around a chunk of 256, heads that share keys, one query and several.
sample attention(const std::string& name, dtype q, dtype kept, dtype to, mask with, float softcap) {
  sample_maker m(name);
  for (const auto& [queries, keys] : {std::pair<int64, int64>{1, 1}, {3, 17}, {1, 256}, {2, 257}, {1, 600}}) {
    const uint32 x = m.input(type_of(q, 4, queries, 24), filling::plain), k = m.input(type_of(kept, 2, keys, 24), filling::plain),
                 v = m.input(type_of(kept, 2, keys, 20), filling::mixed);
    vec<uint32> in{x, k, v};
    if (with == mask::added || with == mask::both) in.push_back(m.input(type_of(f32, queries, keys), filling::plain));
    if (with == mask::chosen || with == mask::both) in.push_back(m.input(type_of(i32, queries, keys), filling::plain));
    const int64 attrs[2] = {bits_of(0.25f), bits_of(softcap)};
    m.result(m.graph().apply(op::attention, in, {attrs, 2}, type_of(to)));
  }
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
  for (dtype kept : {f32, f16, bf16}) list("attention as a chain" + types(kept), [=](const std::string& n) { return attention_chain(n, kept); });
  return all;
}

}  // namespace poot_tests

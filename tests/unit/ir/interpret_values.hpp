#pragma once
/// Graphs and values for the tests of the interpreter.

#include <poot/ir/interpret.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace interpret_values {

using namespace poot;
using namespace poot::ir;

inline constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr uint32 apply(graph& g, op o, std::initializer_list<uint32> in, std::initializer_list<int64> at = {},
                       const tensor_type& declared = {}) {
  return g.apply(o, {in.begin(), in.size()}, {at.begin(), at.size()}, declared);
}

template <class... Extents>
constexpr tensor floats(std::initializer_list<float> values, Extents... extents) {
  tensor t(type_of(f32, extents...));
  size_t i = 0;
  for (float v : values) t.bits[i++] = ieee::to_bits(v);
  return t;
}
template <class... Extents>
constexpr tensor words(std::initializer_list<int32> values, Extents... extents) {
  tensor t(type_of(i32, extents...));
  size_t i = 0;
  for (int32 v : values) t.bits[i++] = static_cast<uint32>(v);
  return t;
}
constexpr float at(const tensor& t, int64 i) { return ieee::from_bits(static_cast<uint32>(t.bits[static_cast<size_t>(i)])); }

constexpr tensor first_output(const graph& g, std::initializer_list<named_tensor> in, interpret_options options = {}) {
  return interpret(g, {in.begin(), in.size()}, options).outputs[0].value;
}

inline std::string refusal(const graph& g, std::initializer_list<named_tensor> in, interpret_options options = {}) {
  try {
    interpret(g, {in.begin(), in.size()}, options);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
inline bool names(const std::string& message, const char* part) { return message.find(part) != std::string::npos; }

struct random_words {
  uint64 state;
  uint64 operator()() {
    state += 0x9E3779B97F4A7C15u;
    uint64 z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  float unit() { return static_cast<float>(static_cast<double>((*this)() >> 11) * 0x1p-52 - 1); }
};

inline tensor random_floats(const tensor_type& t, uint64 seed) {
  random_words random{seed};
  tensor x(t);
  for (uint64& bits : x.bits) bits = detail::store_float(t.element, random.unit());
  return x;
}
inline tensor random_integers(const tensor_type& t, uint64 seed, int32 lowest, int32 highest) {
  random_words random{seed};
  tensor x(t);
  for (uint64& bits : x.bits) {
    const int32 v = lowest + static_cast<int32>(random() % static_cast<uint64>(highest - lowest + 1));
    bits = is_float(t.element) ? detail::store_float(t.element, static_cast<float>(v)) : static_cast<uint32>(v);
  }
  return x;
}

}  // namespace interpret_values

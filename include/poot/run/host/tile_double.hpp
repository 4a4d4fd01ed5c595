#pragma once
/// The instructions of the tile interpreter that touch f64: scalar loops over ir/evaluate.

#include <poot/run/host/tile_function.hpp>

#include <cstring>

namespace poot::run::host::double_tiles {

template <ir::op O>
void unary(void* out, const void* a, const void*, const void*, int count) {
  for (int i = 0; i < count; ++i)
    static_cast<double*>(out)[i] = ir::detail::float_value<O>(static_cast<const double*>(a)[i], 0.0);
}

/// Steps are 0 for a uniform operand, else 1.
template <ir::op O>
[[gnu::noinline]] void loop(void* out, const double* x, int x_step, const double* y, int y_step, int count) {
  for (int i = 0; i < count; ++i, x += x_step, y += y_step) {
    if constexpr (ir::is_comparison(O)) static_cast<uint32*>(out)[i] = ir::detail::float_comparison<O>(*x, *y);
    else static_cast<double*>(out)[i] = ir::detail::float_value<O>(*x, *y);
  }
}
template <ir::op O, form F>
void binary(void* out, const void* a, const void* b, const void*, int count) {
  loop<O>(out, static_cast<const double*>(a), F != form::first_uniform, static_cast<const double*>(b), F != form::second_uniform, count);
}

/// Bits of Uniform: 1 condition, 2 first branch, 4 second.
template <int Uniform>
void select(void* out, const void* c, const void* a, const void* b, int count) {
  for (int i = 0; i < count; ++i) {
    const bool first = static_cast<const uint32*>(c)[Uniform & 1 ? 0 : i] != 0;
    const uint64* const from = static_cast<const uint64*>(first ? a : b);
    static_cast<uint64*>(out)[i] = from[(Uniform & (first ? 2 : 4)) ? 0 : i];
  }
}

/// The bits of element `i` of a tile of `t`, and back. (Copied: a tile may be an array of words of another size.)
inline uint64 element_bits(dtype t, const void* tile, int i) {
  if (t == dtype::f64) return static_cast<const uint64*>(tile)[i];
  uint32 word;
  std::memcpy(&word, static_cast<const char*>(tile) + 4 * static_cast<size_t>(i), 4);
  return is_narrow(t) ? convert_bits(binary32, format_of(t), word) : word;
}
inline void put_bits(dtype t, void* tile, int i, uint64 bits) {
  if (t == dtype::f64) return static_cast<void>(static_cast<uint64*>(tile)[i] = bits);
  const uint32 word = is_narrow(t) ? static_cast<uint32>(convert_bits(format_of(t), binary32, bits))
                      : t == dtype::i8 ? static_cast<uint32>(static_cast<int8>(bits)) : static_cast<uint32>(bits);
  std::memcpy(static_cast<char*>(tile) + 4 * static_cast<size_t>(i), &word, 4);
}

template <dtype From, dtype To>
void cast(void* out, const void* a, const void*, const void*, int count) {
  for (int i = 0; i < count; ++i) put_bits(To, out, i, ir::detail::cast_bits(From, To, element_bits(From, a, i)));
}

// ---- reductions: lanes as in tile_reduce.inc

inline void sum_begin(void* state, const void*, const void*, const void*, int) {
  __builtin_memset(state, 0, 8 * (sum_lanes + 1));
}
inline void sum_step(void* state, const void* a, const void*, const void*, int count) {
  double* const lane = static_cast<double*>(state);
  for (int i = 0; i < count; ++i) lane[i % sum_lanes] = ieee::add(lane[i % sum_lanes], static_cast<const double*>(a)[i]);
}
inline void sum_fold(void* state, const void*, const void*, const void*, int) {
  double* const lane = static_cast<double*>(state);
  for (int half = sum_lanes / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = ieee::add(lane[i], lane[i + half]);
  lane[sum_lanes] = ieee::add(lane[sum_lanes], lane[0]);
  __builtin_memset(state, 0, 8 * sum_lanes);
}
inline void first_finish(void* out, const void* state, int at) {
  for (int i = 0; i < uniform_elements; ++i) static_cast<double*>(out)[i] = static_cast<const double*>(state)[at];
}
inline void sum_finish(void* out, const void* state, const void*, const void*, int) { first_finish(out, state, sum_lanes); }

template <bool Largest>
void extremum_begin(void* state, const void*, const void*, const void*, int) {
  *static_cast<double*>(state) = ieee::infinity_like(Largest ? -1.0 : 1.0);
}
template <bool Largest>
void extremum_step(void* state, const void* a, const void*, const void*, int count) {
  double& best = *static_cast<double*>(state);
  for (int i = 0; i < count; ++i) best = ir::detail::extremum<Largest>(best, static_cast<const double*>(a)[i]);
}
inline void extremum_finish(void* out, const void* state, const void*, const void*, int) { first_finish(out, state, 0); }

struct argmax_state {
  double best;
  uint32 where, here;
};
inline void argmax_begin(void* state, const void*, const void*, const void*, int) {
  *static_cast<argmax_state*>(state) = {0.0, 0, 0};
}
inline void argmax_step(void* state, const void* a, const void*, const void*, int count) {
  argmax_state& s = *static_cast<argmax_state*>(state);
  for (int i = 0; i < count; ++i, ++s.here) {
    const double x = static_cast<const double*>(a)[i];
    if (s.here && (ieee::is_nan(s.best) || !(ieee::is_nan(x) || ieee::less(s.best, x)))) continue;
    s.best = x;
    s.where = s.here;
  }
}
/// As in tile_reduce.inc; index 0 is always taken.
inline void argmax_rows(void* best, const void* x, const void* where, const void* number, int count) {
  const uint32 here = *static_cast<const uint32*>(number);
  for (int i = 0; i < count; ++i) {
    double& b = static_cast<double*>(best)[i];
    const double v = static_cast<const double*>(x)[i];
    if (here && (ieee::is_nan(b) || !(ieee::is_nan(v) || ieee::less(b, v)))) continue;
    b = v;
    static_cast<uint32*>(const_cast<void*>(where))[i] = here;
  }
}
inline void argmax_finish(void* out, const void* state, const void*, const void*, int) {
  for (int i = 0; i < uniform_elements; ++i) static_cast<uint32*>(out)[i] = static_cast<const argmax_state*>(state)->where;
}
inline void no_fold(void*, const void*, const void*, const void*, int) {}

inline reduction_functions find_reduction(ir::op o) {
  switch (o) {
    case ir::op::reduce_sum: return {&sum_begin, &sum_step, &sum_fold, &sum_finish};
    case ir::op::reduce_max: return {&extremum_begin<true>, &extremum_step<true>, &no_fold, &extremum_finish};
    case ir::op::reduce_min: return {&extremum_begin<false>, &extremum_step<false>, &no_fold, &extremum_finish};
    default: return {&argmax_begin, &argmax_step, &no_fold, &argmax_finish};
  }
}

// ---- look-up

struct find_by_op {
  form f;
  tile_function& result;
  template <ir::op O, class Float>
  void operator()() const {
    if constexpr (std::is_same_v<Float, double>) {
      if constexpr (ir::row(O).arity == 1) result = &unary<O>;
      else
        result = f == form::both_tiles ? &binary<O, form::both_tiles>
                 : f == form::second_uniform ? &binary<O, form::second_uniform> : &binary<O, form::first_uniform>;
    }
  }
};

/// The instruction of a pointwise op on f64 other than select and cast.
inline tile_function find(ir::op o, form f = form::both_tiles) {
  tile_function result = nullptr;
  ir::detail::with_op(o, dtype::f64, find_by_op{f, result});
  return result;
}

inline tile_function find_select(int uniform) {
  constexpr tile_function all[8] = {&select<0>, &select<1>, &select<2>, &select<3>, &select<4>, &select<5>, &select<6>, &select<7>};
  return all[uniform];
}

template <dtype T>
inline tile_function cast_with(bool from_f64) {
  return from_f64 ? &cast<dtype::f64, T> : &cast<T, dtype::f64>;
}
/// A cast from or to f64.
inline tile_function find_cast(dtype from, dtype to) {
  const bool from_f64 = from == dtype::f64;
  switch (from_f64 ? to : from) {
    case dtype::f32: return cast_with<dtype::f32>(from_f64);
    case dtype::f16: return cast_with<dtype::f16>(from_f64);
    case dtype::bf16: return cast_with<dtype::bf16>(from_f64);
    case dtype::i32: return cast_with<dtype::i32>(from_f64);
    case dtype::u32: return cast_with<dtype::u32>(from_f64);
    case dtype::i8: return cast_with<dtype::i8>(from_f64);
    case dtype::u8: return cast_with<dtype::u8>(from_f64);
    case dtype::boolean: return cast_with<dtype::boolean>(from_f64);
    default: return nullptr;
  }
}

}  // namespace poot::run::host::double_tiles

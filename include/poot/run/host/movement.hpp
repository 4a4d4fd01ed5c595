#pragma once
/// The ops that move or make elements without arithmetic: slice, concat, transpose, broadcast, gather,
/// dynamic_update_slice, decoding of packed values.

#include <poot/core/packed.hpp>
#include <poot/core/rounding.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/host/strided_copy.hpp>

namespace poot::run::host {

/// All types below are concrete: every extent is a count. Buffers are dense and row-major.
namespace movement {

/// attrs: start, size, step of each axis
inline void slice(const tensor_type& x, view<int64> attrs, const tensor_type& r, const void* from, void* to, pool& threads) {
  const dense_strides in(x), out(r);
  copy_box b;
  b.element = row(x.element).block_bytes;
  int64 offset = 0;
  for (int i = 0; i < x.rank; ++i) {
    const int64 start = attrs[i], step = attrs[2 * x.rank + i];
    offset += start * in.bytes[i];
    b.axis(r.extents[i].code, step * in.bytes[i], out.bytes[i]);
  }
  copy_strided(b, static_cast<const char*>(from) + (b.count() ? offset : 0), to, threads);
}

inline void transpose(const tensor_type& x, view<int64> perm, const tensor_type& r, const void* from, void* to, pool& threads) {
  const dense_strides in(x), out(r);
  copy_box b;
  b.element = row(x.element).block_bytes;
  for (int i = 0; i < r.rank; ++i) b.axis(r.extents[i].code, in.bytes[perm[i]], out.bytes[i]);
  copy_strided(b, from, to, threads);
}

inline void broadcast(const tensor_type& x, const tensor_type& r, const void* from, void* to, pool& threads) {
  const dense_strides in(x), out(r);
  copy_box b;
  b.element = row(x.element).block_bytes;
  for (int i = 0; i < r.rank; ++i) {
    const int source = i - (r.rank - x.rank);
    const bool repeats = source < 0 || x.extents[source].code == 1;
    b.axis(r.extents[i].code, repeats ? 0 : in.bytes[source], out.bytes[i]);
  }
  copy_strided(b, from, to, threads);
}

/// Writes operand `x` of a concatenation at `offset` along `axis`.
inline void concat_part(const tensor_type& x, int axis, int64 offset, const tensor_type& r, const void* from, void* to, pool& threads) {
  const dense_strides in(x), out(r);
  copy_box b;
  b.element = row(x.element).block_bytes;
  for (int i = 0; i < r.rank; ++i) b.axis(x.extents[i].code, in.bytes[i], out.bytes[i]);
  copy_strided(b, from, static_cast<char*>(to) + (b.count() ? offset * out.bytes[axis] : 0), threads);
}

/// Writes `update` into `to` at `start`, moved so that it fits.
inline void update(const tensor_type& x, const tensor_type& u, const int32* start, const void* from, void* to, pool& threads) {
  const dense_strides in(u), out(x);
  copy_box b;
  b.element = row(x.element).block_bytes;
  int64 offset = 0;
  for (int i = 0; i < x.rank; ++i) {
    const int64 most = x.extents[i].code - u.extents[i].code;
    const int64 at = start[i] < 0 ? 0 : start[i] > most ? most : start[i];
    offset += at * out.bytes[i];
    b.axis(u.extents[i].code, in.bytes[i], out.bytes[i]);
  }
  copy_strided(b, from, static_cast<char*>(to) + (b.count() ? offset : 0), threads);
}

/// Rows of `x` along `axis`; an index outside is moved inside. Packed rows are whole blocks.
inline void gather(const tensor_type& x, int axis, const tensor_type& index, const int32* indices, const void* from, void* to, pool& threads) {
  int64 outer = 1, inner_elements = 1;
  for (int i = 0; i < axis; ++i) outer *= x.extents[i].code;
  for (int i = axis + 1; i < x.rank; ++i) inner_elements *= x.extents[i].code;
  const int64 inner = byte_size(x.element, inner_elements), rows = x.extents[axis].code, picks = index.element_count();
  if (outer * picks * inner == 0 || rows == 0) return;
  threads.parallel(outer * picks, [&](int64 begin, int64 end, int) {
    int64 pick = begin % picks, first = begin / picks * rows;  // of the rows of this outer element
    for (int64 i = begin; i < end; ++i) {
      const int64 wanted = indices[pick], at = wanted < 0 ? 0 : wanted >= rows ? rows - 1 : wanted;
      char* const target = static_cast<char*>(to) + i * inner;
      const char* const source = static_cast<const char*>(from) + (first + at) * inner;
      if (inner == 4) std::memcpy(target, source, 4);
      else std::memcpy(target, source, static_cast<size_t>(inner));
      if (++pick == picks) pick = 0, first += rows;
    }
  }, copy_grain / inner + 1);
}

/// Stores `value`, an f32, as the float type `t`.
inline void store_float(dtype t, float value, void* to, int64 i) {
  switch (t) {
    case dtype::f64: static_cast<double*>(to)[i] = value; break;
    case dtype::f16: static_cast<uint16*>(to)[i] = f32_to_f16(value); break;
    case dtype::bf16: static_cast<uint16*>(to)[i] = f32_to_bf16(value); break;
    default: static_cast<float*>(to)[i] = value;
  }
}

/// `count` elements of a packed array as floats of type `t`.
inline void decode_run(dtype packed, dtype t, int64 count, const uint8* from, void* to, int64 to_first) {
  const int64 block = row(packed).block_elements, bytes = row(packed).block_bytes;
  for (int64 b = 0; b < count / block; ++b)
    for (int64 i = 0; i < block; ++i)
      store_float(t, decode(packed, from + b * bytes, static_cast<int>(i)), to, to_first + b * block + i);
}

inline void unpack(const tensor_type& x, dtype t, const void* from, void* to, pool& threads) {
  const int64 block = row(x.element).block_elements, bytes = row(x.element).block_bytes;
  threads.parallel(x.element_count() / block, [&](int64 begin, int64 end, int) {
    decode_run(x.element, t, (end - begin) * block, static_cast<const uint8*>(from) + begin * bytes, to, begin * block);
  }, 256);
}

/// Rows of a packed `x` along axis 0, decoded to `t`.
inline void gather_decoded(const tensor_type& x, dtype t, const tensor_type& index, const int32* indices, const void* from, void* to, pool& threads) {
  const int64 rows = x.extents[0].code, picks = index.element_count();
  if (rows == 0) return;
  const int64 inner = x.element_count() / rows, bytes = byte_size(x.element, inner);
  threads.parallel(picks, [&](int64 begin, int64 end, int) {
    for (int64 i = begin; i < end; ++i) {
      const int64 wanted = indices[i], at = wanted < 0 ? 0 : wanted >= rows ? rows - 1 : wanted;
      decode_run(x.element, t, inner, static_cast<const uint8*>(from) + at * bytes, to, i * inner);
    }
  }, copy_grain / (inner + 1) + 1);
}

}  // namespace movement
}  // namespace poot::run::host

#pragma once
/// One copy between strided arrays; every movement op is made of it. Bits are copied, never decoded.

#include <poot/core/extent.hpp>
#include <poot/run/host/pool.hpp>

#include <cstring>

namespace poot::run::host {

/// Byte strides of a dense row-major array of concrete type `t`.
struct dense_strides {
  int64 bytes[max_rank]{};
  explicit dense_strides(const tensor_type& t) {
    int64 stride = row(t.element).block_bytes;
    for (int i = t.rank; i-- > 0;) {
      bytes[i] = stride;
      stride *= t.extents[i].code;
    }
  }
};

/// A box of elements with byte strides on both sides, outermost axis first.
struct copy_box {
  int rank = 0;
  int64 extents[max_rank]{};
  int64 from[max_rank]{};  ///< bytes between neighbours of the source; 0 repeats
  int64 to[max_rank]{};    ///< bytes between neighbours of the target
  int64 element = 1;       ///< bytes of one element

  void axis(int64 count, int64 source_stride, int64 target_stride) {
    extents[rank] = count;
    from[rank] = source_stride;
    to[rank++] = target_stride;
  }
  int64 count() const {
    int64 n = 1;
    for (int i = 0; i < rank; ++i) n *= extents[i];
    return n;
  }
};

namespace detail {

/// Drops axes of 1 and joins axes that are contiguous on both sides; a contiguous last axis becomes the element.
inline copy_box collapse(const copy_box& b) {
  copy_box r;
  r.element = b.element;
  for (int i = 0; i < b.rank; ++i) {
    if (b.extents[i] == 1) continue;
    const int last = r.rank - 1;
    if (last >= 0 && r.from[last] == b.extents[i] * b.from[i] && r.to[last] == b.extents[i] * b.to[i]) {
      r.extents[last] *= b.extents[i];
      r.from[last] = b.from[i];
      r.to[last] = b.to[i];
    } else {
      r.axis(b.extents[i], b.from[i], b.to[i]);
    }
  }
  if (r.rank > 0 && r.from[r.rank - 1] == r.element && r.to[r.rank - 1] == r.element)
    r.element *= r.extents[--r.rank];
  return r;
}

template <class Word>
inline void copy_words(int64 count, const char* from, int64 from_stride, char* to, int64 to_stride) {
  for (int64 i = 0; i < count; ++i) {
    Word w;
    std::memcpy(&w, from + i * from_stride, sizeof w);
    std::memcpy(to + i * to_stride, &w, sizeof w);
  }
}

inline void copy_axis(const copy_box& b, int axis, const char* from, char* to) {
  if (axis == b.rank) {
    std::memcpy(to, from, static_cast<size_t>(b.element));
    return;
  }
  const int64 n = b.extents[axis], fs = b.from[axis], ts = b.to[axis];
  if (axis == b.rank - 1) {
    switch (b.element) {
      case 1: return copy_words<uint8>(n, from, fs, to, ts);
      case 2: return copy_words<uint16>(n, from, fs, to, ts);
      case 4: return copy_words<uint32>(n, from, fs, to, ts);
      case 8: return copy_words<uint64>(n, from, fs, to, ts);
      default: break;
    }
  }
  for (int64 i = 0; i < n; ++i) copy_axis(b, axis + 1, from + i * fs, to + i * ts);
}

}  // namespace detail

/// Bytes below which a copy is not worth waking a thread for.
inline constexpr int64 copy_grain = 1 << 16;

inline void copy_strided(const copy_box& box, const void* source, void* target, pool& threads) {
  if (box.count() == 0 || box.element == 0) return;
  copy_box b = detail::collapse(box);
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(target);
  if (b.rank == 0) {  // one run: split it into pieces of a grain
    const int64 pieces = (b.element + copy_grain - 1) / copy_grain;
    threads.parallel(pieces, [&](int64 begin, int64 end, int) {
      const int64 first = begin * copy_grain, last = end * copy_grain < b.element ? end * copy_grain : b.element;
      std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
    });
    return;
  }
  const int64 inner = b.count() / b.extents[0] * b.element;
  const int64 grain = inner > 0 ? copy_grain / inner + 1 : 1;
  threads.parallel(b.extents[0], [&](int64 begin, int64 end, int) {
    copy_box part = b;
    part.extents[0] = end - begin;
    detail::copy_axis(part, 0, from + begin * b.from[0], to + begin * b.to[0]);
  }, grain);
}

}  // namespace poot::run::host

#pragma once
/// Reductions over an axis other than the last: [outer, axis, inner], vectorised over inner, in the order of numerics.md
/// along the axis. (Over the last axis a row region is faster.)

#include <poot/run/host/region.hpp>

namespace poot::run::host {

class axis_reduction {
 public:
  axis_reduction(const ir::graph_view& g, uint32 id) : f_(current_tile_functions()) {
    const ir::eqn& e = g[id];
    op_ = e.kind;
    type_ = g.type(g.operands(e)[0]);
    axis_ = static_cast<int>(g.attrs(e)[0]);
    const dtype t = type_.element;
    if (!ir::is_reduction(op_)) fail(text{} << "reduction: equation " << id << " is " << ir::name(op_));
    if (op_ == ir::op::reduce_sum && is_float(t) && e.sum.lanes) {
      if (e.sum.lanes != sum_lanes || e.sum.chunk == 0)
        fail(text{} << "reduction: equation " << id << ": the host sums an axis in 256 lanes");
      chunk_ = e.sum.chunk;
    }
    load_ = f_.load(t);
    store_ = f_.store(op_ == ir::op::reduce_argmax ? dtype::i32 : t);
    const ir::op step = op_ == ir::op::reduce_max ? ir::op::max : op_ == ir::op::reduce_min ? ir::op::min : ir::op::add;
    combine_ = binary(step, form::both_tiles);
    from_zero_ = binary(ir::op::add, form::second_uniform);
    take_ = t == dtype::f64 ? &double_tiles::argmax_rows : f_.argmax_rows(carrier_of(t));
    last_ = tile_emitter::after_reduction(op_, t);
    bytes_ = carried_bytes(t);
  }

  /// `in` has the operand's extents, `out` the same with 1 along the axis.
  void run(const void* in, void* out, view<extent_count> counts = {}, pool* threads = nullptr) const {
    int64 outer = 1, inner = 1;
    for (int i = 0; i < axis_; ++i) outer *= count_of(type_.extents[i], counts);
    const int64 length = count_of(type_.extents[axis_], counts);
    for (int i = axis_ + 1; i < type_.rank; ++i) inner *= count_of(type_.extents[i], counts);
    if (outer == 0 || inner == 0) return;
    const int64 width = width_for(length, inner), across = (inner + width - 1) / width;
    const auto part = [&](int64 begin, int64 end, int) {
      char* const scratch = thread_scratch::get(static_cast<size_t>((sum_lanes + 4) * width * bytes_) + 4096);
      for (int64 u = begin; u < end; ++u) {
        const int64 first = u % across * width;
        const int columns = static_cast<int>(inner - first < width ? inner - first : width);
        const block b{static_cast<const char*>(in) + byte_size(type_.element, u / across * length * inner + first),
                      byte_size(type_.element, inner), length, columns, width, scratch};
        const dtype result = op_ == ir::op::reduce_argmax ? dtype::i32 : type_.element;
        store_(static_cast<char*>(out) + byte_size(result, u / across * inner + first), reduce(b), nullptr, nullptr, columns);
      }
    };
    if (!threads || threads->threads() == 1) {
      const float_environment environment;
      return part(0, outer * across, 0);
    }
    threads->parallel(outer * across, part, operations_per_thread / (length * width + 1) + 1);
  }

 private:
  /// Some columns of one outer index.
  struct block {
    const char* in;
    int64 stride;  ///< bytes from one index of the axis to the next
    int64 length;
    int columns;
    int64 width;   ///< columns of a row in scratch, a multiple of 16
    char* scratch;
  };

  tile_function binary(ir::op o, form f) const {
    return type_.element == dtype::f64 ? double_tiles::find(o, f) : f_.binary(o, carrier_of(type_.element), f);
  }
  /// Columns at once: the partial sums stay in the first cache.
  int64 width_for(int64 length, int64 inner) const {
    const int64 rows = op_ != ir::op::reduce_sum ? 4 : length < sum_lanes ? length + 4 : sum_lanes + 4;
    int64 width = (32 << 10) / (rows * bytes_) / uniform_elements * uniform_elements;
    if (width > tile_elements) width = tile_elements;
    const int64 all = (inner + uniform_elements - 1) / uniform_elements * uniform_elements;
    if (width > all) width = all;
    return width < uniform_elements ? uniform_elements : width;
  }
  /// Scratch rows: the lanes, then four of their own.
  char* row_at(const block& b, int number) const { return b.scratch + static_cast<int64>(number) * b.width * bytes_; }
  enum { total_row = sum_lanes, loaded_row, where_row, zero_row };

  static int rounded(const block& b) { return (b.columns + uniform_elements - 1) / uniform_elements * uniform_elements; }

  const void* element_row(const block& b, int64 index) const {
    const char* const from = b.in + index * b.stride;
    if (b.columns % uniform_elements == 0 && is_carried_as_stored(type_.element)) return from;
    load_(row_at(b, loaded_row), from, nullptr, nullptr, b.columns);
    return row_at(b, loaded_row);
  }

  const void* reduce(const block& b) const {
    void* const total = row_at(b, total_row);
    if (op_ == ir::op::reduce_argmax) return argmax(b);
    const int count = rounded(b);
    if (op_ == ir::op::reduce_sum) sum(b);
    else {
      for (int i = 0; i < count; ++i) double_tiles::put_bits(type_.element, total, i, of_nothing());
      for (int64 i = 0; i < b.length; ++i) combine_(total, total, element_row(b, i), nullptr, count);
    }
    if (last_ != conversion::none) f_.convert(last_)(total, total, nullptr, nullptr, count);
    return total;
  }
  /// The extremum over no elements.
  uint64 of_nothing() const {
    const dtype t = type_.element;
    const bool largest = op_ == ir::op::reduce_max;
    if (is_float(t)) return format_of(t).infinity() | (largest ? format_of(t).sign_bit() : 0);
    const ir::detail::integer_range r = ir::detail::range_of(t);
    return ir::detail::store_integer(t, static_cast<uint64>(largest ? r.lowest : r.highest));
  }

  void sum(const block& b) const {
    const int count = rounded(b);
    void* const total = row_at(b, total_row);
    void* const zero = row_at(b, zero_row);
    __builtin_memset(total, 0, static_cast<size_t>(b.width * bytes_));
    __builtin_memset(zero, 0, static_cast<size_t>(b.width * bytes_));
    if (!is_float(type_.element)) {
      for (int64 i = 0; i < b.length; ++i) combine_(total, total, element_row(b, i), nullptr, count);
      return;
    }
    for (int64 first = 0; first < b.length; first += chunk_) {
      const int64 size = b.length - first < chunk_ ? b.length - first : chunk_;
      int lanes = static_cast<int>(size < sum_lanes ? size : sum_lanes);
      for (int i = 0; i < lanes; ++i) from_zero_(row_at(b, i), element_row(b, first + i), zero, nullptr, count);
      for (int64 i = sum_lanes; i < size; ++i) {
        void* const lane = row_at(b, static_cast<int>(i % sum_lanes));
        combine_(lane, lane, element_row(b, first + i), nullptr, count);
      }
      // lanes beyond the last are +0, and no partial sum is -0: adding them changes nothing
      for (int half = sum_lanes / 2; half; half /= 2) {
        for (int i = 0; i + half < lanes && i < half; ++i) combine_(row_at(b, i), row_at(b, i), row_at(b, i + half), nullptr, count);
        lanes = lanes < half ? lanes : half;
      }
      combine_(total, total, row_at(b, 0), nullptr, count);
    }
  }

  const void* argmax(const block& b) const {
    const int count = rounded(b);
    void* const best = row_at(b, total_row);
    uint32* const where = reinterpret_cast<uint32*>(row_at(b, where_row));
    for (int i = 0; i < count; ++i) {
      where[i] = 0;
      if (type_.element != dtype::f64) static_cast<uint32*>(best)[i] = 0x80000000u;  // below every key
    }
    for (int64 i = 0; i < b.length; ++i) {
      const uint32 number = static_cast<uint32>(i);
      take_(best, element_row(b, i), where, &number, count);
    }
    return where;
  }

  tile_functions f_;
  ir::op op_ = ir::op::reduce_sum;
  tensor_type type_{};
  int axis_ = 0;
  int32 chunk_ = 4096;
  int64 bytes_ = 4;
  tile_function load_ = nullptr, store_ = nullptr, combine_ = nullptr, from_zero_ = nullptr, take_ = nullptr;
  conversion last_ = conversion::none;
};

}  // namespace poot::run::host

#pragma once
/// How a region walks its buffers once the dynamic extents are known: rows of `cols` elements, and the strides of each
/// input over the rows.

#include <poot/run/extents.hpp>
#include <poot/run/host/tile_program.hpp>

namespace poot::run::host {

inline int64 count_of(extent e, view<extent_count> counts) {
  if (!e.is_dynamic()) return e.code;
  for (const extent_count& c : counts)
    if (c.key == e.key()) {
      if (c.count < 0 || c.count > e.bound())
        fail(text{} << "run: a dynamic extent is " << c.count << ", and its bound is " << e.bound());
      return c.count;
    }
  fail(text{} << "run: a dynamic extent of at most " << e.bound() << " has no count");
}

/// Strides in elements; 0 where the input is broadcast.
struct input_walk {
  int64 stride[max_rank]{};  ///< over the row axes of the geometry
  int64 col_stride = 0;      ///< 1 or 0
  bool dense = false;        ///< element i of the region is element i of the input
  int64 elements = 0;
};

struct tile_geometry {
  int64 rows = 0, cols = 0;
  int64 rows_of_batch = 1;  ///< of an epilogue: M
  int dims = 0;  ///< row axes, outermost first
  int64 extent[max_rank]{};
  vec<input_walk> inputs;
  vec<int64> counts;  ///< of the program's symbols, that this was made for
  bool made = false;

  /// Brings it up to date; nothing happens when no count has changed.
  void update(const tile_program& p, view<extent_count> counts_now) {
    bool same = made;
    for (size_t i = 0; same && i < p.symbols.size(); ++i) {
      same = false;
      for (const extent_count& c : counts_now)
        if (c.key == p.symbols[i]) same = c.count == counts[i];
    }
    if (!same) make(p, counts_now);
  }

 private:
  void make(const tile_program& p, view<extent_count> counts_now) {
    int64 space[max_rank];
    const int rank = p.space.rank;
    for (int i = 0; i < rank; ++i) space[i] = count_of(p.space.extents[i], counts_now);
    inputs.resize(p.inputs.size());
    counts.resize(p.symbols.size());
    for (size_t i = 0; i < p.symbols.size(); ++i)
      for (const extent_count& c : counts_now)
        if (c.key == p.symbols[i]) counts[i] = c.count;

    // strides over all axes, the last one included
    int64 walk[max_rank];
    int axes = 0;  // those that are more than one element
    int axis_of[max_rank];
    cols = 1;
    const int row_rank = p.kind == region_kind::pointwise || rank == 0 ? rank : rank - 1;
    for (int i = 0; i < row_rank; ++i)
      if (space[i] != 1) axis_of[axes++] = i;
    if (row_rank < rank) cols = space[rank - 1];

    // merges axes that every input steps through evenly
    dims = 0;
    int last_of[max_rank];  // innermost axis of each merged one
    for (int a = 0; a < axes; ++a) {
      bool merges = dims > 0;
      for (size_t k = 0; merges && k < p.inputs.size(); ++k) {
        strides(p, p.inputs[k], counts_now, walk);
        merges = walk[last_of[dims - 1]] == walk[axis_of[a]] * space[axis_of[a]];
      }
      if (!merges) extent[dims++] = 1;
      extent[dims - 1] *= space[axis_of[a]];
      last_of[dims - 1] = axis_of[a];
    }
    for (size_t k = 0; k < p.inputs.size(); ++k) {
      strides(p, p.inputs[k], counts_now, walk);
      for (int d = 0; d < dims; ++d) inputs[k].stride[d] = walk[last_of[d]];
      inputs[k].col_stride = row_rank < rank ? walk[rank - 1] : 0;
      inputs[k].elements = 1;
      for (int i = 0; i < p.inputs[k].type.rank; ++i) inputs[k].elements *= count_of(p.inputs[k].type.extents[i], counts_now);
    }
    if (row_rank == rank && dims > 0) {  // the innermost merged axis becomes the columns
      --dims;
      cols = extent[dims];
      for (input_walk& in : inputs) in.col_stride = in.stride[dims];
    }
    if (p.kind == region_kind::epilogue) rows_of_batch = rank < 2 ? 1 : space[rank - 2];
    rows = 1;
    for (int d = 0; d < dims; ++d) rows *= extent[d];
    for (input_walk& in : inputs) {
      in.dense = in.col_stride == 1 || cols == 1;
      int64 inner = cols;
      for (int d = dims; d-- > 0; inner *= extent[d]) in.dense = in.dense && in.stride[d] == inner;
    }
    made = true;
  }

  /// The strides of an input over the axes of the space.
  static void strides(const tile_program& p, const tile_input& in, view<extent_count> counts_now, int64* out) {
    const int rank = p.space.rank, shift = rank - in.type.rank;
    int64 step = 1;
    for (int i = rank; i-- > 0;) {
      const int64 count = i < shift ? 1 : count_of(in.type.extents[i - shift], counts_now);
      out[i] = count == 1 ? 0 : step;
      step *= count;
    }
  }
};

/// The position of a row among the row axes, and the offset of that row in every input.
class row_cursor {
 public:
  row_cursor(const tile_geometry& g, int64* offsets) : g_(g), offset_(offsets) {}

  void seek(int64 row) {
    for (int d = g_.dims; d-- > 0; row /= g_.extent[d]) at_[d] = row % g_.extent[d];
    for (size_t k = 0; k < g_.inputs.size(); ++k) {
      offset_[k] = 0;
      for (int d = 0; d < g_.dims; ++d) offset_[k] += at_[d] * g_.inputs[k].stride[d];
    }
  }
  void next() {
    for (int d = g_.dims; d-- > 0;) {
      for (size_t k = 0; k < g_.inputs.size(); ++k) offset_[k] += g_.inputs[k].stride[d];
      if (++at_[d] < g_.extent[d]) return;
      for (size_t k = 0; k < g_.inputs.size(); ++k) offset_[k] -= g_.inputs[k].stride[d] * g_.extent[d];
      at_[d] = 0;
    }
  }
  int64 operator[](size_t input) const { return offset_[input]; }

 private:
  const tile_geometry& g_;
  int64* const offset_;
  int64 at_[max_rank]{};
};

}  // namespace poot::run::host

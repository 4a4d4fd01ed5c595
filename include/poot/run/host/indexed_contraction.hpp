#pragma once
/// Row t times the matrix that index[t] names (the experts of a mixture): rows that name the same one go together, so
/// that its weights are read once.

#include <poot/run/host/contraction.hpp>

namespace poot::run::host {

namespace detail {

/// Some rows of a product, seen as if they lay together.
struct chosen_rows {
  const int32* rows;
  const left_operand& a;
  const contraction_result& c;

  static void fill(void* context, int64 row0, int rows, int64 k0, int count, float* panel, int64 stride) {
    const chosen_rows& self = *static_cast<chosen_rows*>(context);
    for (int r = 0; r < rows; ++r) {
      const int64 t = self.rows[row0 + r];
      float* to = panel + r * stride;
      if (self.a.rows) std::memcpy(to, self.a.rows + t * self.a.stride + k0, static_cast<size_t>(count) * 4);
      else self.a.fill(self.a.context, t, 1, k0, count, to, count);
    }
  }
  static void sink(void* context, int64 row0, int rows, int64 col0, int cols, float* tile, int64 stride, int64 between) {
    const chosen_rows& self = *static_cast<chosen_rows*>(context);
    for (int r = 0; r < rows; ++r) {
      const int64 t = self.rows[row0 + r];
      float* from = tile + r * stride;
      if (self.c.sink) self.c.sink(self.c.context, t, 1, col0, cols, from, stride, between);
      else std::memcpy(self.c.rows + t * self.c.stride + col0, from, static_cast<size_t>(cols) * 4);
    }
  }
};

}  // namespace detail

/// C[t] = A[t] · w[index[t]] for `rows` rows t. Matrix e of `experts` is `first` moved by e · `between` bytes; an index
/// outside is moved inside. The callbacks of `a` and `c` see one row a call where rows were brought together.
inline void contract_indexed(int64 rows, const int32* index, int64 experts, const panel_source& first, int64 between,
                             const left_operand& a, const contraction_result& c, pool& threads = shared_pool()) {
  if (rows <= 0) return;
  if (experts <= 0) fail(text{} << "indexed contraction: there is no matrix to choose from");
  static thread_local detail::scratch order;
  int32* chosen = reinterpret_cast<int32*>(order.floats(rows));
  for (int64 e = 0; e < experts; ++e) {
    int64 count = 0;
    for (int64 t = 0; t < rows; ++t) {
      const int64 named = index[t] < 0 ? 0 : index[t] >= experts ? experts - 1 : index[t];
      if (named == e) chosen[count++] = static_cast<int32>(t);
    }
    if (count == 0) continue;
    panel_source b = first;
    b.data += e * between;
    detail::chosen_rows these{chosen, a, c};
    left_operand left{nullptr, 0, detail::chosen_rows::fill, &these};
    contraction_result result{nullptr, 0, detail::chosen_rows::sink, &these};
    if (count == 1 && a.rows) left = {a.rows + chosen[0] * a.stride, a.stride};
    if (count == 1 && c.rows) result = {c.rows + chosen[0] * c.stride, c.stride};
    contract(count, b, left, result, threads);
  }
}

}  // namespace poot::run::host

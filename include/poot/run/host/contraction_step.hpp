#pragma once
/// One contraction of a program, with the pointwise steps that follow it on the tile.

#include <poot/fuse/parts.hpp>
#include <poot/plan/program.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/host/contraction.hpp>
#include <poot/run/host/indexed_contraction.hpp>
#include <poot/run/host/memory.hpp>
#include <poot/run/host/region.hpp>

namespace poot::run::host {

/// A matrix operand where it lies: batch strides and row stride in elements, last axis contiguous.
struct operand_walk {
  const char* data = nullptr;
  dtype element = dtype::f32;
  int64 rows = 0, cols = 0, row_stride = 0;
  int64 batch_stride[max_rank]{};  ///< over the batch axes of the result; 0 repeats

  operand_walk() = default;
  /// `held` is the dense array behind the operand (they differ for a window); `result_rank` counts the result's axes.
  operand_walk(const void* first, const tensor_type& t, const tensor_type& held, int result_rank)
      : data(static_cast<const char*>(first)), element(t.element) {
    rows = t.extents[t.rank - 2].code;
    cols = t.extents[t.rank - 1].code;
    int64 stride = row_stride = cols;
    const int shift = result_rank - t.rank;
    stride *= held.extents[held.rank - 2].code;
    for (int i = t.rank - 2; i-- > 0;) {
      batch_stride[i + shift] = t.extents[i].code == 1 ? 0 : stride;
      stride *= held.extents[i].code;
    }
  }
  const char* at(int64 elements) const { return data + elements * row(element).block_bytes; }
};

/// A contraction of a launch: what to multiply.
struct contraction_head {
  ir::op kind = ir::op::matmul;
  uint32 id = 0, a = 0, b = 0, index = 0;
  bool transposed = false;
};

/// Contractions of equal extents and one A, and the steps behind them.
class contraction_step {
 public:
  /// `outputs` are those of the launch.
  contraction_step(const plan::program_view& p, const fuse::contraction_part& of, view<uint32> outputs) {
    for (uint32 id : of.heads) {
      const view<uint32> in = p.graph.operands(id);
      contraction_head h{p.graph[id].kind, id, in[0], in[1], in.size() > 2 ? in[2] : in[1], false};
      h.transposed = h.kind == ir::op::indexed_matmul || in.size() > 2 || (!p.graph.attrs(id).empty() && p.graph.attrs(id)[0] != 0);
      heads_.push_back(h);
    }
    const dtype made = p.graph.type(head().id).element;
    plain_ = heads_.size() == 1 && of.steps.empty() && (made == dtype::f32 || made == dtype::f64);
    vec<uint32> own;
    for (uint32 id : outputs)
      if (of.holds(id)) own.push_back(id);
    if (!plain_) tail_ = region(p.graph, {region_kind::epilogue, of.steps, own, of.heads});
  }

  /// The first contraction; where there are several, all of them are of two matrices.
  const contraction_head& head() const { return heads_[0]; }
  view<contraction_head> heads() const { return heads_; }
  bool is_plain() const { return plain_; }
  const tile_program& tail() const { return tail_.program(); }
  /// `result` is the concrete type of the heads.
  void prepare(const extent_counts& counts, const tensor_type& result, region_buffers buffers) {
    rows_of_batch_ = result.rank > 1 ? result.extents[result.rank - 2].code : 1;
    if (!plain_) tail_.prepare(counts, buffers);
  }

  /// Where one call's results go.
  struct target {
    float* rows = nullptr;  ///< of a plain step over f32: dense
    region_buffers buffers{};
  };

  /// Rows of A and of the result that one product takes.
  struct part {
    int64 rows = 0;       ///< M
    int64 a_first = 0;    ///< first element of A
    int64 batch = 0;      ///< entry of the result's batch
  };

  /// The callbacks of one product; they must outlive it.
  struct call {
    const contraction_step& step;
    const operand_walk& a;
    part of;
    int64 columns;
    const target& to;

    left_operand left() {
      if (a.element == dtype::f32)
        return {reinterpret_cast<const float*>(a.at(of.a_first)), a.row_stride, nullptr, nullptr};
      return {nullptr, 0, [](void* c, int64 row0, int count, int64 k0, int ks, float* panel, int64 stride) {
                const call& self = *static_cast<call*>(c);
                const tile_function widen = current_tile_functions().load(self.a.element);
                for (int r = 0; r < count; ++r)
                  widen(panel + r * stride, self.a.at(self.of.a_first + (row0 + r) * self.a.row_stride + k0), nullptr, nullptr, ks);
              }, this};
    }
    contraction_result result() {
      if (step.plain_) return {to.rows + of.batch * step.rows_of_batch_ * columns, columns, nullptr, nullptr};
      return {nullptr, 0, [](void* c, int64 row0, int count, int64 col0, int cols, float* tile, int64 stride, int64 between) {
                const call& self = *static_cast<call*>(c);
                epilogue(self.step.tail_, self.to.buffers)(self.of.batch, row0, count, col0, cols, tile, stride, between);
              }, this};
    }
  };

  /// C[M,N] = A · B for each B.
  void run(const part& p, view<panel_source> b, const operand_walk& a, const target& to, pool& threads) const {
    call c{*this, a, p, b[0].n, to};
    const product one{b, c.result()};
    contract(p.rows, {&one, 1}, c.left(), threads);
  }
  /// Row t of A times the matrix index[t] of `experts` matrices, `between` bytes apart.
  void run_indexed(const part& p, const int32* index, int64 experts, const panel_source& first, int64 between,
                   const operand_walk& a, const target& to, pool& threads) const {
    call c{*this, a, p, first.n, to};
    contract_indexed(p.rows, index, experts, first, between, c.left(), c.result(), threads);
  }

  /// Rows of a product as they are: f32, dense.
  static void product_of(const part& p, const panel_source& b, const operand_walk& a, const target& to, pool& threads) {
    const contraction_step plain;
    plain.run(p, {&b, 1}, a, to, threads);
  }

  /// The pointwise steps on finished rows: row0 … of batch entry `batch`, whole rows of `tile`.
  void finish(int64 batch, int64 row0, int rows, int cols, const float* tile, int64 stride, const target& to) const {
    epilogue(tail_, to.buffers)(batch, row0, rows, 0, cols, tile, stride);
  }

 private:
  contraction_step() = default;

  vec<contraction_head> heads_;
  bool plain_ = true;
  int64 rows_of_batch_ = 1;
  region tail_;
};

}  // namespace poot::run::host

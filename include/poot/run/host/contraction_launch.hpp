#pragma once
/// A launch of contractions: which operands, in which form, for which rows.

#include <poot/core/fma.hpp>
#include <poot/core/packed.hpp>
#include <poot/run/host/contraction_step.hpp>
#include <poot/run/host/convolution_windows.hpp>
#include <poot/run/host/region_step.hpp>

#include <memory>
#include <vector>

namespace poot::run::host {

/// One part of a launch: its contractions, and where their results go.
class contraction_run {
 public:
  contraction_run(const plan::program_view& p, const fuse::contraction_part& part, view<uint32> outputs) : step_(p, part, outputs) {}

  /// `left` holds the operand that all of them read first.
  void prepare(const run_context& c, const char* left) {
    const contraction_head& h = step_.head();
    if (!step_.is_plain()) tail_.look_up(step_.tail(), c);
    to_ = {c.at<float>(h.id), step_.is_plain() ? region_buffers{} : tail_.buffers()};
    result_ = c.type(h.id);
    step_.prepare(c.counts, result_, to_.buffers);
    weights_.clear();
    for (const contraction_head& each : step_.heads()) weights_.push_back(interleaved(c, each));
    if (h.kind == ir::op::conv2d && result_.element != dtype::f64) {
      const convolution shape(c.type(h.a), c.type(h.b), c.type(h.id), c.program.graph.attrs(h.id));
      const int64 wanted = 4 * (shape.image_elements() + shape.outputs * shape.positions);
      if (room_.bytes() < wanted) room_ = storage(wanted);
    }
    if (h.kind != ir::op::conv2d && c.program.graph.operands(h.id).size() == 2) prepare_matmul(c, left);
  }

  void run(const run_context& c) const {
    if (result_.element_count() == 0) return;
    if (result_.element == dtype::f64) return run_f64(c, result_);
    if (step_.head().kind == ir::op::conv2d) return run_conv(c, result_);
    if (c.program.graph.operands(step_.head().id).size() == 3) return run_indexed(c, result_);
    run_matmul(c);
  }

  /// Whether it is one product over all rows of A, which `call` and `sources` describe.
  bool is_one_product() const { return is_one_product_; }
  int64 rows() const { return entries_ * a_.rows; }
  contraction_step::call call() const { return {step_, a_, {rows(), 0, 0}, result_.last().code, to_}; }
  view<panel_source> sources() const { return sources_; }

 private:
  /// The weight of a contraction in interleaved form, or null: another contraction may have it in another form.
  static const stored_weight* interleaved(const run_context& c, const contraction_head& h) {
    const stored_weight* const w = c.loaded[h.b];
    interleaved_form form;
    return w && w->interleaved.data() && contracts_over(c.program.graph, h.id, form) && w->form == form ? w : nullptr;
  }

  /// The dense array that operand `id` is a window of, or its own type.
  static tensor_type held_type(const run_context& c, uint32 id) {
    const plan::placement& p = c.program.placements[id];
    return c.type(p.where == plan::place::window ? p.index : id);
  }

  static void decode_row(dtype format, const uint8* from, int count, float* to) {
    const int block = row(format).block_elements, bytes = row(format).block_bytes;
    for (int i = 0; i < count; ++i) to[i] = decode(format, from + i / block * bytes, i % block);
  }

  /// B as it lies: [K,N], or [N,K] when transposed; packed rows are decoded as they are read.
  static panel_source source(const operand_walk& b, bool transposed, int64 first) {
    const int64 n = transposed ? b.rows : b.cols, k = transposed ? b.cols : b.rows;
    const char* data = b.data + byte_size(b.element, first);
    if (!is_packed(b.element))
      return source_of(b.element, n, k, data, transposed ? matrix_order::nk : matrix_order::kn, b.row_stride);
    panel_source s{panel_form::rows, b.element, n, k, reinterpret_cast<const uint8*>(data)};
    s.n_stride = byte_size(b.element, b.row_stride);
    s.decode = decode_row;
    return s;
  }

  /// The walks of matmuls, and whether the batch is one product over all rows.
  void prepare_matmul(const run_context& c, const char* left) {
    const tensor_type& r = result_;
    a_ = operand_walk(left, c.type(step_.head().a), held_type(c, step_.head().a), r.rank);
    entries_ = 1;
    is_one_product_ = a_.row_stride == a_.cols;
    b_.clear();
    sources_.clear();
    for (size_t h = 0; h < step_.heads().size(); ++h) {
      const contraction_head& head = step_.heads()[h];
      b_.push_back(operand_walk(c.at(head.b), c.type(head.b), held_type(c, head.b), r.rank));
      sources_.push_back(weights_[h] ? source_of(weights_[h]->matrix(0)) : source(b_[h], head.transposed, 0));
    }
    int64 stride = a_.rows * a_.cols;
    for (int i = r.rank - 2; i-- > 0;) {
      entries_ *= r.extents[i].code;
      if (r.extents[i].code == 1) continue;
      for (const operand_walk& b : b_) is_one_product_ = is_one_product_ && b.batch_stride[i] == 0;
      is_one_product_ = is_one_product_ && a_.batch_stride[i] == stride;
      stride *= r.extents[i].code;
    }
  }

  void run_matmul(const run_context& c) const {
    const tensor_type& r = result_;
    if (is_one_product_) return step_.run({rows(), 0, 0}, sources_, a_, to_, c.threads);
    contract_each(entries_, a_.rows * r.last().code * a_.cols, [&](int64 entry) {
      int64 a_first = 0;
      static thread_local vec<panel_source> of_entry;
      of_entry.clear();
      for (size_t h = 0; h < b_.size(); ++h) {
        int64 rest = entry, b_first = 0;
        a_first = 0;
        for (int i = r.rank - 2; i-- > 0; rest /= r.extents[i].code) {
          const int64 at = rest % r.extents[i].code;
          a_first += at * a_.batch_stride[i];
          b_first += at * b_[h].batch_stride[i];
        }
        of_entry.push_back(weights_[h] ? sources_[h] : source(b_[h], step_.heads()[h].transposed, b_first));
      }
      step_.run({a_.rows, a_first, entry}, of_entry, a_, to_, c.threads);
    }, c.threads);
  }

  /// Row t reads the matrix that its index names; an index outside is moved inside.
  void run_indexed(const run_context& c, const tensor_type& r) const {
    const contraction_head& h = step_.head();
    const tensor_type wt = c.type(h.b), matrix = type_of(wt.element, wt.extents[1], wt.extents[2]);
    const operand_walk a(c.at(h.a), c.type(h.a), c.type(h.a), r.rank), b(c.at(h.b), matrix, matrix, 2);
    const panel_source first = weights_[0] ? source_of(weights_[0]->matrix(0)) : source(b, true, 0);
    step_.run_indexed({r.extents[0].code, 0, 0}, c.at<int32>(h.index), wt.extents[0].code, first,
                      weights_[0] ? weights_[0]->matrix_bytes() : matrix.bytes(), a, to_, c.threads);
  }

  /// Per image and group: w [O/g, K] times the windows of the image, [K, positions].
  void run_conv(const run_context& c, const tensor_type& r) const {
    const contraction_head& h = step_.head();
    const convolution shape(c.type(h.a), c.type(h.b), r, c.program.graph.attrs(h.id));
    float* widened = reinterpret_cast<float*>(room_.data());  // [C, H, W]
    float* result = widened + shape.image_elements();         // [O/g, positions]
    const tensor_type image_type = c.type(h.a), matrix = type_of(c.type(h.b).element, shape.outputs, shape.taps);
    const operand_walk w(c.at(h.b), matrix, matrix, 2);
    const int height = static_cast<int>(r.extents[2].code), width = static_cast<int>(r.extents[3].code);
    for (int64 image = 0; image < r.extents[0].code; ++image) {
      const char* from = c.at(h.a) + image * byte_size(image_type.element, shape.image_elements());
      const float* x = reinterpret_cast<const float*>(from);
      if (image_type.element != dtype::f32) {
        widen(image_type.element, shape.image_elements(), from, widened);
        x = widened;
      }
      for (int64 group = 0; group < shape.groups; ++group) {
        const convolution_windows windows = shape.windows(x, group);
        const int64 first = image * r.extents[1].code + group * shape.outputs;
        const contraction_step::target rows{step_.is_plain() ? to_.rows + first * shape.positions : result, {}};
        contraction_step::product_of({shape.outputs, group * shape.outputs * shape.taps, 0}, windows.source(), w, rows, c.threads);
        if (step_.is_plain()) continue;
        c.threads.parallel(shape.outputs, [&](int64 begin, int64 end, int) {
          for (int64 o = begin; o < end; ++o)
            step_.finish(first + o, 0, height, width, result + o * shape.positions, width, to_);
        }, 1 + 16384 / (shape.positions + 1));
      }
    }
  }

  static void widen(dtype t, int64 count, const char* from, float* to) {
    const tile_function load = current_tile_functions().load(t);
    for (int64 i = 0; i < count; i += tile_elements)
      load(to + i, from + byte_size(t, i), nullptr, nullptr, static_cast<int>(count - i < tile_elements ? count - i : tile_elements));
  }

  /// f64 throughout, by scalars: exact order, no claim to speed.
  void run_f64(const run_context& c, const tensor_type& r) const {
    const contraction_head& h = step_.head();
    double* to = c.at<double>(h.id);
    const auto sum = [](int64 k, auto a, auto b) {
      double total = 0;
      for (int64 first = 0; first < k; first += chunk) {
        double partial = 0;
        for (int64 i = first; i < k && i < first + chunk; ++i) partial = ieee::fma(a(i), b(i), partial);
        total = ieee::add(total, partial);
      }
      return total;
    };
    if (h.kind == ir::op::conv2d) {
      const convolution s(c.type(h.a), c.type(h.b), r, c.program.graph.attrs(h.id));
      const double *x = c.at<double>(h.a), *w = c.at<double>(h.b);
      c.threads.parallel(r.element_count(), [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i) {
          const int64 o = i / s.positions % r.extents[1].code, image = i / s.positions / r.extents[1].code;
          to[i] = sum(s.taps, [&](int64 tap) { return w[o * s.taps + tap]; }, [&](int64 tap) {
            const int64 e = s.element(image, o / s.outputs, tap, i % s.positions);
            return e < 0 ? 0.0 : x[e];
          });
        }
      }, 64);
      return;
    }
    const bool indexed = h.kind == ir::op::indexed_matmul;
    const operand_walk a(c.at(h.a), c.type(h.a), held_type(c, h.a), r.rank);
    const operand_walk b(c.at(h.b), c.type(h.b), held_type(c, h.b), indexed ? 3 : r.rank);
    const int32* index = indexed ? c.at<int32>(h.index) : nullptr;
    const int64 n = r.last().code, m = r.extents[r.rank - 2].code, experts = c.type(h.b).extents[0].code;
    const int64 k_step = h.transposed ? 1 : b.row_stride, n_step = h.transposed ? b.row_stride : 1;
    c.threads.parallel(r.element_count(), [&](int64 begin, int64 end, int) {
      for (int64 i = begin; i < end; ++i) {
        const int64 row = i / n % m;
        int64 rest = i / n / m, a_first = row * a.row_stride, b_first = 0;
        for (int axis = r.rank - 2; axis-- > 0; rest /= r.extents[axis].code) {
          a_first += rest % r.extents[axis].code * a.batch_stride[axis];
          b_first += rest % r.extents[axis].code * b.batch_stride[axis];
        }
        if (indexed) b_first = (index[row] < 0 ? 0 : index[row] >= experts ? experts - 1 : index[row]) * b.rows * b.cols;
        const double* x = reinterpret_cast<const double*>(a.at(a_first));
        const double* w = reinterpret_cast<const double*>(b.at(b_first)) + i % n * n_step;
        to[i] = sum(a.cols, [&](int64 j) { return x[j]; }, [&](int64 j) { return w[j * k_step]; });
      }
    }, 64);
  }

  contraction_step step_;
  region_bindings tail_;
  contraction_step::target to_;
  vec<const stored_weight*> weights_;  ///< per contraction
  tensor_type result_{};
  operand_walk a_{};
  vec<operand_walk> b_;          ///< of matmuls
  vec<panel_source> sources_;    ///< of one product
  int64 entries_ = 1;            ///< of its batch
  bool is_one_product_ = false;
  storage room_;  ///< windows and result of a convolution
};

/// The rows that products read, where their launch computes them: once, before the products. Some of their values may be results.
class row_prologue {
 public:
  row_prologue(const plan::program_view& p, view<uint32> members, view<uint32> outputs, uint32 left) : left_(left) {
    vec<uint32> wanted;
    for (uint32 id : outputs)
      for (uint32 m : members)
        if (m == id) wanted.push_back(id), is_result_ = is_result_ || id == left;
    if (!is_result_) wanted.push_back(left);
    region_ = region(p.graph, {region_kind::row, members, wanted});
  }

  void prepare(const run_context& c) {
    bindings_.look_up(region_.program(), c);
    rows_ = c.at(left_);
    if (!is_result_) {
      const int64 bytes = c.type(left_).bytes();
      if (room_.bytes() < bytes) room_ = storage(bytes);
      rows_ = bindings_.replace_last_output(room_.data());
    }
    region_.prepare(c.counts, bindings_.buffers());
  }
  void run(const run_context& c) const { region_.run_prepared(bindings_.buffers(), &c.threads); }
  const char* rows() const { return rows_; }

 private:
  uint32 left_;
  bool is_result_ = false;  ///< the rows themselves are
  region region_;
  region_bindings bindings_;
  const char* rows_ = nullptr;
  storage room_;
};

/// A launch of contractions that read the same A.
class contraction_launch : public step {
 public:
  contraction_launch(const plan::program_view& p, const plan::launch& l) {
    const fuse::contraction_parts all = fuse::parts_of(p.graph, p(l.members));
    left_ = p.graph.operands(all.parts[0].heads[0])[0];
    if (!all.prologue.empty()) rows_ = std::make_unique<row_prologue>(p, all.prologue, p(l.outputs), left_);
    for (const fuse::contraction_part& part : all.parts) parts_.emplace_back(p, part, p(l.outputs));
    calls_.reserve(parts_.size());
  }

  void prepare(const run_context& c) override {
    if (rows_) rows_->prepare(c);
    for (contraction_run& part : parts_) part.prepare(c, rows_ ? rows_->rows() : c.at(left_));
    calls_.clear();
    products_.clear();
    if (parts_.size() == 1) return;
    for (const contraction_run& part : parts_)
      if (!part.is_one_product()) return;
    for (const contraction_run& part : parts_) {
      calls_.push_back(part.call());
      products_.push_back({part.sources(), calls_.back().result()});
    }
  }

  void run(const run_context& c) override {
    if (rows_) rows_->run(c);
    if (calls_.empty()) {
      for (const contraction_run& part : parts_) part.run(c);
      return;
    }
    contract(parts_[0].rows(), products_, calls_[0].left(), c.threads);
  }

 private:
  uint32 left_ = 0;
  std::unique_ptr<row_prologue> rows_;
  std::vector<contraction_run> parts_;
  std::vector<contraction_step::call> calls_;  ///< of parts that are one product each: they go together
  vec<product> products_;
};

}  // namespace poot::run::host

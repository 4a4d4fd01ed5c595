#pragma once
/// A launch of a contraction: which operands, in which form, for which rows.

#include <poot/core/fma.hpp>
#include <poot/core/packed.hpp>
#include <poot/run/host/contraction_step.hpp>
#include <poot/run/host/convolution_windows.hpp>
#include <poot/run/host/region_step.hpp>

namespace poot::run::host {

/// The shape of a convolution: x[N,C,H,W] and w[O,C/g,kh,kw]. K runs over (C/g, kh, kw), and a tap in the padding is +0.
struct convolution {
  tensor_type x, w, r;
  view<int64> at;  ///< stride[2] pad[4] dilation[2] groups
  int64 groups, outputs, taps, positions;

  convolution(const tensor_type& image, const tensor_type& kernel, const tensor_type& result, view<int64> attrs)
      : x(image), w(kernel), r(result), at(attrs), groups(attrs[8]), outputs(r.extents[1].code / attrs[8]),
        taps(w.extents[1].code * w.extents[2].code * w.extents[3].code), positions(r.extents[2].code * r.extents[3].code) {}

  int64 image_elements() const { return x.extents[1].code * x.extents[2].code * x.extents[3].code; }

  /// The element of x that `tap` reads for result `position` of a group; -1 in the padding.
  int64 element(int64 image, int64 group, int64 tap, int64 position) const {
    const int64 kh = w.extents[2].code, kw = w.extents[3].code, ow = r.extents[3].code;
    const int64 channel = group * w.extents[1].code + tap / (kh * kw);
    const int64 y = position / ow * at[0] - at[2] + tap / kw % kh * at[6];
    const int64 z = position % ow * at[1] - at[4] + tap % kw * at[7];
    if (y < 0 || y >= x.extents[2].code || z < 0 || z >= x.extents[3].code) return -1;
    return ((image * x.extents[1].code + channel) * x.extents[2].code + y) * x.extents[3].code + z;
  }

  /// The windows of one group of an f32 image [C, H, W].
  convolution_windows windows(const float* image, int64 group) const {
    const int64 channels = w.extents[1].code, height = x.extents[2].code, width = x.extents[3].code;
    return {image + group * channels * height * width, channels, height, width, w.extents[2].code, w.extents[3].code,
            r.extents[2].code, r.extents[3].code, at[0], at[1], at[2], at[4], at[6], at[7]};
  }
};

/// Whether equation `id` contracts over its second operand as one matrix, or one of several, and in which form.
inline bool contracts_over(const ir::graph_view& g, uint32 id, interleaved_form& form) {
  const ir::eqn& e = g[id];
  if (!ir::is_contraction(e.kind) || e.kind == ir::op::conv2d) return false;
  const tensor_type& w = g.type(g.operands(id)[1]);
  const bool indexed = g.operands(id).size() == 3;
  if (w.is_dynamic() || !can_interleave(w.element) || (!indexed && w.rank != 2)) return false;
  const bool transposed = indexed || (g.attrs(id).size() > 0 && g.attrs(id)[0] != 0);
  const int64 outer = w.extents[w.rank - 2].code, inner = w.extents[w.rank - 1].code;
  form = {indexed ? w.extents[0].code : 1, transposed ? outer : inner, transposed ? inner : outer,
          transposed ? matrix_order::nk : matrix_order::kn};
  return true;
}

class contraction_launch : public step {
 public:
  contraction_launch(const plan::program_view& p, const plan::launch& l) : step_(p, l) {}

  void prepare(const run_context& c) override {
    const contraction_head& h = step_.head();
    if (!step_.is_plain()) tail_.look_up(step_.tail(), c);
    to_ = {c.at<float>(h.id), step_.is_plain() ? region_buffers{} : tail_.buffers()};
    result_ = c.type(h.id);
    step_.prepare(c.counts, result_, to_.buffers);
    weight_ = ir::is_named_leaf(c.program.graph[h.b].kind) ? c.shared.find_weight(c.program.graph.name_of(h.b)) : nullptr;
    interleaved_form form;  // another contraction may have the weight in another form
    if (weight_ && !(weight_->interleaved.data() && contracts_over(c.program.graph, h.id, form) && weight_->form == form))
      weight_ = nullptr;
    if (h.kind == ir::op::conv2d && c.type(h.id).element != dtype::f64) {
      const convolution shape(c.type(h.a), c.type(h.b), c.type(h.id), c.program.graph.attrs(h.id));
      const int64 wanted = 4 * (shape.image_elements() + shape.outputs * shape.positions);
      if (room_.bytes() < wanted) room_ = storage(wanted);
    }
    if (h.kind != ir::op::conv2d && c.program.graph.operands(h.id).size() == 2) prepare_matmul(c);
  }

  void run(const run_context& c) override {
    if (result_.element_count() == 0) return;
    if (result_.element == dtype::f64) return run_f64(c, result_);
    if (step_.head().kind == ir::op::conv2d) return run_conv(c, result_);
    if (c.program.graph.operands(step_.head().id).size() == 3) return run_indexed(c, result_);
    run_matmul(c);
  }

 private:
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

  /// The walks of a matmul, and whether its batch is one product over all rows.
  void prepare_matmul(const run_context& c) {
    const contraction_head& h = step_.head();
    const tensor_type& r = result_;
    a_ = operand_walk(c.at(h.a), c.type(h.a), held_type(c, h.a), r.rank);
    b_ = operand_walk(c.at(h.b), c.type(h.b), held_type(c, h.b), r.rank);
    entries_ = 1;
    is_one_product_ = a_.row_stride == a_.cols;
    int64 stride = a_.rows * a_.cols;
    for (int i = r.rank - 2; i-- > 0;) {
      entries_ *= r.extents[i].code;
      if (r.extents[i].code == 1) continue;
      is_one_product_ = is_one_product_ && b_.batch_stride[i] == 0 && a_.batch_stride[i] == stride;
      stride *= r.extents[i].code;
    }
  }

  void run_matmul(const run_context& c) {
    const contraction_head& h = step_.head();
    const tensor_type& r = result_;
    const operand_walk &a = a_, &b = b_;
    if (is_one_product_) {
      contraction_step::part all{entries_ * a.rows, 0, 0};
      if (weight_) step_.run(all, source_of(weight_->matrix(0)), a, to_, c.threads);
      else step_.run(all, source(b, h.transposed, 0), a, to_, c.threads);
      return;
    }
    contract_each(entries_, a.rows * r.last().code * a.cols, [&](int64 entry) {
      int64 rest = entry, a_first = 0, b_first = 0;
      for (int i = r.rank - 2; i-- > 0;) {
        const int64 at = rest % r.extents[i].code;
        rest /= r.extents[i].code;
        a_first += at * a.batch_stride[i];
        b_first += at * b.batch_stride[i];
      }
      step_.run({a.rows, a_first, entry}, source(b, h.transposed, b_first), a, to_, c.threads);
    }, c.threads);
  }

  /// Row t reads the matrix that its index names; an index outside is moved inside.
  void run_indexed(const run_context& c, const tensor_type& r) {
    const contraction_head& h = step_.head();
    const tensor_type wt = c.type(h.b), matrix = type_of(wt.element, wt.extents[1], wt.extents[2]);
    const operand_walk a(c.at(h.a), c.type(h.a), c.type(h.a), r.rank), b(c.at(h.b), matrix, matrix, 2);
    const panel_source first = weight_ ? source_of(weight_->matrix(0)) : source(b, true, 0);
    step_.run_indexed({r.extents[0].code, 0, 0}, c.at<int32>(h.index), wt.extents[0].code, first,
                      weight_ ? weight_->matrix_bytes() : matrix.bytes(), a, to_, c.threads);
  }

  /// Per image and group: w [O/g, K] times the windows of the image, [K, positions].
  void run_conv(const run_context& c, const tensor_type& r) {
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
        contraction_step::product({shape.outputs, group * shape.outputs * shape.taps, 0}, windows.source(), w, rows, c.threads);
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
  void run_f64(const run_context& c, const tensor_type& r) {
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
  stored_weight* weight_ = nullptr;
  tensor_type result_{};
  operand_walk a_{}, b_{};  ///< of a matmul
  int64 entries_ = 1;       ///< of its batch
  bool is_one_product_ = false;
  storage room_;  ///< windows and result of a convolution
};

}  // namespace poot::run::host

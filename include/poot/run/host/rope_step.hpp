#pragma once
/// A launch of rope: rows of x, and for each its row of the tables.

#include <poot/ir/evaluate.hpp>
#include <poot/run/host/simd.hpp>
#include <poot/run/host/step.hpp>

#include <cstring>

#define POOT_BODY <poot/run/host/rope.inc>
#include <poot/run/host/each_isa.inc>

namespace poot::run::host {

class rope_step : public step {
 public:
  rope_step(const plan::program_view& p, const plan::launch& l) : id_(p(l.members)[0]) {
    const view<int64> attrs = p.graph.attrs(id_);
    width_ = attrs[0];
    adjacent_ = attrs[1] != 0;
    has_signs_ = attrs[2] != 0;
  }

  void prepare(const run_context& c) override {
    const view<uint32> in = c.program.graph.operands(id_);
    x_ = c.type(in[0]);
    const tensor_type table = c.type(in[1]);
    entries_ = table.last().code;
    axes_ = x_.rank - 1;
    int64 stride = entries_;
    for (int i = axes_; i-- > 0;) {
      const int own = i - (x_.rank - table.rank);
      const int64 extent = own < 0 ? 1 : table.extents[own].code;
      stride_[i] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
    rows_ = 1;
    for (int i = 0; i < axes_; ++i) rows_ *= x_.extents[i].code;
  }

  void run(const run_context& c) override {
    if (x_.element != dtype::f32) return run_by_element(c);
    const view<uint32> in = c.program.graph.operands(id_);
    const float *x = c.at<float>(in[0]), *cos = c.at<float>(in[1]), *sin = c.at<float>(in[2]);
    float* const to = c.at<float>(id_);
    const int64 last = x_.last().code;
    const auto turn = adjacent_ ? POOT_FOR_ISA(turn_adjacent) : POOT_FOR_ISA(turn_halves);
    c.threads.parallel(rows_, [&](int64 begin, int64 end, int) {
      static thread_local vec<float> room;  // a row of both tables, an entry for each element, with its sign
      room.resize(static_cast<size_t>(2 * width_));
      float *const c_row = room.data(), *const s_row = c_row + width_;
      int64 before = -1;
      for (int64 row = begin; row < end; ++row) {
        const int64 at = table_offset(row);
        if (at != before) spread(cos + at, sin + at, c_row, s_row);
        before = at;
        turn(x + row * last, c_row, s_row, width_, to + row * last);
        if (width_ < last) std::memcpy(to + row * last + width_, x + row * last + width_, static_cast<size_t>(last - width_) * 4);
      }
    }, 1 + 8192 / (last + 1));
  }

 private:
  /// Other element types: no chain of them becomes a rope, but a graph may say so. Each step rounds.
  void run_by_element(const run_context& c) {
    const view<uint32> in = c.program.graph.operands(id_);
    const char *x = c.at(in[0]), *cos = c.at(in[1]), *sin = c.at(in[2]);
    char* const to = c.at(id_);
    const dtype t = x_.element;
    const auto bytes = static_cast<size_t>(byte_size(t, 1));
    const auto load = [&](const char* from, int64 i) {
      uint64 bits = 0;
      std::memcpy(&bits, from + static_cast<size_t>(i) * bytes, bytes);
      return bits;
    };
    const int64 last = x_.last().code, half = width_ / 2;
    for (int64 row = 0; row < rows_; ++row)
      for (int64 i = 0, first = row * last, table = table_offset(row); i < last; ++i) {
        uint64 bits = load(x, first + i);
        if (i < width_) {
          const bool second = adjacent_ ? i % 2 != 0 : i >= half;
          const int64 partner = adjacent_ ? i ^ 1 : second ? i - half : i + half;
          const int64 entry = table + (entries_ == width_ ? i : adjacent_ ? i / 2 : i % half);
          const uint64 kept = ir::evaluate(ir::op::mul, t, t, bits, load(cos, entry)), other = ir::evaluate(ir::op::mul, t, t, load(x, first + partner), load(sin, entry));
          bits = ir::evaluate(second || has_signs_ ? ir::op::add : ir::op::sub, t, t, kept, other);
        }
        std::memcpy(to + static_cast<size_t>(first + i) * bytes, &bits, bytes);
      }
  }

  int64 table_offset(int64 row) const {
    int64 at = 0;
    for (int i = axes_; i-- > 0; row /= x_.extents[i].code) at += row % x_.extents[i].code * stride_[i];
    return at;
  }
  /// The first of a pair takes its partner's product away, the second adds it.
  void spread(const float* cos, const float* sin, float* c_row, float* s_row) const {
    const int64 half = width_ / 2;
    for (int64 i = 0; i < width_; ++i) {
      const int64 entry = entries_ == width_ ? i : adjacent_ ? i / 2 : i < half ? i : i - half;
      const bool first = adjacent_ ? i % 2 == 0 : i < half;
      c_row[i] = cos[entry];
      s_row[i] = first && !has_signs_ ? ieee::from_bits(ieee::to_bits(sin[entry]) ^ 0x80000000u) : sin[entry];
    }
  }

  uint32 id_;
  tensor_type x_{};
  int64 width_ = 0, entries_ = 0, rows_ = 0;
  bool adjacent_ = false, has_signs_ = false;
  int axes_ = 0;
  int64 stride_[max_rank]{};  ///< of the tables, over the axes of x before the last
};

}  // namespace poot::run::host

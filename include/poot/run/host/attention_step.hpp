#pragma once
/// A launch of attention: where its operands lie, and which rows share keys and values.

#include <poot/run/host/attention.hpp>
#include <poot/run/host/operand_strides.hpp>

namespace poot::run::host {

class attention_step : public step {
 public:
  attention_step(const plan::program_view& p, const plan::launch& l) : id_(p(l.members)[0]), tail_(p(l.members).subview(1, l.members.count - 1)) {}

  void prepare(const run_context& c) override {
    const ir::graph_view& g = c.program.graph;
    const view<uint32> in = g.operands(id_);
    const view<int64> attrs = g.attrs(id_);
    const tensor_type q = c.type(in[0]), k = c.type(in[1]), v = c.type(in[2]);
    queries_ = operand(c, in[0], q.rank);
    keys_ = operand(c, in[1], k.rank);
    values_ = operand(c, in[2], v.rank);
    place_result(c);
    made_ = c.type(id_).element;
    store_ = current_tile_functions().store(made_);
    added_ = chosen_ = sink_ = {};
    const size_t masks_end = in.size() - static_cast<size_t>(attrs[2]);
    for (size_t i = 3; i < masks_end; ++i) (c.type(in[i]).element == dtype::i32 ? chosen_ : added_) = operand(c, in[i], q.rank);
    if (attrs[2]) sink_ = operand(c, in[masks_end], q.rank);

    batch_ = q.rank - 2;
    length_ = q.extents[q.rank - 2].code;
    problem_ = {};
    problem_.entries = 1;
    problem_.rows = length_;
    for (int i = 0; i < batch_; ++i) {
      const int own = i - (q.rank - k.rank);
      shared_[i] = own < 0 ? 1 : k.extents[own].code;
      heads_[i] = shared_[i] ? q.extents[i].code / shared_[i] : 0;
      key_strides_[i] = own < 0 ? 0 : keys_.stride[own];
      value_strides_[i] = own < 0 ? 0 : values_.stride[own];
      problem_.entries *= shared_[i];
      problem_.rows *= heads_[i];
    }
    problem_.keys = k.extents[k.rank - 2].code;
    problem_.width = q.last().code;
    problem_.columns = v.last().code;
    problem_.scale = std::bit_cast<float>(static_cast<uint32>(attrs[0]));
    problem_.softcap = std::bit_cast<float>(static_cast<uint32>(attrs[1]));
    problem_.strict = attrs[3] != 0;
    problem_.context = this;
    problem_.keys_of = [](const void* self, int64 entry) {
      const attention_step& s = *static_cast<const attention_step*>(self);
      return s.rows(s.keys_, s.key_strides_, entry, s.problem_.width);
    };
    problem_.values_of = [](const void* self, int64 entry) {
      const attention_step& s = *static_cast<const attention_step*>(self);
      return s.rows(s.values_, s.value_strides_, entry, s.problem_.columns);
    };
    problem_.query = [](const void* self, int64 entry, int64 row, float* room) {
      const attention_step& s = *static_cast<const attention_step*>(self);
      return s.query(entry, row, room);
    };
    if (added_.data)
      problem_.added = [](const void* self, int64 entry, int64 row, int64 first, float* room) {
        const attention_step& s = *static_cast<const attention_step*>(self);
        return s.mask_row(s.added_, entry, row, first, room);
      };
    if (chosen_.data)
      problem_.chosen = [](const void* self, int64 entry, int64 row, int64 first, int32* room) {
        const attention_step& s = *static_cast<const attention_step*>(self);
        return s.mask_row(s.chosen_, entry, row, first, room);
      };
    if (sink_.data)
      problem_.sink = [](const void* self, int64 entry, int64 row) {
        return static_cast<const attention_step*>(self)->sink(entry, row);
      };
    problem_.finish = [](const void* self, int64 entry, int64 row, const float* result) {
      static_cast<const attention_step*>(self)->finish(entry, row, result);
    };
  }

  void run(const run_context& c) override { attend(problem_, c.threads); }

 private:
  /// Where an operand lies; its strides over the axes of q where it has fewer.
  struct placed {
    const char* data = nullptr;
    dtype element = dtype::f32;
    int64 stride[max_rank]{};
    const char* at(int64 elements) const { return data + byte_size(element, elements); }
  };
  static placed operand(const run_context& c, uint32 id, int rank) {
    const tensor_type t = c.type(id);
    const operand_strides strides(c, id);
    placed p{c.at(id), t.element};
    for (int i = 0; i < t.rank; ++i) p.stride[i + rank - t.rank] = strides.of[i];
    return p;
  }

  shared_rows rows(const placed& held, const int64* strides, int64 entry, int64 width) const {
    int64 at = 0;
    for (int i = batch_; i-- > 0; entry /= shared_[i]) at += entry % shared_[i] * strides[i];
    return {held.at(at), held.element, width};
  }

  /// Calls f(axis, index) for the batch axes of q at a row of an entry; returns the query's index.
  template <class F>
  int64 locate(int64 entry, int64 row, F f) const {
    const int64 query = row % length_;
    row /= length_;
    for (int i = batch_; i-- > 0;) {
      f(i, entry % shared_[i] * heads_[i] + row % heads_[i]);
      entry /= shared_[i];
      row /= heads_[i];
    }
    return query;
  }
  int64 offset(const placed& p, int64 entry, int64 row) const {
    int64 at = 0;
    const int64 query = locate(entry, row, [&](int i, int64 index) { at += index * p.stride[i]; });
    return at + query * p.stride[batch_];
  }

  const float* query(int64 entry, int64 row, float* room) const {
    const char* const from = queries_.at(offset(queries_, entry, row));
    if (queries_.element == dtype::f32) return reinterpret_cast<const float*>(from);
    const tile_function load = current_tile_functions().load(queries_.element);
    for (int64 i = 0; i < problem_.width; i += tile_elements)
      load(room + i, from + byte_size(queries_.element, i), nullptr, nullptr, piece(problem_.width - i));
    return room;
  }
  float sink(int64 entry, int64 row) const {
    const char* const from = sink_.at(offset(sink_, entry, row));
    if (sink_.element == dtype::f32) return *reinterpret_cast<const float*>(from);
    float value;
    current_tile_functions().load(sink_.element)(&value, from, nullptr, nullptr, 1);
    return value;
  }
  static int piece(int64 rest) { return static_cast<int>(rest < tile_elements ? rest : tile_elements); }

  template <class T>
  const T* mask_row(const placed& mask, int64 entry, int64 row, int64 first, T* room) const {
    const T* const from = reinterpret_cast<const T*>(mask.data) + offset(mask, entry, row);
    if (mask.stride[batch_ + 1]) return from + first;
    for (int i = 0; i < attention_chunk; ++i) room[i] = *from;
    return room;
  }

  /// Where each axis of the result steps to, behind the tail: a view that joins heads, and transposes.
  void place_result(const run_context& c) {
    const ir::graph_view& g = c.program.graph;
    const uint32 last = tail_.empty() ? id_ : tail_.back();
    result_ = c.at(last);
    const tensor_type made = c.type(last);
    int64 stride = 1;
    for (int i = made.rank; i-- > 0; stride *= made.extents[i].code) result_strides_[i] = stride;
    for (size_t m = tail_.size(); m-- > 0;) {
      int64 before[max_rank]{};
      if (g[tail_[m]].kind == ir::op::reshape) {
        const tensor_type whole = c.type(id_);
        before[whole.rank - 1] = result_strides_[2];
        before[whole.rank - 2] = result_strides_[1];
        before[whole.rank - 3] = result_strides_[0];
        for (int i = whole.rank - 3; i-- > 0;) before[i] = before[i + 1] * whole.extents[i + 1].code;
        for (int i = 0; i < whole.rank; ++i) result_strides_[i] = before[i];
        break;  // the first behind attention
      }
      for (int i = 0; i < made.rank; ++i) before[g.attrs(tail_[m])[static_cast<size_t>(i)]] = result_strides_[i];
      for (int i = 0; i < made.rank; ++i) result_strides_[i] = before[i];
    }
  }

  void finish(int64 entry, int64 row, const float* from) const {
    int64 at = 0;
    const int64 query = locate(entry, row, [&](int i, int64 index) { at += index * result_strides_[i]; });
    at += query * result_strides_[batch_];
    const int64 apart = result_strides_[batch_ + 1];
    char* const to = result_ + byte_size(made_, at);
    if (apart != 1) {
      for (int64 i = 0; i < problem_.columns; ++i) store_(to + byte_size(made_, i * apart), from + i, nullptr, nullptr, 1);
      return;
    }
    if (made_ == dtype::f32) return static_cast<void>(std::memcpy(to, from, static_cast<size_t>(problem_.columns) * 4));
    for (int64 i = 0; i < problem_.columns; i += tile_elements)
      store_(to + byte_size(made_, i), from + i, nullptr, nullptr, piece(problem_.columns - i));
  }

  uint32 id_;
  vec<uint32> tail_;  ///< what stands behind it
  attention_problem problem_;
  placed queries_, keys_, values_, added_, chosen_, sink_;
  char* result_ = nullptr;
  dtype made_ = dtype::f32;
  tile_function store_ = nullptr;
  int batch_ = 0;        ///< axes of q before L and D
  int64 length_ = 0;     ///< queries of a head
  int64 shared_[max_rank]{}, heads_[max_rank]{};              ///< entries of k and v, and q's of each, along an axis of q
  int64 key_strides_[max_rank]{}, value_strides_[max_rank]{};
  int64 result_strides_[max_rank]{};  ///< of what is stored, over the axes of attention's result
};

}  // namespace poot::run::host

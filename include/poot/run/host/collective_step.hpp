#pragma once
/// A launch of one op among ranks. The communicator moves bytes; sums are made here, in the order of ranks
/// (ir/interpret_ranks.hpp): each rank adds the elements that are its own, and passes them on.

#include <poot/ir/evaluate.hpp>
#include <poot/ir/group.hpp>
#include <poot/run/communicator.hpp>
#include <poot/run/host/step.hpp>

#include <cstring>

namespace poot::run::host {

namespace detail {

/// to[i] = the sum of element i of `ranks` parts, each of `count` elements of `t`.
template <class Float, class Word>
void add_parts(dtype t, const char* parts, int64 count, int64 ranks, char* to, pool& threads) {
  const auto element = [=](int64 r, int64 i) { return reinterpret_cast<const Word*>(parts)[r * count + i]; };
  threads.parallel(count, [&](int64 begin, int64 end, int) {
    for (int64 i = begin; i < end; ++i) {
      Word& sum = reinterpret_cast<Word*>(to)[i];
      if constexpr (std::is_floating_point_v<Float>) {
        Float s = ir::detail::load_float<Float>(t, element(0, i));
        for (int64 r = 1; r < ranks; ++r) s = ieee::add(s, ir::detail::load_float<Float>(t, element(r, i)));
        sum = static_cast<Word>(ir::detail::store_float(t, s));
      } else {
        Word s = element(0, i);
        for (int64 r = 1; r < ranks; ++r) s = static_cast<Word>(s + element(r, i));
        sum = s;
      }
    }
  }, 4096);
}
inline void add_parts(dtype t, const char* parts, int64 count, int64 ranks, char* to, pool& threads) {
  const auto bytes = row(t).block_bytes;
  if (t == dtype::f64) add_parts<double, uint64>(t, parts, count, ranks, to, threads);
  else if (t == dtype::f32) add_parts<float, uint32>(t, parts, count, ranks, to, threads);
  else if (is_float(t)) add_parts<float, uint16>(t, parts, count, ranks, to, threads);
  else if (bytes == 4) add_parts<uint32, uint32>(t, parts, count, ranks, to, threads);
  else add_parts<uint8, uint8>(t, parts, count, ranks, to, threads);
}

}  // namespace detail

class collective_step : public step {
 public:
  collective_step(const plan::program_view& p, const plan::launch& l) : id_(p(l.members)[0]) {
    const ir::eqn& e = p.graph[id_];
    const tensor_type& x = p.graph.type(p.graph.operands(e)[0]);
    const tensor_type& part = e.kind == ir::op::reduce_scatter ? e.type : x;  // what one rank has
    const int axis = e.kind == ir::op::all_reduce_sum ? 0 : static_cast<int>(p.graph.attrs(e)[0]);
    for (int i = 0; i < axis; ++i) outer_ *= part.extents[i].code;
    count_ = part.element_count();
    element_ = static_cast<int64>(row(x.element).block_bytes);
  }

  void prepare(const run_context& c) override {
    const ir::graph_view& g = c.program.graph;
    ranks_ = c.ranks->size(g.name_of(id_));
    if (what_.empty()) {
      what_ << ir::name(g[id_].kind) << " of ";
      ir::write_type(what_, g.type(g.operands(id_)[0]), g);
      (what_ << ", %" << id_ << " of graph ").hex(c.digest);
    }
    share_ = (count_ + ranks_ - 1) / ranks_;
    const int64 bytes = ranks_ * element_ * (c.program.graph[id_].kind == ir::op::all_reduce_sum ? share_ : count_);
    if (sent_.bytes() < bytes) sent_ = storage(bytes), received_ = storage(bytes);
  }

  void run(const run_context& c) override {
    const std::string_view group = c.program.graph.name_of(id_), what = what_.str();
    const char* from = c.at(c.program.graph.operands(id_)[0]);
    const dtype t = c.program.graph.type(id_).element;
    char* const to = c.at(id_);
    const int64 bytes = count_ * element_;
    switch (c.program.graph[id_].kind) {
      case ir::op::all_gather:
        c.ranks->all_gather(group, what, from, bytes, received_.data());
        return in_rows([&](int64 row, int64 rank, int64 own, int64 length) { copy(to + row, received_.data() + rank * bytes + own, length); });
      case ir::op::reduce_scatter:
        in_rows([&](int64 row, int64 rank, int64 own, int64 length) { copy(sent_.data() + rank * bytes + own, from + row, length); });
        c.ranks->all_to_all(group, what, sent_.data(), bytes, received_.data());
        return detail::add_parts(t, received_.data(), count_, ranks_, to, c.threads);
      default:  // each rank adds its share; the last shares end in zeros
        copy(sent_.data(), from, bytes);
        c.ranks->all_to_all(group, what, sent_.data(), share_ * element_, received_.data());
        detail::add_parts(t, received_.data(), share_, ranks_, sent_.data(), c.threads);
        c.ranks->all_gather(group, what, sent_.data(), share_ * element_, received_.data());
        copy(to, received_.data(), bytes);
    }
  }

 private:
  static void copy(char* to, const char* from, int64 bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  /// Calls f(where it lies in the value of all ranks, rank, where it lies in that rank's, bytes) for each run of a rank's elements.
  template <class F>
  void in_rows(F f) const {
    const int64 length = outer_ ? count_ / outer_ * element_ : 0;
    for (int64 o = 0; o < outer_; ++o)
      for (int64 r = 0; r < ranks_; ++r) f((o * ranks_ + r) * length, r, o * length, length);
  }

  uint32 id_;
  int64 outer_ = 1, count_ = 0;       ///< indices before the axis; elements of one rank's part
  int64 element_ = 1;                 ///< bytes
  int64 ranks_ = 1, share_ = 0;       ///< of the group; elements of a sum that one rank adds
  text what_;                         ///< is done, for other ranks to compare
  storage sent_, received_;
};

}  // namespace poot::run::host

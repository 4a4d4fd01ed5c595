#include "sample.hpp"

namespace poot_tests {

namespace {

std::vector<uint64> float_edges(dtype t) {
  const float_format f = format_of(t);
  const uint64 infinity = ((uint64{1} << f.exponent_bits) - 1) << f.fraction_bits, quiet = uint64{1} << (f.fraction_bits - 1);
  std::vector<uint64> magnitudes = {
      0,                           // zero
      infinity,                    //
      infinity | quiet,            // the usual NaN
      infinity | quiet | 5,        // one with a payload
      infinity | 1,                // a signalling one
      1,                           // the least subnormal
      quiet,                       // one in the middle
      2 * quiet - 1,               // the greatest
      2 * quiet,                   // the least normal
      infinity - 1,                // the greatest finite
  };
  for (double x : {1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 127.0, 128.0, 255.0, 256.0, 2048.0, 1e-5, 3.14159265358979, 88.8, 16777217.0, 2147483648.0, 4294967296.0})
    magnitudes.push_back(float_bits(t, x));
  std::vector<uint64> all;
  for (uint64 m : magnitudes) {
    all.push_back(m);
    all.push_back(m | f.sign_bit());
  }
  return all;
}

}  // namespace

std::vector<uint64> edges_of(dtype t) {
  if (t == boolean) return {0, 1};
  if (is_float(t)) return float_edges(t);
  const uint64 all = ~uint64{0} >> (64 - 8 * row(t).block_bytes), half = all >> 1;
  std::vector<uint64> made;
  for (uint64 x : {uint64{0}, uint64{1}, uint64{2}, uint64{3}, uint64{7}, uint64{31}, uint64{32}, uint64{33}, uint64{100}, uint64{255}, uint64{256},
                   half - 1, half, half + 1, half + 2, all - 100, all - 6, all - 2, all - 1, all})
    made.push_back(x & all);
  return made;
}

tensor_type shaped(dtype t, const std::vector<int64>& extents) {
  tensor_type made;
  made.element = t;
  for (int64 e : extents) made.extents[made.rank++] = extent(e);
  return made;
}

ir::tensor sample_maker::filled(const tensor_type& t, filling how, int64 count, int step) {
  ir::tensor made(t);
  if (is_packed(t.element)) return draw_tensor(draws_, t);
  const std::vector<uint64> edges = edges_of(t.element);
  const int64 places[] = {0, count - 1, count, -1, -0x80000000ll, 0x7fffffff, count + 7, count / 2};
  for (size_t i = 0; i < made.bits.size(); ++i) {
    uint64& bits = made.bits[i];
    switch (how) {
      case filling::edges:
        bits = step == 0 && i < edges.size() ? edges[i] : draw_element(draws_, t.element, draws_.less_than(4) ? values::any_bits : values::special);
        break;
      case filling::plain: bits = draw_element(draws_, t.element, values::wide); break;
      case filling::mixed: bits = draw_element(draws_, t.element, draws_.less_than(50) ? values::wide : values::special); break;
      case filling::places: {
        const int64 at = (step == 0 && i < 8) || draws_.less_than(4) == 0 ? places[step == 0 && i < 8 ? i : draws_.less_than(8)]
                                                                         : static_cast<int64>(draws_.less_than(static_cast<uint64>(count ? count : 1)));
        bits = static_cast<uint32>(at);
        break;
      }
    }
  }
  return made;
}

sample sample_maker::finish(int steps) {
  sample s;
  s.graph = std::move(graph_);
  const ir::graph_view g = s.graph;
  for (int step = 0; step < steps; ++step) {
    const drawn_counts extents = draw_counts(draws_, g);
    s.given.emplace_back();
    for (uint32 id = 0, leaf = 0; id < g.size(); ++id) {
      if (!ir::is_named_leaf(g[id].kind)) continue;
      const bool kept = step > 0 && g[id].kind == op::weight;
      ir::tensor value = kept ? s.given.front()[leaf].value : filled(extents(g.type(id)), fillings_[leaf], counts_[leaf], step);
      s.given.back().push_back({g.name_of(id), std::move(value)});
      ++leaf;
    }
  }
  return s;
}

}  // namespace poot_tests

#include <poot/run/host/reduction.hpp>

#include "region_reference.hpp"

using namespace region_test;

namespace {

/// The reduction of `x` along `axis`, one element at a time.
tensor reduced_along(op o, const tensor& x, size_t axis) {
  tensor r{o == op::reduce_argmax ? i32 : x.element, x.extents, {}};
  r.extents[axis] = 1;
  int64 outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= x.extents[i];
  for (size_t i = axis + 1; i < x.extents.size(); ++i) inner *= x.extents[i];
  const int64 length = x.extents[axis];
  for (int64 a = 0; a < outer; ++a)
    for (int64 b = 0; b < inner; ++b) {
      std::vector<uint64> line;
      for (int64 i = 0; i < length; ++i) line.push_back(x.bits[static_cast<size_t>((a * length + i) * inner + b)]);
      r.bits.push_back(reduced(o, x.element, line));
    }
  return r;
}

}  // namespace

TEST_CASE("a reduction over any axis has the bits of the order along it") {
  struct shape {
    std::vector<int64> extents;
    int axis;
  };
  const std::vector<shape> shapes = {{{5, 16}, 0},   {{300, 3}, 0},  {{4500, 17}, 0}, {{2, 7, 33}, 1}, {{3, 256, 5}, 1}, {{2, 3, 4, 5}, 0},
                                     {{2, 3, 4, 5}, 1}, {{2, 3, 4, 5}, 2}, {{2, 3, 4, 5}, 3}, {{1, 600}, 0}, {{257, 40}, 0},  {{0, 6}, 0},
                                     {{3, 0}, 0},    {{2, 1, 700}, 1}, {{4, 300}, 1}};
  pool two(2);
  on_every_isa([&] {
    uint64 seed = 0;
    for (const shape& s : shapes)
      for (dtype t : {f64, f32, f16, bf16, i32, u32, i8, u8})
        for (op o : {op::reduce_sum, op::reduce_max, op::reduce_min, op::reduce_argmax}) {
          if (o == op::reduce_argmax && s.extents[static_cast<size_t>(s.axis)] == 0) continue;
          if (s.extents[0] > 1000 && t != f32 && t != bf16) continue;
          random_numbers random(++seed);
          ir::graph g;
          tensor_type type;
          type.element = t;
          for (int64 e : s.extents) type.extents[type.rank++] = e;
          const uint32 x = g.leaf(op::input, type, {}, "x");
          const int64 axis[1] = {s.axis};
          const uint32 y = g.apply(o, {&x, 1}, {axis, 1});
          tensor value = random_tensor(random, type, {});
          if (seed % 2 && is_float(t))  // without NaN and infinity nearly everywhere
            for (uint64& b : value.bits) b = convert_bits(binary32, format_of(t), ieee::to_bits(static_cast<float>(random.below(2001) - 1000) * 0x1.3p-4f));
          const tensor want = reduced_along(o, value, static_cast<size_t>(s.axis));
          guarded in(t, value.bits.size(), 0), out(want.element, want.bits.size(), 0);
          in.write(value.bits);
          axis_reduction(g, y).run(in.data(), out.data(), {}, seed % 3 ? nullptr : &two);
          const std::vector<uint64> got = out.read();
          int wrong = 0;
          for (size_t i = 0; i < got.size(); ++i) wrong += !same_value(want.element, got[i], want.bits[i]);
          INFO(std::string(ir::name(o)), " ", std::string(name(t)), " axis ", s.axis, " of rank ", s.extents.size(), " first ", s.extents[0]);
          CHECK(wrong == 0);
          CHECK(out.guards_hold());
        }
  });
}

TEST_CASE("the axis of a reduction may be dynamic") {
  const float_environment environment;
  ir::graph g;
  const extent rows = g.dynamic("R", 5000);
  const uint32 x = g.leaf(op::input, type_of(f32, rows, 20), {}, "x");
  const int64 axis[1] = {0};
  const uint32 y = g.apply(op::reduce_sum, {&x, 1}, {axis, 1});
  const axis_reduction r(g, y);
  for (int64 n : {0, 1, 5, 256, 5000}) {
    random_numbers random(static_cast<uint64>(n) + 3);
    const extent_count count{rows.key(), n};
    tensor value{f32, {n, 20}, {}};
    std::vector<float> data;
    for (int64 i = 0; i < n * 20; ++i) {
      data.push_back(static_cast<float>(random.below(2001) - 1000) * 0x1.3p-4f);
      value.bits.push_back(ieee::to_bits(data.back()));
    }
    data.push_back(0);
    const tensor want = reduced_along(op::reduce_sum, value, 0);
    float got[20];
    r.run(data.data(), got, {&count, 1});
    for (size_t i = 0; i < 20; ++i) CHECK(ieee::to_bits(got[i]) == want.bits[i]);
  }
}

#include "region_reference.hpp"

#include <poot/ir/interpret.hpp>

using namespace region_test;

namespace {

const std::vector<std::vector<extent>> row_shapes = {{5, 256}, {3, 4096}, {2, 4097},  {4, 1},     {1, 7},   {9, 100},  {2, 3, 16}, {300},
                                                     {2, 9000}, {3, 255}, {2, 2, 257}, {1, 1, 33}, {4, 0},  {0, 8},    {1},        {6, 3}};

/// y = softmax(x) over the last axis, in primitives.
struct softmax_graph {
  ir::graph g;
  uint32 x, y;
  std::vector<uint32> members;
  softmax_graph(extent rows, extent cols, dtype t) {
    x = g.leaf(op::input, type_of(t, rows, cols), {}, "x");
    const int64 axis[1] = {1};
    const uint32 m = apply(op::reduce_max, {x}, {axis, 1}), shifted = apply(op::sub, {x, m}), e = apply(op::exp, {shifted});
    const uint32 s = apply(op::reduce_sum, {e}, {axis, 1});
    y = apply(op::div, {e, s});
  }
  uint32 apply(op o, std::vector<uint32> in, view<int64> attrs = {}) {
    members.push_back(g.apply(o, {in.data(), in.size()}, attrs));
    return members.back();
  }
  region_members region() const { return {region_kind::row, {members.data(), members.size()}, {&y, 1}, {}}; }
};

}  // namespace

TEST_CASE("random row regions have the bits of their equations one by one") {
  pool two(2);
  on_every_isa([&] {
    for (uint64 seed = 0; seed < 160; ++seed) {
      random_region r(seed + 1000, row_shapes[seed % row_shapes.size()], {});
      r.kind = region_kind::row;
      const dtype main_type = all_types[r.random.below(8)];
      r.leaf(main_type, true);
      const int count = 2 + r.random.below(12);
      int reductions = 0;
      for (int i = 0; i < count; ++i) {
        const dtype t = r.random.below(3) ? main_type : all_types[r.random.below(8)];
        if (r.random.below(3) == 0 && r.grow_reduction()) ++reductions;
        else r.grow(random_pointwise(r.random, t), t);
      }
      if (!reductions && !r.grow_reduction()) continue;
      if (!r.choose_outputs()) continue;
      INFO("seed ", seed);
      CHECK(differs(r.g, r.region(), r.values, r.counts, nullptr, seed % 3) == "");
      CHECK(differs(r.g, r.region(), r.values, r.counts, &two, 0) == "");
      for (uint32 id : r.members) {
        const region_members alone{ir::is_reduction(r.g.eqns[id].kind) ? region_kind::row : region_kind::pointwise, {&id, 1}, {&id, 1}, {}};
        CHECK(differs(r.g, alone, r.values, r.counts, nullptr, 0) == "");
      }
    }
  });
}

TEST_CASE("the evaluation that regions are compared with is that of the interpreter") {
  for (uint64 seed = 0; seed < 40; ++seed) {
    random_region r(seed + 9000, row_shapes[seed % row_shapes.size()], {});
    r.kind = region_kind::row;
    r.leaf(all_types[seed % 8], true);
    for (int i = 0; i < 8; ++i)
      if (r.random.below(3) || !r.grow_reduction()) r.grow(random_pointwise(r.random, all_types[seed % 8]), all_types[seed % 8]);
    const auto as_tensor = [&](uint32 id) {
      ir::tensor t(r.g.eqns[id].type);
      for (size_t i = 0; i < t.bits.size(); ++i) t.bits[i] = r.values[id].bits[i];
      return t;
    };
    for (uint32 id : r.members) {
      std::vector<ir::tensor> operands;
      for (uint32 in : r.g.view_of().operands(id)) operands.push_back(as_tensor(in));
      std::vector<const ir::tensor*> pointers;
      for (const ir::tensor& t : operands) pointers.push_back(&t);
      const ir::tensor got = ir::interpret_equation(r.g, id, {pointers.data(), pointers.size()}, r.g.eqns[id].type);
      int wrong = 0;
      for (size_t i = 0; i < got.bits.size(); ++i) wrong += !same_value(got.type.element, got.bits[i], r.values[id].bits[i]);
      INFO("seed ", seed, " equation ", id, " ", std::string(ir::name(r.g.eqns[id].kind)));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a sum takes 256 lanes in chunks of 4096, whatever the length") {
  on_every_isa([] {
    for (int64 n : {0, 1, 2, 17, 255, 256, 257, 4095, 4096, 4097, 8192, 10000}) {
      ir::graph g;
      const uint32 x = g.leaf(op::input, type_of(f32, 2, n), {}, "x");
      const int64 axis[1] = {1};
      const uint32 sum = g.apply(op::reduce_sum, {&x, 1}, {axis, 1});
      region r(g, {region_kind::row, {&sum, 1}, {&sum, 1}, {}});
      random_numbers random(static_cast<uint64>(n) + 1);
      std::vector<float> data;
      for (int64 i = 0; i < 2 * n; ++i) data.push_back(static_cast<float>(random.below(2000001) - 1000000) * 0x1.234568p-10f);
      data.push_back(0);
      const void* in = data.data();
      float got[2] = {-1, -1};
      void* out = got;
      r.run({&in, &out});
      for (int64 row = 0; row < 2; ++row)
        CHECK(got[row] == canonical_sum(std::vector<float>(data.begin() + row * n, data.begin() + (row + 1) * n)));
    }
  });
}

TEST_CASE("softmax keeps its bits in place, streamed, on two threads and with rows of dynamic length") {
  pool two(2);
  on_every_isa([&] {
    ir::graph unused;
    const extent rows = unused.dynamic("R", 1 << 20), cols = unused.dynamic("C", 1 << 20);
    for (dtype t : {f32, bf16}) {
      softmax_graph s(rows, cols, t);
      for (const auto& c : {std::pair<int64, int64>{3, 5}, {2, 4096}, {7, 1000}, {1, 20000}, {0, 4}}) {
        const counts_list counts{{rows.key(), c.first}, {cols.key(), c.second}};
        random_numbers random(9);
        std::map<uint32, tensor> values;
        values[s.x] = random_tensor(random, s.g.eqns[s.x].type, counts);
        for (uint32 id : s.members) values[id] = evaluate_equation(s.g, id, values, counts);
        CHECK(differs(s.g, s.region(), values, counts, nullptr, 0) == "");
        CHECK(differs(s.g, s.region(), values, counts, &two, 1) == "");
        region r(s.g, s.region());
        guarded in_place(t, values[s.x].bits.size(), 0);
        in_place.write(values[s.x].bits);
        const void* in = in_place.data();
        void* out = in_place.data();
        r.run({&in, &out}, {counts.data(), counts.size()}, &two);
        const std::vector<uint64> got = in_place.read();
        int wrong = 0;
        for (size_t i = 0; i < got.size(); ++i) wrong += !same_value(t, got[i], values[s.y].bits[i]);
        CHECK(wrong == 0);
        CHECK(in_place.guards_hold());
      }
    }
  });
}

TEST_CASE("softmax larger than the caches is streamed with the same bits") {
  const int64 rows = 600, cols = 4100;
  softmax_graph s(rows, cols, f32);
  region r(s.g, s.region());
  std::vector<float> data(static_cast<size_t>(rows * cols));
  random_numbers random(3);
  for (float& x : data) x = static_cast<float>(random.below(2000) - 1000) * 0.01f;
  std::vector<float> whole(data.size()), single(static_cast<size_t>(cols));
  pool two(2);
  const void* in = data.data();
  void* out = whole.data();
  r.run({&in, &out}, {}, &two);
  softmax_graph one(1, cols, f32);
  region of_row(one.g, one.region());
  for (int64 row = 0; row < rows; row += 37) {
    in = data.data() + row * cols;
    out = single.data();
    of_row.run({&in, &out});
    CHECK(std::memcmp(single.data(), whole.data() + row * cols, sizeof(float) * static_cast<size_t>(cols)) == 0);
  }
}

TEST_CASE("the phase that waits for arithmetic fetches the next row among its steps, where one input of 32 bits is read") {
  softmax_graph s(5, 300, f32), narrow(5, 300, bf16);
  const region r(s.g, s.region()), of_narrow(narrow.g, narrow.region());
  REQUIRE(r.program().phases.size() == 3);
  CHECK(r.program().phases[0].fetches == -1);
  CHECK(r.program().phases[1].fetches >= 0);
  CHECK(r.program().phases[2].fetches == -1);
  CHECK(of_narrow.program().phases[1].fetches == -1);
}

TEST_CASE("an early output that would overwrite what is read later is refused") {
  ir::graph g;
  const uint32 x = g.leaf(op::input, type_of(f32, 4, 8), {}, "x");
  const int64 axis[1] = {1};
  const uint32 negative = g.apply(op::neg, {&x, 1}), sum = g.apply(op::reduce_sum, {&negative, 1}, {axis, 1});
  const uint32 a[2] = {x, sum};
  const uint32 last = g.apply(op::mul, {a, 2});
  const uint32 members[3] = {negative, sum, last}, outputs[2] = {negative, last};
  region r(g, {region_kind::row, {members, 3}, {outputs, 2}, {}});
  float data[32] = {}, other[32];
  const void* in = data;
  void* out[2] = {data, other};
  CHECK_THROWS_AS(r.run({&in, out}), error);
  void* apart[2] = {other, data};
  r.run({&in, apart});
}

TEST_CASE("a row region refuses other axes and other orders") {
  ir::graph g;
  const uint32 x = g.leaf(op::input, type_of(f32, 4, 8), {}, "x");
  const int64 first[1] = {0}, second[1] = {1};
  const uint32 other = g.apply(op::reduce_sum, {&x, 1}, {first, 1});
  CHECK_THROWS_WITH(region(g, {region_kind::row, {&other, 1}, {&other, 1}, {}}),
                    "region: equation 1, reduce_sum of f32[1,8]: a row region reduces the last axis, over rows of one length");
  const uint32 sum = g.apply(op::reduce_sum, {&x, 1}, {second, 1});
  g.eqns[sum].sum = {32, 4096, false};
  CHECK_THROWS_WITH(region(g, {region_kind::row, {&sum, 1}, {&sum, 1}, {}}),
                    "region: equation 2, reduce_sum of f32[4,1]: the host sums rows in 256 lanes and chunks of a multiple of 512");
}

#include "region_reference.hpp"

using namespace region_test;

namespace {

const std::vector<std::vector<extent>> shapes = {{1},       {3},        {16},      {255},      {256},     {257},   {1000},    {4, 7},
                                                 {3, 16},   {2, 3, 5},  {5, 300},  {2, 2, 64}, {7, 1, 9}, {1, 40}, {0, 5},    {5, 0},
                                                 {2, 256},  {3, 1},     {2, 1, 3, 1, 2, 8}, {130, 2}, {2, 4096}, {11, 33}};

}  // namespace

TEST_CASE("every pointwise op on every element type has the bits of its evaluation") {
  on_every_isa([] {
    for (int o = 0; o < ir::op_count; ++o) {
      if (!ir::is_pointwise(static_cast<op>(o)) || static_cast<op>(o) == op::custom) continue;
      for (dtype t : all_types) {
        if (static_cast<op>(o) != op::select && !ir::accepts(ir::row(static_cast<op>(o)).accepts, t)) continue;
        for (int trial = 0; trial < (static_cast<op>(o) == op::cast ? 12 : 5); ++trial) {
          random_region r(static_cast<uint64>(o * 1000 + static_cast<int>(t) * 50 + trial), {3, 131}, {});
          r.leaf(t, true);
          r.leaf(i32, true);
          r.grow(static_cast<op>(o), t);
          if (!r.choose_outputs()) continue;
          const std::string wrong = differs(r.g, r.region(), r.values, r.counts, nullptr, 0);
          INFO(std::string(ir::name(static_cast<op>(o))), " ", std::string(name(t)), " trial ", trial);
          CHECK(wrong == "");
        }
      }
    }
  });
}

TEST_CASE("random regions have the bits of their equations one by one") {
  pool two(2);
  on_every_isa([&] {
    for (uint64 seed = 0; seed < 120; ++seed) {
      random_region r(seed, shapes[seed % shapes.size()], {});
      const int count = 1 + r.random.below(14);
      const dtype main_type = all_types[r.random.below(9)];
      for (int i = 0; i < count; ++i) {
        const dtype t = r.random.below(3) ? main_type : all_types[r.random.below(9)];
        r.grow(random_pointwise(r.random, t), t);
      }
      if (!r.choose_outputs()) continue;
      INFO("seed ", seed);
      CHECK(differs(r.g, r.region(), r.values, r.counts, nullptr, seed % 3) == "");
      CHECK(differs(r.g, r.region(), r.values, r.counts, &two, 0) == "");
      // alone: each equation is a region of its own
      for (uint32 id : r.members) {
        const region_members alone{region_kind::pointwise, {&id, 1}, {&id, 1}, {}};
        CHECK(differs(r.g, alone, r.values, r.counts, nullptr, 0) == "");
      }
    }
  });
}

TEST_CASE("chains of f32 and narrow operations have the bits of single steps") {
  const op cheap[] = {op::add, op::sub, op::mul, op::div, op::max, op::min, op::neg, op::abs, op::sqrt, op::recip, op::exp};
  pool two(2);
  on_every_isa([&] {
    for (uint64 seed = 0; seed < 150; ++seed) {
      random_region r(seed + 5000, shapes[seed % shapes.size()], {});
      const dtype t = seed % 4 == 0 ? bf16 : seed % 4 == 1 ? f16 : f32;
      r.leaf(t, true);
      const int count = 4 + r.random.below(20);
      for (int i = 0; i < count; ++i) {
        // mostly on the last value, so that chains are long
        if (r.random.below(3)) {
          const op o = cheap[r.random.below(11)];
          uint32 in[2] = {r.members.empty() ? r.operand(t) : r.members.back(), r.operand(t)};
          if (r.random.below(2)) std::swap(in[0], in[1]);
          if (ir::row(o).arity == 1 || r.random.below(6)) r.add(r.g.apply(o, {in, static_cast<size_t>(ir::row(o).arity)}));
          else if (ir::row(o).arity == 2) in[1] = in[0], r.add(r.g.apply(o, {in, 2}));
        } else {
          r.grow(cheap[r.random.below(11)], t);
        }
      }
      if (!r.choose_outputs()) continue;
      INFO("seed ", seed);
      CHECK(differs(r.g, r.region(), r.values, r.counts, seed % 2 ? &two : nullptr, seed % 3) == "");
    }
  });
}

TEST_CASE("division by a uniform value is rounded like any other division") {
  on_every_isa([] {
    random_numbers random(11);
    for (int trial = 0; trial < 300; ++trial) {
      // near ties and near halves come from small whole numbers and from significands of many ones
      const bool wild = trial % 3 == 0;
      const auto draw = [&] {
        const uint32 u = static_cast<uint32>(random.next() >> 32);
        if (wild) return ieee::from_bits(static_cast<uint32>(random_element(random, f32)));
        if (trial % 3 == 1) return ieee::from_bits((u & 0x807fffffu) | (120u + (u >> 23 & 15)) << 23);
        return ieee::from_bits((u & 0x80000000u) | (126u + (u & 3)) << 23 | (0x7fffffu ^ (u >> 8 & 63)));
      };
      const float y = draw();
      ir::graph g;
      const uint32 x = g.leaf(op::input, type_of(f32, 4096), {}, "x");
      const uint32 in[2] = {x, g.literal(f32, ieee::to_bits(y))};
      const uint32 quotient = g.apply(op::div, {in, 2}), negative = g.apply(op::neg, {&quotient, 1});
      std::vector<float> data(4096), single(4096), chained(4096);
      for (float& v : data) v = draw();
      const void* from = data.data();
      void* to = single.data();
      region(g, {region_kind::pointwise, {&quotient, 1}, {&quotient, 1}, {}}).run({&from, &to});
      to = chained.data();
      const uint32 members[2] = {quotient, negative};
      region(g, {region_kind::pointwise, {members, 2}, {&negative, 1}, {}}).run({&from, &to});
      int wrong = 0;
      for (size_t i = 0; i < data.size(); ++i) {
        const uint64 want = ieee::to_bits(ieee::div(data[i], y));
        wrong += !same_value(f32, ieee::to_bits(single[i]), want) + !same_value(f32, ieee::to_bits(chained[i]) ^ 0x80000000u, want);
      }
      INFO("divisor ", y);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("dynamic extents are resolved at each run") {
  const float_environment environment;
  ir::graph g;
  const extent rows = g.dynamic("R", 64), cols = g.dynamic("C", 1000);
  const uint32 x = g.leaf(op::input, type_of(f32, rows, cols), {}, "x");
  const uint32 bias = g.leaf(op::input, type_of(f32, cols), {}, "bias");
  const uint32 scale = g.leaf(op::input, type_of(f32, rows, 1), {}, "scale");
  const uint32 a[2] = {x, bias};
  const uint32 sum = g.apply(op::add, {a, 2});
  const uint32 b[2] = {sum, scale};
  const uint32 product_id = g.apply(op::mul, {b, 2});
  const uint32 members[2] = {sum, product_id};
  region r(g, {region_kind::pointwise, {members, 2}, {&product_id, 1}, {}});
  random_numbers random(5);
  for (const auto& c : {std::pair<int64, int64>{1, 1}, {3, 7}, {64, 1000}, {0, 9}, {9, 0}, {1, 1000}, {64, 1}, {10, 100}}) {
    const counts_list counts{{rows.key(), c.first}, {cols.key(), c.second}};
    std::map<uint32, tensor> values;
    for (uint32 id : {x, bias, scale}) values[id] = random_tensor(random, g.eqns[id].type, counts);
    for (uint32 id : members) values[id] = evaluate_equation(g, id, values, counts);
    INFO(c.first, " by ", c.second);
    CHECK(differs(g, {region_kind::pointwise, {members, 2}, {&product_id, 1}, {}}, values, counts, nullptr, 0) == "");
    // and the same object again
    std::vector<std::vector<float>> in;
    std::vector<const void*> in_pointers;
    for (const tile_input& i : r.program().inputs) {
      in.emplace_back();
      for (uint64 bits : values[i.id].bits) in.back().push_back(ieee::from_bits(static_cast<uint32>(bits)));
      in.back().push_back(0);
    }
    for (const auto& v : in) in_pointers.push_back(v.data());
    std::vector<uint32> out(static_cast<size_t>(c.first * c.second) + 1, 0xabcdef);
    void* out_pointer = out.data();
    r.run({in_pointers.data(), &out_pointer}, {counts.data(), counts.size()});
    for (size_t i = 0; i + 1 < out.size(); ++i) CHECK(same_value(f32, out[i], values[product_id].bits[i]));
    CHECK(out.back() == 0xabcdef);
  }
  float value = 0;
  const void* in_pointers[3] = {&value, &value, &value};
  void* out_pointer = &value;
  CHECK_THROWS_AS(r.run({in_pointers, &out_pointer}, {}), error);
}

TEST_CASE("select moves the bits of NaN, in narrow types too") {
  on_every_isa([] {
    for (dtype t : {f32, f16, bf16, f64}) {
      ir::graph g;
      const uint32 c = g.leaf(op::input, type_of(i32, 300), {}, "c"), a = g.leaf(op::input, type_of(t, 300), {}, "a"),
                   b = g.leaf(op::input, type_of(t, 300), {}, "b");
      const uint32 in[3] = {c, a, b};
      const uint32 chosen = g.apply(op::select, {in, 3});
      region r(g, {region_kind::pointwise, {&chosen, 1}, {&chosen, 1}, {}});
      const size_t size = row(t).block_bytes;
      std::vector<int32> condition(300);
      std::vector<unsigned char> x(300 * size), y(300 * size), out(300 * size);
      for (size_t i = 0; i < 300; ++i) {
        condition[i] = i % 3 ? static_cast<int32>(i) : 0;
        const uint64 p = format_of(t).infinity() | (i + 1), q = p | format_of(t).sign_bit();
        std::memcpy(&x[i * size], &p, size);
        std::memcpy(&y[i * size], &q, size);
      }
      std::vector<const void*> pointers;
      for (const tile_input& i : r.program().inputs)
        pointers.push_back(i.id == c ? static_cast<const void*>(condition.data()) : i.id == a ? x.data() : y.data());
      void* to = out.data();
      r.run({pointers.data(), &to});
      for (size_t i = 0; i < 300; ++i) CHECK(std::memcmp(&out[i * size], i % 3 ? &x[i * size] : &y[i * size], size) == 0);
    }
  });
}

TEST_CASE("an output may share the buffer of an input") {
  ir::graph g;
  const uint32 x = g.leaf(op::input, type_of(f32, 1000), {}, "x");
  const uint32 xx[2] = {x, x};
  const uint32 square = g.apply(op::mul, {xx, 2});
  const uint32 sx[2] = {square, x};
  const uint32 sum = g.apply(op::add, {sx, 2});
  const uint32 members[2] = {square, sum};
  std::vector<float> data(1000), other(1000);
  for (int i = 0; i < 1000; ++i) data[static_cast<size_t>(i)] = static_cast<float>(i);
  region r(g, {region_kind::pointwise, {members, 2}, {members, 2}, {}});
  const void* in = data.data();
  void* out[2] = {data.data(), other.data()};
  r.run({&in, out});
  for (int i = 0; i < 1000; ++i) {
    CHECK(data[static_cast<size_t>(i)] == static_cast<float>(i * i));
    CHECK(other[static_cast<size_t>(i)] == static_cast<float>(i * i + i));
  }
}

TEST_CASE("outputs larger than the caches are streamed with the same bits") {
  ir::graph g;
  const int64 n = (stream_above_bytes / 4) + 333;
  const uint32 x = g.leaf(op::input, type_of(f32, n), {}, "x");
  const uint32 twice[2] = {x, x};
  const uint32 sum = g.apply(op::add, {twice, 2});
  region r(g, {region_kind::pointwise, {&sum, 1}, {&sum, 1}, {}});
  std::vector<float> data(static_cast<size_t>(n)), result(static_cast<size_t>(n) + 1, -1.0f);
  for (int64 i = 0; i < n; ++i) data[static_cast<size_t>(i)] = static_cast<float>(i % 1000);
  pool two(2);
  for (int shift = 0; shift < 2; ++shift) {
    const void* in = data.data();
    void* out = result.data() + shift;
    r.run({&in, &out}, {}, &two);
    int wrong = 0;
    for (int64 i = 0; i < n; ++i) wrong += result[static_cast<size_t>(i + shift)] != 2 * data[static_cast<size_t>(i)];
    CHECK(wrong == 0);
  }
}

TEST_CASE("what is not a region is refused in one sentence") {
  ir::graph g;
  const uint32 x = g.leaf(op::input, type_of(f32, 8, 4), {}, "x");
  const int64 axis[1] = {1};
  const uint32 sum = g.apply(op::reduce_sum, {&x, 1}, {axis, 1});
  CHECK_THROWS_WITH(region(g, {region_kind::pointwise, {&sum, 1}, {&sum, 1}, {}}),
                    "region: equation 1, reduce_sum of f32[8,1]: a region of this kind has no such member");
  const uint32 negative = g.apply(op::neg, {&x, 1});
  CHECK_THROWS_WITH(region(g, {region_kind::pointwise, {&negative, 1}, {&x, 1}, {}}),
                    "region: equation 0, input of f32[8,4]: only a member can be an output");
}

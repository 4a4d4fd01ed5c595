#include "region_reference.hpp"

using namespace region_test;

namespace {

/// A contraction of [batch.., M, N] with random steps after it; its own value is made up, as f32 before rounding.
struct random_epilogue : random_region {
  uint32 head = 0;
  std::vector<float> accumulated;

  random_epilogue(uint64 seed, std::vector<extent> extents, dtype t) : random_region(seed, extents, {}) {
    kind = region_kind::epilogue;
    tensor_type a = type_of(t), b = type_of(t);
    for (size_t i = 0; i + 2 < extents.size(); ++i) a.extents[a.rank++] = extents[i];
    a.extents[a.rank++] = extents[extents.size() - 2];
    a.extents[a.rank++] = 4;
    b.extents[b.rank++] = 4;
    b.extents[b.rank++] = extents.back();
    const uint32 in[2] = {g.leaf(op::input, a, {}, "a"), g.leaf(op::input, b, {}, "b")};
    head = g.apply(op::matmul, {in, 2}, {}, type_of(t));
    tensor& value = values[head];
    value = random_tensor(random, g.eqns[head].type.with(f32), counts);
    value.element = t;
    for (uint64& bits : value.bits) {
      accumulated.push_back(ieee::from_bits(static_cast<uint32>(bits)));
      bits = convert_bits(binary32, format_of(t), bits);
    }
  }
  region_members region() const {
    return {kind, {members.data(), members.size()}, {outputs.data(), outputs.size()}, {&head, 1}};
  }

  /// Runs it over tiles of tile_rows by tile_cols, as a contraction would.
  std::string differs(int tile_rows, int tile_cols, int spare) const {
    poot::run::host::region r(g, region());
    std::vector<guarded> in, out;
    std::vector<const void*> in_pointers;
    std::vector<void*> out_pointers;
    for (const tile_input& i : r.program().inputs) {
      const tensor& t = values.at(i.id);
      in.emplace_back(t.element, t.bits.size(), 0);
      in.back().write(t.bits);
    }
    for (const tile_output& o : r.program().outputs) out.emplace_back(values.at(o.id).element, values.at(o.id).bits.size(), 0);
    for (size_t k = 0; k < in.size(); ++k) in_pointers.push_back(r.program().inputs[k].is_head() ? nullptr : in[k].data());
    for (guarded& m : out) out_pointers.push_back(m.data());
    const region_buffers buffers{in_pointers.data(), out_pointers.data()};
    r.prepare({}, buffers);
    epilogue e(r, buffers);
    const std::vector<int64> extents = values.at(head).extents;
    const int64 M = extents[extents.size() - 2], N = extents.back(), batches = product(extents) / (M * N);
    for (int64 batch = 0; batch < batches; ++batch)
      for (int64 row = 0; row < M; row += tile_rows)
        for (int64 col = 0; col < N; col += tile_cols) {
          const int rows = static_cast<int>(M - row < tile_rows ? M - row : tile_rows);
          const int cols = static_cast<int>(N - col < tile_cols ? N - col : tile_cols);
          const int64 ld = cols + spare;
          std::vector<float> tile(static_cast<size_t>(rows * ld) + 16, 777.0f);
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j)
              tile[static_cast<size_t>(i * ld + j)] = accumulated[static_cast<size_t>((batch * M + row + i) * N + col + j)];
          e(batch, row, rows, col, cols, tile.data(), ld);
        }
    for (size_t k = 0; k < out.size(); ++k) {
      const tensor& want = values.at(r.program().outputs[k].id);
      const std::vector<uint64> got = out[k].read();
      if (!out[k].guards_hold()) return "writes outside its buffer";
      for (size_t i = 0; i < got.size(); ++i)
        if (!same_value(want.element, got[i], want.bits[i])) return "output " + std::to_string(k) + " element " + std::to_string(i);
    }
    return "";
  }
};

}  // namespace

TEST_CASE("an epilogue on tiles has the bits of its equations one by one") {
  const std::vector<std::vector<extent>> spaces = {{14, 32}, {3, 5}, {1, 700}, {2, 7, 40}, {2, 2, 9, 33}, {30, 1}, {1, 1}, {2, 20, 300}};
  const int tiles[][3] = {{14, 32, 0}, {1, 1024, 0}, {4, 16, 3}, {6, 300, 0}, {5, 7, 1}};
  on_every_isa([&] {
    for (uint64 seed = 0; seed < 80; ++seed) {
      const dtype t = seed % 3 == 0 ? bf16 : seed % 3 == 1 ? f32 : f16;
      random_epilogue r(seed, spaces[seed % spaces.size()], t);
      r.add(r.g.apply(op::neg, {&r.head, 1}));
      const int count = r.random.below(8);
      for (int i = 0; i < count; ++i) {
        const dtype u = r.random.below(4) ? t : all_types[r.random.below(9)];
        r.grow(random_pointwise(r.random, u), u);
      }
      if (!r.choose_outputs()) continue;
      if (seed % 4 == 0) r.outputs.insert(r.outputs.begin(), r.head);
      for (const auto& tile : tiles) {
        INFO("seed ", seed, " tiles ", tile[0], " by ", tile[1]);
        CHECK(r.differs(tile[0], tile[1], tile[2]) == "");
      }
    }
  });
}

TEST_CASE("a narrow contraction without steps is only rounded and stored") {
  const float_environment environment;
  random_epilogue r(7, {9, 50}, bf16);
  r.outputs = {r.head};
  CHECK(r.differs(4, 16, 0) == "");
}

#pragma once
/// Executes a fused region of a run-time graph: built once at load, then run without allocation.
///
///     region softmax(graph, {region_kind::row, members, outputs});
///     softmax.run({inputs, outputs}, counts, &threads);      // buffers in the order of program().inputs and .outputs
///
/// The bits are those of the region's equations run one by one, on every instruction set and number of threads.

#include <poot/run/host/pool.hpp>
#include <poot/run/host/tile_builder.hpp>
#include <poot/run/host/tile_executor.hpp>

namespace poot::run::host {

/// Outputs of more bytes than this are stored past the caches.
inline constexpr int64 stream_above_bytes = 8 << 20;
/// Bytes of a row that stays in the second cache beside what is kept of the row before it.
inline constexpr int64 longest_fetched_row = 512 << 10;
/// Operations of the op table below which a second thread does not pay.
inline constexpr int64 operations_per_thread = 131072;

class region {
 public:
  region() = default;
  region(const ir::graph_view& g, const region_members& members) : program_(build_tile_program(g, members)) {
    if (program_.symbols.empty()) geometry_.update(program_, {});
  }

  const tile_program& program() const { return program_; }

  /// Runs a pointwise or row region. `counts` gives every dynamic extent. Without threads, on this one.
  void run(region_buffers buffers, view<extent_count> counts = {}, pool* threads = nullptr) {
    prepare(counts, buffers);
    run_prepared(buffers, threads);
  }

  /// What depends on the buffers and counts alone, so that runs over the same ones can leave it out. Epilogues: this
  /// must come before `epilogue` objects are made on the threads of a contraction.
  void prepare(view<extent_count> counts, region_buffers buffers) {
    geometry_.update(program_, counts);
    policy_ = policy_for(buffers);
  }

  /// Runs over the buffers and counts of the last `prepare`.
  void run_prepared(region_buffers buffers, pool* threads) const {
    const bool by_row = program_.kind == region_kind::row;
    const int64 units = by_row ? geometry_.rows
                               : (geometry_.rows + tile_executor::rows_of_unit(geometry_) - 1) / tile_executor::rows_of_unit(geometry_) *
                                     tile_executor::units_of_row(geometry_);
    if (units <= 0 || (program_.phases.empty() && !by_row)) return;
    const store_policy policy = policy_;
    const auto part = [&](int64 begin, int64 end, int) {
      tile_executor executor(program_, geometry_, buffers, policy);
      by_row ? executor.run_rows(begin, end) : executor.run_units(begin, end);
      if (policy.stream) finish_streams();
    };
    if (!threads || threads->threads() == 1) {
      const float_environment environment;
      return part(0, units, 0);
    }
    const int64 of_unit = (by_row ? geometry_.cols : tile_elements) * (program_.flops + 2);
    threads->parallel(units, part, of_unit >= operations_per_thread ? 1 : operations_per_thread / (of_unit + 1) + 1);
  }

 private:
  friend class epilogue;

  store_policy policy_for(region_buffers buffers) const {
    store_policy policy;
    int64 bytes = 0;
    const int64 elements = geometry_.rows * geometry_.cols;
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const tile_output& out = program_.outputs[o];
      if (out.level != value_level::tile) continue;
      const int64 own = byte_size(out.type.element, elements);
      bytes += own;
      for (size_t i = 0; i < program_.inputs.size(); ++i) {
        if (program_.inputs[i].is_head()) continue;
        const char* const in = static_cast<const char*>(buffers.inputs[i]);
        const char* const to = static_cast<const char*>(buffers.outputs[o]);
        const int64 size = byte_size(program_.inputs[i].type.element, geometry_.inputs[i].elements);
        if (to < in + size && in < to + own) {
          policy.direct = false;
          check_alias(o, i);
        }
      }
    }
    policy.stream = bytes > stream_above_bytes;
    policy.ahead = policy.stream && (program_.kind != region_kind::row || geometry_.cols * 4 <= longest_fetched_row);
    return policy;
  }

  /// An output stored in one phase must not overwrite what a later phase reads.
  void check_alias(size_t output, size_t input) const {
    bool stored = false;
    for (const tile_phase& phase : program_.phases) {
      for (const uint16 i : phase.inputs)
        if (stored && i == input)
          fail(text{} << "region: output of equation " << program_.outputs[output].id << " shares the buffer of equation "
                      << program_.inputs[input].id << ", which is read after the output is written");
      for (const uint16 o : phase.outputs) stored = stored || o == output;
    }
  }

  tile_program program_;
  tile_geometry geometry_;
  store_policy policy_{};
};

/// One thread's use of an epilogue region during a contraction.
class epilogue {
 public:
  /// Inputs for heads are ignored (null). The region was prepared for these buffers.
  epilogue(const region& r, region_buffers buffers)
      : executor_(r.program_, r.geometry_, buffers, {false, r.policy_.direct, false}) {}

  /// Rows row0 … and columns col0 … of batch entry `batch` (row-major over the batch axes). `tile` holds the
  /// accumulated f32 values, `ld` elements from row to row and `between` from head to head; the first step rounds them to
  /// a head's dtype.
  void operator()(int64 batch, int64 row0, int rows, int64 col0, int cols, const float* tile, int64 ld, int64 between = 0) {
    executor_.run_epilogue(batch, row0, rows, col0, cols, tile, ld, between);
  }

 private:
  tile_executor executor_;
};

}  // namespace poot::run::host

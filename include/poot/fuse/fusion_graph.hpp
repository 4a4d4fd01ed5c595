#pragma once
/// An elementwise fusion planner for graphs that are not poot's: ops by kind, shape and bytes per element. A façade over
/// the engine that plans poot's own graphs, with its rules for pointwise regions.
///
///   constexpr auto plan = [] {
///     poot::fuse::fusion_graph g;
///     const auto x = g.add(poot::fuse::op_kind::source, {}, {1024});
///     const auto y = g.add(poot::fuse::op_kind::mul, {x, x}, {1024});
///     g.add(poot::fuse::op_kind::exp, {y}, {1024});
///     return poot::fuse::fusion_planner{}.plan(g).groups.size();
///   }();
///   static_assert(plan == 2);  // the source, and mul with exp

#include <poot/fuse/choose.hpp>

namespace poot::fuse {

enum class op_kind : uint8 {
  source, neg, abs, exp, log, sqrt, recip, tanh, erf, sigmoid, relu, gelu, silu, cast, scale, add, sub, mul, div, max, min,
  pow, select, matmul, reduce, transpose,
};

/// Elementwise kinds join groups; sources and barriers (matmul, reduce, transpose) stand alone.
constexpr bool is_fusible(op_kind k) { return k != op_kind::source && k < op_kind::matmul; }

/// One operation. `inputs` are ids of its producers; an op without inputs is data that is already in memory.
struct fusion_op {
  uint32 id = 0;
  op_kind kind = op_kind::source;
  vec<uint32> inputs;
  vec<int64> output_shape;  ///< empty: a scalar
  int64 dtype_bytes = 4;
};

/// Ops fused into one kernel. `outputs` are members read outside the group or by nobody; they are written to memory.
struct fusion_group {
  vec<uint32> members;
  vec<uint32> outputs;
};

/// The groups in an order in which they can run, and the traffic they cause, bytes.
struct fusion_plan {
  vec<fusion_group> groups;
  int64 bytes_unfused = 0;
  int64 bytes_fused = 0;
  /// bytes_unfused / bytes_fused, at least 1; 1 where nothing is moved.
  constexpr double speedup_estimate() const {
    return bytes_fused == 0 ? 1.0 : static_cast<double>(bytes_unfused) / static_cast<double>(bytes_fused);
  }
};

/// An append-only DAG; an op's id is its index.
class fusion_graph {
 public:
  /// Appends an op; its shape must have at most max_rank axes.
  constexpr uint32 add(op_kind kind, std::initializer_list<uint32> inputs, std::initializer_list<int64> shape, int64 dtype_bytes = 4) {
    return add(kind, vec<uint32>(inputs), vec<int64>(shape), dtype_bytes);
  }
  constexpr uint32 add(op_kind kind, vec<uint32> inputs, vec<int64> shape, int64 dtype_bytes = 4) {
    const auto id = static_cast<uint32>(ops_.size());
    ops_.push_back({id, kind, std::move(inputs), std::move(shape), dtype_bytes});
    return id;
  }
  constexpr view<fusion_op> ops() const { return ops_; }

  /// Throws `error` unless every input names an earlier op (so the graph is acyclic) and every shape is countable.
  constexpr void validate() const {
    for (const fusion_op& o : ops_) {
      for (uint32 in : o.inputs)
        if (in >= o.id) fail(text{} << "fusion_graph: op " << o.id << " reads op " << in << ", which is not an earlier op");
      if (o.output_shape.size() > max_rank)
        fail(text{} << "fusion_graph: op " << o.id << " has " << o.output_shape.size() << " axes; at most " << max_rank);
      output_bytes(o.id);
    }
  }
  /// Bytes of an op's result; throws where 64 bits do not hold them.
  constexpr int64 output_bytes(uint32 id) const {
    const fusion_op& o = ops_[id];
    bool fits = o.dtype_bytes >= 0, is_empty = false;
    for (int64 e : o.output_shape) {
      fits = fits && e >= 0;
      is_empty = is_empty || e == 0;
    }
    if (fits && is_empty) return 0;
    int64 bytes = 1;  // elements, at first: they must fit as well where each has no bytes
    for (int64 e : o.output_shape) fits = fits && !__builtin_mul_overflow(bytes, e, &bytes);
    fits = fits && !__builtin_mul_overflow(bytes, o.dtype_bytes, &bytes);
    if (!fits) fail(text{} << "fusion_graph: op " << id << ": the bytes of its result do not fit 64 bits");
    return bytes;
  }

 private:
  vec<fusion_op> ops_;
};

class fusion_planner {
 public:
  /// Whether a producer of smaller, broadcast-compatible shape may join its consumer.
  constexpr fusion_planner& with_broadcast(bool on) {
    rules_.with_broadcast = on;
    return *this;
  }

  /// Greedy groups along producer → consumer edges. Every op is in exactly one group, the groups form a DAG, and
  /// bytes_fused ≤ bytes_unfused.
  constexpr fusion_plan plan(const fusion_graph& source) const {
    source.validate();
    rules r = rules_;
    r.horizontal = r.tails = false;
    r.small_outputs = true;
    r.max_buffers = r.max_members = 0xffffffffu;
    r.max_recomputed_flops = INT64_MAX;
    const ir::graph g = translate(source);
    const partition p = choose_regions(g, r);
    fusion_plan result;
    const auto size = static_cast<uint32>(source.ops().size());
    vec<uint32> readers_outside(size, 0), readers(size, 0);
    for (const fusion_op& o : source.ops())
      for (uint32 in : o.inputs) {
        ++readers[in];
        readers_outside[in] += p.region_of[in] != p.region_of[o.id] || p.region_of[in] == grouping::none;
      }
    const auto finish = [&](fusion_group group) {
      for (uint32 id : group.members)
        if (readers_outside[id] > 0 || readers[id] == 0) group.outputs.push_back(id);
      result.groups.push_back(std::move(group));
    };
    for (const fusion_op& o : source.ops())
      if (p.region_of[o.id] == grouping::none) finish({{o.id}, {}});
    for (const partition::region& region : p.regions) finish({vec<uint32>(p.members_of(region)), {}});
    count_bytes(source, result);
    return result;
  }

 private:
  /// The same DAG as equations; only structure, extents and fusibility matter to the engine.
  static constexpr ir::graph translate(const fusion_graph& source) {
    ir::graph g;
    for (const fusion_op& o : source.ops()) {
      eqn e;
      e.kind = o.inputs.empty()                  ? op::input
               : is_fusible(o.kind)              ? op::add
               : o.kind == op_kind::matmul       ? op::concat
                                                 : op::transpose;  // any boundary serves
      e.type.rank = static_cast<uint8>(o.output_shape.size());
      for (int i = 0; i < e.type.rank; ++i) e.type.extents[i] = extent(o.output_shape[i]);
      g.append(e, o.inputs);
    }
    // a terminal is needed by somebody
    vec<uint8> read(source.ops().size(), 0);
    for (const fusion_op& o : source.ops())
      for (uint32 in : o.inputs) read[in] = 1;
    for (const fusion_op& o : source.ops())
      if (!read[o.id]) g.outputs.push_back({o.id, {}});
    return g;
  }

  static constexpr void add_bytes(int64& total, int64 more) {
    if (__builtin_add_overflow(total, more, &total)) fail(text{} << "fusion_planner: the bytes moved do not fit 64 bits");
  }

  static constexpr void count_bytes(const fusion_graph& source, fusion_plan& plan) {
    const auto size = static_cast<uint32>(source.ops().size());
    vec<uint32> stamp(size, 0), group_of(size, 0);
    for (const fusion_op& o : source.ops()) {
      add_bytes(plan.bytes_unfused, source.output_bytes(o.id));
      for (size_t k = 0; k < o.inputs.size(); ++k) {
        bool seen = false;
        for (size_t j = 0; j < k; ++j) seen |= o.inputs[j] == o.inputs[k];
        if (!seen) add_bytes(plan.bytes_unfused, source.output_bytes(o.inputs[k]));
      }
    }
    for (uint32 k = 0; k < plan.groups.size(); ++k)
      for (uint32 id : plan.groups[k].members) group_of[id] = k + 1;
    for (uint32 k = 0; k < plan.groups.size(); ++k) {
      for (uint32 id : plan.groups[k].outputs) add_bytes(plan.bytes_fused, source.output_bytes(id));
      for (uint32 id : plan.groups[k].members)
        for (uint32 in : source.ops()[id].inputs) {
          if (group_of[in] == k + 1 || stamp[in] == k + 1) continue;
          stamp[in] = k + 1;
          add_bytes(plan.bytes_fused, source.output_bytes(in));
        }
    }
  }

  rules rules_;
};

}  // namespace poot::fuse

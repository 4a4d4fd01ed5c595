#pragma once
/// Contractions, each with a chain of pointwise steps behind it.
///
///   result element (batch, m, n) = sum over k of a[batch, m, k] · b[batch, k, n]      matmul; transposed b[batch, n, k]
///                                                 x[t, k] · w[index[t], n, k]          indexed
///                                                 the window of x · w[o, (c, i, j)]    conv2d; taps in the padding read +0
///
///   row prologue   the rows of a, where this region makes them: by every workgroup, in shared memory (shared_rows.hpp)
///   row epilogue   runs of one row's columns, each computed and reduced by a workgroup (shared_run.hpp)
///   products       several that read the same a: parts one after the other, steps that read several in one part
///   matrices       tiles of rows × columns results, one an invocation, read four words at a time where they lie so:
///                  staged in shared memory by a workgroup (staged_tile.hpp), or each by itself (tile.hpp)
///   convolution    one invocation for each word of the narrowest output
///
/// K runs in chunks of 256: within one k ascends, from +0; chunk results are added in ascending order, from +0. Product and
/// sum round once where the order says so.

#include <poot/kernel/staged_tile.hpp>
#include <poot/kernel/tile.hpp>

#include <optional>

namespace poot::kernel {

class convolution_code {
 public:
  constexpr convolution_code(builder& k, const program_view& p, region_code& code, uint32 head)
      : k_(k), g_(p.graph), code_(code), shape_(code.shape()), head_(head), e_(g_[head]), a_(g_.operands(e_)[0]), b_(g_.operands(e_)[1]) {}

  constexpr void build() {
    output_list to;
    for (size_t o = 0; o < code_.outputs().size(); ++o) to.add(g_, code_.outputs()[o], code_.output(o));
    const tensor_type space = e_.type;
    const word words = k_.meta({meta_word::what::product, head_, 0, space.rank, to.pack, 0});
    const word count = to.pack == 1 ? words : shape_.count(head_), i = k_.invocation();
    k_.if_(below(i, words), [&] {
      compute_words(k_, code_, to, space, i, count, [&](word flat) {
        const position at = shape_.locate(head_, flat);
        k_.note(head_);
        code_.fix(head_, round_to(e_.type.element, convolve(at)));
        return at;
      });
    });
  }

 private:
  constexpr number value(uint32 id, word index) {
    return value_of(load_element(k_, code_.input(id), g_.type(id).element, index));
  }

  /// attrs: stride[2] pad[top,bottom,left,right] dilation[2] groups
  constexpr number convolve(const position& at) {
    const view<int64> attrs = g_.attrs(e_);
    const auto attr = [&](size_t i) { return shape_.fixed(attrs[i]); };
    const word o = at.at[1], taps_w = shape_.extent_of(b_, 3), taps = taps_w * shape_.extent_of(b_, 2), depth = shape_.extent_of(b_, 1);
    const word per_group = shape_.extent_of(b_, 0) / attr(8), channel0 = o / per_group * depth;
    const word height = shape_.extent_of(a_, 2), width = shape_.extent_of(a_, 3);
    const word image = shape_.offset(a_) + at.at[0] * shape_.stride(a_, 0), kernel = shape_.offset(b_) + o * (depth * taps);
    chunked_sums sum(k_, e_.sum, 1);
    sum.run(depth * taps, [&](word first, word end) {
      k_.for_(first, end, 1u, [&](word k) {
        const word c = k / taps, i = k / taps_w % shape_.extent_of(b_, 2), j = k % taps_w;
        const word h = at.at[2] * attr(0) + i * attr(6) - attr(2), v = at.at[3] * attr(1) + j * attr(7) - attr(4);  // wrap before 0
        const variable<word> x = k_.declare(word(0u));
        k_.if_(below(h, height) & below(v, width), [&] {
          k_.assign(x, to_bits(value(a_, image + (channel0 + c) * shape_.stride(a_, 1) + h * shape_.stride(a_, 2) + v)));
        });
        const number tap = from_bits(k_.read(x));
        sum.take(0, tap, value(b_, kernel + k));
      });
    });
    return sum.result(0);
  }

  builder& k_;
  const ir::graph_view& g_;
  region_code& code_;
  const geometry& shape_;
  uint32 head_;
  const ir::eqn& e_;
  uint32 a_, b_;
};

/// Parts one after the other in the grid, behind the rows that they read, if these are made here, and before those that reduce runs of
/// the only part; else `rows` or `run` is null.
constexpr void matrix_kernel(builder& k, const program_view& p, region_code& code, const vec<fuse::contraction_part>& parts, shared_rows* rows,
                             shared_run* run) {
  bool is_staged = !run || run->columns() <= staged_tile_code::workgroup;
  for (const fuse::contraction_part& part : parts)
    for (uint32 head : part.heads) is_staged = is_staged && staged_tile_code::takes(p, head);
  uint32 a = 0, b = 0;
  if (is_staged)
    for (const fuse::contraction_part& part : parts) {
      const staged_tile_code tile(k, p, code, part, rows, run);
      a = tile.quads_of_a() > a ? tile.quads_of_a() : a;
      b = tile.quads_of_b() > b ? tile.quads_of_b() : b;
    }
  if (rows) is_staged = is_staged && k.so_far().shared_bytes() + 16 * int64{b} <= p.planned_for.caps.shared_bytes;
  shared_id left, right;
  const bool by_group = is_staged || run;
  if (by_group) k.count_groups();
  if (is_staged) {
    if (a > 0) left = k.shares("a_staged", type::quad, a);
    right = k.shares("b_staged", type::quad, b);
  }
  if (rows) rows->compute();
  word i;
  for (size_t n = 0; n < parts.size(); ++n) {
    const auto write = [&](auto tile, auto build) {
      const word count = k.count_work(run ? run->count() : tile.count());
      if (n == 0) i = by_group ? k.group() : k.invocation();
      k.if_(below(i, count), [&] { build(tile); });
      if (n + 1 < parts.size()) i = i - count;  // beyond all counts for those of an earlier part
    };
    if (is_staged) write(staged_tile_code(k, p, code, parts[n], rows, run), [&](staged_tile_code& tile) { run ? tile.build_run(i, left, right) : tile.build(i, left, right); });
    else write(tile_code(k, p, code, parts[n], rows, run), [&](tile_code& tile) { run ? tile.build_run(i) : tile.build(i); });
  }
}

constexpr kernel contraction_kernel(const program_view& p, const launch& l) {
  const fuse::contraction_parts all = fuse::parts_of(p.graph, p(l.members));
  const bool has_runs = all.runs != fuse::contraction_parts::none;
  builder k("contraction", has_runs ? reducing_workgroup(p.planned_for.caps, p.graph.type(all.runs).last(), text_weight(p.graph, all.epilogue)) : 64);
  region_code code(k, p, l);
  for (const fuse::contraction_part& part : all.parts)
    for (uint32 head : part.heads)
      if (p.graph[head].sum.lanes > 1) fail(text{} << "kernel: equation " << head << ": contractions on a device sum in one lane");
  if (all.parts.empty()) fail("kernel: a contraction region has no contraction");
  const uint32 head = all.parts[0].heads[0];
  if (p.graph[head].kind == op::conv2d) {
    convolution_code(k, p, code, head).build();
  } else {
    std::optional<shared_rows> rows;
    std::optional<shared_run> run;
    if (!all.prologue.empty()) rows.emplace(k, code, all.prologue, p.graph.operands(head)[0]);
    if (has_runs) run.emplace(k, code, all.runs, all.epilogue);
    matrix_kernel(k, p, code, all.parts, rows ? &*rows : nullptr, run ? &*run : nullptr);
  }
  return k.finish();
}

}  // namespace poot::kernel

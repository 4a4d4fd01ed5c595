#include <poot/ir/typing.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace poot;
using namespace poot::ir;

namespace {

const extent length = extent::dynamic("L", 16), other_length = extent::dynamic("M", 16);

struct call {
  op kind;
  std::vector<tensor_type> in;
  std::vector<int64> attrs{};
  tensor_type declared{};
};
typing typed(const call& c) {
  return infer(c.kind, {c.attrs.data(), c.attrs.size()}, {c.in.data(), c.in.size()}, c.declared);
}
template <class... Extents>
tensor_type f(Extents... extents) { return type_of(f32, extents...); }
template <class... Extents>
tensor_type i(Extents... extents) { return type_of(i32, extents...); }

/// A call that breaks `broken` in `operand`, and a call like it that breaks nothing, with its type.
struct broken_call {
  rule broken;
  int operand;
  call refused;
  call accepted;
  tensor_type type;
};

const std::vector<int64> plain_conv = {1, 1, 0, 0, 0, 0, 1, 1, 1};

std::vector<broken_call> broken_calls() {
  const auto t = [](auto... a) { return type_of(a...); };
  return {
      {rule::operand_count, -1, {op::add, {f(2)}}, {op::add, {f(2), f(2)}}, f(2)},
      {rule::operand_count, -1, {op::concat, {}, {0}}, {op::concat, {f(2)}, {0}}, f(2)},
      {rule::operand_count, -1, {op::input, {f(2)}, {}, f(2)}, {op::input, {}, {}, f(2)}, f(2)},
      {rule::operand_dtype, 0, {op::exp, {i(2)}}, {op::exp, {f(2)}}, f(2)},
      {rule::operand_dtype, 0, {op::shl, {f(2), f(2)}}, {op::shl, {i(2), i(2)}}, i(2)},
      {rule::operand_dtype, 0, {op::shl, {t(i8, 2), t(i8, 2)}}, {op::shl, {t(u32, 2), t(u32, 2)}}, t(u32, 2)},
      {rule::operand_dtype, 0, {op::lt, {t(boolean, 2), t(boolean, 2)}}, {op::eq, {t(boolean, 2), t(boolean, 2)}}, i(2)},
      {rule::operand_dtype, 0, {op::add, {t(q8_0, 32), t(q8_0, 32)}}, {op::cast, {t(q8_0, 32)}, {}, f(32)}, f(32)},
      {rule::operand_dtype, 0, {op::reshape, {t(q8_0, 2, 32)}, {}, t(q8_0, 64)}, {op::reshape, {f(2, 32)}, {}, f(64)}, f(64)},
      {rule::operand_dtype, -1, {op::constant, {}, {0}, t(q4_0, 32)}, {op::constant, {}, {0}, f(32)}, f(32)},
      {rule::operand_dtype, 1, {op::matmul, {f(2, 3), i(3, 4)}, {0}, f(2, 4)}, {op::matmul, {f(2, 3), f(3, 4)}, {0}, f(2, 4)}, f(2, 4)},
      {rule::operand_dtype, 1, {op::select, {i(2), t(q8_0, 32), t(q8_0, 32)}}, {op::select, {i(1), f(32), f(32)}}, f(32)},
      {rule::same_dtype, 1, {op::add, {f(2), t(bf16, 2)}}, {op::add, {t(bf16, 2), t(bf16, 2)}}, t(bf16, 2)},
      {rule::same_dtype, 2, {op::select, {i(2), f(2), i(2)}}, {op::select, {i(2), i(2), i(2)}}, i(2)},
      {rule::same_dtype, 1, {op::concat, {f(2), i(2)}, {0}}, {op::concat, {f(2), f(3)}, {0}}, f(5)},
      {rule::same_dtype, 1, {op::dynamic_update_slice, {f(4), i(2), i(1)}}, {op::dynamic_update_slice, {f(4), f(2), i(1)}}, f(4)},
      {rule::condition_is_i32, 0, {op::select, {f(2), f(2), f(2)}}, {op::select, {i(2), f(2), f(2)}}, f(2)},
      {rule::condition_is_i32, 0, {op::select, {t(u32, 2), f(2), f(2)}}, {op::select, {i(1), f(2), f()}}, f(2)},
      {rule::broadcast_extents, 1, {op::add, {f(3, 4), f(3)}}, {op::add, {f(3, 4), f(3, 1)}}, f(3, 4)},
      {rule::broadcast_extents, 1, {op::add, {f(length), f(other_length)}}, {op::add, {f(length), f(1)}}, f(length)},
      {rule::broadcast_extents, 1, {op::add, {f(length), f(16)}}, {op::add, {f(length), f(length)}}, f(length)},
      {rule::axis_in_range, 0, {op::reduce_sum, {f(2, 3)}, {2}}, {op::reduce_sum, {f(2, 3)}, {1}}, f(2, 1)},
      {rule::axis_in_range, 0, {op::reduce_sum, {f(2, 3)}, {-1}}, {op::reduce_argmax, {f(2, 3)}, {0}}, i(1, 3)},
      {rule::axis_in_range, 0, {op::reduce_max, {f()}, {0}}, {op::reduce_max, {f(1)}, {0}}, f(1)},
      {rule::axis_in_range, 0, {op::reduce_max, {f(2)}}, {op::reduce_max, {f(length)}, {0}}, f(1)},
      {rule::axis_in_range, -1, {op::iota, {}, {1}, i(2)}, {op::iota, {}, {0}, i(2)}, i(2)},
      {rule::axis_in_range, 0, {op::concat, {f(2), f(2)}, {1}}, {op::concat, {f(2), f(2)}, {0}}, f(4)},
      {rule::axis_in_range, 0, {op::gather, {f(2), i(3)}, {1}}, {op::gather, {f(2), i(3)}, {0}}, f(3)},
      {rule::attribute_count, -1, {op::slice, {f(2, 3)}, {0, 2, 1}}, {op::slice, {f(2, 3)}, {0, 0, 2, 2, 1, 1}}, f(2, 2)},
      {rule::attribute_count, -1, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, {1, 1}, f()}, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, plain_conv, f()}, f(1, 4, 1, 1)},
      {rule::inner_extents, 1, {op::matmul, {f(3, 4), f(5, 6)}, {0}}, {op::matmul, {f(3, 5), f(5, 6)}, {0}}, f(3, 6)},
      {rule::inner_extents, 1, {op::matmul, {f(3, 5), f(5, 6)}, {1}}, {op::matmul, {f(3, 6), f(5, 6)}, {1}}, f(3, 5)},
      {rule::inner_extents, 1, {op::matmul, {f(3, 1), f(5, 6)}, {0}}, {op::matmul, {f(3, length), f(length, 6)}, {0}}, f(3, 6)},
      {rule::inner_extents, 1, {op::indexed_matmul, {f(5, 6), f(4, 3, 7), i(5)}}, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(5)}}, f(5, 3)},
      {rule::batch_extents, 1, {op::matmul, {f(2, 3, 4), f(3, 4, 5)}, {0}}, {op::matmul, {f(2, 3, 4), f(1, 4, 5)}, {0}}, f(2, 3, 5)},
      {rule::batch_extents, 1, {op::matmul, {f(7, 2, 3, 4), f(7, 4, 5)}, {0}}, {op::matmul, {f(7, 2, 3, 4), f(2, 4, 5)}, {0}}, f(7, 2, 3, 5)},
      {rule::float_result, -1, {op::matmul, {f(3, 5), f(5, 6)}, {0}, i(3, 6)}, {op::matmul, {f(3, 5), f(5, 6)}, {0}, t(bf16, 3, 6)}, t(bf16, 3, 6)},
      {rule::float_result, -1, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(5)}, {}, i()}, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(5)}, {}, t(f16)}, t(f16, 5, 3)},
      {rule::index_is_i32, 1, {op::gather, {f(6, 4), t(u32, 2)}, {0}}, {op::gather, {f(6, 4), i(2)}, {0}}, f(2, 4)},
      {rule::index_is_i32, 2, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), f(5)}}, {op::indexed_matmul, {f(5, 6), t(q8_0, 4, 3, 6), i(5)}}, f(5, 3)},
      {rule::index_extent, 2, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(4)}}, {op::indexed_matmul, {f(4, 6), f(4, 3, 6), i(4)}}, f(4, 3)},
      {rule::indexed_ranks, -1, {op::indexed_matmul, {f(5, 6), f(3, 6), i(5)}}, {op::indexed_matmul, {f(5, 6), f(1, 3, 6), i(5)}}, f(5, 3)},
      {rule::indexed_ranks, -1, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(5, 1)}}, {op::indexed_matmul, {f(1, 6), f(4, 3, 6), i(1)}}, f(1, 3)},
      {rule::matmul_ranks, 0, {op::matmul, {f(5), f(5, 6)}, {0}}, {op::matmul, {f(1, 5), f(5, 6)}, {0}}, f(1, 6)},
      {rule::matmul_ranks, 1, {op::matmul, {f(1, 5), f(5)}, {0}}, {op::matmul, {f(1, 5), f(5, 1)}, {0}}, f(1, 1)},
      {rule::conv_ranks, -1, {op::conv2d, {f(2, 3, 3), f(4, 2, 3, 3)}, plain_conv}, {op::conv2d, {f(1, 2, 4, 3), f(4, 2, 3, 3)}, plain_conv}, f(1, 4, 2, 1)},
      {rule::conv_ranks, 0, {op::conv2d, {f(1, 2, length, 3), f(4, 2, 3, 3)}, plain_conv}, {op::conv2d, {f(length, 2, 3, 3), f(4, 2, 3, 3)}, plain_conv}, f(length, 4, 1, 1)},
      {rule::conv_ranks, 1, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, length, 3)}, {1, 1, 0, 0, 0, 0, 2, 2, 1}}, {op::conv2d, {f(1, 2, 3, 3), f(length, 2, 3, 3)}, plain_conv}, f(1, length, 1, 1)},
      {rule::conv_groups, -1, {op::conv2d, {f(1, 4, 3, 3), f(length, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, {op::conv2d, {f(1, 4, 3, 3), f(4, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, f(1, 4, 1, 1)},
      {rule::conv_channels, 1, {op::conv2d, {f(1, 4, 3, 3), f(4, 4, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, {op::conv2d, {f(1, 4, 3, 3), f(4, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, f(1, 4, 1, 1)},
      {rule::conv_groups, -1, {op::conv2d, {f(1, 4, 3, 3), f(5, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, {op::conv2d, {f(1, 4, 3, 3), f(6, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 1, 1, 2}}, f(1, 6, 1, 1)},
      {rule::conv_window, 1, {op::conv2d, {f(1, 2, 4, 5), f(4, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 2, 2, 1}}, {op::conv2d, {f(1, 2, 5, 5), f(4, 2, 3, 3)}, {1, 1, 0, 0, 0, 0, 2, 2, 1}}, f(1, 4, 1, 1)},
      {rule::conv_window, 1, {op::conv2d, {f(1, 2, 4, 5), f(4, 2, 0, 3)}, plain_conv}, {op::conv2d, {f(1, 2, 4, 5), f(4, 2, 1, 3)}, {2, 3, 1, 0, 2, 1, 1, 1, 1}}, f(1, 4, 3, 2)},
      {rule::conv_attributes, -1, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, {0, 1, 0, 0, 0, 0, 1, 1, 1}}, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, {9, 9, 0, 0, 0, 0, 1, 1, 1}}, f(1, 4, 1, 1)},
      {rule::conv_attributes, -1, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, {1, 1, 0, -1, 0, 0, 1, 1, 1}}, {op::conv2d, {f(1, 2, 3, 3), f(4, 2, 3, 3)}, {1, 1, 0, 1, 0, 0, 1, 1, 1}}, f(1, 4, 2, 1)},
      {rule::packed_is_transposed, 1, {op::matmul, {f(2, 32), t(q4_0, 32, 32)}, {0}}, {op::matmul, {f(2, 32), t(q4_0, 32, 32)}, {1}}, f(2, 32)},
      {rule::packed_axis, 0, {op::gather, {t(q4_0, 3, 32), i(2)}, {1}}, {op::gather, {t(q4_0, 3, 32), i(2)}, {0}}, t(q4_0, 2, 32)},
      {rule::packed_axis, 0, {op::gather, {t(q4_0, 32), i(2)}, {0}}, {op::gather, {t(q4_0, 1, 32), i()}, {0}}, t(q4_0, 32)},
      {rule::packed_cast, 0, {op::cast, {t(q4_0, 32)}, {}, i()}, {op::cast, {t(q4_0, 32)}, {}, t(f16)}, t(f16, 32)},
      {rule::packed_cast, 0, {op::cast, {f(32)}, {}, t(q4_0)}, {op::cast, {f(32)}, {}, t(u8)}, t(u8, 32)},
      {rule::packed_block, -1, {op::weight, {}, {}, t(q4_0, 2, 48)}, {op::weight, {}, {}, t(q4_0, 2, 64)}, t(q4_0, 2, 64)},
      {rule::packed_block, -1, {op::weight, {}, {}, t(q4_k, 2, 128)}, {op::weight, {}, {}, t(q4_k, 2, 256)}, t(q4_k, 2, 256)},
      {rule::packed_block, -1, {op::weight, {}, {}, t(q8_0)}, {op::weight, {}, {}, t(q8_0, 0)}, t(q8_0, 0)},
      {rule::packed_block, -1, {op::weight, {}, {}, t(q8_0, 32, length)}, {op::weight, {}, {}, t(q8_0, length, 32)}, t(q8_0, length, 32)},
      {rule::wide_contraction, -1, {op::matmul, {t(f64, 2, 3), f(3, 4)}, {0}, t(f64)}, {op::matmul, {t(f64, 2, 3), t(f64, 3, 4)}, {0}, t(f64)}, t(f64, 2, 4)},
      {rule::wide_contraction, -1, {op::indexed_matmul, {f(5, 6), f(4, 3, 6), i(5)}, {}, t(f64)}, {op::indexed_matmul, {f(5, 6), t(bf16, 4, 3, 6), i(5)}, {}, t(f16)}, t(f16, 5, 3)},
      {rule::wide_contraction, -1, {op::conv2d, {t(f64, 1, 2, 3, 3), t(f64, 4, 2, 3, 3)}, plain_conv}, {op::conv2d, {t(f16, 1, 2, 3, 3), f(4, 2, 3, 3)}, plain_conv}, f(1, 4, 1, 1)},
      {rule::slice_range, 0, {op::slice, {f(9)}, {1, 4, 3}}, {op::slice, {f(11)}, {1, 4, 3}}, f(4)},
      {rule::slice_range, 0, {op::slice, {f(9)}, {10, 0, 1}}, {op::slice, {f(9)}, {9, 0, 1}}, f(0)},
      {rule::slice_step, -1, {op::slice, {f(9)}, {0, 4, 0}}, {op::slice, {f(9)}, {0, 4, 1}}, f(4)},
      {rule::slice_step, -1, {op::slice, {f(9)}, {-1, 4, 1}}, {op::slice, {f(9)}, {0, 9, 1}}, f(9)},
      {rule::slice_dynamic, 0, {op::slice, {f(length)}, {0, 4, 1}}, {op::slice, {f(length)}, {0, length.code, 1}}, f(length)},
      {rule::slice_dynamic, 0, {op::slice, {f(length)}, {1, length.code, 1}}, {op::slice, {f(32)}, {4, length.code, 1}}, f(length)},
      {rule::concat_extents, 2, {op::concat, {f(2, 3), f(2, 3), f(4, 4)}, {0}}, {op::concat, {f(2, 3), f(2, 3), f(4, 3)}, {0}}, f(8, 3)},
      {rule::concat_extents, 1, {op::concat, {f(2, 3), f(2)}, {0}}, {op::concat, {f(2, 3), f(2, 0)}, {1}}, f(2, 3)},
      {rule::concat_dynamic, 1, {op::concat, {f(length, 2), f(3, 2)}, {0}}, {op::concat, {f(length, 2), f(length, 3)}, {1}}, f(length, 5)},
      {rule::permutation, -1, {op::transpose, {f(2, 3)}, {0, 0}}, {op::transpose, {f(2, 3)}, {1, 0}}, f(3, 2)},
      {rule::permutation, -1, {op::transpose, {f(2, 3)}, {0, 2}}, {op::transpose, {f(2, 3, 4)}, {2, 0, 1}}, f(4, 2, 3)},
      {rule::permutation, -1, {op::transpose, {f(2, 3)}, {0}}, {op::transpose, {f()}, {}}, f()},
      {rule::broadcast_target, 0, {op::broadcast, {f(3)}, {}, f(3, 4)}, {op::broadcast, {f(3, 1)}, {}, f(3, 4)}, f(3, 4)},
      {rule::broadcast_target, 0, {op::broadcast, {f(3, 4)}, {}, f(1, 4)}, {op::broadcast, {f(1, 4)}, {}, f(1, 4)}, f(1, 4)},
      {rule::broadcast_target, 0, {op::broadcast, {f(2, 4)}, {}, f(4)}, {op::broadcast, {f(4)}, {}, f(2, 4)}, f(2, 4)},
      {rule::reshape_count, 0, {op::reshape, {f(4, 3)}, {}, f(3, 5)}, {op::reshape, {f(4, 3)}, {}, f(2, 6)}, f(2, 6)},
      {rule::reshape_count, 0, {op::reshape, {f(length, 3)}, {}, f(other_length, 3)}, {op::reshape, {f(length, 3)}, {}, f(3, length)}, f(3, length)},
      {rule::reshape_count, 0, {op::reshape, {f(length, length)}, {}, f(length)}, {op::reshape, {f(length, 1, length)}, {}, f(length, length)}, f(length, length)},
      {rule::update_extents, 1, {op::dynamic_update_slice, {f(4, 5), f(2, 6), i(2)}}, {op::dynamic_update_slice, {f(4, 5), f(2, 5), i(2)}}, f(4, 5)},
      {rule::update_extents, 1, {op::dynamic_update_slice, {f(4, 5), f(5), i(2)}}, {op::dynamic_update_slice, {f(4, 5), f(1, 5), i(2)}}, f(4, 5)},
      {rule::update_extents, 1, {op::dynamic_update_slice, {f(15), f(length), i(1)}}, {op::dynamic_update_slice, {f(16), f(length), i(1)}}, f(16)},
      {rule::start_extent, 2, {op::dynamic_update_slice, {f(4, 5), f(2, 5), i(1)}}, {op::dynamic_update_slice, {f(5), f(5), i(1)}}, f(5)},
      {rule::start_is_i32, 2, {op::dynamic_update_slice, {f(5), f(5), t(u32, 1)}}, {op::dynamic_update_slice, {f(5), f(0), i(1)}}, f(5)},
      {rule::seed_is_u32_scalar, 1, {op::random_uniform, {t(u32), t(u32, 1)}, {}, f(4)}, {op::random_uniform, {t(u32), t(u32)}, {}, f(4)}, f(4)},
      {rule::seed_is_u32_scalar, 0, {op::random_uniform, {i(), t(u32)}, {}, f(4)}, {op::random_uniform, {t(u32), t(u32)}, {}, f()}, f()},
      {rule::random_is_f32, -1, {op::random_uniform, {t(u32), t(u32)}, {}, t(f64, 4)}, {op::random_uniform, {t(u32), t(u32)}, {}, f(length)}, f(length)},
      {rule::rank_limit, -1, {op::gather, {f(2, 2, 2, 2, 2), i(1, 1, 1)}, {0}}, {op::gather, {f(2, 2, 2, 2, 2), i(1, 1)}, {0}}, f(1, 1, 2, 2, 2, 2)},
      {rule::argmax_of_nothing, 0, {op::reduce_argmax, {f(2, 0)}, {1}}, {op::reduce_argmax, {f(0, 2)}, {1}}, i(0, 1)},
      {rule::argmax_of_nothing, 0, {op::reduce_argmax, {f(0)}, {0}}, {op::reduce_sum, {f(0)}, {0}}, f(1)},
      {rule::constant_count, -1, {op::constant, {}, {1, 2, 3}, f(2, 2)}, {op::constant, {}, {1, 2, 3, 4}, f(2, 2)}, f(2, 2)},
      {rule::constant_count, -1, {op::constant, {}, {}, f(2)}, {op::constant, {}, {}, f(0)}, f(0)},
      {rule::constant_count, -1, {op::constant, {}, {1, 2}, f(length)}, {op::constant, {}, {1}, f(length)}, f(length)},
      {rule::collective_dynamic, 0, {op::all_reduce_sum, {f(length)}}, {op::all_reduce_sum, {f(2)}}, f(2)},
      {rule::attribute_count, -1, {op::all_reduce_sum, {f(2)}, {0}}, {op::all_reduce_sum, {t(i8, 2)}}, t(i8, 2)},
      {rule::operand_dtype, 0, {op::all_reduce_sum, {t(boolean, 2)}}, {op::all_gather, {t(boolean, 2)}, {0}, t(boolean, 6)}, t(boolean, 6)},
      {rule::collective_dynamic, 0, {op::all_gather, {f(2, length)}, {0}, f(4, length)}, {op::all_gather, {f(2, 3)}, {0}, f(4, 3)}, f(4, 3)},
      {rule::axis_in_range, 0, {op::all_gather, {f(2)}, {1}, f(4)}, {op::all_gather, {f(2)}, {0}, f(4)}, f(4)},
      {rule::gathered_extent, 0, {op::all_gather, {f(2)}, {0}, f(5)}, {op::all_gather, {f(2)}, {0}, f(2)}, f(2)},
      {rule::gathered_extent, 0, {op::all_gather, {f(0, 2)}, {0}, f(0, 2)}, {op::all_gather, {f(0, 2)}, {1}, f(0, 6)}, f(0, 6)},
      {rule::gathered_extent, 0, {op::all_gather, {f(2)}, {0}, f(4, 1)}, {op::all_gather, {f(2, 1)}, {0}, f(4, 1)}, f(4, 1)},
      {rule::scattered_extent, 0, {op::reduce_scatter, {f(6)}, {0}, f(4)}, {op::reduce_scatter, {f(6)}, {0}, f(2)}, f(2)},
      {rule::scattered_extent, 0, {op::reduce_scatter, {f(6)}, {0}, f(0)}, {op::reduce_scatter, {t(u32, 6)}, {0}, t(u32, 6)}, t(u32, 6)},
  };
}

/// NumPy's rule, written over sets: the extents of an axis, without 1, must be at most one number.
bool numpy_broadcast(const std::vector<std::vector<int64>>& shapes, std::vector<int64>& result) {
  size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  result.assign(rank, 1);
  for (size_t from_last = 0; from_last < rank; ++from_last) {
    std::vector<int64> seen;
    for (const auto& s : shapes)
      if (from_last < s.size() && s[s.size() - 1 - from_last] != 1) seen.push_back(s[s.size() - 1 - from_last]);
    for (int64 e : seen)
      if (e != seen.front()) return false;
    if (!seen.empty()) result[rank - 1 - from_last] = seen.front();
  }
  return true;
}
tensor_type from(dtype t, const std::vector<int64>& extents) {
  tensor_type r;
  r.element = t;
  for (int64 e : extents) r.extents[r.rank++] = e;
  return r;
}

}  // namespace

TEST_CASE("refuses each broken rule by its name, and accepts the call beside it") {
  std::vector<bool> seen(static_cast<size_t>(rule::scattered_extent) + 1);
  int number = 0;
  for (const broken_call& r : broken_calls()) {
    CAPTURE(number++);
    CAPTURE(std::string(explain(r.broken)));
    const typing refused = typed(r.refused), accepted = typed(r.accepted);
    CHECK(std::string(explain(refused.broken)) == std::string(explain(r.broken)));
    CHECK(refused.operand == r.operand);
    CHECK(std::string(explain(accepted.broken)) == std::string(explain(rule::none)));
    CHECK(accepted.type == r.type);
    seen[static_cast<size_t>(r.broken)] = true;
  }
  for (size_t k = 1; k < seen.size(); ++k) {
    const rule each = static_cast<rule>(k);
    CAPTURE(std::string(explain(each)));
    CHECK(!explain(each).empty());
    // the declared type is compared by whoever calls infer; a negative count is the code of a dynamic extent
    if (each != rule::declared_type && each != rule::negative_extent) CHECK(seen[k]);
  }
}

TEST_CASE("broadcasts pointwise operands as NumPy does") {
  std::mt19937 random(1);
  int fit = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::vector<int64>> shapes(3);
    std::vector<int64> target(random() % 7);
    for (int64& e : target) e = random() % 4;
    for (auto& s : shapes) {  // near to one target, so that many fit
      s.assign(target.end() - static_cast<int>(random() % (target.size() + 1)), target.end());
      for (int64& e : s)
        if (random() % 3 == 0) e = 1;
        else if (random() % 4 == 0) e = random() % 4;
    }
    std::vector<int64> two, three;
    const bool two_fit = numpy_broadcast({shapes[0], shapes[1]}, two), three_fit = numpy_broadcast(shapes, three);
    const tensor_type a = from(f32, shapes[0]), b = from(f32, shapes[1]), c = from(f32, shapes[2]);
    const typing sum = typed({op::add, {a, b}}), turned = typed({op::add, {b, a}}), less = typed({op::lt, {a, b}});
    REQUIRE(sum.ok() == two_fit);
    REQUIRE(turned.ok() == two_fit);
    REQUIRE(less.ok() == two_fit);
    const typing chosen = typed({op::select, {a.with(i32), b, c}});
    REQUIRE(chosen.ok() == three_fit);
    if (three_fit) REQUIRE(chosen.type == from(f32, three));
    // a value broadcasts to a shape where broadcasting with it changes nothing
    std::vector<int64> joined;
    const bool into = numpy_broadcast({shapes[0], target}, joined) && joined == target;
    REQUIRE(typed({op::broadcast, {a}, {}, from(f32, target)}).ok() == into);
    if (!two_fit) {
      REQUIRE(sum.broken == rule::broadcast_extents);
      continue;
    }
    ++fit;
    REQUIRE(sum.type == from(f32, two));
    REQUIRE(turned.type == sum.type);
    REQUIRE(less.type == from(i32, two));
    REQUIRE(typed({op::add, {sum.type, a}}).type == sum.type);
    REQUIRE(typed({op::add, {sum.type, type_of(f32)}}).type == sum.type);
  }
  CHECK(fit > 5000);
  CHECK(fit < 19'000);
}

TEST_CASE("broadcasts the batch axes of a contraction as NumPy does") {
  std::mt19937 random(2);
  int fit = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::vector<int64>> batches(2);
    for (auto& batch : batches) {
      batch.resize(random() % 5);
      for (int64& e : batch) e = 1 + random() % 2;
    }
    std::vector<int64> batch;
    const bool fits = numpy_broadcast(batches, batch);
    const bool transposed = random() % 2;
    std::vector<int64> a = batches[0], b = batches[1];
    a.insert(a.end(), {5, 7});
    b.insert(b.end(), {transposed ? 3 : 7, transposed ? 7 : 3});
    batch.insert(batch.end(), {5, 3});
    const typing t = typed({op::matmul, {from(f32, a), from(f32, b)}, {transposed}, type_of(f32)});
    REQUIRE(t.ok() == fits);
    if (!fits) continue;
    REQUIRE(t.type == from(f32, batch));
    ++fit;
  }
  CHECK(fit > 1000);
}

TEST_CASE("keeps the type of every pointwise op but comparisons and casts") {
  const dtype all[] = {f64, f32, f16, bf16, i32, u32, i8, u8, boolean, q4_0, mxfp4};
  for (int k = 0; k < op_count; ++k) {
    const op o = static_cast<op>(k);
    if (!is_pointwise(o) || o == op::select || o == op::cast || o == op::custom) continue;
    for (dtype t : all) {
      const std::vector<tensor_type> in(static_cast<size_t>(row(o).arity), type_of(t, 2, 32));
      const typing r = typed({o, in});
      CAPTURE(std::string(name(o)));
      CAPTURE(std::string(name(t)));
      const bool arithmetic = o == op::neg || o == op::abs || (o >= op::add && o <= op::min) || (o >= op::lt && o <= op::ge);
      const bool wanted = is_packed(t)                                                  ? false
                          : o == op::eq || o == op::ne                                  ? true
                          : t == boolean                                                ? false
                          : arithmetic                                                  ? true
                          : o == op::bit_not || (o >= op::bit_and && o <= op::shr)      ? t == i32 || t == u32
                                                                                        : is_float(t);
      CHECK(r.ok() == wanted);
      if (r.ok()) CHECK(r.type == type_of(is_comparison(o) ? i32 : t, 2, 32));
    }
  }
}

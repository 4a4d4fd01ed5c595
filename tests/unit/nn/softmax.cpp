#include <poot/nn/softmax.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>

using poot::f32;

TEST_CASE("softmax takes the greatest away first") {
  three_callers::check([](auto x) { return poot::nn::softmax(x); }, R"(
    %x : f32[3,5] = input "x"
    %0 : f32[3,1] = reduce_max %x {axis=1}
    %1 : f32[3,5] = sub %x, %0
    %2 : f32[3,5] = exp %1
    %3 : f32[3,1] = reduce_sum %2 {axis=1}
    %4 : f32[3,5] = div %2, %3
    output "y" = %4)", poot::input<"x", f32, 3, 5>);
}

TEST_CASE("log_softmax along another axis") {
  three_callers::check([](auto x) { return poot::nn::log_softmax<0>(x); }, R"(
    %x : f32[3,5] = input "x"
    %0 : f32[1,5] = reduce_max %x {axis=0}
    %1 : f32[3,5] = sub %x, %0
    %2 : f32[3,5] = exp %1
    %3 : f32[1,5] = reduce_sum %2 {axis=0}
    %4 : f32[1,5] = log %3
    %5 : f32[3,5] = sub %1, %4
    output "y" = %5)", poot::input<"x", f32, 3, 5>);
}

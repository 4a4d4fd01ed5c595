#include <poot/nn/convolution.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>

using poot::f32;

TEST_CASE("convolution, batch norm and ReLU") {
  three_callers::check([](auto x, auto w, auto g, auto b, auto m, auto v) {
    return poot::nn::conv_bn_relu(x, w, g, b, m, v, poot::conv<{.pad = {1, 1, 1, 1}}>, poot::number<1>);
  }, R"(
    %x : f32[2,3,5,7] = input "x"
    %w : f32[4,3,3,3] = weight "w"
    %g : f32[4] = weight "g"
    %b : f32[4] = weight "b"
    %m : f32[4] = weight "m"
    %v : f32[4] = weight "v"
    %m1 : f32[4,1,1] = reshape %m
    %v1 : f32[4,1,1] = reshape %v
    %g1 : f32[4,1,1] = reshape %g
    %b1 : f32[4,1,1] = reshape %b
    %0 : f32[2,4,5,7] = conv2d %x, %w {pad=[1,1,1,1]}
    %2 : f32[2,4,5,7] = sub %0, %m1
    %3 : f32[4,1,1] = add %v1, f32(1)
    %4 : f32[4,1,1] = sqrt %3
    %5 : f32[2,4,5,7] = div %2, %4
    %6 : f32[2,4,5,7] = mul %5, %g1
    %7 : f32[2,4,5,7] = add %6, %b1
    %8 : f32[2,4,5,7] = max %7, f32(0)
    output "y" = %8)", poot::input<"x", f32, 2, 3, 5, 7>, poot::weight<"w", f32, 4, 3, 3, 3>, poot::weight<"g", f32, 4>, poot::weight<"b", f32, 4>,
    poot::weight<"m", f32, 4>, poot::weight<"v", f32, 4>);
}

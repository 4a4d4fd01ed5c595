#include <poot/nn/norm.hpp>

#include <unit/dsl/three_callers.hpp>

#include <poot/dsl/leaf.hpp>

using namespace poot::literals;
using poot::bf16, poot::f32;

TEST_CASE("rms_norm of f32 with a narrow gain") {
  three_callers::check([](auto x, auto g) { return poot::nn::rms_norm(x, g); }, R"(
    %x : f32[2,8] = input "x"
    %g : bf16[8] = weight "g"
    %0 : f32[2,8] = mul %x, %x
    %1 : f32[2,1] = reduce_sum %0 {axis=1}
    %2 : f32[2,1] = mul %1, f32(0.125)
    %3 : f32[2,1] = add %2, f32(1e-5)
    %4 : f32[2,1] = sqrt %3
    %5 : f32[2,1] = recip %4
    %6 : f32[2,8] = mul %x, %5
    %7 : f32[8] = cast %g
    %8 : f32[2,8] = mul %6, %7
    output "y" = %8)", poot::input<"x", f32, 2, 8>, poot::weight<"g", bf16, 8>);
}

TEST_CASE("rms_norm of bf16 computes in f32 and returns bf16; its epsilon is an operand") {
  three_callers::check([](auto x, auto g) { return poot::nn::rms_norm(x, g, 1e-6_f); }, R"(
    %x : bf16[2,8] = input "x"
    %g : f32[8] = weight "g"
    %h : f32[2,8] = cast %x
    %0 : f32[2,8] = mul %h, %h
    %1 : f32[2,1] = reduce_sum %0 {axis=1}
    %2 : f32[2,1] = mul %1, f32(0.125)
    %3 : f32[2,1] = add %2, f32(1e-6)
    %4 : f32[2,1] = sqrt %3
    %5 : f32[2,1] = recip %4
    %6 : f32[2,8] = mul %h, %5
    %7 : f32[2,8] = mul %6, %g
    %8 : bf16[2,8] = cast %7
    output "y" = %8)", poot::input<"x", bf16, 2, 8>, poot::weight<"g", f32, 8>);
}

TEST_CASE("layer_norm subtracts the mean before it squares") {
  three_callers::check([](auto x, auto g, auto b) { return poot::nn::layer_norm(x, g, b, 1e-6_f); }, R"(
    %x : f32[3,32] = input "x"
    %g : f32[32] = weight "g"
    %b : f32[32] = weight "b"
    %n0 : f32[3,1] = reduce_sum %x {axis=1}
    %n1 : f32[3,1] = mul %n0, f32(0x1p-5)
    %n2 : f32[3,32] = sub %x, %n1
    %n3 : f32[3,32] = mul %n2, %n2
    %n4 : f32[3,1] = reduce_sum %n3 {axis=1}
    %n5 : f32[3,1] = mul %n4, f32(0x1p-5)
    %n6 : f32[3,1] = add %n5, f32(1e-6)
    %n7 : f32[3,1] = sqrt %n6
    %n8 : f32[3,32] = div %n2, %n7
    %0 : f32[3,32] = mul %n8, %g
    %1 : f32[3,32] = add %0, %b
    output "y" = %1)", poot::input<"x", f32, 3, 32>, poot::weight<"g", f32, 32>, poot::weight<"b", f32, 32>);
}

// bits

typedef unsigned int uint;

// To be compiled with -ffp-contract=off.
__device__ inline uint poot_to_bits(float x) { return __float_as_uint(x); }
__device__ inline float poot_from_bits(uint bits) { return __uint_as_float(bits); }
__device__ inline float poot_ffma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ inline float poot_ffloor(float x) { return __builtin_floorf(x); }
__device__ inline uint poot_mul_high(uint a, uint b) { return __umulhi(a, b); }

// The device's square root is within a unit in the last place; the residues of its neighbours say which is nearest.
__device__ inline float poot_fsqrt(float x) {
  const bool small = x < 0x1p-96f;
  const float y = small ? x * 0x1p32f : x;
  if (!(y > 0.0f && y < __builtin_inff())) return __builtin_sqrtf(x);
  float root = __builtin_sqrtf(y);
  const float lower = poot_from_bits(poot_to_bits(root) - 1u), upper = poot_from_bits(poot_to_bits(root) + 1u);
  if (poot_ffma(-lower, root, y) <= 0.0f) root = lower;
  else if (poot_ffma(-upper, root, y) > 0.0f) root = upper;
  return small ? root * 0x1p-16f : root;
}

extern "C" __global__ void __launch_bounds__(32, 1) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1,  // set
    uint* b2) {  // cleared
  uint v0 = blockIdx.x + blockIdx.y * gridDim.x;
  uint v2 = v0 * 32u;
  uint v3 = threadIdx.x;
  uint v4 = v2 + v3;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = b0[v4];
    bool v10 = int(v8) < int(0u);
    uint v13 = v4 & 31u;
    uint v14 = 1u << v13;
    if (v10) {
      uint v17 = v4 >> 5u;
      atomicOr(&b1[v17], v14);
      uint v19 = ~v14;
      atomicAnd(&b2[v17], v19);
    }
  }
}

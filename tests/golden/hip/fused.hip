// fused

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

extern "C" __global__ void __launch_bounds__(64, 1) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1) {  // y
  uint v0 = blockIdx.x + blockIdx.y * gridDim.x;  // %1
  uint v2 = v0 * 64u;
  uint v3 = threadIdx.x;
  uint v4 = v2 + v3;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = meta[1];
    uint v9 = v4 / v8;
    uint v10 = b0[v9];
    uint v11 = v4 % v8;
    uint v12 = b0[v11];
    float v14 = poot_from_bits(v10);  // %2
    float v15 = poot_from_bits(v12);
    float v16 = poot_ffma(v14, v15, v14);
    uint v17 = poot_to_bits(v16);
    uint v19 = v17 & 0x7fffffffu;
    bool v20 = 0x7f800000u < v19;
    uint v22 = v20 ? 0x7fc00000u : v17;
    b1[v4] = v22;
    uint v24 = v4 + v5;
    float v25 = poot_ffma(v14, v14, v15);
    uint v26 = poot_to_bits(v25);
    uint v27 = v26 & 0x7fffffffu;
    bool v28 = 0x7f800000u < v27;
    uint v29 = v28 ? 0x7fc00000u : v26;
    b1[v24] = v29;
    uint v32 = v5 * 2u;
    uint v33 = v4 + v32;
    float v35 = poot_ffma(v14, v15, -1.0f);
    uint v36 = poot_to_bits(v35);
    uint v37 = v36 & 0x7fffffffu;
    bool v38 = 0x7f800000u < v37;
    uint v39 = v38 ? 0x7fc00000u : v36;
    b1[v33] = v39;
  }
}

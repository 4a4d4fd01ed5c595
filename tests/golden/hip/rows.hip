// rows

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

extern "C" __global__ void __launch_bounds__(16, 1) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1,  // sums
    uint* b2) {  // seen
  __shared__ float s0[16];  // partial
  __shared__ uint s1[16];  // below zero
  __shared__ bool s2[16];  // any
  float m1 = 0.0f;  // %7
  uint m3 = 0u;
  bool m5 = false;
  uint v6 = blockIdx.x + blockIdx.y * gridDim.x;
  uint v7 = meta[0];
  bool v8 = v6 < v7;
  uint v9 = threadIdx.x;
  if (v8) {
    for (uint v13 = v9; v13 < 40u; v13 += 16u) {
      uint v14 = v6 * 40u;
      uint v15 = v14 + v13;
      uint v16 = b0[v15];
      float v17 = m1;  // %8
      float v18 = poot_from_bits(v16);  // %7
      float v19 = v17 + v18;  // %8
      m1 = v19;
      bool v21 = v18 < 0.0f;
      if (v21) {
        uint v23 = m3;
        uint v25 = v23 + 1u;
        m3 = v25;
        m5 = true;
      } else {
        bool v30 = v18 == 0.0f;
        if (v30) {
          uint v32 = m3;
          uint v34 = v32 + 256u;
          m3 = v34;
        }
      }
    }
  }
  float v40 = m1;
  s0[v9] = v40;
  uint v42 = m3;
  s1[v9] = v42;
  bool v44 = m5;
  s2[v9] = v44;
  __syncthreads();
  uint m48 = 8u;
  for (uint v51 = 0u; v51 < 4u; v51 += 1u) {
    uint v52 = m48;  // %9
    bool v53 = v9 < v52;
    if (v53) {
      float v55 = s0[v9];
      uint v56 = v9 + v52;
      float v57 = s0[v56];
      float v58 = v55 + v57;
      s0[v9] = v58;
      uint v60 = s1[v9];
      uint v61 = s1[v56];
      uint v62 = v60 + v61;
      s1[v9] = v62;
    }
    uint v65 = v52 >> 1u;
    m48 = v65;
    __syncthreads();
  }
  if (v8) {
    bool v70 = s2[v9];
    uint v72 = v6 * 16u;
    uint v73 = v72 + v9;
    uint v74 = uint(v70);
    b2[v73] = v74;
    bool v76 = v9 == 0u;
    if (v76) {
      float v78 = s0[0u];
      uint v80 = v6 * 2u;
      uint v81 = poot_to_bits(v78);
      b1[v80] = v81;
      uint v83 = s1[0u];
      uint v84 = v80 + 1u;
      b1[v84] = v83;
    }
  }
}

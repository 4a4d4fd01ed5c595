// rows

typedef unsigned int uint;

// Rounded to nearest and never contracted, whatever the compiler's flags say.
__device__ inline uint poot_to_bits(float x) { return __float_as_uint(x); }
__device__ inline float poot_from_bits(uint bits) { return __uint_as_float(bits); }
__device__ inline float poot_fadd(float a, float b) { return __fadd_rn(a, b); }
__device__ inline float poot_fsub(float a, float b) { return __fsub_rn(a, b); }
__device__ inline float poot_fmul(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float poot_fdiv(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline float poot_fsqrt(float x) { return __fsqrt_rn(x); }
__device__ inline float poot_ffma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline float poot_ffloor(float x) { return floorf(x); }
__device__ inline uint poot_mul_high(uint a, uint b) { return __umulhi(a, b); }

extern "C" __global__ void __launch_bounds__(16) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1,  // sums
    uint* b2) {  // seen
  __shared__ float s0[16];  // partial
  __shared__ uint s1[16];  // below zero
  __shared__ bool s2[16];  // any
  uint v0 = blockIdx.x + blockIdx.y * gridDim.x;  // %7
  uint v1 = threadIdx.x;
  uint v2 = meta[0];
  bool v3 = v0 < v2;
  float m5 = 0.0f;
  uint m7 = 0u;
  bool m9 = false;
  if (v3) {
    for (uint v13 = v1; v13 < 40u; v13 += 16u) {
      uint v15 = v0 * 40u;
      uint v16 = v15 + v13;
      uint v17 = b0[v16];
      float v18 = poot_from_bits(v17);
      float v19 = m5;  // %8
      float v20 = poot_fadd(v19, v18);
      m5 = v20;
      bool v23 = v18 < 0.0f;
      if (v23) {
        uint v25 = m7;
        uint v27 = v25 + 1u;
        m7 = v27;
        m9 = true;
      } else {
        bool v33 = v18 == 0.0f;
        if (v33) {
          uint v35 = m7;
          uint v37 = v35 + 256u;
          m7 = v37;
        }
      }
    }
  }
  float v43 = m5;
  s0[v1] = v43;
  uint v45 = m7;
  s1[v1] = v45;
  bool v47 = m9;
  s2[v1] = v47;
  __syncthreads();
  uint m51 = 8u;
  for (uint v55 = 0u; v55 < 4u; v55 += 1u) {
    uint v56 = m51;  // %9
    bool v57 = v1 < v56;
    if (v57) {
      uint v59 = v1 + v56;
      float v60 = s0[v59];
      float v61 = s0[v1];
      float v62 = poot_fadd(v61, v60);
      s0[v1] = v62;
      uint v64 = v1 + v56;
      uint v65 = s1[v64];
      uint v66 = s1[v1];
      uint v67 = v66 + v65;
      s1[v1] = v67;
    }
    uint v71 = v56 >> 1u;
    m51 = v71;
    __syncthreads();
  }
  if (v3) {
    bool v76 = s2[v1];
    uint v77 = uint(v76);
    uint v79 = v0 * 16u;
    uint v80 = v79 + v1;
    b2[v80] = v77;
    bool v83 = v1 == 0u;
    if (v83) {
      float v86 = s0[0u];
      uint v87 = poot_to_bits(v86);
      uint v89 = v0 * 2u;
      b1[v89] = v87;
      uint v92 = s1[0u];
      uint v94 = v0 * 2u;
      uint v96 = v94 + 1u;
      b1[v96] = v92;
    }
  }
}

// bits

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

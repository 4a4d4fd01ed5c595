// quads

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
    uint* b1,  // y
    uint* b2) {  // sums
  const uint4* const q0 = reinterpret_cast<const uint4*>(b0);
  uint4* const q1 = reinterpret_cast<uint4*>(b1);
  __shared__ uint4 s0[32];  // staged
  uint v0 = threadIdx.x;
  bool v2 = v0 < 30u;
  uint v3 = blockIdx.x + blockIdx.y * gridDim.x;
  uint v5 = v3 * 32u;
  uint v6 = v5 + v0;
  uint v7 = meta[0];
  bool v8 = v6 < v7;
  bool v9 = v2 && v8;
  if (v9) {
    uint4 v11 = q0[v0];
    s0[v0] = v11;
    uint v14 = v0 * 4u;
    uint v16 = v14 + 1u;
    uint v17 = b0[v16];
    uint v18 = v11.z;
    uint v19 = v17 + v18;
    b2[v0] = v19;
  }
  __syncthreads();
  if (v9) {
    uint4 v24 = s0[v0];
    uint v26 = 29u - v0;
    uint4 v27 = s0[v26];
    uint v28 = v24.w;
    uint v29 = v27.x;
    uint v30 = v24.y;
    uint v31 = v27.z;
    uint4 v36 = make_uint4(v28, v29, v30, v31);
    q1[v0] = v36;
  }
}

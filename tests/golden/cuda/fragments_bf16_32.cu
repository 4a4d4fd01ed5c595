// fragments_bf16_32

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

#define POOT_MMA __device__ inline

// Which elements of a tile an invocation of a subgroup of 32 holds, as mma.sync.m16n8k16 has it (PTX ISA, "Matrix fragments for
// mma.m16n8k16"), columns 8 to 15 behind columns 0 to 7. Of operands a register is a pair of elements along K.
enum { poot_lanes = 32, poot_operand_registers = 4, poot_sums_registers = 8 };
POOT_MMA uint poot_left_row(uint lane, uint i) { return lane / 4u + i % 2u * 8u; }
POOT_MMA uint poot_left_pair(uint lane, uint i) { return lane % 4u + i / 2u * 4u; }
POOT_MMA uint poot_right_column(uint lane, uint i) { return lane / 4u + i / 2u * 8u; }
POOT_MMA uint poot_right_pair(uint lane, uint i) { return lane % 4u + i % 2u * 4u; }
POOT_MMA uint poot_sums_row(uint lane, uint i) { return lane / 4u + i / 2u % 2u * 8u; }
POOT_MMA uint poot_sums_column(uint lane, uint i) { return lane % 4u * 2u + i % 2u + i / 4u * 8u; }

struct poot_left {
  uint x[poot_operand_registers];
};
struct poot_right {
  uint x[poot_operand_registers];
};
struct poot_sums {
  float x[poot_sums_registers];
};

// Rows of 16 elements, `stride` quads apart.
POOT_MMA poot_left poot_mma_left(const uint4* from, uint at, uint stride, uint lane) {
  const uint* const words = reinterpret_cast<const uint*>(from + at);
  poot_left f;
#pragma unroll
  for (uint i = 0; i < poot_operand_registers; ++i) f.x[i] = words[poot_left_row(lane, i) * stride * 4u + poot_left_pair(lane, i)];
  return f;
}
POOT_MMA poot_right poot_mma_right(const uint4* from, uint at, uint stride, uint lane) {
  const uint* const words = reinterpret_cast<const uint*>(from + at);
  poot_right f;
#pragma unroll
  for (uint i = 0; i < poot_operand_registers; ++i) f.x[i] = words[poot_right_column(lane, i) * stride * 4u + poot_right_pair(lane, i)];
  return f;
}
POOT_MMA poot_sums poot_mma_zero() {
  poot_sums f;
#pragma unroll
  for (uint i = 0; i < poot_sums_registers; ++i) f.x[i] = 0.0f;
  return f;
}
POOT_MMA void poot_mma_store(float* to, uint at, poot_sums f, uint lane) {
#pragma unroll
  for (uint i = 0; i < poot_sums_registers; ++i) to[at + poot_sums_row(lane, i) * 16u + poot_sums_column(lane, i)] = f.x[i];
}

POOT_MMA poot_sums poot_mma_bf16(poot_left a, poot_right b, poot_sums c) {
#pragma unroll
  for (uint half = 0; half < 2u; ++half) {
    float* const x = c.x + 4u * half;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[2u * half]), "r"(b.x[2u * half + 1u]));
  }
  return c;
}

extern "C" __global__ void __launch_bounds__(64, 1) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1) {  // y
  const uint4* const q0 = reinterpret_cast<const uint4*>(b0);
  __shared__ uint4 s0[48];  // a
  __shared__ uint4 s1[96];  // b
  __shared__ float s2[512];  // sums
  uint v0 = blockIdx.x + blockIdx.y * gridDim.x;
  uint v1 = meta[0];
  bool v2 = v0 < v1;
  uint v3 = threadIdx.x;
  uint v5 = v3 / 2u;
  uint v7 = v5 * 3u;
  uint v8 = v3 % 2u;
  uint v9 = v7 + v8;
  uint v10 = threadIdx.x / 32u;
  if (v2) {
    bool v13 = v3 < 32u;
    if (v13) {
      uint4 v15 = q0[v3];
      s0[v9] = v15;
    }
    bool v19 = v3 < 64u;
    if (v19) {
      uint v21 = v3 + 32u;
      uint4 v22 = q0[v21];
      s1[v9] = v22;
    }
    __syncthreads();
    poot_left v27 = poot_mma_left(s0, 0u, 3u, threadIdx.x % 32u);
    uint v29 = v10 * 48u;
    poot_right v30 = poot_mma_right(s1, v29, 3u, threadIdx.x % 32u);
    poot_sums v31 = poot_mma_zero();
    poot_sums m32 = v31;
    for (uint v34 = 0u; v34 < 2u; v34 += 1u) {
      poot_sums v35 = m32;
      poot_sums v36 = poot_mma_bf16(v27, v30, v35);
      m32 = v36;
    }
    poot_sums v39 = m32;
    uint v41 = v10 * 256u;
    poot_mma_store(s2, v41, v39, threadIdx.x % 32u);
    __syncthreads();
    for (uint v45 = v3; v45 < 512u; v45 += 64u) {
      float v46 = s2[v45];
      uint v47 = poot_to_bits(v46);
      b1[v45] = v47;
    }
  }
}

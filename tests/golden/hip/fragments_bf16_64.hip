// fragments_bf16_64

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

#define POOT_MMA __device__ inline

// Which elements of a tile an invocation of a subgroup of 64 holds, as v_mfma_f32_16x16x16 has it (AMD CDNA 2 ISA, matrix
// instructions). Of operands a register is a pair of elements along K.
enum { poot_lanes = 64, poot_operand_registers = 2, poot_sums_registers = 4 };
POOT_MMA uint poot_left_row(uint lane, uint) { return lane % 16u; }
POOT_MMA uint poot_left_pair(uint lane, uint i) { return lane / 16u * 2u + i; }
POOT_MMA uint poot_right_column(uint lane, uint) { return lane % 16u; }
POOT_MMA uint poot_right_pair(uint lane, uint i) { return lane / 16u * 2u + i; }
POOT_MMA uint poot_sums_row(uint lane, uint i) { return lane / 16u * 4u + i; }
POOT_MMA uint poot_sums_column(uint lane, uint) { return lane % 16u; }

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

typedef short poot_four_halves __attribute__((ext_vector_type(4)));
typedef float poot_four_floats __attribute__((ext_vector_type(4)));
POOT_MMA poot_sums poot_mma_bf16(poot_left a, poot_right b, poot_sums c) {
  poot_four_halves left, right;
  poot_four_floats sums = {c.x[0], c.x[1], c.x[2], c.x[3]};
  __builtin_memcpy(&left, a.x, 8);
  __builtin_memcpy(&right, b.x, 8);
  sums = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, sums, 0, 0, 0);
  for (int i = 0; i < 4; ++i) c.x[i] = sums[i];
  return c;
}

extern "C" __global__ void __launch_bounds__(128, 1) poot_kernel(
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
  uint v10 = threadIdx.x / 64u;
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
    poot_left v27 = poot_mma_left(s0, 0u, 3u, threadIdx.x % 64u);
    uint v29 = v10 * 48u;
    poot_right v30 = poot_mma_right(s1, v29, 3u, threadIdx.x % 64u);
    poot_sums v31 = poot_mma_zero();
    poot_sums m32 = v31;
    for (uint v34 = 0u; v34 < 2u; v34 += 1u) {
      poot_sums v35 = m32;
      poot_sums v36 = poot_mma_bf16(v27, v30, v35);
      m32 = v36;
    }
    poot_sums v39 = m32;
    uint v41 = v10 * 256u;
    poot_mma_store(s2, v41, v39, threadIdx.x % 64u);
    __syncthreads();
    for (uint v46 = v3; v46 < 512u; v46 += 128u) {
      float v47 = s2[v46];
      uint v48 = poot_to_bits(v47);
      b1[v46] = v48;
    }
  }
}

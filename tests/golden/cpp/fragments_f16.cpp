// fragments_f16

typedef unsigned int uint;

// Where one invocation runs. wait(waiting) returns when every invocation of the workgroup has called it; `shared` is the
// memory of the workgroup.
struct poot_invocation {
  uint group, lane;
  void* shared;
  void (*wait)(void*);
  void* waiting;
};

// Four words that move together; two buffers may be one memory, and words and quads of it are.
struct __attribute__((may_alias)) poot_quad {
  uint x, y, z, w;
};
static inline poot_quad poot_quad_of(uint x, uint y, uint z, uint w) {
  const poot_quad q = {x, y, z, w};
  return q;
}

// Single operations whatever the compiler's flags say: every value passes through an empty asm, which no optimiser looks
// through. Comparisons are of bits, so that nothing is concluded from a NaN being impossible.
#if defined(__SSE2__)
#define POOT_REGISTER "+x"
#elif defined(__aarch64__)
#define POOT_REGISTER "+w"
#else
#define POOT_REGISTER "+m"
#endif

static inline float poot_opaque(float x) {
  __asm__("" : POOT_REGISTER(x));
  return x;
}
static inline uint poot_hidden(uint bits) {
  __asm__("" : "+r"(bits));
  return bits;
}
static inline uint poot_to_bits(float x) {
  uint bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return poot_hidden(bits);
}
static inline float poot_from_bits(uint bits) {
  float x;
  bits = poot_hidden(bits);
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// Both at once: two asm with one input are one value to a compiler, and x - x is then 0 to it.
#define POOT_OPAQUE_BOTH(A, B) __asm__("" : POOT_REGISTER(A), POOT_REGISTER(B))
static inline float poot_fadd(float a, float b) {
  POOT_OPAQUE_BOTH(a, b);
  return poot_opaque(a + b);
}
static inline float poot_fsub(float a, float b) {
  POOT_OPAQUE_BOTH(a, b);
  return poot_opaque(a - b);
}
static inline float poot_fmul(float a, float b) {
  POOT_OPAQUE_BOTH(a, b);
  return poot_opaque(a * b);
}
static inline float poot_ffma(float a, float b, float c) {
  POOT_OPAQUE_BOTH(a, b);
  return poot_opaque(__builtin_fmaf(a, b, poot_opaque(c)));
}
static inline float poot_fdiv(float a, float b) {
#if defined(__SSE2__)
  __asm__("divss %1, %0" : "+x"(a) : "x"(b));
  return a;
#else
  POOT_OPAQUE_BOTH(a, b);
  return poot_opaque(a / b);
#endif
}
static inline float poot_fsqrt(float x) {
#if defined(__SSE2__)
  __asm__("sqrtss %0, %0" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  __asm__("fsqrt %s0, %s0" : "+w"(x));
  return x;
#else
  return poot_opaque(__builtin_sqrtf(poot_opaque(x)));
#endif
}
static inline float poot_ffloor(float x) {
  uint bits = poot_to_bits(x), magnitude = bits & 0x7fffffffu;
  const bool negative = bits != magnitude;
  if (magnitude < 0x3f800000u) return poot_from_bits(negative && magnitude ? 0xbf800000u : bits - magnitude);
  if (magnitude >= 0x4b000000u) return x;
  const uint fraction = (1u << (150u - (magnitude >> 23))) - 1u;
  if (bits & fraction && negative) bits += fraction;
  return poot_from_bits(bits & ~fraction);
}

// Bits in the order of the numbers that they stand for; both zeros are one.
static inline uint poot_ordered(uint bits) { return bits >> 31 ? 0u - bits : bits | 0x80000000u; }
static inline bool poot_comparable(uint a, uint b) { return a << 1 <= 0xff000000u && b << 1 <= 0xff000000u; }
static inline bool poot_fless(float a, float b) {
  const uint x = poot_to_bits(a), y = poot_to_bits(b);
  return poot_comparable(x, y) && poot_ordered(x) < poot_ordered(y);
}
static inline bool poot_fless_equal(float a, float b) {
  const uint x = poot_to_bits(a), y = poot_to_bits(b);
  return poot_comparable(x, y) && poot_ordered(x) <= poot_ordered(y);
}
static inline bool poot_fequal(float a, float b) {
  const uint x = poot_to_bits(a), y = poot_to_bits(b);
  return poot_comparable(x, y) && poot_ordered(x) == poot_ordered(y);
}

static inline uint poot_mul_high(uint a, uint b) { return uint(static_cast<unsigned long long>(a) * b >> 32); }
static inline void poot_atomic_and(uint* to, uint bits) { __atomic_fetch_and(to, bits, __ATOMIC_RELAXED); }
static inline void poot_atomic_or(uint* to, uint bits) { __atomic_fetch_or(to, bits, __ATOMIC_RELAXED); }

#define POOT_MMA static inline

// Which elements of a tile an invocation of a subgroup of 32 holds, as mma.sync.m16n8k16 has it (PTX ISA, "Matrix fragments for
// mma.m16n8k16"), columns 8 to 15 behind columns 0 to 7. Of operands a register is a pair of elements along K.
enum { poot_lanes = 32, poot_operand_registers = 4, poot_sums_registers = 8 };
POOT_MMA uint poot_left_row(uint lane, uint i) { return lane / 4u + i % 2u * 8u; }
POOT_MMA uint poot_left_pair(uint lane, uint i) { return lane % 4u + i / 2u * 4u; }
POOT_MMA uint poot_right_column(uint lane, uint i) { return lane / 4u + i / 2u * 8u; }
POOT_MMA uint poot_right_pair(uint lane, uint i) { return lane % 4u + i % 2u * 4u; }
POOT_MMA uint poot_sums_row(uint lane, uint i) { return lane / 4u + i / 2u % 2u * 8u; }
POOT_MMA uint poot_sums_column(uint lane, uint i) { return lane % 4u * 2u + i % 2u + i / 4u * 8u; }

// Operands are the registers of all invocations of the subgroup: each can tell what the others load.
struct poot_left {
  uint x[poot_lanes][poot_operand_registers], lane;
};
struct poot_right {
  uint x[poot_lanes][poot_operand_registers];
};
struct poot_sums {
  float x[poot_sums_registers];
};
static inline uint poot_word_of(const poot_quad* from, uint i) {
  const poot_quad q = from[i / 4u];
  return i % 4u == 0 ? q.x : i % 4u == 1 ? q.y : i % 4u == 2 ? q.z : q.w;
}
static inline poot_left poot_mma_left(const poot_quad* from, uint at, uint stride, uint lane) {
  poot_left f;
  f.lane = lane;
  for (uint l = 0; l < poot_lanes; ++l)
    for (uint i = 0; i < poot_operand_registers; ++i) f.x[l][i] = poot_word_of(from + at, poot_left_row(l, i) * stride * 4u + poot_left_pair(l, i));
  return f;
}
static inline poot_right poot_mma_right(const poot_quad* from, uint at, uint stride, uint) {
  poot_right f;
  for (uint l = 0; l < poot_lanes; ++l)
    for (uint i = 0; i < poot_operand_registers; ++i) f.x[l][i] = poot_word_of(from + at, poot_right_column(l, i) * stride * 4u + poot_right_pair(l, i));
  return f;
}
static inline poot_sums poot_mma_zero() {
  poot_sums f = {};
  return f;
}
static inline void poot_mma_store(float* to, uint at, const poot_sums& f, uint lane) {
  for (uint i = 0; i < poot_sums_registers; ++i) to[at + poot_sums_row(lane, i) * 16u + poot_sums_column(lane, i)] = f.x[i];
}

// Where the hardware looks for the pair of elements 2k and 2k + 1 of a row of the left operand, of a column of the right one,
// and which element of the sums it leaves in a register.
static inline uint poot_unit_left(const poot_left& f, uint row, uint k) { return f.x[row % 8u * 4u + k % 4u][row / 8u + 2u * (k / 4u)]; }
static inline uint poot_unit_right(const poot_right& f, uint column, uint k) { return f.x[column % 8u * 4u + k % 4u][k / 4u + 2u * (column / 8u)]; }
static inline uint poot_unit_row(uint lane, uint i) { return (i & 2u) ? (lane >> 2) + 8u : lane >> 2; }
static inline uint poot_unit_column(uint lane, uint i) { return ((lane & 3u) << 1) + (i & 1u) + ((i & 4u) ? 8u : 0u); }

static inline float poot_bf16_number(uint half) { return poot_from_bits(half << 16); }
static inline float poot_f16_number(uint half) {
  const uint magnitude = half & 0x7fffu, sign = (half & 0x8000u) << 16;
  if (magnitude >= 0x7c00u) return poot_from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  const float x = magnitude < 0x400u ? poot_fmul(float(int(magnitude)), poot_from_bits(0x33800000u)) : poot_from_bits((magnitude << 13) + 0x38000000u);
  return poot_from_bits(sign | poot_to_bits(x));
}
// Products are exact, and are added one by one as k ascends.
static inline poot_sums poot_multiply_add(float (*number)(uint), const poot_left& a, const poot_right& b, poot_sums c) {
  for (uint i = 0; i < poot_sums_registers; ++i)
    for (uint k = 0; k < 8u; ++k) {
      const uint left = poot_unit_left(a, poot_unit_row(a.lane, i), k), right = poot_unit_right(b, poot_unit_column(a.lane, i), k);
      c.x[i] = poot_fadd(c.x[i], poot_fmul(number(left & 0xffffu), number(right & 0xffffu)));
      c.x[i] = poot_fadd(c.x[i], poot_fmul(number(left >> 16), number(right >> 16)));
    }
  return c;
}
static inline poot_sums poot_mma_bf16(const poot_left& a, const poot_right& b, const poot_sums& c) { return poot_multiply_add(poot_bf16_number, a, b, c); }
static inline poot_sums poot_mma_f16(const poot_left& a, const poot_right& b, const poot_sums& c) { return poot_multiply_add(poot_f16_number, a, b, c); }

struct poot_shared {
  poot_quad s0[48];  // a
  poot_quad s1[96];  // b
  float s2[512];  // sums
};

extern "C" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {
  const uint* const b0 = buffers[0];  // x
  const poot_quad* const q0 = reinterpret_cast<const poot_quad*>(buffers[0]);
  uint* const b1 = buffers[1];  // y
  auto& s0 = static_cast<poot_shared*>(at->shared)->s0;
  auto& s1 = static_cast<poot_shared*>(at->shared)->s1;
  auto& s2 = static_cast<poot_shared*>(at->shared)->s2;
  uint v0 = at->group;
  uint v1 = meta[0];
  bool v2 = v0 < v1;
  uint v3 = at->lane;
  uint v5 = v3 / 2u;
  uint v7 = v5 * 3u;
  uint v8 = v3 % 2u;
  uint v9 = v7 + v8;
  uint v10 = at->lane / 32u;
  if (v2) {
    bool v13 = v3 < 32u;
    if (v13) {
      poot_quad v15 = q0[v3];
      s0[v9] = v15;
    }
    bool v19 = v3 < 64u;
    if (v19) {
      uint v21 = v3 + 32u;
      poot_quad v22 = q0[v21];
      s1[v9] = v22;
    }
    at->wait(at->waiting);
    poot_left v27 = poot_mma_left(s0, 0u, 3u, at->lane % 32u);
    uint v29 = v10 * 48u;
    poot_right v30 = poot_mma_right(s1, v29, 3u, at->lane % 32u);
    poot_sums v31 = poot_mma_zero();
    poot_sums m32 = v31;
    for (uint v34 = 0u; v34 < 2u; v34 += 1u) {
      poot_sums v35 = m32;
      poot_sums v36 = poot_mma_f16(v27, v30, v35);
      m32 = v36;
    }
    poot_sums v39 = m32;
    uint v41 = v10 * 256u;
    poot_mma_store(s2, v41, v39, at->lane % 32u);
    at->wait(at->waiting);
    for (uint v45 = v3; v45 < 512u; v45 += 64u) {
      float v46 = s2[v45];
      uint v47 = poot_to_bits(v46);
      b1[v45] = v47;
    }
  }
}

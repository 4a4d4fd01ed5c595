// rows

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

struct poot_shared {
  float s0[16];  // partial
  uint s1[16];  // below zero
  bool s2[16];  // any
};

extern "C" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {
  const uint* const b0 = buffers[0];  // x
  uint* const b1 = buffers[1];  // sums
  uint* const b2 = buffers[2];  // seen
  auto& s0 = static_cast<poot_shared*>(at->shared)->s0;
  auto& s1 = static_cast<poot_shared*>(at->shared)->s1;
  auto& s2 = static_cast<poot_shared*>(at->shared)->s2;
  float m1 = 0.0f;  // %7
  uint m3 = 0u;
  bool m5 = false;
  uint v6 = at->group;
  uint v7 = meta[0];
  bool v8 = v6 < v7;
  uint v9 = at->lane;
  if (v8) {
    for (uint v13 = v9; v13 < 40u; v13 += 16u) {
      uint v14 = v6 * 40u;
      uint v15 = v14 + v13;
      uint v16 = b0[v15];
      float v17 = m1;  // %8
      float v18 = poot_from_bits(v16);  // %7
      float v19 = poot_fadd(v17, v18);  // %8
      m1 = v19;
      bool v21 = poot_fless(v18, 0.0f);
      if (v21) {
        uint v23 = m3;
        uint v25 = v23 + 1u;
        m3 = v25;
        m5 = true;
      } else {
        bool v30 = poot_fequal(v18, 0.0f);
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
  at->wait(at->waiting);
  uint m48 = 8u;
  for (uint v51 = 0u; v51 < 4u; v51 += 1u) {
    uint v52 = m48;  // %9
    bool v53 = v9 < v52;
    if (v53) {
      float v55 = s0[v9];
      uint v56 = v9 + v52;
      float v57 = s0[v56];
      float v58 = poot_fadd(v55, v57);
      s0[v9] = v58;
      uint v60 = s1[v9];
      uint v61 = s1[v56];
      uint v62 = v60 + v61;
      s1[v9] = v62;
    }
    uint v65 = v52 >> 1u;
    m48 = v65;
    at->wait(at->waiting);
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

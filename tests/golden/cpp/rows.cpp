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
  uint v0 = at->group;  // %7
  uint v1 = at->lane;
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
      bool v23 = poot_fless(v18, 0.0f);
      if (v23) {
        uint v25 = m7;
        uint v27 = v25 + 1u;
        m7 = v27;
        m9 = true;
      } else {
        bool v33 = poot_fequal(v18, 0.0f);
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
  at->wait(at->waiting);
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
    at->wait(at->waiting);
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

// words

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

extern "C" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {
  const uint* const b0 = buffers[0];  // x
  uint* const b1 = buffers[1];  // y
  uint v0 = at->lane;  // %1
  uint v1 = at->group;
  uint v3 = v1 * 64u;
  uint v4 = v3 + v0;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = meta[1];
    uint v9 = v4 / v8;
    uint v10 = b0[v9];
    uint v11 = v4 % v8;
    uint v12 = b0[v11];
    bool v14 = v12 == 0u;  // %2
    uint v15 = uint(v14);
    uint v16 = v12 + v15;
    uint v18 = v12 & 31u;
    bool v20 = v16 == 0xffffffffu;
    uint v21 = uint(v20);
    uint v23 = 2u * v21;
    uint v24 = v16 + v23;
    uint v25 = v10 + v12;
    b1[v4] = v25;
    uint v27 = v10 - v12;
    uint v28 = v4 + v5;
    b1[v28] = v27;
    uint v30 = v10 * v12;
    uint v32 = v5 * 2u;
    uint v33 = v4 + v32;
    b1[v33] = v30;
    uint v35 = poot_mul_high(v10, v12);
    uint v37 = v5 * 3u;
    uint v38 = v4 + v37;
    b1[v38] = v35;
    uint v40 = v10 / v16;
    uint v42 = v5 * 4u;
    uint v43 = v4 + v42;
    b1[v43] = v40;
    uint v45 = v10 % v16;
    uint v47 = v5 * 5u;
    uint v48 = v4 + v47;
    b1[v48] = v45;
    uint v50 = uint(int(v10) / int(v24));
    uint v52 = v5 * 6u;
    uint v53 = v4 + v52;
    b1[v53] = v50;
    uint v55 = v10 & v12;
    uint v57 = v5 * 7u;
    uint v58 = v4 + v57;
    b1[v58] = v55;
    uint v60 = v10 | v12;
    uint v62 = v5 * 8u;
    uint v63 = v4 + v62;
    b1[v63] = v60;
    uint v65 = v10 ^ v12;
    uint v67 = v5 * 9u;
    uint v68 = v4 + v67;
    b1[v68] = v65;
    uint v70 = ~v10;
    uint v72 = v5 * 10u;
    uint v73 = v4 + v72;
    b1[v73] = v70;
    uint v75 = v10 << v18;
    uint v77 = v5 * 11u;
    uint v78 = v4 + v77;
    b1[v78] = v75;
    uint v80 = v10 >> v18;
    uint v82 = v5 * 12u;
    uint v83 = v4 + v82;
    b1[v83] = v80;
    uint v85 = uint(int(v10) >> v18);
    uint v87 = v5 * 13u;
    uint v88 = v4 + v87;
    b1[v88] = v85;
    bool v90 = v10 < v12;
    uint v91 = uint(v90);
    uint v93 = v5 * 14u;
    uint v94 = v4 + v93;
    b1[v94] = v91;
    bool v96 = int(v10) < int(v12);
    uint v97 = uint(v96);
    uint v99 = v5 * 15u;
    uint v100 = v4 + v99;
    b1[v100] = v97;
    bool v102 = v10 == v12;
    uint v103 = uint(v102);
    uint v105 = v5 * 16u;
    uint v106 = v4 + v105;
    b1[v106] = v103;
    uint v109 = v10 & 1u;
    bool v111 = v109 == 0u;
    bool v112 = !v111;
    bool v113 = int(v10) < int(v12);
    bool v114 = v10 < v12;
    bool v115 = v114 && v113;
    bool v116 = v115 || v112;
    uint v117 = uint(v116);
    uint v119 = v5 * 17u;
    uint v120 = v4 + v119;
    b1[v120] = v117;
    bool v122 = v10 < v12;
    uint v123 = v122 ? v10 : v12;
    uint v125 = v5 * 18u;
    uint v126 = v4 + v125;
    b1[v126] = v123;
    uint v129 = v10 + 0xfffffff0u;
    uint v131 = v5 * 19u;
    uint v132 = v4 + v131;
    b1[v132] = v129;
    float v134 = poot_from_bits(v10);
    uint v135 = poot_to_bits(v134);
    uint v137 = v5 * 20u;
    uint v138 = v4 + v137;
    b1[v138] = v135;
  }
}

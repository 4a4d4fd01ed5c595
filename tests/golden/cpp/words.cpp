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

extern "C" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {
  const uint* const b0 = buffers[0];  // x
  uint* const b1 = buffers[1];  // y
  uint v0 = at->group;  // %1
  uint v2 = v0 * 64u;
  uint v3 = at->lane;
  uint v4 = v2 + v3;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = meta[1];
    uint v9 = v4 / v8;
    uint v10 = b0[v9];
    uint v11 = v4 % v8;
    uint v12 = b0[v11];
    uint v13 = v10 + v12;  // %2
    b1[v4] = v13;
    uint v15 = v4 + v5;
    uint v16 = v10 - v12;
    b1[v15] = v16;
    uint v19 = v5 * 2u;
    uint v20 = v4 + v19;
    uint v21 = v10 * v12;
    b1[v20] = v21;
    uint v24 = v5 * 3u;
    uint v25 = v4 + v24;
    uint v26 = poot_mul_high(v10, v12);
    b1[v25] = v26;
    uint v29 = v5 * 4u;
    uint v30 = v4 + v29;
    bool v32 = v12 == 0u;
    uint v33 = uint(v32);
    uint v34 = v12 + v33;
    uint v35 = v10 / v34;
    b1[v30] = v35;
    uint v38 = v5 * 5u;
    uint v39 = v4 + v38;
    uint v40 = v10 % v34;
    b1[v39] = v40;
    uint v43 = v5 * 6u;
    uint v44 = v4 + v43;
    bool v46 = v34 == 0xffffffffu;
    uint v47 = uint(v46);
    uint v48 = 2u * v47;
    uint v49 = v34 + v48;
    uint v50 = uint(int(v10) / int(v49));
    b1[v44] = v50;
    uint v53 = v5 * 7u;
    uint v54 = v4 + v53;
    uint v55 = v10 & v12;
    b1[v54] = v55;
    uint v58 = v5 * 8u;
    uint v59 = v4 + v58;
    uint v60 = v10 | v12;
    b1[v59] = v60;
    uint v63 = v5 * 9u;
    uint v64 = v4 + v63;
    uint v65 = v10 ^ v12;
    b1[v64] = v65;
    uint v68 = v5 * 10u;
    uint v69 = v4 + v68;
    uint v70 = ~v10;
    b1[v69] = v70;
    uint v73 = v5 * 11u;
    uint v74 = v4 + v73;
    uint v76 = v12 & 31u;
    uint v77 = v10 << v76;
    b1[v74] = v77;
    uint v80 = v5 * 12u;
    uint v81 = v4 + v80;
    uint v82 = v10 >> v76;
    b1[v81] = v82;
    uint v85 = v5 * 13u;
    uint v86 = v4 + v85;
    uint v87 = uint(int(v10) >> v76);
    b1[v86] = v87;
    uint v90 = v5 * 14u;
    uint v91 = v4 + v90;
    bool v92 = v10 < v12;
    uint v93 = uint(v92);
    b1[v91] = v93;
    uint v96 = v5 * 15u;
    uint v97 = v4 + v96;
    bool v98 = int(v10) < int(v12);
    uint v99 = uint(v98);
    b1[v97] = v99;
    uint v102 = v5 * 16u;
    uint v103 = v4 + v102;
    bool v104 = v10 == v12;
    uint v105 = uint(v104);
    b1[v103] = v105;
    uint v108 = v5 * 17u;
    uint v109 = v4 + v108;
    bool v110 = v92 && v98;
    uint v112 = v10 & 1u;
    bool v113 = v112 == 0u;
    bool v114 = !v113;
    bool v115 = v110 || v114;
    uint v116 = uint(v115);
    b1[v109] = v116;
    uint v119 = v5 * 18u;
    uint v120 = v4 + v119;
    uint v121 = v92 ? v10 : v12;
    b1[v120] = v121;
    uint v124 = v5 * 19u;
    uint v125 = v4 + v124;
    uint v127 = v10 + 0xfffffff0u;
    b1[v125] = v127;
    uint v130 = v5 * 20u;
    uint v131 = v4 + v130;
    float v132 = poot_from_bits(v10);
    uint v133 = poot_to_bits(v132);
    b1[v131] = v133;
  }
}

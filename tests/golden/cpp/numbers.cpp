// numbers

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
    float v14 = poot_from_bits(v10);  // %2
    float v15 = poot_from_bits(v12);
    float v16 = poot_fadd(v14, v15);
    uint v17 = poot_to_bits(v16);
    uint v19 = v17 & 0x7fffffffu;
    bool v20 = 0x7f800000u < v19;
    uint v22 = v20 ? 0x7fc00000u : v17;
    b1[v4] = v22;
    uint v24 = v4 + v5;
    float v25 = poot_fsub(v14, v15);
    uint v26 = poot_to_bits(v25);
    uint v27 = v26 & 0x7fffffffu;
    bool v28 = 0x7f800000u < v27;
    uint v29 = v28 ? 0x7fc00000u : v26;
    b1[v24] = v29;
    uint v32 = v5 * 2u;
    uint v33 = v4 + v32;
    float v34 = poot_fmul(v14, v15);
    uint v35 = poot_to_bits(v34);
    uint v36 = v35 & 0x7fffffffu;
    bool v37 = 0x7f800000u < v36;
    uint v38 = v37 ? 0x7fc00000u : v35;
    b1[v33] = v38;
    uint v41 = v5 * 3u;
    uint v42 = v4 + v41;
    float v43 = poot_fdiv(v14, v15);
    uint v44 = poot_to_bits(v43);
    uint v45 = v44 & 0x7fffffffu;
    bool v46 = 0x7f800000u < v45;
    uint v47 = v46 ? 0x7fc00000u : v44;
    b1[v42] = v47;
    uint v50 = v5 * 4u;
    uint v51 = v4 + v50;
    float v52 = poot_fsqrt(v14);
    uint v53 = poot_to_bits(v52);
    uint v54 = v53 & 0x7fffffffu;
    bool v55 = 0x7f800000u < v54;
    uint v56 = v55 ? 0x7fc00000u : v53;
    b1[v51] = v56;
    uint v59 = v5 * 5u;
    uint v60 = v4 + v59;
    float v61 = poot_ffloor(v14);
    uint v62 = poot_to_bits(v61);
    uint v63 = v62 & 0x7fffffffu;
    bool v64 = 0x7f800000u < v63;
    uint v65 = v64 ? 0x7fc00000u : v62;
    b1[v60] = v65;
    uint v68 = v5 * 6u;
    uint v69 = v4 + v68;
    float v70 = poot_fadd(v34, v14);
    uint v71 = poot_to_bits(v70);
    uint v72 = v71 & 0x7fffffffu;
    bool v73 = 0x7f800000u < v72;
    uint v74 = v73 ? 0x7fc00000u : v71;
    b1[v69] = v74;
    uint v77 = v5 * 7u;
    uint v78 = v4 + v77;
    float v79 = poot_fmul(v15, v14);
    float v80 = poot_fsub(v34, v79);
    uint v81 = poot_to_bits(v80);
    uint v82 = v81 & 0x7fffffffu;
    bool v83 = 0x7f800000u < v82;
    uint v84 = v83 ? 0x7fc00000u : v81;
    b1[v78] = v84;
    uint v87 = v5 * 8u;
    uint v88 = v4 + v87;
    bool v89 = poot_fless(v14, v15);
    uint v90 = uint(v89);
    b1[v88] = v90;
    uint v93 = v5 * 9u;
    uint v94 = v4 + v93;
    bool v95 = poot_fless_equal(v14, v15);
    uint v96 = uint(v95);
    b1[v94] = v96;
    uint v99 = v5 * 10u;
    uint v100 = v4 + v99;
    bool v101 = poot_fequal(v14, v15);
    uint v102 = uint(v101);
    b1[v100] = v102;
    uint v105 = v5 * 11u;
    uint v106 = v4 + v105;
    bool v107 = !v89;
    uint v108 = uint(v107);
    b1[v106] = v108;
    uint v111 = v5 * 12u;
    uint v112 = v4 + v111;
    uint v113 = poot_to_bits(v14);
    uint v114 = poot_to_bits(v15);
    uint v115 = v89 ? v113 : v114;
    float v116 = poot_from_bits(v115);
    uint v117 = poot_to_bits(v116);
    b1[v112] = v117;
    uint v120 = v5 * 13u;
    uint v121 = v4 + v120;
    float v122 = v95 ? v14 : v15;
    uint v123 = poot_to_bits(v122);
    b1[v121] = v123;
    uint v126 = v5 * 14u;
    uint v127 = v4 + v126;
    float v129 = poot_fmul(v14, -3.0f);
    uint v130 = poot_to_bits(v129);
    uint v131 = v130 & 0x7fffffffu;
    bool v132 = 0x7f800000u < v131;
    uint v133 = v132 ? 0x7fc00000u : v130;
    b1[v127] = v133;
    uint v136 = v5 * 15u;
    uint v137 = v4 + v136;
    float v139 = poot_fadd(v14, poot_from_bits(0x3dcccccdu));
    uint v140 = poot_to_bits(v139);
    uint v141 = v140 & 0x7fffffffu;
    bool v142 = 0x7f800000u < v141;
    uint v143 = v142 ? 0x7fc00000u : v140;
    b1[v137] = v143;
    uint v146 = v5 * 16u;
    uint v147 = v4 + v146;
    float v148 = float(int(v10));
    uint v149 = poot_to_bits(v148);
    uint v150 = v149 & 0x7fffffffu;
    bool v151 = 0x7f800000u < v150;
    uint v152 = v151 ? 0x7fc00000u : v149;
    b1[v147] = v152;
    uint v155 = v5 * 17u;
    uint v156 = v4 + v155;
    bool v158 = poot_fless(v14, poot_from_bits(0x4f000000u));
    bool v160 = poot_fless(poot_from_bits(0xcf000000u), v14);
    bool v161 = v158 && v160;
    uint v163 = v161 ? v113 : 0u;
    float v164 = poot_from_bits(v163);
    uint v165 = uint(int(v164));
    b1[v156] = v165;
  }
}

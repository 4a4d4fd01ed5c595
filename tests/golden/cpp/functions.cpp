// functions

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

static inline float poot_exp(float p0) {
  bool v2 = poot_fless(p0, -104.0f);
  uint v3 = poot_to_bits(p0);
  uint v5 = v2 ? 0xc3300000u : v3;
  float v6 = poot_from_bits(v5);
  bool v8 = poot_fless(89.0f, v6);
  uint v9 = poot_to_bits(v6);
  uint v11 = v8 ? 0x42b20000u : v9;
  float v12 = poot_from_bits(v11);
  float v14 = poot_fmul(v12, poot_from_bits(0x3fb8aa3bu));
  float v16 = poot_fadd(v14, poot_from_bits(0x4b4000feu));
  float v18 = poot_fsub(v16, poot_from_bits(0x4b4000feu));
  float v20 = poot_fmul(v18, poot_from_bits(0x35bfbe8eu));
  float v22 = poot_fmul(v18, poot_from_bits(0x3f317200u));
  float v23 = poot_fsub(v12, v22);
  float v24 = poot_fsub(v23, v20);
  uint v25 = poot_to_bits(v16);
  float v27 = poot_fmul(poot_from_bits(0x3ab563e9u), v24);
  float v29 = poot_fadd(v27, poot_from_bits(0x3c091ef6u));
  float v30 = poot_fmul(v29, v24);
  float v32 = poot_fadd(v30, poot_from_bits(0x3d2aac2cu));
  float v33 = poot_fmul(v32, v24);
  float v35 = poot_fadd(v33, poot_from_bits(0x3e2aaa46u));
  float v36 = poot_fmul(v35, v24);
  float v38 = poot_fadd(v36, poot_from_bits(0x3efffffeu));
  float v39 = poot_fmul(v24, v24);
  float v40 = poot_fmul(v39, v38);
  float v41 = poot_fadd(v24, v40);
  float v43 = poot_fadd(1.0f, v41);
  uint v45 = v25 >> 1u;
  uint v46 = v25 - v45;
  uint v48 = v46 << 23u;
  float v49 = poot_from_bits(v48);
  uint v51 = v45 << 23u;
  float v52 = poot_from_bits(v51);
  float v53 = poot_fmul(v43, v52);
  float v54 = poot_fmul(v53, v49);
  return v54;
}

static inline float poot_log(float p0) {
  uint v1 = poot_to_bits(p0);
  bool v3 = v1 < 0x800000u;
  float v5 = poot_fmul(p0, poot_from_bits(0x4b000000u));
  uint v6 = poot_to_bits(p0);
  uint v7 = poot_to_bits(v5);
  uint v8 = v3 ? v7 : v6;
  float v9 = poot_from_bits(v8);
  uint v10 = poot_to_bits(v9);
  uint v12 = v10 + 0x4afb0du;
  uint v15 = v3 ? 150u : 127u;
  uint v17 = v12 >> 23u;
  uint v18 = v17 - v15;
  float v19 = float(int(v18));
  uint v21 = v12 & 0x7fffffu;
  uint v23 = v21 + 0x3f3504f3u;
  float v24 = poot_from_bits(v23);
  float v26 = poot_fsub(v24, 1.0f);
  float v28 = poot_fmul(poot_from_bits(0xbd9d0f4cu), v26);
  float v30 = poot_fadd(v28, poot_from_bits(0x3e02ea26u));
  float v31 = poot_fmul(v30, v26);
  float v33 = poot_fadd(v31, poot_from_bits(0xbe06c79du));
  float v34 = poot_fmul(v33, v26);
  float v36 = poot_fadd(v34, poot_from_bits(0x3e116b0eu));
  float v37 = poot_fmul(v36, v26);
  float v39 = poot_fadd(v37, poot_from_bits(0xbe2a390cu));
  float v40 = poot_fmul(v39, v26);
  float v42 = poot_fadd(v40, poot_from_bits(0x3e4cd01au));
  float v43 = poot_fmul(v42, v26);
  float v45 = poot_fadd(v43, poot_from_bits(0xbe800114u));
  float v46 = poot_fmul(v45, v26);
  float v48 = poot_fadd(v46, poot_from_bits(0x3eaaaaaau));
  float v49 = poot_fmul(v26, v26);
  float v50 = poot_fmul(v26, v49);
  float v51 = poot_fmul(v50, v48);
  float v53 = poot_fmul(v19, poot_from_bits(0x35bfbe8eu));
  float v54 = poot_fadd(v51, v53);
  float v56 = poot_fmul(v49, poot_from_bits(0x3f000000u));
  float v57 = poot_fsub(v54, v56);
  float v59 = poot_fmul(v19, poot_from_bits(0x3f317200u));
  float v60 = poot_fadd(v26, v57);
  float v61 = poot_fadd(v60, v59);
  uint v63 = v1 << 1u;
  bool v65 = v63 == 0u;
  uint v68 = v65 ? 0xff800000u : 0x7fc00000u;
  float v69 = poot_from_bits(v68);
  bool v71 = v1 == 0x7f800000u;
  uint v72 = poot_to_bits(v69);
  uint v74 = v71 ? 0x7f800000u : v72;
  float v75 = poot_from_bits(v74);
  uint v77 = v1 - 1u;
  bool v79 = v77 < 0x7f7fffffu;
  uint v80 = poot_to_bits(v75);
  uint v81 = poot_to_bits(v61);
  uint v82 = v79 ? v81 : v80;
  float v83 = poot_from_bits(v82);
  return v83;
}

static inline float poot_tanh(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x7fffffffu;
  float v4 = poot_from_bits(v3);
  bool v6 = poot_fless(poot_from_bits(0x41180000u), v4);
  uint v7 = poot_to_bits(v4);
  uint v9 = v6 ? 0x41180000u : v7;
  float v10 = poot_from_bits(v9);
  float v11 = poot_fmul(v10, v10);
  float v13 = poot_fmul(poot_from_bits(0xbd4d1edau), v11);
  float v15 = poot_fadd(v13, poot_from_bits(0x3e084fd7u));
  float v16 = poot_fmul(v15, v11);
  float v18 = poot_fadd(v16, poot_from_bits(0xbeaaaa37u));
  float v19 = poot_fmul(v11, v10);
  float v20 = poot_fmul(v19, v18);
  float v21 = poot_fadd(v10, v20);
  float v22 = poot_fadd(v10, v10);
  float v24 = poot_fmul(v22, poot_from_bits(0x3fb8aa3bu));
  float v26 = poot_fadd(v24, poot_from_bits(0x4b40007fu));
  uint v27 = poot_to_bits(v26);
  uint v29 = v27 << 23u;
  float v30 = poot_from_bits(v29);
  float v32 = poot_fsub(v26, poot_from_bits(0x4b40007fu));
  float v34 = poot_fmul(v32, poot_from_bits(0x35bfbe8eu));
  float v36 = poot_fmul(v32, poot_from_bits(0x3f317200u));
  float v37 = poot_fsub(v22, v36);
  float v38 = poot_fsub(v37, v34);
  float v40 = poot_fmul(poot_from_bits(0x3ab563e9u), v38);
  float v42 = poot_fadd(v40, poot_from_bits(0x3c091ef6u));
  float v43 = poot_fmul(v42, v38);
  float v45 = poot_fadd(v43, poot_from_bits(0x3d2aac2cu));
  float v46 = poot_fmul(v45, v38);
  float v48 = poot_fadd(v46, poot_from_bits(0x3e2aaa46u));
  float v49 = poot_fmul(v48, v38);
  float v51 = poot_fadd(v49, poot_from_bits(0x3efffffeu));
  float v52 = poot_fmul(v38, v38);
  float v53 = poot_fmul(v52, v51);
  float v54 = poot_fadd(v38, v53);
  float v56 = poot_fsub(v30, 1.0f);
  float v57 = poot_fmul(v30, v54);
  float v58 = poot_fadd(v57, v56);
  float v60 = poot_fadd(v58, 2.0f);
  float v61 = poot_fdiv(v58, v60);
  bool v63 = poot_fless(v10, poot_from_bits(0x3ea00000u));
  uint v64 = poot_to_bits(v61);
  uint v65 = poot_to_bits(v21);
  uint v66 = v63 ? v65 : v64;
  float v67 = poot_from_bits(v66);
  uint v68 = poot_to_bits(p0);
  uint v70 = v68 & 0x80000000u;
  uint v71 = poot_to_bits(v67);
  uint v72 = v71 | v70;
  float v73 = poot_from_bits(v72);
  return v73;
}

static inline float poot_erf(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x7fffffffu;
  float v4 = poot_from_bits(v3);
  bool v6 = poot_fless(4.0f, v4);
  uint v7 = poot_to_bits(v4);
  uint v9 = v6 ? 0x40800000u : v7;
  float v10 = poot_from_bits(v9);
  float v11 = poot_fmul(v10, v10);
  float v13 = poot_fmul(poot_from_bits(0xba1d2471u), v11);
  float v15 = poot_fadd(v13, poot_from_bits(0x3ba3a507u));
  float v16 = poot_fmul(v15, v11);
  float v18 = poot_fadd(v16, poot_from_bits(0xbcdb4733u));
  float v19 = poot_fmul(v18, v11);
  float v21 = poot_fadd(v19, poot_from_bits(0x3de70d5au));
  float v22 = poot_fmul(v21, v11);
  float v24 = poot_fadd(v22, poot_from_bits(0xbec09374u));
  float v25 = poot_fmul(v24, v11);
  float v27 = poot_fadd(v25, poot_from_bits(0x3e0375d3u));
  float v29 = poot_fmul(poot_from_bits(0x394d39eeu), v10);
  float v31 = poot_fadd(v29, poot_from_bits(0xbb474cdfu));
  float v32 = poot_fmul(v31, v10);
  float v34 = poot_fadd(v32, poot_from_bits(0x3cb6036bu));
  float v35 = poot_fmul(v34, v10);
  float v37 = poot_fadd(v35, poot_from_bits(0xbdd4d0dfu));
  float v38 = poot_fmul(v37, v10);
  float v40 = poot_fadd(v38, poot_from_bits(0xbf231fb0u));
  float v41 = poot_fmul(v40, v10);
  float v43 = poot_fadd(v41, poot_from_bits(0xbf905749u));
  float v44 = poot_fmul(v43, v10);
  float v46 = poot_fadd(v44, poot_from_bits(0xb95034d3u));
  float v48 = poot_fmul(v46, poot_from_bits(0x3fb8aa3bu));
  float v50 = poot_fadd(v48, poot_from_bits(0x4b40007fu));
  float v52 = poot_fsub(v50, poot_from_bits(0x4b40007fu));
  float v54 = poot_fmul(v52, poot_from_bits(0x35bfbe8eu));
  float v56 = poot_fmul(v52, poot_from_bits(0x3f317200u));
  float v57 = poot_fsub(v46, v56);
  float v58 = poot_fsub(v57, v54);
  uint v59 = poot_to_bits(v50);
  uint v61 = v59 << 23u;
  float v62 = poot_from_bits(v61);
  float v64 = poot_fmul(poot_from_bits(0x3ab563e9u), v58);
  float v66 = poot_fadd(v64, poot_from_bits(0x3c091ef6u));
  float v67 = poot_fmul(v66, v58);
  float v69 = poot_fadd(v67, poot_from_bits(0x3d2aac2cu));
  float v70 = poot_fmul(v69, v58);
  float v72 = poot_fadd(v70, poot_from_bits(0x3e2aaa46u));
  float v73 = poot_fmul(v72, v58);
  float v75 = poot_fadd(v73, poot_from_bits(0x3efffffeu));
  float v76 = poot_fmul(v58, v58);
  float v77 = poot_fmul(v76, v75);
  float v78 = poot_fadd(v58, v77);
  float v80 = poot_fadd(1.0f, v78);
  float v81 = poot_fmul(v80, v62);
  float v83 = poot_fsub(1.0f, v81);
  uint v84 = poot_to_bits(p0);
  uint v86 = v84 & 0x80000000u;
  uint v87 = poot_to_bits(v83);
  uint v88 = v87 | v86;
  float v89 = poot_from_bits(v88);
  float v90 = poot_fmul(p0, v27);
  float v91 = poot_fadd(p0, v90);
  bool v93 = poot_fless(v10, poot_from_bits(0x3f6c0000u));
  uint v94 = poot_to_bits(v89);
  uint v95 = poot_to_bits(v91);
  uint v96 = v93 ? v95 : v94;
  float v97 = poot_from_bits(v96);
  return v97;
}

static inline float poot_sin(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x80000000u;
  uint v4 = poot_to_bits(p0);
  uint v6 = v4 & 0x7fffffffu;
  float v7 = poot_from_bits(v6);
  bool v9 = poot_fless(v7, poot_from_bits(0x49c00000u));
  uint v10 = poot_to_bits(v7);
  uint v12 = v9 ? v10 : 0u;
  float v13 = poot_from_bits(v12);
  float v15 = poot_fmul(v13, poot_from_bits(0x3f22f983u));
  float v17 = poot_fadd(v15, poot_from_bits(0x4b400000u));
  float v19 = poot_fsub(v17, poot_from_bits(0x4b400000u));
  float v21 = poot_fadd(v19, poot_from_bits(0x50400000u));
  float v23 = poot_fsub(v21, poot_from_bits(0x50400000u));
  float v24 = poot_fsub(v19, v23);
  float v26 = poot_fmul(v23, poot_from_bits(0x3fc90c00u));
  float v27 = poot_fsub(v13, v26);
  float v29 = poot_fmul(v24, poot_from_bits(0x3fc90c00u));
  float v30 = poot_fsub(v27, v29);
  float v32 = poot_fmul(v23, poot_from_bits(0x38f6a800u));
  float v33 = poot_fsub(v30, v32);
  float v35 = poot_fmul(v24, poot_from_bits(0x38f6a800u));
  float v37 = poot_fmul(v23, poot_from_bits(0x30885800u));
  float v39 = poot_fmul(v24, poot_from_bits(0x30885800u));
  float v40 = poot_fsub(v33, v35);
  float v41 = poot_fsub(v40, v37);
  float v42 = poot_fsub(v41, v39);
  float v43 = poot_fsub(v41, v42);
  float v44 = poot_fsub(v43, v39);
  float v45 = poot_fsub(v40, v41);
  float v46 = poot_fsub(v45, v37);
  float v47 = poot_fsub(v33, v40);
  float v48 = poot_fsub(v47, v35);
  float v49 = poot_fadd(v48, v46);
  float v50 = poot_fadd(v49, v44);
  float v52 = poot_fmul(v19, poot_from_bits(0x298c234cu));
  float v53 = poot_fsub(v50, v52);
  float v54 = poot_fadd(v42, v53);
  float v55 = poot_fmul(v54, v54);
  uint v56 = poot_to_bits(v17);
  float v58 = poot_fmul(poot_from_bits(0xb94c8e15u), v55);
  float v60 = poot_fadd(v58, poot_from_bits(0x3c088363u));
  float v61 = poot_fmul(v60, v55);
  float v63 = poot_fadd(v61, poot_from_bits(0xbe2aaaa2u));
  float v64 = poot_fmul(v55, v54);
  float v65 = poot_fmul(v64, v63);
  float v66 = poot_fadd(v54, v65);
  float v68 = poot_fmul(poot_from_bits(0x37ccefb0u), v55);
  float v70 = poot_fadd(v68, poot_from_bits(0xbab6060bu));
  float v71 = poot_fmul(v70, v55);
  float v73 = poot_fadd(v71, poot_from_bits(0x3d2aaaa5u));
  float v74 = poot_fmul(v55, v55);
  float v75 = poot_fmul(v74, v73);
  float v77 = poot_fmul(v55, poot_from_bits(0x3f000000u));
  float v79 = poot_fsub(1.0f, v77);
  float v80 = poot_fadd(v79, v75);
  uint v82 = v56 & 1u;
  bool v84 = v82 == 0u;
  uint v85 = poot_to_bits(v80);
  uint v86 = poot_to_bits(v66);
  uint v87 = v84 ? v86 : v85;
  float v88 = poot_from_bits(v87);
  uint v90 = v56 & 2u;
  uint v92 = v90 << 30u;
  uint v93 = poot_to_bits(v88);
  uint v94 = v93 ^ v92;
  float v95 = poot_from_bits(v94);
  uint v96 = poot_to_bits(v7);
  bool v98 = v96 < 0x7f800000u;
  uint v99 = poot_to_bits(v95);
  uint v101 = v98 ? v99 : 0x7fc00000u;
  float v102 = poot_from_bits(v101);
  uint v103 = poot_to_bits(v102);
  uint v104 = v103 ^ v3;
  float v105 = poot_from_bits(v104);
  return v105;
}

static inline float poot_cos(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x7fffffffu;
  float v4 = poot_from_bits(v3);
  bool v6 = poot_fless(v4, poot_from_bits(0x49c00000u));
  uint v7 = poot_to_bits(v4);
  uint v9 = v6 ? v7 : 0u;
  float v10 = poot_from_bits(v9);
  float v12 = poot_fmul(v10, poot_from_bits(0x3f22f983u));
  float v14 = poot_fadd(v12, poot_from_bits(0x4b400000u));
  float v16 = poot_fsub(v14, poot_from_bits(0x4b400000u));
  float v18 = poot_fadd(v16, poot_from_bits(0x50400000u));
  float v20 = poot_fsub(v18, poot_from_bits(0x50400000u));
  float v21 = poot_fsub(v16, v20);
  float v23 = poot_fmul(v20, poot_from_bits(0x3fc90c00u));
  float v24 = poot_fsub(v10, v23);
  float v26 = poot_fmul(v21, poot_from_bits(0x3fc90c00u));
  float v27 = poot_fsub(v24, v26);
  float v29 = poot_fmul(v20, poot_from_bits(0x38f6a800u));
  float v30 = poot_fsub(v27, v29);
  float v32 = poot_fmul(v21, poot_from_bits(0x38f6a800u));
  float v34 = poot_fmul(v20, poot_from_bits(0x30885800u));
  float v36 = poot_fmul(v21, poot_from_bits(0x30885800u));
  float v37 = poot_fsub(v30, v32);
  float v38 = poot_fsub(v37, v34);
  float v39 = poot_fsub(v38, v36);
  float v40 = poot_fsub(v38, v39);
  float v41 = poot_fsub(v40, v36);
  float v42 = poot_fsub(v37, v38);
  float v43 = poot_fsub(v42, v34);
  float v44 = poot_fsub(v30, v37);
  float v45 = poot_fsub(v44, v32);
  float v46 = poot_fadd(v45, v43);
  float v47 = poot_fadd(v46, v41);
  float v49 = poot_fmul(v16, poot_from_bits(0x298c234cu));
  float v50 = poot_fsub(v47, v49);
  float v51 = poot_fadd(v39, v50);
  float v52 = poot_fmul(v51, v51);
  uint v53 = poot_to_bits(v14);
  uint v55 = v53 + 1u;
  float v57 = poot_fmul(poot_from_bits(0xb94c8e15u), v52);
  float v59 = poot_fadd(v57, poot_from_bits(0x3c088363u));
  float v60 = poot_fmul(v59, v52);
  float v62 = poot_fadd(v60, poot_from_bits(0xbe2aaaa2u));
  float v63 = poot_fmul(v52, v51);
  float v64 = poot_fmul(v63, v62);
  float v65 = poot_fadd(v51, v64);
  float v67 = poot_fmul(poot_from_bits(0x37ccefb0u), v52);
  float v69 = poot_fadd(v67, poot_from_bits(0xbab6060bu));
  float v70 = poot_fmul(v69, v52);
  float v72 = poot_fadd(v70, poot_from_bits(0x3d2aaaa5u));
  float v73 = poot_fmul(v52, v52);
  float v74 = poot_fmul(v73, v72);
  float v76 = poot_fmul(v52, poot_from_bits(0x3f000000u));
  float v78 = poot_fsub(1.0f, v76);
  float v79 = poot_fadd(v78, v74);
  uint v81 = v55 & 1u;
  bool v83 = v81 == 0u;
  uint v84 = poot_to_bits(v79);
  uint v85 = poot_to_bits(v65);
  uint v86 = v83 ? v85 : v84;
  float v87 = poot_from_bits(v86);
  uint v89 = v55 & 2u;
  uint v91 = v89 << 30u;
  uint v92 = poot_to_bits(v87);
  uint v93 = v92 ^ v91;
  float v94 = poot_from_bits(v93);
  uint v95 = poot_to_bits(v4);
  bool v97 = v95 < 0x7f800000u;
  uint v98 = poot_to_bits(v94);
  uint v100 = v97 ? v98 : 0x7fc00000u;
  float v101 = poot_from_bits(v100);
  return v101;
}

static inline float poot_pow(float p0, float p1) {
  uint v2 = poot_to_bits(p0);
  uint v4 = v2 & 0x7fffffffu;
  uint v5 = poot_to_bits(p1);
  uint v7 = v5 & 0x7fffffffu;
  bool v9 = v4 < 0x800000u;
  float v10 = poot_from_bits(v4);
  float v11 = poot_from_bits(v4);
  float v13 = poot_fmul(v11, poot_from_bits(0x4b000000u));
  uint v14 = poot_to_bits(v10);
  uint v15 = poot_to_bits(v13);
  uint v16 = v9 ? v15 : v14;
  float v17 = poot_from_bits(v16);
  uint v18 = poot_to_bits(v17);
  uint v20 = v18 + 0x4afb0du;
  uint v23 = v9 ? 150u : 127u;
  uint v25 = v20 >> 23u;
  uint v26 = v25 - v23;
  float v27 = float(int(v26));
  uint v29 = v20 & 0x7fffffu;
  uint v31 = v29 + 0x3f3504f3u;
  float v32 = poot_from_bits(v31);
  float v34 = poot_fsub(v32, 1.0f);
  float v36 = poot_fadd(v32, 1.0f);
  uint v37 = poot_to_bits(v36);
  uint v39 = v37 & 0xfffff000u;
  float v40 = poot_from_bits(v39);
  float v42 = poot_fsub(v40, 1.0f);
  float v43 = poot_fsub(v32, v42);
  float v45 = poot_fdiv(1.0f, v36);
  float v46 = poot_fmul(v34, v45);
  uint v47 = poot_to_bits(v46);
  uint v49 = v47 & 0xfffff000u;
  float v50 = poot_from_bits(v49);
  float v51 = poot_fmul(v50, v43);
  float v52 = poot_fmul(v50, v40);
  float v53 = poot_fsub(v34, v52);
  float v54 = poot_fsub(v53, v51);
  float v55 = poot_fmul(v45, v54);
  float v56 = poot_fmul(v46, v46);
  float v57 = poot_fmul(v50, v50);
  float v59 = poot_fmul(poot_from_bits(0x3eb3dd0fu), v56);
  float v61 = poot_fadd(v59, poot_from_bits(0x3edb3ddcu));
  float v62 = poot_fmul(v61, v56);
  float v64 = poot_fadd(v62, poot_from_bits(0x3f1999c0u));
  float v65 = poot_fadd(v50, v46);
  float v66 = poot_fmul(v55, v65);
  float v67 = poot_fmul(v56, v56);
  float v68 = poot_fmul(v67, v64);
  float v69 = poot_fadd(v68, v66);
  float v71 = poot_fadd(3.0f, v57);
  float v72 = poot_fadd(v71, v69);
  uint v73 = poot_to_bits(v72);
  uint v75 = v73 & 0xfffff000u;
  float v76 = poot_from_bits(v75);
  float v78 = poot_fsub(v76, 3.0f);
  float v79 = poot_fsub(v78, v57);
  float v80 = poot_fsub(v69, v79);
  float v81 = poot_fmul(v50, v76);
  float v82 = poot_fmul(v80, v46);
  float v83 = poot_fmul(v55, v76);
  float v84 = poot_fadd(v83, v82);
  float v85 = poot_fadd(v81, v84);
  uint v86 = poot_to_bits(v85);
  uint v88 = v86 & 0xfffff000u;
  float v89 = poot_from_bits(v88);
  float v90 = poot_fsub(v89, v81);
  float v91 = poot_fsub(v84, v90);
  float v93 = poot_fmul(v89, poot_from_bits(0x3f763000u));
  float v95 = poot_fmul(v91, poot_from_bits(0x3f76384fu));
  float v97 = poot_fmul(v89, poot_from_bits(0x3904ee1du));
  float v98 = poot_fadd(v97, v95);
  float v99 = poot_fadd(v93, v98);
  float v100 = poot_fadd(v99, v27);
  uint v101 = poot_to_bits(v100);
  uint v103 = v101 & 0xfffff000u;
  float v104 = poot_from_bits(v103);
  float v105 = poot_fsub(v104, v27);
  float v106 = poot_fsub(v105, v93);
  float v107 = poot_fsub(v98, v106);
  bool v109 = poot_fless(p1, poot_from_bits(0xcf000000u));
  uint v110 = poot_to_bits(p1);
  uint v112 = v109 ? 0xcf000000u : v110;
  float v113 = poot_from_bits(v112);
  bool v115 = poot_fless(poot_from_bits(0x4f000000u), v113);
  uint v116 = poot_to_bits(v113);
  uint v118 = v115 ? 0x4f000000u : v116;
  float v119 = poot_from_bits(v118);
  uint v120 = poot_to_bits(v119);
  uint v122 = v120 & 0xfffff000u;
  float v123 = poot_from_bits(v122);
  float v124 = poot_fmul(v123, v104);
  float v125 = poot_fmul(v119, v107);
  float v126 = poot_fsub(v119, v123);
  float v127 = poot_fmul(v126, v104);
  float v128 = poot_fadd(v127, v125);
  float v129 = poot_fadd(v124, v128);
  bool v131 = poot_fless(v129, -151.0f);
  bool v133 = poot_fless(129.0f, v129);
  uint v134 = poot_to_bits(v124);
  uint v136 = v133 ? 0x43010000u : v134;
  float v137 = poot_from_bits(v136);
  uint v138 = poot_to_bits(v137);
  uint v140 = v131 ? 0xc37e0000u : v138;
  float v141 = poot_from_bits(v140);
  bool v142 = v131 || v133;
  uint v143 = poot_to_bits(v128);
  uint v145 = v142 ? 0u : v143;
  float v146 = poot_from_bits(v145);
  float v147 = poot_fadd(v141, v146);
  float v149 = poot_fadd(v147, poot_from_bits(0x4b4000feu));
  float v151 = poot_fsub(v149, poot_from_bits(0x4b4000feu));
  float v152 = poot_fsub(v141, v151);
  float v153 = poot_fadd(v152, v146);
  float v155 = poot_fmul(poot_from_bits(0x390bd037u), v153);
  float v157 = poot_fadd(v155, poot_from_bits(0x3aaf7a6fu));
  float v158 = poot_fmul(v157, v153);
  float v160 = poot_fadd(v158, poot_from_bits(0x3c1db40bu));
  float v161 = poot_fmul(v160, v153);
  float v163 = poot_fadd(v161, poot_from_bits(0x3d6357cfu));
  float v164 = poot_fmul(v163, v153);
  float v166 = poot_fadd(v164, poot_from_bits(0x3e75fdcau));
  float v167 = poot_fmul(v166, v153);
  float v169 = poot_fadd(v167, poot_from_bits(0x3f317218u));
  uint v170 = poot_to_bits(v149);
  float v171 = poot_fmul(v153, v169);
  float v173 = poot_fadd(1.0f, v171);
  uint v175 = v170 >> 1u;
  uint v176 = v170 - v175;
  uint v178 = v176 << 23u;
  float v179 = poot_from_bits(v178);
  uint v181 = v175 << 23u;
  float v182 = poot_from_bits(v181);
  float v183 = poot_fmul(v173, v182);
  float v184 = poot_fmul(v183, v179);
  bool v186 = v4 == 0u;
  bool v188 = v4 == 0x7f800000u;
  bool v190 = int(v2) < int(0u);
  bool v192 = int(v5) < int(0u);
  bool v194 = v7 < 0x4b800000u;
  uint v195 = poot_to_bits(p1);
  uint v197 = v194 ? v195 : 0u;
  float v198 = poot_from_bits(v197);
  uint v199 = uint(int(v198));
  float v200 = float(int(v199));
  bool v201 = poot_fequal(v200, v198);
  uint v203 = v199 & 1u;
  bool v205 = v203 == 1u;
  bool v206 = v205 && v201;
  bool v207 = v186 && v192;
  bool v208 = !v192;
  bool v209 = v188 && v208;
  bool v210 = v209 || v207;
  uint v213 = v210 ? 0x7f800000u : 0u;
  float v214 = poot_from_bits(v213);
  bool v215 = v186 || v188;
  uint v216 = poot_to_bits(v184);
  uint v217 = poot_to_bits(v214);
  uint v218 = v215 ? v217 : v216;
  float v219 = poot_from_bits(v218);
  bool v220 = v190 && v206;
  uint v223 = v220 ? 0x80000000u : 0u;
  uint v224 = poot_to_bits(v219);
  uint v225 = v224 | v223;
  float v226 = poot_from_bits(v225);
  bool v227 = v201 || v186;
  bool v228 = v227 || v188;
  bool v229 = !v228;
  bool v230 = v190 && v229;
  uint v231 = poot_to_bits(v226);
  uint v233 = v230 ? 0x7fc00000u : v231;
  float v234 = poot_from_bits(v233);
  uint v235 = poot_to_bits(p1);
  uint v237 = v235 & 0x7fffffffu;
  bool v239 = 0x7f800000u < v237;
  uint v240 = poot_to_bits(v234);
  uint v242 = v239 ? 0x7fc00000u : v240;
  float v243 = poot_from_bits(v242);
  uint v244 = poot_to_bits(p0);
  uint v246 = v244 & 0x7fffffffu;
  bool v248 = 0x7f800000u < v246;
  uint v249 = poot_to_bits(v243);
  uint v251 = v248 ? 0x7fc00000u : v249;
  float v252 = poot_from_bits(v251);
  bool v254 = v2 == 0x3f800000u;
  uint v255 = poot_to_bits(v252);
  uint v257 = v254 ? 0x3f800000u : v255;
  float v258 = poot_from_bits(v257);
  bool v260 = v7 == 0u;
  uint v261 = poot_to_bits(v258);
  uint v263 = v260 ? 0x3f800000u : v261;
  float v264 = poot_from_bits(v263);
  return v264;
}

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
    float v13 = poot_from_bits(v10);  // %2
    float v14 = poot_from_bits(v12);
    float v16 = poot_exp(v13);
    uint v17 = poot_to_bits(v16);
    uint v18 = poot_to_bits(v16);
    uint v20 = v18 & 0x7fffffffu;
    bool v22 = 0x7f800000u < v20;
    uint v24 = v22 ? 0x7fc00000u : v17;
    b1[v4] = v24;
    float v27 = poot_log(v13);
    uint v28 = poot_to_bits(v27);
    uint v29 = poot_to_bits(v27);
    uint v31 = v29 & 0x7fffffffu;
    bool v33 = 0x7f800000u < v31;
    uint v35 = v33 ? 0x7fc00000u : v28;
    uint v36 = v4 + v5;
    b1[v36] = v35;
    float v39 = poot_tanh(v13);
    uint v40 = poot_to_bits(v39);
    uint v41 = poot_to_bits(v39);
    uint v43 = v41 & 0x7fffffffu;
    bool v45 = 0x7f800000u < v43;
    uint v47 = v45 ? 0x7fc00000u : v40;
    uint v49 = v5 * 2u;
    uint v50 = v4 + v49;
    b1[v50] = v47;
    float v53 = poot_erf(v13);
    uint v54 = poot_to_bits(v53);
    uint v55 = poot_to_bits(v53);
    uint v57 = v55 & 0x7fffffffu;
    bool v59 = 0x7f800000u < v57;
    uint v61 = v59 ? 0x7fc00000u : v54;
    uint v63 = v5 * 3u;
    uint v64 = v4 + v63;
    b1[v64] = v61;
    float v67 = poot_sin(v13);
    uint v68 = poot_to_bits(v67);
    uint v69 = poot_to_bits(v67);
    uint v71 = v69 & 0x7fffffffu;
    bool v73 = 0x7f800000u < v71;
    uint v75 = v73 ? 0x7fc00000u : v68;
    uint v77 = v5 * 4u;
    uint v78 = v4 + v77;
    b1[v78] = v75;
    float v81 = poot_cos(v13);
    uint v82 = poot_to_bits(v81);
    uint v83 = poot_to_bits(v81);
    uint v85 = v83 & 0x7fffffffu;
    bool v87 = 0x7f800000u < v85;
    uint v89 = v87 ? 0x7fc00000u : v82;
    uint v91 = v5 * 5u;
    uint v92 = v4 + v91;
    b1[v92] = v89;
    float v96 = poot_pow(v13, v14);
    uint v97 = poot_to_bits(v96);
    uint v98 = poot_to_bits(v96);
    uint v100 = v98 & 0x7fffffffu;
    bool v102 = 0x7f800000u < v100;
    uint v104 = v102 ? 0x7fc00000u : v97;
    uint v106 = v5 * 6u;
    uint v107 = v4 + v106;
    b1[v107] = v104;
  }
}

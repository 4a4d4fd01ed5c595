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

static inline float poot_exp(float p0) {
  bool v4 = poot_fless(p0, -104.0f);
  uint v6 = poot_to_bits(p0);
  uint v7 = v4 ? 0xc3300000u : v6;
  float v8 = poot_from_bits(v7);
  bool v9 = poot_fless(89.0f, v8);
  uint v11 = poot_to_bits(v8);
  uint v12 = v9 ? 0x42b20000u : v11;
  float v13 = poot_from_bits(v12);
  float v15 = poot_fmul(v13, poot_from_bits(0x3fb8aa3bu));
  float v17 = poot_fadd(v15, poot_from_bits(0x4b4000feu));
  float v18 = poot_fsub(v17, poot_from_bits(0x4b4000feu));
  float v20 = poot_fmul(v18, poot_from_bits(0x3f317200u));
  float v21 = poot_fsub(v13, v20);
  float v23 = poot_fmul(v18, poot_from_bits(0x35bfbe8eu));
  float v24 = poot_fsub(v21, v23);
  float v25 = poot_fmul(v24, v24);
  float v27 = poot_fmul(poot_from_bits(0x3ab563e9u), v24);
  float v29 = poot_fadd(v27, poot_from_bits(0x3c091ef6u));
  float v30 = poot_fmul(v29, v24);
  float v32 = poot_fadd(v30, poot_from_bits(0x3d2aac2cu));
  float v33 = poot_fmul(v32, v24);
  float v35 = poot_fadd(v33, poot_from_bits(0x3e2aaa46u));
  float v36 = poot_fmul(v35, v24);
  float v38 = poot_fadd(v36, poot_from_bits(0x3efffffeu));
  float v39 = poot_fmul(v25, v38);
  float v40 = poot_fadd(v24, v39);
  float v41 = poot_fadd(1.0f, v40);
  uint v42 = poot_to_bits(v17);
  uint v44 = v42 >> 1u;
  uint v46 = v44 << 23u;
  float v47 = poot_from_bits(v46);
  float v48 = poot_fmul(v41, v47);
  uint v49 = v42 - v44;
  uint v50 = v49 << 23u;
  float v51 = poot_from_bits(v50);
  float v52 = poot_fmul(v48, v51);
  return v52;
}

static inline float poot_log(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 - 1u;
  bool v5 = v3 < 0x7f7fffffu;
  bool v7 = v1 < 0x800000u;
  float v9 = poot_fmul(p0, poot_from_bits(0x4b000000u));
  uint v10 = poot_to_bits(v9);
  uint v11 = v7 ? v10 : v1;
  float v12 = poot_from_bits(v11);
  uint v13 = poot_to_bits(v12);
  uint v15 = v13 + 0x4afb0du;
  uint v17 = v15 & 0x7fffffu;
  uint v19 = v17 + 0x3f3504f3u;
  float v20 = poot_from_bits(v19);
  float v22 = poot_fsub(v20, 1.0f);
  float v23 = poot_fmul(v22, v22);
  float v24 = poot_fmul(v22, v23);
  float v26 = poot_fmul(poot_from_bits(0xbd9d0f4cu), v22);
  float v28 = poot_fadd(v26, poot_from_bits(0x3e02ea26u));
  float v29 = poot_fmul(v28, v22);
  float v31 = poot_fadd(v29, poot_from_bits(0xbe06c79du));
  float v32 = poot_fmul(v31, v22);
  float v34 = poot_fadd(v32, poot_from_bits(0x3e116b0eu));
  float v35 = poot_fmul(v34, v22);
  float v37 = poot_fadd(v35, poot_from_bits(0xbe2a390cu));
  float v38 = poot_fmul(v37, v22);
  float v40 = poot_fadd(v38, poot_from_bits(0x3e4cd01au));
  float v41 = poot_fmul(v40, v22);
  float v43 = poot_fadd(v41, poot_from_bits(0xbe800114u));
  float v44 = poot_fmul(v43, v22);
  float v46 = poot_fadd(v44, poot_from_bits(0x3eaaaaaau));
  float v47 = poot_fmul(v24, v46);
  uint v49 = v15 >> 23u;
  uint v52 = v7 ? 150u : 127u;
  uint v53 = v49 - v52;
  float v54 = float(int(v53));
  float v56 = poot_fmul(v54, poot_from_bits(0x35bfbe8eu));
  float v57 = poot_fadd(v47, v56);
  float v59 = poot_fmul(v23, poot_from_bits(0x3f000000u));
  float v60 = poot_fsub(v57, v59);
  float v61 = poot_fadd(v22, v60);
  float v63 = poot_fmul(v54, poot_from_bits(0x3f317200u));
  float v64 = poot_fadd(v61, v63);
  uint v65 = poot_to_bits(v64);
  bool v67 = v1 == 0x7f800000u;
  uint v68 = v1 << 1u;
  bool v70 = v68 == 0u;
  uint v73 = v70 ? 0xff800000u : 0x7fc00000u;
  float v74 = poot_from_bits(v73);
  uint v75 = poot_to_bits(v74);
  uint v76 = v67 ? 0x7f800000u : v75;
  float v77 = poot_from_bits(v76);
  uint v78 = poot_to_bits(v77);
  uint v79 = v5 ? v65 : v78;
  float v80 = poot_from_bits(v79);
  return v80;
}

static inline float poot_tanh(float p0) {
  uint v2 = poot_to_bits(p0);
  uint v4 = v2 & 0x7fffffffu;
  float v5 = poot_from_bits(v4);
  bool v6 = poot_fless(poot_from_bits(0x41180000u), v5);
  uint v8 = poot_to_bits(v5);
  uint v9 = v6 ? 0x41180000u : v8;
  float v10 = poot_from_bits(v9);
  bool v12 = poot_fless(v10, poot_from_bits(0x3ea00000u));
  float v13 = poot_fmul(v10, v10);
  float v14 = poot_fmul(v13, v10);
  float v16 = poot_fmul(poot_from_bits(0xbd4d1edau), v13);
  float v18 = poot_fadd(v16, poot_from_bits(0x3e084fd7u));
  float v19 = poot_fmul(v18, v13);
  float v21 = poot_fadd(v19, poot_from_bits(0xbeaaaa37u));
  float v22 = poot_fmul(v14, v21);
  float v23 = poot_fadd(v10, v22);
  uint v24 = poot_to_bits(v23);
  float v25 = poot_fadd(v10, v10);
  float v27 = poot_fmul(v25, poot_from_bits(0x3fb8aa3bu));
  float v29 = poot_fadd(v27, poot_from_bits(0x4b40007fu));
  uint v30 = poot_to_bits(v29);
  uint v32 = v30 << 23u;
  float v33 = poot_from_bits(v32);
  float v34 = poot_fsub(v29, poot_from_bits(0x4b40007fu));
  float v36 = poot_fmul(v34, poot_from_bits(0x3f317200u));
  float v37 = poot_fsub(v25, v36);
  float v39 = poot_fmul(v34, poot_from_bits(0x35bfbe8eu));
  float v40 = poot_fsub(v37, v39);
  float v41 = poot_fmul(v40, v40);
  float v43 = poot_fmul(poot_from_bits(0x3ab563e9u), v40);
  float v45 = poot_fadd(v43, poot_from_bits(0x3c091ef6u));
  float v46 = poot_fmul(v45, v40);
  float v48 = poot_fadd(v46, poot_from_bits(0x3d2aac2cu));
  float v49 = poot_fmul(v48, v40);
  float v51 = poot_fadd(v49, poot_from_bits(0x3e2aaa46u));
  float v52 = poot_fmul(v51, v40);
  float v54 = poot_fadd(v52, poot_from_bits(0x3efffffeu));
  float v55 = poot_fmul(v41, v54);
  float v56 = poot_fadd(v40, v55);
  float v57 = poot_fmul(v33, v56);
  float v59 = poot_fsub(v33, 1.0f);
  float v60 = poot_fadd(v57, v59);
  float v62 = poot_fadd(v60, 2.0f);
  float v63 = poot_fdiv(v60, v62);
  uint v64 = poot_to_bits(v63);
  uint v65 = v12 ? v24 : v64;
  float v66 = poot_from_bits(v65);
  uint v67 = poot_to_bits(v66);
  uint v69 = v2 & 0x80000000u;
  uint v70 = v67 | v69;
  float v71 = poot_from_bits(v70);
  return v71;
}

static inline float poot_erf(float p0) {
  uint v2 = poot_to_bits(p0);
  uint v4 = v2 & 0x7fffffffu;
  float v5 = poot_from_bits(v4);
  bool v6 = poot_fless(4.0f, v5);
  uint v8 = poot_to_bits(v5);
  uint v9 = v6 ? 0x40800000u : v8;
  float v10 = poot_from_bits(v9);
  bool v12 = poot_fless(v10, poot_from_bits(0x3f6c0000u));
  float v14 = poot_fmul(v10, v10);
  float v15 = poot_fmul(poot_from_bits(0xba1d2471u), v14);
  float v17 = poot_fadd(v15, poot_from_bits(0x3ba3a507u));
  float v18 = poot_fmul(v17, v14);
  float v20 = poot_fadd(v18, poot_from_bits(0xbcdb4733u));
  float v21 = poot_fmul(v20, v14);
  float v23 = poot_fadd(v21, poot_from_bits(0x3de70d5au));
  float v24 = poot_fmul(v23, v14);
  float v26 = poot_fadd(v24, poot_from_bits(0xbec09374u));
  float v27 = poot_fmul(v26, v14);
  float v29 = poot_fadd(v27, poot_from_bits(0x3e0375d3u));
  float v30 = poot_fmul(p0, v29);
  float v31 = poot_fadd(p0, v30);
  uint v32 = poot_to_bits(v31);
  float v35 = poot_fmul(poot_from_bits(0x394d39eeu), v10);
  float v37 = poot_fadd(v35, poot_from_bits(0xbb474cdfu));
  float v38 = poot_fmul(v37, v10);
  float v40 = poot_fadd(v38, poot_from_bits(0x3cb6036bu));
  float v41 = poot_fmul(v40, v10);
  float v43 = poot_fadd(v41, poot_from_bits(0xbdd4d0dfu));
  float v44 = poot_fmul(v43, v10);
  float v46 = poot_fadd(v44, poot_from_bits(0xbf231fb0u));
  float v47 = poot_fmul(v46, v10);
  float v49 = poot_fadd(v47, poot_from_bits(0xbf905749u));
  float v50 = poot_fmul(v49, v10);
  float v52 = poot_fadd(v50, poot_from_bits(0xb95034d3u));
  float v54 = poot_fmul(v52, poot_from_bits(0x3fb8aa3bu));
  float v56 = poot_fadd(v54, poot_from_bits(0x4b40007fu));
  float v57 = poot_fsub(v56, poot_from_bits(0x4b40007fu));
  float v59 = poot_fmul(v57, poot_from_bits(0x3f317200u));
  float v60 = poot_fsub(v52, v59);
  float v62 = poot_fmul(v57, poot_from_bits(0x35bfbe8eu));
  float v63 = poot_fsub(v60, v62);
  float v64 = poot_fmul(v63, v63);
  float v66 = poot_fmul(poot_from_bits(0x3ab563e9u), v63);
  float v68 = poot_fadd(v66, poot_from_bits(0x3c091ef6u));
  float v69 = poot_fmul(v68, v63);
  float v71 = poot_fadd(v69, poot_from_bits(0x3d2aac2cu));
  float v72 = poot_fmul(v71, v63);
  float v74 = poot_fadd(v72, poot_from_bits(0x3e2aaa46u));
  float v75 = poot_fmul(v74, v63);
  float v77 = poot_fadd(v75, poot_from_bits(0x3efffffeu));
  float v78 = poot_fmul(v64, v77);
  float v79 = poot_fadd(v63, v78);
  float v80 = poot_fadd(1.0f, v79);
  uint v81 = poot_to_bits(v56);
  uint v83 = v81 << 23u;
  float v84 = poot_from_bits(v83);
  float v85 = poot_fmul(v80, v84);
  float v86 = poot_fsub(1.0f, v85);
  uint v87 = poot_to_bits(v86);
  uint v89 = v2 & 0x80000000u;
  uint v90 = v87 | v89;
  float v91 = poot_from_bits(v90);
  uint v92 = poot_to_bits(v91);
  uint v93 = v12 ? v32 : v92;
  float v94 = poot_from_bits(v93);
  return v94;
}

static inline float poot_sin(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x7fffffffu;
  float v4 = poot_from_bits(v3);
  uint v5 = poot_to_bits(v4);
  bool v7 = v5 < 0x7f800000u;
  bool v9 = poot_fless(v4, poot_from_bits(0x49c00000u));
  uint v11 = v9 ? v5 : 0u;
  float v12 = poot_from_bits(v11);
  float v14 = poot_fmul(v12, poot_from_bits(0x3f22f983u));
  float v16 = poot_fadd(v14, poot_from_bits(0x4b400000u));
  uint v17 = poot_to_bits(v16);
  uint v19 = v17 & 1u;
  bool v20 = v19 == 0u;
  float v21 = poot_fsub(v16, poot_from_bits(0x4b400000u));
  float v23 = poot_fadd(v21, poot_from_bits(0x50400000u));
  float v24 = poot_fsub(v23, poot_from_bits(0x50400000u));
  float v26 = poot_fmul(v24, poot_from_bits(0x3fc90c00u));
  float v27 = poot_fsub(v12, v26);
  float v28 = poot_fsub(v21, v24);
  float v29 = poot_fmul(v28, poot_from_bits(0x3fc90c00u));
  float v30 = poot_fsub(v27, v29);
  float v32 = poot_fmul(v24, poot_from_bits(0x38f6a800u));
  float v33 = poot_fsub(v30, v32);
  float v34 = poot_fmul(v28, poot_from_bits(0x38f6a800u));
  float v35 = poot_fsub(v33, v34);
  float v37 = poot_fmul(v24, poot_from_bits(0x30885800u));
  float v38 = poot_fsub(v35, v37);
  float v39 = poot_fmul(v28, poot_from_bits(0x30885800u));
  float v40 = poot_fsub(v38, v39);
  float v41 = poot_fsub(v33, v35);
  float v42 = poot_fsub(v41, v34);
  float v43 = poot_fsub(v35, v38);
  float v44 = poot_fsub(v43, v37);
  float v45 = poot_fadd(v42, v44);
  float v46 = poot_fsub(v38, v40);
  float v47 = poot_fsub(v46, v39);
  float v48 = poot_fadd(v45, v47);
  float v50 = poot_fmul(v21, poot_from_bits(0x298c234cu));
  float v51 = poot_fsub(v48, v50);
  float v52 = poot_fadd(v40, v51);
  float v53 = poot_fmul(v52, v52);
  float v54 = poot_fmul(v53, v52);
  float v56 = poot_fmul(poot_from_bits(0xb94c8e15u), v53);
  float v58 = poot_fadd(v56, poot_from_bits(0x3c088363u));
  float v59 = poot_fmul(v58, v53);
  float v61 = poot_fadd(v59, poot_from_bits(0xbe2aaaa2u));
  float v62 = poot_fmul(v54, v61);
  float v63 = poot_fadd(v52, v62);
  uint v64 = poot_to_bits(v63);
  float v67 = poot_fmul(v53, poot_from_bits(0x3f000000u));
  float v68 = poot_fsub(1.0f, v67);
  float v69 = poot_fmul(v53, v53);
  float v71 = poot_fmul(poot_from_bits(0x37ccefb0u), v53);
  float v73 = poot_fadd(v71, poot_from_bits(0xbab6060bu));
  float v74 = poot_fmul(v73, v53);
  float v76 = poot_fadd(v74, poot_from_bits(0x3d2aaaa5u));
  float v77 = poot_fmul(v69, v76);
  float v78 = poot_fadd(v68, v77);
  uint v79 = poot_to_bits(v78);
  uint v80 = v20 ? v64 : v79;
  float v81 = poot_from_bits(v80);
  uint v82 = poot_to_bits(v81);
  uint v84 = v17 & 2u;
  uint v86 = v84 << 30u;
  uint v87 = v82 ^ v86;
  float v88 = poot_from_bits(v87);
  uint v89 = poot_to_bits(v88);
  uint v91 = v7 ? v89 : 0x7fc00000u;
  float v92 = poot_from_bits(v91);
  uint v93 = poot_to_bits(v92);
  uint v95 = v1 & 0x80000000u;
  uint v96 = v93 ^ v95;
  float v97 = poot_from_bits(v96);
  return v97;
}

static inline float poot_cos(float p0) {
  uint v1 = poot_to_bits(p0);
  uint v3 = v1 & 0x7fffffffu;
  float v4 = poot_from_bits(v3);
  uint v5 = poot_to_bits(v4);
  bool v7 = v5 < 0x7f800000u;
  bool v9 = poot_fless(v4, poot_from_bits(0x49c00000u));
  uint v11 = v9 ? v5 : 0u;
  float v12 = poot_from_bits(v11);
  float v14 = poot_fmul(v12, poot_from_bits(0x3f22f983u));
  float v16 = poot_fadd(v14, poot_from_bits(0x4b400000u));
  uint v17 = poot_to_bits(v16);
  uint v19 = v17 + 1u;
  uint v20 = v19 & 1u;
  bool v21 = v20 == 0u;
  float v22 = poot_fsub(v16, poot_from_bits(0x4b400000u));
  float v24 = poot_fadd(v22, poot_from_bits(0x50400000u));
  float v25 = poot_fsub(v24, poot_from_bits(0x50400000u));
  float v27 = poot_fmul(v25, poot_from_bits(0x3fc90c00u));
  float v28 = poot_fsub(v12, v27);
  float v29 = poot_fsub(v22, v25);
  float v30 = poot_fmul(v29, poot_from_bits(0x3fc90c00u));
  float v31 = poot_fsub(v28, v30);
  float v33 = poot_fmul(v25, poot_from_bits(0x38f6a800u));
  float v34 = poot_fsub(v31, v33);
  float v35 = poot_fmul(v29, poot_from_bits(0x38f6a800u));
  float v36 = poot_fsub(v34, v35);
  float v38 = poot_fmul(v25, poot_from_bits(0x30885800u));
  float v39 = poot_fsub(v36, v38);
  float v40 = poot_fmul(v29, poot_from_bits(0x30885800u));
  float v41 = poot_fsub(v39, v40);
  float v42 = poot_fsub(v34, v36);
  float v43 = poot_fsub(v42, v35);
  float v44 = poot_fsub(v36, v39);
  float v45 = poot_fsub(v44, v38);
  float v46 = poot_fadd(v43, v45);
  float v47 = poot_fsub(v39, v41);
  float v48 = poot_fsub(v47, v40);
  float v49 = poot_fadd(v46, v48);
  float v51 = poot_fmul(v22, poot_from_bits(0x298c234cu));
  float v52 = poot_fsub(v49, v51);
  float v53 = poot_fadd(v41, v52);
  float v54 = poot_fmul(v53, v53);
  float v55 = poot_fmul(v54, v53);
  float v57 = poot_fmul(poot_from_bits(0xb94c8e15u), v54);
  float v59 = poot_fadd(v57, poot_from_bits(0x3c088363u));
  float v60 = poot_fmul(v59, v54);
  float v62 = poot_fadd(v60, poot_from_bits(0xbe2aaaa2u));
  float v63 = poot_fmul(v55, v62);
  float v64 = poot_fadd(v53, v63);
  uint v65 = poot_to_bits(v64);
  float v68 = poot_fmul(v54, poot_from_bits(0x3f000000u));
  float v69 = poot_fsub(1.0f, v68);
  float v70 = poot_fmul(v54, v54);
  float v72 = poot_fmul(poot_from_bits(0x37ccefb0u), v54);
  float v74 = poot_fadd(v72, poot_from_bits(0xbab6060bu));
  float v75 = poot_fmul(v74, v54);
  float v77 = poot_fadd(v75, poot_from_bits(0x3d2aaaa5u));
  float v78 = poot_fmul(v70, v77);
  float v79 = poot_fadd(v69, v78);
  uint v80 = poot_to_bits(v79);
  uint v81 = v21 ? v65 : v80;
  float v82 = poot_from_bits(v81);
  uint v83 = poot_to_bits(v82);
  uint v85 = v19 & 2u;
  uint v87 = v85 << 30u;
  uint v88 = v83 ^ v87;
  float v89 = poot_from_bits(v88);
  uint v90 = poot_to_bits(v89);
  uint v92 = v7 ? v90 : 0x7fc00000u;
  float v93 = poot_from_bits(v92);
  return v93;
}

static inline float poot_pow(float p0, float p1) {
  uint v2 = poot_to_bits(p1);
  uint v4 = v2 & 0x7fffffffu;
  bool v6 = v4 == 0u;
  uint v8 = poot_to_bits(p0);
  bool v9 = v8 == 0x3f800000u;
  uint v11 = v8 & 0x7fffffffu;
  bool v12 = 0x7f800000u < v11;
  bool v14 = 0x7f800000u < v4;
  bool v15 = int(v8) < int(0u);
  bool v17 = v4 < 0x4b800000u;
  uint v18 = v17 ? v2 : 0u;
  float v19 = poot_from_bits(v18);
  uint v20 = uint(int(v19));
  float v21 = float(int(v20));
  bool v22 = poot_fequal(v21, v19);
  bool v23 = v11 == 0u;
  bool v24 = v22 || v23;
  bool v25 = v11 == 0x7f800000u;
  bool v26 = v24 || v25;
  bool v27 = !v26;
  bool v28 = v15 && v27;
  bool v29 = v23 || v25;
  bool v30 = int(v2) < int(0u);
  bool v31 = !v30;
  bool v32 = v25 && v31;
  bool v33 = v23 && v30;
  bool v34 = v32 || v33;
  uint v35 = v34 ? 0x7f800000u : 0u;
  float v36 = poot_from_bits(v35);
  uint v37 = poot_to_bits(v36);
  bool v41 = poot_fless(p1, poot_from_bits(0xcf000000u));
  uint v43 = v41 ? 0xcf000000u : v2;
  float v44 = poot_from_bits(v43);
  bool v45 = poot_fless(poot_from_bits(0x4f000000u), v44);
  uint v47 = poot_to_bits(v44);
  uint v48 = v45 ? 0x4f000000u : v47;
  float v49 = poot_from_bits(v48);
  uint v50 = poot_to_bits(v49);
  uint v52 = v50 & 0xfffff000u;
  float v53 = poot_from_bits(v52);
  bool v55 = v11 < 0x800000u;
  float v56 = poot_from_bits(v11);
  float v58 = poot_fmul(v56, poot_from_bits(0x4b000000u));
  uint v59 = poot_to_bits(v58);
  uint v60 = poot_to_bits(v56);
  uint v61 = v55 ? v59 : v60;
  float v62 = poot_from_bits(v61);
  uint v63 = poot_to_bits(v62);
  uint v65 = v63 + 0x4afb0du;
  uint v67 = v65 & 0x7fffffu;
  uint v69 = v67 + 0x3f3504f3u;
  float v70 = poot_from_bits(v69);
  float v71 = poot_fsub(v70, 1.0f);
  float v72 = poot_fadd(v70, 1.0f);
  float v73 = poot_fdiv(1.0f, v72);
  float v74 = poot_fmul(v71, v73);
  uint v75 = poot_to_bits(v74);
  uint v76 = v75 & 0xfffff000u;
  float v77 = poot_from_bits(v76);
  float v79 = poot_fmul(v77, v77);
  float v80 = poot_fadd(3.0f, v79);
  float v81 = poot_fmul(v74, v74);
  float v82 = poot_fmul(v81, v81);
  float v84 = poot_fmul(poot_from_bits(0x3eb3dd0fu), v81);
  float v86 = poot_fadd(v84, poot_from_bits(0x3edb3ddcu));
  float v87 = poot_fmul(v86, v81);
  float v89 = poot_fadd(v87, poot_from_bits(0x3f1999c0u));
  float v90 = poot_fmul(v82, v89);
  uint v91 = poot_to_bits(v72);
  uint v92 = v91 & 0xfffff000u;
  float v93 = poot_from_bits(v92);
  float v94 = poot_fmul(v77, v93);
  float v95 = poot_fsub(v71, v94);
  float v96 = poot_fsub(v93, 1.0f);
  float v97 = poot_fsub(v70, v96);
  float v98 = poot_fmul(v77, v97);
  float v99 = poot_fsub(v95, v98);
  float v100 = poot_fmul(v73, v99);
  float v101 = poot_fadd(v77, v74);
  float v102 = poot_fmul(v100, v101);
  float v103 = poot_fadd(v90, v102);
  float v104 = poot_fadd(v80, v103);
  uint v105 = poot_to_bits(v104);
  uint v106 = v105 & 0xfffff000u;
  float v107 = poot_from_bits(v106);
  float v108 = poot_fmul(v77, v107);
  float v109 = poot_fmul(v100, v107);
  float v110 = poot_fsub(v107, 3.0f);
  float v111 = poot_fsub(v110, v79);
  float v112 = poot_fsub(v103, v111);
  float v113 = poot_fmul(v112, v74);
  float v114 = poot_fadd(v109, v113);
  float v115 = poot_fadd(v108, v114);
  uint v116 = poot_to_bits(v115);
  uint v117 = v116 & 0xfffff000u;
  float v118 = poot_from_bits(v117);
  float v120 = poot_fmul(v118, poot_from_bits(0x3f763000u));
  float v122 = poot_fmul(v118, poot_from_bits(0x3904ee1du));
  float v123 = poot_fsub(v118, v108);
  float v124 = poot_fsub(v114, v123);
  float v126 = poot_fmul(v124, poot_from_bits(0x3f76384fu));
  float v127 = poot_fadd(v122, v126);
  float v128 = poot_fadd(v120, v127);
  uint v130 = v65 >> 23u;
  uint v133 = v55 ? 150u : 127u;
  uint v134 = v130 - v133;
  float v135 = float(int(v134));
  float v136 = poot_fadd(v128, v135);
  uint v137 = poot_to_bits(v136);
  uint v138 = v137 & 0xfffff000u;
  float v139 = poot_from_bits(v138);
  float v140 = poot_fmul(v53, v139);
  float v141 = poot_fsub(v49, v53);
  float v142 = poot_fmul(v141, v139);
  float v143 = poot_fsub(v139, v135);
  float v144 = poot_fsub(v143, v120);
  float v145 = poot_fsub(v127, v144);
  float v146 = poot_fmul(v49, v145);
  float v147 = poot_fadd(v142, v146);
  float v148 = poot_fadd(v140, v147);
  bool v150 = poot_fless(v148, -151.0f);
  bool v153 = poot_fless(129.0f, v148);
  uint v155 = poot_to_bits(v140);
  uint v156 = v153 ? 0x43010000u : v155;
  float v157 = poot_from_bits(v156);
  uint v158 = poot_to_bits(v157);
  uint v159 = v150 ? 0xc37e0000u : v158;
  float v160 = poot_from_bits(v159);
  bool v161 = v150 || v153;
  uint v162 = poot_to_bits(v147);
  uint v163 = v161 ? 0u : v162;
  float v164 = poot_from_bits(v163);
  float v165 = poot_fadd(v160, v164);
  float v167 = poot_fadd(v165, poot_from_bits(0x4b4000feu));
  float v168 = poot_fsub(v167, poot_from_bits(0x4b4000feu));
  float v169 = poot_fsub(v160, v168);
  float v170 = poot_fadd(v169, v164);
  float v172 = poot_fmul(poot_from_bits(0x390bd037u), v170);
  float v174 = poot_fadd(v172, poot_from_bits(0x3aaf7a6fu));
  float v175 = poot_fmul(v174, v170);
  float v177 = poot_fadd(v175, poot_from_bits(0x3c1db40bu));
  float v178 = poot_fmul(v177, v170);
  float v180 = poot_fadd(v178, poot_from_bits(0x3d6357cfu));
  float v181 = poot_fmul(v180, v170);
  float v183 = poot_fadd(v181, poot_from_bits(0x3e75fdcau));
  float v184 = poot_fmul(v183, v170);
  float v186 = poot_fadd(v184, poot_from_bits(0x3f317218u));
  float v187 = poot_fmul(v170, v186);
  float v188 = poot_fadd(1.0f, v187);
  uint v189 = poot_to_bits(v167);
  uint v191 = v189 >> 1u;
  uint v192 = v191 << 23u;
  float v193 = poot_from_bits(v192);
  float v194 = poot_fmul(v188, v193);
  uint v195 = v189 - v191;
  uint v196 = v195 << 23u;
  float v197 = poot_from_bits(v196);
  float v198 = poot_fmul(v194, v197);
  uint v199 = poot_to_bits(v198);
  uint v200 = v29 ? v37 : v199;
  float v201 = poot_from_bits(v200);
  uint v202 = poot_to_bits(v201);
  uint v203 = v20 & 1u;
  bool v204 = v203 == 1u;
  bool v205 = v204 && v22;
  bool v206 = v15 && v205;
  uint v208 = v206 ? 0x80000000u : 0u;
  uint v209 = v202 | v208;
  float v210 = poot_from_bits(v209);
  uint v211 = poot_to_bits(v210);
  uint v212 = v28 ? 0x7fc00000u : v211;
  float v213 = poot_from_bits(v212);
  uint v214 = poot_to_bits(v213);
  uint v215 = v14 ? 0x7fc00000u : v214;
  float v216 = poot_from_bits(v215);
  uint v217 = poot_to_bits(v216);
  uint v218 = v12 ? 0x7fc00000u : v217;
  float v219 = poot_from_bits(v218);
  uint v220 = poot_to_bits(v219);
  uint v221 = v9 ? 0x3f800000u : v220;
  float v222 = poot_from_bits(v221);
  uint v223 = poot_to_bits(v222);
  uint v224 = v6 ? 0x3f800000u : v223;
  float v225 = poot_from_bits(v224);
  return v225;
}

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
    float v16 = poot_exp(v14);
    uint v17 = poot_to_bits(v16);
    uint v19 = v17 & 0x7fffffffu;
    bool v20 = 0x7f800000u < v19;
    uint v22 = v20 ? 0x7fc00000u : v17;
    b1[v4] = v22;
    uint v24 = v4 + v5;
    float v26 = poot_log(v14);
    uint v27 = poot_to_bits(v26);
    uint v28 = v27 & 0x7fffffffu;
    bool v29 = 0x7f800000u < v28;
    uint v30 = v29 ? 0x7fc00000u : v27;
    b1[v24] = v30;
    uint v33 = v5 * 2u;
    uint v34 = v4 + v33;
    float v36 = poot_tanh(v14);
    uint v37 = poot_to_bits(v36);
    uint v38 = v37 & 0x7fffffffu;
    bool v39 = 0x7f800000u < v38;
    uint v40 = v39 ? 0x7fc00000u : v37;
    b1[v34] = v40;
    uint v43 = v5 * 3u;
    uint v44 = v4 + v43;
    float v46 = poot_erf(v14);
    uint v47 = poot_to_bits(v46);
    uint v48 = v47 & 0x7fffffffu;
    bool v49 = 0x7f800000u < v48;
    uint v50 = v49 ? 0x7fc00000u : v47;
    b1[v44] = v50;
    uint v53 = v5 * 4u;
    uint v54 = v4 + v53;
    float v56 = poot_sin(v14);
    uint v57 = poot_to_bits(v56);
    uint v58 = v57 & 0x7fffffffu;
    bool v59 = 0x7f800000u < v58;
    uint v60 = v59 ? 0x7fc00000u : v57;
    b1[v54] = v60;
    uint v63 = v5 * 5u;
    uint v64 = v4 + v63;
    float v66 = poot_cos(v14);
    uint v67 = poot_to_bits(v66);
    uint v68 = v67 & 0x7fffffffu;
    bool v69 = 0x7f800000u < v68;
    uint v70 = v69 ? 0x7fc00000u : v67;
    b1[v64] = v70;
    uint v73 = v5 * 6u;
    uint v74 = v4 + v73;
    float v75 = poot_from_bits(v12);
    float v78 = poot_pow(v14, v75);
    uint v79 = poot_to_bits(v78);
    uint v80 = v79 & 0x7fffffffu;
    bool v81 = 0x7f800000u < v80;
    uint v82 = v81 ? 0x7fc00000u : v79;
    b1[v74] = v82;
  }
}

// bits

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
  uint* const b1 = buffers[1];  // set
  uint* const b2 = buffers[2];  // cleared
  uint v0 = at->group;
  uint v2 = v0 * 32u;
  uint v3 = at->lane;
  uint v4 = v2 + v3;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = b0[v4];
    bool v10 = int(v8) < int(0u);
    uint v13 = v4 & 31u;
    uint v14 = 1u << v13;
    if (v10) {
      uint v17 = v4 >> 5u;
      poot_atomic_or(&b1[v17], v14);
      uint v19 = ~v14;
      poot_atomic_and(&b2[v17], v19);
    }
  }
}

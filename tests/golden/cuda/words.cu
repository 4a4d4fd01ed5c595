// words

typedef unsigned int uint;

// Rounded to nearest and never contracted, whatever the compiler's flags say.
__device__ inline uint poot_to_bits(float x) { return __float_as_uint(x); }
__device__ inline float poot_from_bits(uint bits) { return __uint_as_float(bits); }
__device__ inline float poot_fadd(float a, float b) { return __fadd_rn(a, b); }
__device__ inline float poot_fsub(float a, float b) { return __fsub_rn(a, b); }
__device__ inline float poot_fmul(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float poot_fdiv(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline float poot_fsqrt(float x) { return __fsqrt_rn(x); }
__device__ inline float poot_ffma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline float poot_ffloor(float x) { return floorf(x); }
__device__ inline uint poot_mul_high(uint a, uint b) { return __umulhi(a, b); }

extern "C" __global__ void __launch_bounds__(64) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1) {  // y
  uint v0 = threadIdx.x;  // %1
  uint v1 = blockIdx.x + blockIdx.y * gridDim.x;
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

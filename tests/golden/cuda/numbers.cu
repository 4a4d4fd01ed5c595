// numbers

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
    float v13 = poot_from_bits(v10);  // %2
    float v14 = poot_from_bits(v12);
    float v15 = poot_fadd(v13, v14);
    uint v16 = poot_to_bits(v15);
    uint v17 = poot_to_bits(v15);
    uint v19 = v17 & 0x7fffffffu;
    bool v21 = 0x7f800000u < v19;
    uint v23 = v21 ? 0x7fc00000u : v16;
    b1[v4] = v23;
    float v25 = poot_fsub(v13, v14);
    uint v26 = poot_to_bits(v25);
    uint v27 = poot_to_bits(v25);
    uint v29 = v27 & 0x7fffffffu;
    bool v31 = 0x7f800000u < v29;
    uint v33 = v31 ? 0x7fc00000u : v26;
    uint v34 = v4 + v5;
    b1[v34] = v33;
    float v36 = poot_fmul(v13, v14);
    uint v37 = poot_to_bits(v36);
    uint v38 = poot_to_bits(v36);
    uint v40 = v38 & 0x7fffffffu;
    bool v42 = 0x7f800000u < v40;
    uint v44 = v42 ? 0x7fc00000u : v37;
    uint v46 = v5 * 2u;
    uint v47 = v4 + v46;
    b1[v47] = v44;
    float v49 = poot_fdiv(v13, v14);
    uint v50 = poot_to_bits(v49);
    uint v51 = poot_to_bits(v49);
    uint v53 = v51 & 0x7fffffffu;
    bool v55 = 0x7f800000u < v53;
    uint v57 = v55 ? 0x7fc00000u : v50;
    uint v59 = v5 * 3u;
    uint v60 = v4 + v59;
    b1[v60] = v57;
    float v62 = poot_fsqrt(v13);
    uint v63 = poot_to_bits(v62);
    uint v64 = poot_to_bits(v62);
    uint v66 = v64 & 0x7fffffffu;
    bool v68 = 0x7f800000u < v66;
    uint v70 = v68 ? 0x7fc00000u : v63;
    uint v72 = v5 * 4u;
    uint v73 = v4 + v72;
    b1[v73] = v70;
    float v75 = poot_ffloor(v13);
    uint v76 = poot_to_bits(v75);
    uint v77 = poot_to_bits(v75);
    uint v79 = v77 & 0x7fffffffu;
    bool v81 = 0x7f800000u < v79;
    uint v83 = v81 ? 0x7fc00000u : v76;
    uint v85 = v5 * 5u;
    uint v86 = v4 + v85;
    b1[v86] = v83;
    float v88 = poot_fmul(v13, v14);
    float v89 = poot_fadd(v88, v13);
    uint v90 = poot_to_bits(v89);
    uint v91 = poot_to_bits(v89);
    uint v93 = v91 & 0x7fffffffu;
    bool v95 = 0x7f800000u < v93;
    uint v97 = v95 ? 0x7fc00000u : v90;
    uint v99 = v5 * 6u;
    uint v100 = v4 + v99;
    b1[v100] = v97;
    float v102 = poot_fmul(v14, v13);
    float v103 = poot_fmul(v13, v14);
    float v104 = poot_fsub(v103, v102);
    uint v105 = poot_to_bits(v104);
    uint v106 = poot_to_bits(v104);
    uint v108 = v106 & 0x7fffffffu;
    bool v110 = 0x7f800000u < v108;
    uint v112 = v110 ? 0x7fc00000u : v105;
    uint v114 = v5 * 7u;
    uint v115 = v4 + v114;
    b1[v115] = v112;
    bool v117 = v13 < v14;
    uint v118 = uint(v117);
    uint v120 = v5 * 8u;
    uint v121 = v4 + v120;
    b1[v121] = v118;
    bool v123 = v13 <= v14;
    uint v124 = uint(v123);
    uint v126 = v5 * 9u;
    uint v127 = v4 + v126;
    b1[v127] = v124;
    bool v129 = v13 == v14;
    uint v130 = uint(v129);
    uint v132 = v5 * 10u;
    uint v133 = v4 + v132;
    b1[v133] = v130;
    bool v135 = v13 < v14;
    bool v136 = !v135;
    uint v137 = uint(v136);
    uint v139 = v5 * 11u;
    uint v140 = v4 + v139;
    b1[v140] = v137;
    bool v142 = v13 < v14;
    uint v143 = poot_to_bits(v14);
    uint v144 = poot_to_bits(v13);
    uint v145 = v142 ? v144 : v143;
    float v146 = poot_from_bits(v145);
    uint v147 = poot_to_bits(v146);
    uint v149 = v5 * 12u;
    uint v150 = v4 + v149;
    b1[v150] = v147;
    bool v152 = v13 <= v14;
    float v153 = v152 ? v13 : v14;
    uint v154 = poot_to_bits(v153);
    uint v156 = v5 * 13u;
    uint v157 = v4 + v156;
    b1[v157] = v154;
    float v160 = poot_fmul(v13, -3.0f);
    uint v161 = poot_to_bits(v160);
    uint v162 = poot_to_bits(v160);
    uint v164 = v162 & 0x7fffffffu;
    bool v166 = 0x7f800000u < v164;
    uint v168 = v166 ? 0x7fc00000u : v161;
    uint v170 = v5 * 14u;
    uint v171 = v4 + v170;
    b1[v171] = v168;
    float v174 = poot_fadd(v13, poot_from_bits(0x3dcccccdu));
    uint v175 = poot_to_bits(v174);
    uint v176 = poot_to_bits(v174);
    uint v178 = v176 & 0x7fffffffu;
    bool v180 = 0x7f800000u < v178;
    uint v182 = v180 ? 0x7fc00000u : v175;
    uint v184 = v5 * 15u;
    uint v185 = v4 + v184;
    b1[v185] = v182;
    float v187 = float(int(v10));
    uint v188 = poot_to_bits(v187);
    uint v189 = poot_to_bits(v187);
    uint v191 = v189 & 0x7fffffffu;
    bool v193 = 0x7f800000u < v191;
    uint v195 = v193 ? 0x7fc00000u : v188;
    uint v197 = v5 * 16u;
    uint v198 = v4 + v197;
    b1[v198] = v195;
    bool v201 = poot_from_bits(0xcf000000u) < v13;
    bool v203 = v13 < poot_from_bits(0x4f000000u);
    bool v204 = v203 && v201;
    uint v205 = poot_to_bits(v13);
    uint v207 = v204 ? v205 : 0u;
    float v208 = poot_from_bits(v207);
    uint v209 = uint(int(v208));
    uint v211 = v5 * 17u;
    uint v212 = v4 + v211;
    b1[v212] = v209;
  }
}

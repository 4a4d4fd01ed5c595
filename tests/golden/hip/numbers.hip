// numbers

typedef unsigned int uint;

// To be compiled with -ffp-contract=off.
__device__ inline uint poot_to_bits(float x) { return __float_as_uint(x); }
__device__ inline float poot_from_bits(uint bits) { return __uint_as_float(bits); }
__device__ inline float poot_ffma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ inline float poot_ffloor(float x) { return __builtin_floorf(x); }
__device__ inline uint poot_mul_high(uint a, uint b) { return __umulhi(a, b); }

// The device's square root is within a unit in the last place; the residues of its neighbours say which is nearest.
__device__ inline float poot_fsqrt(float x) {
  const bool small = x < 0x1p-96f;
  const float y = small ? x * 0x1p32f : x;
  if (!(y > 0.0f && y < __builtin_inff())) return __builtin_sqrtf(x);
  float root = __builtin_sqrtf(y);
  const float lower = poot_from_bits(poot_to_bits(root) - 1u), upper = poot_from_bits(poot_to_bits(root) + 1u);
  if (poot_ffma(-lower, root, y) <= 0.0f) root = lower;
  else if (poot_ffma(-upper, root, y) > 0.0f) root = upper;
  return small ? root * 0x1p-16f : root;
}

extern "C" __global__ void __launch_bounds__(64, 1) poot_kernel(
    const uint* b0,  // x
    const uint* meta,
    uint* b1) {  // y
  uint v0 = blockIdx.x + blockIdx.y * gridDim.x;  // %1
  uint v2 = v0 * 64u;
  uint v3 = threadIdx.x;
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
    float v16 = v14 + v15;
    uint v17 = poot_to_bits(v16);
    uint v19 = v17 & 0x7fffffffu;
    bool v20 = 0x7f800000u < v19;
    uint v22 = v20 ? 0x7fc00000u : v17;
    b1[v4] = v22;
    uint v24 = v4 + v5;
    float v25 = v14 - v15;
    uint v26 = poot_to_bits(v25);
    uint v27 = v26 & 0x7fffffffu;
    bool v28 = 0x7f800000u < v27;
    uint v29 = v28 ? 0x7fc00000u : v26;
    b1[v24] = v29;
    uint v32 = v5 * 2u;
    uint v33 = v4 + v32;
    float v34 = v14 * v15;
    uint v35 = poot_to_bits(v34);
    uint v36 = v35 & 0x7fffffffu;
    bool v37 = 0x7f800000u < v36;
    uint v38 = v37 ? 0x7fc00000u : v35;
    b1[v33] = v38;
    uint v41 = v5 * 3u;
    uint v42 = v4 + v41;
    float v43 = v14 / v15;
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
    float v70 = v34 + v14;
    uint v71 = poot_to_bits(v70);
    uint v72 = v71 & 0x7fffffffu;
    bool v73 = 0x7f800000u < v72;
    uint v74 = v73 ? 0x7fc00000u : v71;
    b1[v69] = v74;
    uint v77 = v5 * 7u;
    uint v78 = v4 + v77;
    float v79 = v15 * v14;
    float v80 = v34 - v79;
    uint v81 = poot_to_bits(v80);
    uint v82 = v81 & 0x7fffffffu;
    bool v83 = 0x7f800000u < v82;
    uint v84 = v83 ? 0x7fc00000u : v81;
    b1[v78] = v84;
    uint v87 = v5 * 8u;
    uint v88 = v4 + v87;
    bool v89 = v14 < v15;
    uint v90 = uint(v89);
    b1[v88] = v90;
    uint v93 = v5 * 9u;
    uint v94 = v4 + v93;
    bool v95 = v14 <= v15;
    uint v96 = uint(v95);
    b1[v94] = v96;
    uint v99 = v5 * 10u;
    uint v100 = v4 + v99;
    bool v101 = v14 == v15;
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
    float v129 = v14 * -3.0f;
    uint v130 = poot_to_bits(v129);
    uint v131 = v130 & 0x7fffffffu;
    bool v132 = 0x7f800000u < v131;
    uint v133 = v132 ? 0x7fc00000u : v130;
    b1[v127] = v133;
    uint v136 = v5 * 15u;
    uint v137 = v4 + v136;
    float v139 = v14 + poot_from_bits(0x3dcccccdu);
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
    bool v158 = v14 < poot_from_bits(0x4f000000u);
    bool v160 = poot_from_bits(0xcf000000u) < v14;
    bool v161 = v158 && v160;
    uint v163 = v161 ? v113 : 0u;
    float v164 = poot_from_bits(v163);
    uint v165 = uint(int(v164));
    b1[v156] = v165;
  }
}

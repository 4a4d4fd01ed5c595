#version 450
// numbers
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) writeonly buffer poot_b1 { uint b1[]; };  // y

uint poot_mul_high(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
}

// Of bits: what floor does with -0 is left open by the language.
float poot_ffloor(float x) {
  uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  bool negative = bits != magnitude;
  if (magnitude < 0x3f800000u) return negative && magnitude != 0u ? -1.0 : uintBitsToFloat(bits - magnitude);
  if (magnitude >= 0x4b000000u) return x;
  uint fraction = (1u << (150u - (magnitude >> 23u))) - 1u;
  if ((bits & fraction) != 0u && negative) bits += fraction;
  return uintBitsToFloat(bits & ~fraction);
}

void main() {
  uint v0 = gl_LocalInvocationID.x;  // %1
  uint v1 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
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
    float v13 = uintBitsToFloat(v10);  // %2
    float v14 = uintBitsToFloat(v12);
    precise float v15 = v13 + v14;
    uint v16 = floatBitsToUint(v15);
    uint v17 = floatBitsToUint(v15);
    uint v19 = v17 & 0x7fffffffu;
    bool v21 = 0x7f800000u < v19;
    uint v23 = v21 ? 0x7fc00000u : v16;
    b1[v4] = v23;
    precise float v25 = v13 - v14;
    uint v26 = floatBitsToUint(v25);
    uint v27 = floatBitsToUint(v25);
    uint v29 = v27 & 0x7fffffffu;
    bool v31 = 0x7f800000u < v29;
    uint v33 = v31 ? 0x7fc00000u : v26;
    uint v34 = v4 + v5;
    b1[v34] = v33;
    precise float v36 = v13 * v14;
    uint v37 = floatBitsToUint(v36);
    uint v38 = floatBitsToUint(v36);
    uint v40 = v38 & 0x7fffffffu;
    bool v42 = 0x7f800000u < v40;
    uint v44 = v42 ? 0x7fc00000u : v37;
    uint v46 = v5 * 2u;
    uint v47 = v4 + v46;
    b1[v47] = v44;
    precise float v49 = v13 / v14;
    uint v50 = floatBitsToUint(v49);
    uint v51 = floatBitsToUint(v49);
    uint v53 = v51 & 0x7fffffffu;
    bool v55 = 0x7f800000u < v53;
    uint v57 = v55 ? 0x7fc00000u : v50;
    uint v59 = v5 * 3u;
    uint v60 = v4 + v59;
    b1[v60] = v57;
    precise float v62 = sqrt(v13);
    uint v63 = floatBitsToUint(v62);
    uint v64 = floatBitsToUint(v62);
    uint v66 = v64 & 0x7fffffffu;
    bool v68 = 0x7f800000u < v66;
    uint v70 = v68 ? 0x7fc00000u : v63;
    uint v72 = v5 * 4u;
    uint v73 = v4 + v72;
    b1[v73] = v70;
    float v75 = poot_ffloor(v13);
    uint v76 = floatBitsToUint(v75);
    uint v77 = floatBitsToUint(v75);
    uint v79 = v77 & 0x7fffffffu;
    bool v81 = 0x7f800000u < v79;
    uint v83 = v81 ? 0x7fc00000u : v76;
    uint v85 = v5 * 5u;
    uint v86 = v4 + v85;
    b1[v86] = v83;
    precise float v88 = v13 * v14;
    precise float v89 = v88 + v13;
    uint v90 = floatBitsToUint(v89);
    uint v91 = floatBitsToUint(v89);
    uint v93 = v91 & 0x7fffffffu;
    bool v95 = 0x7f800000u < v93;
    uint v97 = v95 ? 0x7fc00000u : v90;
    uint v99 = v5 * 6u;
    uint v100 = v4 + v99;
    b1[v100] = v97;
    precise float v102 = v14 * v13;
    precise float v103 = v13 * v14;
    precise float v104 = v103 - v102;
    uint v105 = floatBitsToUint(v104);
    uint v106 = floatBitsToUint(v104);
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
    uint v143 = floatBitsToUint(v14);
    uint v144 = floatBitsToUint(v13);
    uint v145 = v142 ? v144 : v143;
    float v146 = uintBitsToFloat(v145);
    uint v147 = floatBitsToUint(v146);
    uint v149 = v5 * 12u;
    uint v150 = v4 + v149;
    b1[v150] = v147;
    bool v152 = v13 <= v14;
    float v153 = v152 ? v13 : v14;
    uint v154 = floatBitsToUint(v153);
    uint v156 = v5 * 13u;
    uint v157 = v4 + v156;
    b1[v157] = v154;
    precise float v160 = v13 * -3.0f;
    uint v161 = floatBitsToUint(v160);
    uint v162 = floatBitsToUint(v160);
    uint v164 = v162 & 0x7fffffffu;
    bool v166 = 0x7f800000u < v164;
    uint v168 = v166 ? 0x7fc00000u : v161;
    uint v170 = v5 * 14u;
    uint v171 = v4 + v170;
    b1[v171] = v168;
    precise float v174 = v13 + uintBitsToFloat(0x3dcccccdu);
    uint v175 = floatBitsToUint(v174);
    uint v176 = floatBitsToUint(v174);
    uint v178 = v176 & 0x7fffffffu;
    bool v180 = 0x7f800000u < v178;
    uint v182 = v180 ? 0x7fc00000u : v175;
    uint v184 = v5 * 15u;
    uint v185 = v4 + v184;
    b1[v185] = v182;
    float v187 = float(int(v10));
    uint v188 = floatBitsToUint(v187);
    uint v189 = floatBitsToUint(v187);
    uint v191 = v189 & 0x7fffffffu;
    bool v193 = 0x7f800000u < v191;
    uint v195 = v193 ? 0x7fc00000u : v188;
    uint v197 = v5 * 16u;
    uint v198 = v4 + v197;
    b1[v198] = v195;
    bool v201 = uintBitsToFloat(0xcf000000u) < v13;
    bool v203 = v13 < uintBitsToFloat(0x4f000000u);
    bool v204 = v203 && v201;
    uint v205 = floatBitsToUint(v13);
    uint v207 = v204 ? v205 : 0u;
    float v208 = uintBitsToFloat(v207);
    uint v209 = uint(int(v208));
    uint v211 = v5 * 17u;
    uint v212 = v4 + v211;
    b1[v212] = v209;
  }
}

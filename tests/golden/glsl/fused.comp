#version 450
// fused
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
    precise float v15 = fma(v13, v14, v13);
    uint v16 = floatBitsToUint(v15);
    uint v17 = floatBitsToUint(v15);
    uint v19 = v17 & 0x7fffffffu;
    bool v21 = 0x7f800000u < v19;
    uint v23 = v21 ? 0x7fc00000u : v16;
    b1[v4] = v23;
    precise float v25 = fma(v13, v13, v14);
    uint v26 = floatBitsToUint(v25);
    uint v27 = floatBitsToUint(v25);
    uint v29 = v27 & 0x7fffffffu;
    bool v31 = 0x7f800000u < v29;
    uint v33 = v31 ? 0x7fc00000u : v26;
    uint v34 = v4 + v5;
    b1[v34] = v33;
    precise float v37 = fma(v13, v14, -1.0f);
    uint v38 = floatBitsToUint(v37);
    uint v39 = floatBitsToUint(v37);
    uint v41 = v39 & 0x7fffffffu;
    bool v43 = 0x7f800000u < v41;
    uint v45 = v43 ? 0x7fc00000u : v38;
    uint v47 = v5 * 2u;
    uint v48 = v4 + v47;
    b1[v48] = v45;
  }
}

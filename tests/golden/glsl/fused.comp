#version 450
// fused
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) writeonly buffer poot_b1 { uint b1[]; };  // y

// Zeros that no compiler sees: there is one workgroup along z. Mesa 22.3 takes x * 0, 0 / x and x / 0 for 0, x + 0 for x.
float poot_zero() { return uintBitsToFloat(gl_NumWorkGroups.z - 1u); }
float poot_minus_zero() { return uintBitsToFloat(gl_NumWorkGroups.z + 0x7fffffffu); }
// Words that become numbers: what a compiler finds to be zero, as the comparison of a value with itself, stays hidden too.
float poot_number(uint bits) { return uintBitsToFloat(bits ^ (gl_NumWorkGroups.z - 1u)); }
float poot_number_of(uint integer) { return float(int(integer ^ (gl_NumWorkGroups.z - 1u))); }

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
  uint v0 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;  // %1
  uint v2 = v0 * 64u;
  uint v3 = gl_LocalInvocationID.x;
  uint v4 = v2 + v3;
  uint v5 = meta[0];
  bool v6 = v4 < v5;
  if (v6) {
    uint v8 = meta[1];
    uint v9 = v4 / v8;
    uint v10 = b0[v9];
    uint v11 = v4 % v8;
    uint v12 = b0[v11];
    float v14 = poot_number(v10);  // %2
    float v15 = poot_number(v12);
    precise float v16 = fma(v14, v15, v14);
    uint v17 = floatBitsToUint(v16);
    uint v19 = v17 & 0x7fffffffu;
    bool v20 = 0x7f800000u < v19;
    uint v22 = v20 ? 0x7fc00000u : v17;
    b1[v4] = v22;
    uint v24 = v4 + v5;
    precise float v25 = fma(v14, v14, v15);
    uint v26 = floatBitsToUint(v25);
    uint v27 = v26 & 0x7fffffffu;
    bool v28 = 0x7f800000u < v27;
    uint v29 = v28 ? 0x7fc00000u : v26;
    b1[v24] = v29;
    uint v32 = v5 * 2u;
    uint v33 = v4 + v32;
    precise float v35 = fma(v14, v15, -1.0f);
    uint v36 = floatBitsToUint(v35);
    uint v37 = v36 & 0x7fffffffu;
    bool v38 = 0x7f800000u < v37;
    uint v39 = v38 ? 0x7fc00000u : v36;
    b1[v33] = v39;
  }
}

#version 450
// quads
layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };
layout(std430, set = 0, binding = 0) readonly buffer poot_q0 { uvec4 q0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) writeonly buffer poot_q1 { uvec4 q1[]; };  // y
layout(std430, set = 0, binding = 3) writeonly buffer poot_b2 { uint b2[]; };  // sums
shared uvec4 s0[32];  // staged

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
  uint v0 = gl_LocalInvocationID.x;
  bool v2 = v0 < 30u;
  uint v3 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  uint v5 = v3 * 32u;
  uint v6 = v5 + v0;
  uint v7 = meta[0];
  bool v8 = v6 < v7;
  bool v9 = v2 && v8;
  if (v9) {
    uvec4 v11 = q0[v0];
    s0[v0] = v11;
    uint v14 = v0 * 4u;
    uint v16 = v14 + 1u;
    uint v17 = b0[v16];
    uint v18 = v11.z;
    uint v19 = v17 + v18;
    b2[v0] = v19;
  }
  barrier();
  if (v9) {
    uvec4 v24 = s0[v0];
    uint v26 = 29u - v0;
    uvec4 v27 = s0[v26];
    uint v28 = v24.w;
    uint v29 = v27.x;
    uint v30 = v24.y;
    uint v31 = v27.z;
    uvec4 v36 = uvec4(v28, v29, v30, v31);
    q1[v0] = v36;
  }
}

#version 450
// bits
layout(local_size_x = 32) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) buffer poot_b1 { uint b1[]; };  // set
layout(std430, set = 0, binding = 3) buffer poot_b2 { uint b2[]; };  // cleared

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
  uint v0 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  uint v2 = v0 * 32u;
  uint v3 = gl_LocalInvocationID.x;
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
      atomicOr(b1[v17], v14);
      uint v19 = ~v14;
      atomicAnd(b2[v17], v19);
    }
  }
}

#version 450
// rows
layout(local_size_x = 16) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_b0 { uint b0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) writeonly buffer poot_b1 { uint b1[]; };  // sums
layout(std430, set = 0, binding = 3) writeonly buffer poot_b2 { uint b2[]; };  // seen
shared float s0[16];  // partial
shared uint s1[16];  // below zero
shared bool s2[16];  // any

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
  float m1 = poot_zero();  // %7
  uint m3 = 0u;
  bool m5 = false;
  uint v6 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  uint v7 = meta[0];
  bool v8 = v6 < v7;
  uint v9 = gl_LocalInvocationID.x;
  if (v8) {
    for (uint v13 = v9; v13 < 40u; v13 += 16u) {
      uint v14 = v6 * 40u;
      uint v15 = v14 + v13;
      uint v16 = b0[v15];
      float v17 = m1;  // %8
      float v18 = poot_number(v16);  // %7
      precise float v19 = v17 + v18;  // %8
      m1 = v19;
      bool v21 = v18 < poot_zero();
      if (v21) {
        uint v23 = m3;
        uint v25 = v23 + 1u;
        m3 = v25;
        m5 = true;
      } else {
        bool v30 = v18 == poot_zero();
        if (v30) {
          uint v32 = m3;
          uint v34 = v32 + 256u;
          m3 = v34;
        }
      }
    }
  }
  float v40 = m1;
  s0[v9] = v40;
  uint v42 = m3;
  s1[v9] = v42;
  bool v44 = m5;
  s2[v9] = v44;
  barrier();
  uint m48 = 8u;
  for (uint v51 = 0u; v51 < 4u; v51 += 1u) {
    uint v52 = m48;  // %9
    bool v53 = v9 < v52;
    if (v53) {
      float v55 = s0[v9];
      uint v56 = v9 + v52;
      float v57 = s0[v56];
      precise float v58 = v55 + v57;
      s0[v9] = v58;
      uint v60 = s1[v9];
      uint v61 = s1[v56];
      uint v62 = v60 + v61;
      s1[v9] = v62;
    }
    uint v65 = v52 >> 1u;
    m48 = v65;
    barrier();
  }
  if (v8) {
    bool v70 = s2[v9];
    uint v72 = v6 * 16u;
    uint v73 = v72 + v9;
    uint v74 = uint(v70);
    b2[v73] = v74;
    bool v76 = v9 == 0u;
    if (v76) {
      float v78 = s0[0u];
      uint v80 = v6 * 2u;
      uint v81 = floatBitsToUint(v78);
      b1[v80] = v81;
      uint v83 = s1[0u];
      uint v84 = v80 + 1u;
      b1[v84] = v83;
    }
  }
}

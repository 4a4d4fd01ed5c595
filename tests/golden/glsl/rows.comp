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
  uint v0 = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;  // %7
  uint v1 = gl_LocalInvocationID.x;
  uint v2 = meta[0];
  bool v3 = v0 < v2;
  float m5 = 0.0f;
  uint m7 = 0u;
  bool m9 = false;
  if (v3) {
    for (uint v13 = v1; v13 < 40u; v13 += 16u) {
      uint v15 = v0 * 40u;
      uint v16 = v15 + v13;
      uint v17 = b0[v16];
      float v18 = uintBitsToFloat(v17);
      float v19 = m5;  // %8
      precise float v20 = v19 + v18;
      m5 = v20;
      bool v23 = v18 < 0.0f;
      if (v23) {
        uint v25 = m7;
        uint v27 = v25 + 1u;
        m7 = v27;
        m9 = true;
      } else {
        bool v33 = v18 == 0.0f;
        if (v33) {
          uint v35 = m7;
          uint v37 = v35 + 256u;
          m7 = v37;
        }
      }
    }
  }
  float v43 = m5;
  s0[v1] = v43;
  uint v45 = m7;
  s1[v1] = v45;
  bool v47 = m9;
  s2[v1] = v47;
  barrier();
  uint m51 = 8u;
  for (uint v55 = 0u; v55 < 4u; v55 += 1u) {
    uint v56 = m51;  // %9
    bool v57 = v1 < v56;
    if (v57) {
      uint v59 = v1 + v56;
      float v60 = s0[v59];
      float v61 = s0[v1];
      precise float v62 = v61 + v60;
      s0[v1] = v62;
      uint v64 = v1 + v56;
      uint v65 = s1[v64];
      uint v66 = s1[v1];
      uint v67 = v66 + v65;
      s1[v1] = v67;
    }
    uint v71 = v56 >> 1u;
    m51 = v71;
    barrier();
  }
  if (v3) {
    bool v76 = s2[v1];
    uint v77 = uint(v76);
    uint v79 = v0 * 16u;
    uint v80 = v79 + v1;
    b2[v80] = v77;
    bool v83 = v1 == 0u;
    if (v83) {
      float v86 = s0[0u];
      uint v87 = floatBitsToUint(v86);
      uint v89 = v0 * 2u;
      b1[v89] = v87;
      uint v92 = s1[0u];
      uint v94 = v0 * 2u;
      uint v96 = v94 + 1u;
      b1[v96] = v92;
    }
  }
}

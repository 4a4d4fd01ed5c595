#version 450
// fragments_f16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require

#define poot_left fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define poot_right fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define poot_sums fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer poot_q0 { uvec4 q0[]; };  // x
layout(std430, set = 0, binding = 1) readonly buffer poot_meta { uint meta[]; };
layout(std430, set = 0, binding = 2) writeonly buffer poot_b1 { uint b1[]; };  // y
shared uvec4 s0[48];  // a
shared uvec4 s1[96];  // b
shared float s2[512];  // sums

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
  uint v1 = meta[0];
  bool v2 = v0 < v1;
  uint v3 = gl_LocalInvocationID.x;
  uint v5 = v3 / 2u;
  uint v7 = v5 * 3u;
  uint v8 = v3 % 2u;
  uint v9 = v7 + v8;
  uint v10 = gl_SubgroupID;
  if (v2) {
    bool v13 = v3 < 32u;
    if (v13) {
      uvec4 v15 = q0[v3];
      s0[v9] = v15;
    }
    bool v19 = v3 < 64u;
    if (v19) {
      uint v21 = v3 + 32u;
      uvec4 v22 = q0[v21];
      s1[v9] = v22;
    }
    barrier();
    poot_left v27; coopMatLoadNV(v27, s0, 0u, 3u, false);
    uint v29 = v10 * 48u;
    poot_right v30; coopMatLoadNV(v30, s1, v29, 3u, true);
    poot_sums v31 = poot_sums(0.0f);
    poot_sums m32 = v31;
    for (uint v34 = 0u; v34 < 2u; v34 += 1u) {
      poot_sums v35 = m32;
      poot_sums v36 = coopMatMulAddNV(v27, v30, v35);
      m32 = v36;
    }
    poot_sums v39 = m32;
    uint v41 = v10 * 256u;
    coopMatStoreNV(v39, s2, v41, 16u, false);
    barrier();
    for (uint v45 = v3; v45 < 512u; v45 += 64u) {
      float v46 = s2[v45];
      uint v47 = floatBitsToUint(v46);
      b1[v45] = v47;
    }
  }
}

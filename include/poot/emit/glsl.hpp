#pragma once
/// GLSL 450 for Vulkan: a compute shader whose buffers are bound in set 0.

#include <poot/emit/c_family.hpp>
#include <poot/emit/matrix_unit.hpp>

namespace poot::emit {

inline constexpr std::string_view glsl_prelude =
#include <poot/emit/prelude/glsl.inc>
    ;

/// Execution modes of 32-bit floats, which a text asks for at its head.
constexpr void write_float_controls(text& out, const options& o) {
  if (!o.preserve_specials && !o.preserve_subnormals) return;
  out << "#extension GL_EXT_spirv_intrinsics : require\n";
  if (o.preserve_specials)  // SignedZeroInfNanPreserve
    out << "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4466], 4461, 32);\n";
  if (o.preserve_subnormals)  // DenormPreserve
    out << "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [4464], 4459, 32);\n";
}

inline constexpr std::string_view glsl_exact_prelude =
#include <poot/emit/prelude/glsl_exact.inc>
    ;

inline constexpr std::string_view glsl_flushing_prelude =
#include <poot/emit/prelude/glsl_flushing.inc>
    ;

class glsl final : public c_family {
 public:
  using c_family::c_family;

 private:
  constexpr void begin() override {
    out_ << "#version 450\n";
    write_title();
    write_float_controls(out_, options_);
    if (k_.subgroup) {
      for (std::string_view extension : {"GL_EXT_shader_explicit_arithmetic_types_float16", "GL_KHR_memory_scope_semantics", "GL_KHR_shader_subgroup_basic",
                                         "GL_NV_cooperative_matrix"})
        out_ << "#extension " << extension << " : require\n";
      out_ << mma_glsl_prelude;
    }
    out_ << "layout(local_size_x = " << k_.workgroup << ") in;\n\n";
    for_each_binding([this](bool metadata, uint32 i, uint32 binding) {
      out_ << "layout(std430, set = 0, binding = " << binding << ") ";
      if (metadata) {
        out_ << "readonly buffer poot_meta { uint meta[]; };\n";
        return;
      }
      const kernel::buffer& b = k_.buffers[i];
      std::string_view how = "";
      if (b.how == kernel::access::read) how = "readonly ";
      if (b.how == kernel::access::write && !has_atomics(i)) how = "writeonly ";
      const bool quads = moves_quads(i);
      if (moves_words(i) || !quads) out_ << how << "buffer poot_b" << i << " { uint b" << i << "[]; };";
      if (quads && moves_words(i)) out_ << "\nlayout(std430, set = 0, binding = " << binding << ") ";
      if (quads) out_ << how << "buffer poot_q" << i << " { uvec4 q" << i << "[]; };";
      end_line_naming(b.name.str());
    });
    write_shared("shared ");
    out_ << glsl_prelude;
    if (!options_.div_exact || !options_.sqrt_exact) out_ << glsl_exact_prelude;
    if (options_.flushes) out_ << glsl_flushing_prelude;
    out_ << '\n';
  }
  constexpr bool has_atomics(uint32 buffer) const {
    for (const instruction& in : k_.code)
      if ((in.code == opcode::atomic_and || in.code == opcode::atomic_or) && in.a == buffer) return true;
    return false;
  }
  constexpr void begin_entry() override { out_ << "void main() {\n"; }
  constexpr std::string_view quad_type() const override { return "uvec4"; }
  constexpr std::string_view quad_of() const override { return "uvec4("; }
  constexpr std::string_view function_prefix() const override { return ""; }
  constexpr std::string_view group() const override {
    return "gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x";
  }
  constexpr std::string_view lane() const override { return "gl_LocalInvocationID.x"; }
  constexpr void write_subgroup() override { out_ << "gl_SubgroupID"; }
  constexpr void write_fragment_load(const instruction& in) override {
    const uint32 id = id_of(in);
    out_ << type_of(in.kind) << " v" << id << "; coopMatLoadNV(v" << id << ", s" << in.a << ", ";
    write_value(in.b);
    out_ << ", " << in.c << "u, " << (in.kind == kernel::type::left ? "false" : "true") << ");";
  }
  constexpr void write_fragment_store(const instruction& in) override {
    out_ << "coopMatStoreNV(";
    write_value(in.c);
    out_ << ", s" << in.a << ", ";
    write_value(in.b);
    out_ << ", 16u, false);";
  }
  constexpr std::string_view barrier() const override { return "barrier();"; }  // orders shared memory too
  /// `precise` becomes NoContraction.
  constexpr std::string_view qualifier(opcode c) const override {
    return c >= opcode::fadd && c <= opcode::ffma ? "precise " : "";
  }
  constexpr bool hides_zeros() const override { return true; }
  constexpr spelling literal_of_bits() const override { return {"uintBitsToFloat(", "", ")"}; }
  constexpr spelling spell(opcode c) const override {
    switch (c) {
      case opcode::fadd: return {"", " + ", ""};
      case opcode::fsub: return {"", " - ", ""};
      case opcode::fmul: return {"", " * ", ""};
      case opcode::fdiv: return options_.div_exact ? spelling{"", " / ", ""} : c_family::spell(c);
      case opcode::fsqrt: return options_.sqrt_exact ? spelling{"sqrt(", "", ")"} : c_family::spell(c);
      case opcode::ffma: return {"fma(", ", ", ")"};
      case opcode::fless: return options_.flushes ? spelling{"poot_fless(", ", ", ")"} : c_family::spell(c);
      case opcode::fless_equal: return options_.flushes ? spelling{"poot_fless_equal(", ", ", ")"} : c_family::spell(c);
      case opcode::fequal: return options_.flushes ? spelling{"poot_fequal(", ", ", ")"} : c_family::spell(c);
      case opcode::to_bits: return {"floatBitsToUint(", "", ")"};
      case opcode::from_bits: return {"poot_number(", "", ")"};
      case opcode::to_number: return {"poot_number_of(", "", ")"};
      case opcode::mma_zero: return {"poot_sums(", "", "0.0f)"};
      case opcode::mma_f16: return {"coopMatMulAddNV(", ", ", ")"};
      case opcode::atomic_and: return {"atomicAnd(", ", ", ")"};
      case opcode::atomic_or: return {"atomicOr(", ", ", ")"};
      default: return c_family::spell(c);
    }
  }
};

}  // namespace poot::emit

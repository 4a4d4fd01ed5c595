#pragma once
/// C++ (11 and later, g++ and clang): a function that does the work of one invocation, for whatever runs workgroups on the
/// CPU. Buffers come in the order of `kernel::buffers`; `at->shared` has room for `kernel::shared_bytes()`.
///
///     extern "C" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta);

#include <poot/emit/c_family.hpp>
#include <poot/emit/matrix_unit.hpp>

namespace poot::emit {

inline constexpr std::string_view cpp_prelude =
#include <poot/emit/prelude/cpp.inc>
    ;

class cpp final : public c_family {
 public:
  using c_family::c_family;

 private:
  constexpr void begin() override {
    write_title();
    out_ << cpp_prelude << '\n';
    if (k_.subgroup) write_mma_cpp(out_, k_.subgroup);
    if (k_.shared.empty()) return;
    out_ << "struct poot_shared {\n";
    write_shared("  ");
    out_ << "};\n\n";
  }
  constexpr void begin_entry() override {
    out_ << "extern \"C\" void poot_kernel(const poot_invocation* at, uint* const* buffers, const uint* meta) {\n";
    for (uint32 i = 0; i < k_.buffers.size(); ++i) {
      const kernel::buffer& b = k_.buffers[i];
      out_ << (b.how == kernel::access::read ? "  const uint* const b" : "  uint* const b") << i << " = buffers[" << i << "];";
      end_line_naming(b.name.str());
      if (!moves_quads(i)) continue;
      const bool reads = b.how == kernel::access::read;
      out_ << (reads ? "  const poot_quad* const q" : "  poot_quad* const q") << i << " = reinterpret_cast<" << (reads ? "const " : "")
           << "poot_quad*>(buffers[" << i << "]);\n";
    }
    for (uint32 i = 0; i < k_.shared.size(); ++i)
      out_ << "  auto& s" << i << " = static_cast<poot_shared*>(at->shared)->s" << i << ";\n";
  }
  constexpr std::string_view quad_type() const override { return "poot_quad"; }
  constexpr std::string_view quad_of() const override { return "poot_quad_of("; }
  constexpr std::string_view function_prefix() const override { return "static inline "; }
  constexpr std::string_view group() const override { return "at->group"; }
  constexpr std::string_view lane() const override { return "at->lane"; }
  constexpr std::string_view barrier() const override { return "at->wait(at->waiting);"; }
  constexpr spelling spell(opcode c) const override {
    switch (c) {
      case opcode::fless: return {"poot_fless(", ", ", ")"};
      case opcode::fless_equal: return {"poot_fless_equal(", ", ", ")"};
      case opcode::fequal: return {"poot_fequal(", ", ", ")"};
      case opcode::atomic_and: return {"poot_atomic_and(&", ", ", ")"};
      case opcode::atomic_or: return {"poot_atomic_or(&", ", ", ")"};
      default: return c_family::spell(c);
    }
  }
};

}  // namespace poot::emit

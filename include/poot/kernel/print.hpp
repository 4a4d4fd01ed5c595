#pragma once
/// Kernel to text: `print(kernel)` writes the form that `parse` reads, one line for each instruction.
///
///   kernel twice {
///     workgroup 64                   behind it by_group, work 2, chunked, where it is so
///     read x 0                       a buffer, and the value behind it
///     write y 1
///     meta product 1 [0,2) / 1       a word of the metadata: of which value, which axes, divided by what
///     code {
///       %0 = group                   a value has the number of its instruction
///       branch %5 @1                 @: the equation that the line computes a part of
///         store y, %4, %9
///       branch_end
///     }
///   }
///
/// Types are not written: they follow from the operations. What reads it again gives the same kernel, where its form is sound
/// and its names are different identifiers.

#include <poot/core/text.hpp>
#include <poot/kernel/form.hpp>

namespace poot::kernel {

constexpr std::string_view name(access a) {
  return a == access::read ? "read" : a == access::write ? "write" : "read_write";
}
constexpr std::string_view name(meta_word::what w) {
  constexpr std::string_view names[] = {"fixed", "product", "bytes", "tiles", "offset"};
  return names[static_cast<int>(w)];
}

namespace detail {

/// What `a` of an instruction is, where it is no value: a number, or the name of something of the kernel.
enum class first_word : uint8 { none, number, bits, buffer, shared, function };
constexpr first_word first_word_of(opcode c) {
  switch (c) {
    case opcode::literal_word:
    case opcode::literal_flag:
    case opcode::meta:
    case opcode::parameter: return first_word::number;
    case opcode::literal_number: return first_word::bits;
    case opcode::load:
    case opcode::store:
    case opcode::load_quad:
    case opcode::store_quad:
    case opcode::atomic_and:
    case opcode::atomic_or: return first_word::buffer;
    case opcode::shared_load:
    case opcode::shared_store:
    case opcode::mma_left:
    case opcode::mma_right:
    case opcode::mma_store: return first_word::shared;
    case opcode::call: return first_word::function;
    default: return first_word::none;
  }
}
/// As `operands_of`, with variables, which are named like values.
constexpr operand_use named_operands(opcode c) {
  operand_use use = operands_of(c);
  use.a = use.a || c == opcode::read || c == opcode::assign;
  return use;
}

struct kernel_writer {
  const kernel& k;
  text out{};

  constexpr void indent(uint32 depth) {
    for (; depth > 0; --depth) out << "  ";
  }
  constexpr void write_meta(const meta_word& m) {
    out << "  meta " << name(m.kind);
    if (m.kind == meta_word::what::fixed) {
      out << ' ' << m.fixed << '\n';
      return;
    }
    out << ' ' << m.value;
    if (m.kind != meta_word::what::offset) {
      out << " [" << m.first << ',';
      if (m.last == meta_word::all_axes) out << '*';
      else out << m.last;
      out << ')';
    }
    if (m.kind == meta_word::what::tiles) out << ' ' << m.fixed << " x " << m.divide;
    else if (m.kind != meta_word::what::offset) out << " / " << m.divide;
    out << '\n';
  }
  constexpr void write_instruction(const body& code, uint32 at) {
    const instruction& i = code[at];
    if (i.kind != type::none) out << '%' << at << " = ";
    out << name(i.code);
    const char* between = " ";
    switch (first_word_of(i.code)) {
      case first_word::none: between = ""; break;
      case first_word::number: out << ' ' << i.a; break;
      case first_word::bits: (out << ' ').hex(i.a); break;
      case first_word::buffer: out << ' ' << k.buffers[i.a].name; break;
      case first_word::shared: out << ' ' << k.shared[i.a].name; break;
      case first_word::function: out << ' ' << k.functions[i.a].name; break;
    }
    between = between[0] ? ", " : " ";
    const auto value = [&](uint32 id) {
      out << between << '%' << id;
      between = ", ";
    };
    const operand_use use = named_operands(i.code);
    if (use.a) value(i.a);
    if (use.b) value(i.b);
    if (use.c) value(i.c);
    if (i.code == opcode::part) out << ", " << i.b;
    if (i.code == opcode::mma_left || i.code == opcode::mma_right) out << ", " << i.c;
    if (i.note != instruction::no_note) out << " @" << i.note;
    out << '\n';
  }
  constexpr void write_body(const body& code, uint32 depth) {
    for (uint32 at = 0; at < code.size(); ++at) {
      const opcode c = code[at].code;
      if (c == opcode::loop_end || c == opcode::branch_end || c == opcode::branch_else) --depth;
      indent(depth);
      write_instruction(code, at);
      if (c == opcode::loop || c == opcode::branch || c == opcode::branch_else) ++depth;
    }
  }
  constexpr void write() {
    out << "kernel " << k.name << " {\n  workgroup " << k.workgroup;
    if (k.subgroup) out << " subgroup " << k.subgroup;
    if (k.by_group) out << " by_group";
    if (k.work != 1) out << " work " << k.work;
    if (k.chunked) out << " chunked";
    out << '\n';
    for (uint32 b = 0; b < k.buffers.size(); ++b)
      out << "  " << name(k.buffers[b].how) << ' ' << k.buffers[b].name << ' ' << k.bindings[b] << '\n';
    for (const meta_word& m : k.metadata) write_meta(m);
    for (const shared_array& s : k.shared) out << "  shared " << s.name << ' ' << name(s.kind) << ' ' << s.size << '\n';
    for (const function& f : k.functions) {
      out << "  function " << f.name << " (";
      for (uint32 i = 0; i < f.parameters.size(); ++i) out << (i ? ", " : "") << name(f.parameters[i]);
      out << ") " << name(f.result) << " {\n";
      write_body(f.code, 2);
      out << "  }\n";
    }
    out << "  code {\n";
    write_body(k.code, 2);
    out << "  }\n}\n";
  }
};

constexpr text written(const kernel& k) {
  kernel_writer writer{k};
  writer.write();
  return std::move(writer.out);
}

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
text print(const kernel& k);
}

/// The text of a kernel whose form is sound.
constexpr text print(const kernel& k) {
  if constexpr (!is_precompiled) return detail::written(k);
  else if (__builtin_is_constant_evaluated()) return detail::written(k);
  else return precompiled::print<kernel_layout>(k);
}

}  // namespace poot::kernel

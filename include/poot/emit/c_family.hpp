#pragma once
/// The writer that every dialect shares: a kernel as text of the C family, one line an instruction.
///
///     uint v12 = v3 + v4;          the value of instruction 12, a word
///     float m7 = 0.0f;             variable 7
///     b1[v12] = v13;  // %5        buffer 1; from here on for equation 5
///     uvec4 v14 = q0[v12];         four words of buffer 0
///
/// A dialect says how its text begins and ends, and how it spells what differs.

#include <poot/kernel/kernel.hpp>

namespace poot::emit {

/// What the text of a kernel holds besides its instructions, and what a device lacks.
struct options {
  bool comments = true;              ///< names of buffers and numbers of equations; equal kernels may differ in them
  bool preserve_specials = false;    ///< GLSL: ask for signed zeros, infinities and NaNs (shaderSignedZeroInfNanPreserveFloat32)
  bool preserve_subnormals = false;  ///< GLSL: ask for subnormals (shaderDenormPreserveFloat32)
  bool div_exact = true;             ///< GLSL: else division is written in integers; as device_caps::div_exact
  bool sqrt_exact = true;            ///< GLSL: the same of the square root
  bool flushes = false;              ///< GLSL: comparisons are written in integers; as device_caps::flushes
};

/// How an operation is written around its operands.
struct spelling {
  std::string_view before, between, after;
};

class c_family {
 public:
  constexpr c_family(const kernel::kernel& k, options o) : k_(k), options_(o) {}

  constexpr text write() {
    begin();
    for (const kernel::function& f : k_.functions) write_function(f);
    begin_entry();
    write_body(k_.code);
    out_ << "}\n";
    return std::move(out_);
  }

 protected:
  using opcode = kernel::opcode;
  using instruction = kernel::instruction;

  // ---- what dialects override

  /// Everything before the functions.
  constexpr virtual void begin() = 0;
  /// The entry, up to its opening brace and what it declares.
  constexpr virtual void begin_entry() = 0;
  constexpr virtual std::string_view function_prefix() const = 0;
  constexpr virtual std::string_view group() const = 0;
  constexpr virtual std::string_view lane() const = 0;
  constexpr virtual std::string_view barrier() const = 0;
  /// What qualifies the result of an instruction.
  constexpr virtual std::string_view qualifier(opcode) const { return {}; }
  /// Whether literal zeros are calls of the prelude, because compilers of the dialect know too much about zeros.
  constexpr virtual bool hides_zeros() const { return false; }
  /// Around the bits of a literal number.
  constexpr virtual spelling literal_of_bits() const { return spell(opcode::from_bits); }
  /// The type of four words with members x, y, z, w, and what is written before four words to make one.
  constexpr virtual std::string_view quad_type() const = 0;
  constexpr virtual std::string_view quad_of() const = 0;
  /// The lines that load and store fragments.
  constexpr virtual void write_fragment_load(const instruction& in) {
    out_ << type_of(in.kind) << " v" << id_of(in) << (in.kind == kernel::type::left ? " = poot_mma_left(s" : " = poot_mma_right(s") << in.a << ", ";
    write_value(in.b);
    out_ << ", " << in.c << "u, " << lane() << " % " << k_.subgroup << "u);";
  }
  constexpr virtual void write_fragment_store(const instruction& in) {
    out_ << "poot_mma_store(s" << in.a << ", ";
    write_value(in.b), out_ << ", ", write_value(in.c);
    out_ << ", " << lane() << " % " << k_.subgroup << "u);";
  }
  /// The number of an invocation's subgroup.
  constexpr virtual void write_subgroup() { out_ << lane() << " / " << k_.subgroup << 'u'; }
  /// Operations on values, and atomic ones.
  constexpr virtual spelling spell(opcode c) const {
    switch (c) {
      case opcode::add: return {"", " + ", ""};
      case opcode::sub: return {"", " - ", ""};
      case opcode::mul: return {"", " * ", ""};
      case opcode::div: return {"", " / ", ""};
      case opcode::rem: return {"", " % ", ""};
      case opcode::div_signed: return {"uint(int(", ") / int(", "))"};
      case opcode::bit_and: return {"", " & ", ""};
      case opcode::bit_or: return {"", " | ", ""};
      case opcode::bit_xor: return {"", " ^ ", ""};
      case opcode::bit_not: return {"~", "", ""};
      case opcode::shl: return {"", " << ", ""};
      case opcode::shr: return {"", " >> ", ""};
      case opcode::shr_signed: return {"uint(int(", ") >> ", ")"};
      case opcode::less: return {"", " < ", ""};
      case opcode::less_signed: return {"int(", ") < int(", ")"};
      case opcode::equal: return {"", " == ", ""};
      case opcode::mul_high: return {"poot_mul_high(", ", ", ")"};
      case opcode::fadd: return {"poot_fadd(", ", ", ")"};
      case opcode::fsub: return {"poot_fsub(", ", ", ")"};
      case opcode::fmul: return {"poot_fmul(", ", ", ")"};
      case opcode::fdiv: return {"poot_fdiv(", ", ", ")"};
      case opcode::fsqrt: return {"poot_fsqrt(", "", ")"};
      case opcode::ffma: return {"poot_ffma(", ", ", ")"};
      case opcode::ffloor: return {"poot_ffloor(", "", ")"};
      case opcode::fless: return {"", " < ", ""};
      case opcode::fless_equal: return {"", " <= ", ""};
      case opcode::fequal: return {"", " == ", ""};
      case opcode::to_bits: return {"poot_to_bits(", "", ")"};
      case opcode::from_bits: return {"poot_from_bits(", "", ")"};
      case opcode::to_number: return {"float(int(", "", "))"};
      case opcode::to_int: return {"uint(int(", "", "))"};
      case opcode::to_word: return {"uint(", "", ")"};
      case opcode::and_: return {"", " && ", ""};
      case opcode::or_: return {"", " || ", ""};
      case opcode::not_: return {"!", "", ""};
      case opcode::mma_zero: return {"poot_mma_zero(", "", ")"};
      case opcode::mma_bf16: return {"poot_mma_bf16(", ", ", ")"};
      case opcode::mma_f16: return {"poot_mma_f16(", ", ", ")"};
      case opcode::atomic_and: return {"atomicAnd(&", ", ", ")"};
      case opcode::atomic_or: return {"atomicOr(&", ", ", ")"};
      default: return {};
    }
  }

  // ---- what dialects use

  /// `name` as a comment that ends the line.
  constexpr void end_line_naming(std::string_view name) {
    if (options_.comments && !name.empty()) {
      out_ << "  // ";
      write_name(name);
    }
    out_ << '\n';
  }
  /// A line of its own with the kernel's name.
  constexpr void write_title() {
    if (!options_.comments || k_.name.empty()) return;
    out_ << "// ";
    write_name(k_.name.str());
    out_ << '\n';
  }
  /// Calls `each(is_metadata, buffer, binding)` in the order of binding.
  template <class Each>
  constexpr void for_each_binding(Each each) {
    const uint32 reads = k_.reads();
    const auto count = static_cast<uint32>(k_.buffers.size());
    for (uint32 i = 0; i <= count; ++i) {
      if (i == reads) each(true, 0, i);
      if (i < count) each(false, i, i < reads ? i : i + 1);
    }
  }
  constexpr void write_shared(std::string_view prefix) {
    for (uint32 i = 0; i < k_.shared.size(); ++i) {
      const kernel::shared_array& s = k_.shared[i];
      out_ << prefix << type_of(s.kind) << " s" << i << '[' << s.size << "];";
      end_line_naming(s.name.str());
    }
  }
  constexpr std::string_view type_of(kernel::type t) const {
    switch (t) {
      case kernel::type::number: return "float";
      case kernel::type::word: return "uint";
      case kernel::type::flag: return "bool";
      case kernel::type::quad: return quad_type();
      case kernel::type::left: return "poot_left";
      case kernel::type::right: return "poot_right";
      case kernel::type::sums: return "poot_sums";
      case kernel::type::none: break;
    }
    return "void";
  }
  constexpr uint32 id_of(const instruction& in) const { return static_cast<uint32>(&in - code_.data()); }
  /// Value `id` where it is used.
  constexpr void write_value(uint32 id) {
    const instruction& in = code_[id];
    switch (in.code) {
      case opcode::literal_word: write_word(in.a); return;
      case opcode::literal_flag: out_ << (in.a ? "true" : "false"); return;
      case opcode::literal_number: write_number(in.a); return;
      case opcode::parameter: out_ << 'p' << in.a; return;
      default: out_ << 'v' << id;
    }
  }
  /// Whether the kernel moves words of a buffer one at a time, and four at a time.
  constexpr bool moves_words(uint32 buffer) const {
    for (const instruction& in : k_.code)
      if (is_of_words(in.code) && in.a == buffer) return true;
    return false;
  }
  constexpr bool moves_quads(uint32 buffer) const {
    for (const instruction& in : k_.code)
      if ((in.code == opcode::load_quad || in.code == opcode::store_quad) && in.a == buffer) return true;
    return false;
  }

  const kernel::kernel& k_;
  options options_;
  text out_;

 private:
  static constexpr bool is_of_words(opcode c) {
    return c == opcode::load || c == opcode::store || c == opcode::atomic_and || c == opcode::atomic_or;
  }

  constexpr void write_name(std::string_view name) {
    for (char c : name) out_ << (c >= ' ' && c <= '~' && c != '\\' ? c : '_');
  }

  constexpr void write_function(const kernel::function& f) {
    out_ << function_prefix() << type_of(f.result) << ' ' << f.name << '(';
    for (uint32 i = 0; i < f.parameters.size(); ++i) out_ << (i ? ", " : "") << type_of(f.parameters[i]) << " p" << i;
    out_ << ") {\n";
    write_body(f.code);
    out_ << "}\n\n";
  }

  constexpr void write_body(const kernel::body& code) {
    code_ = code;
    depth_ = 1;
    noted_ = instruction::no_note;
    for (const instruction& in : code_) write_instruction(in);
  }

  constexpr void write_instruction(const instruction& in) {
    switch (in.code) {
      case opcode::literal_word:  // where they are used
      case opcode::literal_number:
      case opcode::literal_flag:
      case opcode::parameter:
      case opcode::argument: return;
      case opcode::loop_end:
      case opcode::branch_else:
      case opcode::branch_end: --depth_; break;
      default: break;
    }
    constexpr std::string_view spaces = "                                ";
    const size_t indent = 2 * static_cast<size_t>(depth_);
    out_ << spaces.substr(0, indent < spaces.size() ? indent : spaces.size());
    write_line(in);
    if (options_.comments && in.note != noted_ && in.note != instruction::no_note) {
      out_ << "  // %" << in.note;
      noted_ = in.note;
    }
    out_ << '\n';
  }

  constexpr void write_line(const instruction& in) {
    switch (in.code) {
      case opcode::store: return write_memory('b', in), write_assigned(in.c);
      case opcode::store_quad: return write_memory('q', in), write_assigned(in.c);
      case opcode::shared_store: return write_memory('s', in), write_assigned(in.c);
      case opcode::mma_left:
      case opcode::mma_right: return write_fragment_load(in);
      case opcode::mma_store: return write_fragment_store(in);
      case opcode::atomic_and:
      case opcode::atomic_or: {
        const spelling s = spell(in.code);
        out_ << s.before;
        write_memory('b', in);
        out_ << s.between;
        write_value(in.c);
        out_ << s.after << ';';
        return;
      }
      case opcode::variable:
        out_ << type_of(in.kind) << " m" << id_of(in);
        return write_assigned(in.a);
      case opcode::assign:
        out_ << 'm' << in.a;
        return write_assigned(in.b);
      case opcode::loop: {
        const uint32 id = id_of(in);
        out_ << "for (uint v" << id << " = ";
        write_value(in.a);
        out_ << "; v" << id << " < ";
        write_value(in.b);
        out_ << "; v" << id << " += ";
        write_value(in.c);
        out_ << ") {";
        ++depth_;
        return;
      }
      case opcode::branch:
        out_ << "if (";
        write_value(in.a);
        out_ << ") {";
        ++depth_;
        return;
      case opcode::branch_else:
        out_ << "} else {";
        ++depth_;
        return;
      case opcode::loop_end:
      case opcode::branch_end: out_ << '}'; return;
      case opcode::barrier: out_ << barrier(); return;
      case opcode::result:
        out_ << "return ";
        write_value(in.a);
        out_ << ';';
        return;
      default: break;
    }
    out_ << qualifier(in.code) << type_of(in.kind) << " v" << id_of(in) << " = ";
    write_expression(in);
    out_ << ';';
  }

  constexpr void write_expression(const instruction& in) {
    switch (in.code) {
      case opcode::group:
        out_ << group();
        if (k_.chunked) out_ << " + meta[" << k_.metadata.size() << ']';  // the first of this chunk
        return;
      case opcode::lane: out_ << lane(); return;
      case opcode::subgroup: return write_subgroup();
      case opcode::meta: out_ << "meta[" << in.a << ']'; return;
      case opcode::read: out_ << 'm' << in.a; return;
      case opcode::load: return write_memory('b', in);
      case opcode::load_quad: return write_memory('q', in);
      case opcode::shared_load: return write_memory('s', in);
      case opcode::select:
        write_value(in.a);
        out_ << " ? ";
        write_value(in.b);
        out_ << " : ";
        return write_value(in.c);
      case opcode::part:
        write_value(in.a);
        out_ << '.' << std::string_view("xyzw").substr(in.b, 1);
        return;
      case opcode::join:
        out_ << quad_of();
        write_arguments(in);
        out_ << ')';
        return;
      case opcode::call:
        out_ << k_.functions[in.a].name << '(';
        write_arguments(in);
        out_ << ')';
        return;
      default: break;
    }
    const spelling s = spell(in.code);
    const kernel::operand_use uses = kernel::operands_of(in.code);
    out_ << s.before;
    if (uses.a) write_value(in.a);
    if (uses.b) out_ << s.between, write_value(in.b);
    if (uses.c) out_ << s.between, write_value(in.c);
    out_ << s.after;
  }

  constexpr void write_arguments(const instruction& in) {
    for (uint32 i = 0; i < in.c; ++i) {
      if (i) out_ << ", ";
      write_value(code_[in.b + i].a);
    }
  }
  constexpr void write_memory(char array, const instruction& in) {
    out_ << array << in.a << '[';
    write_value(in.b);
    out_ << ']';
  }
  constexpr void write_assigned(uint32 id) {
    out_ << " = ";
    write_value(id);
    out_ << ';';
  }

  constexpr void write_word(uint32 bits) {
    if (bits < 65536) out_ << bits << 'u';
    else out_.hex(bits) << 'u';
  }
  /// Integers below 2^20 in decimal, everything else as its bits.
  constexpr void write_number(uint32 bits) {
    const uint32 magnitude = bits & 0x7fffffffu;
    if (magnitude == 0 && hides_zeros()) {
      out_ << (bits ? "poot_minus_zero()" : "poot_zero()");
      return;
    }
    if (magnitude == 0 || (magnitude >= 0x3f800000u && magnitude < 0x49800000u)) {
      const uint32 shift = magnitude ? 150 - (magnitude >> 23) : 0;
      const uint32 significand = magnitude ? (magnitude & 0x7fffffu) | 0x800000u : 0;
      if (bits != 0x80000000u && (significand & ((1u << shift) - 1)) == 0) {
        out_ << (bits >> 31 ? "-" : "") << (significand >> shift) << ".0f";
        return;
      }
    }
    const spelling s = literal_of_bits();
    out_ << s.before;
    out_.hex(bits) << 'u' << s.after;
  }

  view<instruction> code_;
  int depth_ = 1;
  uint32 noted_ = instruction::no_note;
};

}  // namespace poot::emit

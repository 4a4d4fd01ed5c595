#pragma once
/// Text to kernel: `parse(text)` reads what `print` writes, and trusts none of it.

#include <poot/ir/parse.hpp>
#include <poot/kernel/print.hpp>

namespace poot::kernel {

namespace detail {

struct opcode_names {
  static constexpr int count = static_cast<int>(opcode::argument) + 1;
  std::string_view at[count];
  constexpr opcode_names() {
    for (int i = 0; i < count; ++i) at[i] = name(static_cast<opcode>(i));
  }
};
inline constexpr opcode_names opcodes{};

struct kernel_reader : ir::detail::text_reader {
  kernel made{};

  static constexpr size_t most_declared = 1024;  ///< of each kind: they are looked for one by one
  static constexpr int64 most_word = 0xffffffff;

  constexpr kernel read() {
    form = "kernel text";
    if (source.size() > size_t{1} << 30) refuse(text("a kernel of more than 2^30 characters"));
    keyword("kernel");
    made.name << word("the name of the kernel");
    expect('{');
    keyword("workgroup");
    made.workgroup = number_to(most_word);
    for (bool declared = true; declared;) declared = read_declaration(word("a declaration or 'code'"));
    expect('{');
    made.code = read_body(nullptr);
    expect('}');
    if (!at_end()) unexpected("the end of the text");
    check_form(made);
    return std::move(made);
  }

 private:
  constexpr void keyword(std::string_view wanted) {
    const size_t where = (skip(), at);
    if (word(wanted) != wanted) refuse(where, text("expected ") << wanted);
  }
  constexpr uint32 number_to(int64 most) { return static_cast<uint32>(integer(0, most)); }

  constexpr uint32 positive() {
    const size_t where = (skip(), at);
    const uint32 n = number_to(most_word);
    if (n == 0) refuse(where, text("this is 1 or more"));
    return n;
  }

  /// False at `code`, which ends the declarations.
  constexpr bool read_declaration(std::string_view kind) {
    subject = kind;
    if (kind == "by_group") made.by_group = true;
    else if (kind == "subgroup") made.subgroup = positive();
    else if (kind == "work") made.work = positive();
    else if (kind == "chunked") made.chunked = true;
    else if (kind == "read") read_buffer(access::read);
    else if (kind == "write") read_buffer(access::write);
    else if (kind == "read_write") read_buffer(access::read_write);
    else if (kind == "meta") made.metadata.push_back(read_meta());
    else if (kind == "shared") read_shared();
    else if (kind == "function") read_function();
    else if (kind != "code") {
      text reason("there is no declaration ");
      subject = {};
      refuse(at - kind.size(), ir::detail::excerpt(reason, kind));
    }
    subject = {};
    return kind != "code";
  }
  template <class Declared>
  constexpr text new_name(const vec<Declared>& others) {
    const size_t where = (skip(), at);
    const std::string_view chars = word("a name");
    if (others.size() == most_declared) refuse(where, text("more than ") << most_declared << " of a kind");
    for (const Declared& d : others)
      if (d.name.str() == chars) refuse(where, text("this name is declared twice"));
    return text(chars);
  }
  constexpr void read_buffer(access how) {
    text name = new_name(made.buffers);
    made.buffers.push_back({std::move(name), how});
    made.bindings.push_back(number_to(most_word));
  }
  constexpr type read_type() {
    const size_t where = (skip(), at);
    const std::string_view chars = word("a type");
    for (type t : {type::flag, type::word, type::number, type::quad})
      if (name(t) == chars) return t;
    text reason("there is no type ");
    refuse(where, ir::detail::excerpt(reason, chars));
  }
  constexpr void read_shared() {
    shared_array s;
    s.name = new_name(made.shared);
    s.kind = read_type();
    s.size = number_to(most_word);
    made.shared.push_back(std::move(s));
  }
  constexpr meta_word read_meta() {
    using what = meta_word::what;
    meta_word m;
    const size_t where = (skip(), at);
    const std::string_view kind = word("a kind of metadata");
    m.kind = what::offset;
    for (what w : {what::fixed, what::product, what::bytes, what::tiles})
      if (name(w) == kind) m.kind = w;
    if (name(m.kind) != kind) refuse(where, text("there is no such kind of metadata"));
    if (m.kind == what::fixed) {
      m.fixed = integer(-0x80000000ll, most_word);
      return m;
    }
    m.value = number_to(most_word);
    if (m.kind == what::offset) return m;
    expect('[');
    m.first = static_cast<uint8>(integer(0, max_rank));
    expect(',');
    m.last = take('*') ? meta_word::all_axes : static_cast<uint8>(integer(0, max_rank));
    expect(')');
    if (m.kind == what::tiles) {
      m.fixed = positive();
      keyword("x");
    } else {
      expect('/');
    }
    m.divide = positive();
    return m;
  }
  constexpr void read_function() {
    function f;
    f.name = new_name(made.functions);
    expect('(');
    if (!take(')')) {
      do f.parameters.push_back(read_type());
      while (take(','));
      expect(')');
    }
    f.result = read_type();
    expect('{');
    f.code = read_body(&f);
    made.functions.push_back(std::move(f));
  }

  // ---- instructions
  constexpr uint32 value(const body& code) {
    const size_t where = (skip(), at);
    if (!take('%')) unexpected("a value");
    const uint32 id = number_to(most_word);
    if (id >= code.size() || code[id].kind == type::none) refuse(where, text("%") << id << " is no value before it");
    return id;
  }
  template <class Declared>
  constexpr uint32 declared(const vec<Declared>& all, std::string_view what) {
    const size_t where = (skip(), at);
    const std::string_view chars = word(what);
    for (uint32 i = 0; i < all.size(); ++i)
      if (all[i].name.str() == chars) return i;
    text reason("there is no ");
    refuse(where, ir::detail::excerpt(reason << what << ' ', chars));
  }
  constexpr opcode read_opcode() {
    const size_t where = (skip(), at);
    const std::string_view chars = word("an operation");
    for (int i = 0; i < opcode_names::count; ++i)
      if (opcodes.at[i].size() == chars.size() && opcodes.at[i] == chars) return static_cast<opcode>(i);
    text reason("there is no operation ");
    refuse(where, ir::detail::excerpt(reason, chars));
  }

  /// `f`: the function that it is the body of.
  constexpr body read_body(const function* f) {
    body code;
    while (!take('}')) {
      const size_t where = (skip(), at);
      const bool defines = take('%');
      if (defines && number_to(most_word) != code.size()) refuse(where, text("this is instruction ") << code.size());
      if (defines) expect('=');
      const instruction i = read_instruction(code, f);
      if (defines != (i.kind != type::none)) refuse(where, text(defines ? "it defines no value" : "it defines a value"));
      code.push_back(i);
    }
    return code;
  }
  constexpr instruction read_instruction(const body& code, const function* f) {
    instruction i;
    i.code = read_opcode();
    bool first = false;  // something stands before the values
    switch (first_word_of(i.code)) {
      case first_word::none: break;
      case first_word::number:
      case first_word::bits: i.a = read_bits(), first = true; break;
      case first_word::buffer: i.a = declared(made.buffers, "buffer"), first = true; break;
      case first_word::shared: i.a = declared(made.shared, "shared array"), first = true; break;
      case first_word::function: i.a = declared(made.functions, "function"), first = true; break;
    }
    const auto operand = [&](bool used, uint32& id) {
      if (!used) return;
      if (first) expect(',');
      id = value(code);
      first = true;
    };
    const operand_use use = named_operands(i.code);
    operand(use.a, i.a);
    operand(use.b, i.b);
    operand(use.c, i.c);
    if (i.code == opcode::part) {
      expect(',');
      i.b = number_to(3);
    }
    if (i.code == opcode::mma_left || i.code == opcode::mma_right) {
      expect(',');
      i.c = number_to(most_word);
    }
    if (takes_arguments(i.code)) {
      i.c = i.code == opcode::join ? 4 : static_cast<uint32>(made.functions[i.a].parameters.size());
      if (i.c > code.size()) refuse(text("its arguments are not right before it"));
      i.b = static_cast<uint32>(code.size()) - i.c;
    }
    if (take('@')) i.note = static_cast<uint32>(integer(0, most_word - 1));
    i.kind = type_of(i, code, f);
    return i;
  }
  constexpr uint32 read_bits() {
    const size_t where = (skip(), at);
    uint64 bits = 0;
    if (!parse_natural(number(), most_word, bits)) refuse(where, text("this is not a number of 32 bits"));
    return static_cast<uint32>(bits);
  }
  /// Of the value that `i` defines; what it reads is defined.
  constexpr type type_of(const instruction& i, const body& code, const function* f) const {
    switch (i.code) {
      case opcode::select: return code[i.b].kind;
      case opcode::variable:
      case opcode::read: return code[i.a].kind;
      case opcode::shared_load: return made.shared[i.a].kind;
      case opcode::call: return made.functions[i.a].result;
      case opcode::parameter: return f && i.a < f->parameters.size() ? f->parameters[i.a] : type::word;
      default: return signature_of(i.code).result;
    }
  }
};

}  // namespace detail

namespace precompiled {
template <uint64 Layout>
kernel parse(std::string_view source);
}

/// Reads a kernel. Throws `error` with line, column and rule where the text is not well formed, and as `check_form` does where
/// the kernel is not.
constexpr kernel parse(std::string_view source) {
  if constexpr (!is_precompiled) return detail::kernel_reader{{source}}.read();
  else if (__builtin_is_constant_evaluated()) return detail::kernel_reader{{source}}.read();
  else return precompiled::parse<kernel_layout>(source);
}

}  // namespace poot::kernel

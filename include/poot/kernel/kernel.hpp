#pragma once
/// A kernel: what one dispatch does on a device, before it is text.
///
/// Structured and small. Memory is buffers of 32-bit words with an integer index, no pointers; narrower elements are parts
/// of words, so that a device needs no 8-bit or 16-bit storage. Every instruction defines at most one value, named by its
/// index in its body; a value is visible from there to the end of the block that it stands in. Loops, branches and
/// barriers are instructions that open and close blocks.

#include <poot/core/precompiled.hpp>
#include <poot/core/text.hpp>

namespace poot::kernel {

/// What a value is. Signed integers are words whose operations say so. Fragments are tiles of 16 × 16 that the invocations of a
/// subgroup hold together, each a part that no kernel knows: of the operands of a product 16-bit floats, of its sums f32.
enum class type : uint8 { none, flag, word, number, quad, left, right, sums };  // bool, u32, f32, four u32 that move together; fragments

constexpr bool is_fragment(type t) { return t >= type::left; }

/// Words that a value of the type takes in memory.
constexpr uint32 words_of(type t) { return t == type::none || is_fragment(t) ? 0 : t == type::quad ? 4 : 1; }

enum class opcode : uint8 {
  // immediate: `a` holds the bits
  literal_word, literal_number, literal_flag,
  // where this invocation is: workgroup in the grid, invocation in the workgroup, and its subgroup there
  group, lane, subgroup,
  // word `a` of the launch's metadata
  meta,
  // words, wrapping; the divisor of a division is not zero, nor -1 under the lowest value; a shift counts less than 32
  add, sub, mul, mul_high, div, rem, div_signed, bit_and, bit_or, bit_xor, bit_not, shl, shr, shr_signed,
  less, less_signed, equal,
  // numbers: single IEEE operations, rounded once and never contracted
  fadd, fsub, fmul, fdiv, fsqrt, ffma, ffloor, fless, fless_equal, fequal,
  // conversions: bits, and values (int32 to the nearest f32; f32 of magnitude below 2^31 towards zero; flag to 0 or 1)
  to_bits, from_bits, to_number, to_int, to_word,
  // flags
  and_, or_, not_,
  // `a` ? `b` : `c`, of any one type but quads
  select,
  // word `b` of the quad `a`; the quad of the `c` arguments from `b` on
  part, join,
  // memory: buffer `a`, index `b` in words, value `c`
  load, store, atomic_and, atomic_or,
  // the same of quads, index `b` in quads: 128-bit accesses
  load_quad, store_quad,
  // memory of the workgroup: array `a`, index `b`, value `c`
  shared_load, shared_store,
  // fragments, by all invocations of a workgroup, at one index in each subgroup: a left operand [m][k] or a right one [n][k] from
  // array `a` of quads, whose rows of two quads begin at `b`, `b` + `c`, …; sums of nothing; left `a` times right `b` added to sums
  // `c`, their elements bf16 or f16; sums `c` to array `a` of numbers, [m][n] from `b` on
  mma_left, mma_right, mma_zero, mma_bf16, mma_f16, mma_store,
  // variables: `variable` begins with `a`; `read` of variable `a`; `assign` gives variable `a` the value `b`
  variable, read, assign,
  // for (u32 i = a; i < b; i += c): the value is i
  loop, loop_end,
  // if (a) … else …
  branch, branch_else, branch_end,
  // every invocation of the workgroup gets here before any goes on; all of them do or none
  barrier,
  // functions: parameter `a`; the result `a`; `call` of function `a` with the arguments from `b` on, `c` of them
  parameter, result, call, argument,
};

/// `note`: the equation that this line computes a part of, for readers of the text.
struct instruction {
  opcode code{};
  type kind = type::none;  ///< of the value it defines
  uint32 a = 0, b = 0, c = 0;
  uint32 note = no_note;
  static constexpr uint32 no_note = 0xffffffffu;
  constexpr bool operator==(const instruction&) const = default;
};

using body = vec<instruction>;

/// A function of values, of its own body; it touches no memory.
struct function {
  text name;
  vec<type> parameters;
  type result = type::none;
  body code;
};

enum class access : uint8 { read, write, read_write };

struct buffer {
  text name;
  access how = access::read;
};

/// Memory that the invocations of a workgroup share, one declaration a kernel.
struct shared_array {
  text name;
  type kind = type::number;
  uint32 size = 0;  ///< elements
};

/// A word of a launch's metadata, computed from extents when a launch is prepared: ceil(product / divide), the product
/// being that of axes [first, last) of value `value`. `bytes`: the same of a packed value, in bytes. `tiles`: how many tiles of
/// `fixed` × `divide` elements cover the matrices of a value, along its last two axes. `offset`: elements from the start of
/// the storage that a window lies in to the window. `fixed` needs no value. `last` of a kernel that serves every rank is
/// `all_axes`, until a launch binds it.
struct meta_word {
  static constexpr uint8 all_axes = 0xff;
  enum class what : uint8 { fixed, product, bytes, tiles, offset };
  what kind = what::fixed;
  uint32 value = 0;
  uint8 first = 0, last = 0;
  uint32 divide = 1;
  int64 fixed = 0;
  constexpr bool operator==(const meta_word&) const = default;
};

/// Bound in this order: buffers that are read, the metadata, buffers that are written.
///
/// The first words of the metadata count the work, `work` of them, together: invocations (the first invocations of the grid
/// do them, the last workgroup is cut by the kernel itself), or workgroups if `by_group`. The grid holds at least as many; a
/// kernel tests its index. A `chunked` kernel runs in several grids: behind its metadata stands one word more, the number of the
/// first workgroup of a grid.
struct kernel {
  text name;
  vec<buffer> buffers;           ///< without the metadata
  vec<uint32> bindings;          ///< the value behind each buffer
  vec<meta_word> metadata;
  vec<shared_array> shared;
  uint32 workgroup = 64;         ///< invocations
  uint32 subgroup = 0;           ///< invocations that share fragments, 32 or 64; 0 in a kernel without
  bool by_group = false;
  uint32 work = 1;               ///< words
  bool chunked = false;
  vec<function> functions;       ///< a function calls earlier ones only
  body code;

  constexpr size_t metadata_words() const { return metadata.size() + chunked; }
  constexpr uint32 reads() const {
    uint32 n = 0;
    for (const buffer& b : buffers) n += b.how == access::read;
    return n;
  }
  constexpr int64 shared_bytes() const {
    int64 bytes = 0;
    for (const shared_array& s : shared) bytes += int64{4} * words_of(s.kind) * s.size;
    return bytes;
  }
};

/// What the invocations of a subgroup do as one.
constexpr bool is_of_fragments(opcode c) { return c >= opcode::mma_left && c <= opcode::mma_store; }

/// Of what takes or gives kernels (core/precompiled.hpp).
inline constexpr uint64 kernel_layout = mix(layout_of<kernel, instruction>, static_cast<uint64>(opcode::argument));

/// Whether the `c` values from `b` on, arguments that stand right before, are its operands.
constexpr bool takes_arguments(opcode c) { return c == opcode::call || c == opcode::join; }

/// How many of `a`, `b`, `c` are values; those come first, but for memory, variables and calls.
struct operand_use {
  bool a = false, b = false, c = false;
};
constexpr operand_use operands_of(opcode c) {
  switch (c) {
    case opcode::literal_word:
    case opcode::literal_number:
    case opcode::literal_flag:
    case opcode::group:
    case opcode::lane:
    case opcode::subgroup:
    case opcode::mma_zero:
    case opcode::meta:
    case opcode::read:
    case opcode::loop_end:
    case opcode::branch_else:
    case opcode::branch_end:
    case opcode::barrier:
    case opcode::parameter:
    case opcode::join:
    case opcode::call: return {};
    case opcode::bit_not:
    case opcode::fsqrt:
    case opcode::ffloor:
    case opcode::to_bits:
    case opcode::from_bits:
    case opcode::to_number:
    case opcode::to_int:
    case opcode::to_word:
    case opcode::not_:
    case opcode::part:
    case opcode::variable:
    case opcode::branch:
    case opcode::result:
    case opcode::argument: return {true, false, false};
    case opcode::ffma:
    case opcode::select:
    case opcode::mma_bf16:
    case opcode::mma_f16:
    case opcode::loop: return {true, true, true};
    case opcode::load:
    case opcode::load_quad:
    case opcode::mma_left:
    case opcode::mma_right:
    case opcode::shared_load: return {false, true, false};
    case opcode::store:
    case opcode::store_quad:
    case opcode::atomic_and:
    case opcode::atomic_or:
    case opcode::mma_store:
    case opcode::shared_store: return {false, true, true};
    case opcode::assign: return {false, true, false};
    default: return {true, true, false};
  }
}

constexpr std::string_view name(opcode c) {
  constexpr std::string_view names[] = {
      "literal_word", "literal_number", "literal_flag", "group", "lane", "subgroup", "meta", "add", "sub", "mul", "mul_high", "div", "rem",
      "div_signed", "bit_and", "bit_or", "bit_xor", "bit_not", "shl", "shr", "shr_signed", "less", "less_signed", "equal", "fadd",
      "fsub", "fmul", "fdiv", "fsqrt", "ffma", "ffloor", "fless", "fless_equal", "fequal", "to_bits", "from_bits", "to_number",
      "to_int", "to_word", "and", "or", "not", "select", "part", "join", "load", "store", "atomic_and", "atomic_or", "load_quad",
      "store_quad", "shared_load", "shared_store", "mma_left", "mma_right", "mma_zero", "mma_bf16", "mma_f16", "mma_store",
      "variable", "read", "assign", "loop", "loop_end", "branch", "branch_else", "branch_end", "barrier", "parameter", "result",
      "call", "argument"};
  return names[static_cast<int>(c)];
}

}  // namespace poot::kernel

#include "small_kernel.hpp"

#include <poot/emit/write.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace poot;
using namespace poot::kernel;
using emit::dialect;
using poot_tests::contains;

namespace {

/// The entry of the kernel that `make` fills, as C++ from its first instruction on.
template <class Make>
std::string lines(Make make) {
  builder k("k", 32);
  const buffer_id x = k.reads("x", 0), y = k.writes("y", 1);
  make(k, x, y);
  const std::string all(emit::write(k.finish(), dialect::cpp).str());
  const std::string last_declaration = "buffers[1];  // y\n";
  return all.substr(all.find(last_declaration) + last_declaration.size());
}

}  // namespace

TEST_CASE("one line an instruction, literals where they are used") {
  poot::kernel::kernel k;
  k.buffers = {{"x", access::read}, {"y", access::write}};
  k.code = {{opcode::literal_word, type::word, 7},       {opcode::load, type::word, 0, 0},
            {opcode::literal_word, type::word, 12},      {opcode::add, type::word, 1, 2},
            {opcode::literal_word, type::word, 70000},   {opcode::store, type::none, 1, 4, 3}};
  const text written = emit::write(k, dialect::cpp);
  CHECK(written.str().ends_with("  uint v1 = b0[7u];\n"
                                "  uint v3 = v1 + 12u;\n"
                                "  b1[0x11170u] = v3;\n"
                                "}\n"));
}

TEST_CASE("numbers are decimal where that is exact and short, else bits") {
  const auto literal = [](float x) {
    const std::string all = lines([x](builder& k, buffer_id from, buffer_id y) {
      k.store(y, 0u, to_bits(add(from_bits(k.load(from, 0u)), number(x))));
    });
    const size_t comma = all.find(", ");
    return all.substr(comma + 2, all.find(");\n", comma) - comma - 2);
  };
  CHECK(literal(0.0f) == "0.0f");
  CHECK(literal(-0.0f) == "poot_from_bits(0x80000000u)");
  CHECK(literal(1.0f) == "1.0f");
  CHECK(literal(-25.0f) == "-25.0f");
  CHECK(literal(1048575.0f) == "1048575.0f");
  CHECK(literal(1048576.0f) == "poot_from_bits(0x49800000u)");
  CHECK(literal(1.5f) == "poot_from_bits(0x3fc00000u)");
  CHECK(literal(0.5f) == "poot_from_bits(0x3f000000u)");
  CHECK(literal(0x1p-149f) == "poot_from_bits(0x1u)");
  CHECK(literal(ieee::from_bits(0x7fc00001u)) == "poot_from_bits(0x7fc00001u)");
  CHECK(literal(ieee::from_bits(0xff800000u)) == "poot_from_bits(0xff800000u)");
}

TEST_CASE("variables, loops and branches are structured") {
  CHECK(lines([](builder& k, buffer_id x, buffer_id y) {
          const auto sum = k.declare(word(5u));
          k.for_(0u, 8u, 2u, [&](word i) {
            const word value = k.load(x, i);
            k.emit(opcode::branch, type::none, below(value, i).id);
            k.assign(sum, value);
            k.emit(opcode::branch_else, type::none);
            k.barrier();
            k.emit(opcode::branch_end, type::none);
          });
          k.store(y, 0u, k.read(sum));
        }) ==
        "  uint m1 = 5u;\n"
        "  for (uint v5 = 0u; v5 < 8u; v5 += 2u) {\n"
        "    uint v6 = b0[v5];\n"
        "    bool v7 = v6 < v5;\n"
        "    if (v7) {\n"
        "      m1 = v6;\n"
        "    } else {\n"
        "      at->wait(at->waiting);\n"
        "    }\n"
        "  }\n"
        "  uint v14 = m1;\n"
        "  b1[0u] = v14;\n"
        "}\n");
}

TEST_CASE("a comment says where another equation begins") {
  CHECK(lines([](builder& k, buffer_id x, buffer_id y) {
          k.note(4);
          const word a = k.load(x, 0u), b = k.load(x, 1u);
          k.note(5);
          k.store(y, 0u, a);
          k.store(y, 1u, b);
        }) ==
        "  uint v1 = b0[0u];  // %4\n"
        "  uint v3 = b0[1u];\n"
        "  b1[0u] = v1;  // %5\n"
        "  b1[1u] = v3;\n"
        "}\n");
}

TEST_CASE("functions come before the entry, with their parameters") {
  builder k("k", 32);
  const buffer_id y = k.writes("y", 0);
  const function_id f = k.define<word, word, flag>("poot_f", [](word a, flag b) { return select(b, a, a + 1u); });
  k.store(y, 0u, k.call<word>(f, word(3u), flag(true)));
  const text written = emit::write(k.finish(), dialect::cpp);
  CHECK(contains(written.str(), "static inline uint poot_f(uint p0, bool p1) {\n"
                                "  uint v3 = p0 + 1u;\n"
                                "  uint v4 = p1 ? p0 : v3;\n"
                                "  return v4;\n"
                                "}\n"));
  CHECK(contains(written.str(), " = poot_f(3u, true);\n"));
}

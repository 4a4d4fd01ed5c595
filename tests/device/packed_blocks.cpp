/// Random blocks of every packed format, decoded by every executor as a whole, row by row and inside a contraction: the bits of the
/// format's definition, written here a second time from the layouts of GGUF and of OCP Microscaling, in f64.
///
///     packed_blocks [BLOCKS]      of each format; 10,000, or 1,000,000 where POOT_LONG is set

#include "executor.hpp"

#include <poot/ir/equal.hpp>
#include <poot/pass/prepare_reductions.hpp>
#include <poot/plan/compile.hpp>

#include "../random/interpreted.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace poot_tests;

namespace {

using bytes = std::vector<uint8>;
constexpr dtype formats[] = {q4_0, q4_1, q5_0, q8_0, q4_k, q6_k, iq4_nl, mxfp4};

// ---- the definition: f64 holds every product and sum below exactly, so the f32 nearest to it is the value ---------------

double half(const uint8* at) {
  const int bits = at[0] + 256 * at[1], exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) size = fraction == 0 ? INFINITY : NAN;
  return bits & 0x8000 ? -size : size;
}
double signed_byte(uint8 b) { return b < 128 ? b : b - 256; }

/// block_q4_0 {half d; uint8 qs[16]}, block_q4_1 {half d, m; uint8 qs[16]}, block_q5_0 {half d; uint8 qh[4], qs[16]},
/// block_iq4_nl {half d; uint8 qs[16]}, block_mxfp4 {uint8 e; uint8 qs[16]}: element j has the low bits of qs[j], j + 16 the high ones.
double of_nibbles(dtype format, const uint8* b, int i) {
  static const double nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const uint8* qs = b + (format == q4_1 ? 4 : format == q5_0 ? 6 : format == mxfp4 ? 1 : 2);
  const int q = i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
  switch (format) {
    case q4_0: return half(b) * (q - 8);
    case q4_1: return half(b) * q + half(b + 2);
    case q5_0: return half(b) * (q + 16 * (b[2 + i / 8] >> i % 8 & 1) - 16);
    case iq4_nl: return half(b) * nonlinear[q];
    default: return std::ldexp(q < 8 ? e2m1[q] : -e2m1[q - 8], b[0] - 127);
  }
}

/// block_q4_K {half d, dmin; uint8 scales[12], qs[128]}: sub-block s of 32 elements.
double of_q4_k(const uint8* b, int i) {
  const uint8 *scales = b + 4, *qs = b + 16;
  const int s = i / 32;
  int scale, least;
  if (s < 4) {
    scale = scales[s] & 63;
    least = scales[s + 4] & 63;
  } else {
    scale = (scales[s + 4] & 15) + 16 * (scales[s - 4] >> 6);
    least = (scales[s + 4] >> 4) + 16 * (scales[s] >> 6);
  }
  const int byte = qs[s / 2 * 32 + i % 32], q = s % 2 == 0 ? byte & 15 : byte >> 4;
  return half(b) * scale * q - half(b + 2) * least;
}

/// block_q6_K {uint8 ql[128], qh[64]; int8 scales[16]; half d}: each half of 128 elements is four runs of 32.
double of_q6_k(const uint8* b, int i) {
  const int part = i / 128, run = i % 128 / 32, l = i % 32;
  const uint8 *ql = b + 64 * part, *qh = b + 128 + 32 * part, *scales = b + 192 + 8 * part;
  const int low = run == 0 ? ql[l] & 15 : run == 1 ? ql[l + 32] & 15 : run == 2 ? ql[l] >> 4 : ql[l + 32] >> 4;
  const int q = low + 16 * (qh[l] >> (2 * run) & 3);
  return half(b + 208) * signed_byte(scales[l / 16 + 2 * run]) * (q - 32);
}

float defined(dtype format, const uint8* b, int i) {
  switch (format) {
    case q8_0: return static_cast<float>(half(b) * signed_byte(b[2 + i]));  // block_q8_0 {half d; int8 qs[32]}
    case q4_k: return static_cast<float>(of_q4_k(b, i));
    case q6_k: return static_cast<float>(of_q6_k(b, i));
    default: return static_cast<float>(of_nibbles(format, b, i));
  }
}

// ---- blocks -------------------------------------------------------------------------------------------------------------

/// Any bytes; the scales of every third block are zeros, subnormals, infinities, NaNs, the greatest and the least.
void draw_any_block(draws& d, dtype format, uint64* block) {
  for (int i = 0; i < row(format).block_bytes; ++i) block[i] = d.less_than(256);
  static constexpr uint16 edges[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfdff};
  for (const int at : {format == q6_k ? 208 : 0, format == q4_1 || format == q4_k ? 2 : -1}) {
    if (at < 0 || d.less_than(3) != 0) continue;
    if (format == mxfp4) {
      static constexpr uint8 exponents[] = {0, 1, 2, 127, 253, 254, 255};
      block[0] = exponents[d.less_than(7)];
      continue;
    }
    const uint16 edge = edges[d.less_than(std::size(edges))];
    block[at] = edge & 255;
    block[at + 1] = edge >> 8;
  }
}

ir::tensor drawn(draws& d, const tensor_type& t) {
  ir::tensor made(t);
  for (size_t i = 0; i < made.bits.size(); i += static_cast<size_t>(row(t.element).block_bytes)) draw_any_block(d, t.element, &made.bits[i]);
  return made;
}
/// What a packed tensor is worth.
ir::tensor defined(const ir::tensor& packed) {
  ir::tensor made(packed.type.with(f32));
  const size_t elements = static_cast<size_t>(row(packed.type.element).block_elements), size = static_cast<size_t>(row(packed.type.element).block_bytes);
  for (size_t i = 0; i < made.bits.size(); i += elements) {
    uint8 block[256];
    for (size_t k = 0; k < size; ++k) block[k] = static_cast<uint8>(packed.bits[i / elements * size + k]);
    for (size_t k = 0; k < elements; ++k) made.bits[i + k] = std::bit_cast<uint32>(defined(packed.type.element, block, static_cast<int>(k)));
  }
  return made;
}

// ---- programs -----------------------------------------------------------------------------------------------------------

struct counts {
  int passed = 0, failed = 0, skipped = 0;
  void check(const std::string& wrong, const std::string& what) {
    ++(wrong.empty() ? passed : failed);
    if (!wrong.empty()) std::printf("FAIL %s: %s\n", what.c_str(), wrong.c_str());
    std::fflush(stdout);
  }
  void skip(const std::string& why) {
    ++skipped;
    std::printf("[SKIP] %s\n", why.c_str());
  }
};

constexpr int64 rows_at_once = 256, rows_of_x = 3;

/// Rows of one block: decoded, gathered and decoded, and contracted.
ir::graph make_graph(dtype format) {
  ir::graph g("packed_blocks");
  const int64 width = row(format).block_elements;
  const auto apply = [&](ir::op o, std::initializer_list<uint32> in, std::initializer_list<int64> attrs, const tensor_type& t) {
    return g.apply(o, {in.begin(), in.size()}, {attrs.begin(), attrs.size()}, t);
  };
  const uint32 w = g.leaf(ir::op::input, type_of(format, rows_at_once, width), {}, "w"), i = g.leaf(ir::op::input, type_of(i32, rows_at_once), {}, "i");
  const uint32 x = g.leaf(ir::op::input, type_of(f32, rows_of_x, width), {}, "x");
  g.add_output("decoded", apply(ir::op::cast, {w}, {}, type_of(f32)));
  g.add_output("gathered", apply(ir::op::cast, {apply(ir::op::gather, {w, i}, {0}, type_of(format))}, {}, type_of(f32)));
  g.add_output("contracted", apply(ir::op::matmul, {x, w}, {1}, type_of(f32)));
  return g;
}

/// The same of values that were decoded before, with the order of sums that the target has.
ir::graph make_reference(dtype format, bool fused) {
  ir::graph g("reference");
  const int64 width = row(format).block_elements;
  const uint32 w = g.leaf(ir::op::input, type_of(f32, rows_at_once, width), {}, "w"), x = g.leaf(ir::op::input, type_of(f32, rows_of_x, width), {}, "x");
  const uint32 in[2] = {x, w};
  const int64 transposed[1] = {1};
  g.add_output("contracted", g.apply(ir::op::matmul, {in, 2}, {transposed, 1}, type_of(f32)));
  pass::record notes;
  return pass::prepare_reductions(std::move(g), target{.caps = {.fma_fused = fused}}, false, notes);
}

void run_format(dtype format, const executors& on, int64 blocks, counts& c) {
  const ir::graph g = make_graph(format);
  const int64 width = row(format).block_elements;
  std::vector<std::unique_ptr<machine>> machines;
  std::vector<std::string> wrong(on.size());
  std::map<bool, ir::graph> references;
  for (const auto& e : on) {
    plan::program p = plan::compile(g, e->where());
    e->prepare({p});
    machines.push_back(e->load(std::move(p)));
    const bool fused = e->where().caps.fma_fused;
    if (!references.count(fused)) references.emplace(fused, make_reference(format, fused));
  }
  draws d(hash_text(name(format)));
  for (int64 done = 0; done < blocks; done += rows_at_once) {
    const ir::tensor w = drawn(d, type_of(format, rows_at_once, width)), values = defined(w);
    ir::tensor places(type_of(i32, rows_at_once)), gathered(values.type);
    for (size_t r = 0; r < places.bits.size(); ++r) {
      places.bits[r] = d.less_than(rows_at_once);
      for (size_t k = 0; k < static_cast<size_t>(width); ++k) gathered.bits[r * static_cast<size_t>(width) + k] = values.bits[places.bits[r] * static_cast<size_t>(width) + k];
    }
    ir::tensor x(type_of(f32, rows_of_x, width));
    for (uint64& bits : x.bits) bits = draw_element(d, f32, poot_tests::values::wide);
    std::map<bool, ir::interpretation> wanted;
    for (const auto& [fused, reference] : references) {
      const ir::named_tensor of[2] = {{"w", values}, {"x", x}};
      ir::interpretation want;
      want.outputs.push_back({"decoded", values});
      want.outputs.push_back({"gathered", gathered});
      want.outputs.push_back(ir::interpret(reference, {of, 2}).outputs[0]);
      wanted.emplace(fused, std::move(want));
    }
    const std::vector<ir::named_tensor> given = {{"w", w}, {"i", places}, {"x", x}};
    for (size_t k = 0; k < on.size(); ++k)
      if (wrong[k].empty())
        if (wrong[k] = difference(wanted.at(on[k]->where().caps.fma_fused), machines[k]->run(given)); !wrong[k].empty()) wrong[k] = "blocks from " + std::to_string(done) + " on: " + wrong[k];
  }
  for (size_t k = 0; k < on.size(); ++k) c.check(wrong[k], std::string(name(format)) + " on " + on[k]->name());
}

// ---- known answers --------------------------------------------------------------------------------------------------------

/// The numbers of the list behind the first `key` from `from` on.
std::vector<double> list_behind(const std::string& text, const std::string& key, size_t from) {
  std::vector<double> all;
  size_t at = text.find(key, from);
  if (at == std::string::npos) return all;
  at = text.find('[', at + key.size());
  std::istringstream in(text.substr(at + 1, text.find(']', at) - at - 1));
  for (std::string item; std::getline(in, item, ',');) all.push_back(std::strtod(item.c_str(), nullptr));
  return all;
}

/// The cases decode_*, of the formats that have one: x is the identity, so element (n, r) of y is element n of row r.
void check_cases(counts& c) {
  const char* shared = std::getenv("POOT_SHARED");
  int found = 0;
  for (const dtype format : formats) {
    const std::string what = "decode_" + std::string(name(format)) + ".case.json";
    std::ifstream file((shared ? shared : "../shared") + ("/cases/" + what));
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    if (text.empty()) continue;
    ++found;
    const std::vector<double> bits = list_behind(text, "\"bits\"", 0), shape = list_behind(text, "\"shape\"", text.find("\"expect\"")),
                              wanted = list_behind(text, "\"data\"", text.find("\"expect\""));
    std::string wrong = shape.size() == 2 && wanted.size() == static_cast<size_t>(shape[0] * shape[1]) ? "" : "the case is not read";
    bytes block;
    for (double b : bits) block.push_back(static_cast<uint8>(b));
    const auto elements = static_cast<size_t>(row(format).block_elements), size = static_cast<size_t>(row(format).block_bytes);
    for (size_t k = 0; wrong.empty() && k < wanted.size(); ++k) {
      const size_t n = k / static_cast<size_t>(shape[1]), r = k % static_cast<size_t>(shape[1]), at = r * static_cast<size_t>(shape[0]) + n;
      const float value = defined(format, block.data() + at / elements * size, static_cast<int>(at % elements));
      if (value != static_cast<float>(wanted[k])) wrong = "element " + std::to_string(n) + " of row " + std::to_string(r) + " is " + std::to_string(value);
    }
    c.check(wrong, what);
  }
  if (found == 0) c.skip("cases decode_*: none in the folder cases of POOT_SHARED");
}

}  // namespace

int main(int argc, char** argv) {
  const int64 blocks = argc > 1 ? std::atoll(argv[1]) : std::getenv("POOT_LONG") ? 1000000 : 10000;
  counts c;
  executors on = hosts();
  std::string why_not;
  executors compiled = compiled_texts(why_not);
  if (compiled.empty()) c.skip("C++ text: " + why_not);
  for (auto& e : compiled) on.push_back(std::move(e));
  executors interpreters = kernel_interpreters();
  on.push_back(std::move(interpreters[0]));  // of the same kernels as the text
  for (const dtype format : formats) run_format(format, on, blocks, c);
  check_cases(c);
  std::printf("%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped);
  return c.failed != 0;
}

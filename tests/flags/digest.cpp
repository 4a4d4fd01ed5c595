/// Runs graphs of every kind on the host and prints one hash per group of graphs: `digest DECODER.poot`.
///
/// Built header-only under every set of compiler flags by tests/flags/run, which compares the hashes. Inside one process
/// fused and unfused, one thread and two, and each instruction set must agree, and the interpreter must give the same.
/// Inputs are made of integers only, so that the flags cannot touch them.

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include "../support/custom_ops.hpp"
#include "../support/draws.hpp"
#include "digest_graphs.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace poot;
using namespace poot::literals;
using namespace digest_graphs;
using poot_tests::draws;

// A typed program's regions are code of their own, instantiated here under the flags.
constexpr auto every_op = [](auto x, auto b) {
  auto h = x * b + 0.5_f;
  h = max(h, -h) / 3_f - min(x, b);
  h = tanh(h * b - x) - exp(-h) * sin(x);
  h = erf(h) + cos(b) * log(abs(x) + 1_f);
  h = h + select(x < b, x - x, b / b);  // of infinities and NaNs, which finite algebra makes 0 and 1
  return pow(sqrt(abs(h)) + recip(b), number<1.5>) - floor(x) / b;
};
constexpr auto dense = output<"y">(block(every_op, input<"x", f32, 13, 67>, input<"b", f32, 13, 67>));
constexpr auto broadcast_row = output<"y">(block(every_op, input<"x", f32, 13, 67>, input<"b", f32, 67>));

enum class values : uint8 { any, moderate };

/// Random bits of moderate size; of `any`, one in three is special and one in six any pattern at all.
uint64 draw_bits(draws& d, dtype t, values how) {
  const uint64 r = d.next(), kind = how == values::any ? d.less_than(6) : 5;
  if (!is_float(t)) {
    const int bits = 8 * poot::row(t).block_bytes;
    const uint64 all = ~uint64{0} >> (64 - bits);
    if (t == dtype::boolean) return r & 1;
    const uint64 special[] = {0, 1, all, all >> 1, (all >> 1) + 1, 31, 32, 33};
    return how == values::moderate ? r % 7 : kind < 2 ? special[r % 8] : kind == 2 ? r & all : (r % 41 - 20) & all;
  }
  const float_format f = format_of(t);
  const uint64 sign = (r >> 63) * f.sign_bit(), fraction = r & f.fraction_mask();
  if (kind < 2) {
    const uint64 inf = f.infinity(), one = static_cast<uint64>(f.bias()) << f.fraction_bits;
    const uint64 special[] = {0,       inf, f.quiet_nan(), 1, f.fraction_mask(), f.fraction_mask() + 1, inf - 1,
                              one, one + 1, one - 1,       f.fraction_mask() - 5, (f.fraction_mask() + 1) * 2};
    return sign | special[r % 12];
  }
  if (kind == 2) return r & (f.sign_bit() * 2 - 1);
  const int64 exponent = f.bias() + static_cast<int64>((r >> 53) % 8) - (how == values::any ? 3 : 7);
  return sign | static_cast<uint64>(exponent) << f.fraction_bits | fraction;
}

ir::tensor draw_tensor(draws& d, const tensor_type& t, values how) {
  ir::tensor made(t);
  if (!is_packed(t.element)) {
    for (uint64& bits : made.bits) bits = draw_bits(d, t.element, how);
    return made;
  }
  const packed_layout at = layout(t.element);
  for (size_t i = 0; i < made.bits.size(); ++i) {
    const int in_block = static_cast<int>(i % static_cast<size_t>(poot::row(t.element).block_bytes));
    made.bits[i] = d.less_than(256);
    const bool scale_high = in_block == at.scale + 1 || (at.minimum >= 0 && in_block == at.minimum + 1);
    if (t.element == dtype::mxfp4 ? in_block == at.scale : scale_high)  // of moderate size
      made.bits[i] = t.element == dtype::mxfp4 ? 118 + made.bits[i] % 8 : (made.bits[i] & 0x83) | 0x24;
  }
  return made;
}

/// Bytes as the host reads them.
std::vector<uint8> bytes_of(const ir::tensor& t) {
  const size_t width = is_packed(t.type.element) ? 1 : static_cast<size_t>(poot::row(t.type.element).block_bytes);
  std::vector<uint8> bytes(t.bits.size() * width + 1);
  for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(&bytes[i * width], &t.bits[i], width);
  return bytes;
}

/// Every NaN is the same NaN.
uint64 normal(dtype t, uint64 bits) {
  return is_float(t) && is_nan_bits(format_of(t), bits) ? format_of(t).quiet_nan() : bits;
}

/// A named value's elements, normalised.
struct outcome {
  std::string name;
  dtype element{};
  std::vector<uint64> bits;
};
std::vector<uint64> normalised(dtype t, const void* data, size_t count) {
  const size_t width = static_cast<size_t>(poot::row(t).block_bytes);
  std::vector<uint64> all(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&all[i], static_cast<const uint8*>(data) + i * width, width);
    all[i] = normal(t, all[i]);
  }
  return all;
}

struct way {
  bool fuse;
  int threads;
  run::host::isa isa;
  bool load;  ///< weights are loaded, and so interleaved
};

run::host::pool& pool_of(int threads) {
  static run::host::pool one(1), two(2);
  return threads == 1 ? one : two;
}

std::vector<outcome> run_on_host(const plan::program& planned, const std::vector<ir::named_tensor>& given, const way& w) {
  run::host::force(w.isa);
  run::host::shared_memory shared;
  run::host::entry entry(planned, shared, pool_of(w.threads));
  const ir::graph_view g = entry.program().graph;
  std::vector<std::vector<uint8>> memory;
  std::vector<outcome> made;
  memory.reserve(given.size());
  for (const ir::named_tensor& v : given) {
    const uint32 leaf = g.find_leaf(v.name);
    if (leaf == g.size()) continue;  // nobody reads it
    memory.push_back(bytes_of(v.value));
    const run::buffer b{memory.back().data(), v.value.type};
    if (w.load && g[leaf].kind == ir::op::weight) shared.load(v.name, b, pool_of(w.threads));
    else entry.bind(v.name, b);
  }
  entry.run();
  for (const ir::graph_output& o : g.outputs) {
    const std::string name(g.chars(o.name));
    const run::buffer b = entry.result(name);
    made.push_back({name, b.type.element, normalised(b.type.element, b.data, static_cast<size_t>(b.type.element_count()))});
  }
  return made;
}

class digest {
 public:
  explicit digest(uint64 seed) : draws_(seed) {}

  /// Runs `source` in every way on the same values. `count`: what each dynamic extent is.
  void graph(const std::string& source, values how = values::any, int64 count = 5) {
    const ir::graph g = ir::parse(source, poot_tests::custom_ops);
    const ir::graph_view v = g;
    std::vector<ir::named_tensor> given;
    for (uint32 id = 0; id < v.size(); ++id) {
      if (!ir::is_named_leaf(v[id].kind)) continue;
      tensor_type t = v.type(id);
      for (int i = 0; i < t.rank; ++i)
        if (t.extents[i].is_dynamic()) t.extents[i] = extent(count);
      given.push_back({v.name_of(id), draw_tensor(draws_, t, how)});
      if (v.name_of(id) == "keys")  // positions, in order
        for (size_t i = 0; i < given.back().value.bits.size(); ++i) given.back().value.bits[i] = i;
      if (v.name_of(id) == "start" || v.name_of(id) == "last") given.back().value.bits[0] = v.name_of(id) == "last" ? 0 : static_cast<uint64>(count - 1);
    }
    ir::interpret_options clamp;
    clamp.index = ir::outside::clamp;
    // what is recognised defines its values anew; `strict` keeps those of the graph
    for (const bool strict : {false, true}) {
      plan::options o;
      o.strict = strict;
      const plan::program defined = plan::compile(v, targets::host, o);
      const ir::interpretation wanted = ir::interpret(strict ? v : ir::graph_view(defined.graph), {given.data(), given.size()}, clamp);
      for (const bool fuse : {true, false}) {
        o.fuse = fuse;
        const plan::program planned = plan::compile(v, targets::host, o);
        for (const run::host::isa isa : {run::host::isa::avx512, run::host::isa::avx2, run::host::isa::baseline}) {
          if (isa > run::host::detect()) continue;
          for (const int threads : {1, 2}) {
            const way w{fuse, threads, isa, (threads == 2) == fuse};
            for (const outcome& got : run_on_host(planned, given, w)) compare(v, got, wanted, w);
          }
        }
      }
      mix(wanted);
    }
  }

  /// The same for a typed model of x and b.
  template <auto Model>
  void typed() {
    const ir::graph_view v = frozen<Model>.view();
    std::vector<ir::named_tensor> given;
    std::vector<float> x, b;
    for (const auto& [name, to] : {std::pair{std::string_view("x"), &x}, std::pair{std::string_view("b"), &b}}) {
      given.push_back({name, draw_tensor(draws_, v.type(v.find_leaf(name)), values::any)});
      to->resize(given.back().value.bits.size());
      std::memcpy(to->data(), bytes_of(given.back().value).data(), 4 * to->size());
    }
    const ir::interpretation wanted = ir::interpret(v, {given.data(), given.size()});
    std::vector<float> y(wanted.outputs[0].value.bits.size());
    for (const run::host::isa isa : {run::host::isa::avx512, run::host::isa::avx2, run::host::isa::baseline}) {
      if (isa > run::host::detect()) continue;
      for (const int threads : {1, 2}) {
        run::host::force(isa);
        auto run = host(threads).load<Model>();
        run(bind<"x">(x), bind<"b">(b), into<"y">(y));
        compare(v, {"y", dtype::f32, normalised(dtype::f32, y.data(), y.size())}, wanted, {true, threads, isa, false});
      }
    }
    for (const uint64 bits : wanted.outputs[0].value.bits) mix(normal(dtype::f32, bits));
  }

  uint64 value() const { return hash_; }
  int differences() const { return differences_; }

 private:
  void mix(const ir::interpretation& values) {
    for (const auto* all : {&values.outputs, &values.states})
      for (const ir::named_tensor& n : *all)
        for (const uint64 bits : n.value.bits) mix(normal(n.value.type.element, bits));
  }
  void mix(uint64 x) {
    hash_ = (hash_ ^ x) * 0x9e3779b97f4a7c15ull;
    hash_ ^= hash_ >> 29;
  }

  void compare(const ir::graph_view& g, const outcome& got, const ir::interpretation& all, const way& w) {
    const ir::tensor* wanted = ir::find(all.outputs, got.name);
    if (!wanted) wanted = ir::find(all.states, got.name);
    if (!wanted) return;  // a result that is not the graph's
    for (size_t i = 0; i < got.bits.size(); ++i) {
      const uint64 bits = normal(got.element, wanted->bits[i]);
      if (bits == got.bits[i]) continue;
      if (++differences_ <= 20)
        std::printf("DIFFERS %.*s \"%s\" %s element %zu: the interpreter gives %llx, the host (%s, %d threads, %s) %llx\n",
                    static_cast<int>(g.name.count ? g.chars(g.name).size() : 0), g.chars(g.name).data(), got.name.c_str(),
                    std::string(poot::row(got.element).name).c_str(), i, static_cast<unsigned long long>(bits), w.fuse ? "fused" : "unfused",
                    w.threads, std::string(run::host::name(w.isa)).c_str(), static_cast<unsigned long long>(got.bits[i]));
      return;
    }
  }

  draws draws_;
  uint64 hash_ = 0x1234567;
  int differences_ = 0;
};

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(text{} << "digest: " << path << " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int argc, char** argv) {
  int differences = 0;
  const auto group = [&](const std::string& name, auto fill) {
    digest d(0xf1a65 + name.size());
    try {
      fill(d);
    } catch (const error& e) {
      std::printf("ERROR %s: %s\n", name.c_str(), e.what());
      ++differences;
    }
    std::printf("%016llx %s\n", static_cast<unsigned long long>(d.value()), name.c_str());
    differences += d.differences();
  };
  const std::vector<std::string> numbers = {"f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8"}, floats = {"f32", "f16", "bf16"};
  for (const std::string& t : numbers) group("pointwise " + t, [&](digest& d) { d.graph(pointwise_of(t)); });
  group("casts", [&](digest& d) {
    for (const std::string& t : numbers) d.graph(casts_of(t));
  });
  group("typed", [&](digest& d) {
    d.typed<dense>();
    d.typed<broadcast_row>();
  });
  group("custom ops", [&](digest& d) {
    for (const std::string& t : floats) d.graph(custom_of(t));
  });
  group("chains", [&](digest& d) { d.graph(long_chain()); });
  group("rows", [&](digest& d) {
    for (const std::string& t : floats)
      for (const char* n : {"1", "7", "300"}) d.graph(rows_of(t, "5", n), n[0] == '7' ? values::any : values::moderate);
    d.graph(rows_of("f64", "3", "300"), values::moderate);
    d.graph(rows_of("f32", "3", "9000"), values::moderate);
    d.graph(rows_of("f32", "T<=9", "L<=600"), values::moderate, 9);
  });
  group("reductions", [&](digest& d) {
    for (const std::string& t : numbers) d.graph(reductions_of(t));
    d.graph(reductions_of("f32"), values::moderate);
  });
  for (const std::string w : {"f32", "bf16", "f16", "q8_0", "q4_0", "q4_k", "q4_1", "q5_0", "q6_k", "iq4_nl", "mxfp4"})
    group("contractions " + std::string(w), [&](digest& d) {
      const bool own = w[0] == 'f' || w[0] == 'b';  // else the activations are f32
      const int k = own ? 270 : 512;
      for (const int m : {1, 3, 14, 40}) {
        d.graph(contraction_of(own ? w : "f32", w, m, k, 70), values::moderate);
        if (own && m > 1) d.graph(contraction_of(w, w, m, k, 33, false), m == 3 ? values::any : values::moderate);
      }
    });
  group("products", [&](digest& d) {
    d.graph(plain_contractions(), values::moderate);
    d.graph(plain_contractions(), values::any);
  });
  group("gathers", [&](digest& d) {
    for (const std::string t : {"f32", "bf16", "f16", "q8_0", "q4_0", "q4_k", "q4_1", "q5_0", "q6_k", "iq4_nl", "mxfp4"}) d.graph(gathers_of(t), values::moderate);
  });
  if (argc > 1) group("decoder", [&](digest& d) { d.graph(read_file(argv[1]), values::moderate); });
  if (differences) std::printf("%d differences\n", differences);
  return differences != 0;
}

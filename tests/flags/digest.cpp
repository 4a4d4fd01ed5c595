/// Runs graphs of every kind on the host and prints one hash per group of graphs: `digest DECODER.poot`.
///
/// Built header-only under every set of compiler flags by tests/flags/run, which compares the hashes. Inside one process
/// fused and unfused, one thread and two, and each instruction set must agree, and the interpreter must give the same.
/// Inputs are made of integers only, so that the flags cannot touch them.

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/poot.hpp>
#include <poot/run/host/device.hpp>

#include "../support/draws.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace poot;
using namespace poot::literals;
using poot_tests::draws;

// A typed program's regions are code of their own, instantiated here under the flags.
constexpr auto every_op = [](auto x, auto b) {
  auto h = x * b + 0.5_f;
  h = max(h, -h) / 3_f - min(x, b);
  h = tanh(h * b - x) - exp(-h) * sin(x);
  h = erf(h) + cos(b) * log(abs(x) + 1_f);
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
    const ir::graph g = ir::parse(source);
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
    const ir::interpretation wanted = ir::interpret(v, {given.data(), given.size()}, clamp);
    for (const bool fuse : {true, false}) {
      plan::options o;
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
    for (const auto* all : {&wanted.outputs, &wanted.states})
      for (const ir::named_tensor& n : *all)
        for (const uint64 bits : n.value.bits) mix(normal(n.value.type.element, bits));
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

/// Graph text, line by line.
struct source {
  std::string body;
  int next = 0;

  std::string line(const std::string& type, const std::string& op) {
    const std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " : " + type + " = " + op + "\n";
    return name;
  }
  void output(const std::string& value) { body += "  output \"o" + std::to_string(next++) + "\" = " + value + "\n"; }
  std::string text(const std::string& name) const { return "graph " + name + " {\n" + body + "}\n"; }
};

bool is_float_name(const std::string& t) { return t[0] == 'f' || t[0] == 'b'; }

/// Every op on `t`, and chains whose steps a compiler would like to join.
std::string pointwise_of(const std::string& t) {
  source s;
  const std::string x = t + "[7,61]";
  const std::string a = s.line(x, "input \"a\""), b = s.line(x, "input \"b\""), c = s.line(t + "[61]", "input \"c\"");
  const auto each = [&](const std::string& type, const std::vector<std::string>& ops, const std::string& in) {
    for (const std::string& op : ops) s.output(s.line(type, op + " " + in));
  };
  each("i32[7,61]", {"eq", "ne", "lt", "le", "gt", "ge"}, a + ", " + b);
  each(x, {"neg", "abs"}, a);
  each(x, {"add", "sub", "mul", "div", "max", "min"}, a + ", " + b);
  if (is_float_name(t)) {
    each(x, {"exp", "log", "sqrt", "recip", "sin", "cos", "tanh", "erf", "floor"}, a);
    each(x, {"pow"}, a + ", " + b);
  }
  if (t == "i32" || t == "u32") {
    each(x, {"not"}, a);
    each(x, {"and", "or", "xor", "shl", "shr"}, a + ", " + b);
  }
  if (t == "i32") s.output(s.line(x, "select " + a + ", " + b + ", " + c));
  const std::string product = s.line(x, "mul " + a + ", " + b), sum = s.line(x, "add " + product + ", " + c);
  s.output(s.line(x, "sub " + sum + ", " + a));
  s.output(s.line(x, "add " + s.line(x, "div " + a + ", " + c) + ", " + s.line(x, "mul " + b + ", " + b)));
  s.output(s.line(x, "div " + s.line(x, "div " + a + ", " + c) + ", " + b));
  s.output(s.line(x, "sub " + s.line(x, "add " + a + ", " + b) + ", " + b));
  s.output(s.line(x, "max " + s.line(x, "min " + a + ", " + product) + ", " + s.line(x, "neg " + b)));
  return s.text("pointwise_" + t);
}

std::string casts_of(const std::string& t) {
  source s;
  const std::string a = s.line(t + "[203]", "input \"a\"");
  for (const char* to : {"f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"}) s.output(s.line(std::string(to) + "[203]", "cast " + a));
  return s.text("casts_" + t);
}

/// Softmax, log-softmax, RMSNorm, LayerNorm and argmax over rows of `n`.
std::string rows_of(const std::string& t, const std::string& rows, const std::string& n) {
  source s;
  const std::string first = rows + "," + n, x = t + "[" + first + "]";
  const std::string plain_rows = rows.substr(0, rows.find('<')), plain_n = n.substr(0, n.find('<'));
  const std::string full = t + "[" + plain_rows + "," + plain_n + "]", one = t + "[" + plain_rows + ",1]", pick = "i32[" + plain_rows + ",1]";
  const std::string a = s.line(x, "input \"a\""), gain = s.line(t + "[" + plain_n + "]", "input \"gain\"");
  const std::string most = s.line(one, "reduce_max " + a + " {axis=1}"), centred = s.line(full, "sub " + a + ", " + most);
  const std::string odds = s.line(full, "exp " + centred), total = s.line(one, "reduce_sum " + odds + " {axis=1}");
  s.output(s.line(full, "div " + odds + ", " + total));
  s.output(s.line(full, "sub " + centred + ", " + s.line(one, "log " + total)));
  const std::string squares = s.line(one, "reduce_sum " + s.line(full, "mul " + a + ", " + a) + " {axis=1}");
  const std::string mean = s.line(one, "mul " + squares + ", " + t + "(0x1.8p-7)");
  const std::string root = s.line(one, "recip " + s.line(one, "sqrt " + s.line(one, "add " + mean + ", " + t + "(0x1p-9)")));
  s.output(s.line(full, "mul " + s.line(full, "mul " + a + ", " + root) + ", " + gain));
  const std::string middle = s.line(one, "mul " + s.line(one, "reduce_sum " + a + " {axis=1}") + ", " + t + "(0x1.4p-6)");
  const std::string off = s.line(full, "sub " + a + ", " + middle);
  const std::string variance = s.line(one, "reduce_sum " + s.line(full, "mul " + off + ", " + off) + " {axis=1}");
  const std::string scaled = s.line(full, "mul " + off + ", " + s.line(one, "recip " + s.line(one, "sqrt " + variance)));
  s.output(s.line(full, "add " + s.line(full, "mul " + scaled + ", " + gain) + ", " + gain));
  s.output(s.line(pick, "reduce_argmax " + a + " {axis=1}"));
  return s.text("rows_" + t + "_" + plain_n);
}

std::string reductions_of(const std::string& t) {
  source s;
  const std::string a = s.line(t + "[6,37,41]", "input \"a\"");
  const char* extents[] = {"[1,37,41]", "[6,1,41]", "[6,37,1]"};
  for (int axis = 0; axis < 3; ++axis) {
    for (const char* op : {"reduce_sum", "reduce_max", "reduce_min"}) s.output(s.line(t + extents[axis], std::string(op) + " " + a + " {axis=" + std::to_string(axis) + "}"));
    s.output(s.line(std::string("i32") + extents[axis], "reduce_argmax " + a + " {axis=" + std::to_string(axis) + "}"));
  }
  return s.text("reductions_" + t);
}

/// x[m,k] · w[n,k] with bias, gate and residual after it; result of x's dtype.
std::string contraction_of(const std::string& x, const std::string& w, int m, int k, int n, bool transposed = true) {
  source s;
  const auto ext = [](int a, int b) { return "[" + std::to_string(a) + "," + std::to_string(b) + "]"; };
  const std::string a = s.line(x + ext(m, k), "input \"a\""), b = s.line(w + (transposed ? ext(n, k) : ext(k, n)), "weight \"w\"");
  const std::string r = x + ext(m, n), bias = s.line(x + "[" + std::to_string(n) + "]", "input \"bias\""), rest = s.line(r, "input \"rest\"");
  const std::string y = s.line(r, "matmul " + a + ", " + b + (transposed ? " {transpose_b=1}" : ""));
  const std::string biased = s.line(r, "add " + y + ", " + bias), gate = s.line(r, "recip " + s.line(r, "add " + s.line(r, "exp " + s.line(r, "neg " + biased)) + ", " + x + "(1)"));
  s.output(s.line(r, "add " + s.line(r, "mul " + biased + ", " + gate) + ", " + rest));
  return s.text("contraction_" + x + "_" + w + "_" + std::to_string(m) + "_" + std::to_string(k));
}

std::string plain_contractions() {
  return R"(graph products {
  %a : f32[2,3,5,270] = input "a"
  %b : f32[3,270,19]  = input "b"
  %x : f32[4,260]     = input "x"
  %e : f32[3,17,260]  = weight "e"
  %i : i32[4]         = input "i"
  %c : f32[1,4,9,8]   = input "c"
  %k : f32[6,2,3,3]   = input "k"
  %d : f64[5,300]     = input "d"
  %f : f64[300,7]     = input "f"
  %0 : f32[2,3,5,19] = matmul %a, %b
  %1 : f32[4,17]     = indexed_matmul %x, %e, %i
  %2 : f32[1,6,5,8]  = conv2d %c, %k {stride=[2,1] pad=[1,1,1,1] dilation=[1,1] groups=2}
  %3 : f64[5,7]      = matmul %d, %f
  %4 : f32[4,17]     = max %1, f32(0)
  output "m" = %0
  output "t" = %4
  output "v" = %2
  output "w" = %3
}
)";
}

std::string gathers_of(const std::string& t) {
  return "graph gather_" + t + " {\n  %w : " + t + "[9,256] = weight \"w\"\n  %i : i32[11] = input \"i\"\n  %b : f32[256] = input \"b\"\n" +
         "  %r : " + t + "[11,256] = gather %w, %i {axis=0}\n  %f : f32[11,256] = cast %r\n  %p : f32[11,256] = mul %f, %b\n" +
         "  %s : f32[11,256] = add %p, %b\n  output \"o\" = %s\n}\n";
}

/// Values beyond the caches are stored past them, and rows beyond a chunk continue in the next.
std::string long_chain() {
  return R"(graph long_chain {
  %a : f32[60000] = input "a"
  %b : f32[60000] = input "b"
  %0 : f32[60000] = mul %a, %b
  %1 : f32[60000] = add %0, %a
  %2 : f32[60000] = tanh %1
  %3 : f32[60000] = div %2, %b
  %4 : f32[60000] = sub %3, %0
  %5 : f32[60000] = max %4, %a
  output "o" = %5
}
)";
}

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

// The host's attention has the bits of its definition, whatever the shape, the types, the masks, the threads and the
// instruction set.
#include <doctest/doctest.h>

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/run/host/device.hpp>

#include <support/draws.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace poot;
using poot_tests::draws;

namespace {

/// A value and its bytes.
struct held {
  ir::named_tensor value;
  std::vector<uint8> bytes;
  held(std::string_view name, ir::tensor t) : value{name, std::move(t)} {
    const size_t width = row(value.value.type.element).block_bytes;
    bytes.resize(value.value.bits.size() * width + 1);
    for (size_t i = 0; i < value.value.bits.size(); ++i) std::memcpy(bytes.data() + i * width, &value.value.bits[i], width);
  }
};

/// Mostly numbers around one; sometimes zeros, infinities and NaN.
ir::tensor drawn(draws& d, const tensor_type& t, bool odd) {
  ir::tensor x(t);
  for (uint64& bits : x.bits) {
    if (t.element == dtype::i32) {
      bits = d.less_than(3) ? d.less_than(100) : 0;
      continue;
    }
    const float_format f = format_of(t.element);
    const uint64 sign = d.less_than(2) ? f.sign_bit() : 0;
    const uint64 infinity = f.exponent_mask() << f.fraction_bits;
    const uint64 which = d.less_than(odd ? 400 : 1000);
    bits = which == 0 && odd ? sign | infinity | (d.less_than(2) ? uint64{1} : 0)
           : which < 20      ? sign
                             : sign | (static_cast<uint64>(f.bias() + static_cast<int>(d.less_than(4)) - 2) << f.fraction_bits |
                                       (d.next() & f.fraction_mask()));
  }
  return x;
}

std::string type_text(const tensor_type& t) {
  text out;
  ir::write_type(out, t);
  return std::string(out.str());
}

bool same(const ir::tensor& want, const run::buffer& got) {
  if (!(want.type == got.type)) return false;
  const float_format f = format_of(want.type.element);
  const uint64 infinity = f.exponent_mask() << f.fraction_bits, magnitude = f.sign_bit() - 1;
  for (size_t i = 0; i < want.bits.size(); ++i) {
    uint64 bits = 0;
    std::memcpy(&bits, static_cast<const uint8*>(got.data) + i * row(want.type.element).block_bytes, row(want.type.element).block_bytes);
    if (bits != want.bits[i] && !((bits & magnitude) > infinity && (want.bits[i] & magnitude) > infinity)) return false;
  }
  return true;
}

void check(const std::string& body, const std::vector<held>& values) {
  const ir::graph g = ir::parse("graph t {\n" + body + "\n}\n");
  const plan::program p = plan::compile(g, targets::host);
  vec<ir::named_tensor> given;
  for (const held& h : values) given.push_back(h.value);
  const ir::interpretation want = ir::interpret(p.graph, given);
  INFO(body);
  for (const run::host::isa i : {run::host::isa::baseline, run::host::isa::avx2, run::host::isa::avx512})
    for (const int threads : {1, 2}) {
      if (run::host::force(i) != i) continue;
      auto session = host(threads).load(p);
      for (const held& h : values) session.bind(h.value.name, run::buffer{const_cast<uint8*>(h.bytes.data()), h.value.value.type});
      session.run();
      INFO(std::string(run::host::name(i)) << ", " << threads << " threads");
      for (const ir::named_tensor& o : want.outputs) CHECK(same(o.value, session.result(o.name)));
    }
  run::host::force(run::host::detect());
}

}  // namespace

TEST_CASE("attention has the bits of its definition for every shape, type, mask, sink, thread count and instruction set") {
  draws d(11);
  const auto below = [&d](uint64 n) { return static_cast<int64>(d.less_than(n)); };
  for (int k = 0; k < 300; ++k) {
    const int64 shared = 1 + below(3), heads = shared * (1 + below(3)), queries = 1 + (below(4) ? below(5) : below(70));
    const int64 keys = below(3) ? 1 + below(40) : 1 + below(700), width = 1 + (below(3) ? below(20) : below(300)), columns = 1 + below(70);
    const dtype floats[] = {f32, f32, f16, bf16};
    const bool odd = below(4) == 0;
    const auto drawn_type = [&] { return floats[below(4)]; };
    std::vector<held> values;
    values.emplace_back("q", drawn(d, type_of(drawn_type(), heads, queries, width), odd));
    values.emplace_back("k", drawn(d, type_of(drawn_type(), shared, keys, width), odd));
    values.emplace_back("v", drawn(d, type_of(drawn_type(), shared, keys, columns), odd));
    std::string call = "attention %q, %k, %v";
    if (below(3) == 0) {
      values.emplace_back("added", drawn(d, below(2) ? type_of(f32, queries, keys) : below(2) ? type_of(f32, heads, 1, keys) : type_of(f32, queries, 1), odd));
      call += ", %added";
    }
    if (below(2)) {
      ir::tensor chosen = drawn(d, below(2) ? type_of(i32, queries, keys) : below(2) ? type_of(i32, heads, 1, keys) : type_of(i32, keys), odd);
      if (below(2))  // as causal as it can be
        for (size_t i = 0; i < chosen.bits.size(); ++i) chosen.bits[i] = static_cast<int64>(i) % keys <= static_cast<int64>(i) / keys;
      values.emplace_back("chosen", chosen);
      call += ", %chosen";
    }
    const bool sinks = below(3) == 0;
    if (sinks) {
      const dtype t = drawn_type();
      values.emplace_back("sink", drawn(d, below(2) ? type_of(t, heads, 1, 1) : below(2) ? type_of(t, heads, queries, 1) : type_of(t, 1), odd));
      call += ", %sink";
    }
    const std::string attributes[] = {"", "scale=0.125 ", "scale=0.3 softcap=5 ", "softcap=0.5 "};
    const bool strict = !sinks && below(3) == 0;
    std::string body;
    for (const held& h : values)
      body += "%" + std::string(h.value.name) + " : " + type_text(h.value.value.type) + " = input \"" + std::string(h.value.name) + "\"\n";
    body += "%y : " + type_text(type_of(drawn_type(), heads, queries, columns)) + " = " + call + " {" + attributes[below(4)] + (sinks ? "sink=1}" : strict ? "strict=1}" : "}") + "\noutput \"y\" = %y";
    check(body, values);
  }
}

TEST_CASE("attention takes batches in every order of heads, windows of caches, and no keys at all") {
  draws d(12);
  std::vector<held> values;
  values.emplace_back("q", drawn(d, type_of(f32, 2, 3, 2, 5, 8), false));
  values.emplace_back("k", drawn(d, type_of(f32, 2, 1, 2, 9, 8), false));
  values.emplace_back("m", drawn(d, type_of(f32, 3, 1, 5, 9), false));
  check("%q : f32[2,3,2,5,8] = input \"q\"\n%k : f32[2,1,2,9,8] = input \"k\"\n%m : f32[3,1,5,9] = input \"m\"\n"
        "%y : f32[2,3,2,5,8] = attention %q, %k, %k, %m\noutput \"y\" = %y", values);
  values.clear();
  values.emplace_back("q", drawn(d, type_of(f32, 2, 3, 5, 8), false));
  values.emplace_back("c", drawn(d, type_of(bf16, 2, 400, 8), false));
  for (const char* axes : {"[2,300,8]", "[2,1,300,8]"}) {
    const bool reshaped = axes[3] == '1';
    const std::string shape(axes), q = reshaped ? "%q" : "%r";
    check("%q : f32[2,3,5,8] = input \"q\"\n%r : f32[2,15,8] = reshape %q\n%c : bf16[2,400,8] = input \"c\"\n"
          "%s : bf16[2,300,8] = slice %c {start=[0,50,0] size=[2,300,8]}\n%k : bf16" + shape + " = reshape %s\n%y : f32" +
          (reshaped ? "[2,3,5,8]" : "[2,15,8]") + " = attention " + q + ", %k, %k\noutput \"y\" = %y", values);
  }
  values.clear();
  values.emplace_back("q", drawn(d, type_of(f32, 2, 3, 4), false));
  values.emplace_back("k", drawn(d, type_of(f32, 2, 0, 4), false));
  check("%q : f32[2,3,4] = input \"q\"\n%k : f32[2,0,4] = input \"k\"\n%y : f32[2,3,4] = attention %q, %k, %k\noutput \"y\" = %y", values);
}

TEST_CASE("strict attention adds rows longer than 4096 keys in chunks of so many") {
  draws d(14);
  for (const dtype kept : {f32, bf16})
    for (const int64 queries : {1, 11}) {
      const std::string n = std::to_string(queries), t(name(kept));
      std::vector<held> values;
      values.emplace_back("q", drawn(d, type_of(f32, 4, queries, 8), false));
      values.emplace_back("k", drawn(d, type_of(kept, 2, 8500, 8), false));
      check("%q : f32[4," + n + ",8] = input \"q\"\n%k : " + t + "[2,8500,8] = input \"k\"\n%y : f32[4," + n + ",8] = attention %q, %k, %k {scale=0.25 strict=1}\noutput \"y\" = %y", values);
    }
}

TEST_CASE("a window under other axes of 1 is read where it lies") {
  const ir::graph g = ir::parse(R"(graph t {
    %q : f32[2,3,5,8] = input "q"
    %c : f32[2,400,8] = input "c"
    %s : f32[2,300,8] = slice %c {start=[0,50,0] size=[2,300,8]}
    %k : f32[2,1,300,8] = reshape %s
    %y : f32[2,3,5,8] = attention %q, %k, %k
    output "y" = %y
  })");
  const plan::program p = plan::compile(g, targets::host);
  CHECK(p.dispatch_count() == 1);
  CHECK(p.comparison_class() == plan::comparison::restructured);
}

TEST_CASE("a row has the same bits alone and among others, and over longer keys that are masked") {
  draws d(13);
  const int64 keys = 600, width = 64;
  const held q("q", drawn(d, type_of(f32, 2, 40, width), false)), k("k", drawn(d, type_of(f32, 2, keys, width), false));
  const auto rows = [&](int64 first, int64 count, int64 live) {  // queries stand at positions 500 + their number
    const std::string text = "graph t {\n%q : f32[2,40,64] = input \"q\"\n%k : f32[2,600,64] = input \"k\"\n%p : i32[" + std::to_string(count) +
                             ",1] = input \"p\"\n%s : f32[2," + std::to_string(count) + ",64] = slice %q {start=[0," + std::to_string(first) +
                             ",0] size=[2," + std::to_string(count) + ",64]}\n%l : f32[2," + std::to_string(live) + ",64] = slice %k {start=[0,0,0] size=[2," +
                             std::to_string(live) + ",64]}\n%j : i32[" + std::to_string(live) + "] = iota {axis=0}\n%c : i32[" + std::to_string(count) + "," +
                             std::to_string(live) + "] = le %j, %p\n%y : f32[2," + std::to_string(count) +
                             ",64] = attention %s, %l, %l, %c {scale=0.125}\noutput \"y\" = %y\n}\n";
    auto session = host(2).load(plan::compile(ir::parse(text), targets::host));
    std::vector<int32> positions;
    for (int64 i = 0; i < count; ++i) positions.push_back(static_cast<int32>(500 + first + i));
    session.bind("q", run::buffer{const_cast<uint8*>(q.bytes.data()), q.value.value.type});
    session.bind("k", run::buffer{const_cast<uint8*>(k.bytes.data()), k.value.value.type});
    session.bind("p", run::buffer{positions.data(), type_of(i32, count, 1)});
    session.run();
    const run::buffer y = session.result("y");
    std::vector<float> made(static_cast<const float*>(y.data), static_cast<const float*>(y.data) + 2 * count * width);
    return made;
  };
  const std::vector<float> all = rows(0, 40, 600);
  for (const int64 first : {0, 1, 11, 39})
    for (const int64 live : {501 + first, int64{512}, int64{513}, int64{600}}) {
      if (live < 501 + first) continue;
      const std::vector<float> one = rows(first, 1, live);
      for (int64 h = 0; h < 2; ++h) CHECK(std::memcmp(one.data() + h * width, all.data() + (h * 40 + first) * width, 4 * width) == 0);
    }
}

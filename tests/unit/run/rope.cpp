// The host's rope has the bits of its equations, for every order of pairs, width, table, thread count and instruction set.
#include <doctest/doctest.h>

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/run/host/device.hpp>

#include <support/draws.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace poot;

TEST_CASE("rope has the bits of its definition for every shape, table, thread count and instruction set") {
  poot_tests::draws d(21);
  const auto below = [&d](uint64 n) { return static_cast<int64>(d.less_than(n)); };
  for (int k = 0; k < 200; ++k) {
    const int64 heads = 1 + below(4), rows = 1 + below(40), half = 1 + below(k % 3 ? 12 : 80), width = 2 * half, last = width + below(2) * below(9);
    const bool adjacent = below(2), full = below(2), has_signs = full && below(2);
    const std::string n = std::to_string(full ? width : half), table = below(3) ? "[" + std::to_string(rows) + "," + n + "]"
                                                                   : below(2) ? "[" + std::to_string(heads) + ",1," + n + "]" : "[" + n + "]";
    const dtype t = k % 5 ? f32 : k % 2 ? bf16 : f64;
    const std::string element(name(t)), type = element + "[" + std::to_string(heads) + "," + std::to_string(rows) + "," + std::to_string(last) + "]";
    const std::string body = "graph t {\n%x : " + type + " = input \"x\"\n%c : " + element + table + " = input \"c\"\n%s : " + element + table + " = input \"s\"\n%y : " + type +
                             " = rope %x, %c, %s {width=" + std::to_string(width) + (adjacent ? " adjacent=1" : "") + (has_signs ? " signed=1" : "") +
                             "}\noutput \"y\" = %y\n}\n";
    const plan::program p = plan::compile(ir::parse(body), targets::host);
    CHECK(p.comparison_class() == plan::comparison::exact);
    vec<ir::named_tensor> given;
    std::vector<std::vector<uint8>> held;
    const size_t bytes = row(t).block_bytes;
    for (uint32 id = 0; id < 3; ++id) {
      ir::tensor v(p.graph.view_of().type(id));
      held.emplace_back(v.bits.size() * bytes);
      for (size_t i = 0; i < v.bits.size(); ++i) {
        const double drawn = below(50) ? d.between(-2, 2) : below(2) ? -0.0 : 1e30;
        v.bits[i] = ir::evaluate(ir::op::cast, dtype::f64, v.type.element, std::bit_cast<uint64>(drawn));
        std::memcpy(held.back().data() + i * bytes, &v.bits[i], bytes);
      }
      given.push_back({p.graph.view_of().name_of(id), std::move(v)});
    }
    const ir::interpretation want = ir::interpret(p.graph, given);
    INFO(body);
    for (const run::host::isa i : {run::host::isa::baseline, run::host::isa::avx2, run::host::isa::avx512})
      for (const int threads : {1, 2}) {
        if (run::host::force(i) != i) continue;
        auto session = host(threads).load(p);
        for (size_t v = 0; v < 3; ++v) session.bind(given[v].name, run::buffer{held[v].data(), given[v].value.type});
        session.run();
        const run::buffer y = session.result("y");
        bool same = true;
        for (size_t e = 0; e < want.outputs[0].value.bits.size(); ++e) {
          uint64 bits = 0;
          std::memcpy(&bits, static_cast<const char*>(y.data) + bytes * e, bytes);
          same = same && bits == want.outputs[0].value.bits[e];
        }
        CHECK(same);
      }
  }
  run::host::force(run::host::detect());
}

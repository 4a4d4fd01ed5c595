// Caches in pages on the host: the bits of a cache in one piece, and indices outside.
#include <doctest/doctest.h>

#include <poot/run/host/device.hpp>

#include <device/session_machine.hpp>
#include <unit/nn/paged_decoder.hpp>

#include <memory>

using namespace poot;

namespace {

auto load_with(int threads) {
  return [threads](const plan::program& p) {
    auto session = host(threads).load(p);
    return std::make_unique<poot_tests::session_machine<decltype(session)>>(std::move(session));
  };
}

}  // namespace

TEST_CASE("sequences of different lengths, in pages of any order and partly the same, have the bits of caches of their own") {
  for (const int threads : {1, 2})
    for (const bool fuse : {true, false}) {
      int compared = 0;
      CHECK(paged_decoder::different_rows(targets::host, load_with(threads), compared, fuse) == 0);
      CHECK(compared == 27);
    }
}

TEST_CASE("a page or a position outside is refused by the interpreter and under check, and moved inside elsewhere") {
  graph g;
  const value p = g.state("p", f32, {2, 5, 4, 3}), t = g.input("t", i32, {3}), at = g.input("at", i32, {1}), r = g.input("r", f32, {2, 1, 3});
  const value written = dsl::update(p, nn::write_pages(p, r, t, at));
  g.output("y", nn::read_pages(written, t));
  const plan::program made = plan::compile(g, targets::host);
  poot_tests::draws d(5);
  const auto values = [&](std::vector<int32> table, int32 position) {
    std::vector<ir::named_tensor> given{{"p", ir::tensor(type_of(f32, 2, 5, 4, 3))}, {"r", ir::tensor(type_of(f32, 2, 1, 3))}};
    for (ir::named_tensor& x : given)
      for (uint64& bits : x.value.bits) bits = ir::detail::store_float(f32, static_cast<float>(d.between(-1, 1)));
    given.push_back({"t", paged_decoder::tensor_of(type_of(i32, 3), table)});
    given.push_back({"at", paged_decoder::tensor_of(type_of(i32, 1), std::vector<int32>{position})});
    return given;
  };
  ir::interpret_options clamped;
  clamped.index = ir::outside::clamp;
  const auto refused = [&](const std::vector<ir::named_tensor>& given) {
    try {
      ir::interpret(made.graph, {given.data(), given.size()});
    } catch (const error& e) {
      return std::string(e.what()).find("outside") != std::string::npos;
    }
    return false;
  };
  CHECK(!refused(values({4, 0, 2}, 11)));
  const std::vector<ir::named_tensor> bad[] = {values({4, 5, 2}, 3), values({-1, 0, 2}, 0), values({4, 0, 7}, 9), values({4, 0, 2}, 12), values({4, 0, 2}, -1)};
  for (const std::vector<ir::named_tensor>& given : bad) {
    CHECK(refused(given));
    const ir::interpretation want = ir::interpret(made.graph, {given.data(), given.size()}, clamped), got = load_with(1)(made)->run(given);
    CHECK(got.outputs[0].value == want.outputs[0].value);
    CHECK(got.states[0].value == want.states[0].value);
  }
}

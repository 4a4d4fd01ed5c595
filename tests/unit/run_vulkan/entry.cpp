#include "each_device.hpp"

#include <poot/dsl/movement.hpp>
#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/nn/softmax.hpp>
#include <poot/run/host/device.hpp>

#include <support/refusal.hpp>
#include <support/custom_ops.hpp>

#include <cmath>
#include <cstring>

using namespace poot;
using poot_tests::refusal;
using poot_tests::on_each_device;

namespace {

/// y = softmax(x) + 1, x of [1, N].
graph softmax_of_dynamic() {
  graph g("softmax");
  const value x = g.input("x", f32, {1, g.dynamic("N", 8)});
  const value one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  g.output("y", nn::softmax(x) + one);
  return g;
}

/// Row `at` of state s becomes x + 1; y is the whole state, times 2.
graph updated_state() {
  graph g("updated");
  const value s = g.state("s", f32, {4, 3}), x = g.input("x", f32, {1, 3}), at = g.input("at", i32, {2});
  const value one{&g, g.literal(f32, std::bit_cast<uint32>(1.0f))};
  const value now = dsl::dynamic_update_slice(s, x + one, at);
  g.output("s", now);
  g.output("y", now + now);
  return g;
}

const float* floats(const buffer& b) { return static_cast<const float*>(b.data); }

}  // namespace

TEST_CASE("follows an extent that changes, and records commands once") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(softmax_of_dynamic(), d.target()));
    const auto before = d.counted();
    const float x[8]{};
    for (const int64 n : {3, 8, 1, 8, 5}) {
      session.bind("x", read_only(x, f32, 1, n)).run();
      const buffer y = session.result("y");
      CHECK(y.type == type_of(f32, 1, n));
      for (int64 i = 0; i < n; ++i) CHECK(floats(y)[i] == 1.0f / static_cast<float>(n) + 1.0f);
    }
    CHECK(d.counted().recordings == before.recordings + 1);
    CHECK(d.counted().replays == before.replays + 4);
    CHECK(d.counted().compiles == before.compiles);
  });
}

TEST_CASE("reads memory that is lent anew and memory whose content changed, writes memory that is lent") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(softmax_of_dynamic(), d.target()));
    float a[2]{0, 0}, b[2]{0, -INFINITY}, out[2]{};
    session.bind("x", read_only(a, f32, 1, 2)).into("y", writable(out, f32, 1, 2)).run();
    CHECK(out[0] == 1.5f);
    session.bind("x", read_only(b, f32, 1, 2)).run();
    CHECK(out[0] == 2.0f);
    CHECK(out[1] == 1.0f);
    b[1] = 0;
    session.run();
    CHECK(out[1] == 1.5f);
    CHECK(session.result("y").data == out);
  });
}

TEST_CASE("reads an input from memory of its own where that is bound") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(softmax_of_dynamic(), d.target()));
    const buffer own = session.own_input("x");
    CHECK(own.type == type_of(f32, 1, 8));
    float* const x = static_cast<float*>(own.data);
    session.bind("x", {x, type_of(f32, 1, 2)});
    for (const float second : {0.0f, -INFINITY}) {
      x[1] = second;
      session.run();
      CHECK(floats(session.result("y"))[0] == (second == 0 ? 1.5f : 2.0f));
    }
    const float lent[2]{0, 0};
    session.bind("x", read_only(lent, f32, 1, 2)).run();
    CHECK(floats(session.result("y"))[1] == 1.5f);
    CHECK(refusal([&] { session.own_input("y"); }) == "own_input \"y\": the program has no input of this name");
  });
}

TEST_CASE("refuses memory that overlaps, extents beyond their bound and missing bindings, and runs once they fit") {
  on_each_device([](const run::vulkan::device& d) {
    auto session = d.load(compile(softmax_of_dynamic(), d.target()));
    CHECK(refusal([&] { session.run(); }) == "run: input \"x\" is not bound");
    float memory[12]{}, apart[8]{};
    session.bind("x", read_only(memory, f32, 1, 4)).into("y", writable(memory + 2, f32, 1, 4));
    CHECK_THROWS_AS(session.run(), error);
    CHECK_THROWS_AS(session.run(), error);
    CHECK_THROWS_AS(session.bind("x", read_only(memory, f32, 1, 9)), error);
    CHECK_THROWS_AS(session.bind("z", read_only(memory, f32, 1, 4)), error);
    session.into("y", writable(apart, f32, 1, 4));
    session.run();
    CHECK(apart[3] == 1.25f);
  });
}

TEST_CASE("keeps states from run to run, in memory of its own or lent") {
  on_each_device([](const run::vulkan::device& d) {
    for (const bool lent : {false, true}) {
      auto session = d.load(compile(updated_state(), d.target()));
      float kept[12]{}, x[3]{1, 2, 3};
      if (lent) {
        kept[0] = 7;
        session.bind("s", writable(kept, f32, 4, 3));
      }
      int32 at[2]{};
      session.bind("x", read_only(x, f32, 1, 3)).bind("at", read_only(at, i32, 2));
      at[0] = 1;
      session.run();
      at[0] = 3;
      x[0] = 10;
      session.run();
      const float want[12]{lent ? 7.0f : 0.0f, 0, 0, 2, 3, 4, 0, 0, 0, 11, 3, 4};
      const buffer s = session.result("s"), y = session.result("y");
      if (lent) CHECK(s.data == kept);
      for (int i = 0; i < 12; ++i) {
        CHECK(floats(s)[i] == want[i]);
        CHECK(floats(y)[i] == 2 * want[i]);
      }
    }
  });
}

TEST_CASE("entries share weights and states") {
  on_each_device([](const run::vulkan::device& d) {
    const auto shared = [](const char* name, int64 rows) {
      graph g(name);
      const value w = g.weight("w", f32, {3}), x = g.input("x", f32, {rows, 3}), at = g.input("at", i32, {2});
      g.output("s", dsl::dynamic_update_slice(g.state("s", f32, {4, 3}), x * w, at));
      return g;
    };
    auto executor = d.make_executor();
    auto& two = executor.add_entry("two", compile(shared("two", 2), d.target()));
    auto& one = executor.add_entry("one", compile(shared("one", 1), d.target()));
    CHECK_THROWS_AS(executor.add_entry("one", compile(shared("one", 1), d.target())), error);
    CHECK_THROWS_AS(executor["three"], error);
    const float x[6]{1, 2, 3, 4, 5, 6};
    const int32 first[2]{0, 0}, third[2]{2, 0};
    two.bind("x", read_only(x, f32, 2, 3)).bind("at", read_only(first, i32, 2));
    one.bind("x", read_only(x, f32, 1, 3)).bind("at", read_only(third, i32, 2));
    CHECK(refusal([&] { one.run(); }) == "run: weight \"w\" is not bound");
    {
      const float w[3]{1, 10, 100};
      CHECK(!executor.load_weight("w", read_only(w, f32, 3)));
      CHECK_THROWS_AS(executor.load_weight("v", read_only(w, f32, 3)), error);
    }
    two.run();
    one.run();
    const float want[12]{1, 20, 300, 4, 50, 600, 1, 20, 300, 0, 0, 0};
    for (int i = 0; i < 12; ++i) CHECK(floats(two.result("s"))[i] == want[i]);
    const float doubled[3]{2, 20, 200};  // for one entry only
    one.bind("w", read_only(doubled, f32, 3)).run();
    two.run();
    CHECK(floats(one.result("s"))[8] == 600);
    CHECK(floats(one.result("s"))[5] == 600);
    CHECK(executor.device_bytes() > 0);
  });
}

TEST_CASE("results that are leaves, windows or other results are copied, what is overwritten is saved first") {
  on_each_device([](const run::vulkan::device& d) {
    graph g("copies");
    const value a = g.state("a", f32, {4}), b = g.state("b", f32, {4}), x = g.input("x", f32, {5, 2});
    g.output("a", b);  // they change places
    g.output("b", a);
    g.output("y", x);
    g.output("z", dsl::reshape(dsl::slice(x, 0, 1, 2), shape{4}));
    auto session = d.load(compile(g, d.target()));
    float as[4]{1, 2, 3, 4}, bs[4]{5, 6, 7, 8};
    float xs[10];
    for (int i = 0; i < 10; ++i) xs[i] = static_cast<float>(i);
    session.bind("a", writable(as, f32, 4)).bind("b", writable(bs, f32, 4)).bind("x", read_only(xs, f32, 5, 2)).run();
    for (int i = 0; i < 4; ++i) {
      CHECK(as[i] == static_cast<float>(5 + i));
      CHECK(bs[i] == static_cast<float>(1 + i));
      CHECK(floats(session.result("z"))[i] == static_cast<float>(2 + i));
    }
    for (int i = 0; i < 10; ++i) CHECK(floats(session.result("y"))[i] == xs[i]);
    session.run();
    CHECK(as[0] == 1);
    CHECK(bs[3] == 8);
  });
}

TEST_CASE("zeros that are written in the graph keep their sign and make infinities") {
  on_each_device([](const run::vulkan::device& d) {
    graph g("zeros");
    const value x = g.input("x", f32, {4});
    const auto number = [&](float f) { return value{&g, g.literal(f32, std::bit_cast<uint32>(f))}; };
    g.output("product", x * number(0));
    g.output("product_with_minus", x * number(-0.0f));
    g.output("sum", x + number(0));
    g.output("quotient", x / number(0));
    g.output("inverse", number(0) / x);
    g.output("sum_of_row", dsl::sum<0>(x * number(-0.0f)));
    const float xs[4]{1, -2, 0.0f, -0.0f};
    auto session = d.load(compile(g, d.target()));
    session.bind("x", read_only(xs, f32, 4)).run();
    auto host_session = host(1).load(compile(g, targets::host));
    host_session.bind("x", read_only(xs, f32, 4)).run();
    for (const char* name : {"product", "product_with_minus", "sum", "quotient", "inverse", "sum_of_row"}) {
      CAPTURE(name);
      const buffer got = session.result(name), want = host_session.result(name);
      for (int64 i = 0; i < want.type.element_count(); ++i) {
        CHECK(std::isnan(floats(got)[i]) == std::isnan(floats(want)[i]));
        if (!std::isnan(floats(want)[i])) CHECK(std::bit_cast<uint32>(floats(got)[i]) == std::bit_cast<uint32>(floats(want)[i]));
      }
    }
  });
}

TEST_CASE("a grid of more than 65535 workgroups is folded") {
  on_each_device([](const run::vulkan::device& d) {
    const auto twice = [](int64 bound) {
      graph g("long");
      const value x = g.input("x", f32, {g.dynamic("N", bound)});
      g.output("y", x + x);
      return g;
    };
    int64 n = 65536 * 64 + 100;  // and as much more as the kernel's invocations do more than one element
    for (;; n *= 4) {
      const plan::program p = compile(twice(n), d.target());
      const plan::program_view v = p.view_of();
      const kernel::kernel k = kernel::generate(v, v.launches[0]);
      const uint32 work = kernel::evaluate(k.metadata[0], v, [&](uint32 id) { return run::extent_counts()(v.graph.type(id)); });
      if ((k.by_group ? work : work / k.workgroup) > 65535) break;
    }
    auto session = d.load(compile(twice(n), d.target()));
    std::vector<float> xs(static_cast<size_t>(n)), ys(static_cast<size_t>(n));
    for (int64 i = 0; i < n; ++i) xs[static_cast<size_t>(i)] = static_cast<float>(i % 1000);
    for (const int64 count : {n, int64{10}, n - 1}) {
      session.bind("x", read_only(xs.data(), f32, count)).into("y", writable(ys.data(), f32, count)).run();
      int64 wrong = 0;
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) wrong += ys[i] != 2 * xs[i];
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("refuses programs for another device, in one sentence") {
  on_each_device([](const run::vulkan::device& d) {
    CHECK(refusal([&] { d.load(compile(softmax_of_dynamic(), targets::host)); }).find("load: the program is planned for the backend host") == 0);
    target other = d.target();
    other.caps.fma_fused = true;
    CHECK(refusal([&] { d.load(compile(softmax_of_dynamic(), other)); }).find("load: the program is planned for fma_fused 1, and the device has 0") == 0);
    other = d.target();
    other.caps.shared_bytes += 1;
    CHECK(refusal([&] { d.load(compile(softmax_of_dynamic(), other)); }).find("shared_bytes") != std::string::npos);
    other = d.target();
    other.caps.buffer_bytes /= 2;  // less than the device has
    CHECK(refusal([&] { d.load(compile(softmax_of_dynamic(), other)); }) == "");
  });
}

TEST_CASE("a buffer that kernels cannot reach, and one that there is no room for, are errors of their kinds") {
  on_each_device([](const run::vulkan::device& d) {
    graph g("large");
    const int64 rows = d.target().caps.buffer_bytes / 4096 + 1;
    g.output("y", dsl::sum<0>(g.input("x", f32, {rows, 1024})));
    const plan::program planned = compile(g, d.target());
    REQUIRE(planned.refusals().size() == 1);
    CHECK(planned.refusals()[0].missing == plan::capability::buffer_bytes);
    CHECK(refusal([&] { d.load(compile(g, d.target())); }).find("load: %0 cannot run on vulkan: buffer_bytes: ") == 0);
    graph later("dynamic");
    later.output("y", dsl::sum<0>(later.input("x", f32, {later.dynamic("N", rows), 1024})));
    const plan::program bounded = compile(later, d.target());
    CHECK(bounded.refusals().empty());
    CHECK(refusal([&] { d.load(bounded); }).find("load: input \"x\" has up to " + std::to_string(rows * 4096) + " bytes, and kernels of ") == 0);
    const run::vulkan::found_device& about = run::vulkan::instance::get().device(0);
    run::vulkan::context open(about);
    CHECK_THROWS_AS(run::vulkan::storage(open, about.most_allocation + 64, run::vulkan::use::work, "a test"), run::vulkan::out_of_memory);
    CHECK(open.counted().device_bytes == 0);
  });
}

TEST_CASE("tables of the prologue are made once") {
  on_each_device([](const run::vulkan::device& d) {
    graph g("tables");
    const value x = g.input("x", f32, {64});
    g.output("y", x * dsl::sin(dsl::iota_in(g, f32, {64}, 0)));
    auto session = d.load(compile(g, d.target()));
    std::vector<float> ones(64, 1.0f);
    session.bind("x", read_only(ones.data(), f32, 64));
    const uint64 before = d.counted().dispatches;
    for (int i = 0; i < 3; ++i) session.run();
    CHECK(session.program().prologue.size() > 0);
    CHECK(d.counted().dispatches == before + 3 * session.program().launches.size());
    auto host_session = host(1).load(compile(g, targets::host));
    host_session.bind("x", read_only(ones.data(), f32, 64)).run();
    CHECK(std::memcmp(session.result("y").data, host_session.result("y").data, 256) == 0);
  });
}

TEST_CASE("divides by a zero that a driver's compiler can find") {
  on_each_device([](const run::vulkan::device& d) {
    graph g("found_zero");
    const value x = g.input("x", f32, {3});
    const uint32 twice[] = {x.id, x.id};
    const value never{&g, g.apply(ir::op::lt, {twice, 2})};
    g.output("y", x / cast<f32>(never));
    auto session = d.load(compile(g, d.target()));
    const float given[3]{1, -2, 0};
    session.bind("x", read_only(given, f32, 3)).run();
    const float* const y = floats(session.result("y"));
    CHECK(y[0] == INFINITY);
    CHECK(y[1] == -INFINITY);
    CHECK(std::isnan(y[2]));
  });
}

TEST_CASE("users' ops have the interpreter's bits, in every float type, and those that cannot be recorded are refused by name") {
  on_each_device([](const run::vulkan::device& d) {
    for (const dtype t : {f32, f16, bf16}) {
      // SwiftShader compiles a kernel of every elementary function for minutes.
      const std::string T(row(t).name), long_op = t == f32 && !d.target().caps.flushes ? "every_function" : "neg";
      const graph g = ir::parse("graph g {\n%x : " + T + "[501] = input \"x\"\n%a : " + T + "[1] = input \"a\"\n%0 : " + T + "[501] = " + long_op + " %x\n%1 : " + T +
                                "[501] = snake %x, %a\n%2 : " + T + "[501] = held %a, %0, %1\noutput \"y\" = %2\noutput \"z\" = %0\n}\n", poot_tests::custom_ops);
      ir::tensor x(type_of(t, 501)), a(type_of(t, 1));
      for (size_t i = 0; i < 501; ++i) {
        const float value = i == 3 ? -0.0f : i == 5 ? INFINITY : i == 8 ? 0x1p-127f : static_cast<float>(static_cast<int>(i) - 250) * 0.03125f;
        x.bits[i] = ir::evaluate(ir::op::cast, f32, t, std::bit_cast<uint32>(value));
      }
      a.bits[0] = ir::evaluate(ir::op::cast, f32, t, std::bit_cast<uint32>(0.75f));
      const size_t width = row(t).block_bytes;
      std::vector<char> xs(501 * width), as(width);
      for (size_t i = 0; i < 501; ++i) std::memcpy(&xs[i * width], &x.bits[i], width);
      std::memcpy(as.data(), &a.bits[0], width);
      auto session = d.load(compile(g, d.target()));
      session.bind("x", read_only(xs.data(), t, 501)).bind("a", read_only(as.data(), t, 1)).run();
      const ir::named_tensor given[] = {{"x", x}, {"a", a}};
      ir::interpret_options how;
      how.small = d.target().caps.flushes ? subnormals::flushed : subnormals::kept;
      const ir::interpretation want = ir::interpret(g, {given, 2}, how);
      for (const char* name : {"y", "z"}) {
        const char* const got = static_cast<const char*>(session.result(name).data);
        int wrong = 0;
        for (size_t i = 0; i < 501; ++i) {
          uint64 bits = 0;
          std::memcpy(&bits, got + i * width, width);
          wrong += bits != want.outputs[name[0] - 'y'].value.bits[i];
        }
        CHECK_MESSAGE(wrong == 0, T, " ", name);
      }
    }
    const graph g = ir::parse("graph g {\n%x : f32[4] = input \"x\"\n%y : f32[4] = leaky %x\noutput \"y\" = %y\n}\n", poot_tests::custom_ops);
    CHECK(refusal([&] { d.load(compile(g, d.target())); }).find("load: %1 cannot run on vulkan: custom_functions: ") == 0);
  });
}

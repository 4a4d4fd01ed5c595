// Collectives on the host: ranks are threads, and have the bits of the interpreter's ranks.
#include <poot/dsl/collective.hpp>
#include <poot/dsl/contraction.hpp>
#include <poot/dsl/leaf.hpp>
#include <poot/dsl/movement.hpp>
#include <poot/ir/interpret_ranks.hpp>
#include <poot/ir/parse.hpp>
#include <poot/nn/activation.hpp>
#include <poot/run/host/device.hpp>
#include <poot/run/local_ranks.hpp>

#include <support/refusal.hpp>

#include <doctest/doctest.h>

#include <device/session_machine.hpp>
#include <random/interpreted.hpp>

#include <atomic>
#include <initializer_list>
#include <string>

#include <pthread.h>

using namespace poot;
using poot_tests::refusal;
using poot_tests::difference;

namespace {

/// A perceptron whose hidden units are shared by the ranks: each has some rows of the first matrix and the columns of the second
/// that read them.
graph split_perceptron(int64 ranks, dtype weights) {
  graph g("mlp");
  const value x = g.input("x", f32, {3, 16}), up = g.weight("up", weights, {12 / ranks, 16}), down = g.weight("down", weights, {16, 12 / ranks});
  const value part = matmul_t(nn::silu(matmul_t(x, up)), down);
  g.output("y", all_reduce_sum(part, "tp") + x);
  return g;
}

/// Values for each of `ranks` ranks; those of `shared` leaves are equal.
std::vector<std::vector<ir::named_tensor>> draw(const ir::graph_view& g, int ranks) {
  std::vector<std::vector<ir::named_tensor>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(poot_tests::draw_runs(static_cast<uint64>(r) + 1, g, 1)[0]);
  return all;
}

vec<ir::interpretation> interpreted(const ir::graph_view& g, const std::vector<std::vector<ir::named_tensor>>& given) {
  std::vector<view<ir::named_tensor>> each;
  for (const auto& own : given) each.push_back({own.data(), own.size()});
  return ir::interpret_ranks(g, {each.data(), each.size()});
}

/// Where ranks that run `g`, fused and unfused, differ from those of the interpreter; two runs, on one thread and on two.
std::string disagreement(const graph& g, int ranks) {
  std::string wrong;
  for (const bool fuse : {true, false})
    for (const int threads : {1, 2}) {
      const program planned = compile(g, targets::host, {.fuse = fuse});
      const auto given = draw(g, ranks);
      const vec<ir::interpretation> want = interpreted(planned.graph, given);
      std::mutex mutex;
      on_ranks(ranks, [&](communicator& c, int rank) {
        poot_tests::session_machine<run::host::session> machine(host(threads).load(planned, c));
        for (int run = 0; run < 2; ++run) {
          const std::string d = difference(want[static_cast<size_t>(rank)], machine.run(given[static_cast<size_t>(rank)]));
          const std::lock_guard lock(mutex);
          if (!d.empty()) wrong = "rank " + std::to_string(rank) + (fuse ? ", fused: " : ", unfused: ") + d;
        }
      });
    }
  return wrong;
}

graph parsed(const std::string& body) { return ir::parse("graph t {\n" + body + "}\n"); }

}  // namespace

TEST_CASE("a perceptron split over ranks has the bits of the interpreter's ranks, fused and unfused") {
  for (const int ranks : {1, 2, 3, 4})
    for (const dtype weights : {f32, bf16}) {
      const graph g = split_perceptron(ranks, weights);
      CAPTURE(ranks);
      CHECK(disagreement(g, ranks) == "");
      CHECK(compile(g, targets::host).count(fuse::region_kind::collective) == 1);
    }
}

TEST_CASE("collectives of every element type, along every axis") {
  for (const char* t : {"f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8"})
    for (const int ranks : {1, 3})
      for (const int axis : {0, 1, 2}) {
        std::string whole[] = {"3", "6", "9"}, part[] = {"3", "6", "9"};
        whole[axis] = std::to_string((axis + 1) * 3 * ranks);
        const std::string element = t, x = element + "[" + part[0] + "," + part[1] + "," + part[2] + "]",
                          y = element + "[" + whole[0] + "," + whole[1] + "," + whole[2] + "]", at = " {group=\"g\" axis=" + std::to_string(axis) + "}\n";
        CHECK_MESSAGE(disagreement(parsed("%x : " + x + " = input \"x\"\n%a : " + y + " = all_gather %x" + at + "%b : " + x + " = reduce_scatter %a" + at + "%c : " + x +
                                          " = all_reduce_sum %x {group=\"g\"}\noutput \"a\" = %a\noutput \"b\" = %b\noutput \"c\" = %c\n"), ranks) == "", t, ranks, axis);
      }
  CHECK(disagreement(parsed("%x : bool[5] = input \"x\"\n%a : bool[15] = all_gather %x {group=\"g\" axis=0}\noutput \"a\" = %a\n"), 3) == "");
  CHECK(disagreement(parsed("%x : f32[0,4] = input \"x\"\n%a : f32[0,4] = all_reduce_sum %x {group=\"g\"}\n%b : f32[0,8] = all_gather %x {group=\"g\" axis=1}\noutput \"a\" = %a\noutput \"b\" = %b\n"), 2) == "");
}

TEST_CASE("a rank finds its own part in what was gathered, and a sum is its parts gathered") {
  const graph g = parsed("%x : f16[2,3] = input \"x\"\n%w : f32[7,9] = input \"w\"\n%a : f16[2,9] = all_gather %x {group=\"g\" axis=1}\n"
                         "%0 : f16[2,3] = slice %a {start=[0,0] size=[2,3]}\n%1 : f16[2,3] = slice %a {start=[0,3] size=[2,3]}\n%2 : f16[2,3] = slice %a {start=[0,6] size=[2,3]}\n"
                         "%s : f32[7,9] = all_reduce_sum %w {group=\"g\"}\n%p : f32[7,3] = reduce_scatter %w {group=\"g\" axis=1}\n%q : f32[7,9] = all_gather %p {group=\"g\" axis=1}\n"
                         "output \"0\" = %0\noutput \"1\" = %1\noutput \"2\" = %2\noutput \"s\" = %s\noutput \"q\" = %q\n");
  const auto given = draw(g, 3);
  on_ranks(3, [&](communicator& c, int rank) {
    poot_tests::session_machine<run::host::session> machine(host(1).load(compile(g, targets::host), c));
    const ir::interpretation got = machine.run(given[static_cast<size_t>(rank)]);
    for (size_t r = 0; r < 3; ++r)
      if (!(got.outputs[r].value == given[r][0].value)) fail("a part is not what its rank brought");
    if (!(got.outputs[3].value == got.outputs[4].value)) fail("a sum is not its parts gathered");
  });
}

TEST_CASE("a typed model is loaded with a communicator") {
  constexpr auto x = input<"x", f32, 4>;
  static constexpr auto y = output<"y">(all_reduce_sum<"g">(x + x));
  static_assert(planned<y, targets::host>.dispatch_count() == 2);
  on_ranks(2, [](communicator& c, int rank) {
    auto session = host(1).load<y>(c);
    std::vector<float> xs(4, static_cast<float>(rank + 1)), ys(4);
    session(bind<"x">(xs), into<"y">(ys));
    for (float v : ys)
      if (v != 6) fail("2 · (1 + 2) is 6");
  });
}

TEST_CASE("a program is refused without the ranks that its graph says") {
  const program p = compile(parsed("%x : f32[2] = input \"x\"\n%y : f32[4] = all_gather %x {group=\"tp\" axis=0}\noutput \"y\" = %y\n"), targets::host);
  CHECK(refusal([&] { (void)host(1).load(p); }) == "load: %1 (all_gather) exchanges values in the group \"tp\", and no communicator is given");
  local_ranks three(3);
  CHECK(refusal([&] { (void)host(1).load(p, three[0]); }) == "load: %1 (all_gather) needs 2 ranks in the group \"tp\", and the communicator has 3");
  struct elsewhere final : communicator {
    int64 size(std::string_view) const override { return 0; }
    void all_gather(std::string_view, std::string_view, const char*, int64, char*) override {}
    void all_to_all(std::string_view, std::string_view, const char*, int64, char*) override {}
    void abandon(std::string_view) noexcept override {}
  } other;
  CHECK(refusal([&] { (void)host(1).load(p, other); }) == "load: %1 (all_gather) needs the group \"tp\", and the communicator has none of this name");
  CHECK(refusal([] { local_ranks none(0); }).find("there is one at least") != std::string::npos);
}

TEST_CASE("a rank that fails, or ends, leaves nobody waiting") {
  const program p = compile(split_perceptron(2, f32), targets::host);
  const auto given = draw(p.graph, 3);
  std::atomic<int> refused = 0;
  const auto run_on = [&](communicator& c, size_t rank) {
    poot_tests::session_machine<run::host::session> machine(host(1).load(p, c));
    try {
      machine.run(given[rank]);
    } catch (const error&) {
      ++refused;
      throw;
    }
  };
  // a rank that throws before it gets to the sum; the others throw there
  CHECK(refusal([&] { on_ranks(2, [&](communicator& c, int rank) { rank == 1 ? fail("out of luck") : run_on(c, 0); }); }).find("out of luck") != std::string::npos);
  // one that ends early
  CHECK(refusal([&] { on_ranks(2, [&](communicator& c, int rank) { if (rank == 0) run_on(c, 0); }); }) == "rank 1 does not go on: it has ended");
  CHECK(refused == 2);
}

TEST_CASE("a run or a program that is refused tells the other ranks so") {
  const program p = compile(split_perceptron(2, f32), targets::host), other = compile(p.graph, targets::vulkan_lavapipe);
  const auto given = draw(p.graph, 2);
  for (const bool loads : {true, false}) {
    local_ranks ranks(2);
    std::string first, second;
    std::thread one([&] {
      second = refusal([&] {
        if (loads) host(1).load(p, ranks[1]).run();  // nothing is bound
        else (void)host(1).load(other, ranks[1]);
      });
      ranks[1].abandon("too late");
    });
    poot_tests::session_machine<run::host::session> machine(host(1).load(p, ranks[0]));
    first = refusal([&] { machine.run(given[0]); });
    one.join();
    CHECK(second.find(loads ? "bound" : "planned for vulkan") != std::string::npos);
    CHECK(first == "rank 1 does not go on: " + second);
  }
}

TEST_CASE("ranks that run different programs are told so") {
  const auto told = [](const std::string& first, const std::string& second) {
    const program programs[] = {compile(parsed(first), targets::host), compile(parsed(second), targets::host)};
    const float x[4]{};
    std::string message = refusal([&] {
      on_ranks(2, [&](communicator& c, int rank) {
        auto session = host(1).load(programs[rank], c);
        session.bind("x", {const_cast<float*>(x), session.program().graph.type(0)}).run();
      });
    });
    for (size_t at; (at = message.find(" of graph 0x")) != message.npos;) message.erase(at, message.find_first_of(" ,", at + 12) - at);
    return message;
  };
  const std::string sum = "%x : f32[2] = input \"x\"\n%y : f32[2] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n";
  CHECK(told(sum, sum) == "");
  CHECK(told(sum, "%x : f32[2] = input \"x\"\n%y : f32[4] = all_gather %x {group=\"h\" axis=0}\noutput \"y\" = %y\n") ==
        "rank 0 is at all_to_all of 4 bytes in group \"g\" for all_reduce_sum of f32[2], %1, and rank 1 is at all_gather of 8 bytes in group \"h\" for all_gather of f32[2], %1");
  // bytes are equal: another type, other extents, another equation, another graph before it
  const std::string here = "rank 0 is at all_to_all of 4 bytes in group \"g\" for all_reduce_sum of f32[2], %1, and rank 1 is at all_to_all of 4 bytes in group \"g\" for ";
  CHECK(told(sum, "%x : i32[2] = input \"x\"\n%y : i32[2] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n") == here + "all_reduce_sum of i32[2], %1");
  CHECK(told(sum, "%x : f32[1,2] = input \"x\"\n%y : f32[1,2] = all_reduce_sum %x {group=\"g\"}\noutput \"y\" = %y\n") == here + "all_reduce_sum of f32[1,2], %1");
  CHECK(told(sum, "%x : f32[2] = input \"x\"\n%0 : f32[2] = neg %x\n%y : f32[2] = all_reduce_sum %0 {group=\"g\"}\noutput \"y\" = %y\n") == here + "all_reduce_sum of f32[2], %2");
  CHECK(told(sum, "%x : f32[2] = input \"x\"\n%y : f32[2] = all_reduce_sum %x {group=\"g\"}\n%z : f32[2] = neg %y\noutput \"y\" = %z\n") == here + "all_reduce_sum of f32[2], %1");
}

TEST_CASE("what a rank threw first is thrown, not what others threw because of it") {
  const char none[4]{};
  char to[16];
  for (int turn = 0; turn < 50; ++turn) {
    // rank 0 waits for rank 2, and rank 1 throws on when it hears of it
    const std::string message = refusal([&] {
      on_ranks(3, [&](communicator& c, int rank) {
        if (rank == 2) {
          c.abandon("on its way");  // as a session does, before it throws
          std::this_thread::yield();
          fail("out of luck");
        }
        try {
          c.all_gather("g", "a test", none, 4, to + 4 * rank);
        } catch (const rank_gone& e) {
          CHECK(std::string(e.what()) == "rank 2 does not go on: on its way");
          if (rank == 1) fail("in other words");
          throw;
        }
      });
    });
    CHECK(message == "out of luck");
  }
  // a rank that ended is no cause where another one failed for itself
  CHECK(refusal([&] { on_ranks(2, [&](communicator& c, int rank) { if (rank == 0) fail("by itself"); else c.all_gather("g", "a test", none, 4, to); }); }) == "by itself");
}

TEST_CASE("what is no std::exception, and a thread that cannot be made, are thrown too") {
  const char none[4]{};
  char to[8];
  CHECK_THROWS_AS(on_ranks(2, [&](communicator& c, int rank) {
    if (rank == 1) throw 7;
    CHECK(refusal([&] { c.all_gather("g", "a test", none, 4, to); }) == "rank 1 does not go on: it threw something that describes nothing");
  }), int);
  pthread_attr_t usual, endless;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_getattr_default_np(&endless) == 0);
  REQUIRE(pthread_attr_setstacksize(&endless, size_t{1} << 50) == 0);
  REQUIRE(pthread_setattr_default_np(&endless) == 0);
  const std::string message = refusal([&] { on_ranks(2, [](communicator&, int) {}); });
  pthread_setattr_default_np(&usual);
  CHECK(message.find("on_ranks: no thread can be made for rank 1 of 2: ") == 0);
}

TEST_CASE("a rank that is not there has no communicator") {
  local_ranks two(2);
  CHECK(refusal([&] { two[2]; }) == "local_ranks: there is no rank 2; they are 0 to 1");
  CHECK(refusal([&] { two[-1]; }) == "local_ranks: there is no rank -1; they are 0 to 1");
}

// Turns: which equations repeat what the ones before did, and what keeps them from it.
#include <doctest/doctest.h>

#include <poot/fuse/choose.hpp>
#include <poot/ir/parse.hpp>

#include <string>
#include <vector>

using namespace poot;

namespace {

/// `count` trials of a search over rows of x, with what each changes; `tail` stands behind them.
std::string search(int count, const std::string& tail = "", const std::string& odd_line = "", int odd_trial = 2) {
  std::string s = "graph g {\n%x : f32[3,40] = input \"x\"\n%w : f32[3,40] = input \"w\"\n%m : f32[3,1] = reduce_max %x {axis=1}\n"
                  "%s0 : f32[3,1] = mul %m, f32(0.5)\n%t0 : f32[3,1] = neg %m\n";
  for (int i = 1; i <= count; ++i) {
    const std::string now = std::to_string(i), before = std::to_string(i - 1);
    s += "%s" + now + " : f32[3,1] = mul %s" + before + ", f32(0.5)\n%u" + now + " : f32[3,1] = add %t" + before + ", %s" + now + "\n";
    s += !odd_line.empty() && i == odd_trial ? odd_line : "%e" + now + " : f32[3,40] = sub %x, %u" + now + "\n%f" + now + " : f32[3,40] = mul %e" + now + ", %w\n";
    s += "%h" + now + " : f32[3,1] = reduce_sum %f" + now + " {axis=1}\n%t" + now + " : f32[3,1] = add %t" + before + ", %h" + now + "\n";
  }
  return s + "output \"t\" = %t" + std::to_string(count) + "\n" + tail + "}\n";
}

struct found {
  std::vector<fuse::turns> all;
  size_t repeated = 0;
};
found turns_of(const std::string& source) {
  const ir::graph g = ir::parse(source);
  const fuse::grouping singles(g);
  vec<uint32> list;
  found f;
  for (uint32 id = 0; id < g.size(); ++id) {
    if (singles.grouped(id)) list.push_back(id);
    f.repeated += singles.is_repeated(id);
  }
  for (const fuse::turns& t : fuse::turn_finder(g, list).find([&](uint32 id, uint32 last) {
         bool is_read = singles.is_output(id);
         for (uint32 user : singles.users(id)) is_read = is_read || user > last || !singles.grouped(user);
         return is_read;
       }))
    f.all.push_back(t);
  return f;
}

}  // namespace

TEST_CASE("trials of a search are turns of six equations, however many") {
  for (int count : {3, 4, 9}) {
    const found f = turns_of(search(count));
    REQUIRE(f.all.size() == 1);
    CHECK(f.all[0].first == 3);
    CHECK(f.all[0].period == 6);
    CHECK(f.all[0].count == static_cast<uint32>(count));
    CHECK(f.repeated == static_cast<size_t>(6 * (count - 1)));
  }
  for (int count : {1, 2}) CHECK(turns_of(search(count)).all.empty());
}

TEST_CASE("two searches are turns of their own, and a region counts those of each once") {
  std::string two = search(5);
  two.resize(two.rfind("output"));
  std::string second = search(5);
  second = second.substr(second.find("%s0 "));
  for (const char* name : {"m", "s", "u", "e", "f", "h", "t"})
    for (size_t at; (at = second.find("%" + std::string(name))) != std::string::npos;) second.replace(at, 2, "%2_" + std::string(name));
  second = "%2_m : f32[3,1] = abs %t5\n" + second;
  const std::string source = two + second;
  const found f = turns_of(source);
  REQUIRE(f.all.size() == 2);
  CHECK(f.all[0].count == 5);
  CHECK(f.all[1].count == 5);
  // one region: what searches begin with, three equations each, and six of each
  for (const auto& [most, regions] : {std::pair{18u, 1u}, std::pair{17u, 2u}}) {
    fuse::rules r;
    r.max_members = most;
    CHECK(fuse::choose_regions(ir::parse(source), r).regions.size() == regions);
  }
}

TEST_CASE("a trial that does something else ends the turns") {
  const auto count_with = [](const std::string& line, int trial) {
    const found f = turns_of(search(8, "", line, trial));
    return f.all.empty() ? 0u : f.all[0].count;
  };
  const auto lines = [](const std::string& e, const std::string& f) { return "%e5 : f32[3,40] = " + e + "\n%f5 : f32[3,40] = " + f + "\n"; };
  CHECK(count_with(lines("sub %x, %u5", "mul %e5, %w"), 5) == 8);
  CHECK(count_with(lines("sub %u5, %x", "mul %e5, %w"), 5) == 4);    // in another order
  CHECK(count_with(lines("add %x, %u5", "mul %e5, %w"), 5) == 4);    // another op
  CHECK(count_with(lines("sub %x, %u5", "mul %e5, %x"), 5) == 4);    // of another value
  CHECK(count_with(lines("sub %x, %u4", "mul %e5, %w"), 5) == 4);    // of the trial before
  CHECK(count_with(lines("sub %x, %s0", "mul %e5, %w"), 5) == 4);    // of what stands before all
  CHECK(count_with(lines("sub %x, %u5", "mul %e5, %e4"), 5) == 3);   // a row of the trial before, which so is none of the turns
  CHECK(count_with(lines("sub %x, %u5", "mul %e5, %w") + "%z5 : f32[3,40] = neg %f5\n", 5) == 4);
}

TEST_CASE("only single values of the last turn are read outside") {
  const auto count_with = [](const std::string& tail) {
    const found f = turns_of(search(6, tail));
    return f.all.empty() ? 0u : f.all[0].count;
  };
  CHECK(count_with("%y : f32[3,40] = sub %x, %s6\noutput \"y\" = %y\n") == 6);
  CHECK(count_with("output \"h\" = %h6\n") == 6);
  CHECK(count_with("output \"f\" = %f6\n") == 5);  // the last is no turn then
  CHECK(count_with("%y : f32[3,40] = sub %x, %t3\noutput \"y\" = %y\n") == 3);
  CHECK(count_with("output \"s\" = %s4\n") == 4);
  CHECK(count_with("%r : f32[3] = reshape %h4\noutput \"r\" = %r\n") == 4);
}

TEST_CASE("long trials are no turns, so that a region holds little more than it may") {
  const auto count_with = [](int steps) {
    std::string s = "graph g {\n%x : f32[3,40] = input \"x\"\n%t0 : f32[3,1] = reduce_max %x {axis=1}\n";
    for (int i = 1; i <= 4; ++i) {
      const std::string now = std::to_string(i);
      s += "%e" + now + "_0 : f32[3,40] = sub %x, %t" + std::to_string(i - 1) + "\n";
      for (int k = 1; k < steps; ++k) s += "%e" + now + "_" + std::to_string(k) + " : f32[3,40] = abs %e" + now + "_" + std::to_string(k - 1) + "\n";
      s += "%t" + now + " : f32[3,1] = reduce_sum %e" + now + "_" + std::to_string(steps - 1) + " {axis=1}\n";
    }
    const found f = turns_of(s + "output \"t\" = %t4\n}\n");
    return f.all.empty() ? 0u : f.all[0].count;
  };
  CHECK(count_with(fuse::longest_turn - 1) == 4);
  CHECK(count_with(fuse::longest_turn) == 0);
}

TEST_CASE("rows of one, other axes and products are no turns") {
  std::string ones = search(5);
  for (size_t at; (at = ones.find(",40]")) != std::string::npos;) ones.replace(at, 4, ",1]");
  CHECK(turns_of(ones).all.empty());
  std::string columns = search(5);
  for (size_t at; (at = columns.find("axis=1")) != std::string::npos;) columns.replace(at, 6, "axis=0");
  for (size_t at; (at = columns.find("[3,1]")) != std::string::npos;) columns.replace(at, 5, "[1,40]");
  CHECK(turns_of(columns).all.empty());
  std::string products = "graph g {\n%x : f32[4,4] = input \"x\"\n%t0 : f32[4,1] = reduce_sum %x {axis=1}\n";
  for (int i = 1; i <= 5; ++i) {
    const std::string now = std::to_string(i), before = std::to_string(i - 1);
    products += "%a" + now + " : f32[4,4] = add %x, %t" + before + "\n%p" + now + " : f32[4,4] = matmul %x, %a" + now + "\n%t" + now + " : f32[4,1] = reduce_sum %p" + now + " {axis=1}\n";
  }
  CHECK(turns_of(products + "output \"t\" = %t5\n}\n").all.empty());
}

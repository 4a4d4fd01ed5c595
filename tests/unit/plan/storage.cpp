#include <doctest/doctest.h>

#include <poot/ir/analysis.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>

#include <support/fusion_draws.hpp>

#include "memory_model.hpp"

using namespace poot;
using plan::place;
using plan::program;

namespace {

program planned(const std::string& body, plan::options o = {}) { return plan::compile(ir::parse("graph t {\n" + body + "\n}\n"), targets::host, o); }
std::string wrong(const program& p) {
  const plan::program_view v = p.view_of();
  return memory_model::machine(v).run();
}
size_t updates_in_place(const program& p) {
  size_t n = 0;
  for (const plan::placement& x : p.placements) n += x.where == place::state;
  return n;
}

constexpr plan::options by_documents() {
  plan::options o;
  o.document_rules = true;
  return o;
}

/// A cache of four rows, a row, and where it goes.
const std::string cache = "%s : f32[4,8] = state \"s\"\n%r : f32[1,8] = input \"r\"\n%at : i32[2] = input \"at\"\n%x : f32[4,8] = input \"x\"\n";
const std::string update = "%u : f32[4,8] = dynamic_update_slice %s, %r, %at\n";

}  // namespace

static_assert([] {
  const program p = plan::compile(ir::parse("graph t {\n%x : f32[4,8] = input \"x\"\n%a : f32[8,4] = transpose %x {perm=[1,0]}\n%b : f32[8,4] = exp %a\n"
                                            "%c : f32[4,8] = transpose %b {perm=[1,0]}\n%d : f32[4,8] = exp %c\noutput \"y\" = %d\n}"), targets::host, by_documents());
  return p.peak_transient_bytes() == 256 && p.transient_bytes_without_reuse() == 384 && p.copies.empty();
}());

TEST_CASE("every launch of random programs finds what it reads, fused or not") {
  size_t in_place = 0, copies = 0, reused = 0, views = 0, windows = 0;
  for (uint64 seed = 0; seed < 3000; ++seed) {
    poot_tests::fusion_draws d(600000 + seed);
    const ir::graph g = d.make(4 + d.below(40), seed % 3 != 0);
    plan::options o;
    o.fuse = seed % 4 != 0;
    o.horizontal = seed % 5 != 0;
    const program p = plan::compile(g, targets::host, o);
    INFO("seed " << seed << "\n" << std::string(ir::print(p.graph).str()));
    CHECK(wrong(p) == "");
    CHECK(p.peak_transient_bytes() <= p.transient_bytes_without_reuse());
    in_place += updates_in_place(p);
    copies += p.copies.size();
    reused += p.peak_transient_bytes() < p.transient_bytes_without_reuse();
    for (const plan::placement& x : p.placements) views += x.where == place::view, windows += x.where == place::window;
  }
  CHECK(in_place > 500);
  CHECK(copies > 500);
  CHECK(reused > 500);
  CHECK(views > 500);
  CHECK(windows > 50);
}

TEST_CASE("the arena is never smaller than what lives at once") {
  // Each launch's inputs and results from the arena, rounded to lines, are a lower bound.
  for (uint64 seed = 0; seed < 300; ++seed) {
    poot_tests::fusion_draws d(700000 + seed);
    const program p = plan::compile(d.make(30), targets::host);
    const plan::program_view v = p.view_of();
    for (const plan::launch& l : p.launches) {
      std::set<uint32> alive;
      for (uint32 id : v(l.inputs)) alive.insert(v.storage_of(id));
      for (uint32 id : v(l.outputs)) alive.insert(id);
      int64 bytes = 0;
      for (uint32 id : alive)
        if (p.placements[id].where == place::arena) bytes += plan::aligned(p.graph.eqns[id].type.bytes());
      CHECK(bytes <= p.arena_bytes);
    }
  }
}

TEST_CASE("updates a state in place where nothing else needs the old value") {
  const program p = planned(cache + update + "output \"s\" = %u");
  CHECK(updates_in_place(p) == 1);
  CHECK(p.copies.empty());
  CHECK(p.arena_bytes == 0);
  CHECK(wrong(p) == "");
  const program twice = planned(cache + update + "%v : f32[4,8] = dynamic_update_slice %u, %x, %at\noutput \"s\" = %v");
  CHECK(updates_in_place(twice) == 2);
  CHECK(twice.copies.empty());
  // read as the old value before, and as the new one after
  const program read = planned(cache + "%o : f32[4,8] = neg %s\n%p : f32[4,1] = reduce_sum %o {axis=1}\n%q : f32[4,8] = add %x, %p\n" + update +
                               "%n : f32[4,8] = exp %u\noutput \"a\" = %q\noutput \"s\" = %u\noutput \"b\" = %n");
  CHECK(updates_in_place(read) == 1);
  CHECK(wrong(read) == "");
}

TEST_CASE("keeps a state's old value where somebody still needs it") {
  for (const char* rest : {
           "%o : f32[4,8] = neg %u\n%p : f32[4,8] = add %o, %s\noutput \"s\" = %u\noutput \"y\" = %p",   // an old reader after the update
           "output \"s\" = %u\noutput \"y\" = %s",                                                      // the old value is a result
           "%v : f32[32] = reshape %s\noutput \"s\" = %u\noutput \"y\" = %v",                            // a view of it is
           "%v : f32[4,8] = dynamic_update_slice %u, %x, %at\noutput \"s\" = %v\noutput \"y\" = %u",      // what the first update made is
           "%v : f32[4,8] = dynamic_update_slice %s, %x, %at\n%w : f32[4,8] = add %u, %v\noutput \"s\" = %u\noutput \"y\" = %w",  // a second update of the old value
           "%t : f32[4,8] = state \"t\"\noutput \"s\" = %u\noutput \"t\" = %s",                           // another state takes it over
           "%v : f32[4,8] = dynamic_update_slice %u, %u, %at\noutput \"s\" = %v"}) {                      // the update writes what it overwrites
    const program p = planned(cache + update + rest);
    INFO(std::string(rest));
    CHECK(wrong(p) == "");
    CHECK(p.copies.size() >= 1);
  }
  const program self = planned("%s : f32[4,8] = state \"s\"\n%at : i32[2] = input \"at\"\n%u : f32[4,8] = dynamic_update_slice %s, %s, %at\noutput \"s\" = %u");
  CHECK(updates_in_place(self) == 0);
  const program by_itself = planned("%s : i32[1] = state \"s\"\n%r : i32[1] = input \"r\"\n%u : i32[1] = dynamic_update_slice %s, %r, %s\noutput \"s\" = %u");
  CHECK(updates_in_place(by_itself) == 0);  // its place is written in what it overwrites
  const program through_a_view = planned("%s : f32[4,8] = state \"s\"\n%at : i32[3] = input \"at\"\n%r : f32[1,1,8] = input \"r\"\n%v : f32[1,4,8] = reshape %s\n"
                                         "%u : f32[1,4,8] = dynamic_update_slice %v, %r, %at\n%w : f32[4,8] = reshape %u\noutput \"s\" = %w");
  CHECK(wrong(through_a_view) == "");
  CHECK(updates_in_place(through_a_view) == 1);
}

TEST_CASE("copies what cannot be written where it belongs") {
  const auto copies = [](const std::string& body) {
    const program p = planned(body);
    CHECK(wrong(p) == "");
    return p.copies.size();
  };
  const std::string x = "%x : f32[4,8] = input \"x\"\n%s : f32[4,8] = state \"s\"\n%t : f32[4,8] = state \"t\"\n%a : f32[4,8] = exp %x\n";
  CHECK(copies(x + "output \"y\" = %a") == 0);
  CHECK(copies(x + "output \"y\" = %x") == 1);
  CHECK(copies(x + "output \"y\" = %a\noutput \"z\" = %a") == 1);
  CHECK(copies(x + "output \"s\" = %a") == 1);
  CHECK(copies(x + "output \"s\" = %s") == 0);
  CHECK(copies(x + "output \"s\" = %t\noutput \"t\" = %s") == 2);
  CHECK(copies(x + "output \"y\" = %a\noutput \"s\" = %a") == 1);
  CHECK(copies(x + "%v : f32[32] = reshape %a\noutput \"y\" = %v") == 0);
  CHECK(copies(x + "%v : f32[32] = reshape %a\noutput \"y\" = %v\noutput \"z\" = %a") == 1);
  CHECK(copies("%i : f32[8] = iota {axis=0}\n%a : f32[8] = neg %i\noutput \"y\" = %a\noutput \"z\" = %i") == 2);
}

TEST_CASE("counts the launches of copies and no views") {
  const program p = planned("%x : f32[4,8] = input \"x\"\n%a : f32[4,8] = exp %x\n%v : f32[32] = reshape %a\n%b : f32[32] = neg %v\noutput \"y\" = %b\noutput \"z\" = %x");
  CHECK(p.launches.size() == 2);
  CHECK(p.dispatch_count() == 3);
}

TEST_CASE("memory with reuse is at most that of running equation by equation") {
  // Unfused and in order, the graph's own peak of transient bytes; lines add at most 64 bytes to a value.
  const program p = planned("%x : f32[64,64] = input \"x\"\n%a : f32[64,64] = transpose %x {perm=[1,0]}\n%b : f32[64,64] = exp %a\n%c : f32[64,64] = transpose %b {perm=[1,0]}\n"
                            "%d : f32[64,64] = exp %c\n%e : f32[64,64] = transpose %d {perm=[1,0]}\noutput \"y\" = %e", by_documents());
  CHECK(p.peak_transient_bytes() == 2 * 64 * 64 * 4);
  CHECK(p.transient_bytes_without_reuse() == 4 * 64 * 64 * 4);
  CHECK(p.peak_transient_bytes() <= ir::peak_transient_bytes(p.graph));
}

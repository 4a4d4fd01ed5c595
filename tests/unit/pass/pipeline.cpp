#include "before_after.hpp"

#include <poot/pass/pipeline.hpp>

#include <algorithm>

using namespace before_after;
using pass::pass_id;

namespace {
constexpr auto all = [](const ir::graph_view& g, pass::record& notes) {
  pass::prepared p = pass::run_passes(g, targets::host);
  notes = p.notes;
  return std::move(p.optimized);
};
}  // namespace

static_assert([] {
  const pass::prepared p = pass::run_passes(ir::parse("graph t {\n%x : f32[4] = input \"x\"\n%a : f32[4] = mul %x, f32(1)\n%b : f32[4] = neg %a\noutput \"y\" = %b\n}"), targets::host);
  return p.optimized.size() == 2 && p.notes.changed.size() == 2 && p.notes.changed[0] == pass_id::canonicalise && p.notes.changed[1] == pass_id::dce;
}());

TEST_CASE("lists the passes that changed the graph, in order") {
  pass::record notes;
  after(all, "%x : f32[4] = input \"x\"\n%a : f32[4] = neg %x\noutput \"y\" = %a", &notes);
  CHECK(notes.changed.empty());
  after(all, "%x : f32[2,64] = input \"x\"\n%z : i32[1,4] = iota {axis=0}\n%w : q8_0[3,64] = weight \"w\"\n%v : bf16[3,64] = weight \"v\"\n%u : f32[3,64] = cast %v\n"
             "%n : f32[2,64] = neg %x\n%m : f32[2,64] = neg %x\n%s : f32[2,64] = add %n, %m\n%r : f32[2,3] = matmul %s, %w {transpose_b=1}\n"
             "%q : f32[2,3] = matmul %s, %u {transpose_b=1}\n%t : f32[2,3] = mul %r, f32(1)\noutput \"y\" = %t\noutput \"z\" = %z\noutput \"q\" = %q", &notes);
  const std::vector<pass_id> wanted{pass_id::canonicalise, pass_id::cse, pass_id::fold_iota, pass_id::dce, pass_id::recognize_packed,
                                    pass_id::fold_widening_casts, pass_id::dce, pass_id::prepare_reductions};
  CHECK(std::vector<pass_id>(notes.changed.begin(), notes.changed.end()) == wanted);
}

TEST_CASE("remembers which traced equation each one comes from") {
  const ir::graph g = parsed("%x : f32[4] = input \"x\"\n%a : f32[4] = mul %x, f32(1)\n%b : f32[4] = neg %a\n%c : f32[4] = exp %b\noutput \"y\" = %c");
  const pass::prepared p = pass::run_passes(g, targets::host);
  for (uint32 id = 0; id < p.optimized.size(); ++id) CHECK(p.optimized.eqns[id].kind == g.eqns[p.optimized.eqns[id].origin].kind);
}

TEST_CASE("passes rewrite a graph where it lies, and leave no operands of equations that are gone") {
  for (int k = 0; k < 200; ++k) {
    poot_tests::fusion_draws d(11000 + static_cast<uint64>(k));
    ir::graph g = d.make(20);
    pass::record notes;
    const ir::graph made = all(g, notes);
    size_t operands = 0;
    for (const ir::eqn& e : made.eqns) operands += e.operands.count;
    CHECK(made.operand_pool.size() == operands);
    const ir::eqn* const where = g.eqns.data();
    for (auto one : {pass::canonicalise, pass::cse, pass::fold_iota, pass::dce, pass::recognize_packed, pass::fold_widening_casts})
      g = one(std::move(g), notes);
    CHECK(g.eqns.data() == where);
  }
}

TEST_CASE("keeps every bit of random graphs") { check_bits(all, 9000, 600); }

TEST_CASE("leaves no equation without an output that needs it, and no sum without an order") {
  for (int k = 0; k < 200; ++k) {
    poot_tests::fusion_draws d(10000 + static_cast<uint64>(k));
    pass::record notes;
    const ir::graph made = all(d.make(20), notes);
    std::vector<bool> read(made.size());
    for (const ir::eqn& e : made.eqns)
      for (uint32 in : made.view_of().operands(e)) read[in] = true;
    for (const ir::graph_output& o : made.outputs) read[o.value] = true;
    for (uint32 id = 0; id < made.size(); ++id) {
      CHECK((read[id] || ir::is_named_leaf(made.eqns[id].kind)));
      CHECK((!ir::is_contraction(made.eqns[id].kind) || made.eqns[id].sum.chunk == 256));
    }
  }
}

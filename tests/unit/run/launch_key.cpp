// Launches of equal keys have equal kernels, value for value; what a kernel is made of is in its key.
#include <poot/run/launch_key.hpp>

#include <poot/dsl/pointwise.hpp>
#include <poot/emit/write.hpp>
#include <poot/ir/parse.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/plan/compile.hpp>

#include "../../../examples/tool/transformer.cpp"

#include <doctest/doctest.h>

#include <map>

using namespace poot;
using run::launch_key;

namespace {

/// A decoder whose layers are alike, of weights of one type.
ir::graph decoder(dtype t, int64 tokens, int64 sequences = 1) {
  tool::architecture c;
  c.width = c.hidden = 64, c.layers = 5, c.heads = 4, c.kv_heads = 2, c.head_width = 16, c.vocabulary = 32, c.context = 64;
  std::vector<tool::weight_type> types{{"token_embd.weight", t}, {"output_norm.weight", f32}};
  for (int layer = 0; layer < 5; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    for (const char* name : {"attn_norm", "ffn_norm"}) types.push_back({blk + name + ".weight", f32});
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      types.push_back({blk + name + ".weight", t});
  }
  tool::model_step step;
  step.tokens = tokens;
  step.most_tokens = 16;
  step.sequences = sequences;
  return tool::transformer_graph(c, types, step);
}

struct made_kernel {
  kernel::kernel code;
  std::string text;
  launch_key key;

  made_kernel(const plan::program_view& p, const plan::launch& l) : code(kernel::generate(p, l)), key(p, l) {
    emit::options plain;
    plain.comments = false;
    text = std::string(emit::write(code, emit::dialect::glsl, plain).str());
  }
  size_t number_of(uint32 value) const {
    size_t i = 0;
    while (i < key.values.size() && key.values[i] != value) ++i;
    return i;
  }
};

/// Checks every launch against the first of its key; returns how many keys there are.
size_t check_launches(const plan::program& planned) {
  const plan::program_view p = planned.view_of();
  std::map<std::vector<int64>, made_kernel> first;
  for (const plan::launch& l : p.launches) {
    const made_kernel mine(p, l);
    const auto [at, fresh] = first.try_emplace(mine.key.facts, mine);
    if (fresh) continue;
    const made_kernel& other = at->second;
    CHECK(mine.text == other.text);
    CHECK(mine.key.values.size() == other.key.values.size());
    REQUIRE(mine.code.bindings.size() == other.code.bindings.size());
    for (size_t i = 0; i < mine.code.bindings.size(); ++i) {
      CHECK(mine.number_of(mine.code.bindings[i]) == other.number_of(other.code.bindings[i]));
      CHECK(mine.number_of(mine.code.bindings[i]) < mine.key.values.size());
    }
    REQUIRE(mine.code.metadata.size() == other.code.metadata.size());
    for (size_t i = 0; i < mine.code.metadata.size(); ++i) {
      kernel::meta_word a = mine.code.metadata[i], b = other.code.metadata[i];
      if (a.kind != kernel::meta_word::what::fixed) {
        CHECK(mine.number_of(a.value) == other.number_of(b.value));
        CHECK(mine.number_of(a.value) < mine.key.values.size());
      }
      CHECK(a.kind == b.kind);
      CHECK(a.fixed == b.fixed);
      CHECK(a.first == b.first);
      CHECK(a.last == b.last);
      CHECK(a.divide == b.divide);
    }
  }
  return first.size();
}

/// Whether the only launches of two graphs have one key. Lines end with a semicolon.
bool same_key(const std::string& a, const std::string& b) {
  const auto key = [](std::string lines) {
    for (char& c : lines)
      if (c == ';') c = '\n';
    const ir::graph g = ir::parse("graph g {\n" + lines + "\n}\n");
    const plan::program p = plan::compile(g, targets::vulkan_lavapipe);
    REQUIRE(p.launches.size() == 1);
    return launch_key(p.view_of(), p.launches[0]).facts;
  };
  return key(a) == key(b);
}

}  // namespace

TEST_CASE("the layers of a decoder share their kernels, fused and unfused, whatever the weights") {
  for (const target& t : {targets::vulkan_lavapipe, targets::vulkan_swiftshader})
    for (const dtype of : {f32, f16, q8_0})
      for (const bool fuse : {true, false}) {
        plan::options wanted;
        wanted.fuse = fuse;
        for (const int64 tokens : {1, 0, 3}) {
          const plan::program p = plan::compile(decoder(of, tokens, tokens == 3 ? 2 : 1), t, wanted);
          CHECK(check_launches(p) * 2 <= p.launches.size());
        }
      }
}

TEST_CASE("values are numbered by how a launch uses them, not by their places in the graph") {
  CHECK(same_key(R"(%x : f32[8] = input "x"; %y : f32[8] = input "y"; %z : f32[8] = sub %x, %y; output "z" = %z)",
                 R"(%p : f32[8] = input "p"; %q : f32[8] = input "q"; %r : f32[8] = sub %p, %q; output "r" = %r)"));
}

TEST_CASE("what a kernel depends on is in its key") {
  for (const char* other : {
           R"(%x : f32[8] = input "x"; %y : f32[8] = input "y"; %z : f32[8] = add %x, %y; output "z" = %z)",  // the op
           R"(%x : i32[8] = input "x"; %y : i32[8] = input "y"; %z : i32[8] = sub %x, %y; output "z" = %z)",  // element types
           R"(%x : f32[9] = input "x"; %y : f32[9] = input "y"; %z : f32[9] = sub %x, %y; output "z" = %z)",  // extents
           R"(%x : f32[8] = input "x"; %y : f32[1] = input "y"; %z : f32[8] = sub %x, %y; output "z" = %z)",  // what is broadcast
           R"(%x : f32[8] = input "x"; %z : f32[8] = mul %x, %x; output "z" = %z)",                             // one value twice
           R"(%x : f32[8] = input "x"; %y : f32[8] = input "y"; %z : f32[8] = sub %x, %y; %n : f32[8] = exp %z; output "z" = %n)"})
    CHECK_MESSAGE(!same_key(R"(%x : f32[8] = input "x"; %y : f32[8] = input "y"; %z : f32[8] = sub %x, %y; output "z" = %z)", other), std::string(other));
  const auto reading = [](const std::string& last) {
    return R"(%x : f32[8] = input "x"; %y : f32[8] = input "y"; %z : f32[8] = sub %x, %y; %n : f32[8] = mul %z, )" + last + "; output \"z\" = %n";
  };
  CHECK(!same_key(reading("%x"), reading("%y")));  // operands
  const auto scaled = [](const std::string& number) {
    return R"(%x : f32[8] = input "x"; %z : f32[8] = mul %x, f32()" + number + R"(); output "z" = %z)";
  };
  CHECK(same_key(scaled("2.5"), scaled("2.5")));
  CHECK(!same_key(scaled("2.5"), scaled("3.5")));  // a constant
  const auto moved = [](const std::string& permutation) {
    return R"(%x : f32[4,4,4] = input "x"; %z : f32[4,4,4] = transpose %x {perm=[)" + permutation + R"(]}; output "z" = %z)";
  };
  CHECK(same_key(moved("0,2,1"), moved("0,2,1")));
  CHECK(!same_key(moved("0,2,1"), moved("2,1,0")));  // attributes
}

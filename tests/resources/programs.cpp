#include "programs.hpp"

#include "../../examples/tool/transformer.cpp"

#include <poot/ir/parse.hpp>

namespace poot_tests {

namespace {

/// One layer of the shape of a llama of 1.1 billion weights, in f16 and two packed formats.
poot::ir::graph llama_layer(const poot::tool::model_step& step) {
  using poot::dtype;
  poot::tool::architecture c;
  c.width = 2048, c.hidden = 5632, c.layers = 1, c.heads = 32, c.kv_heads = 4, c.head_width = 64, c.vocabulary = 32000, c.context = 2048;
  std::vector<poot::tool::weight_type> weights = {{"token_embd.weight", dtype::q8_0}, {"output_norm.weight", dtype::f32},
                                                  {"output.weight", dtype::q6_k}};
  const std::pair<const char*, dtype> kinds[] = {
      {"attn_norm", dtype::f32}, {"attn_q", dtype::q4_k}, {"attn_k", dtype::f16}, {"attn_v", dtype::q8_0}, {"attn_output", dtype::q4_k},
      {"ffn_norm", dtype::f32},  {"ffn_gate", dtype::q4_k}, {"ffn_down", dtype::q6_k}, {"ffn_up", dtype::bf16}};
  for (const auto& [kind, element] : kinds) weights.push_back({"blk.0." + std::string(kind) + ".weight", element});
  return poot::tool::transformer_graph(c, weights, step);
}

}  // namespace

std::vector<std::pair<std::string, poot::ir::graph>> resource_programs() {
  std::vector<std::pair<std::string, poot::ir::graph>> all;
  all.emplace_back("decode", llama_layer({}));
  all.emplace_back("prefill", llama_layer({.tokens = 0, .most_tokens = 512}));
  const auto add = [&](const char* name, const char* body) {
    all.emplace_back(name, poot::ir::parse(std::string("graph families {\n") + body + "}\n"));
  };
  add("chain", "%x : f32[1024,1024] = input \"x\"\n%b : f32[1024] = input \"b\"\n%0 : f32[1024,1024] = add %x, %b\n%1 : f32[1024,1024] = exp %0\n"
               "%2 : f32[1024,1024] = tanh %1\n%3 : f32[1024,1024] = mul %2, %x\n%4 : f32[1024,1024] = sin %3\n"
               "%5 : f32[1024,1024] = erf %4\n%6 : f32[1024,1024] = log %5\n%7 : f32[1024,1024] = pow %6, %x\noutput \"y\" = %7\n");
  add("narrow", "%x : f16[1024,1024] = input \"x\"\n%y : bf16[1024,1024] = input \"y\"\n%0 : f32[1024,1024] = cast %x\n"
                "%1 : f32[1024,1024] = cast %y\n%2 : f32[1024,1024] = mul %0, %1\n%3 : f16[1024,1024] = cast %2\n%4 : i8[1024,1024] = cast %2\n"
                "output \"y\" = %3\noutput \"z\" = %4\n");
  add("softmax", "%x : f32[1024,1024] = input \"x\"\n%m : f32[1024,1] = reduce_max %x {axis=1}\n%0 : f32[1024,1024] = sub %x, %m\n"
                 "%1 : f32[1024,1024] = exp %0\n%s : f32[1024,1] = reduce_sum %1 {axis=1}\n%2 : f32[1024,1024] = div %1, %s\noutput \"y\" = %2\n");
  add("reductions", "%x : f32[64,512,8] = input \"x\"\n%i : i32[64,512] = input \"i\"\n%0 : f32[64,1,8] = reduce_sum %x {axis=1}\n"
                    "%1 : i32[64,512,1] = reduce_argmax %x {axis=2}\n%2 : i32[64,1] = reduce_max %i {axis=1}\n"
                    "output \"a\" = %0\noutput \"b\" = %1\noutput \"c\" = %2\n");
  add("movement", "%x : f16[64,256] = input \"x\"\n%i : i32[32] = input \"i\"\n%s : f16[64,256] = state \"s\"\n%p : i32[2] = input \"p\"\n"
                  "%0 : f16[256,64] = transpose %x {perm=[1,0]}\n%1 : f16[32,256] = gather %x, %i {axis=0}\n"
                  "%2 : f16[128,256] = concat %x, %x {axis=0}\n%3 : f16[32,64] = slice %x {start=[1,3] size=[32,64] step=[1,2]}\n"
                  "%4 : f16[64,256] = dynamic_update_slice %s, %1, %p\n"
                  "output \"a\" = %0\noutput \"b\" = %1\noutput \"c\" = %2\noutput \"d\" = %3\noutput \"s\" = %4\n");
  add("contractions", "%a : f32[512,512] = input \"a\"\n%b : f32[512,512] = weight \"b\"\n%h : f16[512,512] = weight \"h\"\n"
                      "%w : q4_0[512,512] = weight \"w\"\n%v : f32[1,512] = input \"v\"\n%e : f32[8,512,512] = weight \"e\"\n%i : i32[512] = input \"i\"\n"
                      "%0 : f32[512,512] = matmul %a, %b\n%1 : f32[512,512] = tanh %0\n%2 : f32[512,512] = matmul %a, %h {transpose_b=1}\n"
                      "%3 : f32[512,512] = matmul %a, %w {transpose_b=1}\n%4 : f32[1,512] = matmul %v, %b {transpose_b=1}\n"
                      "%5 : f32[512,512] = indexed_matmul %a, %e, %i\n"
                      "output \"a\" = %1\noutput \"b\" = %2\noutput \"c\" = %3\noutput \"d\" = %4\noutput \"e\" = %5\n");
  add("matrix units", "%a : bf16[512,512] = input \"a\"\n%b : bf16[512,512] = weight \"b\"\n%0 : f32[512,512] = matmul %a, %b\n"
                      "%1 : bf16[512,512] = matmul %a, %b {transpose_b=1}\noutput \"a\" = %0\noutput \"b\" = %1\n");
  add("convolution", "%x : f32[1,16,32,32] = input \"x\"\n%w : f32[32,16,3,3] = weight \"w\"\n"
                     "%y : f32[1,32,32,32] = conv2d %x, %w {stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1}\noutput \"y\" = %y\n");
  add("rope", "%x : f32[5,7,10] = input \"x\"\n%c : f32[7,10] = input \"c\"\n%s : f32[7,10] = input \"s\"\n"
              "%y : f32[5,7,10] = rope %x, %c, %s {width=10 adjacent=0 signed=1}\noutput \"y\" = %y\n");
  add("split attention", "%q : f32[32,1,128] = input \"q\"\n%k : f16[8,40000,128] = input \"k\"\n%v : f16[8,40000,128] = input \"v\"\n%c : i32[40000] = input \"c\"\n"
                         "%y : f32[32,1,128] = attention %q, %k, %v, %c {scale=0.5}\noutput \"y\" = %y\n");
  add("greedy", "%l : f32[2,32000] = input \"l\"\n%t : i32[2,1] = reduce_argmax %l {axis=1}\noutput \"t\" = %t\n");
  add("shipped", "%a : f32[512,512] = input \"a\"\n%b : f32[512,512] = weight \"b\"\n%v : f32[1,512] = input \"v\"\n%l : f32[64,4096] = input \"l\"\n"
                 "%c : f32[8,1,512] = input \"c\"\n%d : f32[8,512,512] = input \"d\"\n%h : bf16[512,512] = input \"h\"\n"
                 "%0 : f32[512,512] = matmul %a, %b\n%1 : f32[1,512] = matmul %v, %b\n%2 : f32[8,1,512] = matmul %c, %d\n"
                 "%3 : i32[64,1] = reduce_argmax %l {axis=1}\n%4 : f32[512,512] = cast %h\n"
                 "output \"a\" = %0\noutput \"b\" = %1\noutput \"c\" = %2\noutput \"d\" = %3\noutput \"e\" = %4\n");
  add("random", "%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%r : f32[4096] = random_uniform %s, %o\noutput \"r\" = %r\n");
  return all;
}

}  // namespace poot_tests

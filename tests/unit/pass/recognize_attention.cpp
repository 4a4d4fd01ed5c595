#include "before_after.hpp"

#include <poot/pass/pipeline.hpp>
#include <poot/plan/compile.hpp>

using namespace before_after;
using pass::chain_check;

namespace {

constexpr target with_kernel = targets::host;

ir::graph prepared_graph(const std::string& body, pass::record& notes, const target& where = with_kernel, bool strict = false) {
  pass::prepared p = pass::run_passes(parsed(body), where, {.strict = strict});
  ir::verify(p.optimized);
  notes = p.notes;
  return std::move(p.optimized);
}
int count(const ir::graph_view& g, ir::op o) {
  int n = 0;
  for (const ir::eqn& e : g.eqns) n += e.kind == o;
  return n;
}
/// The attention of a graph, without its order of sums; empty if there is none.
std::string attention_of(const std::string& body, const target& where = with_kernel) {
  pass::record notes;
  std::string text = printed(prepared_graph(body, notes, where));
  const size_t at = text.find("attention");
  if (at == std::string::npos) return "";
  std::string line = text.substr(at, text.find('\n', at) - at);
  const size_t order = line.find("order=");
  line = line.substr(0, order - 1);  // what stands before is a brace or a space
  if (line.back() == ' ') return line.substr(0, line.size() - 1);
  return line + '}';
}

/// The chain over q[6,3,4], k and v [6,7,4], with parts exchanged.
struct spelling {
  std::string scores = "%0 : f32[6,3,7] = matmul %q, %k {transpose_b=1}\n";
  std::string scale = "%1 : f32[6,3,7] = mul %0, f32(0.5)\n";
  std::string softcap = "", mask = "", masked = "%1";
  std::string shift = "%max : f32[6,3,1] = reduce_max %s {axis=2}\n%diff : f32[6,3,7] = sub %s, %max\n";
  std::string exponent = "%exp : f32[6,3,7] = exp %diff\n", sum = "%sum : f32[6,3,1] = reduce_sum %exp {axis=2}\n";
  std::string prob = "%prob : f32[6,3,7] = div %exp, %sum\n", product = "%o : f32[6,3,4] = matmul %prob, %v\n";
  std::string leaves = "%q : f32[6,3,4] = input \"q\"\n%k : f32[6,7,4] = input \"k\"\n%v : f32[6,7,4] = input \"v\"\n";
  std::string more = "";
  std::string body() const {
    std::string all = leaves + scores + scale + softcap + mask + shift + exponent + sum + prob + product + more + "output \"y\" = %o";
    for (size_t at; (at = all.find("%s,")) != std::string::npos;) all.replace(at, 2, masked);
    for (size_t at; (at = all.find("%s ")) != std::string::npos;) all.replace(at, 2, masked);
    return all;
  }
};

struct near_miss {
  std::string body;
  chain_check failed;
  std::string value;  ///< of the traced text
};

void check_near_miss(const near_miss& m, const target& where = with_kernel, bool strict = false) {
  pass::record notes;
  const ir::graph before = parsed(m.body), made = prepared_graph(m.body, notes, where, strict);
  INFO(m.body);
  CHECK(count(made, ir::op::attention) == 0);
  REQUIRE(notes.chain_declines.size() == 1);
  CHECK(std::string(pass::explain(notes.chain_declines[0].failed)) == std::string(pass::explain(m.failed)));
  // the value by its place in the text: print numbers equations in order
  const ir::eqn& e = before.eqns[notes.chain_declines[0].origin];
  CHECK(std::string(ir::name(e.kind)) == m.value);
}

}  // namespace

TEST_CASE("the chain becomes one equation, with its scale, softcap and masks") {
  CHECK(attention_of(spelling{}.body()) == "attention %q, %k, %v {scale=0x1p-1}");
  spelling s;
  s.mask = "%m : f32[3,7] = input \"m\"\n%2 : f32[6,3,7] = add %1, %m\n";
  s.masked = "%2";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v, %m {scale=0x1p-1}");
  s.mask = "%m : i32[3,7] = input \"m\"\n%2 : f32[6,3,7] = select %m, %1, f32(-inf)\n";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v, %m {scale=0x1p-1}");
  s.mask = "%a : f32[6,1,7] = input \"a\"\n%c : i32[3,7] = input \"c\"\n%5 : f32[6,3,7] = add %a, %1\n%2 : f32[6,3,7] = select %c, %5, f32(-inf)\n";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v, %a, %c {scale=0x1p-1}");
  s = {};
  s.softcap = "%3 : f32[6,3,7] = div %1, f32(5)\n%4 : f32[6,3,7] = tanh %3\n%5 : f32[6,3,7] = mul f32(5), %4\n";
  s.masked = "%5";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v {scale=0x1p-1 softcap=5}");
}

TEST_CASE("equal spellings are the same equation") {
  spelling s;
  s.scale = "%1 : f32[6,3,7] = mul f32(0.5), %0\n";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
  s.scale = "%1 : f32[6,3,7] = div %0, f32(2)\n";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
  s = {};
  s.scores = "%t : f32[6,4,7] = transpose %k {perm=[0,2,1]}\n%0 : f32[6,3,7] = matmul %q, %t\n";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
  s = {};
  s.product = "%t : f32[6,4,7] = transpose %v {perm=[0,2,1]}\n%o : f32[6,3,4] = matmul %prob, %t {transpose_b=1}\n";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
  s = {};
  s.shift = "%max : f32[6,3,1] = reduce_max %s {axis=2}\n%b : f32[6,3,7] = broadcast %max\n%diff : f32[6,3,7] = sub %s, %b\n";
  s.prob = "%d : f32[6,3,7] = broadcast %sum\n%prob : f32[6,3,7] = div %exp, %d\n";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
}

namespace {

/// The chain with a sink as a column beside the scores.
spelling with_column() {
  spelling s;
  s.leaves += "%sink : f32[6,1,1] = weight \"sink\"\n";
  s.mask = "%b : f32[6,3,1] = broadcast %sink\n%c : f32[6,3,8] = concat %1, %b {axis=2}\n";
  s.masked = "%c";
  s.shift = "%max : f32[6,3,1] = reduce_max %c {axis=2}\n%diff : f32[6,3,8] = sub %c, %max\n";
  s.exponent = "%exp : f32[6,3,8] = exp %diff\n";
  s.prob = "%p : f32[6,3,8] = div %exp, %sum\n%prob : f32[6,3,7] = slice %p {start=[0,0,0] size=[6,3,7]}\n";
  return s;
}
/// The chain with a sink in the greatest score and in the sum.
spelling with_term() {
  spelling s;
  s.leaves += "%sink : f32[6,1,1] = weight \"sink\"\n";
  s.shift = "%top : f32[6,3,1] = reduce_max %1 {axis=2}\n%max : f32[6,3,1] = max %top, %sink\n%diff : f32[6,3,7] = sub %1, %max\n";
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%away : f32[6,3,1] = sub %sink, %max\n%term : f32[6,3,1] = exp %away\n"
          "%sum : f32[6,3,1] = add %own, %term\n";
  return s;
}

}  // namespace

TEST_CASE("a sink is an operand, whether it is a column beside the scores or a term of the sum") {
  const std::string sunk = "attention %q, %k, %v, %sink {scale=0x1p-1 sink=1}";
  CHECK(attention_of(with_column().body()) == sunk);
  CHECK(attention_of(with_term().body()) == sunk);
  spelling s = with_column();  // before the scores
  s.mask = "%b : f32[6,3,1] = broadcast %sink\n%c : f32[6,3,8] = concat %b, %1 {axis=2}\n";
  s.prob = "%p : f32[6,3,8] = div %exp, %sum\n%prob : f32[6,3,7] = slice %p {start=[0,0,1] size=[6,3,7]}\n";
  CHECK(attention_of(s.body()) == sunk);
  s = with_column();  // the greatest is taken away by hand, and again by the softmax
  s.mask += "%first : f32[6,3,1] = reduce_max %c {axis=2}\n%less : f32[6,3,8] = sub %c, %first\n";
  s.shift = "%max : f32[6,3,1] = reduce_max %less {axis=2}\n%diff : f32[6,3,8] = sub %less, %max\n";
  CHECK(attention_of(s.body()) == sunk);
  s = with_term();  // operands in another order
  s.shift = "%top : f32[6,3,1] = reduce_max %1 {axis=2}\n%max : f32[6,3,1] = max %sink, %top\n%diff : f32[6,3,7] = sub %1, %max\n";
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%away : f32[6,3,1] = sub %sink, %max\n%term : f32[6,3,1] = exp %away\n"
          "%sum : f32[6,3,1] = add %term, %own\n";
  CHECK(attention_of(s.body()) == sunk);
  s = with_term();  // narrow, one for all heads, behind both masks
  s.leaves = spelling{}.leaves + "%narrow : bf16[1] = weight \"narrow\"\n%sink : f32[1] = cast %narrow\n";
  s.mask = "%a : f32[3,7] = input \"a\"\n%m : i32[3,7] = input \"m\"\n%3 : f32[6,3,7] = add %1, %a\n%2 : f32[6,3,7] = select %m, %3, f32(-inf)\n";
  s.shift = "%top : f32[6,3,1] = reduce_max %2 {axis=2}\n%max : f32[6,3,1] = max %top, %sink\n%diff : f32[6,3,7] = sub %2, %max\n";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v, %a, %m, %narrow {scale=0x1p-1 sink=1}");
  s = with_term();  // a softmax that may weigh nothing: the sink is 0
  s.shift = "%top : f32[6,3,1] = reduce_max %1 {axis=2}\n%max : f32[6,3,1] = max %top, f32(0)\n%diff : f32[6,3,7] = sub %1, %max\n";
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%away : f32[6,3,1] = neg %max\n%term : f32[6,3,1] = exp %away\n"
          "%sum : f32[6,3,1] = add %own, %term\n";
  CHECK(attention_of(s.body()) == "attention %q, %k, %v, f32(0) {scale=0x1p-1 sink=1}");
}

TEST_CASE("the greatest that is taken away twice is taken away once") {
  spelling s;
  s.mask = "%first : f32[6,3,1] = reduce_max %1 {axis=2}\n%less : f32[6,3,7] = sub %1, %first\n";
  s.masked = "%less";
  CHECK(attention_of(s.body()) == attention_of(spelling{}.body()));
}

TEST_CASE("a near miss of a sink keeps its equations, and is declined with the value and the first check that failed") {
  spelling s = with_column();
  const auto miss = [&](chain_check failed, const char* value, spelling next) {
    check_near_miss({s.body(), failed, value});
    s = next;
  };
  // the column stays, and has a row of values
  s.leaves = "%q : f32[6,3,4] = input \"q\"\n%k : f32[6,7,4] = input \"k\"\n%v : f32[6,8,4] = input \"v\"\n%sink : f32[6,1,1] = weight \"sink\"\n";
  s.prob = "%prob : f32[6,3,8] = div %exp, %sum\n";
  miss(chain_check::sink_kept, "concat", with_column());
  // another column goes
  s.prob = "%p : f32[6,3,8] = div %exp, %sum\n%prob : f32[6,3,7] = slice %p {start=[0,0,1] size=[6,3,7]}\n";
  miss(chain_check::sink_kept, "slice", with_column());
  // two columns
  s.leaves = spelling{}.leaves + "%sink : f32[6,1,2] = weight \"sink\"\n";
  for (std::string* part : {&s.mask, &s.shift, &s.exponent, &s.prob})
    for (size_t at; (at = part->find("3,8]")) != std::string::npos;) part->replace(at, 4, "3,9]");
  s.mask.replace(s.mask.find("3,1]"), 4, "3,2]");
  miss(chain_check::sink_shape, "concat", with_column());
  // scaled with the scores
  s.scale = "%1 : f32[6,3,7] = mul %0, f32(0.5)\n";
  s.mask = "%b : f32[6,3,1] = broadcast %sink\n%cc : f32[6,3,8] = concat %1, %b {axis=2}\n%c : f32[6,3,8] = mul %cc, f32(0.25)\n";
  miss(chain_check::sink_form, "concat", with_column());
  // a weight of the sink is read
  s.more = "%w : f32[6,3,1] = slice %p {start=[0,0,7] size=[6,3,1]}\noutput \"weight\" = %w\n";
  miss(chain_check::read_elsewhere, "div", with_term());
  // no part of the greatest
  s.shift = "%max : f32[6,3,1] = reduce_max %1 {axis=2}\n%diff : f32[6,3,7] = sub %1, %max\n";
  miss(chain_check::sink_form, "exp", with_term());
  // no part of the sum
  s.sum = "%sum : f32[6,3,1] = reduce_sum %exp {axis=2}\n";
  miss(chain_check::softmax_shift, "sub", with_term());
  // scaled in the sum
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%half : f32[6,1,1] = mul %sink, f32(0.5)\n%away : f32[6,3,1] = sub %half, %max\n"
          "%term : f32[6,3,1] = exp %away\n%sum : f32[6,3,1] = add %own, %term\n";
  miss(chain_check::sink_form, "exp", with_term());
  // not shifted
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%term : f32[6,1,1] = exp %sink\n%sum : f32[6,3,1] = add %own, %term\n";
  miss(chain_check::sink_form, "exp", with_term());
  // a number that is not 0, left out of the exponent
  s.shift = "%top : f32[6,3,1] = reduce_max %1 {axis=2}\n%max : f32[6,3,1] = max %top, f32(1)\n%diff : f32[6,3,7] = sub %1, %max\n";
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%away : f32[6,3,1] = neg %max\n%term : f32[6,3,1] = exp %away\n"
          "%sum : f32[6,3,1] = add %own, %term\n";
  miss(chain_check::sink_form, "exp", with_term());
  // one for each key
  s.leaves = spelling{}.leaves + "%sink : f32[6,1,7] = weight \"sink\"\n";
  s.shift = "%top : f32[6,3,1] = reduce_max %1 {axis=2}\n%max : f32[6,3,7] = max %top, %sink\n%diff : f32[6,3,7] = sub %1, %max\n";
  s.sum = "%own : f32[6,3,1] = reduce_sum %exp {axis=2}\n%away : f32[6,3,7] = sub %sink, %max\n%term : f32[6,3,7] = exp %away\n"
          "%sum : f32[6,3,7] = add %own, %term\n";
  miss(chain_check::sink_shape, "max", with_term());
  // rows that only the sink tells apart
  s.leaves = "%q : f32[1,3,4] = input \"q\"\n%k : f32[1,7,4] = input \"k\"\n%v : f32[1,7,4] = input \"v\"\n%sink : f32[6,1,1] = weight \"sink\"\n";
  s.scores = "%0 : f32[1,3,7] = matmul %q, %k {transpose_b=1}\n";
  s.scale = "%1 : f32[1,3,7] = mul %0, f32(0.5)\n";
  s.shift.replace(s.shift.find("f32[6,3,1]"), 10, "f32[1,3,1]");
  miss(chain_check::sink_shape, "max", with_term());
}

TEST_CASE("a query that is scaled before stays an operand, and the scale is one") {
  spelling s;
  s.scores = "%qs : f32[6,3,4] = mul %q, f32(0.3)\n%0 : f32[6,3,7] = matmul %qs, %k {transpose_b=1}\n";
  s.scale = "";
  s.masked = "%0";
  CHECK(attention_of(s.body()) == "attention %0, %k, %v");
}

TEST_CASE("copies of heads and widening casts of operands are left out") {
  spelling s;
  s.leaves = "%q : bf16[6,3,4] = input \"q\"\n%c : bf16[2,7,4] = input \"c\"\n%f : f16[2,7,4] = input \"f\"\n";
  const std::string wide = "%cw : f32[2,7,4] = cast %c\n%fw : f32[2,7,4] = cast %f\n%qw : f32[6,3,4] = cast %q\n";
  const auto copies = [](const char* from, const char* to) {
    const std::string f(from), t(to);
    return "%" + t + "1 : f32[2,1,7,4] = reshape %" + f + "\n%" + t + "2 : f32[2,3,7,4] = broadcast %" + t + "1\n%" + t +
           " : f32[6,7,4] = reshape %" + t + "2\n";
  };
  s.leaves += wide + copies("cw", "k") + copies("fw", "v");
  s.scores = "%0 : f32[6,3,7] = matmul %qw, %k {transpose_b=1}\n";
  CHECK(attention_of(s.body()) == "attention %q, %c, %f {scale=0x1p-1}");
  // heads in turns, h mod 2, are no runs: the copies stay
  s = {};
  s.leaves = "%q : f32[6,3,4] = input \"q\"\n%c : f32[2,7,4] = input \"c\"\n%c1 : f32[1,2,7,4] = reshape %c\n%c2 : f32[3,2,7,4] = broadcast %c1\n"
             "%k : f32[6,7,4] = reshape %c2\n%v : f32[6,7,4] = input \"v\"\n";
  CHECK(attention_of(s.body()) == "attention %q, %2, %v {scale=0x1p-1}");
  // one key head, copied: multi-query
  s.leaves = "%q : f32[6,3,4] = input \"q\"\n%c : f32[1,7,4] = input \"c\"\n%k : f32[6,7,4] = broadcast %c\n%v : f32[6,7,4] = broadcast %c\n";
  CHECK(attention_of(s.body()) == "attention %q, %c, %c {scale=0x1p-1}");
}

TEST_CASE("a group's heads may be rows of one product, or a batch that shares the keys") {
  CHECK(attention_of(R"(%q : f32[2,3,5,4] = input "q"
    %k : f32[2,1,7,4] = input "k"
    %v : f32[2,1,7,4] = input "v"
    %0 : f32[2,3,5,7] = matmul %q, %k {transpose_b=1}
    %m : f32[2,3,5,1] = reduce_max %0 {axis=3}
    %d : f32[2,3,5,7] = sub %0, %m
    %e : f32[2,3,5,7] = exp %d
    %s : f32[2,3,5,1] = reduce_sum %e {axis=3}
    %p : f32[2,3,5,7] = div %e, %s
    %o : f32[2,3,5,4] = matmul %p, %v
    output "y" = %o)") == "attention %q, %k, %v");
}

TEST_CASE("a near miss keeps its equations, and is declined with the value and the first check that failed") {
  spelling s;
  const auto miss = [&](chain_check failed, const char* value) {
    check_near_miss({s.body(), failed, value});
    s = {};
  };
  s.prob = "%r : f32[6,3,1] = recip %sum\n%prob : f32[6,3,7] = mul %exp, %r\n";
  miss(chain_check::reciprocal_softmax, "mul");
  s.more = "output \"scores\" = %0\n";
  miss(chain_check::read_elsewhere, "matmul");
  s.more = "%again : f32[6,3,7] = neg %prob\noutput \"p\" = %again\n";
  miss(chain_check::read_elsewhere, "div");
  s.more = "output \"sum\" = %sum\n";
  miss(chain_check::read_elsewhere, "reduce_sum");
  s.shift = "%max : f32[6,1,7] = reduce_max %s {axis=1}\n%diff : f32[6,3,7] = sub %s, %max\n";
  miss(chain_check::softmax_axis, "reduce_max");
  s.sum = "%sum : f32[6,1,7] = reduce_sum %exp {axis=1}\n";
  miss(chain_check::softmax_axis, "reduce_sum");
  s.shift = "";
  s.exponent = "%exp : f32[6,3,7] = exp %1\n";
  miss(chain_check::softmax_shift, "exp");
  s.shift = "%max : f32[6,3,1] = reduce_min %s {axis=2}\n%diff : f32[6,3,7] = sub %s, %max\n";
  miss(chain_check::softmax_shift, "sub");
  s.scores = "%b : bf16[6,3,7] = matmul %q, %k {transpose_b=1}\n%0 : f32[6,3,7] = cast %b\n";
  miss(chain_check::narrow_value, "cast");
  s.product = "%b : bf16[6,3,7] = cast %prob\n%o : f32[6,3,4] = matmul %b, %v\n";
  miss(chain_check::narrow_value, "cast");
  s.scale = "%f : f32[] = input \"f\"\n%1 : f32[6,3,7] = mul %0, %f\n";
  miss(chain_check::scale_form, "mul");
  s.scale = "%1 : f32[6,3,7] = div %0, f32(3)\n";
  miss(chain_check::scale_form, "div");
  s.softcap = "%3 : f32[6,3,7] = div %1, f32(5)\n%4 : f32[6,3,7] = tanh %3\n%5 : f32[6,3,7] = mul %4, f32(6)\n";
  s.masked = "%5";
  miss(chain_check::softcap_form, "tanh");
  s.mask = "%c : i32[3,7] = input \"c\"\n%2 : f32[6,3,7] = select %c, %1, f32(-1e9)\n";
  s.masked = "%2";
  miss(chain_check::mask_value, "select");
  s.mask = "%c : i32[3,7] = input \"c\"\n%2 : f32[6,3,7] = select %c, f32(-inf), %1\n";
  s.masked = "%2";
  miss(chain_check::mask_form, "select");
  s.scores = "%u : f32[6,4,7] = input \"u\"\n%0 : f32[6,3,7] = matmul %q, %u\n";
  miss(chain_check::operand_order, "matmul");
  s.leaves = "%q : f32[6,3,4] = input \"q\"\n%k : f32[1,7,4] = input \"k\"\n%v : f32[6,7,4] = input \"v\"\n";
  miss(chain_check::single_key_head, "matmul");
  s.leaves = "%q : f32[6,3,4] = input \"q\"\n%c : f32[2,7,4] = input \"c\"\n%c1 : f32[2,1,7,4] = reshape %c\n%c2 : f32[2,3,7,4] = broadcast %c1\n"
             "%k : f32[6,7,4] = reshape %c2\n%v : f32[6,7,4] = input \"v\"\n";
  miss(chain_check::heads_differ, "matmul");
  s.scores = "%9 : f32[18,7] = reshape %qk\n%0 : f32[6,3,7] = reshape %9\n";
  s.leaves += "%qk : f32[3,6,7] = matmul %qq, %kk {transpose_b=1}\n";
  s.leaves = "%qq : f32[3,6,4] = input \"q\"\n%kk : f32[3,7,4] = input \"k\"\n%v : f32[6,7,4] = input \"v\"\n%qk : f32[3,6,7] = matmul %qq, %kk {transpose_b=1}\n";
  miss(chain_check::moved_inside, "reshape");
}

TEST_CASE("what the target or the caller does not allow is declined by its name") {
  target none = with_kernel, narrow = with_kernel;
  none.caps.attention = false;
  narrow.caps.max_groups_x = 17;
  check_near_miss({spelling{}.body(), chain_check::no_kernel, "matmul"}, none);
  target small = targets::vulkan_lavapipe;
  small.caps.shared_bytes = 512;
  check_near_miss({spelling{}.body(), chain_check::workgroup_memory, "matmul"}, small);
  check_near_miss({spelling{}.body(), chain_check::grid_limit, "matmul"}, narrow);
  small.caps.shared_bytes = 4 * (256 + 8) - 1;
  check_near_miss({spelling{}.body(), chain_check::strict, "matmul"}, small, true);
  check_near_miss({with_column().body(), chain_check::strict, "matmul"}, with_kernel, true);
  check_near_miss({with_term().body(), chain_check::strict, "matmul"}, with_kernel, true);
  narrow.caps.max_groups_x = 18;  // six heads of three queries
  CHECK(attention_of(spelling{}.body(), narrow) == "attention %q, %k, %v {scale=0x1p-1}");
}

TEST_CASE("strict attention is the chain in one dispatch, while the scores of a row fit") {
  target device = targets::vulkan_lavapipe;
  const ir::graph g = parsed(spelling{}.body());
  const auto planned = [&](const target& where, bool strict) {
    plan::options wanted;
    wanted.strict = strict;
    return plan::compile(g, where, wanted);
  };
  for (const target& where : {with_kernel, device}) {
    const plan::program p = planned(where, true), loose = planned(where, false);
    CHECK(p.dispatch_count() == 1);
    CHECK(p.comparison_class() == plan::comparison::exact);
    CHECK(loose.comparison_class() == plan::comparison::restructured);
    CHECK(printed(p.graph).find("{scale=0x1p-1 strict=1 order=") != std::string::npos);
    CHECK(p.chain_declines().empty());
  }
  device.caps.shared_bytes = 4 * (256 + 8);
  CHECK(planned(device, true).dispatch_count() == 1);
  device.caps.shared_bytes -= 1;
  const plan::program apart = planned(device, true);
  CHECK(apart.dispatch_count() == 3);
  CHECK(apart.comparison_class() == plan::comparison::exact);
  REQUIRE(apart.chain_declines().size() == 1);
  CHECK(apart.chain_declines()[0].failed == chain_check::strict);
}

TEST_CASE("a number of keys that nothing bounds is declined") {
  const auto body = [](const char* bound) {
    return "%q : f32[2,1,4] = input \"q\"\n%k : f32[2,L<=" + std::string(bound) + R"(,4] = input "k"
    %0 : f32[2,1,L] = matmul %q, %k {transpose_b=1}
    %m : f32[2,1,1] = reduce_max %0 {axis=2}
    %d : f32[2,1,L] = sub %0, %m
    %e : f32[2,1,L] = exp %d
    %s : f32[2,1,1] = reduce_sum %e {axis=2}
    %p : f32[2,1,L] = div %e, %s
    %o : f32[2,1,4] = matmul %p, %k
    output "y" = %o)";
  };
  CHECK(attention_of(body("4096")) == "attention %q, %k, %k");
  target narrow = with_kernel;
  narrow.caps.max_groups_x = 1;  // a limit of prefill only: here each head has one query
  CHECK(attention_of(body("4096"), narrow) == "attention %q, %k, %k");
  check_near_miss({body("2147483647"), chain_check::unbounded_length, "matmul"});
}

TEST_CASE("other softmaxes are neither recognised nor declined") {
  for (const char* body : {"%x : f32[2,3] = input \"x\"\n%m : f32[2,1] = reduce_max %x {axis=1}\n%d : f32[2,3] = sub %x, %m\n%e : f32[2,3] = exp %d\n"
                           "%s : f32[2,1] = reduce_sum %e {axis=1}\n%p : f32[2,3] = div %e, %s\n%w : f32[3,4] = input \"w\"\n%o : f32[2,4] = matmul %p, %w\noutput \"y\" = %o",
                           "%x : f32[2,3] = input \"x\"\n%w : f32[3,4] = input \"w\"\n%d : f32[2,3] = div %x, f32(3)\n%o : f32[2,4] = matmul %d, %w\noutput \"y\" = %o"}) {
    pass::record notes;
    CHECK(count(prepared_graph(body, notes), ir::op::attention) == 0);
    CHECK(notes.chain_declines.empty());
  }
}

#include "before_after.hpp"

#include <poot/pass/split_attention.hpp>
#include <poot/plan/compile.hpp>

using namespace before_after;

namespace {

constexpr int64 never = INT64_MAX;

/// A pass that splits attention from `keys` keys on.
auto splitting(int64 keys, const target& where = targets::vulkan_lavapipe) {
  return [=](ir::graph g, pass::record& notes) { return pass::split_attention(std::move(g), where, keys, notes); };
}

std::string leaves(const std::string& keys, const std::string& heads = "8") {
  return "%q : f32[" + heads + ",1,64] = input \"q\"\n%k : f16[2," + keys + ",64] = input \"k\"\n%v : f16[2," + keys.substr(0, keys.find('<')) + ",64] = input \"v\"\n";
}
std::string whole(const std::string& keys, const std::string& attrs = "scale=0.125") {
  return leaves(keys) + "%y : f32[8,1,64] = attention %q, %k, %v {" + attrs + "}\noutput \"y\" = %y";
}
std::string parts(const std::string& keys, const std::string& chunks) {
  return leaves(keys) + "%p : f32[8,1," + chunks + ",67] = attention_parts %q, %k, %v {scale=0.125}\n%y : f32[8,1,64] = attention_join %p\noutput \"y\" = %y";
}

}  // namespace

TEST_CASE("splits what workgroup memory does not hold, and from as many keys on as is asked for") {
  const target& where = targets::vulkan_lavapipe;  // 32 KiB
  CHECK(ir::attention_fits(where.caps, extent(29696), extent(64), false));
  CHECK(unchanged(splitting(never), whole("29696")));
  CHECK(after(splitting(never), whole("40000")) == normal(parts("40000", "157")));
  CHECK(after(splitting(never), whole("S<=40000")) == normal(parts("S<=40000", "157")));
  CHECK(after(splitting(512), whole("512")) == normal(parts("512", "2")));
  CHECK(after(splitting(512), whole("S<=513")) == normal(parts("S<=513", "3")));
  CHECK(after(splitting(0), whole("0")) == normal(parts("0", "1")));
  CHECK(unchanged(splitting(512), whole("511")));
  CHECK(unchanged(splitting(512), whole("S<=511")));
}

TEST_CASE("masks go with the parts and a sink with their join") {
  const std::string more = "%a : f32[1,600] = input \"a\"\n%c : i32[1,600] = input \"c\"\n%s : f32[8,1,1] = input \"s\"\n";
  CHECK(after(splitting(0), leaves("600") + more + "%y : bf16[8,1,64] = attention %q, %k, %v, %a, %c, %s {softcap=5 sink=1}\n%z : bf16[8,1,64] = neg %y\noutput \"z\" = %z") ==
        normal(leaves("600") + more + "%p : f32[8,1,3,67] = attention_parts %q, %k, %v, %a, %c {softcap=5}\n"
                                      "%y : bf16[8,1,64] = attention_join %p, %s\n%z : bf16[8,1,64] = neg %y\noutput \"z\" = %z"));
}

TEST_CASE("leaves whole what is strict, what a host runs, and what no grid or buffer holds in parts") {
  CHECK(unchanged(splitting(0), whole("600", "strict=1")));
  CHECK(unchanged(splitting(0, targets::host), whole("600")));
  CHECK(unchanged(splitting(0), "%q : f32[8,1,64] = input \"q\"\n%k : f32[2,600,64] = input \"k\"\n%v : f32[2,600,E<=64] = input \"v\"\n"
                                "%y : f32[8,1,E] = attention %q, %k, %v\noutput \"y\" = %y"));
  CHECK(unchanged(splitting(0), "%q : f32[2,2,2,2,1,4] = input \"q\"\n%k : f32[600,4] = input \"k\"\n%y : f32[2,2,2,2,1,4] = attention %q, %k, %k\noutput \"y\" = %y"));
  target narrow = targets::vulkan_lavapipe;
  narrow.caps.max_groups_x = 6;  // two times four heads over three chunks
  CHECK(!unchanged(splitting(0, narrow), whole("600")));
  narrow.caps.max_groups_x = 5;
  CHECK(unchanged(splitting(0, narrow), whole("600")));
  narrow = targets::vulkan_lavapipe;
  narrow.caps.buffer_bytes = 4 * 8 * 3 * 67;
  CHECK(!unchanged(splitting(0, narrow), whole("600")));
  --narrow.caps.buffer_bytes;
  CHECK(unchanged(splitting(0, narrow), whole("600")));
  narrow = targets::vulkan_lavapipe;
  narrow.caps.shared_bytes = 4 * 4 * (256 + 8);  // eight invocations with the scores of four heads
  CHECK(!unchanged(splitting(0, narrow), whole("600")));
  --narrow.caps.shared_bytes;
  CHECK(unchanged(splitting(0, narrow), whole("600")));
}

TEST_CASE("a chain over 40,000 keys is two dispatches on a device, and nothing is declined") {
  const std::string body = leaves("40000") + R"(%0 : f32[2,4,1,64] = reshape %q
    %kk : f16[2,1,40000,64] = reshape %k
    %vv : f16[2,1,40000,64] = reshape %v
    %s : f32[2,4,1,40000] = matmul %0, %kk {transpose_b=1}
    %m : f32[2,4,1,1] = reduce_max %s {axis=3}
    %d : f32[2,4,1,40000] = sub %s, %m
    %e : f32[2,4,1,40000] = exp %d
    %t : f32[2,4,1,1] = reduce_sum %e {axis=3}
    %p : f32[2,4,1,40000] = div %e, %t
    %o : f32[2,4,1,64] = matmul %p, %vv
    output "y" = %o)";
  const plan::program p = plan::compile(parsed(body), targets::vulkan_lavapipe);
  CHECK(p.dispatch_count() == 2);
  CHECK(p.count(fuse::region_kind::attention) == 2);
  CHECK(p.chain_declines().empty());
  CHECK(p.refusals().empty());
  CHECK(p.comparison_class() == plan::comparison::restructured);
  target narrow = targets::vulkan_lavapipe;
  narrow.caps.max_groups_x = 313;  // 314 workgroups
  const plan::program apart = plan::compile(parsed(body), narrow);
  REQUIRE(apart.chain_declines().size() == 1);
  CHECK(apart.chain_declines()[0].failed == pass::chain_check::workgroup_memory);
  CHECK(plan::compile(parsed(body), targets::vulkan_lavapipe, {.strict = true}).count(fuse::region_kind::attention) == 0);
}

TEST_CASE("transposes stand behind the join as behind the whole, and split equations are refused where there are no workgroups") {
  const std::string body = leaves("600") + "%y : f32[8,1,64] = attention %q, %k, %v\n%z : f32[1,8,64] = transpose %y {perm=[1,0,2]}\noutput \"z\" = %z";
  CHECK(plan::compile(parsed(body), targets::cuda_sm80).dispatch_count() == 1);
  CHECK(plan::compile(parsed(body), targets::cuda_sm80, {.split_keys = 600}).dispatch_count() == 2);
  CHECK(plan::compile(parsed(body), targets::cuda_sm80, {.split_keys = 601}).dispatch_count() == 1);
  const plan::program refused = plan::compile(parsed(parts("600", "3")), targets::host);
  REQUIRE(refused.refusals().size() == 2);
  for (const plan::refusal& r : refused.refusals()) CHECK(r.missing == plan::capability::attention);
  CHECK(plan::compile(parsed(parts("600", "3")), targets::aie_npu1).refusals().size() == 3);  // and `execution`
}

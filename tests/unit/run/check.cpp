#include <doctest/doctest.h>

#include <poot/ir/parse.hpp>
#include <poot/run/host/check.hpp>
#include <poot/run/host/region_step.hpp>

#include <string>
#include <vector>

using namespace poot;
using namespace poot::run;
using namespace poot::run::host;

namespace {

constexpr const char* layer = R"(graph layer {
  %x    : f32[T<=9,300]  = input "x"
  %gain : f32[300]       = weight "gain"
  %w    : bf16[40,300]   = weight "w"
  %ids  : i32[T]         = input "ids"
  %0    : f32[T,300]     = mul %x, %x
  %1    : f32[T,1]       = reduce_sum %0 {axis=1}
  %2    : f32[T,1]       = add %1, f32(1e-5)
  %3    : f32[T,1]       = sqrt %2
  %4    : f32[T,300]     = div %x, %3
  %5    : f32[T,300]     = mul %4, %gain
  %6    : f32[T,40]      = matmul %5, %w {transpose_b=1}
  %7    : f32[T,40]      = tanh %6
  %8    : f32[T,40]      = add %7, f32(0.5)
  %9    : f32[T,40]      = gather %8, %ids {axis=0}
  %10   : f32[T,40]      = mul %9, %9
  %11   : f32[T,40]      = sub %10, %9
  output "y" = %11
}
)";

struct values {
  std::vector<float> x = std::vector<float>(4 * 300), gain = std::vector<float>(300);
  std::vector<uint16> w = std::vector<uint16>(40 * 300);
  std::vector<int32> ids = {3, 0, 1, 1};
  values() {
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) * 0.03125f - 1.5f;
    for (size_t i = 0; i < gain.size(); ++i) gain[i] = 1.0f + static_cast<float>(i % 7) * 0.125f;
    for (size_t i = 0; i < w.size(); ++i) w[i] = f32_to_bf16(static_cast<float>(i * 13 % 29) * 0.0625f - 0.9f);
  }
};

plan::program planned() { return plan::compile(ir::parse(layer), targets::host); }

std::optional<mismatch> check_layer(const load_options& options = {}) {
  values v;
  return compare_fused(planned(), {{"x", read_only(v.x.data(), f32, 4, 300)}, {"gain", read_only(v.gain.data(), f32, 300)},
                                   {"w", read_only(v.w.data(), bf16, 40, 300)}, {"ids", read_only(v.ids.data(), i32, 4)}},
                       options, 2);
}

/// A region one of whose tile instructions flips a bit of element 5 of each tile.
class broken_region : public step {
 public:
  broken_region(const plan::program_view& p, const plan::launch& l)
      : region_(p.graph, {l.kind == fuse::region_kind::row ? region_kind::row : region_kind::pointwise, p(l.members), p(l.outputs)}) {
    auto& program = const_cast<tile_program&>(region_.program());
    tile_instruction& last = program.phases[program.phases.size() - 1].instructions.back();
    intact = last.run;
    last.run = [](void* out, const void* a, const void* b, const void* c, int count) {
      intact(out, a, b, c, count);
      static_cast<uint32*>(out)[5] ^= 1;
    };
  }
  void prepare(const run_context& c) override { bindings_.look_up(region_.program(), c); }
  void run(const run_context& c) override { region_.run(bindings_.buffers(), c.counts, &c.threads); }

 private:
  static inline tile_function intact = nullptr;
  region region_;
  region_bindings bindings_;
};

/// A contraction whose epilogue sets the sign of one element of its result.
class broken_epilogue : public step {
 public:
  broken_epilogue(std::unique_ptr<step> intact, uint32 output) : intact_(std::move(intact)), output_(output) {}
  void prepare(const run_context& c) override { intact_->prepare(c); }
  void run(const run_context& c) override {
    intact_->run(c);
    c.at<uint32>(output_)[77] ^= 0x80000000u;
  }

 private:
  std::unique_ptr<step> intact_;
  uint32 output_;
};

template <fuse::region_kind Kind>
std::unique_ptr<step> broken(std::unique_ptr<step> s, const plan::program_view& p, const plan::launch& l) {
  if (l.kind != Kind || l.members.count < 2) return s;
  if (Kind == fuse::region_kind::contraction) return std::make_unique<broken_epilogue>(std::move(s), p(l.outputs)[0]);
  return std::make_unique<broken_region>(p, l);
}

/// Whether equation `id` of the plan is a result of a launch of this kind with several members.
bool is_result_of(const plan::program& p, const mismatch& m, fuse::region_kind kind) {
  const plan::program_view v = p;
  const plan::launch& l = v.launches[m.launch];
  bool found = false;
  for (uint32 id : v(l.outputs)) found = found || id == m.equation;
  return found && l.kind == kind && l.members.count > 1;
}

}  // namespace

TEST_CASE("fused and unfused have equal bits on every instruction set") {
  const isa before = current();
  for (const isa i : {isa::baseline, isa::avx2, isa::avx512}) {
    force(i);
    CHECK_FALSE(check_layer().has_value());
  }
  force(before);
}

TEST_CASE("a broken tile instruction of a row region is named: launch, equation, element, bits") {
  load_options options;
  options.substitute = broken<fuse::region_kind::row>;
  const std::optional<mismatch> first = check_layer(options);
  REQUIRE(first.has_value());
  CHECK(is_result_of(planned(), *first, fuse::region_kind::row));
  CHECK(first->index == 5);
  CHECK((first->fused ^ first->unfused) == 1);
}

TEST_CASE("a broken epilogue and a broken pointwise region are named, though others stand before them") {
  load_options options;
  options.substitute = broken<fuse::region_kind::contraction>;
  std::optional<mismatch> first = check_layer(options);
  REQUIRE(first.has_value());
  CHECK(is_result_of(planned(), *first, fuse::region_kind::contraction));
  CHECK(first->index == 77);
  CHECK((first->fused ^ first->unfused) == 0x80000000u);
  options.substitute = broken<fuse::region_kind::pointwise>;
  first = check_layer(options);
  REQUIRE(first.has_value());
  CHECK(is_result_of(planned(), *first, fuse::region_kind::pointwise));
  CHECK(first->index == 5);
}

TEST_CASE("the sentence names what differs") {
  values v;
  executor device(1);
  load_options options;
  options.check = true;
  options.substitute = broken<fuse::region_kind::pointwise>;
  entry& e = device.add_entry("main", planned(), options);
  e.bind("x", read_only(v.x.data(), f32, 4, 300)).bind("gain", read_only(v.gain.data(), f32, 300));
  e.bind("w", read_only(v.w.data(), bf16, 40, 300)).bind("ids", read_only(v.ids.data(), i32, 4));
  std::string message;
  try {
    e.run();
  } catch (const difference_found& d) {
    message = d.what();
  }
  INFO(message);
  for (const char* part : {"check: launch ", "a pointwise region of 2 equations", " sub f32[4,40] element 5 has the bits "})
    CHECK(message.find(part) != std::string::npos);
}

TEST_CASE("an index outside is an error that names it; without check it is moved inside") {
  values v;
  v.ids[2] = 4;
  for (const bool checked : {true, false}) {
    executor device(1);
    load_options options;
    options.check = checked;
    entry& e = device.add_entry("main", planned(), options);
    e.bind("x", read_only(v.x.data(), f32, 4, 300)).bind("gain", read_only(v.gain.data(), f32, 300));
    e.bind("w", read_only(v.w.data(), bf16, 40, 300)).bind("ids", read_only(v.ids.data(), i32, 4));
    std::string message;
    try {
      e.run();
    } catch (const error& failure) {
      message = failure.what();
    }
    INFO(message);
    CHECK((message.find("gather: index 4 at 2") != std::string::npos) == checked);
    CHECK((message.find("is outside 0 to 3") != std::string::npos) == checked);
  }
}

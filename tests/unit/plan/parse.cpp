#include <poot/core/ieee.hpp>
#include <poot/plan/parse.hpp>

#include <doctest/doctest.h>

#include <support/custom_ops.hpp>
#include <support/fusion_draws.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define POOT_HAS_JSON
#endif

using namespace poot;

namespace {

plan::program planned(const ir::graph_view& g, bool fuse = true, bool narrow = false) {
  plan::options wanted;
  wanted.fuse = fuse;
  wanted.fuse_narrow_casts = narrow;
  return plan::compile(g, targets::host, wanted);
}

/// What is lost when a program goes through its text; empty where nothing is.
std::string lost(const plan::program& p) {
  const text once = plan::print(p);
  try {
    const plan::program again = plan::parse(once.str());
    const std::string_view part = plan::first_difference(p, again);
    if (!part.empty()) return std::string(part);
    return plan::print(again) == once ? "" : "the text is another";
  } catch (const error& e) {
    return e.what();
  }
}

std::string refusal(const std::string& source) {
  try {
    plan::parse(source);
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

/// A plan with a prologue, a state written in place, a copy, a view, a transient value and a decline.
constexpr const char* source =
    "graph g {\n  %x : f32[4,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %at : i32[2] = input \"at\"\n"
    "  %held : f32[16,8] = state \"held\"\n  %i : i32[8] = iota {axis=0}\n  %c : f32[8] = cast %i\n  %s : f32[8] = sin %c\n"
    "  %h : f32[4,8] = matmul %x, %w\n  %j : f32[4,8] = matmul %h, %w\n  %k : f32[4,8] = add %j, %s\n"
    "  %u : f32[16,8] = dynamic_update_slice %held, %k, %at\n  %v : f32[32] = reshape %h\n  %n : f32[32] = neg %v\n"
    "  output \"held\" = %u\n  output \"y\" = %n\n  output \"again\" = %x\n}\n";

std::string replaced(std::string s, const std::string& from, const std::string& to) {
  const size_t at = s.find(from);
  REQUIRE_MESSAGE(at != s.npos, from);
  return s.replace(at, from.size(), to);
}
std::string line_with(const std::string& s, const std::string& part) {
  const size_t at = s.find(part);
  REQUIRE(at != s.npos);
  const size_t first = s.rfind('\n', at) + 1;
  return s.substr(first, s.find('\n', at) + 1 - first);
}
int line_of(const std::string& s, const std::string& part) {
  int line = 1;
  for (size_t i = 0, at = s.find(part); i < at; ++i) line += s[i] == '\n';
  return line;
}

/// What a device relies on, found without the planner: every value that a dispatch reads is in memory by then, no two
/// transient values that are needed at one time share a byte, and all lie in the arena. Empty where that holds.
std::string unsound(const plan::program_view& p) {
  const auto size = static_cast<uint32>(p.graph.size());
  const auto stored = [&](uint32 id) {
    for (uint32 hops = 0; hops <= size; ++hops) {
      const plan::place where = p.placements[id].where;
      if (where != plan::place::view && where != plan::place::window) return id;
      id = p.placements[id].index;
    }
    return size;
  };
  if (p.placements.size() != size) return "placements";
  std::vector<int> made(size, -1), last(size, -1);
  for (uint32 id = 0; id < size; ++id)
    if (p.placements[id].where == plan::place::leaf || (ir::is_leaf(p.graph[id].kind) && p.placements[id].where == plan::place::table)) made[id] = 0;
  for (const plan::launch& l : p.prologue)
    for (uint32 id : p(l.outputs)) made[id] = 0;
  for (int i = 0; i < static_cast<int>(p.launches.size()); ++i) {
    const plan::launch& l = p.launches[static_cast<size_t>(i)];
    for (uint32 id : p(l.members))
      for (uint32 in : p.graph.operands(id)) {
        bool inside = p.graph.is_scalar_constant(in);
        for (uint32 other : p(l.members)) inside = inside || other == in;
        if (inside) continue;
        const uint32 from = stored(in);
        if (from >= size || made[from] < 0) return "a dispatch reads a value that is not in memory";
        last[from] = i;
      }
    for (uint32 id : p(l.outputs)) made[id] = i, last[id] = last[id] > i ? last[id] : i;
  }
  for (const ir::graph_output& o : p.graph.outputs) {
    if (made[stored(o.value)] < 0) return "a result is not made";
    last[stored(o.value)] = static_cast<int>(p.launches.size());
  }
  for (uint32 a = 0; a < size; ++a) {
    if (p.placements[a].where != plan::place::arena) continue;
    const int64 first = p.placements[a].offset, end = first + p.graph.type(a).bytes();
    if (first < 0 || end > p.arena_bytes) return "a value lies outside the arena";
    for (uint32 b = 0; b < a; ++b) {
      if (p.placements[b].where != plan::place::arena) continue;
      const int64 other = p.placements[b].offset, other_end = other + p.graph.type(b).bytes();
      if (made[a] <= last[b] && made[b] <= last[a] && first < other_end && other < end) return "two values share memory at one time";
    }
  }
  return "";
}

}  // namespace

namespace in_constant {
constexpr bool survives() {
  const plan::program p = plan::compile(
      ir::parse("graph g {\n %x : f32[2,4] = input \"x\"\n %y : f32[2,1] = reduce_max %x {axis=1}\n %z : f32[2,4] = sub %x, %y\n output \"z\" = %z\n}"),
      targets::host);
  return plan::equal(plan::parse(plan::print(p).str()), p);
}
static_assert(survives());
}  // namespace in_constant

TEST_CASE("random programs survive their text") {
  for (uint64 seed = 1; seed <= 600; ++seed) {
    const ir::graph g = poot_tests::fusion_draws(seed).make(4 + static_cast<int>(seed % 24));
    for (int k = 0; k < 3; ++k) {
      const plan::program p = planned(g, k > 0, k > 1);
      const std::string why = lost(p), broken = unsound(p);
      REQUIRE_MESSAGE(why.empty(), "seed " << seed << ", options " << k << ": " << why);
      REQUIRE_MESSAGE(broken.empty(), "seed " << seed << ", options " << k << ": " << broken);
    }
  }
}

TEST_CASE("every kind of statement survives") {
  const plan::program p = planned(ir::parse(source));
  const std::string s(plan::print(p).str());
  for (const char* word : {"prologue ", "launch ", "copy ", "kernel ", "place %held leaf", " arena ", " view ", " table ", " state %held", "decline "})
    CHECK_MESSAGE(s.find(word) != s.npos, word);
  CHECK(lost(p).empty());
}

TEST_CASE("sections that repeat survive") {
  std::string deep = "graph deep {\n  %x : f32[8,8] = input \"x\"\n  %w : f32[8,8] = weight \"w\"\n  %0 : f32[8,8] = neg %x\n";
  for (int i = 0; i < 20; i += 2) {
    const std::string before = "%" + std::to_string(i), now = "%" + std::to_string(i + 1), next = "%" + std::to_string(i + 2);
    deep += "  " + now + " : f32[8,8] = transpose " + before + " {perm=[1,0]}\n  " + next + " : f32[8,8] = matmul " + now + ", %w\n";
  }
  const plan::program p = planned(ir::parse(deep + "  output \"y\" = %20\n}\n"));
  CHECK(p.repeated.size() == 1);
  CHECK(lost(p).empty());
}

TEST_CASE("a program without equations survives") { CHECK(lost(planned(ir::parse("graph nothing {\n}\n"))).empty()); }

TEST_CASE("a program with a user's op survives where the op is known") {
  const view<const ir::custom_row*> customs = poot_tests::custom_ops;
  const plan::program p =
      planned(ir::parse("graph g {\n  %x : f32[4] = input \"x\"\n  %y : f32[4] = half_square %x\n  output \"y\" = %y\n}\n", customs));
  const text t = plan::print(p);
  CHECK(plan::equal(plan::parse(t.str(), customs), p));
  CHECK(refusal(std::string(t.str())).find("there is no op half_square") != std::string::npos);
}

TEST_CASE("refuses more elements than can be counted") {
  const std::string huge =
      "graph g {\n  %x : f32[1] = input \"x\"\n  %y : f32[1073741824,1073741824] = broadcast %x\n  output \"y\" = %y\n}\n";
  CHECK_THROWS_AS(planned(ir::parse(huge)), error);
  CHECK(refusal("program {\n  target host {buffers=8 members=8 buffer_bytes=1 groups_x=1 groups_y=1 workgroup=1 shared=0 subgroup=1 fma=1 flushes=0 div_exact=1 sqrt_exact=1 max_nan=1 pack_rne=1 rope=1 attention=1 matrix_bf16=0 matrix_f16=0}\n}\n" + huge).find("2^57") != std::string::npos);
}

TEST_CASE("the graphs of the cases survive") {
#ifdef POOT_HAS_JSON
  const char* const folder = std::getenv("POOT_SHARED");
  const std::filesystem::path cases = std::filesystem::path(folder ? folder : "../shared") / "cases";
  if (!std::filesystem::exists(cases)) {
    MESSAGE("[SKIP] no " << cases.string());
    return;
  }
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(cases)) {
    if (!file.path().string().ends_with(".case.json")) continue;
    std::ifstream stream(file.path());
    const nlohmann::json c = nlohmann::json::parse(stream);
    if (!c.contains("graph")) continue;
    ir::graph g;
    try {
      g = ir::parse(c["graph"].get<std::string>());
    } catch (const error&) {
      continue;  // the case asks for a refusal
    }
    for (const bool fuse : {true, false}) CHECK_MESSAGE(lost(planned(g, fuse)).empty(), file.path().filename().string());
    ++count;
  }
  CHECK(count > 0);
#else
  MESSAGE("[SKIP] nlohmann/json is not installed");
#endif
}

TEST_CASE("a program for each named target comes back") {
  for (const targets::named_target& t : targets::named) {
    const plan::program p = plan::compile(ir::parse(source), t.is);
    CHECK_MESSAGE(lost(p).empty(), std::string(t.name));
    CHECK(plan::parse(plan::print(p).str()).planned_for == t.is);
  }
}

TEST_CASE("refuses what does not follow, naming line and rule") {
  const std::string good(plan::print(planned(ir::parse(source))).str());
  REQUIRE(refusal(good) == "accepted");
  struct edit {
    const char *from, *to, *rule;
  };
  const edit edits[] = {
      {"program {", "programme {", "expected 'program'"},
      {"target host", "target tpu", "'tpu' is not a target"},
      {"target host", "target host sm_1234567890abc", "the name of the architecture is too long"},
      {"target host", "target host }", "expected"},
      {" workgroup=0", "", "expected workgroup"},
      {"pack_rne=1", "pack_rne=2", "'2' is not an integer"},
      {"buffers=128", "buffers=-1", "'-1' is not an integer"},
      {"buffers=128", "buffers=1", "buffer_limit"},
      {"members=1024", "members=1", "member_limit"},
      {"target host", "target aie", "expected columns"},
      {"arena=", "arena=1", "is not what follows"},
      {"unshared=", "unshared=1", "is not what follows"},
      {"launch contraction imported", "launch contraction generated", "launch: dispatch 0: its members make origin imported, and generated is written"},
      {"launch contraction imported", "launch row imported", "launch: dispatch 0: its members make kind contraction, and row is written"},
      {"inputs=[%x,%w]", "inputs=[%x]", "its members make inputs [%x,%w], and [%x] is written"},
      {"outputs=[%7]", "outputs=[]", "its members make outputs [%7], and [] is written"},
      {"members=[%7]", "members=[%x,%7]", "needs no dispatch"},
      {"members=[%7]", "members=[]", "has no member"},
      {"members=[%7]", "members=[%7,%7]", "do not ascend"},
      {"members=[%7]", "members=[%88]", "the graph has no value %88"},
      {"  prologue ", "  launch ", "belongs to the prologue"},
      {"kernel=0", "kernel=1", "its members make kernel 0, and 1 is written"},
      {"  kernel 0x", "  kernel 0x1", ""},
      {" bytes=", " bytes=1", "its members make bytes "},
      {"place %x leaf", "place %x arena 0", "is not where"},
      {"place %x leaf", "place %x leaf\n  place %x leaf", "placed twice"},
      {"place %x leaf", "place %x heap", "'heap' is not a place"},
      {" view %7", " view %x", "is not where"},
      {" state %held", " arena 0", "is not where"},
      {"copy %x output 2", "copy %x output 1", "is not what follows"},
      {"copy %x output 2", "copy %x output 3", "'3' is not an integer"},
      {"decline %7 %8", "decline %8 %7", "does not read the first"},
      {" head_operand\n", " tiredness\n", "'tiredness' is not a reason"},
      {"origins [0,", "origins [", "expected ','"},
      {"  memory", "  memories", "there is no statement memories"},
      {" = matmul %x, %w", " = matmul %w, %x", "matmul"},
      {"f32[4,8] = input \"x\"", "f32[4,9] = input \"x\"", "matmul"},
  };
  for (const edit& e : edits) {
    CAPTURE(e.from);
    CAPTURE(e.to);
    const std::string message = refusal(replaced(good, e.from, e.to));
    CAPTURE(message);
    CHECK(message.find("line ") != std::string::npos);
    CHECK(message.find(e.rule) != std::string::npos);
  }
  // The line is that of the statement.
  const std::string bad = replaced(good, "place %held leaf", "place %held table 0");
  CHECK(refusal(bad).find("program text, line " + std::to_string(line_of(bad, "place %held")) + ",") != std::string::npos);
  const std::string idle = replaced(good, "  decline %7 %8", "  decline %x %7 boundary\n  decline %7 %8");
  CHECK(refusal(idle).find("program text, line " + std::to_string(line_of(idle, "decline %x")) +
                           ", column 3: decline: names two values of one dispatch, or one of none") == 0);
  // A value without a place has no line: that of its dispatch.
  const std::string lost_place = replaced(good, line_with(good, "place %7 "), "");
  CHECK(refusal(lost_place).find("program text, line " + std::to_string(line_of(lost_place, "members=[%7]")) + ", column 3: place: %7 has no place") == 0);
}

TEST_CASE("refuses dispatches that are missing, doubled or in an order that cannot run") {
  const std::string good(plan::print(planned(ir::parse(source))).str());
  const std::string first = line_with(good, "members=[%7]"), second = line_with(good, "members=[%8,");
  CHECK(refusal(replaced(good, first, "")).find("belongs to no dispatch") != std::string::npos);
  CHECK(refusal(replaced(good, first, first + first)).find("member of two dispatches") != std::string::npos);
  const std::string swapped = replaced(replaced(good, first, ""), second, second + first);
  CHECK(refusal(swapped).find("reads what a later dispatch makes") != std::string::npos);
}

TEST_CASE("a region that no planner may make is refused with the planner's reason") {
  // Both products in one dispatch.
  std::string s(plan::print(planned(ir::parse(source), false)).str());
  s = replaced(s, line_with(s, "members=[%7]"), "");
  s = replaced(s, "members=[%8]", "members=[%7,%8]");
  const std::string message = refusal(s);
  CHECK_MESSAGE(message.find("launch: two_heads") != std::string::npos, message);
}

TEST_CASE("mutated texts are refused, or give programs that are sound") {
  std::vector<std::string> seeds{std::string(plan::print(planned(ir::parse(source))).str())};
  for (uint64 seed = 1; seed <= 6; ++seed)
    for (const bool fuse : {true, false})
      seeds.emplace_back(plan::print(planned(poot_tests::fusion_draws(seed).make(12), fuse)).str());
  poot_tests::draws d(7);
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string s = seeds[d.less_than(seeds.size())];
    for (uint64 k = 1 + d.less_than(2); k-- > 0;) {
      const auto word_at = [&](size_t& first, size_t& count) {  // a word, or a sign
        first = s.find_first_not_of(" \n", d.less_than(s.size()));
        if (first == s.npos) first = 0;
        count = s.find_first_of(" \n,[]{}=", first);
        count = count == s.npos ? 1 : count == first ? 1 : count - first;
      };
      size_t first = 0, count = 0, other = 0, other_count = 0;
      word_at(first, count);
      switch (d.less_than(4)) {
        case 0:
          word_at(other, other_count);
          s.replace(first, count, s.substr(other, other_count));
          break;
        case 1: s.erase(first, count); break;
        case 2: {  // a line once more, or no more
          const size_t begin = s.rfind('\n', first) + 1, end = s.find('\n', first);
          if (end == s.npos) break;
          const std::string line = s.substr(begin, end + 1 - begin);
          if (d.less_than(2)) s.erase(begin, line.size());
          else s.insert(s.find('\n', d.less_than(s.size()) / 2) + 1, line);
          break;
        }
        default: s.replace(first, count, std::to_string(d.less_than(12)));
      }
    }
    try {
      const plan::program p = plan::parse(s);
      ++accepted;
      const std::string why = unsound(p), gone = lost(p);
      REQUIRE_MESSAGE(why.empty(), why << " in\n" << s);
      REQUIRE_MESSAGE(gone.empty(), gone << " in\n" << s);
      ir::verify(p.graph);
    } catch (const error& e) {
      REQUIRE(std::string_view(e.what()).size() > 10);
    }
  }
  CHECK(accepted > 20);
}

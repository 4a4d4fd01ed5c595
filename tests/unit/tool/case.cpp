// The runner must fail where a case does not hold: each test here starts from a case that passes and breaks it.
#include "../../../examples/tool/case.cpp"
#include "../../../examples/tool/case_form.cpp"
#include "../../../examples/tool/interpreter_executor.cpp"
#include "../../../examples/tool/values.cpp"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace poot;
using namespace poot::tool;
using nlohmann::json;

std::vector<std::unique_ptr<executor>> poot::tool::executors(const std::string&) {
  std::vector<std::unique_ptr<executor>> all;
  all.push_back(make_interpreter(ir::outside::refuse));
  return all;
}

namespace {

constexpr const char* square = "graph g {\n  %x : f32[3] = input \"x\"\n  %y : f32[3] = mul %x, %x\n  output \"y\" = %y\n}\n";

json good() {
  json c;
  c["name"] = "square";
  c["graph"] = square;
  c["inputs"]["x"] = {{"dtype", "f32"}, {"shape", {3}}, {"data", {3, "-inf", "nan"}}};
  c["expect"]["y"] = {{"dtype", "f32"}, {"shape", {3}}, {"data", {9, "inf", "nan"}}, {"exact", true}};
  return c;
}

case_report run_text(const std::string& content, const std::vector<std::unique_ptr<executor>>& on = executors()) {
  const std::string path = std::filesystem::temp_directory_path() / ("poot_case_" + std::to_string(getpid()) + ".case.json");
  std::ofstream(path) << content;
  const case_report r = run_case(path, on);
  std::filesystem::remove(path);
  return r;
}
case_report run(const json& c) { return run_text(c.dump()); }
bool fails_with(const json& c, const std::string& part) {
  const case_report r = run(c);
  INFO(r.why);
  return r.outcome == verdict::fail && r.why.find(part) != std::string::npos;
}
bool passes(const json& c) {
  const case_report r = run(c);
  INFO(r.why);
  return r.outcome == verdict::pass;
}

/// Cannot run anything.
struct unable : executor {
  std::string name() const override { return "unable"; }
  std::unique_ptr<loaded_graph> load(const ir::graph&, fusion) const override { throw missing_capability{"no device"}; }
};

/// Interprets, and claims a plan; unfused, it is off by one bit where asked.
struct planner : executor {
  int64 launches;
  bool drifts;
  planner(int64 n, bool d) : launches(n), drifts(d) {}
  struct loaded : loaded_graph {
    const ir::graph& g;
    int64 launches;
    uint64 change;
    loaded(const ir::graph& graph, int64 n, uint64 c) : g(graph), launches(n), change(c) {}
    ir::interpretation run(view<ir::named_tensor> given) override {
      ir::interpretation r = ir::interpret(g, given);
      r.outputs[0].value.bits[0] ^= change;
      return r;
    }
    std::optional<int64> dispatch_count() const override { return launches; }
    std::vector<std::string> declines() const override { return {"%1: not fused, two readers"}; }
  };
  std::string name() const override { return "planner"; }
  std::unique_ptr<loaded_graph> load(const ir::graph& g, fusion f) const override {
    return std::make_unique<loaded>(g, launches, drifts && f == fusion::off ? 1u : 0u);
  }
};

case_report run_planned(const json& c, int64 launches, bool drifts) {
  std::vector<std::unique_ptr<executor>> on;
  on.push_back(std::make_unique<planner>(launches, drifts));
  return run_text(c.dump(), on);
}

}  // namespace

TEST_CASE("a case that holds passes; a wrong value, place, type or name fails") {
  CHECK(passes(good()));
  json c = good();
  c["expect"]["y"]["data"][0] = 9.000001;
  CHECK(fails_with(c, "y[0] is 9"));
  c = good();
  c["expect"]["y"]["data"][2] = 0;
  CHECK(fails_with(c, "y[2]"));
  c = good();
  c["expect"]["y"]["dtype"] = "f64";
  CHECK(fails_with(c, "expected f64[3]"));
  c = good();
  c["expect"]["z"] = c["expect"]["y"];
  CHECK(fails_with(c, "no output or state \"z\""));
}

TEST_CASE("minus zero is not zero exactly, and is within no ulp") {
  json c = good();
  c["inputs"]["x"]["data"] = {0, 1, 2};
  c["expect"]["y"]["data"] = {-0.0, 1, 4};
  CHECK(fails_with(c, "y[0]"));
  c["expect"]["y"].erase("exact");
  c["expect"]["y"]["max_ulp"] = 0;
  CHECK(passes(c));
}

TEST_CASE("tolerances let through what they say, never another place of infinity or NaN") {
  json c = good();
  c["expect"]["y"] = {{"dtype", "f32"}, {"shape", {3}}, {"data", {9.0000009536743164, "inf", "nan"}}, {"max_ulp", 1}};
  CHECK(passes(c));
  c["expect"]["y"]["max_ulp"] = 0;
  CHECK(fails_with(c, "y[0]"));
  c["expect"]["y"] = {{"dtype", "f32"}, {"shape", {3}}, {"data", {10, "inf", "nan"}}, {"rtol", 0.1}};
  CHECK(passes(c));
  c["expect"]["y"]["rtol"] = 0.05;
  CHECK(fails_with(c, "y[0]"));
  c["expect"]["y"]["atol"] = 0.5;
  CHECK(passes(c));
  c["expect"]["y"]["atol"] = 1e300;
  c["expect"]["y"]["data"][1] = "-inf";
  CHECK(fails_with(c, "y[1]"));
}

TEST_CASE("bits match payloads, data does not") {
  json c = good();
  c["graph"] = "graph g {\n  %x : f32[3] = input \"x\"\n  %y : f32[3] = reshape %x\n  output \"y\" = %y\n}\n";
  c["inputs"]["x"] = {{"dtype", "f32"}, {"shape", {3}}, {"bits", {0x7fc00001, 0x7f800001, 5}}};
  c["expect"]["y"] = {{"dtype", "f32"}, {"shape", {3}}, {"bits", {0x7fc00001, 0x7f800001, 5}}, {"exact", true}};
  CHECK(passes(c));
  c["expect"]["y"]["bits"][0] = 0x7fc00000;
  CHECK(fails_with(c, "y[0]"));
}

TEST_CASE("a refusal must come where it is expected, and name what it must") {
  json c = good();
  c["error"] = "mul";
  CHECK(passes(c));  // these values, or a refusal
  c.erase("expect");
  CHECK(fails_with(c, "was accepted"));
  c["graph"] = "graph g {\n  %x : f32[3] = input \"x\"\n  %i : i32[3] = iota {axis=0}\n  %y : f32[3] = mul %x, %i\n  output \"y\" = %y\n}\n";
  CHECK(passes(c));
  c["error"] = {"mul", "a word that is not there"};
  CHECK(fails_with(c, "does not name"));
  c.erase("error");
  c["expect"] = good()["expect"];
  CHECK(fails_with(c, "was refused"));
}

TEST_CASE("states keep their values from run to run") {
  json c;
  c["name"] = "count";
  c["graph"] = "graph g {\n  %s : i32[1] = state \"s\"\n  %t : i32[1] = add %s, i32(1)\n  output \"s\" = %t\n  output \"before\" = %s\n}\n";
  const auto one = [](int v) { return json{{"dtype", "i32"}, {"shape", {1}}, {"data", {v}}}; };
  c["runs"] = {{{"inputs", {{"s", one(5)}}}, {"expect", {{"s", one(6)}, {"before", one(5)}}}}, {{"expect", {{"s", one(7)}}}}};
  CHECK(passes(c));
  c["runs"][1]["expect"]["s"] = one(8);
  CHECK(fails_with(c, "s[0] is 7"));
}

TEST_CASE("recipes give the numbers that their definitions give") {
  // By hand from splitmix64: seed 0, element 0 has the state 0x9E3779B97F4A7C15 and the output 0xE220A8397B1DCDAF.
  const double u = static_cast<double>(0xE220A8397B1DCDAFull >> 11) / 9007199254740992.0;
  json spec = {{"dtype", "f64"}, {"shape", {1}}, {"fill", "uniform seed=0 lo=2 hi=4"}};
  CHECK(read_tensor(spec, "x").bits[0] == ieee::to_bits(2 + 2 * u));
  spec["fill"] = "randint seed=0 lo=-5 hi=5";
  CHECK(read_tensor(spec, "x").bits[0] == ieee::to_bits(-5 + std::floor(10 * u)));
  spec["fill"] = "arange";
  spec["dtype"] = "i8";
  spec["shape"] = {2, 2};
  CHECK(read_tensor(spec, "x").bits == vec<uint64>{0, 1, 2, 3});
  spec["fill"] = "normal seed=3 scale=2";
  spec["dtype"] = "f64";
  spec["shape"] = {20000};
  double sum = 0, squares = 0;
  for (uint64 bits : read_tensor(spec, "x").bits) sum += ieee::from_bits(bits), squares += ieee::from_bits(bits) * ieee::from_bits(bits);
  CHECK(std::fabs(sum / 20000) < 0.05);
  CHECK(std::fabs(squares / 20000 - 4) < 0.2);
}

TEST_CASE("what cannot run is skipped, what is no case fails") {
  std::vector<std::unique_ptr<executor>> on;
  on.push_back(std::make_unique<unable>());
  const case_report r = run_text(good().dump(), on);
  CHECK(r.outcome == verdict::skip);
  CHECK(r.why == "unable: no device");
  CHECK(run_text("{\"name\": ").outcome == verdict::fail);
  CHECK(run_text("[]").outcome == verdict::fail);
  CHECK(run_case("/no/such/file", on).outcome == verdict::fail);
  json c = good();
  c["inputs"]["x"]["shape"] = {4};
  CHECK(run(c).outcome == verdict::fail);
}

TEST_CASE("a plan is checked where an executor plans, and named as not checked where none does") {
  json c = good();
  c["plan"]["dispatches_at_most"] = 1;
  CHECK(run(c).note == "(plan not checked: no executor here plans)");
  CHECK(run_planned(c, 1, false).outcome == verdict::pass);
  CHECK(run_planned(c, 1, false).note.empty());
  CHECK(run_planned(c, 2, false).outcome == verdict::fail);
  CHECK(run_planned(c, 1, true).outcome == verdict::pass);
  c["plan"]["same_bits_fused_and_unfused"] = true;
  CHECK(run_planned(c, 1, false).outcome == verdict::pass);
  CHECK(run_planned(c, 1, true).outcome == verdict::fail);
  c["plan"]["decline"] = "two readers";
  CHECK(run_planned(c, 1, false).outcome == verdict::pass);
  c["plan"]["decline"] = "three readers";
  CHECK(run_planned(c, 1, false).outcome == verdict::fail);
}

TEST_CASE("a case that would check nothing, or that is written wrong, fails and says what is wrong") {
  const json g = good();
  const auto with = [&](const char* key, json value) {
    json c = g;
    c[key] = std::move(value);
    return c;
  };
  const auto in_y = [&](const char* key, json value) {
    json c = g;
    c["expect"]["y"].erase("exact");
    c["expect"]["y"][key] = std::move(value);
    return c;
  };
  json c = g;
  c["expct"] = c["expect"];
  CHECK(fails_with(c, "there is no key \"expct\" in a case"));
  CHECK(fails_with(c, "poot_case_"));  // the file
  c.erase("expct");
  c.erase("expect");
  CHECK(fails_with(c, "checks nothing"));
  c["plan"] = json::object();
  CHECK(fails_with(c, "checks nothing"));
  c["plan"]["dispatches_at_most"] = 1;
  CHECK(run(c).outcome == verdict::skip);  // no executor here plans
  CHECK(run_planned(c, 1, false).outcome == verdict::pass);
  CHECK(run_planned(c, 2, false).outcome == verdict::fail);
  c.erase("plan");
  c.erase("inputs");
  c["runs"] = json::array();
  CHECK(fails_with(c, "\"runs\" must be a list that is not empty"));
  c["runs"] = {{{"inputs", g["inputs"]}}};
  CHECK(fails_with(c, "checks nothing"));
  c["error"] = "mul";
  CHECK(fails_with(c, "was accepted"));
  CHECK(fails_with(with("runs", {g}), "\"inputs\" and \"expect\" stand in each"));
  CHECK(fails_with(with("expect", json::object()), "\"expect\" must be"));
  for (const json& error : {json::array(), json(5), json(""), json::array({"mul", 5})}) CHECK(fails_with(with("error", error), "\"error\" must be"));
  CHECK(fails_with(with("plan", {{"dispatches_at_most", -1}}), "\"dispatches_at_most\" must be"));
  CHECK(fails_with(with("plan", {{"dispatches", 1}}), "there is no key \"dispatches\" in \"plan\""));
  CHECK(fails_with(in_y("ulp", 1), "there is no key \"ulp\" in expected \"y\""));
  for (const json& ulp : {json(-1), json(1e300), json("1")}) CHECK(fails_with(in_y("max_ulp", ulp), "\"max_ulp\" of expected \"y\""));
  for (const char* key : {"rtol", "atol"}) CHECK(fails_with(in_y(key, -0.5), std::string(key) + "\" of expected \"y\""));
  CHECK(fails_with(in_y("bits", {1, 2, 3}), "needs one of data, bits and fill"));
  c = in_y("max_ulp", 0);
  c["expect"]["y"]["exact"] = true;
  CHECK(fails_with(c, "is met exactly, or within"));
  c = g;
  c["error"] = "x";
  c["inputs"]["x"]["data"][0] = "zz";
  CHECK(fails_with(c, "\"zz\" is no number"));  // not the refusal of the graph
  std::string twice = g.dump();
  twice.insert(1, "\"expect\":{},");
  CHECK(run_text(twice).why.find("key \"expect\" stands there twice") != std::string::npos);
}

TEST_CASE("numbers of a tensor that do not fit, and recipes that are none, are refused") {
  const auto refusal = [](const char* dtype, json shape, const char* key, json value) {
    const json spec = {{"dtype", dtype}, {"shape", std::move(shape)}, {key, std::move(value)}};
    try {
      (void)read_tensor(json::parse(spec.dump()), "x");
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& what, const char* part) {
    INFO(what);
    return what.find(part) != std::string::npos;
  };
  CHECK(refusal("f32", {1}, "bits", {4294967295u}).empty());
  for (const json& b : {json(-1), json(uint64{1} << 40), json(0.5)}) CHECK(says(refusal("f32", {1}, "bits", json::array({b})), "no number of 32 bits"));
  CHECK(says(refusal("q4_0", {32}, "bits", json(std::vector<int>(18, 256))), "no number of 8 bits"));
  CHECK(says(refusal("i32", {1}, "data", {18446744073709551615u}), "does not fit"));
  CHECK(says(refusal("f32", {1000000000, 1000000000}, "data", {1}), "more than 67108864 elements"));
  CHECK(says(refusal("f32", {1000000000000}, "fill", "constant 3"), "more than 67108864 elements"));
  for (const char* good : {"normal", "normal seed=3 scale=1e3", "uniform seed=18446744073709551615 lo=-1 hi=-1", "randint", "arange", "constant -3.5", "constant nan"})
    CHECK(refusal("f32", {2}, "fill", good).empty());
  for (const char* bad : {"normal seed=x", "normal seed=-1", "normal seed=18446744073709551616", "normal scale=1e400", "normal scale=inf", "normal lo=1", "normal 3",
                          "normal seed=1 seed=2", "uniform lo=5 hi=1", "uniform lo=-inf hi=inf", "constant", "constant 3 4", "constant 3x", "constant x=3", "arange 4",
                          "other", "", "  "})
    CHECK(says(refusal("f32", {2}, "fill", bad), "case: \"x\": "));
}

TEST_CASE("weight files are read, compared, and refused") {
  json c;
  c["name"] = "file";
  // A header of 58 bytes, padded by spaces to 64; then two f32.
  std::string header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
  header.resize(64, ' ');
  std::string hex = "4000000000000000";
  const char* digits = "0123456789abcdef";
  for (char ch : header) hex += {digits[static_cast<unsigned char>(ch) >> 4], digits[ch & 15]};
  hex += "0000803f000000c0";
  c["file"] = {{"format", "safetensors"}, {"hex", hex}};
  c["expect"]["w"] = {{"dtype", "f32"}, {"shape", {2}}, {"data", {1, -2}}, {"exact", true}};
  CHECK(passes(c));
  c["expect"]["w"]["data"][1] = -3;
  CHECK(fails_with(c, "w[1]"));
  c["file"]["hex"] = hex.substr(0, hex.size() - 2);
  CHECK(fails_with(c, "was refused"));
  for (const char* bad : {"474", "zz", "0x"}) {
    c["file"]["hex"] = bad;
    CHECK(fails_with(c, "\"hex\" must be pairs of hexadecimal digits"));
  }
  c["file"]["hex"] = hex;
  c["inputs"] = json::object();
  CHECK(fails_with(c, "a case of a file has no \"inputs\""));
}

TEST_CASE("skips a graph with collectives, and says why") {
  json c = good();
  c["graph"] = "graph g {\n  %x : f32[3] = input \"x\"\n  %y : f32[3] = all_reduce_sum %x {group=\"g\"}\n  output \"y\" = %y\n}\n";
  const case_report r = run(c);
  CHECK(r.outcome == verdict::skip);
  CHECK(r.why == "interpreter: %1 (all_reduce_sum) exchanges values of several ranks, and a case holds those of one");
}

#include "case_form.hpp"

#include <poot/core/error.hpp>
#include <poot/core/text.hpp>

#include <initializer_list>
#include <set>
#include <string_view>
#include <vector>

namespace poot::tool {

namespace {

using nlohmann::json;
using keys = std::initializer_list<std::string_view>;

/// One case file under examination.
struct form {
  const std::string& file;

  [[noreturn]] void refuse(const std::string& why) const { fail(text{} << file << ": " << why); }

  void object(const json& o, const std::string& what, keys known) const {
    if (!o.is_object()) refuse(what + " must be an object");
    for (const auto& item : o.items()) {
      bool found = false;
      for (std::string_view k : known) found = found || k == item.key();
      if (!found) refuse("there is no key \"" + item.key() + "\" in " + what);
    }
  }
  void string(const json& o, const std::string& what, const char* key) const {
    if (o.contains(key) && (!o[key].is_string() || o[key].get_ref<const std::string&>().empty()))
      refuse("\"" + std::string(key) + "\" of " + what + " must be a text that is not empty");
  }

  void tensor(const json& t, const std::string& what, bool expected) const {
    if (expected) object(t, what, {"dtype", "shape", "data", "bits", "fill", "exact", "max_ulp", "rtol", "atol"});
    else object(t, what, {"dtype", "shape", "data", "bits", "fill"});
    string(t, what, "dtype");
    string(t, what, "fill");
    if (t.contains("data") + t.contains("bits") + t.contains("fill") != 1) refuse(what + " needs one of data, bits and fill");
    for (const char* list : {"shape", "data", "bits"})
      if (t.contains(list) && !t[list].is_array()) refuse("\"" + std::string(list) + "\" of " + what + " must be a list");
    if (t.contains("exact") && !t["exact"].is_boolean()) refuse("\"exact\" of " + what + " must be true or false");
    if (t.contains("max_ulp") && (!t["max_ulp"].is_number_integer() || t["max_ulp"] < 0)) refuse("\"max_ulp\" of " + what + " must be a whole number, at least 0");
    for (const char* tolerance : {"rtol", "atol"})
      if (t.contains(tolerance) && (!t[tolerance].is_number() || t[tolerance] < 0)) refuse("\"" + std::string(tolerance) + "\" of " + what + " must be a number, at least 0");
    if (t.value("exact", false) + t.contains("max_ulp") + (t.contains("rtol") || t.contains("atol")) > 1)
      refuse(what + " is met exactly, or within max_ulp, or within rtol and atol");
  }
  void values(const json& o) const {
    if (o.contains("inputs")) {
      if (!o["inputs"].is_object()) refuse("\"inputs\" must be an object");
      for (const auto& item : o["inputs"].items()) tensor(item.value(), "input \"" + item.key() + "\"", false);
    }
    if (o.contains("expect")) {
      if (!o["expect"].is_object() || o["expect"].empty()) refuse("\"expect\" must be an object that is not empty");
      for (const auto& item : o["expect"].items()) tensor(item.value(), "expected \"" + item.key() + "\"", true);
    }
  }

  void error(const json& e) const {
    const json list = e.is_array() ? e : json::array({e});
    bool good = !list.empty();
    for (const json& part : list) good = good && part.is_string() && !part.get_ref<const std::string&>().empty();
    if (!good) refuse("\"error\" must be a text, or a list of texts, none of them empty");
  }
  void plan(const json& p) const {
    object(p, "\"plan\"", {"dispatches_at_most", "same_bits_fused_and_unfused", "decline"});
    if (p.contains("dispatches_at_most") && (!p["dispatches_at_most"].is_number_integer() || p["dispatches_at_most"] < 0))
      refuse("\"dispatches_at_most\" must be a whole number, at least 0");
    if (p.contains("same_bits_fused_and_unfused") && !p["same_bits_fused_and_unfused"].is_boolean())
      refuse("\"same_bits_fused_and_unfused\" must be true or false");
    string(p, "\"plan\"", "decline");
  }
  void bytes(const json& f) const {
    object(f, "\"file\"", {"format", "hex"});
    if (!f.contains("format") || (f["format"] != "gguf" && f["format"] != "safetensors")) refuse("\"format\" must be gguf or safetensors");
    if (!f.contains("hex") || !f["hex"].is_string()) refuse("\"hex\" must be a text");
    const std::string& hex = f["hex"].get_ref<const std::string&>();
    if (hex.size() % 2 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) refuse("\"hex\" must be pairs of hexadecimal digits");
  }

  void whole(const json& c) const {
    object(c, "a case", {"name", "why", "graph", "inputs", "expect", "runs", "error", "plan", "file"});
    for (const char* key : {"name", "why", "graph"}) string(c, "a case", key);
    if (c.contains("graph") == c.contains("file")) refuse("a case needs graph or file, and not both");
    if (c.contains("file")) {
      bytes(c["file"]);
      for (const char* key : {"inputs", "runs", "plan"})
        if (c.contains(key)) refuse("a case of a file has no \"" + std::string(key) + "\"");
    }
    if (c.contains("runs")) {
      if (c.contains("inputs") || c.contains("expect")) refuse("\"inputs\" and \"expect\" stand in each of \"runs\", or there are no runs");
      if (!c["runs"].is_array() || c["runs"].empty()) refuse("\"runs\" must be a list that is not empty");
      for (const json& run : c["runs"]) {
        object(run, "a run", {"inputs", "expect"});
        values(run);
      }
    }
    values(c);
    if (c.contains("error")) error(c["error"]);
    if (c.contains("plan")) plan(c["plan"]);
    const json p = c.value("plan", json::object());
    const bool plan_says = p.contains("dispatches_at_most") || p.contains("decline") ||
                           (p.value("same_bits_fused_and_unfused", false) && (c.contains("inputs") || c.contains("runs")));
    if (!expects_values(c) && !c.contains("error") && !plan_says) refuse("checks nothing: it needs expect, error or plan");
  }
};

}  // namespace

bool expects_values(const json& c) {
  if (c.contains("expect")) return true;
  if (!c.contains("runs")) return false;
  for (const json& run : c["runs"])
    if (run.contains("expect")) return true;
  return false;
}

json read_case(std::istream& stream, const std::string& file) {
  const form f{file};
  std::vector<std::set<std::string>> open;  // the keys of each object that has begun
  const auto c = json::parse(stream, [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      f.refuse("key \"" + parsed.get<std::string>() + "\" stands there twice");
    return true;
  });
  f.whole(c);
  return c;
}

}  // namespace poot::tool

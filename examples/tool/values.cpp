/// Reading and comparing the tensors of case files.

#include "values.hpp"

#include <poot/ir/evaluate.hpp>
#include <poot/ir/graph.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

namespace poot::tool {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& name, const std::string& why) { fail(text{} << "case: \"" << name << "\": " << why); }

/// A tensor of a case holds at most this many elements.
constexpr int64 most_elements = int64{1} << 26;

tensor_type read_type(const json& spec, const std::string& name) {
  if (!spec.is_object() || !spec.contains("dtype") || !spec.contains("shape")) refuse(name, "needs dtype and shape");
  tensor_type t;
  if (!find_dtype(spec["dtype"].get<std::string>(), t.element)) refuse(name, "unknown dtype");
  int64 count = 1;
  for (const json& e : spec["shape"]) {
    if (t.rank == max_rank) refuse(name, "has more than 6 axes");
    if (!e.is_number_integer() || e.get<int64>() < 0) refuse(name, "an extent is no count");
    t.extents[t.rank++] = extent(e.get<int64>());
    if (__builtin_mul_overflow(count, e.get<int64>(), &count) || count > most_elements)
      refuse(name, "has more than " + std::to_string(most_elements) + " elements");
  }
  return t;
}

uint64 number_bits(const json& v, dtype t, const std::string& name) {
  if (v.is_string()) {
    const std::string s = v.get<std::string>();
    if (!is_float(t)) refuse(name, "\"" + s + "\" is no integer");
    const float_format f = format_of(t);
    if (s == "nan") return f.quiet_nan();
    if (s == "inf") return f.infinity();
    if (s == "-inf") return f.infinity() | f.sign_bit();
    refuse(name, "\"" + s + "\" is no number");
  }
  if (v.is_boolean()) return ir::evaluate(ir::op::cast, dtype::boolean, t, v.get<bool>());
  if (!v.is_number()) refuse(name, "data holds something that is no number");
  if (is_float(t)) return ir::evaluate(ir::op::cast, dtype::f64, t, ieee::to_bits(v.get<double>()));
  if (!v.is_number_integer()) refuse(name, "data of an integer type holds a fraction");
  const int64 whole = v.get<int64>();
  if (v.is_number_unsigned() && whole < 0) refuse(name, "a number does not fit its dtype");
  const uint64 bits = ir::detail::store_integer(t, static_cast<uint64>(whole));
  if (ir::detail::load_integer(t, bits) != whole) refuse(name, "a number does not fit its dtype");
  return bits;
}

/// Element i of the sequence of `seed`, in [0, 1).
double unit(uint64 seed, uint64 i) {
  uint64 s = seed * 0x9E3779B97F4A7C15u + i + 0x9E3779B97F4A7C15u;
  s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9u;
  s = (s ^ (s >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((s ^ (s >> 31)) >> 11) * 0x1p-53;
}

/// A recipe in words: a kind, a number for `constant`, and numbers with names.
struct recipe {
  std::string kind;
  uint64 seed = 0;
  double scale = 1, lo = 0, hi = 1, value = 0;
};

template <class Number>
Number number_in(const std::string& word, size_t first, const std::string& name) {
  Number n{};
  const char* const end = word.data() + word.size();
  const auto [stop, failed] = std::from_chars(word.data() + first, end, n);
  if (failed != std::errc{} || stop != end) refuse(name, "no number in the recipe: " + word);
  return n;
}

recipe read_recipe(const std::string& whole, const std::string& name) {
  std::istringstream words(whole);
  recipe r;
  words >> r.kind;
  const std::set<std::string> named = r.kind == "normal"                           ? std::set<std::string>{"seed", "scale"}
                                      : r.kind == "uniform" || r.kind == "randint" ? std::set<std::string>{"seed", "lo", "hi"}
                                                                                   : std::set<std::string>{};
  std::set<std::string> given;
  for (std::string word; words >> word;) {
    const size_t sign = word.find('=');
    const std::string key = sign == std::string::npos ? "" : word.substr(0, sign);
    if ((key.empty() ? sign != std::string::npos || r.kind != "constant" : !named.count(key)) || !given.insert(key).second)
      refuse(name, "unknown word in recipe: " + word);
    if (key.empty()) r.value = number_in<double>(word, 0, name);
    else if (key == "seed") r.seed = number_in<uint64>(word, sign + 1, name);
    else (key == "scale" ? r.scale : key == "lo" ? r.lo : r.hi) = number_in<double>(word, sign + 1, name);
  }
  if (r.kind == "constant" && given.empty()) refuse(name, "a constant recipe needs a number");
  if (r.kind != "constant" && r.kind != "arange" && named.empty()) refuse(name, "unknown recipe: " + whole);
  if (!std::isfinite(r.scale) || !std::isfinite(r.lo) || !std::isfinite(r.hi) || !(r.lo <= r.hi))
    refuse(name, "a recipe takes finite numbers, and lo at most hi: " + whole);
  return r;
}

/// `normal seed=7 scale=1` and the like.
void fill(ir::tensor& t, const std::string& whole, const std::string& name) {
  if (is_packed(t.type.element)) refuse(name, "a packed tensor cannot be filled by a recipe");
  const recipe r = read_recipe(whole, name);
  for (uint64 i = 0; i < t.bits.size(); ++i) {
    double v = r.value;
    if (r.kind == "normal")
      v = r.scale * std::sqrt(-2 * std::log(1 - unit(r.seed, 2 * i))) * std::cos(2 * 3.14159265358979323846 * unit(r.seed, 2 * i + 1));
    else if (r.kind == "uniform") v = r.lo + (r.hi - r.lo) * unit(r.seed, i);
    else if (r.kind == "randint") v = r.lo + std::floor(unit(r.seed, i) * (r.hi - r.lo));
    else if (r.kind == "arange") v = static_cast<double>(i);
    t.bits[i] = ir::evaluate(ir::op::cast, dtype::f64, t.type.element, ieee::to_bits(v));
  }
}

uint64 bits_in(const json& v, dtype t, const std::string& name) {
  const int width = t == dtype::boolean ? 1 : is_packed(t) ? 8 : 8 * static_cast<int>(row(t).block_bytes);
  if (!v.is_number_unsigned() || (width < 64 && v.get<uint64>() >> width))
    refuse(name, "bits holds something that is no number of " + std::to_string(width) + " bits");
  return v.get<uint64>();
}

bool is_nan_of(dtype t, uint64 bits) { return is_float(t) && is_nan_bits(format_of(t), bits); }
bool is_finite_of(dtype t, uint64 bits) {
  return !is_float(t) || (bits & (format_of(t).infinity())) != format_of(t).infinity();
}
double value_of(dtype t, uint64 bits) {
  return ieee::from_bits(ir::evaluate(ir::op::cast, t, dtype::f64, bits));
}

/// Places in the order of the format's values; zeros share one.
int64 place_of(dtype t, uint64 bits) {
  if (!is_float(t)) return ir::detail::load_integer(t, bits);
  const uint64 sign = format_of(t).sign_bit(), size = bits & (sign - 1);
  return bits & sign ? -static_cast<int64>(size) : static_cast<int64>(size);
}

std::string shown(dtype t, uint64 bits) {
  char chars[64];
  if (is_packed(t)) std::snprintf(chars, sizeof chars, "byte %d", static_cast<int>(bits));
  else if (is_float(t)) std::snprintf(chars, sizeof chars, "%.9g (bits 0x%llx)", value_of(t, bits), static_cast<unsigned long long>(bits));
  else std::snprintf(chars, sizeof chars, "%lld", static_cast<long long>(ir::detail::load_integer(t, bits)));
  return chars;
}

std::string place(const tensor_type& t, size_t i) {
  if (is_packed(t.element)) return "byte " + std::to_string(i);
  std::string s = "[";
  size_t below = static_cast<size_t>(t.element_count());
  for (int axis = 0; axis < t.rank; ++axis) {
    const size_t count = static_cast<size_t>(t.extents[axis].code);
    below /= count;
    s += (axis ? "," : "") + std::to_string(i / below % count);
  }
  return s + "]";
}

/// Calls `fits(want, got)` for every pair of words and reports the first that does not, and how many.
template <class Fits>
std::string compare_words(const ir::tensor& want, const ir::tensor& got, const std::string& name, Fits fits) {
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < want.bits.size(); ++i)
    if (!fits(want.bits[i], got.bits[i]) && wrong++ == 0) first = i;
  if (wrong == 0) return "";
  const dtype t = want.type.element;
  return name + place(want.type, first) + " is " + shown(t, got.bits[first]) + ", expected " + shown(t, want.bits[first]) +
         (wrong > 1 ? " (" + std::to_string(wrong) + " of " + std::to_string(want.bits.size()) + " differ)" : "");
}

std::string compare_types(const ir::tensor& want, const ir::tensor& got, const std::string& name) {
  if (want.type == got.type && want.bits.size() == got.bits.size()) return "";
  return name + " is " + type_name(got.type) + ", expected " + type_name(want.type);
}

}  // namespace

std::string type_name(const tensor_type& t) {
  text out;
  ir::write_type(out, t);
  return std::string(out.str());
}

ir::tensor read_tensor(const json& spec, const std::string& name) {
  ir::tensor t(read_type(spec, name));
  const dtype element = t.type.element;
  if (spec.contains("fill")) {
    fill(t, spec["fill"].get<std::string>(), name);
    return t;
  }
  const bool as_bits = spec.contains("bits");
  if (!as_bits && !spec.contains("data")) refuse(name, "needs data, bits or fill");
  const json& list = spec[as_bits ? "bits" : "data"];
  if (list.size() != t.bits.size())
    refuse(name, "holds " + std::to_string(list.size()) + " values, and " + type_name(t.type) + " has " + std::to_string(t.bits.size()));
  if (!as_bits && is_packed(element)) refuse(name, "a packed tensor is given by its bytes, as bits");
  size_t i = 0;
  for (const json& v : list) t.bits[i++] = as_bits ? bits_in(v, element, name) : number_bits(v, element, name);
  return t;
}

ir::tensor read_expected(const json& spec, const std::string& name) {
  ir::tensor t = read_tensor(spec, name);
  if (is_packed(t.type.element) && (spec.contains("max_ulp") || spec.contains("rtol") || spec.contains("atol")))
    refuse(name, "a packed tensor is compared byte by byte, without a tolerance");
  return t;
}

std::string compare_bits(const ir::tensor& want, const ir::tensor& got, const std::string& name) {
  const std::string types = compare_types(want, got, name);
  if (!types.empty()) return types;
  const dtype t = want.type.element;
  return compare_words(want, got, name, [t](uint64 a, uint64 b) { return a == b || (is_nan_of(t, a) && is_nan_of(t, b)); });
}

std::string compare(const json& spec, const ir::tensor& got, const std::string& name) {
  const ir::tensor want = read_expected(spec, name);
  const std::string types = compare_types(want, got, name);
  if (!types.empty()) return types;
  const dtype t = want.type.element;
  const bool with_ulp = spec.contains("max_ulp"), with_tolerance = spec.contains("rtol") || spec.contains("atol");
  if (!with_ulp && !with_tolerance) {
    if (spec.contains("bits")) return compare_words(want, got, name, [](uint64 a, uint64 b) { return a == b; });
    return compare_bits(want, got, name);
  }
  const uint64 ulp = spec.value("max_ulp", uint64{0});
  const double rtol = spec.value("rtol", 0.0), atol = spec.value("atol", 0.0);
  return compare_words(want, got, name, [&](uint64 a, uint64 b) {
    if (is_nan_of(t, a) || is_nan_of(t, b)) return is_nan_of(t, a) && is_nan_of(t, b);
    if (!is_finite_of(t, a) || !is_finite_of(t, b)) return a == b;
    if (with_ulp) {
      const int64 at_a = place_of(t, a), at_b = place_of(t, b);
      return (at_a < at_b ? static_cast<uint64>(at_b) - static_cast<uint64>(at_a) : static_cast<uint64>(at_a) - static_cast<uint64>(at_b)) <= ulp;
    }
    return std::fabs(value_of(t, b) - value_of(t, a)) <= atol + rtol * std::fabs(value_of(t, a));
  });
}

}  // namespace poot::tool

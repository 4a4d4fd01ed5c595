#pragma once
/// Arguments of a run: `bind<"x">(xs)` for inputs, weights and states, `into<"y">(out)` for results. The name is part of the type, so
/// names and element types of a typed model are checked when the call compiles.

#include <poot/dsl/trace.hpp>

#include <bit>
#include <cstddef>
#include <utility>

namespace poot::dsl {

/// Elements that C++ has no type for, as their bits.
struct f16_t {
  uint16 bits = 0;
};
struct bf16_t {
  uint16 bits = 0;
};

/// Which element types a C++ type can stand for: bit i for dtype i.
template <class Element>
constexpr uint32 elements_held() {
  constexpr auto only = [](dtype t) { return uint32{1} << static_cast<int>(t); };
  if constexpr (std::same_as<Element, float>) return only(dtype::f32);
  else if constexpr (std::same_as<Element, double>) return only(dtype::f64);
  else if constexpr (std::same_as<Element, int32>) return only(dtype::i32);
  else if constexpr (std::same_as<Element, uint32>) return only(dtype::u32);
  else if constexpr (std::same_as<Element, int8>) return only(dtype::i8);
  else if constexpr (std::same_as<Element, uint8>) return only(dtype::u8);
  else if constexpr (std::same_as<Element, bool>) return only(dtype::boolean);
  else if constexpr (std::same_as<Element, f16_t>) return only(dtype::f16);
  else if constexpr (std::same_as<Element, bf16_t>) return only(dtype::bf16);
  else if constexpr (std::same_as<Element, uint16>) return only(dtype::f16) | only(dtype::bf16);
  else if constexpr (std::same_as<Element, std::byte>) return ~uint32{0} << static_cast<int>(dtype::q4_0);
  else return 0;
}
template <class Element>
constexpr bool holds_element(dtype t) {
  return elements_held<std::remove_const_t<Element>>() >> static_cast<int>(t) & 1;
}
/// As messages call it.
template <class Element>
constexpr std::string_view element_name() {
  constexpr uint32 held = elements_held<Element>();
  if constexpr (std::same_as<Element, uint16>) return "16-bit integers (f16 or bf16)";
  else if constexpr (std::same_as<Element, std::byte>) return "bytes (a packed format)";
  else if constexpr (held != 0) return name(static_cast<dtype>(std::countr_zero(held)));
  else return "of a type that no element type has";
}

/// Elements that the caller lends for one run.
template <fixed_text Name, class Element, bool IsResult>
struct binding {
  static constexpr std::string_view name = Name.view();
  static constexpr bool is_result = IsResult;
  using element = Element;
  Element* first = nullptr;
  size_t size = 0;  ///< in elements; of packed formats in bytes
  constexpr Element* data() const { return first; }
  constexpr size_t count() const { return size; }
};
/// One number, kept here.
template <fixed_text Name, class Element>
struct scalar_binding {
  static constexpr std::string_view name = Name.view();
  static constexpr bool is_result = false;
  using element = Element;
  Element held;
  constexpr const Element* data() const { return &held; }
  constexpr size_t count() const { return 1; }
};
template <class B>
concept any_binding = requires(const B b) {
  { B::name } -> std::convertible_to<std::string_view>;
  { B::is_result } -> std::convertible_to<bool>;
  b.data();
  b.count();
};

template <class Range>
concept contiguous = requires(Range& r) {
  r.data();
  r.size();
};
template <fixed_text Name, contiguous Range>
constexpr auto bind(Range&& elements) {
  using element = std::remove_pointer_t<decltype(elements.data())>;
  return binding<Name, element, false>{elements.data(), static_cast<size_t>(elements.size())};
}
template <fixed_text Name, class Element>
constexpr auto bind(Element* first, size_t count) {
  return binding<Name, Element, false>{first, count};
}
template <fixed_text Name, class Element, size_t N>
constexpr auto bind(Element (&elements)[N]) {
  return binding<Name, Element, false>{elements, N};
}
/// A launch scalar.
template <fixed_text Name, class Number>
  requires std::is_arithmetic_v<Number>
constexpr auto bind(Number value) {
  return scalar_binding<Name, Number>{value};
}
template <fixed_text Name, contiguous Range>
constexpr auto into(Range&& elements) {
  using element = std::remove_pointer_t<decltype(elements.data())>;
  return binding<Name, element, true>{elements.data(), static_cast<size_t>(elements.size())};
}
template <fixed_text Name, class Element>
constexpr auto into(Element* first, size_t count) {
  return binding<Name, Element, true>{first, count};
}
template <fixed_text Name, class Element, size_t N>
constexpr auto into(Element (&elements)[N]) {
  return binding<Name, Element, true>{elements, N};
}

/// What the checker reads of a binding.
struct binding_row {
  std::string_view name;
  bool is_result;
  uint32 held;
  std::string_view element;
  bool is_const;
};
template <any_binding B>
constexpr binding_row row_of_binding() {
  using element = std::remove_const_t<typename B::element>;
  return {B::name, B::is_result, elements_held<element>(), element_name<element>(), std::is_const_v<std::remove_pointer_t<decltype(std::declval<const B&>().data())>>};
}

/// Which leaves a call must bind.
enum class must_bind : uint8 { inputs, inputs_and_weights, everything };

/// What is wrong with the bindings of a call, in one sentence; empty if nothing is.
constexpr text binding_problem(const ir::graph_view& g, view<binding_row> rows, must_bind needed) {
  const auto fits = [](const binding_row& r, dtype t) { return (r.held >> static_cast<int>(t) & 1) != 0; };
  for (size_t i = 0; i < rows.size(); ++i) {
    const binding_row& r = rows[i];
    const char* const call = r.is_result ? "into" : "bind";
    for (size_t j = 0; j < i; ++j)
      if (rows[j].name == r.name && rows[j].is_result == r.is_result)
        return text{} << call << " \"" << r.name << "\": this name is bound twice";
    uint32 id = static_cast<uint32>(g.size());
    if (!r.is_result) id = g.find_leaf(r.name);
    else
      for (const ir::graph_output& o : g.outputs)
        if (g.chars(o.name) == r.name) id = o.value;
    if (id == g.size())
      return text{} << call << " \"" << r.name << "\": the model has no " << (r.is_result ? "result" : "input, weight or state")
                    << " of this name";
    if (!fits(r, g.type(id).element))
      return text{} << call << " \"" << r.name << "\": the model has " << name(g.type(id).element) << ", the elements given are "
                    << r.element;
    for (const ir::graph_output& o : g.outputs) {
      if (g.chars(o.name) != r.name || g.state_of(o) == g.size()) continue;
      if (r.is_result) return text{} << "into \"" << r.name << "\": this result is the new value of a state, and lies where that is bound";
      if (r.is_const) return text{} << "bind \"" << r.name << "\": the model writes this state, and the elements given are const";
    }
    if (r.is_result && r.is_const) return text{} << "into \"" << r.name << "\": the elements given are const";
  }
  for (uint32 id = 0; id < g.size(); ++id) {
    const ir::op kind = g[id].kind;
    if (!ir::is_named_leaf(kind) || (kind == ir::op::weight && needed == must_bind::inputs) ||
        (kind == ir::op::state && needed != must_bind::everything))
      continue;
    bool bound = false;
    for (const binding_row& r : rows) bound = bound || (!r.is_result && r.name == g.name_of(id));
    if (!bound) return text{} << ir::name(kind) << " \"" << g.name_of(id) << "\" is not bound";
  }
  return {};
}

template <auto Model, must_bind Needed, class... B>
struct problem_of_bindings {
  constexpr text operator()() const {
    const binding_row rows[sizeof...(B) + 1]{row_of_binding<B>()...};
    return binding_problem(frozen<Model>.view(), {rows, sizeof...(B)}, Needed);
  }
};

/// Whether a call binds a typed model completely and with the right element types; otherwise stops the compiler with one
/// sentence. Loads and executors call it.
template <auto Model, must_bind Needed, any_binding... B>
consteval bool check_bindings() {
  using problem = problem_of_bindings<Model, Needed, B...>;
  if constexpr (detail::is_silent<problem>()) {
    return true;
  } else {
    static_assert(accepted_call<typename detail::sentence<problem>::type>, "poot: this call is refused");
    return true;  // said once
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::bf16_t, dsl::bind, dsl::check_bindings, dsl::f16_t, dsl::into, dsl::must_bind;
}  // namespace poot

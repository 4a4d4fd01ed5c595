// expect: bind \"z\": the model has no input, 
// expect: weight or state of this name
#include <poot/dsl/bind.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto y = poot::output<"y">(poot::input<"x", f32, 8> * poot::weight<"w", f32, 8>);
float xs[8]{}, ws[8]{}, out[8]{};
template <class... Bindings>
constexpr bool call(Bindings...) {
  return poot::check_bindings<y, poot::must_bind::inputs_and_weights, Bindings...>();
}
#ifdef POOT_FAIL
[[maybe_unused]] const bool ok = call(poot::bind<"z">(xs), poot::bind<"w">(ws), poot::into<"y">(out));
#else
[[maybe_unused]] const bool ok = call(poot::bind<"x">(xs), poot::bind<"w">(ws), poot::into<"y">(out));
#endif

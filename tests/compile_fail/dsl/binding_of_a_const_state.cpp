// expect: the model writes this 
#include <poot/dsl/bind.hpp>
#include <poot/dsl/pointwise.hpp>

using poot::f32;

constexpr auto s = poot::state<"s", f32, 8>;
constexpr auto y = poot::update(s, s + s);
[[maybe_unused]] float kept[8]{};
[[maybe_unused]] const float fixed[8]{};
template <class... Bindings>
constexpr bool call(Bindings...) {
  return poot::check_bindings<y, poot::must_bind::everything, Bindings...>();
}
#ifdef POOT_FAIL
[[maybe_unused]] const bool ok = call(poot::bind<"s">(fixed));
#else
[[maybe_unused]] const bool ok = call(poot::bind<"s">(kept));
#endif

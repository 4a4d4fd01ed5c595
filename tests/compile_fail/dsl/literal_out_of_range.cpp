// expect: this literal is not a number that its element type can hold
#include <poot/dsl/literal.hpp>

using namespace poot::literals;

#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto n = 2147483648_i;
#else
[[maybe_unused]] constexpr auto n = 2147483648_u;
#endif

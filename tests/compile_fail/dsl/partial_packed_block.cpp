// expect: weight: () to q4_0[8,33]: 
// expect: the last extent must be a 
#include <poot/dsl/leaf.hpp>

using poot::q4_0;

#ifdef POOT_FAIL
[[maybe_unused]] constexpr auto w = poot::weight<"w", q4_0, 8, 33>;
#else
[[maybe_unused]] constexpr auto w = poot::weight<"w", q4_0, 8, 32>;
#endif

#pragma once
/// Drawings of plans: dispatches as boxes, one level behind what they read, as one page that needs nothing else.

#include <poot/plan/program.hpp>

#include <string>

namespace poot::tool {

/// A page with two drawings and a switch between them: `apart`, with one dispatch per equation, and `fused`. The address
/// PAGE#fused opens it with the second. Throws `error` where a plan has more than 4,000 dispatches.
std::string diagram_page(const plan::program_view& apart, const plan::program_view& fused);

}  // namespace poot::tool

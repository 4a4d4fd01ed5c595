#pragma once
/// Compares a program with its equations one by one: fused and unfused must have equal bits.
///
///     if (auto wrong = compare_fused(plan::compile(g, targets::host), {{"x", x}})) …  // names equation, element, bits

#include <poot/run/host/executor.hpp>

#include <initializer_list>
#include <optional>

namespace poot::run::host {

/// Runs a loaded program once. Returns the first difference where it was loaded with `check`; other errors pass.
inline std::optional<mismatch> first_difference(entry& e) {
  try {
    e.run();
  } catch (const difference_found& d) {
    return d.first();
  }
  return {};
}

/// Memory for an input, weight, state or result of a program.
struct named_buffer {
  std::string_view name;
  buffer memory;
};

/// Loads `p`, runs it once on `leaves`, every region fused and unfused on the same inputs, and returns the first value
/// that differs.
inline std::optional<mismatch> compare_fused(plan::program p, std::initializer_list<named_buffer> leaves, load_options options = {},
                                             int threads = 0) {
  options.check = true;
  executor device(threads);
  entry& e = device.add_entry("main", std::move(p), options);
  for (const named_buffer& b : leaves) e.bind(b.name, b.memory);
  return first_difference(e);
}

}  // namespace poot::run::host

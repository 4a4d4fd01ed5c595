#pragma once
/// Kernel to text: `write(k, dialect::glsl)`. The text stands alone; its entry is `poot_kernel` (GLSL: `main`).
///
///     static_assert(poot::emit::write(k, poot::emit::dialect::glsl).str().starts_with("#version 450"));

#include <poot/emit/cpp.hpp>
#include <poot/emit/cuda.hpp>
#include <poot/emit/glsl.hpp>
#include <poot/emit/hip.hpp>

#include <array>

namespace poot::emit {

enum class dialect : uint8 { glsl, cpp, cuda, hip };

constexpr std::string_view name(dialect d) {
  constexpr std::string_view names[] = {"glsl", "cpp", "cuda", "hip"};
  return names[static_cast<int>(d)];
}

/// The text of a well-formed kernel. Equal kernels give equal text; names and notes show in it only with
/// `options::comments`.
constexpr text write(const kernel::kernel& k, dialect d, options o = {}) {
  switch (d) {
    case dialect::glsl: return glsl(k, o).write();
    case dialect::cpp: return cpp(k, o).write();
    case dialect::cuda: return cuda(k, o).write();
    case dialect::hip: return hip(k, o).write();
  }
  return {};
}

namespace detail {
template <auto Make, dialect D, options O>
struct embedded {
  static constexpr size_t size = write(Make(), D, O).size();
  static constexpr std::array<char, size> chars = [] {
    std::array<char, size> copy{};
    const text t = write(Make(), D, O);
    for (size_t i = 0; i < size; ++i) copy[i] = t.str()[i];
    return copy;
  }();
};
}  // namespace detail

/// The text as a constant of the program. `Make()` returns the kernel.
///
///     constexpr auto twice = [] { kernel::builder k("twice", 64); …; return k.finish(); };
///     compile_shader(poot::emit::embed<twice, poot::emit::dialect::glsl>);
template <auto Make, dialect D, options O = options{}>
inline constexpr std::string_view embed{detail::embedded<Make, D, O>::chars.data(), detail::embedded<Make, D, O>::size};

}  // namespace poot::emit

#pragma once
/// Kernel to text: `write(k, dialect::glsl)`. The text stands alone; its entry is `poot_kernel` (GLSL: `main`).
///
///     static_assert(poot::emit::write(k, poot::emit::dialect::glsl).str().starts_with("#version 450"));

#include <poot/core/target.hpp>
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

namespace detail {
constexpr text written(const kernel::kernel& k, dialect d, const options& o) {
  switch (d) {
    case dialect::glsl: return glsl(k, o).write();
    case dialect::cpp: return cpp(k, o).write();
    case dialect::cuda: return cuda(k, o).write();
    case dialect::hip: return hip(k, o).write();
  }
  return {};
}
}  // namespace detail

inline constexpr uint64 text_layout = mix(kernel::kernel_layout, layout_of<options>);
namespace precompiled {
template <uint64 Layout>
text write(const kernel::kernel& k, dialect d, const options& o);
}

/// The text of a well-formed kernel. Equal kernels give equal text; names and notes show in it only with
/// `options::comments`.
constexpr text write(const kernel::kernel& k, dialect d, const options& o = {}) {
  if constexpr (!is_precompiled) return detail::written(k, d, o);
  else if (__builtin_is_constant_evaluated()) return detail::written(k, d, o);
  else return precompiled::write<text_layout>(k, d, o);
}

/// The dialect that the compiler of a backend reads; C++ for the host, and for targets that nothing here compiles for.
constexpr dialect dialect_of(backend b) {
  switch (b) {
    case backend::cuda: return dialect::cuda;
    case backend::hip: return dialect::hip;
    case backend::vulkan: return dialect::glsl;
    case backend::host:
    case backend::aie: break;
  }
  return dialect::cpp;
}

/// What a device's texts hold because of what it lacks.
constexpr options options_of(const device_caps& caps) {
  options o;
  o.div_exact = caps.div_exact;
  o.sqrt_exact = caps.sqrt_exact;
  o.flushes = caps.flushes;
  return o;
}

namespace detail {

/// Characters of a text, if it is short enough; else only their number.
template <size_t Capacity>
struct characters {
  size_t size = 0;
  std::array<char, Capacity> chars{};
  constexpr explicit characters(const text& t) : characters(t.str()) {}
  constexpr explicit characters(std::string_view t) : size(t.size()) {
    for (size_t i = 0; i < size && size <= Capacity; ++i) chars[i] = t[i];
  }
};
/// What `Make{}()` writes. Written once, or twice where it is long; what is kept is of its exact size.
template <class Make>
struct embedded {
  static constexpr size_t enough = 1 << 14;
  template <size_t Capacity>
  static constexpr characters<Capacity> written{Make{}()};
  template <size_t Size>
  static constexpr characters<Size> exact{std::string_view(written<enough>.chars.data(), Size)};
  static constexpr const auto& kept() {
    constexpr size_t size = written<enough>.size;
    if constexpr (size <= enough) return exact<size>;
    else return written<size>;
  }
  static constexpr std::string_view view() { return {kept().chars.data(), kept().size}; }
};

template <auto Make, dialect D, options O>
struct text_of_kernel {
  constexpr text operator()() const { return write(Make(), D, O); }
};

}  // namespace detail

/// The text as a constant of the program. `Make()` returns the kernel.
///
///     constexpr auto twice = [] { kernel::builder k("twice", 64); …; return k.finish(); };
///     compile_shader(poot::emit::embed<twice, poot::emit::dialect::glsl>);
template <auto Make, dialect D, options O = options{}>
inline constexpr std::string_view embed = detail::embedded<detail::text_of_kernel<Make, D, O>>::view();

}  // namespace poot::emit

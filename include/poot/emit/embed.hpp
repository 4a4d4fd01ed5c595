#pragma once
/// The kernels of a typed model as text in the program, written by the compiler of the program:
///
///   constexpr auto& texts = poot::embed<y, poot::targets::vulkan_lavapipe>;
///   static_assert(texts[0].starts_with("#version 450"));

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/plan/planned.hpp>

namespace poot::emit {

namespace detail {

/// The launch behind text `k`: the first of each distinct kernel, then those of the prologue.
constexpr const plan::launch& launch_of_text(const plan::program_view& p, size_t k) {
  return k < p.kernel_table.size() ? p.launches[p.kernel_table[k].first_launch] : p.prologue[k - p.kernel_table.size()];
}

template <auto Model, target Where, plan::options Wanted, size_t K>
struct text_of_launch {
  constexpr text operator()() const {
    constexpr const plan::program_view& p = plan::planned<Model, Where, Wanted>;
    return write(kernel::generate(p, launch_of_text(p, K)), dialect_of(Where.kind), options_of(Where.caps));
  }
};

template <auto Model, target Where, plan::options Wanted, size_t... K>
constexpr std::array<std::string_view, sizeof...(K)> texts_of(std::index_sequence<K...>) {
  return {embedded<text_of_launch<Model, Where, Wanted, K>>::view()...};
}

template <auto Model, target Where, plan::options Wanted>
constexpr auto every_text() {
  constexpr const plan::program_view& p = plan::planned<Model, Where, Wanted>;
  static_assert(p.refused.empty(), "poot::embed: the target refuses an equation of the model; planned<model, target>.refusals() says which");
  if constexpr (p.refused.empty())
    return texts_of<Model, Where, Wanted>(std::make_index_sequence<p.kernel_table.size() + p.prologue.size()>{});
  else return std::array<std::string_view, 0>{};
}

}  // namespace detail

/// The texts of the kernels of `planned<Model, Where>` in the target's dialect: one for each of `kernels()`, in their order,
/// then one for each launch of the prologue. Each is made in a constant evaluation of its own: clang's budget of steps lasts for
/// some hundred instructions (-fconstexpr-steps for more). Texts of Vulkan ask for no float controls: those are a device's.
template <auto Model, target Where, plan::options Wanted = plan::options{}>
inline constexpr auto embed_program = detail::every_text<Model, Where, Wanted>();

}  // namespace poot::emit

namespace poot {
/// As `emit::embed_program`.
template <auto Model, target Where, plan::options Wanted = plan::options{}>
inline constexpr const auto& embed = emit::embed_program<Model, Where, Wanted>;
}  // namespace poot

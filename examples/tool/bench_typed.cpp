/// The chains of `poot bench`, planned by the compiler.

#include "bench_chains.hpp"

#include <poot/dsl/output.hpp>
#include <poot/run/host/device.hpp>

#include <span>

namespace poot::tool {

namespace {

template <auto Model, size_t Count>
std::function<void()> load(const float* from, float* to, int threads) {
  auto session = std::make_shared<decltype(poot::host().load<Model>())>(poot::host(threads).load<Model>());
  return [=] { (*session)(poot::bind<"x">(std::span<const float, Count>(from, Count)), poot::into<"y">(std::span<float, Count>(to, Count))); };
}

constexpr auto large = poot::input<"x", f32, 4096, 4096>;
constexpr auto small = poot::input<"x", f32, 256, 256>;
constexpr auto chain_of_large = poot::output<"y">(chain(large));
constexpr auto chain_of_small = poot::output<"y">(chain(small));
constexpr auto functions_of_large = poot::output<"y">(chain_tanh_exp(large));
constexpr auto functions_of_small = poot::output<"y">(chain_tanh_exp(small));

}  // namespace

std::function<void()> typed_chain_16M(const float* from, float* to, int threads) {
  return load<chain_of_large, size_t{1} << 24>(from, to, threads);
}
std::function<void()> typed_chain_64k(const float* from, float* to, int threads) {
  return load<chain_of_small, size_t{1} << 16>(from, to, threads);
}
std::function<void()> typed_chain_tanh_exp_16M(const float* from, float* to, int threads) {
  return load<functions_of_large, size_t{1} << 24>(from, to, threads);
}
std::function<void()> typed_chain_tanh_exp_64k(const float* from, float* to, int threads) {
  return load<functions_of_small, size_t{1} << 16>(from, to, threads);
}

}  // namespace poot::tool

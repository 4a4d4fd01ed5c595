/// poot::precompiled: the generators of kernels for devices, the kernels' text form, interpreter and checks, and their text
/// in each dialect.

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/interpret.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/kernel/print.hpp>
#include <poot/kernel/verify.hpp>

namespace poot::kernel::precompiled {

template <uint64 Layout>
kernel generated_kernel(const program_view& p, const launch& l) {
  return detail::generated_kernel(p, l);
}
template kernel generated_kernel<generator_layout>(const program_view& p, const launch& l);

template <uint64 Layout>
kernel parse(std::string_view source) {
  return detail::kernel_reader{{source}}.read();
}
template kernel parse<kernel_layout>(std::string_view source);

template <uint64 Layout>
text print(const kernel& k) {
  return detail::written(k);
}
template text print<kernel_layout>(const kernel& k);

template <uint64 Layout>
bool verify(const kernel& k, const device_caps& caps) {
  return detail::check_all(k, caps);
}
template bool verify<verifier_layout>(const kernel& k, const device_caps& caps);

template <uint64 Layout>
void interpret(const kernel& k, view<words> buffers, view<uint32> metadata, uint32 groups, const interpretation& wanted) {
  detail::run_groups(k, buffers, metadata, groups, wanted);
}
template void interpret<interpreter_layout>(const kernel& k, view<words> buffers, view<uint32> metadata, uint32 groups, const interpretation& wanted);

}  // namespace poot::kernel::precompiled

namespace poot::emit::precompiled {

template <uint64 Layout>
text write(const kernel::kernel& k, dialect d, const options& o) {
  return detail::written(k, d, o);
}
template text write<text_layout>(const kernel::kernel& k, dialect d, const options& o);

}  // namespace poot::emit::precompiled

/// poot::precompiled: the kernels of the host for every instruction set.

#define POOT_PRECOMPILING
#include <poot/run/host/attention_kernels.hpp>
#include <poot/run/host/contraction_kernels.hpp>
#include <poot/run/host/tile_function.hpp>

namespace poot::run::host {

template <>
tile_functions precompiled_tile_functions<tile_layout>() {
  return current_tile_functions();
}
template <>
const contraction_kernels& precompiled_contraction_kernels<contraction_layout>() {
  return current_contraction_kernels();
}
template <>
const attention_kernels& precompiled_attention_kernels<attention_layout>() {
  return current_attention_kernels();
}

}  // namespace poot::run::host

#pragma once
/// HIP C++, to be compiled with -ffp-contract=off: as CUDA, with plain operators and a square root made exact.

#include <poot/emit/cuda.hpp>

namespace poot::emit {

inline constexpr std::string_view hip_prelude =
#include <poot/emit/prelude/hip.inc>
    ;

class hip final : public cuda {
 public:
  using cuda::cuda;

 private:
  constexpr std::string_view prelude() const override { return hip_prelude; }
  constexpr std::string_view mma() const override { return detail::mma_hip; }
  constexpr spelling spell(opcode c) const override {
    switch (c) {
      case opcode::fadd: return {"", " + ", ""};
      case opcode::fsub: return {"", " - ", ""};
      case opcode::fmul: return {"", " * ", ""};
      case opcode::fdiv: return {"", " / ", ""};
      default: return cuda::spell(c);
    }
  }
};

}  // namespace poot::emit

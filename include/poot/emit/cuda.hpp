#pragma once
/// CUDA C++: one function whose parameters are the buffers and the metadata in the order of binding.

#include <poot/emit/c_family.hpp>
#include <poot/emit/matrix_unit.hpp>

namespace poot::emit {

inline constexpr std::string_view cuda_prelude =
#include <poot/emit/prelude/cuda.inc>
    ;

class cuda : public c_family {
 public:
  using c_family::c_family;

 protected:
  constexpr virtual std::string_view prelude() const { return cuda_prelude; }
  /// The product of two fragments.
  constexpr virtual std::string_view mma() const { return detail::mma_cuda; }

  constexpr void begin() override {
    write_title();
    out_ << prelude() << '\n';
    if (!k_.subgroup) return;
    write_mma_layout(out_, k_.subgroup, "__device__ inline");
    out_ << detail::mma_registers << mma() << '\n';
  }
  /// One workgroup on a multiprocessor is enough: without a number, compilers spill registers rather than hold fewer.
  constexpr void begin_entry() override {
    out_ << "extern \"C\" __global__ void __launch_bounds__(" << k_.workgroup << ", 1) poot_kernel(\n";
    const auto last = static_cast<uint32>(k_.buffers.size());
    for_each_binding([this, last](bool metadata, uint32 i, uint32 binding) {
      const bool reads = metadata || k_.buffers[i].how == kernel::access::read;
      out_ << (reads ? "    const uint* " : "    uint* ");
      if (metadata) out_ << "meta";
      else out_ << 'b' << i;
      out_ << (binding == last ? ") {" : ",");
      end_line_naming(metadata ? std::string_view() : k_.buffers[i].name.str());
    });
    for (uint32 i = 0; i < k_.buffers.size(); ++i) {
      if (!moves_quads(i)) continue;
      const std::string_view how = k_.buffers[i].how == kernel::access::read ? "const " : "";
      out_ << "  " << how << "uint4* const q" << i << " = reinterpret_cast<" << how << "uint4*>(b" << i << ");\n";
    }
    write_shared("  __shared__ ");
  }
  constexpr std::string_view quad_type() const override { return "uint4"; }
  constexpr std::string_view quad_of() const override { return "make_uint4("; }
  constexpr std::string_view function_prefix() const override { return "__device__ inline "; }
  constexpr std::string_view group() const override { return "blockIdx.x + blockIdx.y * gridDim.x"; }
  constexpr std::string_view lane() const override { return "threadIdx.x"; }
  constexpr std::string_view barrier() const override { return "__syncthreads();"; }
};

}  // namespace poot::emit

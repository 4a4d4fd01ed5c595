#pragma once
/// Kernels that the library ships as text. Each is what a generator writes for one launch of its family, under the widest
/// extents that the family has (tests/imported/ writes and compares them), with operands named by their position: the inputs of a
/// launch, then its outputs.

#include <poot/kernel/geometry.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/plan/imported.hpp>

namespace poot::kernel {

using plan::device_class;
using plan::shipped;
using plan::shipped_kernel;

struct imported_text {
  shipped_kernel which;
  std::string_view source;
};

inline constexpr imported_text imported_texts[] = {
    {{shipped::gemv, device_class::processor},
#include <poot/kernel/imported/gemv_processor.inc>
    },
    {{shipped::gemv, device_class::gpu},
#include <poot/kernel/imported/gemv_gpu.inc>
    },
    {{shipped::batched_gemv, device_class::processor},
#include <poot/kernel/imported/batched_gemv_processor.inc>
    },
    {{shipped::batched_gemv, device_class::gpu},
#include <poot/kernel/imported/batched_gemv_gpu.inc>
    },
    {{shipped::gemm, device_class::processor},
#include <poot/kernel/imported/gemm_processor.inc>
    },
    {{shipped::gemm, device_class::gpu},
#include <poot/kernel/imported/gemm_gpu.inc>
    },
    {{shipped::argmax, device_class::processor},
#include <poot/kernel/imported/argmax_processor.inc>
    },
    {{shipped::argmax, device_class::gpu},
#include <poot/kernel/imported/argmax_gpu.inc>
    },
    {{shipped::random_uniform},
#include <poot/kernel/imported/random_uniform.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q4_0},
#include <poot/kernel/imported/packed_gather_q4_0.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q4_1},
#include <poot/kernel/imported/packed_gather_q4_1.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q5_0},
#include <poot/kernel/imported/packed_gather_q5_0.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q8_0},
#include <poot/kernel/imported/packed_gather_q8_0.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q4_k},
#include <poot/kernel/imported/packed_gather_q4_k.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::q6_k},
#include <poot/kernel/imported/packed_gather_q6_k.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::iq4_nl},
#include <poot/kernel/imported/packed_gather_iq4_nl.inc>
    },
    {{shipped::packed_gather, device_class::any, dtype::mxfp4},
#include <poot/kernel/imported/packed_gather_mxfp4.inc>
    },
    {{shipped::widen_bf16},
#include <poot/kernel/imported/widen_bf16.inc>
    },
};

namespace detail {

/// Gives the operands of a shipped kernel, which are positions, the values of a launch.
class binder {
 public:
  constexpr binder(const program_view& p, const launch& l) : p_(p), l_(l) {}

  constexpr void bind(kernel& k) const {
    for (uint32& b : k.bindings) b = value_at(k, b);
    for (meta_word& m : k.metadata) {
      if (m.kind == meta_word::what::fixed) continue;
      m.value = value_at(k, m.value);
      const uint8 rank = p_.graph.type(m.value).rank;
      if (m.last == meta_word::all_axes) m.last = rank;
      if (m.last > rank || (m.kind == meta_word::what::tiles && rank < 2))
        fail(text("kernel ") << k.name << ": a word of its metadata counts axes that equation " << m.value << " has not");
    }
  }

 private:
  constexpr uint32 value_at(const kernel& k, uint32 position) const {
    const view<uint32> inputs = p_(l_.inputs), outputs = p_(l_.outputs);
    if (position < inputs.size()) return inputs[position];
    if (position - inputs.size() < outputs.size()) return outputs[position - static_cast<uint32>(inputs.size())];
    fail(text("kernel ") << k.name << ": it has operand " << position << " of a launch of " << inputs.size() + outputs.size());
  }

  const program_view& p_;
  const launch& l_;
};

}  // namespace detail

/// The shipped kernel of a launch that the plan says takes one. Throws where none is shipped for it.
constexpr kernel imported_kernel(const program_view& p, const launch& l) {
  const shipped_kernel wanted = plan::shipped_of(p, l);
  for (const imported_text& t : imported_texts)
    if (t.which == wanted) {
      kernel k = parse(t.source);
      detail::binder(p, l).bind(k);
      return k;
    }
  const uint32 first = p(l.members)[0];
  fail(text{} << "load: %" << first << " (" << ir::name(p.graph[first].kind) << "): the plan wants an imported kernel, and none is shipped for it (imported_body)");
}

}  // namespace poot::kernel

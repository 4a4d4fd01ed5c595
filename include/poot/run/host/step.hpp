#pragma once
/// What a loaded program is made of: steps that run one after another.

#include <poot/plan/program.hpp>
#include <poot/run/communicator.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/host/memory.hpp>
#include <poot/run/host/pool.hpp>

namespace poot::run::host {

/// What a step sees of a run.
struct run_context {
  plan::program_view program;
  const vec<char*>& memory;  ///< per equation: where its value lies, null where it has no place
  const extent_counts& counts;
  const vec<const stored_weight*>& loaded;  ///< per equation: a weight as it was loaded, null for one that is lent
  pool& threads;
  communicator* ranks = nullptr;  ///< of a program that has collectives
  uint64 digest = 0;              ///< of its graph, for other ranks to compare

  template <class T = char>
  T* at(uint32 id) const { return reinterpret_cast<T*>(memory[id]); }
  /// The type of a value in this run.
  tensor_type type(uint32 id) const { return counts(program.graph.type(id)); }
};

class step {
 public:
  virtual ~step() = default;
  /// Called when bindings or dynamic extents have changed, before `run`; may allocate.
  virtual void prepare(const run_context&) {}
  virtual void run(const run_context&) = 0;
};

}  // namespace poot::run::host

#pragma once
/// Kernels under test: how one is run, and what is said against one.

#include <poot/core/error.hpp>
#include <poot/kernel/interpret.hpp>

#include <initializer_list>
#include <string>

namespace kernel_cases {

using namespace poot;
namespace pk = poot::kernel;

/// The message of the error that `f` throws; "accepted" if it throws none.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}
inline bool holds(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

/// A kernel and its memory, run by `groups` workgroups.
struct run {
  pk::kernel k;
  vec<vec<uint32>> memory;  ///< of k.buffers
  vec<uint32> metadata{};
  uint32 groups = 1;
  pk::interpretation wanted{};

  constexpr void go() {
    vec<pk::words> buffers;
    for (vec<uint32>& m : memory) buffers.push_back({m.data(), m.size()});
    pk::interpret(k, buffers, metadata, groups, wanted);
  }
  std::string why() {
    return refusal([this] { go(); });
  }
};

}  // namespace kernel_cases

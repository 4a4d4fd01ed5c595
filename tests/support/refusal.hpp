#pragma once
/// What is said against a call.

#include <poot/core/error.hpp>

#include <string>

namespace poot_tests {

/// The message of the error that `call` throws; empty where it throws none.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const poot::error& e) {
    return e.what();
  }
  return {};
}

}  // namespace poot_tests

/// Every executor at hand: the interpreter, once refusing indices outside and once clamping them as devices do, and the host.

#include "executor.hpp"
#include "host_executor.hpp"
#include "interpreter_executor.hpp"

namespace poot::tool {

std::vector<std::unique_ptr<executor>> executors() {
  std::vector<std::unique_ptr<executor>> all;
  all.push_back(make_interpreter(ir::outside::refuse));
  all.push_back(make_interpreter(ir::outside::clamp));
  all.push_back(make_host_executor());
  return all;
}

}  // namespace poot::tool

/// Executors: the interpreter, once refusing indices outside and once clamping them as devices do, and devices.

#include "executor.hpp"

#include "device_executor.hpp"
#include "interpreter_executor.hpp"

namespace poot::tool {

std::vector<std::unique_ptr<executor>> executors(const std::string& device) {
  std::vector<std::unique_ptr<executor>> all;
  if (!device.empty()) {
    all.push_back(make_device_executor(device));
    return all;
  }
  all.push_back(make_interpreter(ir::outside::refuse));
  all.push_back(make_interpreter(ir::outside::clamp));
  all.push_back(make_device_executor("host"));
  return all;
}

}  // namespace poot::tool

#include "session_machine.hpp"

#include <poot/run/host/device.hpp>

namespace poot_tests {

namespace {

class host_executor final : public executor {
 public:
  std::string name() const override { return "host"; }
  target where() const override { return targets::host; }
  std::unique_ptr<machine> load(plan::program p) override {
    return std::make_unique<session_machine<run::host::session>>(device_.load(std::move(p)));
  }

 private:
  run::host::device device_{1};
};

}  // namespace

executors hosts() {
  executors all;
  all.push_back(std::make_unique<host_executor>());
  return all;
}

}  // namespace poot_tests

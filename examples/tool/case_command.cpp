/// `poot case FILE…`

#include "case.hpp"
#include "commands.hpp"
#include "device.hpp"

#include <CLI/CLI.hpp>

namespace poot::tool {

void add_case_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("case", "Run cases on the interpreter and the host, or on one device, and compare their values");
  auto paths = std::make_shared<std::vector<std::string>>();
  auto device = std::make_shared<std::string>();
  command->add_option("files", *paths, "Case files, or folders that hold .case.json files")->required();
  add_device_option(*command, *device);
  command->callback([paths, device, &result] { result.status = run_cases(*paths, *device); });
}

}  // namespace poot::tool

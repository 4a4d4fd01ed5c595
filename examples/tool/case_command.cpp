/// `poot case FILE…`

#include "case.hpp"
#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace poot::tool {

void add_case_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("case", "Run cases on every executor at hand and compare their values");
  auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *paths, "Case files, or folders that hold .case.json files")->required()->check(CLI::ExistingPath);
  command->callback([paths, &result] { result.status = run_cases(*paths); });
}

}  // namespace poot::tool

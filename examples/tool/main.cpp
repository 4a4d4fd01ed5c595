/// The command line tool: `poot <command>`.

#include "commands.hpp"

#include <poot/version.hpp>

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  CLI::App app{"Array expressions, fused into few kernels", "poot"};
  app.set_version_flag("--version", std::string("poot ") + poot::version);
  app.require_subcommand(1);
  poot::tool::outcome result;
  poot::tool::add_generate_command(app, result);
  poot::tool::add_case_command(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "poot: " << e.what() << "\n";
    return 1;
  }
  return result.status;
}

/// The command line tool: `poot <command>`.

#include "commands.hpp"

#include <poot/core/error.hpp>
#include <poot/version.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>

namespace {

/// Every refusal of the tool: one sentence, and status 1.
int refuse(std::string_view sentence) {
  std::cerr << "poot: " << sentence << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Array expressions, fused into few kernels", "poot"};
  app.set_version_flag("--version", std::string("poot ") + poot::version);
  app.require_subcommand(1);
  poot::tool::outcome result;
  poot::tool::add_generate_command(app, result);
  poot::tool::add_plan_command(app, result);
  poot::tool::add_explain_command(app, result);
  poot::tool::add_text_command(app, result);
  poot::tool::add_run_command(app, result);
  poot::tool::add_case_command(app, result);
  poot::tool::add_bench_command(app, result);
  poot::tool::add_devices_command(app, result);
  poot::tool::add_cache_command(app, result);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) poot::fail("standard output: cannot write all of it");
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return refuse(e.what());
  } catch (const std::bad_alloc&) {
    return refuse("out of memory");
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
  return result.status;
}

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

void check_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout)) poot::fail("standard output: cannot write all of it");
}

/// What is wrong with a command line: the word that it is about, and the rule.
std::string sentence_of(CLI::App& app, const CLI::ParseError& e) {
  std::string commands;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) commands += (commands.empty() ? "" : ", ") + c->get_name();
  const std::vector<std::string> before = app.remaining();
  if (!before.empty()) return before[0] + ": there is no such " + (before[0][0] == '-' ? "option of all" : "command") + "; commands are " + commands;
  if (app.get_subcommands().empty()) return "a command is missing; they are " + commands;
  const CLI::App& command = *app.get_subcommands()[0];
  const std::vector<std::string> behind = command.remaining();
  if (behind.empty()) return command.get_name() + ": " + e.what();
  if (behind[0][0] == '-') return command.get_name() + ": there is no option " + behind[0] + "; poot " + command.get_name() + " --help lists them";
  return command.get_name() + ": " + behind[0] + " is one argument too many";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Array expressions, fused into few kernels", "poot"};
  app.set_version_flag("--version", std::string("poot ") + poot::version);
  app.require_subcommand(1);
  poot::tool::outcome result;
  poot::tool::add_generate_command(app, result);
  poot::tool::add_serve_command(app, result);
  poot::tool::add_plan_command(app, result);
  poot::tool::add_explain_command(app, result);
  poot::tool::add_text_command(app, result);
  poot::tool::add_run_command(app, result);
  poot::tool::add_case_command(app, result);
  poot::tool::add_bench_command(app, result);
  poot::tool::add_devices_command(app, result);
  poot::tool::add_cache_command(app, result);
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() != 0) return refuse(sentence_of(app, e));
      app.exit(e);  // --help, --version
    }
    check_output();
  } catch (const std::bad_alloc&) {
    return refuse("out of memory");
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
  return result.status;
}

#pragma once
/// The subcommands of `poot`; each is added by its own file.

namespace CLI {
class App;
}

namespace poot::tool {

/// What a subcommand leaves for main to return.
struct outcome {
  int status = 0;
};

void add_bench_command(CLI::App& app, outcome& result);
void add_cache_command(CLI::App& app, outcome& result);
void add_case_command(CLI::App& app, outcome& result);
void add_devices_command(CLI::App& app, outcome& result);
void add_explain_command(CLI::App& app, outcome& result);
void add_generate_command(CLI::App& app, outcome& result);
void add_plan_command(CLI::App& app, outcome& result);
void add_run_command(CLI::App& app, outcome& result);
void add_serve_command(CLI::App& app, outcome& result);
void add_text_command(CLI::App& app, outcome& result);

}  // namespace poot::tool

/// `poot cache`

#include "commands.hpp"

#include <poot/run/cache.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <ctime>
#include <memory>

namespace poot::tool {

namespace {

int print_cache(bool clear) {
  const run::cache kept = run::cache::from_environment();
  if (!kept.trouble().empty()) {
    std::printf("nothing is kept: %s\n", kept.trouble().c_str());
    return 0;
  }
  std::vector<std::string> left;
  if (clear) left = kept.clear();
  int64 bytes = 0;
  const std::vector<run::cache::entry> all = kept.entries();
  for (const run::cache::entry& e : all) {
    const auto used = static_cast<std::time_t>(e.used / 1000000000);
    char date[32] = "";
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", std::localtime(&used));
    std::printf("%s  %8lld bytes  %s\n", date, static_cast<long long>(e.bytes), e.name.c_str());
    bytes += e.bytes;
  }
  std::printf("%s: %zu kernels, %lld bytes\n", kept.folder().c_str(), all.size(), static_cast<long long>(bytes));
  text why;
  for (const std::string& l : left) why << (why.empty() ? "--clear: " : "; ") << l;
  if (!left.empty()) fail(why);
  return 0;
}

}  // namespace

void add_cache_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("cache", "List the compiled kernels that are kept on disk, or remove them");
  const auto clear = std::make_shared<bool>(false);
  command->add_flag("--clear", *clear, "Remove all of them");
  command->callback([clear, &result] { result.status = print_cache(*clear); });
}

}  // namespace poot::tool

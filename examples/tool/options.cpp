#include "options.hpp"

#include <poot/io/replacement_file.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace poot::tool {

namespace {

/// Words of a rule: empty where it holds, or a sentence behind the option's name.
template <class Holds>
CLI::Validator rule(std::string what, Holds holds) {
  return CLI::Validator([=](std::string& given) { return holds(given) ? std::string() : "\"" + given + "\" is " + what; }, "");
}

std::string written(double value) {
  char chars[32];
  std::snprintf(chars, sizeof chars, "%.10g", value);
  return chars;
}

}  // namespace

CLI::Validator whole_number(int64 least, int64 most) {
  return rule("no whole number from " + std::to_string(least) + " to " + std::to_string(most), [=](const std::string& given) {
    int64 value = 0;
    const char* const end = given.data() + given.size();
    const std::from_chars_result read = std::from_chars(given.data(), end, value);
    // (Written back: a leading 0 would be read as octal.)
    return read.ec == std::errc() && read.ptr == end && value >= least && value <= most && std::to_string(value) == given;
  });
}

CLI::Validator number(double least, double most) {
  return rule("no number from " + written(least) + " to " + written(most), [=](const std::string& given) {
    char* end = nullptr;
    const double value = std::strtod(given.c_str(), &end);
    return !given.empty() && end == given.c_str() + given.size() && value >= least && value <= most;
  });
}

CLI::Validator file_name() {
  return rule("no name of a file", [](const std::string& given) { return !given.empty(); });
}

void add_model_options(CLI::App& command, std::string& file, const std::string& what, std::string& target) {
  command.add_option("file", file, what)->required()->check(file_name());
  command.add_option("--target", target, "What to plan for: host, cuda_sm90a, vulkan_lavapipe and others")->capture_default_str();
}

void add_sampling_options(CLI::App& command, sampling& choose) {
  command.add_option("--temperature", choose.temperature, "0: always the likeliest token")->capture_default_str()->check(number(0, 1e6));
  command.add_option("--top-k", choose.top_k, "Draw from so many of the likeliest tokens; 0: from all")->capture_default_str()->check(whole_number(0, 1 << 24));
  command.add_option("--top-p", choose.top_p, "Draw from the likeliest that have this probability together; 1: from all")->capture_default_str()->check(number(0, 1));
  command.add_option("--min-p", choose.min_p, "Draw from those that have this part of the greatest probability; 0: from all")->capture_default_str()->check(number(0, 1));
  command.add_option("--seed", choose.seed, "Of the draws: a number below 2^32. The same tokens on every device")->capture_default_str()->check(whole_number(0, 0xffffffff));
}

void check_sampling(const sampling& choose) {
  if (choose.temperature == 0 && (choose.top_k > 0 || choose.top_p < 1 || choose.min_p > 0))
    fail("--top-k, --top-p and --min-p: they say what is drawn from, and without --temperature nothing is drawn");
  if (choose.top_p == 0) fail("--top-p: must be above 0 and at most 1");
  if (choose.min_p != 0 && choose.min_p < 0x1p-64f) fail("--min-p: must be 0, or from 2^-64 to 1");
}

void add_split_keys_option(CLI::App& command, int64& keys) {
  command.add_option("--split-keys", keys, "From so many keys on, devices take attention in parts and join them; fewer only where memory does not hold them")
      ->check(whole_number(0, INT64_MAX));
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "0: one for each processor")->capture_default_str()->check(whole_number(0, 1024));
}

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const auto place = [&](const std::string& path) { return fs::weakly_canonical(fs::absolute(io::behind_links(path), unknown), unknown); };
  const fs::path first = place(a);
  return !first.empty() && first == place(b);
}

}  // namespace poot::tool

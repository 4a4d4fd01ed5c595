#pragma once
/// Options that several commands have, and the rules for what is given to them.

#include "sampling.hpp"

#include <poot/core/dtype.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace poot::tool {

/// The rule of an option that takes a whole number, from `least` to `most`, written as digits.
CLI::Validator whole_number(int64 least, int64 most);
/// The rule of an option that takes a number from `least` to `most`.
CLI::Validator number(double least, double most);
/// The rule of an option that takes the name of a file: it is not empty.
CLI::Validator file_name();

/// Adds the model's file, of which `what` says what it may hold, and `--target`.
void add_model_options(CLI::App& command, std::string& file, const std::string& what, std::string& target);
/// Adds what says how tokens are chosen.
void add_sampling_options(CLI::App& command, sampling& choose);
/// Throws `error` where those contradict each other.
void check_sampling(const sampling& choose);
/// Adds `--threads`.
void add_threads_option(CLI::App& command, int& threads);
/// `--split-keys`: from how many keys on devices split attention.
void add_split_keys_option(CLI::App& command, int64& keys);

/// Whether bytes written to one path would be read at the other: they are one, links followed. Neither needs to be there.
bool same_file(const std::string& a, const std::string& b);

}  // namespace poot::tool

#pragma once
/// Runs case files: a graph (or the bytes of a weight file) with its right answers.

#include "executor.hpp"

namespace poot::tool {

enum class verdict { pass, fail, skip };

struct case_report {
  std::string name;
  verdict outcome = verdict::pass;
  std::string why;   ///< why it failed or was skipped
  std::string note;  ///< what was left unchecked
};

/// Runs the case in the file at `path` on every executor given; a file that is no case fails.
case_report run_case(const std::string& path, const std::vector<std::unique_ptr<executor>>& on);

/// Runs the files, and the `.case.json` files below the folders, among `paths`, on the interpreter and the host or on one
/// device; prints one line for each, on stderr where it fails, and a count.
/// Returns the exit status: 1 if one failed, or if there was none.
int run_cases(const std::vector<std::string>& paths, const std::string& device = {});

}  // namespace poot::tool

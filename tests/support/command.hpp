#pragma once
/// Programs that tests start, and a folder for their files.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace poot_tests {

inline bool is_at_hand(const std::string& program) { return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0; }

/// A folder that goes with the program.
struct scratch_folder {
  std::filesystem::path path;
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "poot_texts_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no folder can be made in " + std::filesystem::temp_directory_path().string());
    path = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace poot_tests

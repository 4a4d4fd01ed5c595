#pragma once
/// Models in files, planned: graph text, the text of a program, or a decoder in a GGUF file.

#include <poot/plan/program.hpp>

#include <string>

namespace poot::tool {

/// Plans the model in the file for `where`: of a GGUF file the step that decodes one token. The text of a program is
/// taken as it stands, and refused where it is another target's, or where `fuse` is false. Errors name the file.
plan::program read_program(const std::string& path, const target& where, bool fuse);

/// The target of that name, or a refusal that lists their names.
target find_target(const std::string& name);

}  // namespace poot::tool

#pragma once
/// Models in files, planned: graph text, the text of a program, or a decoder in a GGUF file.

#include <poot/plan/compile.hpp>

#include <string>

namespace poot::tool {

/// Plans the model in the file for `where`: of a GGUF file the step that decodes one token. The text of a program is
/// taken as it stands, and refused where it is another target's, or where options ask for another plan. Errors name the file.
plan::program read_program(const std::string& path, const target& where, const plan::options& wanted);

/// Whether the file holds the text of a program, which is planned already.
bool holds_program(const std::string& path);

/// The target of that name, or a refusal that lists their names.
target find_target(const std::string& name);

}  // namespace poot::tool

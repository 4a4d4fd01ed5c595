#pragma once
/// The form of case files (docs/cases.md): what is written wrong would otherwise check nothing, and pass.

#include <nlohmann/json.hpp>

#include <istream>
#include <string>

namespace poot::tool {

/// The case in `stream`; `file` stands in errors. Throws `error` where it is no JSON, names a key twice or one that there is
/// not, holds a value that its key does not take, or checks nothing.
nlohmann::json read_case(std::istream& stream, const std::string& file);

/// Whether any output or state is compared.
bool expects_values(const nlohmann::json& c);

}  // namespace poot::tool

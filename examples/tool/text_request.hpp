#pragma once
/// What `POST /completions` of `poot serve` takes: a JSON object.

#include <poot/core/dtype.hpp>

#include <string>

namespace poot::tool {

/// What is asked of the model.
struct text_request {
  std::string prompt, system;
  int64 tokens = 200;    ///< at most
  bool counted = false;  ///< the request says so: then there must be room for them
  bool chat = false, stream = false;
};

/// Reads a body; the text may get `most` tokens. Throws `error`: one sentence with the key and the rule.
text_request read_text_request(const std::string& body, int64 most);

}  // namespace poot::tool

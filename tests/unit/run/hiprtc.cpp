#include <poot/run/hiprtc.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>

using namespace poot;

namespace {

std::optional<run::hiprtc> compiler() {
  try {
    return std::optional<run::hiprtc>(std::in_place);
  } catch (const error& e) {
    std::printf("[SKIP] %s\n", e.what());
    return {};
  }
}

std::string refusal(const run::hiprtc& c, std::string_view source, std::string_view architecture) {
  try {
    c.compile("softmax", source, architecture);
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

constexpr std::string_view nothing = "extern \"C\" __global__ void poot_kernel(unsigned* out) { out[0] = 1; }\n";

}  // namespace

TEST_CASE("HIP becomes a code object") {
  const auto c = compiler();
  if (!c) return;
  const std::vector<uint8> code = c->compile("nothing", nothing, "gfx906");
  CHECK(std::string(code.begin(), code.begin() + 4) == "\x7f" "ELF");
  CHECK(c->compile("nothing", nothing, "gfx1030") != code);
  CHECK(c->identity().starts_with("hiprtc "));
  CHECK(c->identity().ends_with("-ffp-contract=off"));
}

TEST_CASE("HIP that is wrong is an error with the log and the line") {
  const auto c = compiler();
  if (!c) return;
  const std::string sentence = refusal(*c, "extern \"C\" __global__ void poot_kernel() {\n  unknown();\n}\n", "gfx906");
  CHECK(sentence.starts_with("hiprtc for gfx906 rejects kernel \"softmax\": "));
  CHECK(sentence.find("error: use of undeclared identifier 'unknown'") != std::string::npos);
  CHECK(sentence.ends_with("\n  1  extern \"C\" __global__ void poot_kernel() {\n  2    unknown();\n  3  }"));
}

TEST_CASE("an architecture on which the compiler ends its process is an error") {
  const auto c = compiler();
  if (!c) return;
  CHECK(!refusal(*c, nothing, "gfx1").empty());
  CHECK(!c->compile("nothing", nothing, "gfx906").empty());
}

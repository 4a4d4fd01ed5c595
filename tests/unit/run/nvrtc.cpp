#include <poot/run/nvrtc.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>

using namespace poot;

namespace {

std::optional<run::nvrtc> compiler() {
  try {
    return std::optional<run::nvrtc>(std::in_place);
  } catch (const error& e) {
    std::printf("[SKIP] %s\n", e.what());
    return {};
  }
}

std::string refusal(const run::nvrtc& c, std::string_view source, std::string_view architecture) {
  try {
    c.compile("softmax", source, architecture);
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

constexpr std::string_view nothing = "extern \"C\" __global__ void poot_kernel(unsigned* out) { out[0] = 1; }\n";

}  // namespace

TEST_CASE("CUDA becomes a CUBIN") {
  const auto c = compiler();
  if (!c) return;
  const std::vector<uint8> code = c->compile("nothing", nothing, "sm_80");
  CHECK(std::string(code.begin(), code.begin() + 4) == "\x7f" "ELF");
  CHECK(c->compile("nothing", nothing, "sm_80") == code);
  CHECK(c->compile("nothing", nothing, "sm_90a") != code);
  CHECK(c->identity().starts_with("nvrtc "));
  CHECK(c->identity().ends_with("--fmad=false"));
}

TEST_CASE("CUDA that is wrong is an error with the log and the line") {
  const auto c = compiler();
  if (!c) return;
  const std::string sentence = refusal(*c, "extern \"C\" __global__ void poot_kernel() {\n  unknown();\n}\n", "sm_80");
  CHECK(sentence.starts_with("nvrtc for sm_80 rejects kernel \"softmax\": kernel.cu(2): error: identifier \"unknown\" is undefined"));
  CHECK(sentence.ends_with("\n  1  extern \"C\" __global__ void poot_kernel() {\n  2    unknown();\n  3  }"));
}

TEST_CASE("an architecture that NVRTC does not know is an error") {
  const auto c = compiler();
  if (!c) return;
  CHECK(refusal(*c, nothing, "sm_1").starts_with("nvrtc for sm_1 rejects kernel \"softmax\": "));
}

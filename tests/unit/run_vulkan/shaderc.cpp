#include <doctest/doctest.h>

#include <support/vulkan_devices.hpp>

#include <poot/run/shaderc.hpp>

using namespace poot;

namespace {

constexpr std::string_view nothing = "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}\n";

/// Sets a variable while it lives.
struct with_variable {
  const char* name;
  std::string before;
  bool was_set;
  with_variable(const char* n, const char* value) : name(n), before(std::getenv(n) ? std::getenv(n) : ""), was_set(std::getenv(n)) {
    ::setenv(n, value, 1);
  }
  ~with_variable() {
    if (was_set) ::setenv(name, before.c_str(), 1);
    else ::unsetenv(name);
  }
};

std::string refusal() {
  try {
    run::shaderc::find();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the compiler that is linked compiles") {
  if (!run::detail::linked_shaderc::compiler_initialize) {
    std::printf("[SKIP] poot::shaderc is not linked: its static libraries are not installed\n");
    return;
  }
  const run::shaderc c = run::shaderc::find();
  CHECK(c.identity().find("shaderc: linked, SPIRV-Tools") == 0);
  const std::vector<uint32> words = c.compile("nothing", nothing);
  CHECK(words.size() > 5);
  CHECK(words[0] == 0x07230203u);
  CHECK(words == c.compile("nothing", nothing));
}

TEST_CASE("a library that is named is used, or refused in one sentence") {
  for (const auto& [path, said] : {std::pair{"/nonexistent.so", "cannot be opened"}, std::pair{"libm.so.6", "has no function shaderc_compiler_initialize"}}) {
    const with_variable named("POOT_SHADERC_LIBRARY", path);
    CHECK(refusal().find(said) != std::string::npos);
    CHECK(refusal().find(path) != std::string::npos);
  }
}

TEST_CASE("glslc compiles as a child process") {
  if (run::detail::find_program("glslc").empty()) {
    std::printf("[SKIP] glslc is not installed\n");
    return;
  }
  const run::shaderc c = run::shaderc::child(run::detail::find_program("glslc"));
  CHECK(c.identity().find("shaderc: program /") == 0);
  CHECK(c.compile("nothing", nothing)[0] == 0x07230203u);
  try {
    c.compile("bad", "#version 450\nvoid main() { x; }\n");
    CHECK(false);
  } catch (const error& e) {
    CHECK(std::string(e.what()).find("rejects kernel \"bad\"") != std::string::npos);
    CHECK(std::string(e.what()).find("2  void main() { x; }") != std::string::npos);
  }
}

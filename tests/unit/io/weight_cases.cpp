#include <doctest/doctest.h>

#include <poot/io/gguf.hpp>
#include <poot/io/safetensors.hpp>

#include "../../support/file_bytes.hpp"
#include "../../support/llama2c.hpp"

#include <dirent.h>

using namespace poot_tests;
using nlohmann::json;

namespace {

/// The cases of a folder that hold a weight file, in the order of their names.
std::vector<json> weight_cases(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* const d = ::opendir(folder.c_str())) {
    while (const dirent* e = ::readdir(d)) {
      const std::string_view name = e->d_name;
      if (name.ends_with(".case.json") && (name.starts_with("gguf_") || name.starts_with("safetensors_")))
        names.emplace_back(name);
    }
    ::closedir(d);
  }
  std::sort(names.begin(), names.end());
  std::vector<json> cases;
  for (const std::string& name : names) cases.push_back(json::parse(get(folder + "/" + name)));
  return cases;
}

void check_tensor(const json& wanted, const poot::io::file_tensor* got) {
  REQUIRE(got != nullptr);
  CHECK(wanted["dtype"].get<std::string>() == name(got->type.element));
  REQUIRE(wanted["shape"].size() == got->type.rank);
  for (int i = 0; i < got->type.rank; ++i) CHECK(wanted["shape"][static_cast<size_t>(i)] == got->type.extents[i].code);
  file_bytes expected;
  if (wanted.contains("bits")) {
    const int width = poot::is_packed(got->type.element) ? 1 : poot::row(got->type.element).block_bytes;
    for (const json& bits : wanted["bits"]) expected.word(bits.get<poot::uint64>(), width);
  } else {
    REQUIRE(got->type.element == poot::f32);
    for (const json& number : wanted["data"]) expected.f32(number.get<float>());
  }
  CHECK(got->bytes() == expected.view());
}

template <class File>
void run_case(const json& c) {
  const std::vector<poot::uint8> bytes = from_hex(c["file"]["hex"].get<std::string>());
  const auto read = [&] { return File::parse({bytes.data(), bytes.size()}, c["name"].get<std::string>()); };
  if (c.contains("error")) {
    const std::string why = message_of([&] { read(); });
    CHECK(why != "no error");
    CHECK(contains(why, c["error"].get<std::string>()));
  } else {
    const File file = read();
    CHECK(file.tensors().size() == c["expect"].size());
    for (const auto& [tensor, wanted] : c["expect"].items()) check_tensor(wanted, file.find(tensor));
  }
}

}  // namespace

TEST_CASE("weight files of the cases give their tensors or their error") {
  if (!have_shared("cases", "the cases of weight files")) return;
  const std::vector<json> cases = weight_cases(shared_path("cases"));
  CHECK(cases.size() >= 8);
  for (const json& c : cases) {
    INFO(c["name"].get<std::string>());
    if (c["file"]["format"] == "gguf") run_case<poot::io::gguf>(c);
    else run_case<poot::io::safetensors>(c);
  }
}

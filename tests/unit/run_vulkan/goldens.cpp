// The GLSL that is kept beside the golden test, run: bits are those of the kernel interpreter. Devices that flush subnormals
// get it as it is written for them.
#include "each_device.hpp"

#include <support/sample_kernels.hpp>

#include <poot/emit/write.hpp>
#include <poot/kernel/interpret.hpp>

#include <fstream>
#include <iterator>
#include <sstream>

using namespace poot;
using namespace poot::run::vulkan;
using poot_tests::sample_kernel;

namespace {

std::string text_for(const target& where, const sample_kernel& s, emit::options controls) {
  if (where.caps.flushes || !where.caps.div_exact || !where.caps.sqrt_exact) {
    controls.flushes = where.caps.flushes;
    controls.div_exact = where.caps.div_exact;
    controls.sqrt_exact = where.caps.sqrt_exact;
    return std::string(emit::write(s.code, emit::dialect::glsl, controls).str());
  }
  std::ifstream in(POOT_SOURCE_DIR "/tests/golden/glsl/" + s.name() + ".comp", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::vector<uint32>> interpreted(const sample_kernel& s, const device_caps& caps) {
  std::vector<std::vector<uint32>> buffers = s.buffers;
  std::vector<kernel::words> words;
  for (auto& b : buffers) words.push_back({b.data(), b.size()});
  kernel::interpret(s.code, {words.data(), words.size()}, {s.metadata.data(), s.metadata.size()}, s.groups,
                    {.small = caps.flushes ? subnormals::flushed : subnormals::kept});
  return buffers;
}

std::vector<std::vector<uint32>> on_device(const sample_kernel& s, const std::string& glsl, context& open) {
  pipelines kernels(open);
  const auto bytes = [](const std::vector<uint32>& words) { return static_cast<int64>(4 * words.size()); };
  std::vector<storage> memory;
  std::vector<std::vector<uint32>> bound = s.buffers;
  bound.insert(bound.begin() + s.code.reads(), s.metadata);
  dispatch d;
  for (const std::vector<uint32>& words : bound) {
    memory.emplace_back(open, bytes(words), use::work, "a golden");
    memory.back().write(0, words.data(), bytes(words));
    d.buffers.push_back({memory.back().handle(), 0, bytes(words), memory.size() > s.code.reads() + 1});
  }
  d.kernel = kernels.make({{s.name(), glsl, static_cast<uint32>(bound.size())}})[0];
  d.x = s.groups;
  commands c(open);
  c.record({d});
  c.run();
  for (size_t i = 0; i < bound.size(); ++i) memory[i].read(0, bound[i].data(), bytes(bound[i]));
  bound.erase(bound.begin() + s.code.reads());
  return bound;
}

std::string difference(const std::vector<std::vector<uint32>>& want, const std::vector<std::vector<uint32>>& got) {
  std::stringstream out;
  for (size_t b = 0; b < want.size(); ++b)
    for (size_t i = 0; i < want[b].size(); ++i)
      if (want[b][i] != got[b][i]) {
        out << "buffer " << b << ", word " << i << ": " << std::hex << got[b][i] << " instead of " << want[b][i];
        return out.str();
      }
  return "";
}

}  // namespace

TEST_CASE("the golden texts have the bits of their kernels") {
  poot_tests::on_each_device([](const device& d) {
    for (int i = 0; i < poot_tests::vulkan_count(); ++i) {
      if (instance::get().device(i).name() != d.name()) continue;
      context open(instance::get().device(i), {});
      for (const sample_kernel& s : poot_tests::sample_kernels()) {
        const std::string name = s.name();
        CAPTURE(name);
        if (s.code.subgroup != 0 && !(s.stands_in(poot::emit::dialect::glsl) && d.target().caps.matrix_f16)) continue;
        if (name == "fused" && !d.target().caps.fma_fused) continue;  // its bits are those of an exact fma
        CHECK(difference(interpreted(s, d.target().caps), on_device(s, text_for(d.target(), s, open.about().float_controls), open)) == "");
      }
    }
  });
}

#include "each_device.hpp"

using namespace poot;
using namespace poot::run::vulkan;

namespace {

/// b[i] = a[i] + 1
constexpr const char* increment = R"(#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) writeonly buffer B { uint b[]; };
void main() { b[gl_GlobalInvocationID.x] = a[gl_GlobalInvocationID.x] + 1u; }
)";

struct bench {
  explicit bench(int index, bool staging) : open(instance::get().device(index), {staging}), kernels(open) {
    for (int i = 0; i < 4; ++i) buffers.emplace_back(open, 1024, use::work, "a test");
  }
  command step(const pipeline* p, int from, int to, int64 from_offset = 0, int64 to_offset = 0) {
    dispatch d;
    d.kernel = p;
    d.x = 1;
    d.buffers = {{buffers[static_cast<size_t>(from)].handle(), from_offset, 256, false}, {buffers[static_cast<size_t>(to)].handle(), to_offset, 256, true}};
    return d;
  }
  uint32 first_word(int buffer, int64 offset = 0) const {
    uint32 word = 0;
    buffers[static_cast<size_t>(buffer)].read(offset, &word, 4);
    return word;
  }
  context open;
  pipelines kernels;
  std::vector<storage> buffers;
};

template <class Test>
void on_each_bench(Test test) {
  poot_tests::on_each_device([&](const device& d) {
    for (int i = 0; i < poot_tests::vulkan_count(); ++i)
      if (instance::get().device(i).name() == d.name()) {
        bench b(i, false), carried(i, true);
        test(b);
        test(carried);
      }
  });
}

}  // namespace

TEST_CASE("barriers stand between dependent commands, and only there") {
  on_each_bench([](bench& b) {
    const pipeline* p = b.kernels.make({{"increment", increment, 2}})[0];
    const auto barriers = [&](const std::vector<command>& list) {
      commands c(b.open);
      c.record(list);
      c.run();
      c.run();
      return c.barriers();
    };
    CHECK(barriers({b.step(p, 0, 1), b.step(p, 0, 2), b.step(p, 0, 3)}) == 0);                  // readers of one
    CHECK(barriers({b.step(p, 0, 1), b.step(p, 1, 2), b.step(p, 2, 3)}) == 2);                  // a chain
    CHECK(b.first_word(3) == 3);
    CHECK(barriers({b.step(p, 0, 1), b.step(p, 2, 0)}) == 1);                                   // read, then written
    CHECK(barriers({b.step(p, 0, 1), b.step(p, 2, 1)}) == 1);                                   // written twice
    CHECK(barriers({b.step(p, 0, 1, 0, 0), b.step(p, 0, 1, 0, 256), b.step(p, 1, 2, 512)}) == 0);  // other bytes
    CHECK(barriers({b.step(p, 0, 1), b.step(p, 0, 2), b.step(p, 1, 3), b.step(p, 2, 0)}) == 1);  // one serves two
    CHECK(barriers({b.step(p, 0, 1), transfer{{b.buffers[1].handle(), 0, 256, false}, {b.buffers[2].handle(), 0, 256, true}}, b.step(p, 2, 3)}) == 2);
    CHECK(b.first_word(3) == b.first_word(1) + 1);
  });
}

TEST_CASE("distinct texts are compiled once, and kept on disk for the next context") {
  on_each_bench([](bench& b) {
    const std::string other = std::string(increment) + "// other\n";
    const auto before = b.open.counted();
    const auto made = b.kernels.make({{"one", increment, 2}, {"two", other, 2}, {"three", increment, 2}});
    CHECK(made[0] == made[2]);
    CHECK(made[0] != made[1]);
    CHECK(b.open.counted().pipelines == before.pipelines + 2);
    CHECK(b.kernels.make({{"four", other, 2}})[0] == made[1]);
    CHECK(b.open.counted().pipelines == before.pipelines + 2);
    context again(b.open.about());
    pipelines kernels(again);
    kernels.make({{"one", increment, 2}, {"two", other, 2}});
    CHECK(again.counted().compiles == 0);
    CHECK(again.counted().cache_hits == 2);
  });
}

TEST_CASE("a corrupt entry of the cache is compiled anew") {
  on_each_bench([](bench& b) {
    const std::string text = std::string(increment) + "// corrupt\n";
    const std::string key = run::shaderc::find().identity() + "\n" + text;
    const uint8 rubbish[] = {1, 2, 3, 4};
    run::cache::from_environment().keep(key, {rubbish, 4});
    b.kernels.make({{"corrupt", text, 2}});
    CHECK(b.open.counted().compiles == 1);
    CHECK(b.open.counted().cache_hits == 0);
    run::cache::from_environment().clear();
  });
}

TEST_CASE("a kernel that the compiler rejects is an error with its line, and others are still made") {
  on_each_bench([](bench& b) {
    try {
      b.kernels.make({{"good", increment, 2}, {"bad", "#version 450\nvoid main() {\n  int x = y;\n}\n", 2}});
      CHECK(false);
    } catch (const error& e) {
      const std::string said = e.what();
      CHECK(said.find("rejects kernel \"bad\"") != std::string::npos);
      CHECK(said.find("3    int x = y;") != std::string::npos);
    }
    CHECK(b.kernels.make({{"good", increment, 2}}).size() == 1);
  });
}

TEST_CASE("words that are no SPIR-V are known as such") {
  CHECK(!is_spirv({}));
  CHECK(!is_spirv({0x07230203u, 0x10000, 0, 8, 0}));
  CHECK(!is_spirv({0x03022307u, 0x10000, 0, 8, 0, 1u << 16}));
  CHECK(is_spirv({0x07230203u, 0x10000, 0, 8, 0, 1u << 16}));
  CHECK(!is_spirv({0x07230203u, 0x10000, 0, 8, 0, 2u << 16}));  // cut off
  CHECK(!is_spirv({0x07230203u, 0x10000, 0, 8, 0, 0}));         // an instruction of no words
}

TEST_CASE("what a new buffer holds is zero, and what is carried arrives") {
  on_each_bench([](bench& b) {
    const auto size = int64{20} << 20;  // more than is carried at once
    storage s(b.open, size, use::work, "a test");
    std::vector<uint8> bytes(static_cast<size_t>(size), 1);
    s.read(0, bytes.data(), size);
    CHECK(bytes == std::vector<uint8>(bytes.size(), 0));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8>(mix(i, 1));
    s.write(64, bytes.data(), size - 64);
    std::vector<uint8> back(bytes.size(), 0);
    s.read(64, back.data(), size - 64);
    CHECK(std::memcmp(back.data(), bytes.data(), bytes.size() - 64) == 0);
  });
}

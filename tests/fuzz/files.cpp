/// Fuzzes the readers of weight files (fuzzer.hpp).

#include <poot/io/gguf.hpp>
#include <poot/io/npy.hpp>
#include <poot/io/safetensors.hpp>
#include <poot/io/tokenizer.hpp>

#include "../support/file_bytes.hpp"
#include "fuzzer.hpp"

using namespace poot_tests;

namespace {

void touch_tensor(const poot::io::file_tensor& t, size_t file_size) {
  if (t.offset > file_size || t.size > file_size - t.offset) std::abort();
  if (static_cast<uint64>(t.type.bytes()) != t.size) std::abort();
  touch(t.bytes());
}

// One `run` per format: reads, then uses everything it was given

void run_gguf(poot::view<uint8> file) {
  using namespace poot::io;
  const gguf g = gguf::parse(file, "fuzz.gguf");
  for (const file_tensor& t : g.tensors()) {
    touch_tensor(t, file.size());
    if (g.find(t.name) != &t) std::abort();
  }
  for (const gguf_entry& e : g.entries()) {
    if (g.find_key(e.key) != &e) std::abort();
    if (e.kind == gguf_kind::string) {
      const auto s = g.get<std::string_view>(e.key);
      touch({reinterpret_cast<const uint8*>(s.data()), s.size()});
    } else if (e.kind == gguf_kind::array && e.item == gguf_kind::string) {
      for (std::string_view s : g.list<std::string_view>(e.key))
        touch({reinterpret_cast<const uint8*>(s.data()), s.size()});
    } else {
      touch({e.data, e.count * row(e.item).bytes});
    }
    try {
      touched += static_cast<uint64>(g.integer(e.key, -1000, 1000));
    } catch (const poot::error&) {
    }
  }
  if (!g.find_key("tokenizer.ggml.model")) return;
  const tokenizer t = tokenizer::from_gguf(g);
  const std::vector<poot::int32> ids = t.encode("ab a\xc3\xa9 b");
  touched += t.decode({ids.data(), ids.size()}).size();
  for (poot::int32 id = 0; id < t.size(); ++id) touched += t.decode({&id, 1}).size();
}

void run_safetensors(poot::view<uint8> file) {
  const auto s = poot::io::safetensors::parse(file, "fuzz.safetensors");
  size_t used = 0;
  for (const auto& t : s.tensors()) {
    touch_tensor(t, file.size());
    used += t.size;
    if (s.find(t.name) != &t) std::abort();
  }
  if (used > file.size()) std::abort();
}

void run_npy(poot::view<uint8> file) {
  const auto a = poot::io::npy::parse(file, "fuzz.npy");
  if (static_cast<uint64>(a.type().bytes()) != a.bytes().size()) std::abort();
  touch(a.bytes());
}

// What is mutated, and how a file becomes plausible again after its header has changed length

std::vector<bytes> gguf_seeds() {
  file_bytes small, keys, vocabulary, pairs;
  small.gguf_header(3, 1).key("general.alignment", 4).u32(16);
  small.tensor("norm", {3}, 0, 0)
      .tensor("blk.0.w", {32, 2}, 8, 16)
      .tensor("e", {256, 1, 1, 1}, 14, 96)
      .pad(16)
      .data(320);
  keys.gguf_header(1, 8).key("a.u8", 0).u8(1).key("a.f64", 12).f64(0.5).key("a.name", 8).string("text");
  keys.key("a.list", 9).u32(8).u64(3).string("x").string("").string("yz").key("a.ints", 9).u32(5).u64(2).u32(1).u32(2);
  keys.key("a.flag", 7).u8(1).key("a.flags", 9).u32(7).u64(2).u8(0).u8(1).key("a.u64", 10).u64(~uint64{0});
  keys.tensor("w", {2, 2}, 1, 0).pad(32).data(8);
  vocabulary.gguf_header(0, 5).key("tokenizer.ggml.model", 8).string("llama");
  vocabulary.key("tokenizer.ggml.tokens", 9).u32(8).u64(7).string("<unk>").string("<s>").string("<0x62>");
  vocabulary.string("\xe2\x96\x81").string("a").string("ab").string("\xe2\x96\x81" "a");
  vocabulary.key("tokenizer.ggml.scores", 9).u32(6).u64(7);
  for (int i = 0; i < 7; ++i) vocabulary.f32(static_cast<float>(-i));
  vocabulary.key("tokenizer.ggml.token_type", 9).u32(5).u64(7).u32(2).u32(3).u32(6).u32(1).u32(1).u32(1).u32(1);
  vocabulary.key("tokenizer.ggml.bos_token_id", 4).u32(1);
  pairs.gguf_header(0, 6).key("tokenizer.ggml.model", 8).string("gpt2").key("tokenizer.ggml.pre", 8).string("llama-bpe");
  pairs.key("tokenizer.ggml.tokens", 9).u32(8).u64(7).string("<s>").string("a").string("b").string("ab").string("\xc4\xa0");
  pairs.string("\xc4\xa0" "a").string("a\xc3\xa9").key("tokenizer.ggml.merges", 9).u32(8).u64(2).string("a b").string("\xc4\xa0 a");
  pairs.key("tokenizer.ggml.token_type", 9).u32(5).u64(7).u32(3).u32(1).u32(1).u32(1).u32(1).u32(1).u32(4);
  pairs.key("tokenizer.ggml.unknown_token_id", 4).u32(0);
  return {small.bytes, keys.bytes, vocabulary.bytes, pairs.bytes};
}

std::vector<bytes> safetensors_seeds() {
  return {file_bytes::safetensors(
              "{\"__metadata__\":{\"format\":\"pt\"},\"late\":{\"dtype\":\"F32\",\"shape\":[3],"
              "\"data_offsets\":[8,20]},\"early\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]},"
              "\"none\":{\"dtype\":\"I32\",\"shape\":[0,4],\"data_offsets\":[20,20]}}  ",
              20)
              .bytes,
          file_bytes::safetensors("{\"w\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1).bytes};
}

std::vector<bytes> npy_seeds() {
  file_bytes third;
  const std::string_view header = "{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n";
  third.chars("\x93NUMPY").u8(3).u8(0).u32(header.size()).chars(header).data(8);
  return {file_bytes::npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24).bytes,
          file_bytes::npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", 1).bytes, third.bytes};
}

/// The header's length is what stands up to the last "}}" and the spaces after it.
void repair_safetensors(bytes& file) {
  size_t end = file.size();
  while (end > 9 && !(file[end - 1] == '}' && file[end - 2] == '}')) --end;
  while (end < file.size() && file[end] == ' ') ++end;
  if (end > 9) set_word(file, 0, 8, end - 8);
}

void repair_npy(bytes& file) {
  if (file.size() < 12) return;
  const size_t width = file[6] == 1 ? 2 : 4;
  for (size_t i = 8 + width; i < file.size(); ++i)
    if (file[i] == '\n') return set_word(file, 8, width, i + 1 - 8 - width);
}

}  // namespace

int main(int count, char** arguments) {
  return fuzz("fuzz_files",
              {{"gguf", gguf_seeds, keep_bytes, run_gguf},
               {"safetensors", safetensors_seeds, repair_safetensors, run_safetensors},
               {"npy", npy_seeds, repair_npy, run_npy}},
              count, arguments);
}

/// Mutates valid files and hands them to the readers: each is read or refused with poot::error, nothing else happens,
/// and no reader allocates more than a file of that size can need. Meant for -fsanitize=address,undefined.
///
///     files [ITERATIONS [SEED [FORMAT [FIRST]]]]
///
/// Iteration i of a seed and format is the same everywhere: a failure is repeated by `files 1 SEED FORMAT i`.

#include <poot/core/hash.hpp>
#include <poot/io/gguf.hpp>
#include <poot/io/npy.hpp>
#include <poot/io/safetensors.hpp>
#include <poot/io/tokenizer.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/parse.hpp>
#include <poot/plan/parse.hpp>

#include "../support/file_bytes.hpp"

#include <cstring>
#include <memory>
#include <new>

using poot::uint64;
using poot::uint8;
using poot_tests::file_bytes;
using bytes = std::vector<uint8>;

namespace {

size_t allocated = 0;  // bytes asked for since the last file

void* count_and_allocate(size_t size) {
  allocated += size;
  return std::malloc(size ? size : 1);
}

}  // namespace

void* operator new(size_t size) {
  if (void* p = count_and_allocate(size)) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return count_and_allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return count_and_allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace {

struct random_source {
  uint64 state;
  uint64 operator()() {  // splitmix64
    state += 0x9e3779b97f4a7c15;
    uint64 z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n ? static_cast<size_t>((*this)() % n) : 0; }
};

uint64 touched = 0;  // what was read, so that no read is removed

void touch(poot::view<uint8> seen) {
  for (uint8 byte : seen) touched = touched * 31 + byte;
}

void touch(const poot::io::file_tensor& t, size_t file_size) {
  if (t.offset > file_size || t.size > file_size - t.offset) std::abort();
  if (static_cast<uint64>(t.type.bytes()) != t.size) std::abort();
  touch(t.bytes());
}

// One `run` per format: reads, then uses everything it was given

void run_gguf(poot::view<uint8> file) {
  using namespace poot::io;
  const gguf g = gguf::parse(file, "fuzz.gguf");
  for (const file_tensor& t : g.tensors()) {
    touch(t, file.size());
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
    touch(t, file.size());
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

/// The same for text, whose reader does not know the file's name. What was read must be read again from its own text,
/// which is not counted as memory of the reader.
template <class Read, class Print>
void run_text(poot::view<uint8> file, const char* name, Read read, Print print) {
  try {
    const auto got = read(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
    const size_t allocated_by_reader = allocated;
    const poot::text once = print(got);
    try {
      if (!(print(read(once.str())) == once)) std::abort();
    } catch (const poot::error& e) {
      std::fprintf(stderr, "its own text is refused: %s\n", e.what());
      std::abort();
    }
    touch({reinterpret_cast<const uint8*>(once.str().data()), once.size()});
    allocated = allocated_by_reader;
  } catch (const poot::error& e) {
    poot::fail(poot::text{} << name << ": " << e.what());
  }
}
void run_graph_text(poot::view<uint8> file) {
  run_text(file, "fuzz.poot", [](std::string_view s) { return poot::ir::parse(s); },
           [](const poot::ir::graph& g) {
             poot::ir::verify(g);
             return poot::ir::print(g);
           });
}
void run_program_text(poot::view<uint8> file) {
  run_text(file, "fuzz.plan", [](std::string_view s) { return poot::plan::parse(s); },
           [](const poot::plan::program& p) { return poot::plan::print(p); });
}
void run_kernel_text(poot::view<uint8> file) {
  run_text(file, "fuzz.kernel", [](std::string_view s) { return poot::kernel::parse(s); },
           [](const poot::kernel::kernel& k) { return poot::kernel::print(k); });
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

const char* const graph_texts[] = {
    "graph norm {\n  %x : f32[T<=8,16] = input \"x\"\n  %gain : bf16[16] = weight \"gain\"\n"
    "  %0 : f32[T,16] = mul %x, %x\n  %1 : f32[T,1] = reduce_sum %0 {axis=1}\n  %2 : f32[T,1] = mul %1, f32(0x1p-4)\n"
    "  %3 : f32[T,1] = add %2, f32(1e-5)\n  %4 : f32[T,1] = sqrt %3\n  %5 : f32[T,16] = div %x, %4\n"
    "  %6 : f32[16] = cast %gain\n  %7 : f32[T,16] = mul %5, %6\n  output \"y\" = %7\n}\n",
    "graph layer { # with a cache\n  %x : f32[2,32] = input \"x\"\n  %w : q8_0[8,32] = weight \"w 1\"\n"
    "  %at : i32[2] = input \"at\"\n  %held : f32[4,8] = state \"held\"\n"
    "  %0 : f32[2,8] = matmul %x, %w {transpose_b=1}\n  %1 : f32[2,8] = neg %0\n  %2 : f32[2,8] = exp %1\n"
    "  %3 : f32[2,8] = add %2, f32(1)\n  %4 : f32[2,8] = div %0, %3\n"
    "  %5 : f32[4,8] = dynamic_update_slice %held, %4, %at\n  %6 : f32[2,8] = slice %5 {start=[1,0] size=[2,8]}\n"
    "  %7 : f32[8,2] = transpose %6 {perm=[1,0]}\n  %8 : f32[16] = reshape %7\n  %9 : i32[16] = iota {axis=0}\n"
    "  %10 : f32[16] = cast %9\n  %11 : f32[16] = pow f32(bits 0x40490fdb), %10\n  %12 : f32[16] = mul %8, %11\n"
    "  %13 : f32[16] = mul %8, %8\n  %14 : i32[1] = reduce_argmax %12 {axis=0}\n  %15 : f32[1] = gather %13, %14 {axis=0}\n"
    "  %16 : f32[17] = concat %12, %15 {axis=0}\n"
    "  output \"held\" = %5\n  output \"y\" = %16\n  output \"sum\" = %4\n}\n"};

std::vector<bytes> graph_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* t : graph_texts) seeds.emplace_back(t, t + std::strlen(t));
  return seeds;
}
std::vector<bytes> program_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* t : graph_texts)
    for (const bool fuse : {true, false}) {
      poot::plan::options wanted;
      wanted.fuse = fuse;
      const poot::text printed = poot::plan::print(poot::plan::compile(poot::ir::parse(t), poot::targets::host, wanted));
      seeds.emplace_back(printed.str().begin(), printed.str().end());
    }
  return seeds;
}

std::vector<bytes> kernel_text_seeds() {
  std::vector<bytes> seeds;
  for (const char* body : {"%a : f32[6,64] = input \"a\"\n%b : f32[64,4] = weight \"b\"\n%c : f32[6,4] = matmul %a, %b\noutput \"c\" = %c\n",
                           "%a : f16[3,40] = input \"a\"\n%e : f16[3,40] = tanh %a\n%s : f16[3,1] = reduce_sum %e {axis=1}\noutput \"s\" = %s\n"})
    for (const poot::target& where : {poot::targets::vulkan_lavapipe, poot::targets::cuda_sm80}) {
      const poot::plan::program p = poot::plan::compile(poot::ir::parse((poot::text("graph g {\n") << body << "}\n").str()), where);
      const poot::text printed = poot::kernel::print(poot::kernel::generate(p, p.launches[0]));
      seeds.emplace_back(printed.str().begin(), printed.str().end());
    }
  return seeds;
}

void keep_bytes(bytes&) {}

void set_word(bytes& file, size_t at, size_t size, uint64 value) {
  for (size_t i = 0; i < size && at + i < file.size(); ++i) file[at + i] = static_cast<uint8>(value >> (8 * i));
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

struct format {
  const char* name;
  std::vector<bytes> (*seeds)();
  void (*repair)(bytes&);
  void (*run)(poot::view<uint8>);
};

const format formats[] = {
    {"gguf", gguf_seeds, keep_bytes, run_gguf},
    {"safetensors", safetensors_seeds, repair_safetensors, run_safetensors},
    {"npy", npy_seeds, repair_npy, run_npy},
    {"graph", graph_text_seeds, keep_bytes, run_graph_text},
    {"program", program_text_seeds, keep_bytes, run_program_text},
    {"kernel", kernel_text_seeds, keep_bytes, run_kernel_text},
};

uint64 boundary(random_source& random, size_t file_size) {
  const uint64 powers[] = {0, 7, 8, 15, 16, 31, 32, 60, 61, 62, 63};
  switch (random.below(4)) {
    case 0: return (uint64{1} << powers[random.below(11)]) + (random.below(2) ? 0 : random.below(3) - 1);
    case 1: return file_size + random.below(17) - 8;
    case 2: return random.below(48);
    default: return ~uint64{0} - random.below(64);
  }
}

/// Where, from `at` on, eight bytes begin that look like a count, length or offset: a small number.
size_t find_count(const bytes& file, size_t at) {
  for (; at + 8 <= file.size(); ++at) {
    size_t zeros = 0;
    while (zeros < 6 && file[at + 7 - zeros] == 0) ++zeros;
    if (zeros == 6 && file[at] != 0) return at;
  }
  return file.size();
}

void mutate(bytes& file, const std::vector<bytes>& seeds, random_source& random) {
  const size_t at = random.below(file.size());
  const auto place = file.begin() + static_cast<long>(at);
  switch (random.below(10)) {
    case 0:
      if (!file.empty()) file[at] ^= static_cast<uint8>(1u << random.below(8));
      break;
    case 1: set_word(file, at, 1, random()); break;
    case 2: set_word(file, at, size_t{1} << random.below(4), boundary(random, file.size())); break;
    case 3: file.resize(at); break;
    case 4: file.resize(file.size() + random.below(64), static_cast<uint8>(random())); break;
    case 5: {  // a piece of any seed, over what stands there or in between
      const bytes& other = seeds[random.below(seeds.size())];
      const size_t first = random.below(other.size()),
                   size = 1 + random.below(std::min<size_t>(other.size() - first, 96));
      const bytes piece(other.begin() + static_cast<long>(first), other.begin() + static_cast<long>(first + size));
      if (random.below(2)) file.insert(place, piece.begin(), piece.end());
      else
        for (size_t i = 0; i < size && at + i < file.size(); ++i) file[at + i] = piece[i];
      break;
    }
    case 6: file.erase(place, place + static_cast<long>(std::min(1 + random.below(32), file.size() - at))); break;
    case 7: {  // a piece of its own once more
      const bytes piece(place, place + static_cast<long>(std::min(1 + random.below(96), file.size() - at)));
      file.insert(place, piece.begin(), piece.end());
      break;
    }
    case 8: set_word(file, find_count(file, at), 8, boundary(random, file.size())); break;
    default: {  // another number in the place of digits
      size_t first = at;
      while (first < file.size() && !(file[first] >= '0' && file[first] <= '9')) ++first;
      size_t last = first;
      while (last < file.size() && file[last] >= '0' && file[last] <= '9') ++last;
      if (first == last) break;
      std::string digits = std::to_string(boundary(random, file.size()));
      if (random.below(8) == 0) digits += '0';
      file.erase(file.begin() + static_cast<long>(first), file.begin() + static_cast<long>(last));
      file.insert(file.begin() + static_cast<long>(first), digits.begin(), digits.end());
    }
  }
}

bytes mutant(const format& f, const std::vector<bytes>& seeds, uint64 seed, uint64 iteration) {
  random_source random{poot::mix(poot::mix(poot::hash_text(f.name), seed), iteration)};
  bytes file = seeds[random.below(seeds.size())];
  for (size_t count = random.below(2) ? 1 : 1 + random.below(5); count-- > 0;) mutate(file, seeds, random);
  if (random.below(4)) f.repair(file);
  return file;
}

/// Runs one file; false, with a report, if anything but reading or poot::error happened.
bool survives(const format& f, const bytes& file, bool& read) {
  const std::unique_ptr<uint8[]> exact(new uint8[file.size()]);  // so that one byte too far is seen
  std::copy(file.begin(), file.end(), exact.get());
  allocated = 0;
  read = false;
  const char* trouble = nullptr;
  try {
    f.run({exact.get(), file.size()});
    read = true;
  } catch (const poot::error& e) {
    if (!*e.what() || std::string_view(e.what()).find("fuzz.") != 0) trouble = "an error that does not name the file";
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    trouble = "another exception";
  } catch (...) {
    trouble = "something that is no exception";
  }
  // Look-up tables, names and their growth cost some multiple of the file; anything beyond believed a count.
  if (allocated > 65536 + 64 * file.size()) trouble = "more memory than a file of that size needs";
  if (trouble) std::fprintf(stderr, "%s: %s\n", f.name, trouble);
  return !trouble;
}

}  // namespace

int main(int count, char** arguments) {
  const uint64 iterations = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  const uint64 seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const std::string_view only = count > 3 ? arguments[3] : "";
  const uint64 first = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 0;
  bool known = only.empty();
  for (const format& f : formats) known = known || only == f.name;
  if (!known || iterations == 0) {
    std::fputs("files [ITERATIONS [SEED [gguf|safetensors|npy|graph|program|kernel [FIRST]]]]\n", stderr);
    return 2;
  }
  for (const format& f : formats) {
    if (!only.empty() && only != f.name) continue;
    const std::vector<bytes> seeds = f.seeds();
    bool read = false;
    for (const bytes& original : seeds)
      if (!survives(f, original, read) || !read) {
        std::fprintf(stderr, "%s: a seed is not read\n", f.name);
        return 1;
      }
    uint64 read_count = 0;
    for (uint64 i = first; i < first + iterations; ++i) {
      if (!survives(f, mutant(f, seeds, seed, i), read)) {
        std::fprintf(stderr, "repeat with: files 1 %llu %s %llu\n", static_cast<unsigned long long>(seed), f.name,
                     static_cast<unsigned long long>(i));
        return 1;
      }
      read_count += read;
    }
    std::printf("%s: %llu files, %llu read, the others refused\n", f.name, static_cast<unsigned long long>(iterations),
                static_cast<unsigned long long>(read_count));
  }
  return 0;
}

#pragma once
/// Mutates valid files and hands them to readers: each is read or refused with poot::error, nothing else happens, and no reader
/// allocates more than a file of that size can need. Meant for -fsanitize=address,undefined. One file of a program includes
/// this: it replaces operator new.
///
/// Iteration i of a seed and format is the same everywhere: a failure is repeated by `PROGRAM 1 SEED FORMAT i`.

#include <poot/core/error.hpp>
#include <poot/core/hash.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace poot_tests {

using poot::uint64;
using poot::uint8;
using bytes = std::vector<uint8>;

inline size_t allocated = 0;  // bytes asked for since the last file

inline void* count_and_allocate(size_t size) {
  allocated += size;
  return std::malloc(size ? size : 1);
}

}  // namespace poot_tests

void* operator new(size_t size) {
  if (void* p = poot_tests::count_and_allocate(size)) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return poot_tests::count_and_allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return poot_tests::count_and_allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace poot_tests {

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

inline uint64 touched = 0;  // what was read, so that no read is removed

inline void touch(poot::view<uint8> seen) {
  for (uint8 byte : seen) touched = touched * 31 + byte;
}

inline void keep_bytes(bytes&) {}

inline void set_word(bytes& file, size_t at, size_t size, uint64 value) {
  for (size_t i = 0; i < size && at + i < file.size(); ++i) file[at + i] = static_cast<uint8>(value >> (8 * i));
}

struct format {
  const char* name;
  std::vector<bytes> (*seeds)();
  void (*repair)(bytes&);
  void (*run)(poot::view<uint8>);
};

inline uint64 boundary(random_source& random, size_t file_size) {
  const uint64 powers[] = {0, 7, 8, 15, 16, 31, 32, 60, 61, 62, 63};
  switch (random.below(4)) {
    case 0: return (uint64{1} << powers[random.below(11)]) + (random.below(2) ? 0 : random.below(3) - 1);
    case 1: return file_size + random.below(17) - 8;
    case 2: return random.below(48);
    default: return ~uint64{0} - random.below(64);
  }
}

/// Where, from `at` on, eight bytes begin that look like a count, length or offset: a small number.
inline size_t find_count(const bytes& file, size_t at) {
  for (; at + 8 <= file.size(); ++at) {
    size_t zeros = 0;
    while (zeros < 6 && file[at + 7 - zeros] == 0) ++zeros;
    if (zeros == 6 && file[at] != 0) return at;
  }
  return file.size();
}

inline void mutate(bytes& file, const std::vector<bytes>& seeds, random_source& random) {
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

inline bytes mutant(const format& f, const std::vector<bytes>& seeds, uint64 seed, uint64 iteration) {
  random_source random{poot::mix(poot::mix(poot::hash_text(f.name), seed), iteration)};
  bytes file = seeds[random.below(seeds.size())];
  for (size_t count = random.below(2) ? 1 : 1 + random.below(5); count-- > 0;) mutate(file, seeds, random);
  if (random.below(4)) f.repair(file);
  return file;
}

/// Runs one file; false, with a report, if anything but reading or poot::error happened.
inline bool survives(const format& f, const bytes& file, bool& read) {
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

/// The program: `NAME [ITERATIONS [SEED [FORMAT [FIRST]]]]`.
inline int fuzz(const char* program, const std::vector<format>& formats, int count, char** arguments) {
  const uint64 iterations = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  const uint64 seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const std::string_view only = count > 3 ? arguments[3] : "";
  const uint64 first = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 0;
  bool known = only.empty();
  for (const format& f : formats) known = known || only == f.name;
  if (!known || iterations == 0) {
    std::fprintf(stderr, "%s [ITERATIONS [SEED [FORMAT [FIRST]]]], of the formats", program);
    for (const format& f : formats) std::fprintf(stderr, " %s", f.name);
    std::fputc('\n', stderr);
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
        std::fprintf(stderr, "repeat with: %s 1 %llu %s %llu\n", program, static_cast<unsigned long long>(seed), f.name,
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

}  // namespace poot_tests

#pragma once
/// What compilers made, kept on disk from run to run:
///
///     const run::cache kept = run::cache::from_environment();
///     if (auto code = kept.find(key)) …      // the bytes that some process kept under this very key
///     kept.keep(key, bytes);
///
/// A key says everything that the bytes depend on: text, options, compiler and its version. An entry is one file that
/// holds its key and a checksum, written beside its place and renamed: processes that share a folder see whole entries
/// or none, and one that is corrupt, cut off or of another key counts as none. Nothing here is an error: a folder that
/// cannot be used keeps nothing, and `trouble()` says why.
///
///     POOT_CACHE_DIR    the folder; else poot in XDG_CACHE_HOME, else in ~/.cache
///     POOT_CACHE=off    keeps nothing
///     POOT_CACHE_BYTES  size that the oldest entries give way to, 256 MiB

#include <poot/core/error.hpp>
#include <poot/core/hash.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace poot::run {

class cache {
 public:
  /// A cache that keeps nothing, for the reason `why`.
  static cache off(std::string why) {
    cache c;
    c.trouble_ = std::move(why);
    return c;
  }
  /// Keeps entries in `folder`, which is made where it is missing; about `most_bytes` of them.
  explicit cache(std::string folder, int64 most_bytes = default_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {
    while (folder_.size() > 1 && folder_.back() == '/') folder_.pop_back();
    open_folder();
  }
  static cache from_environment() {
    const auto said = [](const char* name) {
      const char* s = std::getenv(name);
      return std::string(s ? s : "");
    };
    if (said("POOT_CACHE") == "off") return off(switched_off);
    long long bytes = default_bytes;
    if (const std::string wanted = said("POOT_CACHE_BYTES"); !wanted.empty()) {
      char* end = nullptr;
      bytes = std::strtoll(wanted.c_str(), &end, 10);
      if (*end || bytes < 0) return off("POOT_CACHE_BYTES is \"" + wanted + "\", no number of bytes");
    }
    if (!said("POOT_CACHE_DIR").empty()) return cache(said("POOT_CACHE_DIR"), bytes);
    if (!said("XDG_CACHE_HOME").empty()) return cache(said("XDG_CACHE_HOME") + "/poot", bytes);
    if (!said("HOME").empty()) return cache(said("HOME") + "/.cache/poot", bytes);
    return off("none of POOT_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
  }

  /// The folder; empty where the cache is off.
  const std::string& folder() const { return folder_; }
  /// Why nothing is kept; empty where entries are.
  const std::string& trouble() const { return trouble_; }
  /// What `trouble()` says where nobody wants anything kept.
  static constexpr const char* switched_off = "POOT_CACHE is off";

  /// What was kept under `key`, if it is whole.
  std::optional<std::vector<uint8>> find(std::string_view key) const {
    if (!usable()) return {};
    const std::string path = path_of(key);
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct ::stat about;
    if (file.id < 0 || ::fstat(file.id, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return {};
    header h;
    if (about.st_size < static_cast<off_t>(sizeof h) || !read_all(file.id, &h, sizeof h)) return {};
    if (std::memcmp(h.magic, magic, sizeof magic) != 0 || h.key_bytes != key.size()) return {};
    if (h.bytes != static_cast<uint64>(about.st_size) - sizeof h - h.key_bytes) return {};
    std::string its_key(h.key_bytes, 0);
    std::vector<uint8> bytes(h.bytes);
    if (!read_all(file.id, its_key.data(), its_key.size()) || its_key != key) return {};
    if (!read_all(file.id, bytes.data(), bytes.size()) || checksum(key, bytes) != h.checksum) return {};
    ::futimens(file.id, nullptr);  // it was of use: the oldest give way first
    return bytes;
  }

  /// Keeps `bytes` under `key`. Where that fails, nothing is kept.
  void keep(std::string_view key, view<uint8> bytes) const {
    if (!usable()) return;
    static std::atomic<unsigned> serial{0};
    const std::string temporary =
        folder_ + "/" + temporary_prefix + std::to_string(::getpid()) + "-" + std::to_string(serial++);
    header h;
    std::memcpy(h.magic, magic, sizeof magic);
    h.key_bytes = key.size();
    h.bytes = bytes.size();
    h.checksum = checksum(key, bytes);
    bool whole = false;
    {
      const descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (file.id < 0) return;
      whole = write_all(file.id, &h, sizeof h) && write_all(file.id, key.data(), key.size()) &&
              write_all(file.id, bytes.data(), bytes.size());
    }
    if (!whole || ::rename(temporary.c_str(), path_of(key).c_str()) != 0) ::unlink(temporary.c_str());
    make_room();
  }

  struct entry {
    std::string name;  ///< of its file in the folder
    int64 bytes = 0;
    int64 used = 0;    ///< when it was last of use, ns since 1970
  };
  /// What is kept, the longest unused first.
  std::vector<entry> entries() const {
    std::vector<entry> all;
    each_file([&](const std::string& name, const struct ::stat& about) {
      if (!is_temporary(name)) all.push_back({name, about.st_size, nanoseconds(about)});
    });
    for (size_t i = 1; i < all.size(); ++i)  // few, and nearly in order
      for (size_t k = i; k > 0 && all[k].used < all[k - 1].used; --k) std::swap(all[k], all[k - 1]);
    return all;
  }
  /// Removes every entry. Returns what stays all the same, each with the reason.
  std::vector<std::string> clear() const {
    std::vector<std::string> left;
    each_named([&](const std::string& name, const struct ::stat& about) {
      const std::string path = folder_ + "/" + name;
      if (!S_ISREG(about.st_mode)) left.push_back(path + " is no regular file");
      else if (::unlink(path.c_str()) != 0 && errno != ENOENT) left.push_back(path + " cannot be removed: " + std::strerror(errno));
    });
    return left;
  }

 private:
  static constexpr int64 default_bytes = int64{256} << 20;
  static constexpr char magic[8] = {'p', 'o', 'o', 't', 'k', 'e', 'p', '1'};
  static constexpr const char* temporary_prefix = "new-";
  static constexpr int64 abandoned_after = int64{3600} * 1000000000;  ///< ns; a writer takes far less

  struct header {
    char magic[8];
    uint64 key_bytes = 0, bytes = 0, checksum = 0;
  };
  struct descriptor {
    explicit descriptor(int file) : id(file) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
      if (id >= 0) ::close(id);
    }
    int id;
  };

  cache() = default;

  bool usable() const { return trouble_.empty(); }
  static bool is_temporary(const std::string& name) { return name.rfind(temporary_prefix, 0) == 0; }
  static bool is_entry(const std::string& name) { return name.size() == 36 && name.compare(32, 4, ".bin") == 0; }
  static int64 nanoseconds(const struct ::stat& about) {
    return static_cast<int64>(about.st_mtim.tv_sec) * 1000000000 + about.st_mtim.tv_nsec;
  }

  /// The folder must be the user's own, so that nobody else's code is ever run from it.
  void open_folder() {
    struct ::stat about;
    if (folder_.empty() || folder_.find('\0') != std::string::npos) {
      trouble_ = "the cache folder has no name";
      return;
    }
    for (size_t slash = folder_.find('/', 1); ; slash = folder_.find('/', slash + 1)) {
      ::mkdir(folder_.substr(0, slash).c_str(), 0700);
      if (slash == std::string::npos) break;
    }
    const auto refuse = [&](const char* why) { trouble_ = "the cache folder " + folder_ + " " + why; };
    if (::lstat(folder_.c_str(), &about) != 0) return refuse((std::string("cannot be made: ") + std::strerror(errno)).c_str());
    if (S_ISLNK(about.st_mode)) return refuse("is a symbolic link");
    if (!S_ISDIR(about.st_mode)) return refuse("is no folder");
    if (about.st_uid != ::geteuid()) return refuse("belongs to another user");
    if (about.st_mode & (S_IWGRP | S_IWOTH)) return refuse("can be written by other users");
  }

  std::string path_of(std::string_view key) const {
    const uint64 halves[] = {hash_text(key), mix(key.size(), hash_words(key))};
    std::string path = folder_ + "/";
    for (const uint64 half : halves)
      for (int shift = 60; shift >= 0; shift -= 4) path += "0123456789abcdef"[half >> shift & 15];
    return path + ".bin";
  }
  /// A second hash, independent of the first.
  static uint64 hash_words(std::string_view chars) {
    uint64 h = 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < chars.size(); i += 8) {
      uint64 word = 0;
      std::memcpy(&word, chars.data() + i, chars.size() - i < 8 ? chars.size() - i : 8);
      h = mix(h, word);
    }
    return h;
  }
  static uint64 checksum(std::string_view key, view<uint8> bytes) {
    return mix(hash_words(key), hash_words({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  static uint64 checksum(std::string_view key, const std::vector<uint8>& bytes) {
    return checksum(key, view<uint8>(bytes.data(), bytes.size()));
  }

  static bool read_all(int file, void* to, size_t bytes) {
    for (char* at = static_cast<char*>(to); bytes > 0;) {
      const ::ssize_t n = ::read(file, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }
  static bool write_all(int file, const void* from, size_t bytes) {
    for (const char* at = static_cast<const char*>(from); bytes > 0;) {
      const ::ssize_t n = ::write(file, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }

  /// Calls visit(name, about) for each entry and each file on its way to be one.
  template <class Visit>
  void each_file(Visit visit) const {
    each_named([&](const std::string& name, const struct ::stat& about) {
      if (S_ISREG(about.st_mode)) visit(name, about);
    });
  }
  /// The same for whatever has such a name.
  template <class Visit>
  void each_named(Visit visit) const {
    ::DIR* const folder = usable() ? ::opendir(folder_.c_str()) : nullptr;
    if (!folder) return;
    while (const ::dirent* d = ::readdir(folder)) {
      const std::string name = d->d_name;
      struct ::stat about;
      if ((is_entry(name) || is_temporary(name)) && ::fstatat(::dirfd(folder), d->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0)
        visit(name, about);
    }
    ::closedir(folder);
  }

  /// Removes what writers abandoned, and the longest unused entries beyond the bound.
  void make_room() const {
    struct ::timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    const int64 time = static_cast<int64>(now.tv_sec) * 1000000000 + now.tv_nsec;
    int64 bytes = 0;
    each_file([&](const std::string& name, const struct ::stat& about) {
      if (!is_temporary(name)) bytes += about.st_size;
      else if (time - nanoseconds(about) > abandoned_after) ::unlink((folder_ + "/" + name).c_str());
    });
    if (bytes <= most_bytes_) return;
    for (const entry& e : entries()) {
      if (bytes <= most_bytes_) break;
      ::unlink((folder_ + "/" + e.name).c_str());
      bytes -= e.bytes;
    }
  }

  std::string folder_, trouble_;
  int64 most_bytes_ = default_bytes;
};

}  // namespace poot::run

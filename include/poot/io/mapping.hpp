#pragma once
/// A file seen as read-only bytes, without copying it.

#include <poot/core/error.hpp>
#include <poot/core/vec.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace poot::io {

/// Throws "PATH: cannot STEP: reason", with the reason of `errno`.
[[noreturn]] inline void fail_system(std::string_view path, std::string_view step) {
  const int reason = errno;
  fail(text{} << path << ": cannot " << step << ": " << std::strerror(reason));
}

/// Maps a whole regular file; unmaps it when destroyed. The bytes are those of the file: a process that shortens the
/// file meanwhile makes a later read of the lost pages a bus error, as with every mapping.
class mapping {
 public:
  mapping() = default;

  /// Errors name the path, the step and the system's reason. A directory, pipe or device is refused.
  explicit mapping(std::string path) : path_(std::move(path)) {
    if (path_.find('\0') != std::string::npos) fail("a path to map contains a zero byte");
    // O_NONBLOCK: opening a pipe that nobody writes must not wait; it has no effect on regular files.
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) fail_system(path_, "open");
    struct ::stat about;
    if (::fstat(file, &about) != 0) close_and_fail(file, "examine");
    if (!S_ISREG(about.st_mode)) {
      ::close(file);
      fail(text{} << path_ << ": is not a regular file, and only those can be mapped");
    }
    size_ = static_cast<size_t>(about.st_size);
    if (size_ != 0) {  // a mapping of no bytes does not exist; the view is then empty
      void* const first = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (first == MAP_FAILED) close_and_fail(file, "map");
      first_ = static_cast<uint8*>(first);
    }
    ::close(file);
  }

  mapping(mapping&& other) noexcept
      : path_(std::move(other.path_)),
        first_(std::exchange(other.first_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    mapping taken(std::move(other));
    std::swap(path_, taken.path_);
    std::swap(first_, taken.first_);
    std::swap(size_, taken.size_);
    return *this;
  }
  ~mapping() {
    if (first_) ::munmap(first_, size_);
  }

  view<uint8> bytes() const { return {first_, size_}; }
  const std::string& path() const { return path_; }

  /// Gives the pages of bytes [offset, offset + size) back to the system; reading them again reads the file again.
  /// The page in which the range begins goes too, the page in which it ends stays unless the file ends there: so a
  /// loader that drops its tensors in file order keeps at most one page behind it.
  void drop(size_t offset, size_t size) const {
    if (offset > size_ || size > size_ - offset)
      fail(text{} << path_ << ": cannot drop " << size << " bytes at byte " << offset << ": the file has " << size_
                  << " bytes");
    if (size == 0) return;
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t first = offset / page * page, last = offset + size;
    const size_t end = last == size_ ? last : last / page * page;
    if (end <= first) return;
    // Only advice: a system that refuses it keeps the pages, and nothing else changes.
    ::madvise(first_ + first, end - first, MADV_DONTNEED);
  }

 private:
  [[noreturn]] void close_and_fail(int file, std::string_view step) const {
    const int reason = errno;
    ::close(file);
    errno = reason;
    fail_system(path_, step);
  }

  std::string path_;
  uint8* first_ = nullptr;
  size_t size_ = 0;
};

}  // namespace poot::io

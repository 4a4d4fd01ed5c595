#pragma once
/// Writing a file so that a reader sees the old one or the whole new one.

#include <poot/io/mapping.hpp>

#include <atomic>

namespace poot::io {

/// Where bytes written to `path` belong: behind symbolic links, whether there is a file or not.
inline std::string behind_links(std::string path) {
  for (int followed = 0;; ++followed) {
    char target[4096];
    const ::ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0) return path;  // no link, or nothing
    errno = size == sizeof target ? ENAMETOOLONG : ELOOP;
    if (size == sizeof target || followed == 40) fail_system(path, "follow this link");
    const std::string to(target, static_cast<size_t>(size));
    path = to[0] == '/' ? to : path.substr(0, path.rfind('/') + 1) + to;
  }
}

/// A new file beside `path`, or beside what it is a link to, that takes its place when it is whole, or vanishes.
class replacement_file {
 public:
  explicit replacement_file(std::string path) : path_(std::move(path)) {
    static std::atomic<unsigned> serial{0};
    if (path_.find('\0') != std::string::npos) fail("a path to write contains a zero byte");
    path_ = behind_links(std::move(path_));
    struct ::stat there {};
    if (::stat(path_.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
      fail(text{} << path_ << ": is there already and is no regular file, so it is not replaced");
    do {
      temporary_ = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
      file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file_ < 0 && errno == EEXIST);
    if (file_ < 0) fail_system(path_, "create a file beside it");
  }
  replacement_file(const replacement_file&) = delete;
  replacement_file& operator=(const replacement_file&) = delete;
  ~replacement_file() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(view<uint8> bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ::ssize_t n = ::write(file_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_system(path_, "write");
      done += static_cast<size_t>(n);
    }
  }

  /// On disk before it has the name, so that no crash leaves half a file under it.
  void commit() {
    if (::fsync(file_) != 0) fail_system(path_, "write to disk");
    const int closed = ::close(std::exchange(file_, -1));
    if (closed != 0) fail_system(path_, "close");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_system(path_, "replace");
    temporary_.clear();
    // The new name reaches the disk with its directory; a file system that cannot do this still has a whole file.
    const size_t slash = path_.rfind('/');
    const std::string directory = slash == path_.npos ? "." : path_.substr(0, slash + 1);
    const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
      ::fsync(opened);
      ::close(opened);
    }
  }

 private:
  std::string path_, temporary_;
  int file_ = -1;
};

}  // namespace poot::io

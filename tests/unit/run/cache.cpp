#include <doctest/doctest.h>

#include <poot/run/cache.hpp>

#include <csignal>
#include <string>

#include <sys/wait.h>

using namespace poot;
using run::cache;

namespace {

/// A folder of its own, removed with everything in it.
struct scratch_folder {
  scratch_folder() {
    char name[] = "/tmp/poot-cache-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~scratch_folder() { remove(path); }
  static void remove(const std::string& folder) {
    if (::DIR* d = ::opendir(folder.c_str())) {
      while (const ::dirent* e = ::readdir(d)) {
        const std::string name = e->d_name;
        if (name == "." || name == "..") continue;
        if (::unlink((folder + "/" + name).c_str()) != 0) remove(folder + "/" + name);
      }
      ::closedir(d);
    }
    ::rmdir(folder.c_str());
  }
  std::string path;
};

/// Bytes that a key determines.
std::vector<uint8> bytes_for(const std::string& key, size_t count) {
  std::vector<uint8> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8>(mix(hash_text(key), i));
  return bytes;
}
void keep(const cache& c, const std::string& key, size_t count) {
  const std::vector<uint8> bytes = bytes_for(key, count);
  c.keep(key, {bytes.data(), bytes.size()});
}
bool holds(const cache& c, const std::string& key, size_t count) {
  const auto found = c.find(key);
  return found && *found == bytes_for(key, count);
}

std::string only_file(const std::string& folder) {
  const auto all = cache(folder).entries();
  REQUIRE(all.size() == 1);
  return folder + "/" + all[0].name;
}

/// Changes byte `at` of a file.
void flip(const std::string& path, off_t at) {
  const int file = ::open(path.c_str(), O_RDWR);
  uint8 byte = 0;
  REQUIRE(::pread(file, &byte, 1, at) == 1);
  byte ^= 1;
  REQUIRE(::pwrite(file, &byte, 1, at) == 1);
  ::close(file);
}

off_t size_of(const std::string& path) {
  struct ::stat about;
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_size;
}

}  // namespace

TEST_CASE("finds what was kept under the same key, and nothing else") {
  const scratch_folder f;
  const cache c(f.path + "/deep/folder");
  CHECK(c.trouble().empty());
  CHECK(!c.find("a"));
  keep(c, "a", 1000);
  keep(c, "empty", 0);
  CHECK(holds(c, "a", 1000));
  CHECK(holds(c, "empty", 0));
  CHECK(!c.find("b"));
  CHECK(holds(cache(f.path + "/deep/folder/"), "a", 1000));
  keep(c, "a", 10);
  CHECK(holds(c, "a", 10));
  c.clear();
  CHECK(c.entries().empty());
  CHECK(!c.find("a"));
}

TEST_CASE("an entry of which any byte is changed, or that is cut off, is none, and can be kept anew") {
  const scratch_folder f;
  const cache c(f.path);
  keep(c, "key", 50);
  const std::string path = only_file(f.path);
  const off_t size = size_of(path);
  for (off_t at = 0; at < size; ++at) {
    flip(path, at);
    CHECK(!c.find("key"));
    flip(path, at);
  }
  CHECK(holds(c, "key", 50));
  for (const off_t cut : {size - 1, off_t{40}, off_t{10}, off_t{0}}) {
    REQUIRE(::truncate(path.c_str(), cut) == 0);
    CHECK(!c.find("key"));
    keep(c, "key", 50);
    CHECK(holds(c, "key", 50));
  }
}

TEST_CASE("an entry under the name of another key is none") {
  const scratch_folder f;
  const cache c(f.path);
  keep(c, "one", 20);
  const std::string one = only_file(f.path);
  REQUIRE(::rename(one.c_str(), (f.path + "/kept").c_str()) == 0);
  keep(c, "two", 20);
  REQUIRE(::rename((f.path + "/kept").c_str(), only_file(f.path).c_str()) == 0);
  CHECK(!c.find("two"));
}

TEST_CASE("a link, a folder or a pipe in the place of an entry is none") {
  const scratch_folder f, other;
  const cache c(f.path);
  keep(c, "key", 20);
  const std::string path = only_file(f.path);
  REQUIRE(::rename(path.c_str(), (other.path + "/entry").c_str()) == 0);
  REQUIRE(::symlink((other.path + "/entry").c_str(), path.c_str()) == 0);
  CHECK(!c.find("key"));
  ::unlink(path.c_str());
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(!c.find("key"));
  ::unlink(path.c_str());
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  CHECK(!c.find("key"));
  keep(c, "key", 20);  // cannot, and says nothing
  CHECK(!c.find("key"));
  keep(c, "another", 20);
  REQUIRE(c.entries().size() == 1);
  const std::vector<std::string> left = c.clear();  // the entry goes, the folder is named
  CHECK(c.entries().empty());
  REQUIRE(left.size() == 1);
  CHECK(left[0] == path + " is no regular file");
}

TEST_CASE("a folder that cannot be used keeps nothing and says why") {
  const scratch_folder f;
  const auto trouble = [](const std::string& folder) {
    const cache c(folder);
    keep(c, "key", 10);
    CHECK(!c.find("key"));
    return c.trouble();
  };
  REQUIRE(::symlink(f.path.c_str(), (f.path + "/link").c_str()) == 0);
  CHECK(trouble(f.path + "/link") == "the cache folder " + f.path + "/link is a symbolic link");
  ::close(::open((f.path + "/file").c_str(), O_CREAT | O_WRONLY, 0600));
  CHECK(trouble(f.path + "/file") == "the cache folder " + f.path + "/file is no folder");
  CHECK(trouble(f.path + "/file/below").find("cannot be made") != std::string::npos);
  REQUIRE(::mkdir((f.path + "/open").c_str(), 0700) == 0);
  REQUIRE(::chmod((f.path + "/open").c_str(), 0777) == 0);
  CHECK(trouble(f.path + "/open") == "the cache folder " + f.path + "/open can be written by other users");
  CHECK(trouble("") == "the cache folder has no name");
  CHECK(trouble("/proc/poot").find("cannot be made") != std::string::npos);
  if (::geteuid() == 0) {
    REQUIRE(::mkdir((f.path + "/theirs").c_str(), 0700) == 0);
    REQUIRE(::chown((f.path + "/theirs").c_str(), 12345, 12345) == 0);
    CHECK(trouble(f.path + "/theirs") == "the cache folder " + f.path + "/theirs belongs to another user");
  }
}

TEST_CASE("the environment names the folder, switches the cache off and bounds it") {
  const scratch_folder f;
  const char* const names[] = {"POOT_CACHE_DIR", "POOT_CACHE", "POOT_CACHE_BYTES"};
  std::string saved[3];
  for (int i = 0; i < 3; ++i) saved[i] = std::getenv(names[i]) ? std::getenv(names[i]) : "";
  ::setenv("POOT_CACHE_DIR", f.path.c_str(), 1);
  ::unsetenv("POOT_CACHE");
  ::unsetenv("POOT_CACHE_BYTES");
  CHECK(cache::from_environment().folder() == f.path);
  CHECK(cache::from_environment().trouble().empty());
  ::setenv("POOT_CACHE_BYTES", "many", 1);
  CHECK(cache::from_environment().trouble() == "POOT_CACHE_BYTES is \"many\", no number of bytes");
  ::setenv("POOT_CACHE", "off", 1);
  CHECK(cache::from_environment().trouble() == "POOT_CACHE is off");
  for (int i = 0; i < 3; ++i)
    if (saved[i].empty()) ::unsetenv(names[i]);
    else ::setenv(names[i], saved[i].c_str(), 1);
}

TEST_CASE("the longest unused entries give way") {
  const scratch_folder f;
  const cache c(f.path, 4000);
  const auto age = [&](const std::string& key, time_t seconds) {  // as if it had last been of use so long ago
    const auto before = cache(f.path).entries();
    const cache apart(f.path + "/apart");
    keep(apart, key, 1);
    const std::string name = apart.entries()[0].name;
    apart.clear();
    const struct ::timespec times[] = {{1000000000 - seconds, 0}, {1000000000 - seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (f.path + "/" + name).c_str(), times, 0) == 0);
  };
  keep(c, "a", 1000);
  keep(c, "b", 1000);
  keep(c, "c", 1000);
  age("a", 30);
  age("b", 20);
  age("c", 10);
  CHECK(holds(c, "a", 1000));  // now the most recently used
  keep(c, "d", 1000);
  CHECK(!c.find("b"));
  CHECK(holds(c, "a", 1000));
  CHECK(holds(c, "c", 1000));
  CHECK(holds(c, "d", 1000));
}

TEST_CASE("processes that are killed while they write leave nothing that is used wrongly") {
  const scratch_folder f;
  const cache c(f.path);
  uint64 random = 1;
  for (int round = 0; round < 200; ++round) {
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (int i = 0;; ++i) keep(cache(f.path), "key " + std::to_string(i % 7), 20000 + 1000 * (i % 7));
    }
    random = mix(random, static_cast<uint64>(round));
    ::usleep(random % 3000);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    for (int i = 0; i < 7; ++i)
      if (const auto found = c.find("key " + std::to_string(i))) {
        const bool same = *found == bytes_for("key " + std::to_string(i), static_cast<size_t>(20000 + 1000 * i));
        CHECK(same);
      }
  }
  CHECK(!c.entries().empty());
}

TEST_CASE("eight processes on one cold folder agree") {
  const scratch_folder f;
  const std::string folder = f.path + "/shared";
  ::pid_t children[8];
  for (::pid_t& child : children) {
    child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) continue;
    bool right = true;
    for (int i = 0; i < 40; ++i) {
      const std::string key = "key " + std::to_string(i);
      const cache c(folder);
      const auto found = c.find(key);
      right = right && (!found || *found == bytes_for(key, 5000));
      if (!found) keep(c, key, 5000);
      right = right && holds(c, key, 5000);
    }
    ::_exit(right ? 0 : 1);
  }
  for (const ::pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(cache(folder).entries().size() == 40);
}

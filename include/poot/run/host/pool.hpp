#pragma once
/// Threads that share a loop: a static contiguous split, spinning briefly between loops, then parked.
///
/// A loop costs no allocation. Inside a loop (of any pool), and on one thread, a loop runs where it is called, as the
/// thread of the outer one. Every body runs in the floating-point environment of float_environment.hpp.

#include <poot/core/error.hpp>
#include <poot/run/host/float_environment.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>

namespace poot::run::host {

struct range {
  int64 begin;
  int64 end;
};

/// Part `part` of `parts` of 0 … count, contiguous, sizes within one of each other.
constexpr range split(int64 count, int parts, int part) {
  const int64 each = count / parts, more = count % parts;
  const int64 begin = each * part + (part < more ? part : more);
  return {begin, begin + each + (part < more ? 1 : 0)};
}

class pool {
 public:
  using body = void (*)(void* context, int64 begin, int64 end, int thread);

  static constexpr int most_threads = 1024;

  /// 0 threads: as many as the environment's POOT_THREADS says, else one for each processor. Throws `error` for a number
  /// out of range, and where the system has no more threads.
  explicit pool(int threads = 0) : threads_(threads != 0 ? threads : default_threads()) {
    if (threads_ < 1 || threads_ > most_threads) fail(text{} << "host: " << threads_ << " threads; they are 1 to " << most_threads << ", or 0");
    if (threads_ > 1) workers_ = std::make_unique<worker[]>(static_cast<size_t>(threads_ - 1));
    for (int i = 1; i < threads_; ++i) {
      try {
        workers_[i - 1].thread = std::thread([this, i] { work(i); });
      } catch (const std::system_error&) {
        end(i);
        fail(text{} << "host: the system started " << i << " of " << threads_ << " threads");
      }
    }
  }
  ~pool() { end(threads_); }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  int threads() const { return threads_; }

  /// Calls f(begin, end, thread) on disjoint ranges that cover 0 … count, at most one for each thread and none
  /// (but the last) shorter than `grain`. Returns when all have ended; rethrows what one of them threw.
  template <class F>
  void parallel(int64 count, F&& f, int64 grain = 1) {
    using function = std::remove_reference_t<F>;
    run(count, grain, [](void* c, int64 begin, int64 end, int thread) { (*static_cast<function*>(c))(begin, end, thread); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

  void run(int64 count, int64 grain, body f, void* context) {
    if (count <= 0) return;
    const int64 most = grain > 1 ? (count + grain - 1) / grain : count;
    const float_environment environment;
    if (threads_ == 1 || most == 1 || inside() >= 0) return f(context, 0, count, inside() >= 0 ? inside() : 0);
    const std::lock_guard<std::mutex> one_caller(callers_);
    job_ = {f, context, count, most < threads_ ? static_cast<int>(most) : threads_};
    running_.store(threads_ - 1, std::memory_order_relaxed);
    publish();
    std::exception_ptr failure;
    inside() = 0;
    try {
      part(0);
    } catch (...) {
      failure = std::current_exception();
    }
    inside() = -1;
    wait_for_workers();
    for (int i = 1; i < threads_; ++i) {
      std::exception_ptr& theirs = workers_[i - 1].failure;
      if (theirs && !failure) failure = theirs;
      theirs = nullptr;
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  struct job {
    body f;
    void* context;
    int64 count;
    int parts;
  };
  struct alignas(64) worker {
    std::thread thread;
    std::exception_ptr failure;
  };

  /// Ends the first `count` threads, the caller's among them.
  void end(int count) {
    if (count == 1) return;
    stop_ = true;
    publish();
    for (int i = 1; i < count; ++i) workers_[i - 1].thread.join();
  }

  static int default_threads() {
    if (const char* asked = std::getenv("POOT_THREADS"); asked && *asked) {
      char* rest = nullptr;
      const long n = std::strtol(asked, &rest, 10);
      if (*rest != 0 || n < 1 || n > most_threads) fail(text{} << "POOT_THREADS=" << asked << ": must be a number from 1 to " << most_threads);
      return static_cast<int>(n);
    }
    const unsigned n = std::thread::hardware_concurrency();
    return n ? static_cast<int>(n) : 1;
  }

  /// The index of this thread within the loop it is running, -1 outside.
  static int& inside() {
    static thread_local int index = -1;
    return index;
  }

  void part(int thread) {
    if (thread >= job_.parts) return;
    const range r = split(job_.count, job_.parts, thread);
    job_.f(job_.context, r.begin, r.end, thread);
  }

  /// Starts the next loop. A worker adds itself to the sleepers before it looks at the epoch a last time, so either
  /// it sees this epoch or we see it asleep.
  void publish() {
    epoch_.fetch_add(1);
    if (sleepers_.load() > 0) epoch_.notify_all();
  }

  /// Spins until `done` for about 100 µs, what lies between two loops of one step at most; says whether it was.
  template <class Done>
  static bool spin(Done done) {
    using clock = std::chrono::steady_clock;
    clock::time_point limit{};
    for (;;) {
      for (int i = 0; i < 64; ++i) {
        if (done()) return true;
        pause();
      }
      const clock::time_point now = clock::now();
      if (limit == clock::time_point{}) limit = now + std::chrono::microseconds(100);
      else if (now > limit) return false;
    }
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  void wait_for_workers() {
    if (spin([this] { return running_.load(std::memory_order_acquire) == 0; })) return;
    for (int left = running_.load(std::memory_order_acquire); left; left = running_.load(std::memory_order_acquire))
      running_.wait(left, std::memory_order_acquire);
  }

  void work(int thread) {
    const float_environment environment;
    inside() = thread;
    uint32 seen = 0;
    for (;;) {
      if (!spin([&] { return epoch_.load(std::memory_order_acquire) != seen; })) {
        sleepers_.fetch_add(1);
        epoch_.wait(seen);
        sleepers_.fetch_sub(1);
        if (epoch_.load(std::memory_order_acquire) == seen) continue;
      }
      ++seen;  // a loop is published only after all threads left the one before
      if (stop_) return;
      try {
        part(thread);
      } catch (...) {
        workers_[thread - 1].failure = std::current_exception();
      }
      if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
  }

  const int threads_;
  std::unique_ptr<worker[]> workers_;
  std::mutex callers_;
  job job_{};
  bool stop_ = false;
  alignas(64) std::atomic<uint32> epoch_{0};
  std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<int> running_{0};
};

/// The pool that calls without one of their own use.
inline pool& shared_pool() {
  static pool p;
  return p;
}

}  // namespace poot::run::host

#pragma once
/// Who has the model, and who waits for it.

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

namespace poot::tool {

/// Texts in the order in which they were asked for. The first has the model.
class text_queue {
 public:
  /// Where a text stands, until this is destroyed.
  class place {
   public:
    explicit place(text_queue& queue) : queue_(queue) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() { queue_.leave(*this); }
    /// Returns when the text has the model.
    void wait() const { queue_.wait(*this); }

   private:
    text_queue& queue_;
  };

  /// Behind the text that has the model `most_waiting` may wait.
  explicit text_queue(size_t most_waiting) : most_waiting_(most_waiting) {}

  /// A place at the end; none where as many wait as may.
  std::shared_ptr<const place> join() {
    auto made = std::make_shared<const place>(*this);  // leaves after the lock
    const std::lock_guard lock(mutex_);
    if (places_.size() > most_waiting_) return nullptr;
    places_.push_back(made.get());
    return made;
  }
  size_t most_waiting() const { return most_waiting_; }
  /// How many wait.
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return places_.empty() ? 0 : places_.size() - 1;
  }

 private:
  void wait(const place& p) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return places_.front() == &p; });
  }
  void leave(const place& p) {
    const std::lock_guard lock(mutex_);
    places_.remove(&p);
    moved_.notify_all();
  }

  const size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::list<const place*> places_;
};

}  // namespace poot::tool

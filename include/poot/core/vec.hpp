#pragma once
/// A growable array that works in constant expressions on every compiler we support.
/// (With libstdc++ 12, clang 19 rejects `std::vector<T>(n)` there.)

#include <poot/core/integers.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace poot {

/// A read-only view of `size()` consecutive elements; the form in which stages hand arrays on.
template <class T>
class view {
 public:
  constexpr view() = default;
  constexpr view(const T* first, size_t count) : first_(first), count_(count) {}
  constexpr const T& operator[](size_t i) const { return first_[i]; }
  constexpr size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr const T* data() const { return first_; }
  constexpr const T* begin() const { return first_; }
  constexpr const T* end() const { return first_ + count_; }
  constexpr const T& back() const { return first_[count_ - 1]; }
  constexpr view subview(size_t first, size_t count) const { return {first_ + first, count}; }

  friend constexpr bool operator==(view a, view b) {
    if (a.count_ != b.count_) return false;
    for (size_t i = 0; i < a.count_; ++i)
      if (!(a.first_[i] == b.first_[i])) return false;
    return true;
  }

 private:
  const T* first_ = nullptr;
  size_t count_ = 0;
};

// g++ 12 does not see that count_ <= capacity_ and warns about these loops where it inlines them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/// Owns `size()` elements of a default-constructible type.
template <class T>
class vec {
 public:
  constexpr vec() = default;
  constexpr explicit vec(size_t count, const T& value = T{}) { resize(count, value); }
  constexpr vec(std::initializer_list<T> items) {
    reserve(items.size());
    for (const T& item : items) first_[count_++] = item;
  }
  constexpr vec(view<T> items) {
    reserve(items.size());
    for (const T& item : items) first_[count_++] = item;
  }
  constexpr vec(const vec& other) : vec(view<T>(other)) {}
  constexpr vec(vec&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  constexpr vec& operator=(vec other) noexcept {
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  constexpr ~vec() { delete[] first_; }

  constexpr void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = new T[capacity]{};
    for (size_t i = 0; i < count_; ++i) grown[i] = std::move(first_[i]);
    delete[] first_;
    first_ = grown;
    capacity_ = capacity;
  }
  constexpr void resize(size_t count, const T& value = T{}) {
    if (count > capacity_) reserve(count < 2 * capacity_ ? 2 * capacity_ : count);
    for (size_t i = count_; i < count; ++i) first_[i] = value;
    count_ = count;
  }
  constexpr void push_back(T value) {
    if (count_ == capacity_) reserve(capacity_ ? 2 * capacity_ : 8);
    first_[count_++] = std::move(value);
  }
  /// `items` may be elements of this very array.
  constexpr void append(view<T> items) {
    const size_t count = count_ + items.size();
    if (count <= capacity_) {
      T* to = first_ + count_;
      for (const T& item : items) *to++ = item;
    } else {
      const size_t capacity = count + capacity_;
      T* grown = new T[capacity]{};
      for (size_t i = 0; i < items.size(); ++i) grown[count_ + i] = items[i];
      for (size_t i = 0; i < count_; ++i) grown[i] = std::move(first_[i]);
      delete[] first_;
      first_ = grown;
      capacity_ = capacity;
    }
    count_ = count;
  }
  /// Drops all but the first `count` elements, of which there are at least as many.
  constexpr void truncate(size_t count) { count_ = count; }
  constexpr void pop_back() { --count_; }
  constexpr void clear() { count_ = 0; }

  constexpr T& operator[](size_t i) { return first_[i]; }
  constexpr const T& operator[](size_t i) const { return first_[i]; }
  constexpr size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr T* data() { return first_; }
  constexpr const T* data() const { return first_; }
  constexpr T* begin() { return first_; }
  constexpr T* end() { return first_ + count_; }
  constexpr const T* begin() const { return first_; }
  constexpr const T* end() const { return first_ + count_; }
  constexpr T& back() { return first_[count_ - 1]; }
  constexpr const T& back() const { return first_[count_ - 1]; }
  constexpr operator view<T>() const { return {first_, count_}; }

  friend constexpr bool operator==(const vec& a, const vec& b) { return view<T>(a) == view<T>(b); }

 private:
  T* first_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace poot

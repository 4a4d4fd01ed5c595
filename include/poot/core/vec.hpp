#pragma once
/// A growable array that works in constant expressions on every compiler we support.
/// (With libstdc++ 12, clang 19 rejects `std::vector<T>(n)` there.)

#include <poot/core/integers.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace poot {

/// A read-only view of `size()` consecutive elements; the form in which stages hand arrays on.
///
/// Of a constant evaluation g++ 12 keeps to the end: 0.1 KB for an element read by number through a plain pointer, 0.4 KB
/// for one read through `[]`, 1 KB for a view that a function returns, 0.7 KB for a step of a range-for. Loops that planning
/// runs for every equation of a model therefore count, and read through pointers: `first` and `count` are public.
template <class T>
class view {
 public:
  const T* first = nullptr;
  size_t count = 0;

  constexpr view() = default;
  constexpr view(const T* start, size_t length) : first(start), count(length) {}
  constexpr const T& operator[](size_t i) const { return first[i]; }
  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T* data() const { return first; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr const T& back() const { return first[count - 1]; }
  constexpr view subview(size_t start, size_t length) const { return {first + start, length}; }

  friend constexpr bool operator==(view a, view b) {
    if (a.count != b.count) return false;
    for (size_t i = 0; i < a.count; ++i)
      if (!(a.first[i] == b.first[i])) return false;
    return true;
  }
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
  constexpr vec(std::initializer_list<T> items) : vec(view<T>(items.begin(), items.size())) {}
  constexpr vec(view<T> items) {
    reserve(items.size());
    count_ = items.size();
    copy(items.data(), count_, first_);
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
    grow(allocate(capacity), capacity);
  }
  constexpr void resize(size_t count, const T& value = T{}) {
    if (count > capacity_) reserve(count < 2 * capacity_ ? 2 * capacity_ : count);
    T* const to = first_;
    for (size_t i = count_; i < count; ++i) to[i] = value;
    count_ = count;
  }
  /// `value` may be an element of this very array.
  constexpr void push_back(const T& value) {
    if (count_ < capacity_) {
      first_[count_++] = value;
    } else {
      T kept = value;
      reserve(capacity_ ? 2 * capacity_ : 8);
      first_[count_++] = std::move(kept);
    }
  }
  constexpr void push_back(T&& value)
    requires(!std::is_trivially_copyable_v<T>)
  {
    T kept = std::move(value);
    if (count_ == capacity_) reserve(capacity_ ? 2 * capacity_ : 8);
    first_[count_++] = std::move(kept);
  }
  /// `items` may be elements of this very array.
  constexpr void append(view<T> items) {
    const size_t count = count_ + items.size();
    if (count <= capacity_) {
      copy(items.data(), items.size(), first_ + count_);
    } else {
      const size_t capacity = count + capacity_;
      T* const grown = allocate(capacity);
      copy(items.data(), items.size(), grown + count_);
      grow(grown, capacity);
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
  /// Elements that are numbers are left as they are: g++ would spend half a kilobyte on each zero.
  static constexpr T* allocate(size_t capacity) {
    if constexpr (std::is_trivially_default_constructible_v<T>) return new T[capacity];
    else return new T[capacity]{};
  }
  // (Loops over plain pointers: each call and each element of `*this` costs g++ memory that it keeps to the end.)
  static constexpr void copy(const T* from, size_t count, T* to) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
  }
  /// Moves to `grown`.
  constexpr void grow(T* grown, size_t capacity) {
    T* const from = first_;
    if constexpr (std::is_trivially_copyable_v<T>) copy(from, count_, grown);
    else
      for (size_t i = 0; i < count_; ++i) grown[i] = std::move(from[i]);
    delete[] from;
    first_ = grown;
    capacity_ = capacity;
  }

  T* first_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace poot

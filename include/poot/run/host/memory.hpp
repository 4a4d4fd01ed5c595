#pragma once
/// What the entries of an executor share: weights, interleaved where contractions read them, and states.

#include <poot/run/buffer.hpp>
#include <poot/run/host/interleave.hpp>
#include <poot/run/host/pool.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <sys/mman.h>

namespace poot::run::host {

/// Aligned memory, in huge pages where it is large. Zero when new.
class storage {
 public:
  storage() = default;
  explicit storage(int64 bytes) : bytes_(bytes) {
    if (bytes <= 0) return;
    const size_t page = bytes >= huge ? static_cast<size_t>(huge) : 64;
    const size_t size = (static_cast<size_t>(bytes) + page - 1) / page * page;
    data_.reset(static_cast<char*>(std::aligned_alloc(page, size)));
    if (!data_) fail(text{} << "out of memory: " << bytes << " bytes could not be allocated");
    if (bytes >= huge) ::madvise(data_.get(), size, MADV_HUGEPAGE);
    std::memset(data_.get(), 0, size);
  }
  char* data() const { return data_.get(); }
  int64 bytes() const { return bytes_; }

 private:
  static constexpr int64 huge = 2 << 20;
  struct release {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char[], release> data_;
  int64 bytes_ = 0;
};

/// How a contraction reads a weight: a matrix [n,k] in one of two orders, or `count` of them behind each other.
struct interleaved_form {
  int64 count = 1, n = 0, k = 0;
  matrix_order order = matrix_order::nk;
  bool operator==(const interleaved_form&) const = default;
};

/// A weight by name. `source` is the caller's memory: it must stay valid while `reads_source`.
struct stored_weight {
  buffer source{};
  interleaved_form form{};
  bool wants_form = false;    ///< an entry contracts over it
  bool reads_source = false;  ///< an entry reads the rows as they are
  bool released = false;      ///< loaded, and `source` may be gone
  storage interleaved{};

  int64 matrix_bytes() const { return interleaved_bytes(source.type.element, form.n, form.k); }
  weights matrix(int64 number) const {
    return {source.type.element, form.n, form.k,
            reinterpret_cast<const uint8*>(interleaved.data()) + number * matrix_bytes()};
  }
};

class shared_memory {
 public:
  stored_weight& weight(std::string_view name) { return weights_[std::string(name)]; }
  stored_weight* find_weight(std::string_view name) {
    const auto at = weights_.find(std::string(name));
    return at == weights_.end() ? nullptr : &at->second;
  }

  /// Interleaves the weight for the contractions of all entries. Returns whether some entry still reads `b` itself.
  bool load(std::string_view name, const buffer& b, pool& threads) {
    stored_weight* w = find_weight(name);
    if (!w) fail(text{} << "load_weight \"" << name << "\": no entry has a weight of this name");
    w->source = b;
    if (w->wants_form && can_interleave(b.type.element)) {
      const interleaved_form& f = w->form;
      w->interleaved = storage(w->matrix_bytes() * f.count);
      const int64 all = groups(f.n), source_bytes = byte_size(b.type.element, f.n * f.k);
      threads.parallel(f.count * all, [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i)
          interleave(b.type.element, f.n, f.k, static_cast<const uint8*>(b.data) + i / all * source_bytes, f.order, 0,
                     w->interleaved.data() + i / all * w->matrix_bytes(), i % all, i % all + 1);
      });
      w->released = !w->reads_source;
      return w->reads_source;
    }
    w->reads_source = true;
    return true;
  }

  /// The memory of a state, zero when first asked for.
  storage& state(std::string_view name, int64 bytes) {
    storage& s = states_[std::string(name)];
    if (s.bytes() < bytes) s = storage(bytes);
    return s;
  }

  /// Bytes held for weights and states.
  int64 device_bytes() const {
    int64 bytes = 0;
    for (const auto& [name, w] : weights_) bytes += w.interleaved.bytes();
    for (const auto& [name, s] : states_) bytes += s.bytes();
    return bytes;
  }

 private:
  std::map<std::string, stored_weight> weights_;
  std::map<std::string, storage> states_;
};

}  // namespace poot::run::host

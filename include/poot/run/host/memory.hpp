#pragma once
/// What the entries of an executor share: weights, interleaved where contractions read them, and states.

#include <poot/run/declared.hpp>
#include <poot/run/host/interleave.hpp>
#include <poot/run/host/pool.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace poot::run::host {

/// How large memory is paged.
enum class paging : uint8 {
  huge,      ///< in huge pages where the system has them: for what is read as a whole
  as_filled  ///< in small pages: for what a text fills slowly, such as a cache
};

namespace detail {

struct release {
  size_t mapped = 0;  ///< bytes; 0: from the heap
  void operator()(char* p) const {
    if (mapped) ::munmap(p, mapped);
    else std::free(p);
  }
};

}  // namespace detail

/// Aligned memory, zero when new. What is large is the system's: its pages are resident once they are touched.
class storage {
 public:
  storage() = default;
  explicit storage(int64 bytes, paging wanted = paging::huge) : bytes_(bytes) {
    if (bytes <= 0) return;
    const bool mapped = bytes >= static_cast<int64>(huge_page);
    const size_t page = mapped ? static_cast<size_t>(::sysconf(_SC_PAGESIZE)) : 64;
    const size_t size = (static_cast<size_t>(bytes) + page - 1) / page * page;
    data_ = memory(mapped ? map(size) : static_cast<char*>(std::aligned_alloc(page, size)), detail::release{mapped ? size : 0});
    if (!data_) fail(text{} << "out of memory: " << bytes << " bytes could not be allocated");
    if (!mapped) std::memset(data_.get(), 0, size);
    // Only advice. The last part that does not fill a huge page is left out, or all of that page would be resident.
    else if (wanted == paging::huge) ::madvise(data_.get(), size / huge_page * huge_page, MADV_HUGEPAGE);
    else ::madvise(data_.get(), size, MADV_NOHUGEPAGE);
  }
  char* data() const { return data_.get(); }
  int64 bytes() const { return bytes_; }

 private:
  static constexpr size_t huge_page = size_t{2} << 20;

  /// `size` bytes that begin with a huge page; null where there is no room.
  static char* map(size_t size) {
    const size_t room = size + huge_page;
    void* const mapped = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char* const first = static_cast<char*>(mapped);
    const size_t before = (huge_page - reinterpret_cast<uintptr_t>(first) % huge_page) % huge_page;
    if (before) ::munmap(first, before);
    ::munmap(first + before + size, room - before - size);
    return first + before;
  }

  using memory = std::unique_ptr<char[], detail::release>;

  memory data_;
  int64 bytes_ = 0;
};

/// How a contraction reads a weight: a matrix [n,k] in one of two orders, or `count` of them behind each other.
struct interleaved_form {
  int64 count = 1, n = 0, k = 0;
  matrix_order order = matrix_order::nk;
  bool operator==(const interleaved_form&) const = default;
};

/// Whether equation `id` contracts over its second operand as one matrix, or one of several, and in which form.
inline bool contracts_over(const ir::graph_view& g, uint32 id, interleaved_form& form) {
  const ir::eqn& e = g[id];
  if (!ir::is_contraction(e.kind) || e.kind == ir::op::conv2d) return false;
  const tensor_type& w = g.type(g.operands(id)[1]);
  const bool indexed = g.operands(id).size() == 3;
  if (w.is_dynamic() || !can_interleave(w.element) || (!indexed && w.rank != 2)) return false;
  const bool transposed = indexed || (g.attrs(id).size() > 0 && g.attrs(id)[0] != 0);
  const int64 outer = w.extents[w.rank - 2].code, inner = w.extents[w.rank - 1].code;
  form = {indexed ? w.extents[0].code : 1, transposed ? outer : inner, transposed ? inner : outer,
          transposed ? matrix_order::nk : matrix_order::kn};
  return true;
}

/// A weight by name. `source` is the caller's memory: it must stay valid where an entry reads it.
struct stored_weight {
  buffer source{};
  interleaved_form form{};
  bool wants_form = false;    ///< an entry contracts over it
  bool reads_source = false;  ///< an entry reads the rows as they are
  uint64 loaded_at = 0;       ///< the number of its latest load; 0: it was never loaded
  storage interleaved{};

  /// Whether `source` may be gone.
  bool released() const { return loaded_at > 0 && !reads_source; }
  int64 matrix_bytes() const { return interleaved_bytes(source.type.element, form.n, form.k); }
  weights matrix(int64 number) const {
    return {source.type.element, form.n, form.k,
            reinterpret_cast<const uint8*>(interleaved.data()) + number * matrix_bytes()};
  }
};

class shared_memory {
 public:
  /// Takes the weights and states of an entry. Throws where an earlier entry has something else under a name.
  void declare(const ir::graph_view& g) { names_.add(g); }
  stored_weight& weight(std::string_view name) { return weights_[std::string(name)]; }
  stored_weight* find_weight(std::string_view name) {
    const auto at = weights_.find(std::string(name));
    return at == weights_.end() ? nullptr : &at->second;
  }

  /// Interleaves the weight for the contractions of all entries. Returns whether some entry still reads `b` itself. Throws
  /// before anything is read where `b` does not fit what they declare.
  bool load(std::string_view name, const buffer& b, pool& threads) {
    stored_weight* w = find_weight(name);
    if (!w) fail(text{} << "load_weight \"" << name << "\": no entry has a weight of this name");
    check_fits("load_weight", name, *names_.weight(name), b);
    w->source = b;
    if (w->wants_form) {
      const interleaved_form& f = w->form;
      if (!w->interleaved.data()) w->interleaved = storage(w->matrix_bytes() * f.count);
      const int64 all = groups(f.n), source_bytes = byte_size(b.type.element, f.n * f.k);
      threads.parallel(f.count * all, [&](int64 begin, int64 end, int) {
        for (int64 i = begin; i < end; ++i)
          interleave(b.type.element, f.n, f.k, static_cast<const uint8*>(b.data) + i / all * source_bytes, f.order, 0,
                     w->interleaved.data() + i / all * w->matrix_bytes(), i % all, i % all + 1);
      });
    } else {
      w->reads_source = true;
    }
    w->loaded_at = ++loads_;
    return w->reads_source;
  }
  /// How many weights were loaded, one as often as it was.
  uint64 loads() const { return loads_; }

  /// The memory of a state, zero when first asked for.
  storage& state(std::string_view name, int64 bytes) {
    const auto [at, fresh] = states_.try_emplace(std::string(name));
    if (fresh) at->second = storage(bytes, paging::as_filled);
    return at->second;
  }

  /// Bytes held for weights and states.
  int64 device_bytes() const {
    int64 bytes = 0;
    for (const auto& [name, w] : weights_) bytes += w.interleaved.bytes();
    for (const auto& [name, s] : states_) bytes += s.bytes();
    return bytes;
  }

 private:
  shared_names names_;
  std::map<std::string, stored_weight> weights_;
  uint64 loads_ = 0;
  std::map<std::string, storage> states_;
};

}  // namespace poot::run::host

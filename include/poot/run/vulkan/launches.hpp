#pragma once
/// The launches of a program, ready to be dispatched: kernels generated, written, compiled and loaded; the words of their
/// metadata; what they bind.

#include <poot/emit/write.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/grid.hpp>
#include <poot/run/extents.hpp>
#include <poot/run/launch_key.hpp>
#include <poot/run/vulkan/opened_device.hpp>

#include <algorithm>

namespace poot::run::vulkan {

/// A launch. Its kernel binds the buffers that it reads, its metadata, and the buffers that it writes, in this order.
struct prepared_launch {
  const pipeline* code = nullptr;
  uint32 text = 0;             ///< its kernel among those that were generated with it
  uint32 equation = 0;         ///< the first that it computes
  uint32 workgroup = 1;
  uint32 work = 1;             ///< words of metadata that count it
  bool by_group = false;       ///< its metadata counts workgroups, not invocations
  bool follows_counts = false; ///< its metadata depends on dynamic extents
  uint32 chunks = 1;           ///< dispatches, of as many workgroups each
  uint32 reads = 0;
  vec<uint32> bindings;        ///< values
  vec<kernel::meta_word> metadata;
  int64 words_at = 0;          ///< bytes, in the memory for metadata: that of the first chunk
  int64 word_bytes = 0;        ///< of a chunk's metadata
  int64 step = 0;              ///< bytes from a chunk's metadata to the next
  int64 groups_at = 0;         ///< bytes: three words, the workgroups of each chunk
};

class launches {
 public:
  launches(const plan::program_view& p, opened_device& d) : p_(p), device_(d) {
    generator first(*this), rest(*this);
    for (const plan::launch& l : p.prologue) prologue.push_back(first(l));
    for (const plan::launch& l : p.launches) main.push_back(rest(l));
    prologue_texts_ = std::move(first.texts);
    load(main, rest.texts);
    each([&](prepared_launch& l) { place_words(l); });
    each([&](prepared_launch& l) { l.groups_at = 4 * std::exchange(word_count_, word_count_ + 3); });
    words_.resize(static_cast<size_t>(word_count_), 0);
  }

  std::vector<prepared_launch> prologue, main;

  /// Loads the kernels of the prologue, which need not run where what it makes is known.
  void load_prologue() { load(prologue, prologue_texts_); }
  /// What the prologue computes, with the count of its kernels for a start: kernels and metadata.
  uint64 hash_prologue() const {
    uint64 h = prologue.size();
    for (const prepared_launch& l : prologue) {
      h = mix(h, hash_text(prologue_texts_[l.text].glsl));
      for (size_t i = 0; i < l.metadata.size(); ++i) h = mix(h, words_[static_cast<size_t>(l.words_at) / 4 + i]);
    }
    return h;
  }

  /// Computes metadata and workgroups from the extents of a run: of every launch, or of those that follow them.
  void count(const extent_counts& counts, bool all) {
    each([&](const prepared_launch& l) {
      if (all || l.follows_counts) count(l, counts);
    });
  }
  /// Metadata and workgroups of every launch, as the device reads them.
  const std::vector<uint32>& words() const { return words_; }
  int64 word_bytes() const { return 4 * word_count_; }
  uint32 groups(const prepared_launch& l, int axis) const { return words_[static_cast<size_t>(l.groups_at / 4 + axis)]; }

 private:
  template <class Visit>
  void each(Visit visit) {
    for (prepared_launch& l : prologue) visit(l);
    for (prepared_launch& l : main) visit(l);
  }

  /// Prepares launches one after another. Those that differ in their values only share what was generated for the first.
  struct generator {
    explicit generator(const launches& of) : of_(of) {}

    prepared_launch operator()(const plan::launch& l) {
      launch_key key(of_.p_, l);
      const auto [at, fresh] = known_.try_emplace(key.facts);
      prepared_launch r;
      if (!fresh && translate(at->second, key, r)) {
        r.equation = of_.p_(l.members)[0];
        return r;
      }
      r = of_.prepare(l, texts);
      if (fresh) at->second = {r, std::move(key.values)};
      return r;
    }

    std::vector<kernel_text> texts;

   private:
    struct generated {
      prepared_launch launch;
      std::vector<uint32> values;  ///< of its key
    };

    /// `from` with the values that `to` has under the same numbers; false where it reads a value that has none.
    static bool translate(const generated& from, const launch_key& to, prepared_launch& r) {
      bool found = true;
      const auto other = [&](uint32 value) {
        size_t i = 0;
        while (i < from.values.size() && from.values[i] != value) ++i;
        found = found && i < from.values.size();
        return found ? to.values[i] : value;
      };
      r = from.launch;
      for (uint32& value : r.bindings) value = other(value);
      for (kernel::meta_word& m : r.metadata)
        if (m.kind != kernel::meta_word::what::fixed) m.value = other(m.value);
      return found;
    }

    const launches& of_;
    std::map<std::vector<int64>, generated> known_;
  };

  void load(std::vector<prepared_launch>& all, const std::vector<kernel_text>& texts) {
    const std::vector<const pipeline*> code = device_.kernels.make(texts);
    for (prepared_launch& l : all) l.code = code[l.text];
  }

  prepared_launch prepare(const plan::launch& l, std::vector<kernel_text>& texts) const {
    kernel::kernel k = kernel::generate(p_, l);
    prepared_launch r;
    r.text = static_cast<uint32>(texts.size());
    r.equation = p_(l.members)[0];
    r.workgroup = k.workgroup;
    r.by_group = k.by_group;
    r.work = k.work;
    r.reads = k.reads();
    r.chunks = l.chunks;
    const device_caps& has = device_.is.caps;
    const auto most = [&](int64 asked, int64 there, const char* capability, const char* what) {
      if (asked > there) refuse(r.equation, text{} << asked << what << ", and the device allows " << there << " (" << capability << ')');
    };
    most(static_cast<int64>(k.bindings.size()), has.max_buffers, "max_buffers", " buffers");
    most(k.workgroup, has.max_workgroup, "max_workgroup", " invocations in a workgroup");
    most(k.shared_bytes(), has.shared_bytes, "shared_bytes", " bytes of workgroup memory");
    emit::options wanted = device_.open.about().float_controls;
    wanted.comments = false;
    wanted.div_exact = has.div_exact;
    wanted.sqrt_exact = has.sqrt_exact;
    wanted.flushes = has.flushes;
    texts.push_back({std::string((text("%") << r.equation << ' ' << ir::name(p_.graph[r.equation].kind)).str()),
                     std::string(emit::write(k, emit::dialect::glsl, wanted).str()), static_cast<uint32>(k.bindings.size()) + 1});
    r.bindings = std::move(k.bindings);
    r.metadata = std::move(k.metadata);
    for (const kernel::meta_word& m : r.metadata) r.follows_counts = r.follows_counts || follows_counts(m);
    return r;
  }

  bool follows_counts(const kernel::meta_word& m) const {
    if (m.kind == kernel::meta_word::what::fixed) return false;
    if (m.kind != kernel::meta_word::what::offset) return p_.graph.type(m.value).is_dynamic();
    for (uint32 at = m.value;; at = p_.placements[at].index) {
      if (p_.graph.type(at).is_dynamic()) return true;
      if (p_.placements[at].where != plan::place::view && p_.placements[at].where != plan::place::window) return false;
    }
  }

  /// A chunk's metadata has its first workgroup behind it.
  void place_words(prepared_launch& l) {
    const auto alignment = static_cast<int64>(device_.open.about().properties.limits.minStorageBufferOffsetAlignment) / 4;
    const int64 words = alignment > 4 ? alignment : 4;
    const auto aligned = [&](int64 count) { return (count + words - 1) / words * words; };
    const int64 count = static_cast<int64>(l.metadata.size()) + (l.chunks > 1);
    word_count_ = aligned(word_count_);
    l.words_at = 4 * word_count_;
    l.word_bytes = 4 * count;
    l.step = 4 * aligned(count);
    word_count_ += aligned(count) * (l.chunks - 1) + count;
  }

  void count(const prepared_launch& l, const extent_counts& counts) {
    uint32* const words = words_.data() + l.words_at / 4;
    for (size_t i = 0; i < l.metadata.size(); ++i)
      words[i] = kernel::evaluate(l.metadata[i], p_, [&](uint32 id) { return counts(p_.graph.type(id)); });
    const uint32 all = kernel::workgroups(words, l.work, l.by_group, l.workgroup);
    const device_caps& planned = p_.planned_for.caps;
    const kernel::grid each = kernel::chunk(all, l.chunks, static_cast<uint32>(planned.max_groups_x), static_cast<uint32>(planned.max_groups_y));
    if (each.y == 0)
      refuse(l.equation, text{} << all << " workgroups, and the program runs it in " << l.chunks << " chunks of up to " << planned.max_groups_x
                                << " by " << planned.max_groups_y << " (max_groups_x, max_groups_y)");
    for (uint32 i = 0; l.chunks > 1 && i < l.chunks; ++i) {
      uint32* const own = words + i * (l.step / 4);
      if (i > 0) std::copy_n(words, l.metadata.size(), own);
      own[l.metadata.size()] = i * each.x * each.y;
    }
    uint32* const groups = words_.data() + l.groups_at / 4;
    groups[0] = each.x;
    groups[1] = each.y;
    groups[2] = 1;
  }

  [[noreturn]] void refuse(uint32 equation, const text& why) const {
    fail(text{} << "load: %" << equation << " (" << ir::name(p_.graph[equation].kind) << ") cannot run on " << device_.open.about().name()
                << ": it needs " << why);
  }

  plan::program_view p_;
  opened_device& device_;
  std::vector<kernel_text> prologue_texts_;
  std::vector<uint32> words_;
  int64 word_count_ = 0;
};

}  // namespace poot::run::vulkan

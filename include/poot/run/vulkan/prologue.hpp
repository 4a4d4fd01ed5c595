#pragma once
/// Tables that launches make from tables when a program is loaded: what they made once on a device is kept on disk.

#include <poot/run/vulkan/launches.hpp>
#include <poot/run/vulkan/placing.hpp>

namespace poot::run::vulkan {

namespace detail {

inline constexpr int64 most_kept_tables = int64{16} << 20;  ///< bytes

/// Whether the prologue depends on tables alone, of a size worth keeping.
inline bool can_keep_tables(const plan::program_view& p, const launches& l, const program_memory& m) {
  bool tables_only = m.tables().bytes() <= most_kept_tables;
  for (const prepared_launch& one : l.prologue)
    for (uint32 value : one.bindings) tables_only = tables_only && p.placements[p.storage_of(value)].where == plan::place::table;
  return tables_only;
}

/// Says what the prologue makes of `bytes`, the tables before it: by which kernels, of what, in which places.
inline std::string tables_key(const launches& l, const program_memory& m, const context& c, const std::vector<uint8>& bytes) {
  uint64 places = 0;
  for (const prepared_launch& one : l.prologue)
    for (uint32 value : one.bindings) places = mix(mix(places, static_cast<uint64>(m.whole(value).offset)), one.reads);
  uint64 content = bytes.size();
  for (size_t at = 0; at < bytes.size(); at += 8) {  // whole words: sizes are aligned
    uint64 word;
    std::memcpy(&word, &bytes[at], 8);
    content = mix(content, word);
  }
  text key;
  key << "tables\n" << c.identity().c_str() << '\n' << l.hash_prologue() << ' ' << places << ' ' << content;
  return std::string(key.str());
}

}  // namespace detail

/// Makes the tables of `p` that its prologue computes, by `compute()` where they are not on disk. Constants are in place.
template <class Compute>
void fill_tables(const plan::program_view& p, const launches& l, program_memory& m, opened_device& d, Compute compute) {
  if (l.prologue.empty()) return;
  if (!detail::can_keep_tables(p, l, m)) return compute();
  std::vector<uint8> bytes(static_cast<size_t>(m.tables().bytes()));
  m.tables().read(0, bytes.data(), m.tables().bytes());
  const std::string key = detail::tables_key(l, m, d.open, bytes);
  if (const auto known = d.kernels.kept().find(key); known && known->size() == bytes.size()) {
    m.tables().write(0, known->data(), m.tables().bytes());
    ++d.open.cache_hits;
    return;
  }
  compute();
  m.tables().read(0, bytes.data(), m.tables().bytes());
  d.kernels.kept().keep(key, {bytes.data(), bytes.size()});
}

}  // namespace poot::run::vulkan

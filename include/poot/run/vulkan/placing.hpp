#pragma once
/// Where the values of a program lie on a device: its placements, as buffers and offsets.

#include <poot/run/extents.hpp>
#include <poot/run/vulkan/commands.hpp>
#include <poot/run/vulkan/memory.hpp>

#include <algorithm>

namespace poot::run::vulkan {

/// Offsets of arrays that keep apart what `from` keeps apart, each a multiple of `alignment`. The order of arrays stays.
/// Returns the bytes that they span.
inline int64 realign(vec<int64>& from, view<int64> bytes, int64 alignment) {
  const auto aligned = [&](int64 at) { return (at + alignment - 1) / alignment * alignment; };
  vec<uint32> order;  // by where they begin
  for (uint32 i = 0; i < from.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](uint32 a, uint32 b) { return from[a] < from[b]; });
  vec<int64> to(from.size(), 0);
  vec<uint32> ends = order;  // by where they end; those of no bytes after others
  std::sort(ends.begin(), ends.end(), [&](uint32 a, uint32 b) {
    const int64 a_end = from[a] + bytes[a], b_end = from[b] + bytes[b];
    return a_end != b_end ? a_end < b_end : from[a] < from[b];
  });
  int64 taken = 0, span = 0;
  size_t done = 0;
  for (uint32 i : order) {
    for (; done < ends.size() && from[ends[done]] + bytes[ends[done]] <= from[i] && from[ends[done]] < from[i]; ++done)
      taken = std::max(taken, to[ends[done]] + bytes[ends[done]]);
    to[i] = aligned(taken);
    span = std::max(span, to[i] + bytes[i]);
  }
  from = std::move(to);
  return span;
}

/// The memory of one program. Leaves and results are placed by their owner.
class program_memory {
 public:
  program_memory(const plan::program_view& p, context& c) : leaves(p.graph.size(), nullptr), results(p.graph.outputs.size(), nullptr), p_(p) {
    offsets_.resize(p.graph.size(), 0);
    arena_ = make(plan::place::arena, c, "transient values");
    tables_ = make(plan::place::table, c, "constants and tables");
  }

  vec<const storage*> leaves;   ///< per leaf
  vec<const storage*> results;  ///< per output: of those that are no states

  /// The storage that value `id` lies in, dynamic extents at their bound, rounded up to whole words.
  range whole(uint32 id) const {
    id = p_.storage_of(id);
    const int64 bytes = p_.graph.type(id).bytes();
    const storage& in = memory_of(id);
    return {in.handle(), offsets_[id], bytes > 0 ? (bytes + 3) / 4 * 4 : 4, false};
  }
  /// Value `id` itself, of concrete type `t`, `offset` elements into its storage.
  range exact(uint32 id, const tensor_type& t, int64 offset) const {
    const uint32 root = p_.storage_of(id);
    return {memory_of(root).handle(), offsets_[root] + byte_size(t.element, offset), t.bytes(), false};
  }
  /// Everything that is made once: constants, index tables, what the prologue computes.
  const storage& tables() const { return tables_; }
  storage& tables() { return tables_; }
  void write_table(uint32 id, const void* from, int64 bytes) { tables_.write(offsets_[id], from, bytes); }

 private:
  const storage& memory_of(uint32 root) const {
    const plan::placement& at = p_.placements[root];
    const storage* found = nullptr;
    switch (at.where) {
      case plan::place::leaf: found = leaves[root]; break;
      case plan::place::state: found = leaves[at.index]; break;
      case plan::place::output: {
        const uint32 state = p_.graph.state_of(p_.graph.outputs[at.index]);
        found = state < p_.graph.size() ? leaves[state] : results[at.index];
        break;
      }
      case plan::place::table: found = &tables_; break;
      case plan::place::arena: found = &arena_; break;
      default: break;
    }
    if (!found) fail(text{} << "load: %" << root << " has no memory");
    return *found;
  }

  /// One buffer for every value that lies in `where`.
  storage make(plan::place where, context& c, std::string_view what) {
    vec<uint32> ids;
    vec<int64> offsets, bytes;
    for (uint32 id = 0; id < p_.graph.size(); ++id) {
      if (p_.placements[id].where != where) continue;
      ids.push_back(id);
      offsets.push_back(p_.placements[id].offset);
      bytes.push_back(plan::aligned(p_.graph.type(id).bytes()));
    }
    const auto alignment = static_cast<int64>(c.about().properties.limits.minStorageBufferOffsetAlignment);
    int64 span = where == plan::place::arena ? p_.arena_bytes : p_.table_bytes;
    if (alignment > plan::alignment) span = realign(offsets, bytes, alignment);
    for (uint32 i = 0; i < ids.size(); ++i) offsets_[ids[i]] = offsets[i];
    return storage(c, span + plan::alignment, use::work, what);  // a value of no bytes binds a word behind the last
  }

  plan::program_view p_;
  vec<int64> offsets_;  ///< per storage in the arena or in the tables
  storage arena_, tables_;
};

}  // namespace poot::run::vulkan

#pragma once
/// Runs a tile program on one thread: binds registers to memory tile by tile and calls the instructions.

#include <poot/run/host/tile_geometry.hpp>

#include <cstdlib>

namespace poot::run::host {

/// What a region reads and writes, in the order of the program's inputs and outputs. Buffers need the alignment of
/// their elements only. An output may be the buffer of an input of the same extents (exact aliasing).
struct region_buffers {
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
};

/// How the outputs of one run are stored; the same for all threads.
struct store_policy {
  bool stream = false;  ///< past the caches
  bool direct = true;   ///< instructions may write the buffers themselves
  bool ahead = false;   ///< inputs come from memory: ask for them early
};

/// Scratch memory of a thread, aligned to 64 bytes; grows to the largest program that it has run.
class thread_scratch {
 public:
  ~thread_scratch() { std::free(memory_); }
  static char* get(size_t bytes) {
    static thread_local thread_scratch own;
    if (bytes > own.size_) own.grow(bytes);
    return own.memory_;
  }

 private:
  void grow(size_t bytes) {
    std::free(memory_);
    size_ = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    memory_ = static_cast<char*>(std::aligned_alloc(4096, size_));
    if (!memory_) {
      size_ = 0;
      throw std::bad_alloc();
    }
  }
  char* memory_ = nullptr;
  size_t size_ = 0;
};

class tile_executor {
 public:
  tile_executor(const tile_program& p, const tile_geometry& g, region_buffers buffers, store_policy policy)
      : p_(p), g_(g), buffers_(buffers), policy_(policy), cursor_(g, place()) {
    for (size_t i = 0; i < p_.inputs.size(); ++i)
      if (p_.inputs[i].level == value_level::uniform) load_one(p_.inputs[i], static_cast<const char*>(buffers_.inputs[i]));
    run(p_.once, uniform_elements);
    for (const tile_phase& phase : p_.phases)
      for (const tile_reduction& r : phase.reductions) r.run.begin(scratch_ + r.state, nullptr, nullptr, nullptr, 0);
  }

  /// Units of a pointwise region: up to 512 elements of one row, or whole short rows.
  static int64 rows_of_unit(const tile_geometry& g) { return g.cols < tile_elements && g.cols > 0 ? tile_elements / g.cols : 1; }
  static int64 units_of_row(const tile_geometry& g) { return (g.cols + tile_elements - 1) / tile_elements; }

  void run_units(int64 begin, int64 end) {
    const int64 per_row = units_of_row(g_), per_unit = rows_of_unit(g_);
    int64 row = begin / per_row * per_unit, unit = begin % per_row;
    cursor_.seek(row);
    for (int64 u = begin; u < end; ++u) {
      const int64 left = g_.cols - unit * tile_elements;
      const int cols = static_cast<int>(left < tile_elements ? left : tile_elements);
      const int rows = static_cast<int>(g_.rows - row < per_unit ? g_.rows - row : per_unit);
      block(row, rows, unit * tile_elements, cols, nullptr, 0, 0);
      if (++unit < per_row) continue;
      unit = 0;
      row += rows;
      if (rows == 1) cursor_.next();
    }
  }

  /// Rows of a row region.
  void run_rows(int64 begin, int64 end) {
    cursor_.seek(begin);
    for (int64 row = begin; row < end; ++row, cursor_.next()) {
      for (size_t i = 0; i < p_.inputs.size(); ++i)
        if (p_.inputs[i].level == value_level::row) load_one(p_.inputs[i], address(i, cursor_[i]));
      run(p_.before, uniform_elements);
      for (const tile_phase& phase : p_.phases) run_phase(phase, row);
      for (size_t i = 0; i < p_.outputs.size(); ++i)
        if (const tile_output& o = p_.outputs[i]; o.level != value_level::tile)
          o.store(out_address(o, i, row), table_[o.slot], nullptr, nullptr, 1);
    }
  }

  /// Part of a contraction's result: rows row0 … of batch entry `batch`, columns col0 …, whose f32 values stand at
  /// `tile`, `ld` elements from row to row and `between` from one contraction's to the next.
  void run_epilogue(int64 batch, int64 row0, int rows, int64 col0, int cols, const float* tile, int64 ld, int64 between) {
    if (cols <= 0) return;
    int64 row = batch * g_.rows_of_batch + row0;
    cursor_.seek(row);
    const int per_block = cols < tile_elements ? tile_elements / cols : 1;
    while (rows > 0) {
      const int now = rows < per_block ? rows : per_block;
      for (int c = 0; c < cols; c += tile_elements)
        block(row, now, col0 + c, cols - c < tile_elements ? cols - c : tile_elements, tile + c, ld, between);
      if (now == 1) cursor_.next();
      row += now, rows -= now, tile += now * ld;
    }
  }

 private:
  /// Elements between what a pointwise region computes and what it fetches.
  static constexpr int64 fetch_distance = 2 * tile_elements;

  static constexpr int rounded_up(int count) { return (count + uniform_elements - 1) / uniform_elements * uniform_elements; }

  /// Lays out the scratch memory; returns the place of the cursor's offsets.
  int64* place() {
    size_t bytes = p_.scratch_bytes;
    const size_t padded = static_cast<size_t>(g_.cols + tile_elements) / uniform_elements * uniform_elements;
    const size_t kept_at = bytes;
    for (const kept_row& k : p_.kept) bytes += (padded * static_cast<size_t>(k.bytes) + 63) / 64 * 64;
    const size_t table_at = bytes, offsets_at = table_at + p_.registers.size() * sizeof(char*);
    char* const base = thread_scratch::get(offsets_at + p_.inputs.size() * sizeof(int64) + 64);
    scratch_ = base;
    kept_ = base + kept_at;
    kept_elements_ = padded;
    table_ = reinterpret_cast<char**>(base + table_at);
    const char* const constants = reinterpret_cast<const char*>(p_.constants.data());
    for (size_t r = 0; r < p_.registers.size(); ++r) {
      const tile_register& reg = p_.registers[r];
      if (reg.kind == register_kind::constant) table_[r] = const_cast<char*>(constants + reg.at);
      else if (reg.kind == register_kind::kept) table_[r] = kept_row_of(reg.at);
      else if (reg.kind == register_kind::table) table_[r] = reinterpret_cast<char*>(table_);
      else table_[r] = base + reg.at;
    }
    return reinterpret_cast<int64*>(base + offsets_at);
  }
  char* kept_row_of(uint32 number) const {
    char* row = kept_;
    for (uint32 i = 0; i < number; ++i) row += (kept_elements_ * static_cast<size_t>(p_.kept[i].bytes) + 63) / 64 * 64;
    return row;
  }

  void run(const vec<tile_instruction>& list, int count, bool streams) const {
    for (const tile_instruction& i : list)
      i.run(table_[i.out], table_[i.in[0]], table_[i.in[1]], table_[i.in[2]], streams && i.to_output ? count | stream_flag : count);
  }
  void run(const vec<tile_instruction>& list, int count) const {
    for (const tile_instruction& i : list) i.run(table_[i.out], table_[i.in[0]], table_[i.in[1]], table_[i.in[2]], count);
  }

  const char* address(size_t input, int64 element) const {
    return static_cast<const char*>(buffers_.inputs[input]) + element * row(p_.inputs[input].type.element).block_bytes;
  }
  char* out_address(const tile_output& o, size_t output, int64 element) const {
    return static_cast<char*>(buffers_.outputs[output]) + element * row(o.type.element).block_bytes;
  }
  static const dtype_row& row(dtype t) { return poot::row(t); }

  void load_one(const tile_input& in, const char* from) const {
    alignas(64) char first[64];
    in.load(first, from, nullptr, nullptr, 1);
    in.fill(scratch_ + p_.registers[in.slot].at, first, nullptr, nullptr, uniform_elements);
  }

  /// `count` elements of one row of an input, `step` 1 or 0, into its slot or, where the memory serves, by pointing there.
  void bind(const tile_input& in, const char* from, int64 step, int count) const {
    char* const slot = scratch_ + p_.registers[in.slot].at;
    if (step == 1 && count % uniform_elements == 0 && is_carried_as_stored(in.type.element)) {
      table_[in.slot] = const_cast<char*>(from);
      return;
    }
    table_[in.slot] = slot;
    copy(in, slot, from, step, count);
  }
  static void copy(const tile_input& in, char* slot, const char* from, int64 step, int count) {
    if (step == 1 || count == 1) return in.load(slot, from, nullptr, nullptr, count);
    alignas(64) char first[64];
    in.load(first, from, nullptr, nullptr, 1);
    in.fill(slot, first, nullptr, nullptr, count);
  }

  /// `rows` rows (whole, or parts of the same columns) as one tile. Advances the cursor when there are several.
  void block(int64 row, int rows, int64 col, int cols, const float* heads, int64 ld, int64 between) {
    const tile_phase& phase = p_.phases[0];
    const int count = rows * cols;
    bool scattered = false;
    for (const uint16 i : phase.inputs) {
      const tile_input& in = p_.inputs[i];
      const input_walk& walk = g_.inputs[i];
      if (in.is_head() && (rows == 1 || ld == cols)) bind(in, reinterpret_cast<const char*>(heads + in.head * between), 1, count);
      else if (!in.is_head() && walk.dense && (rows == 1 || cols == g_.cols)) bind(in, address(i, row * g_.cols + col), 1, count);
      else if (rows == 1) bind(in, address(i, cursor_[i] + col * walk.col_stride), walk.col_stride, count);
      else scattered = true;
    }
    if (rows > 1) {
      for (int r = 0; r < rows; ++r, cursor_.next()) {
        if (!scattered) continue;
        for (const uint16 i : phase.inputs) {
          const tile_input& in = p_.inputs[i];
          const input_walk& walk = g_.inputs[i];
          if (in.is_head() ? ld == cols : walk.dense && cols == g_.cols) continue;
          char* const slot = scratch_ + p_.registers[in.slot].at;
          table_[in.slot] = slot;
          char* const to = slot + r * cols * carried_bytes(in.type.element);
          if (in.is_head()) copy(in, to, reinterpret_cast<const char*>(heads + in.head * between + r * ld), 1, cols);
          else copy(in, to, address(i, cursor_[i] + col * walk.col_stride), walk.col_stride, cols);
        }
      }
    }
    if (policy_.ahead && !heads) fetch(phase, row * g_.cols + col + fetch_distance, count);
    const bool contiguous = rows == 1 || cols == g_.cols;
    const bool direct = bind_outputs(phase, row * g_.cols + col, contiguous ? count : 1);
    run(phase.instructions, rounded_up(count), direct && policy_.stream);
    if (contiguous) return store(phase, row * g_.cols + col, count, direct);
    for (int r = 0; r < rows; ++r) store(phase, (row + r) * g_.cols + col, cols, false, r * cols);
  }

  /// Asks for elements of the dense inputs of a phase; they may lie beyond the end.
  void fetch(const tile_phase& phase, int64 element, int count) const {
    for (const uint16 i : phase.inputs) {
      if (!g_.inputs[i].dense || p_.inputs[i].is_head()) continue;
      const char* const from = address(i, element);
      const int64 bytes = int64{count} * row(p_.inputs[i].type.element).block_bytes;
      for (int64 b = 0; b < bytes; b += 64) __builtin_prefetch(from + b, 0, 2);
    }
  }

  /// Points the outputs that allow it at their buffers; says whether they do.
  bool bind_outputs(const tile_phase& phase, int64 element, int count) const {
    const bool direct = policy_.direct && count % uniform_elements == 0;
    for (const uint16 i : phase.outputs) {
      const tile_output& o = p_.outputs[i];
      if (o.direct) table_[o.slot] = direct && (!policy_.stream || o.streamed) ? out_address(o, i, element) : scratch_ + p_.registers[o.slot].at;
    }
    return direct;
  }
  void store(const tile_phase& phase, int64 element, int count, bool direct, int64 from = 0) const {
    for (const uint16 i : phase.outputs) {
      const tile_output& o = p_.outputs[i];
      if (o.direct && direct && (!policy_.stream || o.streamed)) continue;
      (policy_.stream && o.stream ? o.stream : o.store)(out_address(o, i, element),
                                                        table_[o.slot] + from * carried_bytes(o.type.element), nullptr, nullptr, count);
    }
  }

  /// Lanes that the elements of the last chunk reached.
  static int lanes_used(int64 elements) { return elements < sum_lanes ? static_cast<int>(elements) : sum_lanes; }

  void run_phase(const tile_phase& phase, int64 row) {
    for (const tile_reduction& r : phase.reductions) r.run.begin(scratch_ + r.state, nullptr, nullptr, nullptr, 1);
    for (int64 col = 0; col < g_.cols; col += tile_elements) {
      const int64 left = g_.cols - col;
      const int count = static_cast<int>(left < tile_elements ? left : tile_elements);
      for (const uint16 i : phase.inputs)
        bind(p_.inputs[i], address(i, cursor_[i] + col * g_.inputs[i].col_stride), g_.inputs[i].col_stride, count);
      // the first phase waits for memory, the second for arithmetic: it fetches the next row
      if (policy_.ahead && &phase == &p_.phases[0] + 1) {
        const tile_phase& first = p_.phases[0];
        if (phase.fetches < 0) fetch(first, (row + 1) * g_.cols + col, count);
        else if (g_.inputs[first.inputs[0]].dense) table_[phase.fetches] = const_cast<char*>(address(first.inputs[0], (row + 1) * g_.cols + col));
      }
      for (const uint16 r : phase.kept)
        table_[r] = kept_row_of(p_.registers[r].at) + col * p_.kept[p_.registers[r].at].bytes;
      const bool direct = bind_outputs(phase, row * g_.cols + col, count);
      for (const tile_reduction& r : phase.reductions)
        if (r.is_step) reinterpret_cast<int32*>(scratch_ + r.state)[sum_count_word] = count;
      run(phase.instructions, rounded_up(count), direct && policy_.stream);
      for (const tile_reduction& r : phase.reductions) {
        if (!r.is_step) r.run.step(scratch_ + r.state, table_[r.operand], nullptr, nullptr, count);
        if (const int64 done = col + count; done % r.chunk == 0 || done == g_.cols)
          r.run.fold(scratch_ + r.state, nullptr, nullptr, nullptr, lanes_used(done % r.chunk ? done % r.chunk : r.chunk));
      }
      store(phase, row * g_.cols + col, count, direct);
    }
    for (const tile_reduction& r : phase.reductions) r.run.finish(table_[r.out], scratch_ + r.state, nullptr, nullptr, 0);
    run(phase.after, uniform_elements);
  }

  const tile_program& p_;
  const tile_geometry& g_;
  const region_buffers buffers_;
  const store_policy policy_;
  char* scratch_ = nullptr;
  char* kept_ = nullptr;
  size_t kept_elements_ = 0;
  char** table_ = nullptr;
  row_cursor cursor_;
};

}  // namespace poot::run::host

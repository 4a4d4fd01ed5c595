#pragma once
// An independent evaluation of regions, element by element over ir/evaluate, and what runs a region beside it.

#include <doctest/doctest.h>

#include <poot/run/host/region.hpp>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace region_test {

using namespace poot;
using namespace poot::run;
using namespace poot::run::host;
using ir::op;

struct random_numbers {
  uint64 state;
  explicit random_numbers(uint64 seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64 next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
  }
  int below(int n) { return static_cast<int>((next() >> 33) % static_cast<uint64>(n)); }
};

/// Bits of a tensor's elements, row-major.
struct tensor {
  dtype element = f32;
  std::vector<int64> extents;
  std::vector<uint64> bits;
};

using counts_list = std::vector<extent_count>;

inline std::vector<int64> extents_of(const tensor_type& t, const counts_list& counts) {
  std::vector<int64> r;
  for (int i = 0; i < t.rank; ++i) r.push_back(count_of(t.extents[i], {counts.data(), counts.size()}));
  return r;
}
inline int64 product(const std::vector<int64>& e) {
  int64 n = 1;
  for (int64 x : e) n *= x;
  return n;
}

/// The element of `from` that stands for element `index` of a tensor with extents `to`.
inline uint64 broadcast_bits(const tensor& from, const std::vector<int64>& to, int64 index) {
  int64 offset = 0, step = 1;
  for (size_t i = to.size(); i-- > 0;) {
    const int64 at = index % to[i];
    index /= to[i];
    const size_t shift = to.size() - from.extents.size();
    if (i < shift) continue;
    const int64 count = from.extents[i - shift];
    if (count != 1) offset += at * step;
    step *= count;
  }
  return from.bits[static_cast<size_t>(offset)];
}

template <class Float>
Float canonical_sum(const std::vector<Float>& x) {
  Float total = 0;
  for (size_t chunk = 0; chunk < x.size(); chunk += 4096) {
    Float lane[256] = {};
    for (size_t i = chunk; i < x.size() && i < chunk + 4096; ++i) lane[(i - chunk) % 256] = ieee::add(lane[(i - chunk) % 256], x[i]);
    for (int half = 128; half; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = ieee::add(lane[i], lane[i + half]);
    total = ieee::add(total, lane[0]);
  }
  return total;
}

inline double value_of(dtype t, uint64 bits) {
  if (is_float(t)) return ieee::from_bits(convert_bits(format_of(t), binary64, bits));
  return static_cast<double>(ir::detail::load_integer(t, bits));
}

/// One reduction of the elements `x` of dtype `t`.
inline uint64 reduced(op o, dtype t, const std::vector<uint64>& x) {
  if (o == op::reduce_sum) {
    if (t == f64) {
      std::vector<double> v;
      for (uint64 b : x) v.push_back(ieee::from_bits(b));
      return ieee::to_bits(canonical_sum(v));
    }
    if (is_float(t)) {
      std::vector<float> v;
      for (uint64 b : x) v.push_back(ir::detail::load_float<float>(t, b));
      return ir::detail::store_float(t, canonical_sum(v));
    }
    uint64 sum = 0;
    for (uint64 b : x) sum += static_cast<uint64>(ir::detail::load_integer(t, b));
    return ir::detail::store_integer(t, sum);
  }
  if (o == op::reduce_argmax) {
    size_t best = 0;
    for (size_t i = 1; i < x.size(); ++i) {
      const double a = value_of(t, x[best]), b = value_of(t, x[i]);
      if (!ieee::is_nan(a) && (ieee::is_nan(b) || a < b)) best = i;
    }
    return best;
  }
  const bool largest = o == op::reduce_max;
  uint64 best;
  if (is_float(t)) best = format_of(t).infinity() | (largest ? format_of(t).sign_bit() : 0);
  else best = ir::detail::store_integer(t, static_cast<uint64>(largest ? ir::detail::range_of(t).lowest : ir::detail::range_of(t).highest));
  for (uint64 b : x) best = ir::evaluate(largest ? op::max : op::min, t, t, best, b);
  return best;
}

/// The value of equation `id` from those of its operands, in `values`.
inline tensor evaluate_equation(const ir::graph_view& g, uint32 id, const std::map<uint32, tensor>& values, const counts_list& counts) {
  const ir::eqn& e = g[id];
  tensor r{e.type.element, extents_of(e.type, counts), {}};
  std::vector<const tensor*> in;
  for (uint32 o : g.operands(e)) in.push_back(&values.at(o));
  const int64 n = product(r.extents);
  for (int64 i = 0; i < n; ++i) {
    if (ir::is_reduction(e.kind)) {
      const int64 length = in[0]->extents.back();
      std::vector<uint64> row(in[0]->bits.begin() + i * length, in[0]->bits.begin() + (i + 1) * length);
      r.bits.push_back(reduced(e.kind, in[0]->element, row));
    } else {
      uint64 v[3] = {};
      for (size_t k = 0; k < in.size(); ++k) v[k] = broadcast_bits(*in[k], r.extents, i);
      r.bits.push_back(ir::evaluate(e.kind, in.back()->element, e.type.element, v[0], v[1], v[2]));
    }
  }
  return r;
}

inline tensor constant_value(const ir::graph_view& g, uint32 id, const counts_list& counts) {
  tensor r{g.type(id).element, extents_of(g.type(id), counts), {}};
  r.bits.assign(static_cast<size_t>(product(r.extents)), static_cast<uint64>(g.attrs(id)[0]));
  for (uint64& b : r.bits)
    if (row(r.element).block_bytes < 8) b &= (uint64{1} << (8 * row(r.element).block_bytes)) - 1;
  return r;
}

/// Memory that ends where the elements end, `shift` bytes off alignment, so that a stray access hits the guards.
class guarded {
 public:
  guarded(dtype t, size_t count, size_t shift) : size_(row(t).block_bytes), count_(count), bytes_(size_ * count + 128 + shift, 0xa5), at_(64 + shift) {}
  void write(const std::vector<uint64>& bits) {
    for (size_t i = 0; i < bits.size(); ++i) std::memcpy(data() + i * size_, &bits[i], size_);
  }
  std::vector<uint64> read() const {
    std::vector<uint64> r(count_, 0);
    for (size_t i = 0; i < count_; ++i) std::memcpy(&r[i], bytes_.data() + at_ + i * size_, size_);
    return r;
  }
  unsigned char* data() { return bytes_.data() + at_; }
  bool guards_hold() const {
    for (size_t i = 0; i < bytes_.size(); ++i)
      if ((i < at_ || i >= at_ + size_ * count_) && bytes_[i] != 0xa5) return false;
    return true;
  }

 private:
  size_t size_, count_;
  std::vector<unsigned char> bytes_;
  size_t at_;
};

/// Equal bits, or both NaN.
inline bool same_value(dtype t, uint64 a, uint64 b) {
  if (a == b) return true;
  return is_float(t) && is_nan_bits(format_of(t), a) && is_nan_bits(format_of(t), b);
}

/// Runs the region on `values` and compares its outputs with those there. Returns what differs, empty if nothing.
inline std::string differs(const ir::graph_view& g, const region_members& members, const std::map<uint32, tensor>& values,
                           const counts_list& counts, pool* threads, size_t shift) {
  region r(g, members);
  std::vector<guarded> in, out;
  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers;
  for (const tile_input& i : r.program().inputs) {
    const tensor& t = values.at(i.id);
    in.emplace_back(t.element, t.bits.size(), shift * row(t.element).block_bytes);
    in.back().write(t.bits);
  }
  for (const tile_output& o : r.program().outputs) {
    const tensor& t = values.at(o.id);
    out.emplace_back(t.element, t.bits.size(), shift * row(t.element).block_bytes);
  }
  for (guarded& m : in) in_pointers.push_back(m.data());
  for (guarded& m : out) out_pointers.push_back(m.data());
  r.run({in_pointers.data(), out_pointers.data()}, {counts.data(), counts.size()}, threads);
  for (size_t k = 0; k < out.size(); ++k) {
    const tile_output& o = r.program().outputs[k];
    const tensor& want = values.at(o.id);
    const std::vector<uint64> got = out[k].read();
    if (!out[k].guards_hold()) return "equation " + std::to_string(o.id) + ": writes outside its buffer";
    for (size_t i = 0; i < got.size(); ++i)
      if (!same_value(want.element, got[i], want.bits[i])) {
        char line[200];
        std::snprintf(line, sizeof line, "equation %u (%s %s), element %zu of %zu: got %llx, want %llx", o.id,
                      std::string(ir::name(g[o.id].kind)).c_str(), std::string(name(want.element)).c_str(), i, got.size(),
                      static_cast<unsigned long long>(got[i]), static_cast<unsigned long long>(want.bits[i]));
        return line;
      }
  }
  for (guarded& m : in)
    if (!m.guards_hold()) return "writes beside an input";
  return "";
}

template <class Check>
void on_every_isa(Check check) {
  const float_environment environment;  // for the reference, under -Ofast
  const isa before = current();
  for (const isa i : {isa::baseline, isa::avx2, isa::avx512}) {
    if (force(i) != i) {
      MESSAGE("[SKIP] this machine has no ", std::string(name(i)));
      continue;
    }
    CAPTURE(std::string(name(i)));
    check();
  }
  force(before);
}

/// Bits of a random element: corners, small numbers, anything.
inline uint64 random_element(random_numbers& r, dtype t) {
  const int how = r.below(8);
  if (is_float(t)) {
    const float_format f = format_of(t);
    const uint64 sign = r.below(2) ? f.sign_bit() : 0;
    if (how == 0) {
      const uint64 corners[] = {0, f.infinity(), f.quiet_nan(), 1, f.fraction_mask(), f.infinity() - 1, f.fraction_mask() + 1, f.infinity() | 1};
      return corners[r.below(8)] | sign;
    }
    if (how == 1) return r.next() & (f.sign_bit() | (f.sign_bit() - 1));
    if (how == 2) return round_bits(f, sign != 0, static_cast<uint64>(r.below(10)), 0);
    const int exponent = -28 - r.below(8);  // drawn first: the order of arguments is the compiler's
    return round_bits(f, sign != 0, r.next() >> 33, exponent);
  }
  const uint64 mask = (uint64{1} << (8 * row(t).block_bytes - 1) << 1) - 1;
  if (t == boolean) return static_cast<uint64>(r.below(2));
  if (how < 2) {
    const uint64 corners[] = {0, 1, mask, mask >> 1, (mask >> 1) + 1, 2};
    return corners[r.below(6)];
  }
  if (how < 5) return static_cast<uint64>(r.below(200) - 100) & mask;
  return r.next() & mask;
}

inline tensor random_tensor(random_numbers& r, const tensor_type& t, const counts_list& counts) {
  tensor x{t.element, extents_of(t, counts), {}};
  const int64 n = product(x.extents);
  for (int64 i = 0; i < n; ++i) x.bits.push_back(random_element(r, t.element));
  return x;
}

inline constexpr dtype all_types[] = {f64, f32, f16, bf16, i32, u32, i8, u8, boolean};

/// A graph that grows at random: pointwise equations over leaves of broadcast shapes of one space.
struct random_region {
  ir::graph g;
  std::vector<uint32> members, outputs;
  std::map<uint32, tensor> values;
  counts_list counts;
  random_numbers random;
  std::vector<extent> space;
  region_kind kind = region_kind::pointwise;

  random_region(uint64 seed, std::vector<extent> extents, counts_list extent_counts)
      : counts(std::move(extent_counts)), random(seed), space(std::move(extents)) {}

  tensor_type some_shape(dtype t, bool full) {
    tensor_type r;
    r.element = t;
    const size_t drop = full ? 0 : static_cast<size_t>(random.below(static_cast<int>(space.size()) + 1));
    for (size_t i = drop; i < space.size(); ++i)
      r.extents[r.rank++] = full || random.below(3) ? space[i] : extent(1);
    return r;
  }
  std::string leaf_name() const {
    std::string r(1, 'x');
    return r.append(std::to_string(g.size()));
  }
  uint32 leaf(dtype t, bool full) {
    if (!full && random.below(4) == 0) {
      const uint32 id = g.literal(t, random_element(random, t));
      values[id] = constant_value(g, id, counts);
      return id;
    }
    const tensor_type type = some_shape(t, full);
    const uint32 id = g.leaf(op::input, type, {}, leaf_name());
    values[id] = random_tensor(random, type, counts);
    return id;
  }
  /// A value of dtype `t`: an earlier one, or a new leaf.
  uint32 operand(dtype t) {
    std::vector<uint32> have;
    for (const auto& v : values)
      if (v.second.element == t) have.push_back(v.first);
    if (!have.empty() && random.below(4)) return have[static_cast<size_t>(random.below(static_cast<int>(have.size())))];
    return leaf(t, random.below(2));
  }
  void grow(op o, dtype t) {
    std::vector<uint32> in;
    tensor_type declared;
    if (o == op::select) {
      in = {operand(i32), operand(t), operand(t)};
    } else {
      for (int i = 0; i < ir::row(o).arity; ++i) in.push_back(operand(t));
    }
    if (o == op::cast) declared.element = all_types[random.below(9)];
    add(g.apply(o, {in.data(), in.size()}, {}, declared));
  }
  /// A reduction over the last axis of a value that has it.
  bool grow_reduction() {
    std::vector<uint32> have;
    for (const auto& v : values) {
      const tensor_type& t = g.eqns[v.first].type;
      if (t.rank && t.last() == space.back() && t.element != boolean) have.push_back(v.first);
    }
    if (have.empty()) return false;
    const uint32 x = have[static_cast<size_t>(random.below(static_cast<int>(have.size())))];
    const int64 axis[1] = {g.eqns[x].type.rank - 1};
    const int which = random.below(values[x].extents.back() == 0 ? 3 : 4);
    add(g.apply(static_cast<op>(static_cast<int>(op::reduce_sum) + which), {&x, 1}, {axis, 1}));
    return true;
  }
  void add(uint32 id) {
    members.push_back(id);
    values[id] = evaluate_equation(g, id, values, counts);
  }
  /// Every member of full extents may be an output; at least one is.
  bool choose_outputs() {
    std::vector<uint32> full;
    tensor_type whole;
    for (uint32 id : members)
      ir::detail::broadcast_into(whole, g.eqns[ir::is_reduction(g.eqns[id].kind) ? g.view_of().operands(id)[0] : id].type);
    for (uint32 id : members) {
      const tensor_type& t = g.eqns[id].type;
      const bool row_value = kind == region_kind::row && t.rank == whole.rank && t.with(t.rank - 1, whole.last()).same_extents(whole) && t.last() == extent(1);
      if (t.same_extents(whole) || row_value) full.push_back(id);
    }
    for (uint32 id : full)
      if (random.below(3) == 0 || id == full.back()) outputs.push_back(id);
    return !outputs.empty();
  }
  region_members region() const {
    return {kind, {members.data(), members.size()}, {outputs.data(), outputs.size()}, {}};
  }
};

inline op random_pointwise(random_numbers& r, dtype t) {
  for (;;) {
    const op o = static_cast<op>(r.below(ir::op_count));
    if (!ir::is_pointwise(o) || o == op::custom) continue;
    if (o == op::select || o == op::cast || ir::accepts(ir::row(o).accepts, t)) return o;
  }
}

}  // namespace region_test

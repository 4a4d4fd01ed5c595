#pragma once
/// What can be said of an index before a kernel runs: which elements each invocation of a workgroup may touch with it.
///
///   index = by_lane[lane] + symbol + step0 · i0 + step1 · i1 …      symbol: one value for all; 0 <= i < count

#include <poot/core/hash_index.hpp>
#include <poot/kernel/uniform.hpp>

namespace poot::kernel::detail {

/// A value that grows by `step`, `count` times at most; 0 where that is not known.
struct stride {
  uint32 step = 0, count = 0;
};

struct index_form {
  bool known = false;
  vec<uint32> by_lane{};
  uint32 symbol = 0;  ///< 0: none
  vec<stride> strides{};
  constexpr bool is_table() const { return known && symbol == 0 && strides.empty(); }
};

/// Which invocations a flag may hold for, and for which it must.
struct flag_form {
  vec<uint8> may{}, must{};
};

class index_analysis {
 public:
  constexpr index_analysis(const kernel& k, const uniformity& uniform)
      : k_(k), uniform_(uniform), width_(k.workgroup), forms_(k.code.size()), ready_(k.code.size()) {
    symbols_.push_back({});
  }

  constexpr const index_form& of(uint32 id) {
    if (!ready_[id]) {
      forms_[id] = find(id);
      ready_[id] = 1;
    }
    return forms_[id];
  }

  constexpr flag_form flag_of(uint32 id) {
    const instruction& now = k_.code[id];
    flag_form f{vec<uint8>(width_, 1), vec<uint8>(width_, 0)};
    switch (now.code) {
      case opcode::literal_flag: f.may = f.must = vec<uint8>(width_, static_cast<uint8>(now.a)); break;
      case opcode::less:
      case opcode::less_signed:
      case opcode::equal: {
        const index_form &a = of(now.a), &b = of(now.b);
        if (!a.is_table() || !b.is_table()) break;
        for (uint32 l = 0; l < width_; ++l) f.may[l] = f.must[l] = static_cast<uint8>(on_words(now.code, a.by_lane[l], b.by_lane[l]));
        break;
      }
      case opcode::and_:
      case opcode::or_: {
        const flag_form a = flag_of(now.a), b = flag_of(now.b);
        for (uint32 l = 0; l < width_; ++l) {
          f.may[l] = now.code == opcode::and_ ? a.may[l] & b.may[l] : a.may[l] | b.may[l];
          f.must[l] = now.code == opcode::and_ ? a.must[l] & b.must[l] : a.must[l] | b.must[l];
        }
        break;
      }
      case opcode::not_: {
        const flag_form a = flag_of(now.a);
        for (uint32 l = 0; l < width_; ++l) f.may[l] = !a.must[l], f.must[l] = !a.may[l];
        break;
      }
      default: break;
    }
    return f;
  }

  /// Whether the symbol's value belongs to one turn of the loop at `id`.
  constexpr bool changes_in(uint32 symbol, uint32 loop) const { return symbols_[symbol].last >= loop; }

 private:
  /// A uniform value by what computes it, so that equal ones are one.
  struct uniform_value {
    opcode code = opcode::barrier;
    uint32 a = 0, b = 0;
    uint32 last = 0;  ///< the last instruction that it depends on
    constexpr bool same(const uniform_value& o) const { return code == o.code && a == o.a && b == o.b; }
  };
  constexpr uint32 symbol(const uniform_value& v) {
    for (uint32 s = 1; s < symbols_.size(); ++s)
      if (symbols_[s].same(v)) return s;
    symbols_.push_back(v);
    return static_cast<uint32>(symbols_.size() - 1);
  }
  constexpr uint32 combine(opcode c, uint32 a, uint32 b) {
    if (c == opcode::add && a > b) std::swap(a, b);
    if (c == opcode::add && a == 0) return b;
    if (c == opcode::sub && b == 0) return a;
    return symbol({c, a, b, symbols_[a].last > symbols_[b].last ? symbols_[a].last : symbols_[b].last});
  }
  constexpr index_form table(uint32 bits) const { return {true, vec<uint32>(width_, bits)}; }
  constexpr index_form named(const uniform_value& v) { return {true, vec<uint32>(width_, 0), symbol(v)}; }

  static constexpr uint32 on_words(opcode c, uint32 a, uint32 b) {
    const auto as_signed = [](uint32 x) { return static_cast<int32>(x); };
    switch (c) {
      case opcode::add: return a + b;
      case opcode::sub: return a - b;
      case opcode::mul: return a * b;
      case opcode::div: return b ? a / b : 0;
      case opcode::rem: return b ? a % b : 0;
      case opcode::bit_and: return a & b;
      case opcode::bit_or: return a | b;
      case opcode::bit_xor: return a ^ b;
      case opcode::shl: return a << (b & 31);
      case opcode::shr: return a >> (b & 31);
      case opcode::less: return a < b;
      case opcode::less_signed: return as_signed(a) < as_signed(b);
      default: return a == b;
    }
  }

  constexpr index_form find(uint32 id) {
    const instruction& now = k_.code[id];
    index_form f;
    switch (now.code) {
      case opcode::literal_word: return table(now.a);
      case opcode::lane:
        f = table(0);
        for (uint32 l = 0; l < width_; ++l) f.by_lane[l] = l;
        return f;
      case opcode::subgroup:
        f = table(0);
        for (uint32 l = 0; l < width_; ++l) f.by_lane[l] = l / k_.subgroup;
        return f;
      case opcode::group: return named({now.code, 0, 0, 0});
      case opcode::meta: return named({now.code, now.a, 0, 0});
      case opcode::loop: f = loop(now); break;
      case opcode::select: f = choose(now); break;
      case opcode::add: case opcode::sub: case opcode::mul: case opcode::div: case opcode::rem: case opcode::bit_and:
      case opcode::bit_or: case opcode::bit_xor: case opcode::shl: case opcode::shr: f = operation(now.code, of(now.a), of(now.b)); break;
      default: break;
    }
    if (!f.known && uniform_.value[id]) return named({opcode::barrier, id, 0, id});
    return f;
  }

  constexpr index_form loop(const instruction& now) {
    index_form f = of(now.a);
    const index_form &end = of(now.b), &step = of(now.c);
    if (!f.known || k_.code[now.c].code != opcode::literal_word || step.by_lane[0] == 0) return {};
    uint32 count = 0;
    if (f.is_table() && end.is_table())
      for (uint32 l = 0; l < width_; ++l) {
        const uint32 first = f.by_lane[l], past = end.by_lane[l], turns = first < past ? (past - first - 1) / step.by_lane[0] + 1 : 0;
        if (turns > count) count = turns;
      }
    f.strides.push_back({step.by_lane[0], count});
    return f;
  }
  constexpr index_form choose(const instruction& now) {
    if (now.kind != type::word) return {};
    const flag_form c = flag_of(now.a);
    const index_form &yes = of(now.b), &no = of(now.c);
    if (!(c.may == c.must) || !yes.is_table() || !no.is_table()) return {};
    index_form f = table(0);
    for (uint32 l = 0; l < width_; ++l) f.by_lane[l] = c.must[l] ? yes.by_lane[l] : no.by_lane[l];
    return f;
  }
  constexpr index_form operation(opcode c, const index_form& a, const index_form& b) {
    if (!a.known || !b.known) return {};
    index_form f = a;
    for (uint32 l = 0; l < width_; ++l) f.by_lane[l] = on_words(c, a.by_lane[l], b.by_lane[l]);
    if (a.is_table() && b.is_table()) return f;
    if (c == opcode::add || (c == opcode::sub && b.strides.empty())) {
      f.symbol = combine(c, a.symbol, b.symbol);
      f.strides.append(b.strides);
      return f;
    }
    if (c == opcode::mul && !a.is_table()) return scaled(f, c, a, b);
    if (c == opcode::mul) return scaled(f, c, b, a);
    if (c == opcode::shl) return scaled(f, c, a, b);
    return {};
  }
  /// `a` times, or shifted by, one number that is the same in each invocation.
  constexpr index_form scaled(index_form& f, opcode c, const index_form& a, const index_form& by) {
    if (!by.is_table()) return {};
    for (uint32 l = 1; l < width_; ++l)
      if (by.by_lane[l] != by.by_lane[0]) return {};
    f.strides = a.strides;
    for (stride& s : f.strides) s.step = on_words(c, s.step, by.by_lane[0]);
    f.symbol = a.symbol ? symbol({c, a.symbol, by.by_lane[0], symbols_[a.symbol].last}) : 0;
    return std::move(f);
  }

  const kernel& k_;
  const uniformity& uniform_;
  uint32 width_;
  vec<index_form> forms_;
  vec<uint8> ready_;
  vec<uniform_value> symbols_;
};

/// Which invocation may touch each element.
class touched_elements {
 public:
  /// Notes a touch; true where another invocation has touched the element before.
  constexpr bool note(uint32 element, uint32 lane) {
    const uint32 found = find(element);
    if (found == hash_index::none) {
      index_.insert(hash(element), static_cast<uint32>(elements_.size()));
      elements_.push_back(element);
      lanes_.push_back(lane);
      return false;
    }
    const bool other = lanes_[found] != lane;
    if (other) lanes_[found] = several;
    return other;
  }
  constexpr bool by_another(uint32 element, uint32 lane) const {
    const uint32 found = find(element);
    return found != hash_index::none && lanes_[found] != lane;
  }

 private:
  static constexpr uint32 several = 0xffffffffu;
  static constexpr uint64 hash(uint32 element) { return element * uint64{0x9e3779b97f4a7c15u}; }
  constexpr uint32 find(uint32 element) const {
    return index_.find(hash(element), [&](uint32 i) { return elements_[i] == element; });
  }
  hash_index index_;
  vec<uint32> elements_, lanes_;
};

}  // namespace poot::kernel::detail

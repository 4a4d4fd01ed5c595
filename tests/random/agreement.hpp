#pragma once
/// One graph through everything: the interpreter, each pass, fusion, and the host in several ways; all bits must agree.

#include <poot/fuse/check.hpp>
#include <poot/ir/equal.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/verify.hpp>
#include <poot/run/host/executor.hpp>

#include "interpreted.hpp"

#include <map>

namespace poot_tests {

inline bool same_values(const std::vector<ir::named_tensor>& a, const std::vector<ir::named_tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i].value == b[i].value)) return false;
  return true;
}

/// Bytes of a tensor between two guards, so that a write beside them shows.
class guarded_bytes {
 public:
  explicit guarded_bytes(const ir::tensor& t) : width_(is_packed(t.type.element) ? 1 : row(t.type.element).block_bytes) {
    bytes_.assign(2 * guard + t.bits.size() * width_, filler);
    for (size_t i = 0; i < t.bits.size(); ++i) std::memcpy(data() + i * width_, &t.bits[i], width_);
  }
  uint8* data() { return bytes_.data() + guard; }
  void fill() { std::memset(data(), 0xcd, bytes_.size() - 2 * guard); }
  bool untouched_guards() const {
    for (size_t i = 0; i < guard; ++i)
      if (bytes_[i] != filler || bytes_[bytes_.size() - 1 - i] != filler) return false;
    return true;
  }
  bool holds(const ir::tensor& t) { return guarded_bytes(t).bytes_ == bytes_; }
 private:
  static constexpr size_t guard = 64;
  static constexpr uint8 filler = 0xa5;
  size_t width_;
  std::vector<uint8> bytes_;
};

inline ir::tensor tensor_of(const run::buffer& b) {
  ir::tensor made(b.type);
  const size_t width = is_packed(b.type.element) ? 1 : row(b.type.element).block_bytes;
  for (size_t i = 0; i < made.bits.size(); ++i) std::memcpy(&made.bits[i], static_cast<const uint8*>(b.data) + i * width, width);
  return made;
}

/// One way to run a program on the host.
struct host_way {
  const char* name;
  plan::options planned{};
  int threads = 1;
  bool loads_weights = false;  ///< weights are loaded, and so interleaved, rather than bound
  bool keeps_results = false;  ///< results stay in the memory of the entry
  bool check = false;          ///< each region also runs equation by equation
};

inline run::host::pool& pool_of(int threads) {
  static run::host::pool one(1), two(2);
  return threads == 1 ? one : two;
}

/// Compares a way to run `g` on the host with what the interpreter gave. Returns the first difference in words.
inline std::string run_on_host(const ir::graph_view& g, const runs& given, const std::vector<ir::interpretation>& want, const host_way& way) {
  run::host::shared_memory shared;
  run::host::entry entry(plan::compile(g, targets::host, way.planned), shared, pool_of(way.threads), {way.check});
  std::map<std::string, guarded_bytes> held, results;
  for (size_t k = 0; k < given.size(); ++k) {
    const std::string place = std::string(way.name) + ", run " + std::to_string(k) + ": ";
    const bool bound = k > 0 && same_values(given[k], given[k - 1]);
    for (const ir::named_tensor& v : given[k]) {
      const uint32 leaf = g.find_leaf(v.name);
      if (leaf == g.size() || (k > 0 && (g[leaf].kind != ir::op::input || *ir::find({given[k - 1].data(), given[k - 1].size()}, v.name) == v.value)))
        continue;
      guarded_bytes& bytes = held.insert_or_assign(std::string(v.name), guarded_bytes(v.value)).first->second;
      const run::buffer b{bytes.data(), v.value.type};
      if (g[leaf].kind == ir::op::weight && way.loads_weights) shared.load(v.name, b, pool_of(way.threads));
      else entry.bind(v.name, b);
    }
    for (const ir::named_tensor& o : want[k].outputs) {
      if (way.keeps_results) continue;
      if (!bound) {
        guarded_bytes& bytes = results.insert_or_assign(std::string(o.name), guarded_bytes(ir::tensor(o.value.type))).first->second;
        entry.into(o.name, {bytes.data(), o.value.type});
      }
      results.at(std::string(o.name)).fill();
    }
    entry.run();
    ir::interpretation got;
    for (const ir::named_tensor& o : want[k].outputs) {
      if (way.keeps_results) {
        got.outputs.push_back({o.name, tensor_of(entry.result(o.name))});
        continue;
      }
      guarded_bytes& bytes = results.at(std::string(o.name));
      if (!bytes.untouched_guards()) return place + "\"" + std::string(o.name) + "\": bytes beside the result were written";
      got.outputs.push_back({o.name, tensor_of({bytes.data(), o.value.type})});
    }
    for (const ir::named_tensor& s : want[k].states) {
      guarded_bytes& bytes = held.at(std::string(s.name));
      if (!bytes.untouched_guards()) return place + "state \"" + std::string(s.name) + "\": bytes beside it were written";
      got.states.push_back({s.name, tensor_of({bytes.data(), s.value.type})});
    }
    if (const std::string d = difference(want[k], got); !d.empty()) return place + d;
    for (const ir::named_tensor& v : given[k])
      if (const uint32 leaf = g.find_leaf(v.name); leaf < g.size() && g[leaf].kind != ir::op::state &&
                                                   (k == 0 || g[leaf].kind == ir::op::input) && !held.at(std::string(v.name)).holds(v.value))
        return place + "\"" + std::string(v.name) + "\" was written, and is no result";
  }
  return {};
}

/// What plan::compile lets regions do under `o`.
inline bool indices_fit(const ir::graph_view& g, const runs& given) {
  try {
    interpret_runs(g, given, ir::outside::refuse);
    return true;
  } catch (const error&) {
    return false;
  }
}

/// Everything that must hold for `g` and these values; the first thing that does not, in words. `variant` chooses among
/// options that change no bit.
inline std::string disagreement(const ir::graph_view& g, const runs& given, uint64 variant) {
  try {
    ir::verify(g);
    const text printed = ir::print(g);
    const ir::graph again = ir::parse(printed.str());
    if (!ir::structurally_equal(g, again)) return "printed and parsed again, the graph is another";
    if (!(ir::print(again) == printed)) return "printed, parsed and printed again, the text is another";
    std::vector<ir::interpretation> want = interpret_runs(g, given);

    const bool strict = variant % 8 < 3;
    const pass::prepared ready = pass::run_passes(g, targets::host, {.strict = strict}, [](const ir::graph_view& after, pass::pass_id id) {
      try {
        ir::verify(after);
      } catch (const error& e) {
        fail(text{} << "after " << pass::name(id) << ": " << e.what());
      }
    });
    // Recognising attention moves roundings, unless it is strict: then the recognised graph says what the host must give.
    bool restructured = false;
    const ir::graph_view recognised = ready.optimized;
    for (const ir::eqn& e : recognised.eqns) restructured |= e.kind == ir::op::attention && recognised.attrs(e)[3] == 0;
    if (restructured && strict) return "attention that is not strict is recognised in a strict program";
    if (restructured) want = interpret_runs(ready.optimized, given);
    else if (variant % 4 == 0) {
      const std::vector<ir::interpretation> got = interpret_runs(ready.optimized, given);
      for (size_t k = 0; k < want.size(); ++k)
        if (const std::string d = difference(want[k], got[k]); !d.empty()) return "passes, run " + std::to_string(k) + ": " + d;
    }

    plan::options fused, unfused;
    unfused.fuse = false;
    fused.strict = unfused.strict = strict;
    switch (variant / 4 % 8) {
      case 5: fused.with_broadcast = false; break;
      case 6: fused.fuse_narrow_casts = true; break;
      case 4: fused.document_rules = true; break;
      case 7: fused.horizontal = false; break;
      default: break;
    }
    for (const plan::options& o : {fused, unfused}) {
      const fuse::rules allowed = plan::region_rules(targets::host, o);
      const fuse::partition regions = fuse::choose_regions(ready.optimized, allowed, o.fuse);
      const fuse::finding f = fuse::check_partition(ready.optimized, regions.region_of, allowed);
      if (!f.legal()) return "region " + std::to_string(f.region) + " is not legal: " + std::string(fuse::explain(f.why));
    }

    const bool loads = variant / 32 % 2;
    using run::host::isa;
    run::host::force(variant % 3 == 0 ? isa::baseline : variant % 3 == 1 ? isa::avx2 : isa::avx512);
    for (const host_way& way : {host_way{"host, fused", fused, 1, loads}, host_way{"host, unfused", unfused, 1, !loads, true},
                                host_way{"host, fused, 2 threads", fused, 2, loads}})
      if (const std::string d = run_on_host(g, given, want, way); !d.empty())
        return std::string(run::host::name(run::host::current())) + ", " + d;
    if (variant % 16 == 5 && indices_fit(g, given))
      if (const std::string d = run_on_host(g, given, want, {"host, checked", fused, 1, loads, false, true}); !d.empty()) return d;
    return {};
  } catch (const std::exception& e) {
    return std::string("refused: ") + e.what();
  }
}

}  // namespace poot_tests

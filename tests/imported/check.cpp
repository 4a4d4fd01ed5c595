// The kernels that the library ships: equal to what the generators write now, and run over several extents on every executor,
// one text for all of them, with the bits of the interpreter.
//
//     imported_kernels FOLDER          FOLDER holds the texts; ends with `N passed, N failed, N skipped`
//     imported_kernels FOLDER --write  keeps what the generators write now

#include "../device/executor.hpp"
#include "../random/interpreted.hpp"

#include <poot/emit/write.hpp>
#include <poot/ir/parse.hpp>
#include <poot/kernel/generate.hpp>
#include <poot/kernel/verify.hpp>
#include <poot/plan/compile.hpp>

#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

namespace {

using namespace poot;
using namespace poot_tests;
using kernel::device_class;
using kernel::shipped;
using kernel::shipped_kernel;

int passed = 0, failed = 0, skipped = 0;

void check(bool holds, const std::string& what, const std::string& otherwise = "") {
  ++(holds ? passed : failed);
  if (!holds) std::cout << "FAIL " << what << (otherwise.empty() ? "" : ": ") << otherwise << '\n';
}

std::string string_of(const text& t) { return std::string(t.str()); }

/// A graph of one launch of the family. `i` numbers its shapes; shape 0 has the widest extents that the family has, with rows,
/// columns and rounds left over, so that what is generated for it serves all.
std::string graph_of(const shipped_kernel& s, size_t i) {
  const auto at = [i](std::initializer_list<int> of) { return std::to_string(of.begin()[i]); };
  const bool gpu = s.written_for == device_class::gpu;
  const std::string m = at({70, 5, 64, 9}), b = at({3, 2, 5, 4}), n = s.family == shipped::gemm ? at({72, 8, 128, 200}) : at({68, 4, 256, 132});
  const std::string k = gpu ? at({64, 32, 288, 512}) : at({64, 4, 300, 512});
  const auto product = [](const std::string& left, const std::string& right, const std::string& to) {
    return "%a : f32[" + left + "] = input \"a\"\n%b : f32[" + right + "] = weight \"b\"\n%y : f32[" + to + "] = matmul %a, %b\n";
  };
  std::string body;
  switch (s.family) {
    case shipped::none: break;
    case shipped::gemv: body = product("1," + k, k + "," + n, "1," + n); break;
    case shipped::batched_gemv: body = product(b + ",1," + k, b + "," + k + "," + n, b + ",1," + n); break;
    case shipped::gemm: body = product(m + "," + k, k + "," + n, m + "," + n); break;
    case shipped::argmax: {
      const std::string columns = gpu ? at({260, 256, 5000, 1024}) : at({512, 256, 5120, 1024}), rows = at({3, 1, 7, 2});
      body = "%x : f32[" + rows + "," + columns + "] = input \"x\"\n%y : i32[" + rows + ",1] = reduce_argmax %x {axis=1}\n";
      break;
    }
    case shipped::random_uniform:
      body = "%s : u32[] = input \"s\"\n%o : u32[] = input \"o\"\n%y : f32[" + at({7, 1000, 4, 2}) + (i == 3 ? ",5,3" : i == 0 ? ",3" : "") +
             "] = random_uniform %s, %o\n";
      break;
    case shipped::packed_gather: {
      const std::string t(poot::name(s.format)), columns = at({256, 512, 256, 1024}), count = at({4, 1, 33, 2});
      body = "%w : " + t + "[" + at({6, 1, 40, 9}) + "," + columns + "] = weight \"w\"\n%i : i32[" + count + "] = input \"i\"\n%g : " + t + "[" + count + "," +
             columns + "] = gather %w, %i {axis=0}\n%y : f32[" + count + "," + columns + "] = cast %g\n";
      break;
    }
    case shipped::widen_bf16: {
      const std::string extents = i == 3 ? "16,5,3" : at({3, 1, 9, 1}) + "," + at({8, 64, 40, 8});
      body = "%x : bf16[" + extents + "] = input \"x\"\n%y : f32[" + extents + "] = cast %x\n";
      break;
    }
  }
  return "graph t {\n" + body + "output \"y\" = %y\n}\n";
}
constexpr size_t shapes = 4;

/// `k` with the operands of launch `l` by their position, for readers of no equation, and axes of every rank.
kernel::kernel detached(kernel::kernel k, const plan::program_view& p, const plan::launch& l, const shipped_kernel& s) {
  const auto position = [&](uint32 value) {
    uint32 at = 0;
    for (const ir::slice_of list : {l.inputs, l.outputs})
      for (uint32 id : p(list)) {
        if (id == value) return at;
        ++at;
      }
    fail(text{} << "value " << value << " is no operand of its launch");
  };
  k.name = plan::name(s);
  for (uint32 b = 0; b < k.buffers.size(); ++b) {
    k.bindings[b] = position(k.bindings[b]);
    k.buffers[b].name = text(k.buffers[b].how == kernel::access::read ? "x" : "y") << k.bindings[b];
  }
  for (kernel::meta_word& m : k.metadata) {
    if (m.kind == kernel::meta_word::what::fixed) continue;
    if (m.first == 0 && m.last == p.graph.type(m.value).rank) m.last = kernel::meta_word::all_axes;
    m.value = position(m.value);
  }
  for (kernel::instruction& in : k.code) in.note = kernel::instruction::no_note;
  return k;
}

/// What the generator writes for shape 0 on `where`; empty where the plan takes no shipped kernel there.
std::string regenerated(const shipped_kernel& s, const target& where) {
  const plan::program p = plan::compile(ir::parse(graph_of(s, 0)), where);
  const plan::program_view v = p;
  if (v.launches.size() != 1 || plan::shipped_of(v, v.launches[0]) != s) return {};
  const kernel::kernel k = kernel::generated_kernel(v, v.launches[0]);
  return "R\"kernel(" + string_of(kernel::print(detached(k, v, v.launches[0], s))) + ")kernel\"\n";
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

void compare_texts(const std::string& folder, bool write) {
  for (const kernel::imported_text& t : kernel::imported_texts) {
    const std::string file = string_of(plan::name(t.which)) + ".inc", path = folder + "/" + file;
    int targets = 0;
    for (const targets::named_target& n : targets::named) {
      const std::string now = regenerated(t.which, n.is);
      if (now.empty()) continue;
      if (write && targets == 0) std::ofstream(path, std::ios::binary) << now;
      ++targets;
      check(content(path) == now, file, "is not what is generated now for " + std::string(n.name) + "; --write renews it");
    }
    check(targets > 0, file, "no named target takes it");
  }
}

// ---- every executor

/// The metadata of the launch of `p`.
std::vector<uint32> words_of(const kernel::kernel& k, const plan::program_view& p) {
  std::vector<uint32> words;
  for (const kernel::meta_word& m : k.metadata) words.push_back(kernel::evaluate(m, p, [&](uint32 id) { return p.graph.type(id); }));
  return words;
}

void run_everywhere(executor& e, const shipped_kernel& s) {
  const std::string what = string_of(plan::name(s)) + " on " + e.name();
  std::vector<ir::graph> graphs;
  std::vector<plan::program> planned;
  for (size_t i = 0; i < shapes; ++i) {
    graphs.push_back(ir::parse(graph_of(s, i)));
    planned.push_back(plan::compile(graphs[i], e.where()));
    const plan::program_view p = planned[i];
    if (plan::shipped_of(p, p.launches[0]) != s) return check(i == 0, what, "shape " + std::to_string(i) + " takes another kernel");
  }
  e.prepare(planned);
  std::set<std::string> texts;
  std::set<std::vector<uint32>> words;
  std::set<uint64> hashes;
  std::set<bool> chunked;  // one text for shapes whose grid is whole, another for those in chunks
  for (size_t i = 0; i < shapes; ++i) {
    const plan::program_view p = planned[i];
    const kernel::kernel k = kernel::generate(p, p.launches[0]);
    texts.insert(string_of(emit::write(k, emit::dialect_of(e.where().kind), {.comments = false})));
    words.insert(words_of(k, p));
    hashes.insert(p.kernel_table[0].hash);
    chunked.insert(p.launches[0].chunks > 1);
    const runs given = draw_runs(i + 1, planned[i].graph, 2);
    const auto small = e.where().caps.flushes ? subnormals::flushed : subnormals::kept;
    const std::vector<ir::interpretation> want = interpret_runs(planned[i].graph, given, ir::outside::clamp, small);
    const std::unique_ptr<machine> m = e.load(planned[i]);
    for (size_t r = 0; r < given.size(); ++r) {
      const std::string d = difference(want[r], m->run(given[r]));
      check(d.empty(), what + ", shape " + std::to_string(i), d);
    }
  }
  check(texts.size() == chunked.size(), what, "has " + std::to_string(texts.size()) + " texts");
  check(hashes.size() == chunked.size(), what, "has " + std::to_string(hashes.size()) + " hashes");
  check(words.size() == shapes, what, "has the same metadata for two shapes");
  if (const std::string c = e.complaints(); !c.empty()) check(false, what, c);
}

}  // namespace

int main(int argc, char** argv) {
  const bool write = argc == 3 && std::string(argv[2]) == "--write";
  if (argc < 2 || (argc > 2 && !write)) {
    std::cout << "imported_kernels FOLDER [--write]\n";
    return 2;
  }
  compare_texts(argv[1], write);
  if (!write) {
    executors all;
    std::string why_not;
    const auto add = [&](executors more, const char* what) {
      if (more.empty()) {
        ++skipped;
        std::cout << "[SKIP] " << what << ": " << why_not << '\n';
      }
      for (auto& e : more) all.push_back(std::move(e));
    };
    add(kernel_interpreters(), "kernel interpreter");
    add(compiled_texts(why_not), "C++ text");
#ifdef POOT_TEST_VULKAN
    add(vulkan_devices(why_not), "Vulkan");
#endif
    for (auto& e : all)
      for (const kernel::imported_text& t : kernel::imported_texts) try {
          run_everywhere(*e, t.which);
        } catch (const std::exception& x) {
          check(false, string_of(plan::name(t.which)) + " on " + e->name(), x.what());
        }
  }
  std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped\n";
  return failed ? 1 : 0;
}

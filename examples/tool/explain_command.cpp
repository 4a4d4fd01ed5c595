/// `poot explain FILE`

#include "commands.hpp"
#include "diagram.hpp"
#include "model_file.hpp"
#include "options.hpp"

#include <poot/io/replacement_file.hpp>
#include <poot/plan/explain.hpp>

#include <cstdio>

namespace poot::tool {

namespace {

struct explain_arguments {
  std::string file, target = "host", html;
};

/// What each stage of planning made of the graph.
void print_stages(const plan::program_view& apart, const plan::program_view& p) {
  struct {
    int64 regions = 0, saved = 0, steps = 0, casts = 0, siblings = 0, before = 0, behind = 0;
  } n;
  const ir::graph_view& g = p.graph;
  for (const plan::launch& l : p.launches) {
    int64 heads = 0;
    for (uint32 id : p(l.members)) {
      heads += ir::is_contraction(g[id].kind);
      n.casts += fuse::is_widening_load(g, id);
    }
    const int64 members = l.members.count;
    if (l.kind == fuse::region_kind::pointwise || l.kind == fuse::region_kind::row) {
      n.regions += members > 1, n.saved += members - 1;
    } else if (heads > 0) {
      const fuse::contraction_parts all = fuse::parts_of(g, p(l.members));
      const auto rows = static_cast<int64>(all.prologue.size()), runs = static_cast<int64>(all.epilogue.size());
      if (rows > 0) n.regions += rows > 1, n.saved += rows - 1, ++n.before;
      if (runs > 0) n.regions += runs > 1, n.saved += runs - 1, ++n.behind;
      n.steps += members - heads - rows - runs - (runs > 0), n.siblings += heads - 1;
    } else {
      n.siblings += members - 1;
    }
  }
  const auto line = [](const char* stage, int64 count, const char* what) { std::printf("%-34s %6lld  %s\n", stage, static_cast<long long>(count), what); };
  std::printf("\nstage                               count  effect on the dispatches of a step\n");
  line("equations alone, no chain made one", static_cast<int64>(apart.dispatch_count()), "dispatches");
  line("rope", static_cast<int64>(p.count(fuse::region_kind::rope)), "dispatches that turn pairs, each once a chain of six to eight");
  line("attention", static_cast<int64>(p.count(fuse::region_kind::attention)), "dispatches of scores, softmax and weighted sum");
  line("pointwise and row regions", n.regions, "regions of several equations");
  line("", n.saved, "dispatches that they save");
  line("steps behind contractions", n.steps, "dispatches saved");
  line("rows before products", n.before, "dispatches saved: norms in the dispatch of the products that read them");
  line("rows behind products", n.behind, "dispatches saved: the greatest of each run of columns in the dispatch of the product");
  line("widening casts folded", n.casts, "read as part of a load");
  line("side by side", n.siblings, "products, ropes and movements in the dispatch of another");
  line("once at load", static_cast<int64>(p.prologue.size()), "dispatches that a step does not repeat");
  line("fused", static_cast<int64>(p.dispatch_count()), "dispatches");
}

int explain(const explain_arguments& a) {
  if (!a.html.empty() && same_file(a.html, a.file)) fail(text{} << "--html " << a.html << ": is the model's own file");
  const target where = find_target(a.target);
  const plan::program fused = read_program(a.file, where, {});
  plan::options wanted;
  wanted.fuse = false;
  target plain = where;
  plain.caps.attention = false;  // its chain is what a step is without
  const plan::program apart = holds_program(a.file) ? plan::unfused_plan(fused) : read_program(a.file, plain, wanted);
  if (!a.html.empty()) {
    const std::string page = diagram_page(apart.view_of(), fused.view_of());
    io::replacement_file file(a.html);
    file.write({reinterpret_cast<const uint8*>(page.data()), page.size()});
    file.commit();
  }
  const text all = plan::explain(fused);
  std::fwrite(all.str().data(), 1, all.size(), stdout);
  print_stages(apart.view_of(), fused.view_of());
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("explain", "Say why each region is one, what it saves, what nearly was one, and what each stage did");
  auto a = std::make_shared<explain_arguments>();
  add_model_options(*command, a->file, "Graph text (.poot), the text of a program, or a decoder in a GGUF file (its step of one token)", a->target);
  command->add_option("--html", a->html, "Also draw the graph into this file, unfused and fused, with a switch between the two")->check(file_name());
  command->callback([a, &result] { result.status = explain(*a); });
}

}  // namespace poot::tool

/// `poot plan FILE`

#include "commands.hpp"
#include "model_file.hpp"
#include "options.hpp"

#include <poot/plan/explain.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>

namespace poot::tool {

namespace {

using nlohmann::json;

std::string string_of(const text& t) { return std::string(t.str()); }

std::string value_name(const ir::graph_view& g, uint32 id) {
  text out;
  plan::write_value_name(out, g, id);
  return string_of(out);
}

json value_json(const ir::graph_view& g, uint32 id) {
  text type;
  ir::write_type(type, g.type(id), g);
  return {{"id", id}, {"name", value_name(g, id)}, {"op", std::string(plan::op_name(g[id]))}, {"type", string_of(type)}};
}

json values_json(const plan::program_view& p, ir::slice_of ids) {
  json all = json::array();
  for (uint32 id : p(ids)) all.push_back(value_json(p.graph, id));
  return all;
}

json launch_json(const plan::program_view& p, const plan::launch& l) {
  return {{"kind", std::string(fuse::name(l.kind))},
          {"origin", std::string(plan::name(l.body))},
          {"class", std::string(plan::name(l.compares))},
          {"kernel", l.kernel},
          {"members", values_json(p, l.members)},
          {"inputs", values_json(p, l.inputs)},
          {"outputs", values_json(p, l.outputs)},
          {"bytes", l.bytes},
          {"flops", l.flops},
          {"chunks", l.chunks}};
}

json totals_json(const plan::program_view& p) {
  return {{"dispatches", p.dispatch_count()},
          {"bytes_moved", p.bytes_moved()},
          {"flops", p.flops()},
          {"transient_bytes", p.peak_transient_bytes()},
          {"transient_bytes_without_reuse", p.transient_bytes_without_reuse()}};
}

json plan_json(const plan::program_view& p, const plan::program_view& unfused) {
  json j = totals_json(p);
  j["name"] = std::string(p.graph.chars(p.graph.name));
  j["target"] = std::string(poot::name(p.planned_for.kind));
  if (!p.planned_for.arch.view().empty()) j["architecture"] = std::string(p.planned_for.arch.view());
  j["equations"] = p.graph.size();
  j["class"] = std::string(plan::name(p.comparison_class()));
  j["table_bytes"] = p.table_bytes;
  j["unfused"] = totals_json(unfused);
  for (const char* list : {"passes", "launches", "prologue", "copies", "kernels", "sections", "declines", "numerical_declines", "chain_declines", "refusals"})
    j[list] = json::array();
  for (pass::pass_id id : p.changed) j["passes"].push_back(std::string(pass::name(id)));
  const vec<plan::saving> saved = plan::savings(p, unfused);
  for (size_t i = 0; i < p.launches.size(); ++i) {
    json l = launch_json(p, p.launches[i]);
    l["dispatches_saved"] = saved[i].dispatches;
    l["bytes_saved"] = saved[i].bytes;
    j["launches"].push_back(std::move(l));
  }
  for (const plan::launch& l : p.prologue) j["prologue"].push_back(launch_json(p, l));
  for (const plan::copy& c : p.copies)
    j["copies"].push_back({{"value", value_json(p.graph, c.value)}, {"output", std::string(p.graph.chars(p.graph.outputs[c.output].name))}});
  for (const plan::kernel& k : p.kernel_table)
    j["kernels"].push_back({{"hash", string_of(text{}.hex(k.hash))}, {"first_launch", k.first_launch}, {"launches", k.launches}});
  for (const plan::section& s : p.repeated)
    j["sections"].push_back({{"first", s.first}, {"length", s.length}, {"times", s.times}});
  for (const fuse::decline& d : p.declined)
    j["declines"].push_back({{"producer", value_json(p.graph, d.producer)},
                             {"consumer", value_json(p.graph, d.consumer)},
                             {"why", std::string(fuse::explain(d.why))}});
  for (const pass::numerical_decline& d : p.declined_numerically)
    j["numerical_declines"].push_back({{"equation", d.origin}, {"why", std::string(pass::explain(d.reason))}});
  for (const pass::chain_decline& d : p.declined_chains)
    j["chain_declines"].push_back({{"equation", d.origin}, {"why", std::string(pass::explain(d.failed))}});
  for (const plan::refusal& r : p.refused)
    j["refusals"].push_back({{"equation", value_json(p.graph, r.equation)}, {"why", std::string(plan::explain(r.missing))}});
  return j;
}

void write(std::string_view chars) { std::fwrite(chars.data(), 1, chars.size(), stdout); }

struct plan_arguments {
  std::string file, target = "host";
  bool as_json = false, as_text = false, unfused = false, document_rules = false, matrix_units = false;
  int64 split_keys = plan::options{}.split_keys;
};

int print_plan(const plan_arguments& a) {
  plan::options wanted;
  wanted.fuse = !a.unfused;
  wanted.document_rules = a.document_rules;
  wanted.matrix_units = a.matrix_units;
  wanted.split_keys = a.split_keys;
  const plan::program p = read_program(a.file, find_target(a.target), wanted);
  if (a.as_text) {
    write(plan::print(p).str());
    return 0;
  }
  if (!a.as_json) {
    write(plan::explain(p).str());
    return 0;
  }
  const plan::program apart = plan::unfused_plan(p);
  write(plan_json(p.view_of(), apart.view_of()).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, outcome& result) {
  CLI::App* command = app.add_subcommand("plan", "Show how a model is run: its dispatches, what they save, and what stayed apart");
  auto a = std::make_shared<plan_arguments>();
  add_model_options(*command, a->file, "Graph text (.poot), the text of a program, or a decoder in a GGUF file (its step of one token)", a->target);
  CLI::Option* json_flag = command->add_flag("--json", a->as_json, "As JSON, with every value's op and type");
  command->add_flag("--text", a->as_text, "As the text of a program, which `poot plan` and `poot run` read")->excludes(json_flag);
  command->add_flag("--unfused", a->unfused, "One dispatch per equation");
  command->add_flag("--document-rules", a->document_rules, "One contraction a region, and movements and ropes alone");
  command->add_flag("--matrix-units", a->matrix_units, "Products by matrix units where the target has them, which change bits");
  add_split_keys_option(*command, a->split_keys);
  command->callback([a, &result] { result.status = print_plan(*a); });
}

}  // namespace poot::tool

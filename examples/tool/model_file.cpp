#include "model_file.hpp"

#include "language_model.hpp"

#include <poot/io/mapping.hpp>
#include <poot/ir/parse.hpp>
#include <poot/plan/parse.hpp>

#include <cstdio>

namespace poot::tool {

namespace {

/// The first word of a text, behind blanks and comments.
std::string_view first_word(std::string_view source) {
  ir::detail::text_reader reader{source};
  reader.skip();
  return reader.run(ir::detail::letter);
}

plan::program plan_text(std::string_view source, const target& where, const plan::options& wanted) {
  if (first_word(source) != "program") return plan::compile(ir::parse(source), where, wanted);
  plan::program p = plan::parse(source);
  if (!(p.planned_for == where)) fail(text{} << "the program is planned for another target than " << name(where.kind));
  if (!wanted.fuse || wanted.document_rules || wanted.strict || wanted.matrix_units || wanted.split_keys != plan::options{}.split_keys) fail("a program is planned already, so it cannot be planned in another way");
  return p;
}

plan::program plan_gguf(const std::string& path, const target& where, const plan::options& wanted) {
  const io::gguf file = io::gguf::open(path);
  return plan::compile(decoder_in(file, read_architecture(file, 0), {}), where, wanted);
}

std::string_view chars_of(const io::mapping& file) { return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}; }

/// Says that nothing came of `--matrix-units`, which is no error.
void mention_unused_matrix_units(const plan::program& p) {
  for (const ir::eqn& e : p.graph.eqns)
    if (e.sum.hardware) return;
  const device_caps& caps = p.planned_for.caps;
  if (!caps.matrix_bf16 && !caps.matrix_f16) std::fputs("--matrix-units: no dispatch uses one, for the target has none\n", stderr);
  else
    std::fprintf(stderr, "--matrix-units: no dispatch uses one, for no product is of %s with extents of whole sixteens\n",
                 !caps.matrix_f16 ? "bf16" : !caps.matrix_bf16 ? "f16" : "bf16 or f16");
}

plan::program plan_file(const std::string& path, const target& where, const plan::options& wanted) {
  const io::mapping file(path);
  const std::string_view chars = chars_of(file);
  if (chars.substr(0, 4) == "GGUF") return plan_gguf(path, where, wanted);
  try {
    return plan_text(chars, where, wanted);
  } catch (const error& e) {
    fail(text{} << path << ": " << e.what());
  }
}

}  // namespace

bool holds_program(const std::string& path) {
  const io::mapping file(path);
  const std::string_view chars = chars_of(file);
  return chars.substr(0, 4) != "GGUF" && first_word(chars) == "program";
}

plan::program read_program(const std::string& path, const target& where, const plan::options& wanted) {
  plan::program p = plan_file(path, where, wanted);
  if (wanted.matrix_units) mention_unused_matrix_units(p);
  return p;
}

target find_target(const std::string& name) {
  text known;
  for (const targets::named_target& t : targets::named) {
    if (t.name == name) return t.is;
    known << (known.empty() ? "" : ", ") << t.name;
  }
  fail(text{} << "--target " << name << ": there is no such target; they are " << known);
}

}  // namespace poot::tool

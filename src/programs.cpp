/// poot::precompiled: the planner, and the text form of programs.

#include <poot/plan/compile.hpp>
#include <poot/plan/parse.hpp>
#include <poot/plan/print.hpp>

namespace poot::plan::precompiled {

template <uint64 Layout>
program compile(const graph_view& traced, const target& where, const options& wanted) {
  return detail::compile(traced, where, wanted);
}
template program compile<compile_layout>(const graph_view& traced, const target& where, const options& wanted);

template <uint64 Layout>
program parse(std::string_view source, view<const ir::custom_row*> customs) {
  return detail::read(source, customs);
}
template program parse<program_layout>(std::string_view source, view<const ir::custom_row*> customs);

template <uint64 Layout>
text print(const program_view& p) {
  return detail::written(p);
}
template text print<program_layout>(const program_view& p);

}  // namespace poot::plan::precompiled

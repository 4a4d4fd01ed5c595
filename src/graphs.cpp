/// poot::precompiled: the text form of graphs, and their interpreter.

#include <poot/ir/interpret.hpp>
#include <poot/ir/parse.hpp>
#include <poot/ir/print.hpp>

namespace poot::ir::precompiled {

template <uint64 Layout>
graph parse(std::string_view source, view<const custom_row*> customs) {
  return detail::read(source, customs);
}
template graph parse<graph_layout>(std::string_view source, view<const custom_row*> customs);

template <uint64 Layout>
text print(const graph_view& g) {
  return detail::written(g);
}
template text print<graph_layout>(const graph_view& g);

template <uint64 Layout>
tensor interpret_equation(const graph_view& g, uint32 id, view<const tensor*> in, const tensor_type& type, outside index,
                          subnormals small) {
  return detail::evaluate_equation(g, id, in, type, index, small);
}
template tensor interpret_equation<interpreter_layout>(const graph_view& g, uint32 id, view<const tensor*> in,
                                                               const tensor_type& type, outside index, subnormals small);

template <uint64 Layout>
interpretation interpret(const graph_view& g, view<named_tensor> given, const interpret_options& options) {
  return detail::evaluate_graph(g, given, options);
}
template interpretation interpret<interpreter_layout>(const graph_view& g, view<named_tensor> given, const interpret_options& options);

}  // namespace poot::ir::precompiled

/// The interpreter as an executor: verified, then run equation by equation.

#include "interpreter_executor.hpp"

#include <poot/ir/verify.hpp>

namespace poot::tool {

namespace {

class interpreted_graph : public loaded_graph {
 public:
  interpreted_graph(const ir::graph& g, ir::outside index) : graph_(g), options_{ir::arithmetic::exact, index} {}

  ir::interpretation run(view<ir::named_tensor> given) override {
    vec<ir::named_tensor> all = given;  // names found first win: a given state stands before a kept one
    all.append(states_);
    ir::interpretation result = ir::interpret(graph_, all, options_);
    states_ = result.states;
    return result;
  }

 private:
  const ir::graph& graph_;
  ir::interpret_options options_;
  vec<ir::named_tensor> states_;
};

class interpreter : public executor {
 public:
  explicit interpreter(ir::outside index) : index_(index) {}
  std::string name() const override { return index_ == ir::outside::refuse ? "interpreter" : "interpreter, clamping"; }
  std::unique_ptr<loaded_graph> load(const ir::graph& g, fusion) const override {
    ir::verify(g);
    return std::make_unique<interpreted_graph>(g, index_);
  }

 private:
  ir::outside index_;
};

}  // namespace

std::unique_ptr<executor> make_interpreter(ir::outside index) { return std::make_unique<interpreter>(index); }

}  // namespace poot::tool

#pragma once
/// A session of a typed model, on any device.

#include <poot/dsl/bind.hpp>
#include <poot/plan/program.hpp>
#include <poot/run/buffer.hpp>

namespace poot::run {

/// A typed model, loaded: names and element types of a call are checked when it compiles, counts when it runs.
template <auto Model, class Session>
class typed_session {
 public:
  explicit typed_session(Session loaded) : session_(std::move(loaded)) {}

  /// Binds and runs. States that are not bound keep their values here, zero at first.
  template <dsl::any_binding... B>
  void operator()(const B&... bindings) {
    static_assert(dsl::check_bindings<Model, dsl::must_bind::inputs_and_weights, B...>());
    (lend(bindings), ...);
    session_.run();
  }
  const plan::program_view& program() const { return session_.program(); }
  /// Where a result lies after a run, with its concrete type. Throws `error` where no run has given one.
  buffer result(std::string_view name) const { return session_.result(name); }

 private:
  template <dsl::any_binding B>
  void lend(const B& b) {
    const ir::graph_view& g = session_.program().graph;
    void* data = const_cast<void*>(static_cast<const void*>(b.data()));
    constexpr bool is_writable = !dsl::row_of_binding<B>().is_const;
    if constexpr (B::is_result) {
      for (const ir::graph_output& o : g.outputs)
        if (g.chars(o.name) == B::name) session_.into(B::name, {data, concrete("into", B::name, g.type(o.value), b.count()), is_writable});
    } else {
      session_.bind(B::name, {data, concrete("bind", B::name, g.type(g.find_leaf(B::name)), b.count()), is_writable});
    }
  }

  /// The declared type with its one dynamic extent, if any, as `count` elements (bytes of a packed type) say; `call` gives them.
  static tensor_type concrete(const char* call, std::string_view name, tensor_type t, size_t count) {
    int64 fixed = 1, dynamic = -1;
    int unknown = 0;
    for (int i = 0; i < t.rank; ++i) {
      if (!t.extents[i].is_dynamic()) fixed *= t.extents[i].code;
      else dynamic = i, ++unknown;
    }
    const auto given = static_cast<int64>(is_packed(t.element) ? count / row(t.element).block_bytes * row(t.element).block_elements : count);
    if (unknown > 1) fail(text{} << call << " \"" << name << "\": the elements of several dynamic extents cannot be told from a count");
    if (unknown == 1) {
      if (fixed == 0 || given % fixed != 0)
        fail(text{} << call << " \"" << name << "\": " << given << " elements are no whole number of rows of " << fixed);
      t.extents[dynamic] = extent(given / fixed);
    } else if (given != fixed) {
      fail(text{} << call << " \"" << name << "\": the model has " << fixed << " elements, " << given << " are given");
    }
    return t;
  }

  Session session_;
};

}  // namespace poot::run

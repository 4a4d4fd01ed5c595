#pragma once
/// Boost.Hana at the boundary: a Hana struct of parameters is a parameter tree, whose members are weights named by a
/// pattern; structs and tuples of tensors are results of blocks; structs and maps of arrays bind whole.
///
///     struct layer_weights { BOOST_HANA_DEFINE_STRUCT(layer_weights, (norm_t, attn_norm), (proj_t, attn_q)); };
///     constexpr auto w = poot::weights<layer_weights, "blk.{}.*.weight">;    // blk.0.attn_norm.weight …

#include <poot/dsl/bind.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/fwd/map.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/members.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

namespace poot::dsl {

namespace hana = boost::hana;

/// A member of a parameter tree.
template <dtype T, auto... E>
using param = tensor<type_of(T, E...)>;

template <class S>
concept parameter_struct = hana::Struct<S>::value && std::is_class_v<S>;

/// `pattern` for the member: in place of `*`, or at the end where there is none.
constexpr text member_name(std::string_view pattern, std::string_view member) {
  text r;
  bool placed = false;
  for (char c : pattern) {
    if (c == '*' && !placed) r << member, placed = true;
    else r << c;
  }
  if (!placed) r << member;
  return r;
}
/// The pattern of a nested struct: its members stand after `member.`.
constexpr text nested_pattern(std::string_view pattern, std::string_view member) {
  return member_name(pattern, (text{} << member << ".*").str());
}

/// Where a tree's leaves are made.
struct leaf_maker {
  ir::graph* owner = nullptr;
  tracer* trace = nullptr;
  template <tensor_type T>
  constexpr void make(tensor<T>& member, std::string_view name) const {
    if (trace) member = {owner, trace, trace->named_leaf(ir::op::weight, T, name)};
    else member = {owner, nullptr, tracer(*owner, true).named_leaf(ir::op::weight, T, name)};
  }
  template <parameter_struct S>
  constexpr void make(S& tree, std::string_view pattern) const {
    hana::for_each(hana::accessors<S>(), member_maker<S>{*this, tree, pattern});
  }
  template <class S>
  struct member_maker {
    const leaf_maker& maker;
    S& tree;
    std::string_view pattern;
    template <class Accessor>
    constexpr void operator()(Accessor accessor) const {
      auto& member = hana::second(accessor)(tree);
      const std::string_view own = hana::to<char const*>(hana::first(accessor));
      using type = std::remove_cvref_t<decltype(member)>;
      static_assert(is_tensor<type> || parameter_struct<type>, "poot: members of a parameter tree are poot::param or structs of them");
      if constexpr (is_tensor<type>) maker.make(member, member_name(pattern, own).str());
      else maker.make(member, nested_pattern(pattern, own).str());
    }
  };
};

/// A tree whose weights are named by `Pattern`; in a block it is the struct itself.
template <class S, fixed_text Pattern>
struct parameter_tree {
  template <int64 I>
  static constexpr auto at(index_constant<I>) {
    return parameter_tree<S, numbered_name<Pattern, I>::name>{};
  }
};
template <class S, fixed_text Pattern>
struct argument<parameter_tree<S, Pattern>> {
  static constexpr bool is_free = true, is_refused = false;
  using nodes = type_list<>;
  using inside = S;
  static constexpr S open(tracer& t, const uint32*) {
    S tree{};
    leaf_maker{&t.graph(), &t}.make(tree, Pattern.view());
    return tree;
  }
  /// Beside operands that already stand in a graph.
  static constexpr S settle(place p) {
    S tree{};
    leaf_maker{p.owner, p.trace}.make(tree, Pattern.view());
    return tree;
  }
};

template <parameter_struct S, fixed_text Pattern>
inline constexpr parameter_tree<S, Pattern> weights{};
/// The same at run time: the struct, its weights added to `g`.
template <parameter_struct S>
constexpr S weights_in(ir::graph& g, std::string_view pattern) {
  S tree{};
  leaf_maker{&g, nullptr}.make(tree, pattern);
  return tree;
}

// ---- every member is read ----

struct member_reader {
  const ir::graph_view& g;
  text& missing;
  template <class S>
  constexpr void look(std::string_view pattern) const {
    hana::for_each(hana::accessors<S>(), visitor<S>{*this, pattern});
  }
  template <class S>
  struct visitor {
    const member_reader& reader;
    std::string_view pattern;
    template <class Accessor>
    constexpr void operator()(Accessor accessor) const {
      using type = std::remove_cvref_t<decltype(hana::second(accessor)(std::declval<S&>()))>;
      const std::string_view own = hana::to<char const*>(hana::first(accessor));
      if constexpr (is_tensor<type>) {
        const text leaf = member_name(pattern, own);
        if (reader.missing.empty() && reader.g.find_leaf(leaf.str()) == reader.g.size()) reader.missing << own << " (\"" << leaf << "\")";
      } else {
        reader.look<type>(nested_pattern(pattern, own).str());
      }
    }
  };
};

/// The name of a class without its namespaces, as the compiler spells it.
template <class S>
constexpr std::string_view class_name() {
  std::string_view whole = __PRETTY_FUNCTION__;
  whole = whole.substr(whole.find("S = ") + 4);
  size_t end = 0;
  while (end < whole.size() && whole[end] != ';' && whole[end] != ']') ++end;
  whole = whole.substr(0, end);
  for (size_t i = whole.size(); i-- > 0;)
    if (whole[i] == ':') return whole.substr(i + 1);
  return whole;
}

template <class S, fixed_text Pattern, int64 N, class M>
struct unread_member {
  constexpr text operator()() const {
    text missing;
    for (int64 i = 0; i < N && missing.empty(); ++i) {
      text pattern;
      const std::string_view p = Pattern.view();
      for (size_t k = 0; k < p.size(); ++k) {
        if (p[k] == '{' && k + 1 < p.size() && p[k + 1] == '}') pattern << i, ++k;
        else pattern << p[k];
      }
      const ir::graph_view g = ir::freeze<traced<M>>.view();
      member_reader{g, missing}.template look<S>(pattern.str());
    }
    if (missing.empty()) return {};
    return text{} << class_name<S>() << ": no output of the model reads its member " << missing;
  }
};
/// Whether the model reads every member of N trees `weights<S, Pattern>`; otherwise stops the compiler with one sentence.
template <parameter_struct S, fixed_text Pattern, int64 N = 1, model M>
consteval bool reads_all(M) {
  using problem = unread_member<S, Pattern, N, M>;
  if constexpr (detail::is_silent<problem>()) {
    return true;
  } else {
    static_assert(accepted_call<typename detail::sentence<problem>::type>, "poot: a weight is never read");
    return true;  // said once
  }
}

// ---- results of blocks ----

template <class... X>
  requires(typed<X> && ...)
struct block_result<hana::tuple<X...>> {
  static constexpr bool is_result = true;
  using parts = type_list<X...>;
  static constexpr void collect(const hana::tuple<X...>& out, collector take) { hana::for_each(out, take); }
  template <class... Part>
  static constexpr auto rebuild(Part... part) {
    return hana::tuple<Part...>{part...};
  }
};
/// The nodes of a struct's members come as `results`, in their order: a struct's members cannot change their types.
template <parameter_struct S>
struct block_result<S> {
  template <class... X>
  static constexpr type_list<X...> list(const hana::tuple<X...>&);
  static constexpr bool is_result = true;
  using parts = decltype(list(hana::members(std::declval<S>())));
  static constexpr void collect(const S& out, collector take) { hana::for_each(hana::members(out), take); }
  template <class... Part>
  static constexpr auto rebuild(Part... part) {
    return results<Part...>{part...};
  }
};

// ---- whole structs and maps of arrays ----

template <char... C>
constexpr fixed_text<sizeof...(C) + 1> text_of(hana::string<C...>) {
  return fixed_text<sizeof...(C) + 1>({C..., '\0'});
}
/// The name of a member of a tree as a constant.
template <fixed_text Pattern, fixed_text Member>
struct placed_name {
  static constexpr size_t size = member_name(Pattern.view(), Member.view()).size();
  static constexpr fixed_text<size + 1> name = [] {
    char chars[size + 1]{};
    const text whole = member_name(Pattern.view(), Member.view());
    for (size_t i = 0; i < size; ++i) chars[i] = whole.str()[i];
    return fixed_text<size + 1>(chars);
  }();
};
template <fixed_text Pattern>
struct binding_of_pair {
  template <class Key, class Range>
  constexpr auto operator()(Key, const Range& range) const {
    return bind<placed_name<Pattern, text_of(Key{})>::name>(range);
  }
};
/// The bindings of a struct whose members are arrays, or of a hana::map from hana::string to arrays, as a hana::tuple:
/// `hana::unpack(bind_all(arrays), run)`. Names are the members', or made of them: `bind_all<"blk.0.*.weight">(arrays)`.
template <fixed_text Pattern = "*", class S>
constexpr auto bind_all(const S& arrays) {
  const binding_of_pair<Pattern> binding{};
  if constexpr (hana::Struct<S>::value) {
    return hana::unpack(hana::accessors<S>(), [&](auto... accessor) {
      return hana::make_tuple(binding(hana::first(accessor), hana::second(accessor)(arrays))...);
    });
  } else {
    return hana::unpack(arrays, [&](const auto&... pair) {
      return hana::make_tuple(binding(hana::first(pair), hana::second(pair))...);
    });
  }
}

}  // namespace poot::dsl

namespace poot {
using dsl::bind_all, dsl::param, dsl::reads_all, dsl::weights, dsl::weights_in;
}  // namespace poot

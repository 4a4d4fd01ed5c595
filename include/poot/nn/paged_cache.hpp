#pragma once
/// Keys or values of many sequences in one pool of pages. A table names the pages of each sequence, in any order; sequences that
/// begin alike may name the same pages for what they have in common. (Kwon et al., "Efficient Memory Management for Large Language
/// Model Serving with PagedAttention", arXiv 2309.06180.)
///
///   pages[KV, P, page, D]   table i32[B, N]   position i of sequence b is in page table[b, i / page], row i mod page
///
/// Heads stand first: what is gathered along the second axis lies as attention reads it. The gather is a dispatch of its own that
/// copies N·page rows of each head, and each row that is written is an update of its own. A page or a position outside is an index
/// outside: an error in the interpreter and under `check`, moved inside elsewhere. What a table names must be finite, used or not,
/// and sequences that run together must not write the same row.

#include <poot/nn/decoder.hpp>

namespace poot::nn {

namespace detail {
constexpr dsl::breach breach_of_pages(const tensor_type& pages, const tensor_type& table, int table_operand) {
  if (pages.rank != 4 || pages.extents[2].is_dynamic() || pages.extents[2].code < 1)
    return {"pages are [KV,P,page,D], of which page is a number, at least 1", 0};
  if (table.rank < 1 || table.rank > 2) return {"the table is i32[N] or i32[B,N]", table_operand};
  return {};
}
struct reads_pages {  // of pages, table
  static constexpr std::string_view call = "read_pages";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const dsl::breach b = breach_of_pages(in[0], in[1], 1);
    return b.none() && in[1].last().is_dynamic() ? dsl::breach{"the number of pages N must be a number, not dynamic", 1} : b;
  }
};
struct writes_pages {  // of pages, rows, table, positions
  static constexpr std::string_view call = "write_pages";
  constexpr dsl::breach operator()(const tensor_type* in) const {
    const extent rows = in[1].extents[1];
    if (in[1].rank != 3) return {"rows are [KV,T,D]", 1};
    if (rows.is_dynamic()) return {"the number of rows must be known"};
    if (in[3].rank != 1 || in[3].extents[0] != rows) return {"there must be a position for each row", 3};
    if (in[2].rank == 2 && in[2].extents[0] != rows) return {"there must be a sequence for each row", 2};
    return breach_of_pages(in[0], in[2], 2);
  }
};
struct join_pages {  // [KV,…,N,page,D] to [KV,…,N·page,D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    const int rank = in[0].rank;
    a.declared = in[0];
    a.declared.rank = static_cast<uint8>(rank - 1);
    a.declared.extents[rank - 3] = extent(in[0].extents[rank - 3].code * in[0].extents[rank - 2].code);
    a.declared.extents[rank - 2] = in[0].last();
  }
};
struct row_of_page {  // [KV,1,D] to [KV,1,1,D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], 1, 1, in[0].last());
  }
};
struct without_first_axis {  // [1,N] to [N]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const { a.declared = type_of(in[0].element, in[0].last()); }
};
struct one_query {  // [H,B,D] to [H,B,1,D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], in[0].extents[1], 1, in[0].last());
  }
};
struct without_query_axis {  // [H,B,1,D] to [H,B,D]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], in[0].extents[1], in[0].last());
  }
};
struct mask_of_sequences {  // [B,S] to [B,1,S]
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const {
    a.declared = type_of(in[0].element, in[0].extents[0], 1, in[0].last());
  }
};
template <int Axis, class At>
struct one_along {
  [[no_unique_address]] At at;
  constexpr void operator()(dsl::attributes& a, const tensor_type* in) const { dsl::write_slice(a, in[0], Axis, at, 1, 1); }
};
template <int Axis, dsl::handle X, class At>
constexpr auto one_of(X x, At at) {
  return dsl::apply<ir::op::slice>(one_along<Axis, At>{at}, x);
}

/// The table of sequence `at`, i32[N].
template <dsl::handle Table, class At>
constexpr auto table_of(Table table, At at) {
  return dsl::apply<ir::op::reshape>(without_first_axis{}, one_of<0>(table, at));
}
/// pages with row `at` of rows[KV,T,D] at the place of its position.
template <dsl::handle Pages, dsl::handle Rows, dsl::handle Table, dsl::handle Column, dsl::handle Offset, class At>
constexpr auto write_row(Pages pages, Rows rows, Table table, Column columns, Offset offsets, At at) {
  const auto page = dsl::gather<0>(table, one_of<0>(columns, at));  // [1]
  const auto zero = dsl::iota_from<one_index>(page);
  const auto start = dsl::concat<0>(zero, page, one_of<0>(offsets, at), zero);
  return dsl::dynamic_update_slice(pages, dsl::apply<ir::op::reshape>(row_of_page{}, one_of<1>(rows, at)), start);
}
/// The number of rows in a page, beside which positions are divided.
template <dsl::handle Pages>
constexpr auto rows_of_page(Pages pages) {
  if constexpr (dsl::run_time<Pages>) return static_cast<int32>(pages.type().extents[2].code);
  else return number<Pages::result.extents[2].code>;
}
template <int64 At, dsl::handle Pages, dsl::handle Rows, dsl::handle Table, dsl::handle Column, dsl::handle Offset>
constexpr auto write_rows_from(Pages pages, Rows rows, Table table, Column columns, Offset offsets) {
  if constexpr (At >= Rows::result.extents[1].code) {
    return pages;
  } else {
    const dsl::index_constant<At> at{};
    if constexpr (Table::result.rank == 1)
      return write_rows_from<At + 1>(write_row(pages, rows, table, columns, offsets, at), rows, table, columns, offsets);
    else
      return write_rows_from<At + 1>(write_row(pages, rows, table_of(table, at), columns, offsets, at), rows, table, columns, offsets);
  }
}
template <dsl::handle Pages, dsl::handle Rows, dsl::handle Table, dsl::handle Positions>
constexpr auto write_each(Pages pages, Rows rows, Table table, Positions positions) {
  const auto columns = positions / rows_of_page(pages);            // [T]
  const auto offsets = positions - columns * rows_of_page(pages);  // [T]
  const auto stored = dsl::cast_like(rows, pages);
  if constexpr (dsl::run_time<Pages>) {
    for (int64 at = 0; at < rows.type().extents[1].code; ++at)
      pages = write_row(pages, stored, table.type().rank == 1 ? table : table_of(table, at), columns, offsets, at);
    return pages;
  } else {
    return write_rows_from<0>(pages, stored, table, columns, offsets);
  }
}
}  // namespace detail

/// Of pages[KV,P,page,D] those that a table names, one behind another: [KV,N·page,D] for i32[N], [KV,B,N·page,D] for i32[B,N].
template <dsl::handle Pages, dsl::handle Table>
constexpr auto read_pages(Pages pages, Table table) {
  const auto checked = dsl::obeying(detail::reads_pages{}, pages, table);
  return dsl::apply<ir::op::reshape>(detail::join_pages{}, dsl::gather<1>(checked, table));
}

/// pages[KV,P,page,D] with rows[KV,T,D] of positions i32[T]: all of one sequence for a table i32[N], row t of sequence t for i32[T,N].
/// T is a number, not a dynamic extent.
template <dsl::handle Pages, dsl::handle Rows, dsl::handle Table, dsl::handle Positions>
constexpr auto write_pages(Pages pages, Rows rows, Table table, Positions positions) {
  const auto checked = dsl::obeying(detail::writes_pages{}, pages, rows, table, positions);
  if constexpr (std::same_as<std::remove_const_t<decltype(checked)>, dsl::poison>) {
    return checked;
  } else {
    return detail::write_each(checked, rows, table, positions);
  }
}

/// Attention of B sequences with a query each: q[H,B,D], pages of keys and values, table i32[B,N], positions i32[B] of the queries;
/// [H,B,D]. (Several queries of one sequence: `attention` over `read_pages` of its table.)
template <dsl::handle Q, dsl::handle Keys, dsl::handle Values, dsl::handle Table, dsl::handle Positions>
constexpr auto paged_attention(Q q, Keys key_pages, Values value_pages, Table table, Positions positions) {
  const auto query = dsl::obeying(detail::scales_scores<"paged_attention">{}, q, key_pages, value_pages);
  const auto heads = dsl::extent_of<0>(query);
  const auto keys = repeat_heads(dsl::cast_like(read_pages(key_pages, table), query), heads);      // [H,B,S,D]
  const auto values = repeat_heads(dsl::cast_like(read_pages(value_pages, table), query), heads);  // [H,B,S,D]
  const auto seen = causal(dsl::iota_from<detail::keys_of>(keys), positions);                      // [B,S]
  const auto queries = dsl::apply<ir::op::reshape>(detail::one_query{}, query);
  const auto mixed = attend(queries, keys, values, dsl::apply<ir::op::reshape>(detail::mask_of_sequences{}, seen),
                            dsl::literal_from<detail::reciprocal_root_of_last>(query));
  return dsl::apply<ir::op::reshape>(detail::without_query_axis{}, mixed);
}

}  // namespace poot::nn

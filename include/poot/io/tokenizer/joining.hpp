#pragma once
/// Neighbours that join, the best pair first: what byte pairs and sentence pieces have in common.

#include <poot/core/integers.hpp>

#include <algorithm>
#include <vector>

namespace poot::io {

/// Joins neighbours until no pair does. A `Symbol` links to its neighbours by `previous` and `next`; previous of the first is
/// 2^32 - 1, next of the last their count. A `Candidate` is a pair of symbols, `left` and `right`; the greatest joins first.
/// `meets(left, right, candidate)` says whether two symbols join, and as what; `still_there(left, right, candidate)` whether
/// neither has been joined elsewhere since; `unite(left, right, candidate)` makes the left one both.
template <class Candidate, class Symbol, class Meets, class StillThere, class Unite>
void join_best_first(std::vector<Symbol>& symbols, Meets meets, StillThere still_there, Unite unite) {
  std::vector<Candidate> best;  // a heap
  const auto meet = [&](uint32 left) {
    const uint32 right = symbols[left].next;
    if (right >= symbols.size()) return;
    Candidate c{};
    if (!meets(symbols[left], symbols[right], c)) return;
    c.left = left;
    c.right = right;
    best.push_back(c);
    std::push_heap(best.begin(), best.end());
  };
  for (uint32 i = 0; i < symbols.size(); ++i) meet(i);
  while (!best.empty()) {
    std::pop_heap(best.begin(), best.end());
    const Candidate c = best.back();
    best.pop_back();
    Symbol &left = symbols[c.left], &right = symbols[c.right];
    if (!still_there(left, right, c)) continue;
    unite(left, right, c);
    left.next = right.next;
    if (left.next < symbols.size()) symbols[left.next].previous = c.left;
    if (left.previous < symbols.size()) meet(left.previous);
    meet(c.left);
  }
}

}  // namespace poot::io

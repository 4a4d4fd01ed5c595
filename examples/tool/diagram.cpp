#include "diagram.hpp"

#include <poot/plan/explain.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace poot::tool {

namespace {

constexpr size_t most_boxes = 4000;
constexpr int width = 190, height = 46, gap_x = 24, gap_y = 34;  ///< pixels

std::string escaped(std::string_view chars) {
  std::string out;
  for (const char c : chars) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

/// The first characters of a list of words, as many as a box holds.
std::string shortened(const std::string& chars) {
  constexpr size_t most = 30;
  return chars.size() <= most ? chars : chars.substr(0, most - 1) + "…";
}

struct box {
  std::string title, line, all;  ///< what it is, what is inside, and everything about it
  std::vector<size_t> reads;     ///< boxes
  int level = 0;
  double place = 0;  ///< along its level
};

std::string names_of(const plan::program_view& p, ir::slice_of ids) {
  std::string out;
  for (uint32 id : p(ids)) {
    text name;
    plan::write_value_name(name, p.graph, id);
    out += (out.empty() ? "" : " ") + std::string(name.str());
  }
  return out;
}

std::vector<box> boxes_of(const plan::program_view& p) {
  if (p.launches.size() > most_boxes)
    fail(text{} << "--html: " << p.launches.size() << " dispatches are more than the " << most_boxes << " that a page can show");
  std::map<uint32, size_t> made_by;  // values
  std::vector<box> boxes;
  for (const plan::launch& l : p.launches) {
    box b;
    b.title = fuse::name(l.kind);
    for (uint32 id : p(l.members)) b.line += (b.line.empty() ? "" : " ") + std::string(plan::op_name(p.graph[id]));
    text moved;
    plan::write_bytes(moved, l.bytes);
    b.all = b.line + "\nreads " + names_of(p, l.inputs) + "\nwrites " + names_of(p, l.outputs) + "\nmoves " + std::string(moved.str());
    for (uint32 in : p(l.inputs))
      if (const auto from = made_by.find(p.storage_of(in)); from != made_by.end()) b.reads.push_back(from->second);
    std::sort(b.reads.begin(), b.reads.end());
    b.reads.erase(std::unique(b.reads.begin(), b.reads.end()), b.reads.end());
    for (const size_t from : b.reads) b.level = std::max(b.level, boxes[from].level + 1);
    for (uint32 id : p(l.outputs)) made_by[id] = boxes.size();
    boxes.push_back(std::move(b));
  }
  return boxes;
}

/// Places boxes of one level side by side, each near those that it reads; returns the greatest number in one.
int arrange(std::vector<box>& boxes) {
  std::map<int, std::vector<size_t>> levels;
  for (size_t i = 0; i < boxes.size(); ++i) levels[boxes[i].level].push_back(i);
  size_t widest = 0;
  for (auto& [level, list] : levels) {
    for (const size_t i : list) {
      double sum = 0;
      for (const size_t from : boxes[i].reads) sum += boxes[from].place;
      boxes[i].place = boxes[i].reads.empty() ? static_cast<double>(i) : sum / static_cast<double>(boxes[i].reads.size());
    }
    std::sort(list.begin(), list.end(), [&](size_t a, size_t b) { return boxes[a].place != boxes[b].place ? boxes[a].place < boxes[b].place : a < b; });
    for (size_t k = 0; k < list.size(); ++k) boxes[list[k]].place = static_cast<double>(k);
    widest = std::max(widest, list.size());
  }
  return static_cast<int>(widest);
}

std::string drawing(const plan::program_view& p, const std::string& id) {
  std::vector<box> boxes = boxes_of(p);
  const int columns = arrange(boxes);
  int levels = 0;
  for (const box& b : boxes) levels = std::max(levels, b.level + 1);
  const auto x = [](const box& b) { return static_cast<int>(b.place) * (width + gap_x) + gap_x; };
  const auto y = [](const box& b) { return b.level * (height + gap_y) + gap_y; };
  std::string out = "<svg class=\"" + id + "\" width=\"" + std::to_string(columns * (width + gap_x) + width / 2) + "\" height=\"" +
                    std::to_string(levels * (height + gap_y) + gap_y) + "\">\n";
  for (const box& b : boxes)
    for (const size_t from : b.reads) {
      const box& f = boxes[from];
      const int x1 = x(f) + width / 2, y1 = y(f) + height, x2 = x(b) + width / 2, y2 = y(b);
      const int aside = b.level > f.level + 1 ? width * 3 / 4 : 0;  // past the boxes between
      const auto point = [](int at_x, int at_y) { return std::to_string(at_x) + "," + std::to_string(at_y); };
      out += "<path d=\"M" + point(x1, y1) + " C" + point(x1 + aside, y1 + gap_y / 2) + " " + point(x2 + aside, y2 - gap_y / 2) + " " + point(x2, y2) + "\"/>\n";
    }
  for (const box& b : boxes) {
    out += "<g class=\"" + b.title + "\" transform=\"translate(" + std::to_string(x(b)) + "," + std::to_string(y(b)) + ")\"><title>" + escaped(b.all) +
           "</title><rect width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" rx=\"5\"/><text x=\"8\" y=\"18\">" +
           escaped(b.title) + "</text><text class=\"inside\" x=\"8\" y=\"36\">" + escaped(shortened(b.line)) + "</text></g>\n";
  }
  return out + "</svg>\n";
}

std::string count_of(const plan::program_view& p) {
  text moved;
  plan::write_bytes(moved, p.bytes_moved());
  return std::to_string(p.dispatch_count()) + (p.dispatch_count() == 1 ? " dispatch, " : " dispatches, ") + std::string(moved.str()) + " moved";
}

constexpr std::string_view style = R"(body { font: 14px sans-serif; margin: 1.5em; color: #222; background: #fff }
svg { display: none } body.unfused svg.unfused, body.fused svg.fused { display: block }
.count { display: none } body.unfused .unfused.count, body.fused .fused.count { display: inline }
button { font: inherit; padding: .3em 1em } body.unfused #to_unfused, body.fused #to_fused { font-weight: bold }
rect { fill: #eee; stroke: #777 } path { stroke: #999; fill: none } .inside { font-size: 11px; fill: #555 }
.row rect { fill: #d9ead3 } .pointwise rect { fill: #e8f0fe } .contraction rect { fill: #fce8b2 } .attention rect { fill: #f4cccc }
.rope rect { fill: #ead1dc } .movement rect { fill: #f3f3f3 })";
constexpr std::string_view script = R"(function show(which) { document.body.className = which; location.hash = which }
document.body.className = location.hash == '#fused' ? 'fused' : 'unfused')";

}  // namespace

std::string diagram_page(const plan::program_view& apart, const plan::program_view& fused) {
  const std::string name = escaped(fused.graph.chars(fused.graph.name));
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" + name + "</title>\n<style>\n" + std::string(style) +
         "\n</style></head>\n<body class=\"unfused\">\n<h1>" + name + "</h1>\n<p><button id=\"to_unfused\" onclick=\"show('unfused')\">unfused</button> " +
         "<button id=\"to_fused\" onclick=\"show('fused')\">fused</button> <span class=\"unfused count\">" + count_of(apart) +
         "</span><span class=\"fused count\">" + count_of(fused) + "</span></p>\n" + drawing(apart, "unfused") + drawing(fused, "fused") +
         "<script>\n" + std::string(script) + "\n</script>\n</body>\n</html>\n";
}

}  // namespace poot::tool

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TREE_LABELS_HPP
#define KPROF_REPORT_TEXT_TREE_LABELS_HPP

// What the rows of the call tree are called, so that no two rows below one read the same, and the
// lines that lead to them. Included by tree.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/chosen_tree.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/telling_lines.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The lines that lead to a row, and those that pass by further lines of its name; for a row too
/// deep to draw, how deep it is.
struct leading_lines {
  std::string first, more;
};
[[gnu::cold]] inline leading_lines lines_to(const chosen_tree& tree, std::size_t at,
                                            std::size_t page_width, bool ascii) {
  const std::size_t depth = tree.rows[at].row.depth;
  if (depth == 0) return {};
  const char *const pass_by = ascii ? "|  " : "\u2502  ",
                    *const end = ascii ? "`- " : "\u2514\u2500 ",
                    *const branch = ascii ? "|- " : "\u251C\u2500 ";
  leading_lines out;
  if (3 * depth > page_width * 2 / 5) {
    out.first = (ascii ? ".." : "\u2026") + std::to_string(depth) + ' ';
    out.more.assign(display_width(out.first), ' ');
  } else {
    std::vector<bool> ends;
    for (std::uint32_t up = tree.rows[at].row.parent;
         up != scope_node::none && tree.rows[up].row.depth > 0; up = tree.rows[up].row.parent)
      ends.push_back(tree.last[up]);
    for (std::size_t i = ends.size(); i-- > 0;) out.first += ends[i] ? "   " : pass_by;
    out.more = out.first;
  }
  out.first += tree.last[at] ? end : branch;
  out.more += tree.last[at] ? "   " : pass_by;
  return out;
}

/// The names of the rows that are shown, operators with what tells them apart.
class tree_labels {
 public:
  [[gnu::cold]] tree_labels(const page& out, const profile& p, const text_plan& plan,
                            const chosen_tree& tree)
      : tree_(tree), ascii_(out.ascii()), described_({}, false) {
    const row_describer describer(p, plan, false);
    std::vector<described_row> rows;
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      if (!tree.shown[i]) continue;
      lines_.push_back(lines_to(tree, i, out.width(), ascii_));
      rows.push_back(row_of(tree.rows[i], p, describer));
      rows.back().indent = display_width(lines_.back().first);
      places_.push_back(i);
    }
    say_differing_fields(rows, [&](std::size_t i) {
      const folded_row& folded = tree.rows[places_[i]];
      const bool is_one =
          folded.row.kind == scope_kind::op && !folded.row.merged && folded.nodes.size() == 1;
      return is_one ? describer.fields_of(p.nodes[folded.nodes[0]]) : part_list{};
    });
    described_ = telling_lines(std::move(rows), ascii_);
  }

  std::size_t natural() const { return described_.natural(); }

  /// The page width at which no name is cut. A wider page has more of the lines that lead to deep
  /// rows, so that it is approached from below. `others`: the width of all other columns.
  [[gnu::cold]] std::size_t whole_page(std::size_t page_width, std::size_t others) const {
    for (std::size_t width = page_width;;) {
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < places_.size(); ++i)
        wanted = std::max(wanted,
                          others + display_width(lines_to(tree_, places_[i], width, ascii_).first) +
                              described_.natural(i));
      if (wanted <= width || wanted > widest_page) return std::max(wanted, width);
      width = wanted;
    }
  }

  /// The lines of each row that is shown, with those that lead to it.
  [[gnu::cold]] std::vector<std::vector<std::string>> at_width(std::size_t width) const {
    std::vector<std::vector<std::string>> texts = described_.at_width(width);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::string& line : texts[i])
        line.insert(0, &line == texts[i].data() ? lines_[i].first : lines_[i].more);
    return texts;
  }

 private:
  [[gnu::cold]] static described_row row_of(const folded_row& folded, const profile& p,
                                            const row_describer& describer) {
    const tree_row& row = folded.row;
    described_row out;
    out.key = row.key;
    out.beside = std::to_string(row.parent);
    if (row.kind == scope_kind::root) {
      out.parts.push_back({0, "thread " + thread_name(p, row.thread)});
      return out;
    }
    const bool is_blank = row.name.find_first_not_of(' ') == std::string::npos;
    const std::string name = is_blank ? "(no name)" : row.name;
    const std::string times =
        folded.siblings > 1 ? " \u00D7" + format_count(folded.siblings) : std::string{};
    if (row.kind != scope_kind::op) {
      out.parts.push_back({0, name});
      out.tail = times;
      return out;
    }
    if (row.merged) out.parts.push_back({0, "not kept"});
    else out.parts = describer.parts_of_sets(folded.nodes);
    if (row.invalid)
      out.parts.insert(out.parts.begin(),
                       {row_describer::invalid_place, out.parts.empty() ? "invalid" : "invalid:"});
    out.lead = name + '(';
    out.tail = ")" + times;
    return out;
  }

  const chosen_tree& tree_;
  bool ascii_;
  std::vector<leading_lines> lines_;  // of the rows that are shown
  std::vector<std::size_t> places_;   // theirs in the tree
  telling_lines described_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TEXT_PLAN_HPP
#define KPROF_REPORT_TEXT_TEXT_PLAN_HPP

// The options of a text report, checked, and what its sections share. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/filter.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct text_plan {
  const report_options& options;
  const column* sort = nullptr;
  std::vector<const column*> columns;  // empty: automatic
  name_filter filter;
  double all_self_ns = 0;
  bool device = false;  // the run has work on a device
  double all_device_ns = 0;

  explicit text_plan(const report_options& o) : options(o) {}

  status prepare() {
    sort = find_column(options.sort.empty() ? "self" : options.sort);
    if (sort == nullptr) return unknown("sort", options.sort);
    for (const std::string& name : options.columns) {
      columns.push_back(find_column(name));
      if (columns.back() == nullptr) return unknown("column", name);
    }
    return filter.set(options.filter);
  }

  /// What the page is about; after prepare().
  void look_at(const profile& p) {
    all_self_ns = detail::all_self_ns(p);
    device = has_device_work(p);
    all_device_ns = all_device_work(p).ns;
    if (device && options.sort.empty()) sort = find_column("device");
  }

 private:
  static status unknown(const char* what, const std::string& name) {
    return {std::string{"unknown "} + what + " \"" + printable(name, 100) +
            "\"; choose from: " + column_names() + " (or name, which is operator)"};
  }
};

/// Says which columns were cut, and at which page width they are `whole`.
inline void print_cut(page& out, const std::vector<std::string>& headers, std::size_t whole) {
  if (headers.empty()) return;
  std::string text = "cut at width " + std::to_string(out.width()) + ": ";
  for (const std::string& header : headers)
    text.append(&header == headers.data() ? "" : ", ").append(header);
  const std::string width = "width=" + std::to_string(std::min(whole, widest_page));
  if (whole <= widest_page)
    text.append("; whole with ")
        .append(width)
        .append(", or KPROF='report(")
        .append(width)
        .append(")'");
  else if (out.width() < widest_page) text.append("; not whole even with ").append(width);
  out.paragraph("", text, 2);
}

/// "12 kernels, 1 copy"; memsets are among the copies.
inline std::string runs_of(const device_sum& sum) {
  return counted(sum.kernels, "kernel", "kernels") + ", " + counted(sum.copies, "copy", "copies");
}

/// A line of the legend.
inline void print_meaning(page& out, const char* header, const std::string& meaning) {
  std::string lead = std::string{"  "} + header;
  lead.resize(14, ' ');
  out.paragraph(lead, meaning, lead.size());
}

/// Why rows are not shown, for the lines that count them.
inline std::string filtered_by(const page& out, const text_plan& plan) {
  return "(filter=" + printable(plan.options.filter, 40, out.ascii()) + ")";
}
inline std::string cut_by(const text_plan& plan, const std::string& order) {
  return '(' + order + ", top=" + std::to_string(plan.options.top) + ')';
}

/// Whether the innermost operator around each node matches.
inline std::vector<bool> matching_operators(const profile& p, const name_filter& filter) {
  const std::vector<std::uint32_t> operators = operators_around(p);
  std::vector<bool> matches(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t op = operators[i];  // itself or one that comes before
    if (op == i) matches[i] = filter.matches(p.nodes[i].name, parameter_text(p, p.nodes[i]));
    else if (op != scope_node::none) matches[i] = matches[op];
  }
  return matches;
}

/// Rows that are not shown: counted and summed, so that nothing is lost in silence.
struct hidden_rows {
  std::uint64_t rows = 0, calls = 0;
  double self_ns = 0, device_ns = 0;

  template <class Row>
  void add(const Row& row) {
    ++rows;
    calls += row.calls + row.replays;
    self_ns += row.self_ns;
    device_ns += row.device_ns;
  }

  void print(page& out, const std::string& what, const std::string& why,
             const text_plan& plan) const {
    if (rows == 0) return;
    std::string text =
        what + ": " + format_count(rows) + ' ' + why + ": " + format_count(calls) + " calls, ";
    if (plan.device)
      text += "device " + out.time(device_ns) + ", " +
              format_share(share_of(device_ns, plan.all_device_ns)) + ", ";
    out.paragraph("",
                  text + "self " + out.time(self_ns) + ", " +
                      format_share(share_of(self_ns, plan.all_self_ns)),
                  2);
  }
};

/// Lists the operators whose rows something holds for, and of how many of their rows where it is
/// not for all.
class concerned_names {
 public:
  /// `names`: of the operator of each row.
  explicit concerned_names(std::vector<std::string> names)
      : names_(std::move(names)), name_of_(names_.size()) {
    text_numbers numbers;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      name_of_[i] = numbers.of(names_[i]);
      if (name_of_[i] == shown_.size()) shown_.push_back(0);
      ++shown_[name_of_[i]];
    }
  }

  /// A line, if concerned(index of a row) holds for a row.
  template <class Concerned>
  void print(page& out, const std::string& lead, Concerned concerned) const {
    std::vector<std::size_t> count(shown_.size());
    std::vector<std::uint32_t> order;
    std::vector<std::string> names, notes;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!concerned(i) || ++count[name_of_[i]] > 1) continue;
      order.push_back(name_of_[i]);
      names.push_back(names_[i]);
    }
    if (names.empty()) return;
    for (const std::uint32_t name : order)
      notes.push_back(count[name] == shown_[name] ? ""
                                                  : " (" + format_count(count[name]) + " of " +
                                                        format_count(shown_[name]) + " rows)");
    out.list(lead, names, notes);
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::uint32_t> name_of_;  // of each row, the number of its operator
  std::vector<std::size_t> shown_;      // of each operator, how many rows it has
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_PAGE_HPP
#define KPROF_REPORT_HTML_PAGE_HPP

// Puts the page together: its frame, what is read without a script, the data, style and script.
// Included by html.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/html/charts.hpp>
#include <kprof/report/html/compare.hpp>
#include <kprof/report/html/machine.hpp>
#include <kprof/report/html/overview.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/source.hpp>
#include <kprof/report/html/steps.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/html/timeline.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/table/dimensions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class html_page {
 public:
  /// `compared`: null where the run is not compared with others.
  [[gnu::cold]] html_page(const profile& p, std::size_t most_slices,
                          const page_comparison* compared, text_sink& out)
      : t_(p), most_slices_(most_slices), compared_(compared), out_(out) {}

  /// The frame has marks for what goes between its pieces.
  [[gnu::cold]] void put() {
    std::string_view rest = page_frame;
    for (;;) {
      const std::size_t mark = rest.find("<!--kprof:");
      out_.put(rest.substr(0, mark));
      if (mark == std::string_view::npos) return;
      rest.remove_prefix(mark + std::string_view{"<!--kprof:"}.size());
      const std::size_t end = rest.find("-->");
      put_part(rest.substr(0, end));
      rest.remove_prefix(end + 3);
    }
  }

 private:
  [[gnu::cold]] void put_part(std::string_view name) {
    const profile& p = t_.run;
    if (name == "title") out_.put(markup_text(p.program.empty() ? "program" : p.program));
    if (name == "style")
      for (const std::string_view piece : page_style) out_.put(piece);
    if (name == "script") {
      for (const std::string_view piece : page_script) out_.put(piece);
      if (compared_ != nullptr) out_.put(page_comparing[0]);
      for (const std::string_view piece : page_script_end) out_.put(piece);
    }
    if (name == "sentence") {
      const page_head head = head_of(t_);
      out_.put(markup_text(head.first) + "<br><span>" + markup_text(head.second) + "</span>");
    }
    if (name == "about") out_.put(markup_text(about_text(p)));
    if (name == "table") put_plain_table();
    if (name == "data") put_data();
  }

  /// The operators for a reader without scripts, the largest first.
  [[gnu::cold]] void put_plain_table() {
    constexpr std::size_t most = 500;
    const std::vector<operator_row>& rows = t_.operators.rows;
    const std::vector<std::uint32_t> order =
        sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
          return t_.time_of(rows[a]) > t_.time_of(rows[b]);
        });
    out_.put(
        "<table><thead><tr><th scope=col>operator<th scope=col>parameters<th scope=col>pass"
        "<th scope=col>calls<th scope=col>time<th scope=col>share<th scope=col>of the roof"
        "<th scope=col>bound</thead><tbody>");
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
      const operator_row& row = rows[order[i]];
      const double ns = t_.time_of(row);
      const std::string cells[] = {
          row.parameters,
          pass_of(t_.run, row),
          format_count(row.calls + row.replays),
          format_time(ns),
          format_share(share_of(ns, t_.whole_ns)),
          row.verdict.roof.known() ? format_share(row.verdict.roof.value) : "n/a",
          bound_of(t_.run, row)};
      out_.put("<tr><th scope=row>" + markup_text(row.name));
      for (const std::string& cell : cells) out_.put("<td>" + markup_text(cell));
    }
    out_.put("</tbody></table>");
    if (rows.size() > most)
      out_.put("<p>" + format_count(rows.size() - most) + " smaller rows are left out here.</p>");
  }

  [[gnu::cold]] void put_data() {
    const profile& p = t_.run;
    script_json out(out_, t_.operators.rows.size() > many_rows ? 4 : 6);
    out.open("{");
    out.member("version", kprof_version());
    out.member("program", p.program);
    out.member("device", t_.device);
    out.member("wall", p.wall_ns);
    put_overview(out, t_);
    put_tables(out, t_);
    put_roofline(out, t_);
    put_tree(out, t_);
    if (!p.steps.empty()) {
      out.key("steps").open("{");
      page_steps(t_).put(out);
      out.close("}");
    }
    if (const page_timeline timeline(t_, most_slices_); !timeline.empty()) {
      out.key("timeline").open("{");
      timeline.put(out);
      out.close("}");
    }
    if (t_.device) put_kernels(out, t_);
    if (compared_ != nullptr) put_comparison(out, t_, *compared_);
    put_machine(out, t_);
    out.close("}");
  }

  page_tables t_;
  std::size_t most_slices_;
  const page_comparison* compared_;
  text_sink& out_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

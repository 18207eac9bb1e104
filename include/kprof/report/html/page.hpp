// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_PAGE_HPP
#define KPROF_REPORT_HTML_PAGE_HPP

// Puts the page together: its frame, what is read without a script, the data, style and script.
// Included by html.hpp.

#include <kprof/build_options.hpp>
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
#include <kprof/report/html/without_script.hpp>
#include <kprof/report/output.hpp>

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

class html_page {
 public:
  /// `compared`: null where the run is not compared with others.
  [[gnu::cold]] html_page(const profile& p, std::size_t most_slices,
                          const page_comparison* compared, text_sink& out)
      : t_(p), says_(t_), most_slices_(most_slices), compared_(compared), out_(out) {}

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
    if (name == "sentence")
      out_.put(markup_text(says_.head.first) + "<br><span>" + markup_text(says_.head.second) +
               "</span>");
    if (name == "about") out_.put(markup_text(says_.head.about));
    if (name == "plain share") out_.put(plain_share(t_, says_.facts));
    if (name == "plain advice") out_.put(plain_advice(says_.found, is_complete(p)));
    if (name == "plain trust") out_.put(plain_trust(says_.trust));
    if (name == "plain table") out_.put(plain_table(t_));
    if (name == "data") put_data();
  }

  [[gnu::cold]] void put_data() {
    const profile& p = t_.run;
    script_json out(out_, t_.operators.rows.size() > many_rows ? 4 : 6);
    out.open("{");
    out.member("version", kprof_version());
    out.member("program", p.program);
    out.member("device", t_.device);
    out.member("wall", p.wall_ns);
    put_overview(out, t_, says_);
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
  page_overview says_;
  std::size_t most_slices_;
  const page_comparison* compared_;
  text_sink& out_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

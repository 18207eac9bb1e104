// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_HPP
#define KPROF_REPORT_HTML_HPP

// The output "html": the run as one page to read in a browser and to send around (docs/files.md).
// Including it makes KPROF="html(path=run.html)" and kprof::write(profile, "html", ...) known in
// this binary.
//
// With against=before.json the page compares the run with earlier ones, which load.hpp has to be
// included for: see load_for_outputs().
//
// The page asks nothing of the network. Names of the program are data in it, never markup. It has
// at most `slices` slices of the timeline, and says how many it leaves out.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/html/earlier_runs.hpp>
#include <kprof/report/html/page.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct html_options {
  std::size_t slices = 50'000;
  std::vector<std::string> against, also;
  unsigned threshold = 3;
};

inline constexpr option html_option_table[] = {
    {.name = "slices",
     .kind = option_kind::number,
     .form = "SLICES",
     .fallback = "50000",
     .most = 10'000'000,
     .meaning = "slices of the timeline that the page may hold, some 20 bytes each; 0: no timeline",
     .store = &store_member<&html_options::slices>},
    {.name = "against",
     .kind = option_kind::list,
     .form = "FILE+FILE",
     .meaning = "saved profiles of earlier runs to compare with; `*` and `?` in a name stand for "
                "any characters",
     .store = &store_member<&html_options::against>},
    {.name = "also",
     .kind = option_kind::list,
     .form = "FILE+FILE",
     .meaning = "saved profiles of more runs of this program, which count beside this one where it "
                "is compared",
     .store = &store_member<&html_options::also>},
    {.name = "threshold",
     .kind = option_kind::number,
     .form = "PERCENT",
     .fallback = "3",
     .least = 1,
     .most = 1000,
     .meaning = "smaller changes make no row slower or faster",
     .store = &store_member<&html_options::threshold>},
};

KPROF_DETAIL_LOCAL inline status write_html(const profile& run, const option_values& values,
                                            text_sink& out) {
  html_options options;
  values.store_into(options);
  earlier_runs earlier;
  if (status loaded = earlier.load(run, options.against, options.also, options.threshold); !loaded)
    return loaded;
  return put_packed_by_name(values.text("path"), out, [&](text_sink& sink) {
    html_page(run, options.slices, earlier.found(), sink).put();
  });
}

inline constexpr output html_output{
    "html",
    "the run as one page to read in a browser",
    html_option_table,
    &write_html,
    [](const option_values& options) { return options.number("slices") > 0; },
    "html"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration html_registered{html_output};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
// Prints the tables of settings, options and columns as the documentation has them: for each row
// the table's name, and the cells between tabs. check_tables.py compares them.

#include <kprof/advice.hpp>
#include <kprof/report/callgrind.hpp>
#include <kprof/report/csv.hpp>
#include <kprof/report/folded.hpp>
#include <kprof/report/gbench.hpp>
#include <kprof/report/hatchet.hpp>
#include <kprof/report/html.hpp>
#include <kprof/report/pprof.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>
#include <kprof/settings.hpp>

#include <cstdio>
#include <string>

using kprof::detail::column;

namespace {

void print_option(const std::string& table, const kprof::option& o) {
  const bool is_mark = o.kind == kprof::option_kind::mark;
  std::printf("%s\t`%s`\t%s\t%s\n", table.c_str(), kprof::detail::usage(o).c_str(),
              is_mark || *o.fallback == '\0' ? "" : ('`' + std::string{o.fallback} + '`').c_str(),
              o.meaning);
}

void print_column(const column& c) {
  const bool of_device = c.rank == kprof::detail::not_here;
  std::string meaning = c.meaning;
  if (meaning != c.device_meaning)
    meaning += std::string{". In a run with work on a device: "} + c.device_meaning;
  std::printf("%s\t`%s`\t%s\t%s\n", of_device ? "device columns" : "columns", c.id, c.header,
              meaning.c_str());
}

}  // namespace

int main() {
  for (const kprof::option& o : kprof::detail::settings_table) print_option("settings", o);
  for (const kprof::output* output : kprof::outputs()) {
    const std::string table = std::string{"options of "} + output->name;
    print_option(table, kprof::detail::path_option);
    for (const kprof::option& o : output->options) print_option(table, o);
  }
  for (const column& c : kprof::detail::columns)
    if (c.as != kprof::detail::look::bar) print_column(c);
  for (const auto& e : kprof::detail::advice_rules::explanations)
    std::printf("advice\t`%s`\t%s\t%s\t%s\t%s\n", e.id, e.meaning, e.fires, e.gain, e.source);
}

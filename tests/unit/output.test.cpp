// SPDX-License-Identifier: MIT
// alone: it looks at all outputs of the program
// Outputs as values: how they become known, how their options are read, where their text goes.

#include <kprof/profile.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/sample_profile.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

using kprof::option;
using kprof::option_kind;
using kprof::option_values;
using kprof::status;
using kprof::text_sink;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

status even(const kprof::option_value& value) {
  return value.number % 2 == 0 ? status{} : status{"rows=" + value.text + " is odd; take an even"};
}

constexpr option echo_options[] = {
    {.name = "rows",
     .kind = option_kind::number,
     .form = "N",
     .fallback = "4",
     .least = 2,
     .most = 1000,
     .validate = &even},
    {.name = "all", .kind = option_kind::flag, .fallback = "on"},
    {.name = "order", .kind = option_kind::choice, .form = "time|run", .fallback = "run"},
    {.name = "words", .kind = option_kind::list, .form = "A+B"},
    {.name = "limit", .kind = option_kind::size, .form = "SIZE", .fallback = "1KiB", .least = 100},
    {.name = "size", .kind = option_kind::number, .form = "BYTES", .fallback = "0"},
};

/// Writes its options, and `size` bytes more.
status write_echo(const kprof::profile&, const option_values& options, text_sink& out) {
  out.put(std::to_string(options.number("rows")) + (options.flag("all") ? " all " : " some "));
  out.put(std::to_string(options.number("order")) + ' ' + options.text("order") + ' ' +
          std::to_string(options.number("limit")));
  for (const std::string& word : options.list("words")) out.put(' ' + word);
  const std::string kib(1024, '.');
  for (std::uint64_t i = 0; i < options.number("size"); i += kib.size()) out.put(kib);
  return {};
}
status write_refusal(const kprof::profile&, const option_values&, text_sink&) {
  return {"cannot; do otherwise"};
}

constexpr kprof::output echo{"echo", "its own options", echo_options, &write_echo};
constexpr kprof::output refusal{"refusal", "nothing", {}, &write_refusal};
constexpr kprof::output second_echo{"echo", "another", {}, &write_refusal};
[[gnu::init_priority(101)]] const kprof::output_registration echo_registered{echo};
[[gnu::init_priority(101)]] const kprof::output_registration refusal_registered{refusal};
[[gnu::init_priority(102)]] const kprof::output_registration second_registered{second_echo};

std::string echoed(const std::vector<kprof::option_setting>& options) {
  std::string text = "untouched";
  const status s = kprof::write(kprof::profile{}, "echo", options, text);
  return s ? text : text + ": " + s.message;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("output.those_included_or_registered_are_known_by_name") {
  std::vector<std::string> names;
  for (const kprof::output* o : kprof::outputs()) names.push_back(o->name);
  CHECK(names == std::vector<std::string>{"echo", "refusal", "report"});
  CHECK(kprof::find_output("echo") == &echo);
  CHECK(kprof::find_output("ech") == nullptr);
}

TEST_CASE("output.one_is_known_while_its_registration_exists") {
  const auto before = kprof::outputs();
  static constexpr kprof::output first{"aaa", "", {}, &write_echo};
  static constexpr kprof::output middle{"middle", "", {}, &write_echo};
  {
    const kprof::output_registration first_registration{first};
    CHECK(kprof::find_output("aaa") == &first);
    {
      const kprof::output_registration middle_registration{middle};
      const kprof::output_registration second_echo_registration{second_echo};
      CHECK(kprof::find_output("middle") == &middle);
    }
    CHECK(kprof::find_output("middle") == nullptr);
    CHECK(kprof::find_output("echo") == &echo);  // the end of its namesake leaves it known
    CHECK(kprof::find_output("aaa") == &first);
  }
  CHECK(kprof::find_output("aaa") == nullptr);
  CHECK(kprof::outputs() == before);
}

TEST_CASE("output.options_have_their_defaults_or_what_is_given") {
  CHECK(echoed({}) == "4 all 1 run 1024");
  CHECK(echoed({{"rows", "8"},
                {"all", "off"},
                {"order", "time"},
                {"words", "a+b c"},
                {"limit", "2K"}}) == "8 some 0 time 2048 a b c");
  CHECK(echoed({{"all", "0"}, {"rows", "8"}, {"rows", "10"}, {"all", ""}}) == "10 all 1 run 1024");
}

TEST_CASE("output.wrong_options_are_told_and_nothing_is_written") {
  CHECK(echoed({{"rows", "9"}}) == "untouched: rows=9 is odd; take an even");
  CHECK(echoed({{"rows", "1001"}}) == "untouched: rows=1001 is no number from 2 to 1000");
  CHECK(echoed({{"order", "x"}}) == "untouched: order=x is unknown; valid: order=time, order=run");
  CHECK(echoed({{"limit", "99"}}) == "4 all 1 run 100");  // raised
  CHECK(echoed({{"colour", "red"}, {"rows", "9"}}) ==
        "untouched: unknown option 'colour=red' of echo; valid: path=FILE, rows=N, all=on|off, "
        "order=time|run, words=A+B, limit=SIZE, size=BYTES");
  std::string text;
  const status s = kprof::write(kprof::profile{}, "ehco", {}, text);
  CHECK(has(s.message,
            "unknown output 'ehco'; did you mean echo? This program has: echo(...), refusal(...), "
            "report"));
  CHECK(has(s.message, "include <kprof/report/ehco.hpp> or link kprof::session"));
  const status bad = kprof::write(kprof::profile{}, "\x1b[2J", {}, text);
  CHECK(has(bad.message, "unknown output '\\x1b[2J'"));
  CHECK(has(bad.message, "<kprof/report/NAME.hpp>"));
  CHECK(kprof::write(kprof::profile{}, "refusal", {}, text).message == "cannot; do otherwise");
}

TEST_CASE("output.text_goes_to_the_file_that_path_names") {
  char folder[] = "/tmp/kprof_outputs_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path = std::string{folder} + "/file";
  const kprof::profile run;
  REQUIRE(kprof::write(run, "echo", {{"path", path}, {"size", "1048576"}}).ok());
  CHECK(read_file(path).size() == 16 + 1048576);  // in pieces
  REQUIRE(kprof::write(run, "echo", {{"path", path}}).ok());
  CHECK(read_file(path) == "4 all 1 run 1024");
  CHECK_FALSE(kprof::write(run, "refusal", {{"path", path}}).ok());
  CHECK_FALSE(kprof::write(run, "echo", {{"path", path}, {"rows", "x"}}).ok());
  CHECK(read_file(path) == "4 all 1 run 1024");  // left alone by what failed before its first text
  CHECK(has(kprof::write(run, "echo", {{"path", path + "/none"}}).message, "cannot write to \""));
  const status full = kprof::write(run, "echo", {{"path", "/dev/full"}, {"size", "1048576"}});
  CHECK(has(full.message, "cannot write to \"/dev/full\": no space left"));
  REQUIRE(kprof::write(run, "echo", {{"path", path + "%p"}}).ok());
  CHECK(read_file(path + std::to_string(getpid())) == "4 all 1 run 1024");
  unlink((path + std::to_string(getpid())).c_str());
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  setenv("OMPI_COMM_WORLD_RANK", "12", 1);
  REQUIRE(kprof::write(run, "echo", {{"path", path + "%r.%h.%x%"}}).ok());
  unsetenv("OMPI_COMM_WORLD_RANK");
  CHECK(read_file(path + "12." + host + ".%x%") == "4 all 1 run 1024");
  unlink((path + "12." + host + ".%x%").c_str());
  unlink(path.c_str());
  CHECK(rmdir(folder) == 0);
}

TEST_CASE("output.report_is_the_page_of_write_text") {
  const kprof::profile run = kprof_test::sample_profile();
  kprof::report_options options;
  options.width = 120;
  options.top = 3;
  options.sort = "calls";
  options.by = kprof::grouping::op;
  options.columns = {"operator", "calls"};
  options.tree = false;
  options.ascii = options.legend = true;
  std::string expected, text;
  REQUIRE(kprof::write_text(run, options, expected).ok());
  REQUIRE(kprof::write(run, "report",
                       {{"width", "120"},
                        {"top", "3"},
                        {"sort", "calls"},
                        {"by", "op"},
                        {"columns", "operator+calls"},
                        {"tree", "off"},
                        {"ascii", ""},
                        {"legend", "on"}},
                       text)
              .ok());
  CHECK(text == expected);
  REQUIRE(kprof::write_text(run, {}, expected).ok());
  REQUIRE(kprof::write(run, "report", {}, text).ok());
  CHECK(text == expected);  // the table's defaults are those of report_options
  CHECK(has(kprof::write(run, "report", {{"sort", "x"}}, text).message, "unknown sort \"x\""));
}

#if defined(__cpp_exceptions)
TEST_CASE("output.what_one_throws_is_its_error") {
  static constexpr kprof::output throws{
      "throws",
      "throws an exception",
      {},
      [](const kprof::profile&, const option_values& values, text_sink& out) -> status {
        out.put("half of it");
        if (values.text("path").empty()) throw std::runtime_error("no such\nrow");
        throw 3;
      }};
  const kprof::output_registration registered{throws};
  const std::string what = "the program's own output or advice threw an exception";
  std::string text = "as before";
  CHECK(kprof::write({}, "throws", {}, text).message == what + ": no such\\nrow");
  CHECK(kprof::write({}, "throws", {{"path", "/dev/null"}}).message == what);
  CHECK(text == "as before");
}
#endif

// SPDX-License-Identifier: MIT
// The file is read back by a parser of RFC 4180's grammar, and compared with operator_table().

#include <kprof/report/csv.hpp>
#include <kprof/report/write.hpp>
#include <kprof/tables.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"
#include "../support/csv_reader.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"
#include "groupings.hpp"

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using kprof::figure;
using kprof::grouping;
using kprof::metric;
using kprof::operator_row;
using kprof_test::csv_of;
using kprof_test::csv_record;
using kprof_test::field_of;
using kprof_test::read_csv;

namespace {

std::string header_of(const metric& m) {
  const std::string unit = m.unit.name;
  return unit.empty() ? m.id : m.id + (" [" + unit + "]");
}

/// With the byte for each "\\xNN" and the character for each "\\u00NN".
std::string unescaped(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.size() >= 4 && text.starts_with("\\x") && std::isxdigit(text[2]) != 0) {
      out += static_cast<char>(std::strtol(std::string{text.substr(2, 2)}.c_str(), nullptr, 16));
      text.remove_prefix(3);
    } else if (text.size() >= 6 && text.starts_with("\\u00") && std::isxdigit(text[4]) != 0) {
      out += '\xc2';
      out += static_cast<char>(std::strtol(std::string{text.substr(4, 2)}.c_str(), nullptr, 16));
      text.remove_prefix(5);
    } else {
      out += text[0];
    }
  }
  return out;
}
/// The field is this text or, where that is not fit for a file, says it in other characters.
void check_says(std::string field, std::string text) {
  CHECK(unescaped(field) == unescaped(text));
  std::erase_if(field, [](char c) { return c == '\t' || c == '\r' || c == '\n'; });
  std::erase_if(text, [](char c) { return c == '\t' || c == '\r' || c == '\n'; });
  CHECK(kprof_test::is_plain_text(field));
  if (kprof_test::is_plain_text(text)) CHECK(field == text);
}

void check_rows(const kprof::profile& run, grouping by, const char* word) {
  const std::vector<operator_row> rows = kprof::operator_table(run, by);
  const std::vector<csv_record> records = csv_of(run, {{"by", word}});
  REQUIRE(records.size() == rows.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_says(field_of(records, i, "operator"), rows[i].name);
    check_says(field_of(records, i, "parameters"), rows[i].parameters);
    CHECK(field_of(records, i, "key") == kprof::row_key_text(rows[i].key));
    CHECK(field_of(records, i, "sets") == std::to_string(rows[i].variants));
    for (const metric& m : kprof::metrics) {
      const figure f = m.of(rows[i]);
      const std::string field = field_of(records, i, header_of(m));
      INFO(m.id << ": " << field);
      if (f.known()) CHECK(std::strtod(field.c_str(), nullptr) == f.value * m.unit.scale);
      else CHECK(field.empty());
      const std::string why = m.id + (": " + std::string{kprof::explain(f.why)});
      CHECK((field_of(records, i, "not known").find(why) != std::string::npos) == !f.known());
    }
  }
}

}  // namespace

TEST_CASE("csv.every_number_comes_back_as_it_was") {
  for (const kprof::profile& run :
       {kprof_test::sample_profile(), kprof_test::troubled_profile(), kprof_test::hostile_profile(),
        kprof_test::transformer_profile()}) {
    check_rows(run, grouping::op, "op");
    check_rows(run, grouping::parameters, "parameters");
    check_rows(run, kprof_test::by_call_site(), "parameters+call_site");
    check_rows(run, kprof_test::by_thread(), "parameters+call_site+thread");
  }
}

TEST_CASE("csv.rows_of_steps_have_their_number_in_a_column") {
  kprof::profile run = kprof_test::small_device_profile();
  run.stepping.threads.emplace_back().count = 1;
  run.steps.push_back({7, 0, true, 0, 1000});
  for (std::uint32_t i = 0; i < run.nodes.size(); ++i)
    if (run.nodes[i].name == "Gemm") run.stepping.shares = {{0, i, 4, 2000, 1000}};
  check_rows(run, grouping::op + grouping::step, "op+step");
  const std::vector<csv_record> records = csv_of(run, {{"by", "op+step"}});
  std::size_t of_step = 0;
  for (std::size_t i = 0; i + 1 < records.size(); ++i) {
    if (field_of(records, i, "step") != "7") continue;
    ++of_step;
    CHECK(field_of(records, i, "calls") == "4");
    CHECK(field_of(records, i, "kernels").empty());
    CHECK(field_of(records, i, "not known").find("kernels: not recorded for single steps") !=
          std::string::npos);
  }
  CHECK(of_step == 1);
}

TEST_CASE("csv.the_header_names_columns_and_units") {
  std::string text;
  REQUIRE(kprof::write(kprof::profile{}, "csv", {}, text).ok());
  CHECK(
      text ==
      "operator,parameters,call_site,thread,dtype,pass,bound,key,sets,calls,replays,open,open_time "
      "[ns],"
      "device [ns],device_share,device_total [ns],kernels,copies,gap [ns],waited [ns],self [ns],"
      "share,"
      "total [ns],cpu,mean [ns],median [ns],p99 [ns],min [ns],max [ns],first [ns],gflops "
      "[GFLOP/s],gbs "
      "[GB/s],"
      "intensity [FLOP/B],flops [FLOP],bytes [B],threads,imbalance,waiting [ns],"
      "roof,ideal [ns],lost [ns],not known\r\n");
}

TEST_CASE("csv.fields_are_quoted_where_they_must_be") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main, \"1\"", 7);
  const auto root = b.thread("x\r\ny", 8);
  for (const char* name : {"", "plain", "a,b", "\"", "say \"hi\"", "two\nlines", "\r", " spaces ",
                           "=1+1", "\xff\xfe", ",\"\r\n,"})
    b.calls(b.op(main, name), 1, 1000);
  b.calls(b.op(root, "other"), 1, 1000);
  const kprof::profile run = b.done();
  const std::vector<operator_row> rows = kprof::operator_table(run, kprof_test::by_thread());
  const std::vector<csv_record> records = csv_of(run, {{"by", "parameters+call_site+thread"}});
  REQUIRE(records.size() == 13);
  for (std::size_t i = 0; i < rows.size(); ++i)
    check_says(field_of(records, i, "operator"), rows[i].name);
  CHECK(field_of(records, 0, "thread") == "main, \"1\" 7");
  CHECK(field_of(records, 11, "thread") == "x\r\ny 8");
  std::string text;
  REQUIRE(kprof::write(run, "csv", {}, text).ok());
  CHECK(text.find("\r\nplain,") != std::string::npos);  // no quotes without need
  CHECK(text.find("\r\n\"say \"\"hi\"\"\",") != std::string::npos);
}

TEST_CASE("csv.what_is_no_text_is_made_readable") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 7);
  b.calls(b.op(main, "a\x01\x1b[2J\x7f\xc2\x85\tb\nc \xc3\xa9 \xe2\x82\xac \xed\xa0\x80 \\x41"), 1,
          1000);
  const std::vector<csv_record> records = csv_of(b.done(), {});
  CHECK(field_of(records, 0, "operator") ==
        "a\\x01\\x1b[2J\\x7f\\u0085\tb\nc \xc3\xa9 \xe2\x82\xac \\xed\\xa0\\x80 \\x41");
}

TEST_CASE("csv.a_name_that_ends_in_gz_packs") {
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread("main", 7), "Packed"), 1, 1000);
  const kprof_test::temporary_folder folder;
  const std::string path = folder.path("run.csv.gz");
  const kprof::profile run = b.done();
  REQUIRE(kprof::write(run, "csv", {{"path", path}}).message == "");
  CHECK(std::system(("gzip -d " + path).c_str()) == 0);
  std::string text;
  REQUIRE(kprof::write(run, "csv", {}, text).ok());
  CHECK(kprof_test::read_path(folder.path("run.csv")) == text);
}

TEST_CASE("csv.wrong_options_are_told") {
  std::string text = "untouched";
  CHECK(
      kprof::write(kprof::profile{}, "csv", {{"by", "op+a-b"}}, text).message ==
      "by=op+a-b: \"a-b\" is neither a key nor the name of a field; choose from op, parameters, "
      "pass, dtype, region, layer, thread, call_site, step, or name a field, as in M, shape[0] or "
      "epilogue.scale; + joins keys");
  CHECK(kprof::write(kprof::profile{}, "csv", {{"top", "3"}}, text).message ==
        "unknown option 'top=3' of csv; valid: path=FILE, table=operators|kernels|copies|calls|"
        "steps|timeline, by=KEY+KEY, fold=FIELD+FIELD");
  CHECK(text == "untouched");
}

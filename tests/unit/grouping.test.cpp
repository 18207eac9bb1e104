// SPDX-License-Identifier: MIT
// needs: guards

// Groupings: lists of keys, folded fields, and that rows add up to the whole whatever makes them.

#include "catch.hpp"

#include "ten_profiles.hpp"

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using kprof::field_range;
using kprof::group_key;
using kprof::group_value;
using kprof::grouping;
using kprof::operator_row;
using kprof::profile;
using kprof_test::profile_builder;

namespace {

grouping parsed(const char* text) {
  const kprof::parsed_grouping p = grouping::parse(text);
  INFO(text << ": " << p.error.message);
  REQUIRE(p.error);
  return p.value;
}
std::string complaint(const std::string& text) { return grouping::parse(text).error.message; }
bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// "op=Gemm M=4 K=n/a".
std::string text_of(const operator_row& row) {
  std::string out;
  for (const group_value& v : row.values)
    out += (out.empty() ? "" : " ") + v.key + '=' + (v.known ? v.text : "n/a");
  return out;
}
const operator_row& row_of(const std::vector<operator_row>& rows, const std::string& values) {
  for (const operator_row& row : rows)
    if (text_of(row) == values) return row;
  std::string all;
  for (const operator_row& row : rows) all += "[" + text_of(row) + "] ";
  FAIL("no row " << values << " in " << all);
  return rows[0];
}

profile decode(int tokens) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < tokens; ++i) {
    const std::string cache = std::to_string(94 + i);
    const auto attention = b.op(main, "Sdpa", "H=12 Skv=" + cache + " type=f16");
    const auto gemm = b.op(main, "Gemm", "M=1 K=" + cache);
    b.calls(attention, 1, 100).work(attention, 10, 1, 1);
    b.calls(gemm, 2, 50).work(gemm, 20, 1, 1);
  }
  return b.done();
}

}  // namespace

TEST_CASE("grouping.a_list_of_keys_is_read") {
  CHECK(parsed("op").text() == "op");
  CHECK(parsed("operator+thread") == grouping::op + grouping::thread);
  CHECK(parsed("layer+pass+layer") == grouping::layer + grouping::pass);
  CHECK(parsed("op+M+shape[0]+epilogue.scale") == grouping(grouping::op) + grouping::field("M") +
                                                      grouping::field("shape[0]") +
                                                      grouping::field("epilogue.scale"));
  CHECK(parsed("field:pass").text() == "field:pass");
  CHECK(parsed("field:pass") != grouping::pass);
  CHECK(parsed("field:step").text() == "field:step");
  CHECK(parsed("field:M").text() == "M");
  CHECK(parsed("parameters").has(group_key::op));
  CHECK_FALSE(parsed("thread").has(group_key::op));
  CHECK(grouping{} == grouping::parameters);
  CHECK(grouping::nothing().keys().empty());
  CHECK(parsed("step") == grouping::step);
  CHECK(parsed("field:step").keys()[0].kind == kprof::group_key::field);
  CHECK(parsed("op+step+M").folding({"K"}).without(grouping::step) ==
        parsed("op+M").folding({"K"}));
  for (const char* text :
       {"op", "op+M", "layer+pass", "field:pass+a[3].b", "call_site+thread", "step+field:step"})
    CHECK(parsed(text).text() == text);
}

TEST_CASE("grouping.what_is_no_key_is_told") {
  CHECK(contains(complaint(""), "a key is missing; choose from op, parameters, pass, dtype"));
  CHECK(contains(complaint("op++M"), "by=op++M: a key is missing"));
  CHECK(contains(complaint("op+"), "a key is missing"));
  for (const char* text : {"call-site", "M=4", "M[", "M[]", "M[x]", ".M", "M.", "4", "a b",
                           "field:", "M[12345678901]", "\x1b[31m", "\xff"}) {
    INFO(text);
    CHECK(contains(complaint(text), "is neither a key nor the name of a field"));
    CHECK(grouping::parse(text).value == grouping::parameters);
    CHECK(complaint(text).find('\x1b') == std::string::npos);
  }
  CHECK(complaint(std::string(100'000, 'x')).size() < 1000);
}

TEST_CASE("grouping.a_list_has_so_many_keys") {
  std::string text = "M0";
  for (int i = 1; i < 32; ++i) text += "+M" + std::to_string(i);
  CHECK(grouping::parse(text).value.keys().size() == 32);
  CHECK(contains(complaint(text + "+op"), "33 keys, and 32 are the most"));
}

TEST_CASE("grouping.a_field_that_no_operator_has_is_told") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Gemm", "M=1 N=2 kind=x"), 1, 1);
  b.calls(b.op(main, "Relu", "numel=4"), 1, 1);
  const profile p = b.done();
  const auto lines = [&](const grouping& by) { return check_grouping(p, by).complaints; };
  CHECK(lines(parsed("op+M+numel").folding({"N", "kind"})).empty());
  REQUIRE(lines(parsed("op+nuMel")).size() == 1);
  CHECK(
      lines(parsed("op+nuMel"))[0] ==
      "by=op+nuMel: no operator of this run has a field \"nuMel\"; did you mean numel? Fields: M, "
      "N, kind, numel");
  CHECK(contains(lines(parsed("op+regoin"))[0], "did you mean region?"));
  CHECK(contains(lines(parsed("op+epilogue.scale"))[0], "; fields: M, N, kind, numel"));
  CHECK(lines(grouping{}.folding({"Q"}))[0].starts_with("fold=Q: no operator of this run has"));
  CHECK(lines(parsed("A+B").folding({"C"})).size() == 3);
  CHECK(check_grouping(p, parsed("A+B").folding({"C", "M"})).value ==
        grouping(grouping::parameters).folding({"M"}));
  CHECK(check_grouping(p, parsed("op+A")).value == grouping::op);
  CHECK(check_grouping(profile{}, parsed("op+A")).complaints.empty());
}

TEST_CASE("grouping.rows_are_exactly_what_the_keys_say") {
  profile_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  for (const auto& [root, calls] : {std::pair{main, 1U}, std::pair{other, 10U}}) {
    const auto forward = b.region(root, "forward"), layer = b.region(forward, "layer 0");
    const auto linear = b.op(layer, "Linear", "M=4 K=8 pass=fprop");
    const auto gemm = b.op(b.region(linear, "inside"), "Gemm", "M=4 N=2");
    const auto relu = b.op(forward, "Relu", "n=3");
    b.calls(linear, calls, 100).calls(gemm, 2 * calls, 30).calls(relu, 3 * calls, 5);
  }
  b.calls(b.op(main, "Linear", "M=5 K=8 pass=fprop"), 100, 10);
  b.calls(b.op(main, "Linear", "M=5 K=8 pass=dgrad"), 1000, 10);
  const profile p = b.done();

  const auto by_thread = operator_table(p, parsed("op+thread"));
  CHECK(by_thread.size() == 6);
  CHECK(row_of(by_thread, "op=Linear thread=main 1").calls == 1101);
  CHECK(row_of(by_thread, "op=Linear thread=main 1").variants == 3);
  CHECK(row_of(by_thread, "op=Gemm thread=other 2").calls == 20);

  const auto layers = operator_table(p, parsed("layer+pass"));
  CHECK(layers.size() == 5);
  CHECK(row_of(layers, "layer=forward/layer 0 pass=fprop").calls == 11);
  CHECK(row_of(layers, "layer=forward/layer 0/inside pass=fprop").calls == 22);  // of the Linear
  CHECK(row_of(layers, "layer=forward pass=n/a").calls == 33);
  CHECK(row_of(layers, "layer=n/a pass=fprop").calls == 100);
  CHECK(row_of(layers, "layer=n/a pass=dgrad").pass == kprof::pass_kind::dgrad);

  const auto by_m = operator_table(p, parsed("M"));
  CHECK(by_m.size() == 3);
  const operator_row& four = row_of(by_m, "M=4");
  CHECK(four.calls == 33);
  CHECK(four.operators == 2);
  CHECK(four.name.empty());
  CHECK(four.total_ns == Approx(1100));  // the Gemms are in it
  CHECK(four.values[0].value.as_signed() == 4);
  CHECK(row_of(by_m, "M=n/a").calls == 33);

  CHECK(row_of(operator_table(p, parsed("op+M+N")), "op=Linear M=5 N=n/a").calls == 1100);
  CHECK(row_of(operator_table(p, parsed("region")), "region=inside").calls == 22);
  CHECK(operator_table(p, parsed("dtype")).size() == 1);
  CHECK(operator_table(p, parsed("field:pass")).size() == 3);
}

TEST_CASE("grouping.a_layer_is_all_regions_around") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (const char* outer : {"forward", "backward"})
    b.calls(b.op(b.region(b.region(main, outer), "layer 0"), "Gemm", "M=1"), 1, 1);
  b.calls(b.op(b.region(main, "forward/layer 0"), "Gemm", "M=1"), 5, 1);  // reads the same
  const profile p = b.done();
  CHECK(operator_table(p, parsed("layer")).size() == 2);
  CHECK(row_of(operator_table(p, parsed("layer")), "layer=forward/layer 0").calls == 6);
  CHECK(operator_table(p, parsed("region")).size() == 2);
  CHECK(row_of(operator_table(p, parsed("region")), "region=layer 0").calls == 2);
}

TEST_CASE("grouping.a_folded_field_makes_no_rows_and_has_a_range") {
  const profile p = decode(900);
  CHECK(operator_table(p).size() == 1800);
  const auto rows = operator_table(p, grouping{}.folding({"K", "Skv"}));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].parameters == "H=12 type=f16");
  CHECK(rows[0].variants == 900);
  REQUIRE(rows[0].ranges.size() == 1);
  CHECK(rows[0].calls == 900);
  CHECK(rows[0].flops.value == Approx(9000));
  CHECK(rows[1].parameters == "M=1");
  REQUIRE(rows[1].ranges.size() == 1);
  const field_range& k = rows[1].ranges[0];
  CHECK(k.field == "K");
  CHECK(k.is_number);
  CHECK(k.least.as_signed() == 94);
  CHECK(k.most.as_signed() == 993);
  CHECK(k.values == 900);
  // The rows of an operator without a folded field keep their keys.
  const profile one = decode(1);
  CHECK(operator_table(one, grouping{}.folding({"K"}))[0].key == operator_table(one)[0].key);
  CHECK(operator_table(one, grouping{}.folding({"K"}))[1].key != operator_table(one)[1].key);
}

TEST_CASE("grouping.a_row_of_several_sets_says_what_its_numbers_are") {
  const auto rows = operator_table(decode(5), grouping::op);
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].ranges.size() == 1);
  CHECK(rows[0].ranges[0].field == "Skv");
  CHECK(rows[0].ranges[0].values == 5);
  CHECK(rows[1].ranges[0].most.as_signed() == 98);
  CHECK(operator_table(decode(1), grouping::op)[0].ranges.empty());
}

TEST_CASE("grouping.a_field_that_is_no_number_can_be_folded") {
  const profile p = kprof_test::recorded_profile(false);
  const auto rows =
      operator_table(p, grouping{}.folding({"n", "seed", "wet", "gain", "offset", "exact", "tone",
                                            "name", "shape", "parts[1].tag"}));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].variants == 6);
  CHECK(rows[0].calls == 72);
  CHECK(rows[0].parameters == "type=f32 parts=[{width=0 tag=},{width=7}] pass=wgrad");
  const auto range = [&](const char* field) -> const field_range& {
    for (const field_range& r : rows[0].ranges)
      if (r.field == field) return r;
    FAIL("no range of " << field);
    return rows[0].ranges[0];
  };
  CHECK(range("n").least.as_signed() == 0);
  CHECK(range("n").most.as_signed() == 5);
  CHECK(range("seed").most.integer == ~std::uint64_t{0});
  CHECK(range("seed").values == 6);
  CHECK(range("shape[1]").least.as_signed() == -5);
  CHECK(range("gain").values == 2);  // one is no number
  CHECK(range("gain").least.floating == 0.1F);
  CHECK(range("offset").values == 3);
  CHECK(range("exact").values == 6);
  CHECK_FALSE(range("wet").is_number);
  CHECK(range("wet").values == 2);
  CHECK(range("tone").values == 6);
  CHECK(range("name").values == 2);
  CHECK(range("parts[1].tag").values == 1);
}

TEST_CASE("grouping.an_array_and_a_nested_struct_are_keys_as_a_whole") {
  const profile p = kprof_test::recorded_profile(false);
  CHECK(row_of(operator_table(p, parsed("op+shape")), "op=Paint shape=[3,-3]").calls == 12);
  CHECK(row_of(operator_table(p, parsed("shape[1]")), "shape[1]=-3").calls == 12);
  const auto parts = operator_table(p, parsed("parts[1]"));
  CHECK(row_of(parts, "parts[1]={width=7 tag=tag}").calls == 72);
  CHECK_FALSE(parts[0].values[0].value);
  CHECK(row_of(operator_table(p, parsed("shape[2]")), "shape[2]=n/a").calls == 72);
}

TEST_CASE("grouping.work_counts_once_in_a_row_of_several_operators") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto block = b.op(main, "Block");  // has no formula
  const auto linear = b.op(block, "Linear", "n=1"), gemm = b.op(linear, "Gemm", "n=1"),
             relu = b.op(block, "Relu", "n=1"), alone = b.op(main, "Gemm", "n=2");
  b.calls(block, 2, 1000).calls(linear, 4, 300).calls(gemm, 4, 200).calls(relu, 2, 10);
  b.calls(alone, 1, 500);
  b.work(linear, 100, 10, 10).work(gemm, 90, 9, 9).work(alone, 1000, 5, 5);
  const profile p = b.done();
  const operator_row total = operator_total(p);
  CHECK(total.calls == 13);
  CHECK(total.total_ns == Approx(2500));
  CHECK(total.flops.known());
  CHECK(total.flops.value == Approx(400 + 1000));  // the Linears cover their Gemms
  CHECK(total.bytes.value == Approx(80 + 10));
  CHECK(total.flops_per_s.value == Approx(1400 / 2500e-9));
  CHECK(total.calls_without_flops == 4);  // Block and Relu
  CHECK(total.self_ns == Approx(2500));
  CHECK(operator_total(p, [](const kprof::scope_node& n) {
          return n.name == "Gemm";
        }).flops.value == Approx(360 + 1000));
  profile wrong = p;
  wrong.nodes[linear].work.valid = false;
  CHECK(operator_total(wrong).flops.why == kprof::absence::invalid);
  CHECK(operator_total(wrong).calls == 13);
  CHECK(operator_total(profile{}).calls == 0);
}

// The calls that a worker runs for an operator of another thread are inside of it.
TEST_CASE("grouping.work_that_was_handed_over_counts_once") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto batch = b.op(main, "Batch", "n=1"), handed = b.op(worker, "Batch", "n=1"),
             part = b.op(handed, "Part");
  b.calls(batch, 1, 1000).work(batch, 500, 10, 10);
  b.calls(part, 4, 200).work(handed, 500, 10, 10).work(part, 100, 1, 1);
  const operator_row total = operator_total(b.done());
  CHECK(total.flops.value == Approx(500));
  CHECK(total.total_ns == Approx(1000));
  // While the batch is open, it has done nothing yet.
  b.p.nodes[batch].calls = 0, b.p.nodes[batch].open = 1, b.p.nodes[batch].total_ns = 0;
  CHECK(operator_total(b.p).flops.value == Approx(400));
}

TEST_CASE("grouping.the_report_says_which_fields_there_are_and_shows_the_rest") {
  const profile p = decode(5);
  std::string page;
  kprof::report_options options;
  options.width = 100;
  options.by = parsed("op+Kk");
  options.fold = {"M", "Q"};
  REQUIRE(kprof::write_text(p, options, page));
  CHECK(contains(page, "! by=op+Kk: no operator of this run has a field \"Kk\"; did you mean K?"));
  CHECK(contains(page, "! fold=Q: no operator of this run has a field \"Q\""));
  CHECK(contains(page, "Gemm"));
  CHECK(contains(page, "Sdpa"));
}

TEST_CASE("grouping.the_lists_of_KPROF_take_commas") {
  const auto report = [](const char* text) {
    const kprof::parsed_settings s = kprof::settings::parse(text);
    INFO(text << ": " << (s.errors.empty() ? "" : s.errors[0]));
    CHECK(s.errors.empty());
    return s.value.report;
  };
  CHECK(report("report(by=op,M,N,tree=off)").by.text() == "op+M+N");
  CHECK(report("report(by=op,M,N,tree=off)").tree == false);
  CHECK(report("report(fold=K,Skv)").fold == std::vector<std::string>{"K", "Skv"});
  CHECK(report("report(fold=K, Skv , ascii)").ascii == true);
  CHECK(report("report(columns=operator,calls,by=layer+pass)").by ==
        grouping::layer + grouping::pass);
  CHECK(report("report(by=op,legend)").by == grouping::op);  // an option's name is the option
  CHECK(kprof::settings::parse("report(by=op,)").value.report.by == grouping::op);
  CHECK(kprof::settings::parse("report(top=5,M)").errors.size() == 1);
  CHECK(contains(kprof::settings::parse("report(fold=K-1)").errors.at(0),
                 "\"K-1\" is no name of a field"));
}

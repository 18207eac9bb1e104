// SPDX-License-Identifier: MIT
// needs: exceptions

// Loading: versions, and what is refused. tests/saved/fuzz.cpp finds the cases nobody thought of.

#include "catch.hpp"

#include "sample_profile.hpp"

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using Catch::Matchers::Contains;
using kprof::load_text;
using kprof::loaded_profile;
using kprof::profile;
using kprof::saved_text;

namespace {

std::string refusal(const std::string& text, const kprof::load_options& options = {}) {
  const loaded_profile loaded = load_text(text, options);
  CHECK(loaded.run.nodes.empty());
  return loaded.result.message;
}

/// A small file with `members` behind the version.
std::string file_with(const std::string& members) {
  return "{\"kprof_profile\":1," + members + "}";
}
/// With a thread and a root.
std::string node_with(const std::string& members, const std::string& more = "") {
  return file_with(more + "\"threads\":[{}],\"nodes\":[{}," + members + "]");
}

}  // namespace

TEST_CASE("load.an_older_file_is_read_and_a_newer_one_refused") {
  // What version 1 began with: members that came later have their defaults.
  const loaded_profile old = load_text(
      "{\"kprof_profile\": 1, \"producer\": \"kprof 0.1.0\", \"state\": \"stopped\",\n"
      " \"threads\": [{\"id\": 7}], \"operators\": [{\"name\": \"Gemm\", \"fields\": [\n"
      "   {\"name\": \"n\", \"kind\": \"signed_integer\", \"bits\": 64, \"signed\": true}]}],\n"
      " \"nodes\": [{}, {\"parent\": 0, \"kind\": \"op\", \"name\": \"Gemm\", \"op\": 0,\n"
      "   \"values\": [-5], \"calls\": 3, \"total_ns\": 1.5e3}]}");
  REQUIRE(old.result.message == "");
  CHECK(old.run.value(old.run.nodes.at(1), "n").as_signed() == -5);
  CHECK(old.run.nodes[1].calls == 3);
  CHECK(old.run.clock.ns_per_tick == 1);
  CHECK(old.run.operators[0].defaults.empty());
  CHECK((old.run.nodes[1].brief.empty() && old.run.nodes[1].unshown == 0));
  CHECK(old.run.nodes[1].work.pass == kprof::pass_kind::unknown);
  // What is not known is passed over, whatever it is.
  const loaded_profile later = load_text(
      node_with("{\"parent\":0,\"colour\":{\"a\":[1,{\"b\":null}]},\"calls\":2}", "\"x\":[[]],"));
  REQUIRE(later.result.message == "");
  CHECK(later.run.nodes.at(1).calls == 2);
  CHECK(later.run.nodes.at(1).first_ns < 0);  // as in a file from before it was noted
  CHECK(later.run.clock.cpu_interval_ns < 0);
  CHECK(later.run.threads.at(0).wall_ns == 0);
  CHECK_THAT(refusal("{\"kprof_profile\":2}"),
             Contains("is of version 2, and this kprof reads up to 1; load it with the kprof that "
                      "saved it, or a later one"));
}

TEST_CASE("load.what_is_wrong_with_a_file_is_said") {
  const std::string good = saved_text(kprof_test::sample_profile());
  CHECK_THAT(refusal(""), Contains("is empty; save the profile again"));
  CHECK_THAT(refusal(good.substr(0, good.size() / 2)), Contains("damaged or cut short"));
  CHECK_THAT(refusal(good + "x"), Contains("is no JSON from byte"));
  CHECK_THAT(refusal("[]"), Contains("it does not begin with {\"kprof_profile\":"));
  CHECK_THAT(refusal("{\"kprof_profile\":\"1\"}"), Contains("its version is no number"));
  CHECK_THAT(refusal("{\"kprof_profile\":0}"), Contains("its version is no number"));
  CHECK_THAT(refusal(std::string(100'000, '[')), Contains("is no JSON from byte"));
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {node_with("{\"calls\":-1}"), "nodes[1].calls is no whole number that fits"},
           {node_with("{\"calls\":1.0}"), "nodes[1].calls is no whole number that fits"},
           {node_with("{\"calls\":18446744073709551616}"), "nodes[1].calls is no whole number"},
           {node_with("{\"line\":4294967296}"), "nodes[1].line is no whole number that fits"},
           {node_with("{\"total_ns\":1e999}"), "nodes[1].total_ns is no number that fits"},
           {node_with("{\"total_ns\":\"infinite\"}"), "nodes[1].total_ns is no number that fits"},
           {node_with("{\"merged\":1}"), "nodes[1].merged is neither true nor false"},
           {node_with("{\"name\":1}"), "nodes[1].name is no text"},
           {node_with("{\"name\":{\"bytes\":\"\xC4\x80\"}}"), "nodes[1].name is no text"},
           {node_with("{\"kind\":\"loop\"}"), "nodes[1].kind is none of the words"},
           {node_with("{\"work\":{\"flops\":[]}}"), "nodes[1].work.flops is no whole number"},
           {node_with("{\"calls\":1,\"calls\":1}"), "nodes[1].calls stands twice"},
           {node_with("{\"parent\":1}"), "nodes[1] stands before its parent"},
           {node_with("{\"parent\":7}"), "nodes[1] stands before its parent"},
           {node_with("{\"thread\":1}"), "nodes[1] is of a thread that is not there"},
           {node_with("{\"op\":0}"), "nodes[1] is of an operator that is not there"},
           {node_with("{\"values\":[1]}"), "nodes[1].values has no operator"},
           {node_with("{\"durations\":[3776,1]}"), "nodes[1].durations has no such bucket"},
           {node_with("{\"durations\":[5,1,5,1]}"), "nodes[1].durations has no such bucket"},
           {node_with("{\"durations\":[5]}"), "nodes[1].durations has a bucket without a count"},
           {node_with("7"), "nodes[1] is no object"},
           {file_with("\"nodes\":{}"), "nodes is no list"},
           {file_with("\"device\":{\"work\":[{\"scope\":0}]}"), "device.work[0] refers to a scope"},
           {file_with("\"device\":{\"work\":[{\"kernel\":0}]}"),
            "device.work[0] refers to a scope"},
           {file_with("\"device\":{\"work\":[{\"grid\":[1,2]}]}"),
            "device.work[0].grid has another number of elements"},
           {file_with("\"timeline\":{\"rows\":[[0,1,2]]}"), "timeline refers to a node"},
           {file_with("\"timeline\":{\"rows\":[[0,1]]}"), "timeline.rows has a row that is not"},
           {file_with("\"timeline\":{\"packed\":[\"A\"]}"), ""},
           {file_with("\"timeline\":{\"packed\":[\"AA\"]}"), "timeline.packed has a piece"},
           {file_with("\"timeline\":{\"packed\":[\"?\"]}"), "timeline.packed has a piece"}}) {
    INFO(text);
    CHECK_THAT(refusal(text), Contains(message));
  }
}

TEST_CASE("load.values_must_fit_their_fields") {
  const auto file = [](const std::string& field, const std::string& values) {
    return node_with(
        "{\"kind\":\"op\",\"op\":0,\"values\":" + values + "}",
        "\"operators\":[{\"name\":\"A\",\"fields\":[{\"name\":\"x\"," + field + "}]}],");
  };
  const std::string number = "\"kind\":\"signed_integer\",\"bits\":8,\"signed\":true";
  const std::string natural = "\"kind\":\"unsigned_integer\",\"bits\":16";
  CHECK(load_text(file(number, "[-128]")).result.message == "");
  CHECK(load_text(file(natural, "[65535]")).result.message == "");
  for (const auto& [field, values] : std::vector<std::pair<std::string, std::string>>{
           {number, "[]"},
           {number, "[1,2]"},
           {number, "[128]"},
           {number, "[-129]"},
           {number, "[true]"},
           {number, "[\"1\"]"},
           {number, "[1.5]"},
           {number, "1"},
           {natural, "[-1]"},
           {natural, "[65536]"},
           {"\"kind\":\"boolean\",\"bits\":8", "[1]"},
           {"\"kind\":\"text\"", "[1]"},
           {"\"kind\":\"floating\",\"bits\":80", "[\"AAAA\"]"},
           {"\"kind\":\"floating\",\"bits\":32", "[1e300]"}}) {
    INFO(field << ' ' << values);
    CHECK_THAT(refusal(file(field, values)),
               Contains("nodes[1].values does not have the values of the operator's fields"));
  }
  const auto defaults = [](const std::string& field, const std::string& values) {
    return file_with("\"operators\":[{\"name\":\"A\",\"fields\":[{\"name\":\"x\"," + field +
                     "}],\"defaults\":" + values + "}]");
  };
  CHECK(load_text(defaults(number, "[-128]")).run.operators.at(0).defaults.packed == "\x80");
  CHECK_THAT(refusal(defaults(number, "[128]")),
             Contains("operators[0].defaults does not have the values of the operator's fields"));
  CHECK_THAT(refusal(defaults("\"kind\":\"aggregate\",\"extent\":4294967295,\"fields\":[]", "[]")),
             Contains("operators[0].defaults is of an operator with a field that none can have"));
  for (const std::string field :
       {"\"kind\":\"none\"", "\"kind\":\"floating\",\"bits\":33", "\"kind\":\"boolean\"",
        "\"kind\":\"text\",\"extent\":4294967295",
        "\"kind\":\"aggregate\",\"extent\":70000,\"fields\":[]",
        "\"kind\":\"aggregate\",\"extent\":1000,\"fields\":[{\"name\":\"y\",\"kind\":\"text\","
        "\"extent\":1000}]"}) {
    INFO(field);
    CHECK_THAT(refusal(file(field, "[]")),
               Contains("operators has a field that no operator can have"));
  }
}

TEST_CASE("load.memory_is_bounded") {
  std::string nodes = "{}";
  for (int i = 0; i < 10'000; ++i) nodes += ",{}";
  const std::string many = file_with("\"threads\":[{}],\"nodes\":[" + nodes + "]");
  CHECK(load_text(many).result.message == "");
  CHECK_THAT(refusal(many, {.max_memory = 1U << 20U}),
             Contains("takes more memory than allowed; raise load_options::max_memory"));
  CHECK_THAT(refusal(many, {.max_file = 1000}),
             Contains("is larger than allowed; raise load_options::max_file"));
  // Two counts far apart take a thousand times their text.
  std::string histograms = "{}";
  for (int i = 0; i < 1000; ++i) histograms += ",{\"parent\":0,\"durations\":[0,99,3775,99]}";
  const std::string wide = file_with("\"threads\":[{}],\"nodes\":[" + histograms + "]");
  CHECK(load_text(wide).result.message == "");
  CHECK_THAT(refusal(wide, {.max_memory = 8U << 20U}), Contains("max_memory"));
  // A name stands once in the file and in the text of every call.
  std::string calls;
  for (int i = 0; i < 1000; ++i) calls += ",{\"kind\":\"op\",\"op\":0}";
  const std::string named =
      file_with("\"threads\":[{}],\"operators\":[{\"fields\":[{\"kind\":\"text\",\"name\":\"" +
                std::string(100'000, 'n') + "\"}]}],\"nodes\":[{}" + calls + "]");
  CHECK(load_text(named).result.message == "");
  CHECK_THAT(refusal(named, {.max_memory = 32U << 20U}), Contains("max_memory"));
}

TEST_CASE("load.values_of_a_profile_made_by_hand_are_kept_as_they_are") {
  profile run;
  run.threads.resize(1);
  run.operators.resize(1);
  run.operators[0].fields.resize(1);
  run.operators[0].fields[0].kind = kprof::parameter_kind::text;
  run.nodes.resize(4);
  for (kprof::scope_node& n : run.nodes) n.op = 0;
  run.nodes[1].values.packed =
      "\x05"
      "ab";  // two bytes of five
  run.nodes[2].values.packed = std::string("\x00\x01", 2);
  run.nodes[3].values.packed =
      "\x02"
      "ab";
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  for (std::size_t i = 0; i < 4; ++i) CHECK(loaded.run.nodes[i].values == run.nodes[i].values);
}

TEST_CASE("load.a_type_or_pass_of_no_enumerator_is_unknown") {
  profile run = kprof_test::sample_profile();
  run.nodes.back().work.type = static_cast<kprof::dtype>(200);
  run.nodes.back().work.pass = static_cast<kprof::pass_kind>(77);
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.nodes.back().work.type == kprof::dtype::unknown);
  CHECK(loaded.run.nodes.back().work.pass == kprof::pass_kind::unknown);
}

// SPDX-License-Identifier: MIT
// The outputs that write the call tree as stacks. Clients open them in tests/clients.

#include <kprof/report/callgrind.hpp>
#include <kprof/report/folded.hpp>
#include <kprof/report/pprof.hpp>
#include <kprof/report/write.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/device_builder.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using kprof_test::device_builder;
using kprof_test::lines_of;

namespace {

std::string text_of(const kprof::profile& p, const char* output,
                    std::vector<kprof::option_setting> options = {}) {
  std::string text;
  const kprof::status s = kprof::write(p, output, options, text);
  return s ? text : s.message;
}

/// Two threads with the same layer, a kernel, and an operator in an operator.
kprof::profile two_threads() {
  device_builder b;
  for (const char* name : {"main", "worker; 2"}) {
    const auto layer = b.region(b.thread(name, b.p.threads.size() + 1), "layer");
    const auto gemm = b.op(layer, "Gemm", "M=64 N=32"), cast = b.op(gemm, "Cast");
    b.calls(layer, 1, 1'000).calls(gemm, 3, 200).calls(cast, 3, 50);
    b.work(gemm, 1'000, 70, 30).work(cast, 64, 10, 10);
    b.site(gemm, "app.cpp", 12).site(cast, "app.cpp", 20).site(layer, "main.cpp", 3);
    b.kernel(gemm, "gemm_kernel", 3, 900);
  }
  return b.done();
}

/// Fields of a message: numbers, and texts or messages.
struct message {
  std::multimap<std::uint64_t, std::uint64_t> numbers;
  std::multimap<std::uint64_t, std::string> texts;

  static std::uint64_t varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      REQUIRE(!from.empty());
      const auto byte = static_cast<unsigned char>(from[0]);
      from.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  explicit message(std::string_view from) {
    while (!from.empty()) {
      const std::uint64_t key = varint(from), value = varint(from);
      if ((key & 7U) == 0) {
        numbers.emplace(key >> 3U, value);
        continue;
      }
      REQUIRE((key & 7U) == 2);
      REQUIRE(value <= from.size());
      texts.emplace(key >> 3U, from.substr(0, value));
      from.remove_prefix(value);
    }
  }
  std::vector<std::string> all(std::uint64_t field) const {
    std::vector<std::string> out;
    for (auto [at, end] = texts.equal_range(field); at != end; ++at) out.push_back(at->second);
    return out;
  }
  std::uint64_t number(std::uint64_t field) const {
    const auto at = numbers.find(field);
    return at == numbers.end() ? 0 : at->second;
  }
  std::vector<std::uint64_t> packed(std::uint64_t field) const {
    std::vector<std::uint64_t> out;
    for (const std::string& text : all(field))
      for (std::string_view rest = text; !rest.empty();) out.push_back(varint(rest));
    return out;
  }
};

}  // namespace

TEST_CASE("stacks.folded_lines_are_paths_with_their_own_time") {
  CHECK(lines_of(text_of(two_threads(), "folded")) ==
        std::vector<std::string>{"layer 800", "layer;Gemm(M=64 N=32) 900",
                                 "layer;Gemm(M=64 N=32);Cast 300"});
  CHECK(lines_of(text_of(two_threads(), "folded", {{"threads", "on"}, {"parameters", "off"}})) ==
        std::vector<std::string>{"main;layer 400", "main;layer;Gemm 450",
                                 "main;layer;Gemm;Cast 150", "worker, 2;layer 400",
                                 "worker, 2;layer;Gemm 450", "worker, 2;layer;Gemm;Cast 150"});
}

TEST_CASE("stacks.folded_lines_of_devices_end_in_kernels") {
  kprof::profile p = two_threads();
  p.device.work.push_back(p.device.work[0]);
  p.device.work.back().scope = kprof::device_work::none;
  CHECK(lines_of(text_of(p, "folded", {{"value", "device"}})) ==
        std::vector<std::string>{"layer;Gemm(M=64 N=32);gemm_kernel 5400",
                                 "(launch not known);gemm_kernel 2700"});
}

TEST_CASE("stacks.work_of_an_operator_inside_another_counts_once") {
  CHECK(lines_of(text_of(two_threads(), "folded", {{"value", "flops"}})) ==
        std::vector<std::string>{"layer;Gemm(M=64 N=32) 5616", "layer;Gemm(M=64 N=32);Cast 384"});
}

TEST_CASE("stacks.callgrind_has_functions_calls_and_lines") {
  const std::string text = text_of(two_threads(), "callgrind");
  CHECK(text.starts_with("# callgrind format\n"));
  CHECK(text.find("\nfl=app.cpp\nfn=Gemm(M=64 N=32)\n12 900 5400 5616 480\n"
                  "cfi=app.cpp\ncfn=Cast\ncalls=6 20\n20 300 0 384 120\n") != std::string::npos);
  CHECK(text.find("\nfl=main.cpp\nfn=layer\n3 800 0 0 0\n"
                  "cfi=app.cpp\ncfn=Gemm(M=64 N=32)\ncalls=6 12\n3 1200 5400 6000 600\n") !=
        std::string::npos);
  CHECK(text.find("\ntotals: 2000 5400 6000 600\n") != std::string::npos);
}

TEST_CASE("stacks.callgrind_counts_the_time_of_recursion_once") {
  device_builder b;
  const auto a = b.op(b.thread("main", 1), "A"), inner = b.op(b.op(a, "B"), "A");
  const auto last = b.op(inner, "B");
  b.calls(a, 1, 100).calls(b.p.nodes[inner].parent, 1, 90).calls(inner, 1, 80).calls(last, 1, 70);
  const std::string text = text_of(b.done(), "callgrind");
  CHECK(text.find("cfn=B\ncalls=2 0\n0 90 0 0 0\n") != std::string::npos);
  CHECK(text.find("\ntotals: 100 0 0 0\n") != std::string::npos);
}

TEST_CASE("stacks.callgrind_abbreviates_no_name") {
  device_builder b;
  b.calls(b.op(b.thread("main", 1), "(3) three"), 1, 100);
  CHECK(text_of(b.done(), "callgrind").find("fn=_(3) three\n") != std::string::npos);
}

TEST_CASE("stacks.pprof_has_samples_with_stacks_values_and_labels") {
  const message profile(text_of(two_threads(), "pprof"));
  const std::vector<std::string> texts = profile.all(6);
  REQUIRE(!texts.empty());
  CHECK(texts[0].empty());
  CHECK(profile.all(1).size() == 5);
  CHECK(texts.at(profile.number(14)) == "time");

  std::map<std::uint64_t, std::string> names;  // of locations
  std::map<std::uint64_t, std::string> functions;
  for (const std::string& f : profile.all(5))
    functions[message(f).number(1)] = texts.at(message(f).number(2));
  for (const std::string& l : profile.all(4)) {
    const message line(message(l).all(4).at(0));
    CHECK(message(l).number(1) != 0);
    names[message(l).number(1)] =
        functions.at(line.number(1)) + ':' + std::to_string(line.number(2));
  }

  std::map<std::string, std::vector<std::uint64_t>> sums;
  for (const std::string& s : profile.all(2)) {
    const message sample(s);
    std::string stack;
    for (const std::uint64_t at : sample.packed(1)) stack.insert(0, names.at(at) + ';');
    const std::vector<std::uint64_t> values = sample.packed(2);
    REQUIRE(values.size() == 5);
    std::vector<std::uint64_t>& sum = sums[stack];
    sum.resize(5);
    for (std::size_t i = 0; i < 5; ++i) sum[i] += values[i];
    std::map<std::string, std::string> labels;
    for (const std::string& l : sample.all(3))
      labels[texts.at(message(l).number(1))] = texts.at(message(l).number(2));
    CHECK((labels.at("thread") == "main" || labels.at("thread") == "worker; 2"));
    if (stack == "layer:3;Gemm:12;") {
      CHECK(labels.at("M") == "64");
      CHECK(labels.at("N") == "32");
      CHECK(labels.at("dtype") == "f32");
    }
  }
  using values = std::vector<std::uint64_t>;
  CHECK(sums ==
        std::map<std::string, values>{{"layer:3;", {2, 800, 0, 0, 0}},
                                      {"layer:3;Gemm:12;", {6, 900, 0, 5616, 480}},
                                      {"layer:3;Gemm:12;Cast:20;", {6, 300, 0, 384, 120}},
                                      {"layer:3;Gemm:12;gemm_kernel:0;", {0, 0, 5400, 0, 0}}});
}

TEST_CASE("stacks.the_middle_of_very_deep_ones_is_left_out") {
  constexpr std::size_t depth = 6000;
  device_builder b;
  auto at = b.thread("main", 1);
  for (std::size_t i = 1; i <= depth; ++i) {
    at = b.region(at, "s" + std::to_string(i));
    b.calls(at, 1, 2 * static_cast<double>(depth + 1 - i));
  }
  b.kernel(at, "kernel", 1, 7);
  const kprof::profile p = b.done();
  const auto frame = [](std::size_t i) { return 's' + std::to_string(i); };
  const auto frames = [&](std::size_t from, std::size_t to) {
    std::string out = frame(from);
    for (std::size_t i = from + 1; i <= to; ++i) out += ';' + frame(i);
    return out;
  };
  const std::vector<std::string> lines = lines_of(text_of(p, "folded"));
  REQUIRE(lines.size() == depth);
  CHECK(lines[999] == frames(1, 1000) + " 2");
  CHECK(lines[1000] == frames(1, 100) + ";… 801 frames;" + frames(902, 1001) + " 2");
  CHECK(lines[depth - 1] == frames(1, 100) + ";… 5,800 frames;" + frames(5901, 6000) + " 2");
  CHECK(lines_of(text_of(p, "folded", {{"value", "device"}})) ==
        std::vector<std::string>{frames(1, 100) + ";… 5,801 frames;" + frames(5902, 6000) +
                                 ";kernel 7"});

  const message profile(text_of(p, "pprof"));
  const std::vector<std::string> texts = profile.all(6), samples = profile.all(2);
  std::map<std::uint64_t, std::string> functions;  // a location has the number of its function
  for (const std::string& f : profile.all(5))
    functions[message(f).number(1)] = texts.at(message(f).number(2));
  REQUIRE(samples.size() == depth + 1);
  const auto stack_of = [&](const std::string& sample) {
    std::string stack;
    for (const std::uint64_t l : message(sample).packed(1)) stack.insert(0, functions.at(l) + ';');
    return stack;
  };
  CHECK(stack_of(samples[999]) == frames(1, 1000) + ';');
  CHECK(stack_of(samples[1000]) == frames(1, 100) + ";… 801 frames;" + frames(902, 1001) + ';');
  CHECK(stack_of(samples[depth]) ==
        frames(1, 100) + ";… 5,801 frames;" + frames(5902, 6000) + ";kernel;");
}

TEST_CASE("stacks.hostile_names_and_random_profiles_are_plain_lines") {
  for (unsigned seed = 0; seed < kprof_test::cases(200); ++seed) {
    const kprof::profile p =
        seed == 0 ? kprof_test::hostile_profile() : kprof_test::random_profile(seed);
    CAPTURE(seed);
    for (const std::string& line : lines_of(text_of(p, "folded"))) {
      CHECK(kprof_test::is_plain_text(line));
      const std::size_t space = line.rfind(' ');
      REQUIRE(space != std::string::npos);
      CHECK(line.find_first_not_of("0123456789", space + 1) == std::string::npos);
      CHECK(line.find(";;") == std::string::npos);
    }
    for (const std::string& line : lines_of(text_of(p, "callgrind")))
      CHECK(kprof_test::is_plain_text(line));
    const message profile(text_of(p, "pprof"));
    for (const std::string& text : profile.all(6)) CHECK(kprof_test::is_plain_text(text));
  }
}

// SPDX-License-Identifier: MIT
// needs: guards, exceptions

// Saving and loading profiles: nothing is lost, nothing in a file is trusted.

#include "catch.hpp"

#include "shared_profile.hpp"
#include "ten_profiles.hpp"

#include <kprof/kprof.hpp>
#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/write.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using kprof::load_text;
using kprof::loaded_profile;
using kprof::profile;
using kprof::saved_text;
using kprof::timeline_form;

namespace {

std::string report_of(const profile& p) {
  std::string page;
  REQUIRE(kprof::write_text(p, {.width = 160}, page).ok());
  return page;
}

bool same_parameters(const kprof::scope_node& a, const kprof::scope_node& b) {
  return a.values == b.values && a.brief == b.brief && a.beside == b.beside &&
         a.unshown == b.unshown && a.work.pass == b.work.pass && a.work.threads == b.work.threads;
}

/// A folder that is gone with the test.
struct folder {
  std::filesystem::path path;
  folder() {
    char name[] = "/tmp/kprof_saved_XXXXXX";
    path = mkdtemp(name);
  }
  ~folder() { std::filesystem::remove_all(path); }
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) n += entry.exists() ? 1 : 0;
    return n;
  }
};

/// As a program's timeline is: scopes of a few hundred nodes, one after another.
profile long_timeline(std::size_t scopes) {
  profile p;
  p.threads.resize(1);
  p.nodes.resize(300);
  for (std::size_t i = 1; i < p.nodes.size(); ++i) p.nodes[i].parent = 0;
  std::mt19937 random(1);
  std::int64_t now = 3'000'000'000;
  for (std::size_t i = 0; i < scopes; ++i) {
    now += 200 + random() % 20'000;
    p.timeline.push_back({static_cast<std::uint32_t>(random() % 300), now, random() % 15'000});
  }
  return p;
}

}  // namespace

TEST_CASE("saved.the_report_of_a_loaded_profile_is_that_of_the_saved_one") {
  for (const auto& [name, run] : kprof_test::ten_profiles())
    for (const timeline_form form : {timeline_form::compact, timeline_form::plain}) {
      INFO(name);
      const std::string text = saved_text(run, {.timeline = form});
      const loaded_profile loaded = load_text(text);
      REQUIRE(loaded.result.message == "");
      CHECK(report_of(loaded.run) == report_of(run));
      CHECK(saved_text(loaded.run, {.timeline = form}) == text);
      CHECK(loaded.run.operators == run.operators);
      REQUIRE(loaded.run.nodes.size() == run.nodes.size());
      for (std::size_t i = 0; i < run.nodes.size(); ++i)
        CHECK(same_parameters(loaded.run.nodes[i], run.nodes[i]));
      REQUIRE(loaded.run.timeline.size() == run.timeline.size());
      for (std::size_t i = 0; i < run.timeline.size(); ++i) {
        CHECK(loaded.run.timeline[i].node == run.timeline[i].node);
        CHECK(loaded.run.timeline[i].start == run.timeline[i].start);
        CHECK(loaded.run.timeline[i].duration == run.timeline[i].duration);
      }
    }
}

TEST_CASE("saved.calls_that_threads_share_are_loaded_as_they_were") {
  const profile run = kprof_test::shared_profile();
  const std::string text = saved_text(run);
  const loaded_profile loaded = load_text(text);
  REQUIRE(loaded.result.message == "");
  CHECK(report_of(loaded.run) == report_of(run));
  CHECK(saved_text(loaded.run) == text);
}

TEST_CASE("saved.reports_of_random_profiles_are_the_same_too") {
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 20;
#else
  constexpr unsigned seeds = 100;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const profile run = kprof_test::random_device_profile(seed);
    const loaded_profile loaded = load_text(saved_text(run));
    REQUIRE(loaded.result.message == "");
    REQUIRE(report_of(loaded.run) == report_of(run));
  }
}

TEST_CASE("saved.the_ten_profiles_have_what_there_is") {
  bool devices = false, graphs = false, threads = false, merged = false, open = false,
       times = false, briefs = false;
  for (const auto& [name, run] : kprof_test::ten_profiles()) {
    devices = devices || !run.device.work.empty();
    threads = threads || run.threads.size() > 2;
    times = times || run.timeline.size() > 50;
    for (const kprof::scope_node& n : run.nodes) {
      graphs = graphs || n.kind == kprof::scope_kind::graph;
      merged = merged || (n.merged && n.op != kprof::scope_node::none);
      open = open || n.open > 0;
      briefs = briefs || (!n.brief.empty() && n.beside != 0 && n.unshown != 0 &&
                          n.work.pass == kprof::pass_kind::wgrad);
    }
  }
  CHECK((devices && graphs && threads && merged && open && times && briefs));
}

TEST_CASE("saved.the_ten_profiles_are_the_same_every_time") {
  const auto first = kprof_test::ten_profiles(), second = kprof_test::ten_profiles();
  for (std::size_t i = 0; i < first.size(); ++i) {
    INFO(first[i].name);
    CHECK(saved_text(first[i].run) == saved_text(second[i].run));
  }
}

TEST_CASE("saved.every_member_is_saved") {
  using namespace kprof::detail;
  const auto all = []<class T>(const T&) {
    return std::tuple_size_v<std::remove_cvref_t<decltype(members_of<T>)>> ==
           boost::pfr::tuple_size_v<T>;
  };
  CHECK(all(kprof::enumerator_name{}));
  CHECK(all(kprof::operator_field{}));
  CHECK(all(kprof::operator_info{}));
  CHECK(all(kprof::work_per_call{}));
  CHECK(all(kprof::shared_part{}));
  CHECK(all(kprof::scope_node{}));
  CHECK(all(kprof::thread_info{}));
  CHECK(all(kprof::clock_info{}));
  CHECK(all(kprof::completeness{}));
  CHECK(all(kprof::own_cost{}));
  CHECK(all(kprof::device_info{}));
  CHECK(all(kprof::device_completeness{}));
  CHECK(all(kprof::device_profile{}));
  CHECK(all(kprof::device_item{}));
  CHECK(all(kprof::host_call{}));
  CHECK(all(kprof::host_call_sum{}));
  CHECK(all(kprof::timeline_window{}));
  CHECK(all(kprof::device_timeline{}));
  CHECK(all(kprof::step_mark{}));
  CHECK(all(kprof::call_link{}));
  CHECK(all(kprof::rate_ceiling{}));
  CHECK(all(kprof::arithmetic_ceiling{}));
  CHECK(all(kprof::memory_ceiling{}));
  CHECK(all(kprof::cpu_ceilings{}));
  CHECK(all(kprof::gpu_arithmetic_ceiling{}));
  CHECK(all(kprof::gpu_ceilings{}));
  CHECK(all(kprof::machine_ceilings{}));
  CHECK(all(kprof::profile{}));
  // Two of its members are arrays of three, which count as three initialisers.
  CHECK(std::tuple_size_v<std::remove_cvref_t<decltype(members_of<kprof::device_work>)>> + 6 ==
        count_initialisers<kprof::device_work>());
}

TEST_CASE("saved.numbers_are_exact") {
  profile run;
  std::mt19937_64 random(1);
  run.threads.resize(1);
  run.nodes.resize(2000);
  for (std::size_t i = 1; i < run.nodes.size(); ++i) {
    kprof::scope_node& n = run.nodes[i];
    n.total_ns = std::bit_cast<double>(random());
    n.self_ns = static_cast<double>(random()) * 0x1p-1074;
    n.calls = random();
    if (std::isnan(n.total_ns)) n.total_ns = std::copysign(std::nan(""), n.total_ns);
    for (std::size_t k = i % 40; k > 0; --k) n.durations.add(random() >> random() % 64);
  }
  run.nodes[1].total_ns = -0.0;
  run.nodes[2].total_ns = -std::numeric_limits<double>::infinity();
  run.nodes[3].total_ns = std::numeric_limits<double>::denorm_min();
  run.clock.ns_per_tick = 1.0 / 3.0;
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.clock.ns_per_tick == 1.0 / 3.0);
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const kprof::scope_node &a = run.nodes[i], &b = loaded.run.nodes[i];
    REQUIRE(std::bit_cast<std::uint64_t>(a.total_ns) == std::bit_cast<std::uint64_t>(b.total_ns));
    REQUIRE(a.self_ns == b.self_ns);
    REQUIRE(a.calls == b.calls);
    REQUIRE(a.durations.count() == b.durations.count());
    for (const double q : {0.0, 0.1, 0.5, 0.99, 1.0})
      REQUIRE(a.durations.quantile(q) == b.durations.quantile(q));
  }
}

TEST_CASE("saved.text_of_any_bytes_comes_back") {
  profile run;
  for (int c = 0; c < 256; ++c) run.notes.emplace_back(1, static_cast<char>(c));
  for (const std::string& name : kprof_test::hostile_names()) run.notes.push_back(name);
  run.notes.push_back("{\"bytes\":\"x\"}");
  const std::string text = saved_text(run);
  CHECK(kprof::detail::is_utf8(text));
  const loaded_profile loaded = load_text(text);
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.notes == run.notes);
}

TEST_CASE("saved.a_timeline_is_small") {
  const std::size_t scopes = 200'000;
  const profile run = long_timeline(scopes);
  const std::size_t rest = saved_text(long_timeline(0)).size();
  const std::string compact = saved_text(run),
                    plain = saved_text(run, {.timeline = timeline_form::plain});
  CHECK(static_cast<double>(compact.size() - rest) / static_cast<double>(scopes) <= 16);
  CHECK(static_cast<double>(plain.size() - rest) / static_cast<double>(scopes) < 100);
  for (const std::string& text : {compact, plain}) {
    const loaded_profile loaded = load_text(text);
    REQUIRE(loaded.run.timeline.size() == scopes);
    bool same = true;
    for (std::size_t i = 0; i < scopes; ++i)
      same = same && loaded.run.timeline[i].start == run.timeline[i].start &&
             loaded.run.timeline[i].duration == run.timeline[i].duration &&
             loaded.run.timeline[i].node == run.timeline[i].node;
    CHECK(same);
  }
  profile wide = long_timeline(0);
  wide.timeline = {{299, std::numeric_limits<std::int64_t>::min(), ~std::uint64_t{0}},
                   {0, std::numeric_limits<std::int64_t>::max(), 0},
                   {299, -1, 1}};
  const loaded_profile loaded = load_text(saved_text(wide));
  REQUIRE(loaded.run.timeline.size() == 3);
  CHECK(loaded.run.timeline[0].start == std::numeric_limits<std::int64_t>::min());
  CHECK(loaded.run.timeline[0].duration == ~std::uint64_t{0});
  CHECK(loaded.run.timeline[1].start == std::numeric_limits<std::int64_t>::max());
  CHECK(loaded.run.timeline[2].node == 299);
}

TEST_CASE("saved.a_file_has_its_name_when_it_is_whole") {
  const folder here;
  const std::string path = here.path / "run.json";
  const profile run = kprof_test::sample_profile();
  REQUIRE(kprof::save(run, path).ok());
  CHECK(here.files() == 1);
  const loaded_profile loaded = kprof::load(path);
  REQUIRE(loaded.ok());
  CHECK(report_of(loaded.run) == report_of(run));

  // A link leads to the file that is replaced, whose permissions stay.
  std::filesystem::create_symlink("run.json", here.path / "link.json");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  REQUIRE(kprof::save(kprof_test::troubled_profile(), here.path / "link.json").ok());
  CHECK(std::filesystem::is_symlink(here.path / "link.json"));
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
  CHECK(report_of(kprof::load(path).run) == report_of(kprof_test::troubled_profile()));
  CHECK(here.files() == 2);

  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) static_cast<void>(kprof::save(run, path));
    });
  for (std::thread& t : threads) t.join();
  CHECK(report_of(kprof::load(path).run) == report_of(run));
  CHECK(here.files() == 2);
}

TEST_CASE("saved.a_snapshot_without_memory_is_an_error_and_no_file") {
  const folder here;
  const std::string path = here.path / "run.json";
  kprof::profile run;
  run.state = "out of memory";
  CHECK(kprof::save(run, path).message == "out of memory");
  CHECK(kprof::write(run, "report", {{"path", path}}).message == "out of memory");
  std::string text = "as before";
  CHECK(kprof::write(run, "save", {}, text).message == "out of memory");
  CHECK(kprof::write_text(run, {}, text).message == "out of memory");
  CHECK(text == "as before");
  CHECK(kprof::saved_text(run).empty());
  CHECK(here.files() == 0);
}

TEST_CASE("saved.what_cannot_be_written_or_read_is_said") {
  const folder here;
  const std::string path = here.path / "run.json";
  const profile run = kprof_test::transformer_profile();
  CHECK_THAT(kprof::save(run, here.path / "no" / "run.json").message,
             Contains("cannot write to") && Contains("create it, or choose another path"));
  CHECK_THAT(kprof::save(run, here.path).message, Contains("it is a folder: add a file name"));
  CHECK_THAT(kprof::save(run, "/dev/full").message, Contains("no space left"));
  CHECK(kprof::save(run, "/dev/null").ok());
  CHECK(kprof::save(run, "").message == "cannot save to a file without a name; give a path");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const kprof::status too_large = kprof::save(run, path);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_THAT(too_large.message, Contains("raise `ulimit -f`"));
  CHECK(here.files() == 0);  // nor what was written aside
  CHECK_THAT(kprof::load(path).result.message,
             Contains("\" cannot be read (") && Contains("check the path and its permissions"));
  CHECK_THAT(kprof::load(here.path).result.message, Contains("\" cannot be read ("));
  REQUIRE(kprof::save(run, path).ok());
  CHECK_THAT(kprof::load(path, {.max_file = 1000}).result.message,
             StartsWith('"' + path + "\" is larger than allowed"));
  CHECK_THAT(kprof::load("/dev/zero", {.max_file = 1U << 20U}).result.message,
             Contains("is larger than allowed"));
  std::ofstream(path, std::ios::trunc) << "";
  CHECK_THAT(kprof::load(path).result.message, StartsWith('"' + path + "\" is empty"));
}

TEST_CASE("saved.the_output_save_writes_what_can_be_loaded") {
  const profile run = kprof_test::recorded_profile(true);
  std::string compact, plain;
  REQUIRE(kprof::write(run, "save", {}, compact).ok());
  REQUIRE(kprof::write(run, "save", {{"timeline", "plain"}}, plain).ok());
  CHECK(compact == saved_text(run));
  CHECK(plain == saved_text(run, {.timeline = timeline_form::plain}));
}

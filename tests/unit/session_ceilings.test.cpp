// SPDX-License-Identifier: MIT
// needs: guards, exceptions
// threads: kprof's own measure the machine

// Where a process has the ceilings of its processors from: the cache, or a measurement.

#include "catch.hpp"

#include "own_cache.hpp"

#include <kprof/kprof.hpp>
#include <kprof/session/session_ceilings.hpp>

#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace kprof_test;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("session_ceilings.off_and_cache_measure_nothing") {
  const own_cache cache;
  CHECK(reason(reported("off")) == "they are turned off (ceilings=off)");
  CHECK_THAT(reason(reported("cache")), Contains("this machine was not measured yet; "));
  CHECK(std::filesystem::is_empty(cache.path));
}

TEST_CASE("session_ceilings.a_snapshot_takes_what_is_kept_and_measures_nothing") {
  const own_cache cache;
  session_ceilings ceilings;
  profile run;
  ceilings.add_to(run);
  CHECK_THAT(reason(run), Contains("this machine was not measured yet; "));
  keep_sample();
  for (const char* choice : {"auto", "cache"}) {
    session_ceilings again;
    again.choose(with(choice));
    profile found;
    again.add_to(found);
    CHECK(is_sample(found));
    CHECK(found.notes.empty());
    again.add_to_report(found, 0);
    CHECK(is_sample(found));
  }
}

TEST_CASE("session_ceilings.the_first_report_measures_and_keeps_it") {
  const own_cache cache;
  const profile first = reported("auto");
  if (first.machine.cpu.arithmetic.empty()) {  // no loops for this processor, or an emulator
    CHECK_FALSE(reason(first).empty());
    return;
  }
  CHECK(first.machine.source == "measured " + kprof::detail::date_of_today());
  CHECK(first.machine.cpu.threads > 0);
  CHECK_THAT(only_note(first), Contains("kprof measured what this machine reaches, for ") &&
                                   Contains(" s, once: later runs take it from \"") &&
                                   Contains(cache.path));
  ceilings_cache files;
  CHECK(std::filesystem::exists(files.path()));
  std::size_t in_folder = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache.path / "kprof"))
    in_folder += entry.exists() ? 1 : 0;
  CHECK(in_folder == 1);

  // Everything of it comes back, to six digits.
  const profile second = reported("cache");
  CHECK(second.notes.empty());
  CHECK(kprof::detail::write_ceilings(second.machine.cpu, "") ==
        kprof::detail::write_ceilings(first.machine.cpu, ""));

  // On request it is measured anew, and kept where there is a place for it.
  keep_sample();
  CHECK_FALSE(is_sample(reported("measure")));
  CHECK_FALSE(is_sample(reported("cache")));
}

TEST_CASE("session_ceilings.what_was_kept_of_another_machine_is_not_trusted") {
  const own_cache cache;
  keep_sample();
  const std::string path = ceilings_cache{}.path(), text = read_file(path);
  REQUIRE(is_sample(reported("cache")));
  const auto with_word = [&](const char* word, const char* other) {
    return std::string(text).replace(text.find(word), std::string_view(word).size(), other);
  };
  for (const std::string& wrong :
       {text.substr(0, text.size() / 2), text.substr(0, text.size() - 1), text + "f32 = -1 2\n",
        std::string{}, text.substr(text.find("processor")), with_word("= version ", "= version 0"),
        with_word("f32 = ", "f33 = "), with_word("f32 = ", "f32 = - "), "nonsense\n" + text,
        std::string(100'000, '#') + '\n' + text, std::string("\xFF\0\x01", 3)}) {
    std::ofstream(path) << wrong;
    CHECK_THAT(reason(reported("cache")), Contains("this machine was not measured yet; "));
  }
  for (std::size_t size = 0; size < text.size(); size += 7) {
    std::ofstream(path) << text.substr(0, size);
    CHECK_FALSE(is_sample(reported("cache")));
  }
  std::ofstream(path) << text;
  CHECK(is_sample(reported("cache")));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK_THAT(reason(reported("cache")), Contains("this machine was not measured yet; "));
}

TEST_CASE("session_ceilings.a_measurement_holds_for_one_set_of_cpus") {
  const kprof::detail::usable_cpus_of_machine here = kprof::detail::find_usable_cpus();
  const std::string key = kprof::detail::this_machine(here);
  CHECK(kprof::detail::this_machine(here) == key);
  kprof::detail::usable_cpus_of_machine other = here;
  other.model += " v2";
  CHECK(kprof::detail::this_machine(other) != key);
  other = here;
  other.cpus.push_back(1000);
  CHECK(kprof::detail::this_machine(other) != key);
  other = here;
  for (int& cpu : other.cpus) cpu += 64;  // as many, others
  CHECK(kprof::detail::this_machine(other) != key);
  other = here;
  other.data.push_back({4, 1 << 28, 1});
  CHECK(kprof::detail::this_machine(other) != key);
  if (here.data.empty()) return;
  other = here;
  other.data[0].sharers += 1;
  CHECK(kprof::detail::this_machine(other) != key);
}

TEST_CASE("session_ceilings.rates_that_others_disturbed_are_kept_for_an_hour") {
  const own_cache cache;
  const timespec old[2] = {{time(nullptr) - 3700, 0}, {time(nullptr) - 3700, 0}};
  const auto keep = [&](const kprof::cpu_ceilings& found) {
    ceilings_cache files;
    REQUIRE(files.prepare().ok());
    REQUIRE(files.keep(found).ok());
  };
  kprof::cpu_ceilings found = sample_machine().cpu;  // has lower bounds
  keep(found);
  CHECK(is_sample(reported("cache")));
  REQUIRE(utimensat(AT_FDCWD, ceilings_cache{}.path().c_str(), old, 0) == 0);
  CHECK_THAT(reason(reported("cache")), Contains("this machine was not measured yet; "));

  for (auto& a : found.arithmetic) a.operations.is_lower_bound = false;
  for (auto& m : found.memory) m.read.is_lower_bound = m.triad.is_lower_bound = false;
  for (const bool is_whole : {true, false}) {
    found.notes.clear();
    if (!is_whole) found.notes.emplace_back("DRAM was not measured: too little memory is free");
    keep(found);
    REQUIRE(utimensat(AT_FDCWD, ceilings_cache{}.path().c_str(), old, 0) == 0);
    CHECK(reported("cache").machine.cpu.memory.empty() != is_whole);
  }
}

TEST_CASE("session_ceilings.a_measurement_that_cannot_be_kept_is_left_out") {
  const own_cache cache;
  const auto reason_with = [](const char* folder) {
    setenv("XDG_CACHE_HOME", folder, 1);
    const std::string why = reason(reported("auto"));
    CHECK_THAT(why, Contains("this machine was not measured: ") &&
                        Contains("; KPROF=ceilings=measure measures it for one run"));
    return why;
  };
  CHECK_THAT(reason_with("/dev/null"), Contains("\"/dev/null/kprof\", cannot be used"));
  CHECK_THAT(reason_with("/proc"), Contains("\"/proc/kprof\", cannot be used"));
  const std::string home = getenv("HOME") == nullptr ? "" : getenv("HOME");
  unsetenv("HOME");
  CHECK_THAT(reason_with("relative"), Contains("neither XDG_CACHE_HOME nor HOME is set"));
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
  if (geteuid() == 0) {
    std::filesystem::create_directory(cache.path / "kprof");
    REQUIRE(chown((cache.path / "kprof").c_str(), 12'345, 12'345) == 0);
    CHECK_THAT(reason_with(cache.path.c_str()), Contains("belongs to another user"));
  }
}

TEST_CASE("session_ceilings.one_process_measures_at_a_time") {
  const own_cache cache;
  ceilings_cache other;
  REQUIRE(other.prepare().ok());
  CHECK_THAT(reason(reported("auto")), Contains("another process measures this machine now"));
}

TEST_CASE("session_ceilings.a_child_of_the_process_that_measured_keeps_nobody_from_it") {
  const own_cache cache;
  pid_t child = -1;
  {
    ceilings_cache files;
    REQUIRE(files.prepare().ok());
    child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
  }
  CHECK(ceilings_cache{}.prepare().ok());
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("session_ceilings.a_process_that_must_not_wait_measures_nothing") {
  const own_cache cache;
  for (const char* choice : {"auto", "measure"})
    CHECK_THAT(reason(reported(with(choice), 15)),
               Contains("a signal ends the program, which does not wait for it"));
  session_ceilings ceilings;
  ceilings.before_fork();
  const pid_t child = fork();
  if (child == 0) {
    ceilings.in_child();
    profile run;
    ceilings.add_to_report(run, 0);
    const auto& notes = run.machine.cpu.notes;
    const bool says = notes.size() == 1 && notes[0].find("child of a fork") != std::string::npos;
    _exit(says ? 0 : 1);
  }
  ceilings.after_fork();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", 1);
  CHECK_THAT(reason(reported("auto")), Contains("valgrind runs the program"));
  unsetenv("LD_PRELOAD");
}

TEST_CASE("session_ceilings.a_snapshot_and_a_report_of_the_session_have_them") {
  const own_cache cache;
  keep_sample();
  REQUIRE(kprof::start({.ceilings = "cache"}).ok());
  { KPROF_REGION("any"); }
  const profile run = kprof::snapshot();
  kprof::stop();
  CHECK(is_sample(run));
}

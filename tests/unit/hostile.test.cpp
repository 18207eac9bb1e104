// SPDX-License-Identifier: MIT
// needs: guards
// Parameters that make no sense, and formulas that cannot cope with them.

#include <kprof/declare/division_trap.hpp>
#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"

#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

// integer arithmetic as most authors write it; the multiplication is unsigned so that it wraps, not
// traps
struct Plain {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return 2 * static_cast<std::uint64_t>(n); }
};
struct Checked {
  std::int64_t m = 0, n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * m * n; }
  constexpr kprof::traffic bytes() const { return {.read = kprof::count{m} * n * 8, .written = 0}; }
};
struct Divides {
  int size = 8;
  int stride = 1;
  __attribute__((no_sanitize("undefined"))) constexpr std::uint64_t flops() const {
    return static_cast<std::uint64_t>(size / stride);
  }
};
struct Validated {
  int groups = 1, channels = 4;
  constexpr bool valid() const { return groups > 0 && channels % groups == 0; }
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(channels / groups); }
};
struct Signed {
  int n = 0;
  constexpr int flops() const { return n; }
};

enum class small_mode : std::uint8_t { one = 1 };
enum wide_flags : std::uint32_t { first_flag = 1 };
enum class offset_kind : std::int8_t { none = 0 };
struct Enums {
  small_mode mode = small_mode::one;
  wide_flags flags = first_flag;
  offset_kind offset = offset_kind::none;
};

kprof::work_per_call work_of(const kprof::profile& p, const std::string& path) {
  return only(p, path).work;
}

}  // namespace

TEST_CASE("hostile.negative_zero_and_overflowing_parameters_are_invalid_not_wrong") {
  REQUIRE(kprof::start());
  constexpr std::int64_t big = std::numeric_limits<std::int64_t>::max();
  { KPROF_OP(Plain, {-1}); }
  { KPROF_OP(Plain, {0}); }
  { KPROF_OP(Plain, {21}); }
  { KPROF_OP(Checked, {big, 3}); }
  { KPROF_OP(Checked, {-3, 3}); }
  { KPROF_OP(Checked, {1LL << 31, 1LL << 30}); }
  { KPROF_OP(Checked, {3, 5}); }
  { KPROF_OP(Signed, {-7}); }
  const kprof::profile p = kprof::snapshot();
  CHECK_FALSE(work_of(p, "Plain n=-1").valid);
  CHECK(work_of(p, "Plain n=0").valid);
  CHECK(work_of(p, "Plain n=21").flops == 42);
  CHECK_FALSE(work_of(p, "Checked m=" + std::to_string(big) + " n=3").valid);
  CHECK_FALSE(work_of(p, "Checked m=-3 n=3").valid);
  CHECK_FALSE(work_of(p, "Checked m=2147483648 n=1073741824").valid);  // FLOPs fit, bytes do not
  CHECK(work_of(p, "Checked m=3 n=5").flops == 30);
  CHECK(work_of(p, "Checked m=3 n=5").bytes_read == 120);
  CHECK_FALSE(work_of(p, "Signed n=-7").valid);
  CHECK(p.complete.invalid == 5);
}

TEST_CASE("hostile.a_division_by_zero_in_a_formula_does_not_kill_the_program") {
  REQUIRE(kprof::start());
  { KPROF_OP(Divides, {8, 2}); }
  { KPROF_OP(Divides, {8, 0}); }
  { KPROF_OP(Divides, {std::numeric_limits<int>::min(), -1}); }
  { KPROF_OP(Divides, {9, 3}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(work_of(p, "Divides size=8 stride=2").flops == 4);
  CHECK(work_of(p, "Divides size=9 stride=3").flops == 3);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
  CHECK_FALSE(work_of(p, "Divides size=8 stride=0").valid);
  CHECK(p.complete.invalid == 2);
#endif
  // The program's own handler is in place again.
  struct sigaction now {};
  sigaction(SIGFPE, nullptr, &now);
  CHECK((now.sa_flags & SA_NODEFER) == 0);
}

#if defined(__cpp_exceptions)
struct Throws {
  int in = 0;  // which of the formulas throws
  constexpr std::uint64_t flops() const { return throw_where(1), 5; }
  constexpr kprof::traffic bytes() const { return throw_where(2), kprof::traffic{8, 0}; }
  constexpr bool valid() const { return throw_where(3), true; }
  constexpr int threads() const { return throw_where(4), 1; }
  constexpr void throw_where(int which) const {
    if (in == which) throw which;
  }
};

TEST_CASE("hostile.a_formula_that_throws_does_not_end_the_program") {
  REQUIRE(kprof::start());
  for (int in = 0; in <= 4; ++in) { KPROF_OP(Throws, {in}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(work_of(p, "Throws in=0").flops == 5);
  for (int in = 1; in <= 4; ++in) CHECK_FALSE(work_of(p, "Throws in=" + std::to_string(in)).valid);
  CHECK(p.complete.invalid == 4);
}
#endif

TEST_CASE("hostile.valid_guards_the_formulas") {
  REQUIRE(kprof::start());
  { KPROF_OP(Validated, {0, 4}); }
  { KPROF_OP(Validated, {3, 4}); }
  { KPROF_OP(Validated, {2, 4}); }
  const kprof::profile p = kprof::snapshot();
  CHECK_FALSE(work_of(p, "Validated groups=0 channels=4").valid);
  CHECK_FALSE(work_of(p, "Validated groups=3 channels=4").valid);
  CHECK(work_of(p, "Validated groups=2 channels=4").valid);
  CHECK(work_of(p, "Validated groups=2 channels=4").flops == 2);
  CHECK(p.complete.invalid == 2);
}

// Stands for another thread that installs its handler while a formula runs.
void own_handler(int) {}
void install_own_handler() {
  struct sigaction own {};
  own.sa_handler = &own_handler;
  sigaction(SIGFPE, &own, nullptr);
}
struct Installs {
  int n = 0;
  constexpr std::uint64_t flops() const {
    if (!std::is_constant_evaluated()) install_own_handler();
    return 1;
  }
};

TEST_CASE("hostile.a_handler_that_the_program_installs_meanwhile_stays") {
  struct sigaction before {
  }, after{};
  sigaction(SIGFPE, nullptr, &before);
  REQUIRE(kprof::start());
  { KPROF_OP(Installs, {1}); }
  static_cast<void>(kprof::snapshot());
  sigaction(SIGFPE, &before, &after);
  CHECK((after.sa_flags & SA_SIGINFO) == 0);
  CHECK(after.sa_handler == &own_handler);
}

#if defined(__x86_64__)
TEST_CASE("hostile.a_formula_that_is_stopped_changes_nothing_for_its_thread") {
  REQUIRE(kprof::start());
  sigset_t all, before, after;
  sigfillset(&all);
  // as worker threads do; a division by zero now would end the process
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fesetround(FE_UPWARD);
  { KPROF_OP(Divides, {7, 0}); }
  { KPROF_OP(Divides, {9, 0}); }
  const kprof::profile p = kprof::snapshot();
  const int rounding = fegetround();
  fesetround(FE_TONEAREST);
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK_FALSE(work_of(p, "Divides size=7 stride=0").valid);
  CHECK_FALSE(work_of(p, "Divides size=9 stride=0").valid);
  CHECK(rounding == FE_UPWARD);
  CHECK(sigismember(&after, SIGFPE) == 1);
  CHECK(sigismember(&after, SIGUSR1) == 1);
}
#endif

TEST_CASE("hostile.enum_values_without_a_name_are_shown_as_the_numbers_they_are") {
  REQUIRE(kprof::start());
  { KPROF_OP(Enums, {small_mode{200}, wide_flags{0x80000000U}, offset_kind{-56}}); }
  { KPROF_OP(Enums); }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "Enums mode=200 flags=2147483648 offset=-56") == 1);
  CHECK(calls(p, "Enums mode=one flags=first_flag offset=none") == 1);
}

struct Typed {
  std::int64_t n = 1;
  kprof::dtype type = kprof::dtype::f32, weights = kprof::dtype::unknown,
               out = kprof::dtype::unknown;
  constexpr kprof::count flops() const { return n; }
};
TEST_CASE("hostile.an_enumeration_that_is_unknown_says_nothing") {
  REQUIRE(kprof::start());
  { KPROF_OP(Typed, {.n = 3}); }
  { KPROF_OP(Typed, {.n = 3, .weights = kprof::dtype::f16}); }
  { KPROF_OP(Typed, {.n = 3, .type = kprof::dtype::unknown}); }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "Typed n=3 type=f32") == 1);
  CHECK(calls(p, "Typed n=3 type=f32 weights=f16") == 1);
  CHECK(calls(p, "Typed n=3") == 1);
}

// Where formulas run for the record and, on other threads, for an NVTX tool. The last test: the
// handler stays.
#if defined(__x86_64__) && !defined(KPROF_TEST_SANITIZED)
TEST_CASE("hostile.divisions_by_zero_on_many_threads_do_not_kill_the_program") {
  using kprof::detail::division_trap;
  using kprof::detail::work;
  const auto divide = [](const void* by, work& out) noexcept {
    const volatile int zero_or_one = *static_cast<const int*>(by);
    out = work{};
    out.flops = static_cast<std::uint64_t>(7 / zero_or_one);
    out.valid = 1;
  };
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20'000; ++k) {
        const int by = k % 2;
        work w{};
        if (i == 0) division_trap::run(divide, &by, w);
        else division_trap::run_keeping_handler(divide, &by, w);
        if ((w.valid == 1) != (by == 1)) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
#endif

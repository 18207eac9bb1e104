// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_MEASURE_CPU_HPP
#define KPROF_MACHINE_MEASURE_CPU_HPP

// Measures what the processors reach that this process may use, in less than a second. Included by
// kprof/ceilings.hpp. Used by one thread while the program's others rest.

#include <kprof/build_options.hpp>
#include <kprof/machine/loops.hpp>
#include <kprof/machine/measuring_memory.hpp>
#include <kprof/machine/rounds.hpp>
#include <kprof/machine/usable_cpus.hpp>
#include <kprof/profile/ceilings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class cpu_measurement {
 public:
  cpu_measurement()
      : machine_(find_usable_cpus()),
        loops_(find_loops()),
        threads_(machine_.cpus, machine_.threads()) {}

  cpu_ceilings take() {
    result_.model = machine_.model;
    result_.threads = threads_.size();
    if (threads_.size() == 0) {
      result_.notes.push_back("nothing was measured: the system gave no thread");
      return std::move(result_);
    }
    if (threads_.size() < machine_.threads())
      result_.notes.push_back("the system gave " + std::to_string(threads_.size()) +
                              " threads of " + std::to_string(machine_.threads()));
    if (loops_.arithmetic.empty()) {
      result_.notes.push_back("nothing was measured: kprof has no loops for this processor");
      return std::move(result_);
    }
    warm_up();
    if (loops_.clocks != nullptr)
      result_.clock_hz = rate(1, loops_.clocks_per_round, [&](unsigned, std::uint64_t rounds) {
                           loops_.clocks(rounds);
                         }).first;
    for (const arithmetic_loop& loop : loops_.arithmetic) measure(loop);
    if (loops_.memory.read != nullptr) measure_memory();
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t round_ns = 300'000;  // longer rounds are preempted more often
  static constexpr unsigned wanted_rounds = 9, most_rounds = 60;
  static constexpr std::int64_t most_ns = 22'000'000;  // for a rate: there are about 26

  /// A core takes milliseconds to reach its clock.
  void warm_up() {
    const arithmetic_loop& loop = loops_.arithmetic.front();
    const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC) + 20'000'000;
    static_cast<void>(threads_.run(threads_.size(), [&](unsigned) {
      while (read_clock_ns(CLOCK_MONOTONIC) < end) loop.run(1000);
    }));
  }

  /// The amount that takes round_ns, where `amount` takes `ns`.
  static std::uint64_t amount_for(std::uint64_t amount, std::int64_t ns) {
    const double factor =
        static_cast<double>(round_ns) / static_cast<double>(std::max<std::int64_t>(ns, 1));
    const double scaled = static_cast<double>(amount) * std::min(factor, 1000.0);
    return scaled < 1 ? 1 : static_cast<std::uint64_t>(scaled);
  }

  /// The work of all threads per second, and whether that is a lower bound. `work(thread, amount)`
  /// does `per_amount` for each of `amount`.
  template <class Work>
  std::pair<double, bool> rate(unsigned threads, double per_amount, const Work& work) {
    std::uint64_t amount = 1;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const auto ns = best_of({threads_.run(1, [&](unsigned t) { work(t, amount); })}).ns;
      if (ns > round_ns / 2) break;
      amount = amount_for(amount, ns);
    }
    return rate_of_amount(threads, per_amount, amount, work);
  }

  template <class Work>
  std::pair<double, bool> rate_of_amount(unsigned threads, double per_amount, std::uint64_t amount,
                                         const Work& work) {
    std::vector<std::vector<round_part>> rounds;
    const round_threads::work of = [&](unsigned thread) { work(thread, amount); };
    const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC) + most_ns;
    for (unsigned undisturbed = 0; undisturbed < wanted_rounds && rounds.size() < most_rounds;) {
      rounds.push_back(threads_.run(threads, of));
      if (undisturbed_ns(rounds.back()) > 0) ++undisturbed;
      if (read_clock_ns(CLOCK_MONOTONIC) > end) break;
    }
    const best_round best = best_of(rounds);
    if (best.ns == 0) return {0, true};
    return {per_amount * static_cast<double>(amount) * threads * 1e9 / static_cast<double>(best.ns),
            best.was_disturbed};
  }

  template <class Measure>
  rate_ceiling with_one_and_all(const Measure& measure_with) {
    const auto [one, one_is_low] = measure_with(1U);
    if (threads_.size() == 1) return {one, one, one_is_low};
    const auto [all, all_is_low] = measure_with(threads_.size());
    return {one, all, one_is_low || all_is_low};
  }

  void measure(const arithmetic_loop& loop) {
    result_.arithmetic.push_back(
        {loop.type, loop.instructions, with_one_and_all([&](unsigned threads) {
           return rate(threads, loop.operations_per_round,
                       [&](unsigned, std::uint64_t rounds) { loop.run(rounds); });
         })});
  }

  void measure_memory() {
    const data_cache last = machine_.data.empty() ? data_cache{} : machine_.data.back();
    const measuring_memory::wish wish =
        measuring_memory::wish_for(last, threads_.size(), machine_.free_bytes);
    measuring_memory memory(threads_.size(), wish);
    if (!memory.is_there()) {
      result_.notes.push_back("caches and DRAM were not measured: no memory could be had");
      return;
    }
    // Each page on the node of the thread that will read it.
    static_cast<void>(threads_.run(threads_.size(), [&](unsigned t) { memory.touch(t); }));
    for (const data_cache& cache : machine_.data) {
      const bool is_last = &cache == &machine_.data.back() && cache.level > 2;
      const std::size_t bytes =
          static_cast<std::size_t>(cache.bytes) / (is_last ? 4 : 2) / cache.sharers;
      if (memory.holds(bytes, loops_.memory.bytes_per_round)) measure_cache(cache, bytes, memory);
    }
    if (wish.is_beyond_caches) measure_dram(memory);
    else
      result_.notes.push_back(
          "DRAM was not measured: too little memory is free for arrays beyond "
          "the caches");
  }

  void measure_cache(const data_cache& cache, std::size_t bytes, measuring_memory& memory) {
    const std::size_t whole = memory.rounded(bytes, loops_.memory.bytes_per_round);
    const std::size_t third = memory.rounded(bytes / 3, loops_.memory.bytes_per_round);
    memory_ceiling level{"L" + std::to_string(cache.level), cache.bytes, {}, {}};
    level.read = with_one_and_all([&](unsigned threads) {
      return rate(threads, static_cast<double>(whole), [&](unsigned t, std::uint64_t passes) {
        loops_.memory.read(memory.of(t), whole, passes);
      });
    });
    level.triad = with_one_and_all([&](unsigned threads) {
      return rate(threads, 3 * static_cast<double>(third), [&](unsigned t, std::uint64_t passes) {
        std::byte* const a = memory.of(t);
        loops_.memory.triad(a, a + third, a + 2 * third, third, passes);
      });
    });
    result_.memory.push_back(level);
  }

  /// Each round takes the next part of the array, which no cache holds any more.
  void measure_dram(measuring_memory& memory) {
    constexpr std::size_t part = std::size_t{4} << 20U;
    memory_ceiling level{"DRAM", 0, {}, {}};
    // The lines that touch() wrote go to memory first.
    static_cast<void>(threads_.run(
        threads_.size(), [&](unsigned t) { loops_.memory.read(memory.of(t), memory.size(t), 1); }));
    level.read = with_one_and_all([&](unsigned threads) {
      return rate_of_amount(threads, static_cast<double>(part), 1, [&](unsigned t, std::uint64_t) {
        loops_.memory.read(memory.next(t, part), part, 1);
      });
    });
    const std::size_t third = memory.rounded(part / 3, loops_.memory.bytes_per_round);
    level.triad = with_one_and_all([&](unsigned threads) {
      return rate_of_amount(threads, 3 * static_cast<double>(third), 1,
                            [&](unsigned t, std::uint64_t) {
                              std::byte* const a = memory.next(t, part);
                              loops_.memory.triad(a, a + third, a + 2 * third, third, 1);
                            });
    });
    result_.memory.push_back(level);
  }

  usable_cpus_of_machine machine_;
  processor_loops loops_;
  round_threads threads_;
  cpu_ceilings result_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

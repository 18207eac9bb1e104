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

/// One piece of work that is timed: `amount` rounds or passes on each thread.
struct timed_work {
  void (*rounds)(std::uint64_t amount) = nullptr;  // arithmetic; null: one of the two of `memory`
  const memory_loop* loops = nullptr;
  measuring_memory* memory = nullptr;
  std::size_t bytes = 0;       // of each array
  bool is_triad = false;       // else it reads
  bool leaves_caches = false;  // each round's data is in no cache
  std::size_t walks = 0;       // to the next part of so many bytes for each round; 0: stays
  double per_amount = 0;       // what one of `amount` counts
  std::uint64_t amount = 1;

  /// What leaves the caches is flushed some rounds ahead: flushing brings the addresses of its
  /// pages into the core's tables, where those of a long array are not.
  [[gnu::cold]] static void walk_on(const void* of, unsigned thread) {
    const timed_work& w = *static_cast<const timed_work*>(of);
    const std::byte* const first = w.memory->of(thread);
    const auto at = static_cast<std::size_t>(w.memory->walk_on(thread, w.walks) - first);
    constexpr std::size_t part = measuring_memory::walked_part;
    const std::size_t parts = w.walks / part;
    if (w.leaves_caches) w.loops->flush(first + (at / part + parts / 2) % parts * part, part);
  }
  [[gnu::cold]] static void run(const void* of, unsigned thread, round_part& part) {
    const timed_work& w = *static_cast<const timed_work*>(of);
    if (w.rounds != nullptr) return w.rounds(w.amount);
    std::byte* const a = w.walks > 0 ? w.memory->walked(thread) : w.memory->of(thread);
    if (w.leaves_caches) w.in_pieces(a, thread, part);
    else if (w.is_triad) w.loops->triad(a, a + w.bytes, a + 2 * w.bytes, w.bytes, w.amount);
    else w.loops->read(a, w.bytes, w.amount);
  }

  /// One pass in at most 16 pieces, each marked. A triad writes back what it stored a mebibyte
  /// before, and first what the round before this one left: as many lines as it stores, so that the
  /// round takes what one of a long triad would. Lines that are still in a core's own caches, as
  /// after 64 KiB, cost two threads 5 % more.
  [[gnu::cold]] void in_pieces(std::byte* a, unsigned thread, round_part& part) const {
    constexpr std::size_t behind = std::size_t{1} << 20U;
    const std::size_t piece = is_triad ? behind / 8 : behind / 4;
    static_assert(measuring_memory::walked_part / (behind / 4) <= round_part::most_marks);
    const std::byte* const left = memory->walked_before(thread, walks) + bytes - behind;
    for (std::size_t at = 0; at < bytes; at += piece) {
      const std::size_t n = std::min(piece, bytes - at);
      std::byte *const to = a + at, *const b = to + bytes, *const c = b + bytes;
      if (!is_triad) loops->read(to, n, 1);
      else if (loops->triad_written_back == nullptr) loops->triad(to, b, c, n, 1);
      else loops->triad_written_back(to, b, c, n, at < behind ? left + at : to - behind);
      part.add_mark(static_cast<double>(at + n) / static_cast<double>(bytes));
    }
  }
};

/// All threads together are so little faster than one that they seem to have shared cores: those of
/// a virtual machine lie on fewer cores of its host for a while. `sharers`: threads on each core.
[[gnu::cold]] inline bool shared_cores(const rate_ceiling& found, unsigned threads,
                                       unsigned sharers) noexcept {
  const double cores = static_cast<double>(threads) / std::max(sharers, 1U);
  return cores > 1 && found.one_thread > 0 && found.all_threads < 0.6 * cores * found.one_thread;
}

class cpu_measurement {
 public:
  [[gnu::cold]] cpu_measurement()
      : machine_(find_usable_cpus()),
        loops_(find_loops()),
        threads_(machine_.cpus, machine_.threads()) {}

  [[gnu::cold]] cpu_ceilings take() {
    result_.model = machine_.model;
    result_.threads = threads_.size();
    if (threads_.size() == 0) return without("nothing was measured: the system gave no thread");
    if (threads_.size() < machine_.threads())
      note("the system gave " + std::to_string(threads_.size()) + " threads of " +
           std::to_string(machine_.threads()));
    if (loops_.arithmetic.empty())
      return without("nothing was measured: kprof has no loops for this processor");
    warm_up();
    if (loops_.clocks != nullptr) {
      timed_work w{.rounds = loops_.clocks, .per_amount = loops_.clocks_per_round};
      rate_ceiling clock;
      result_.clock_hz = rate(w, 1, clock);
    }
    result_.arithmetic.reserve(loops_.arithmetic.size());
    for (const arithmetic_loop& loop : loops_.arithmetic) {
      arithmetic_ceiling& found = result_.arithmetic.emplace_back();
      found.type = loop.type;
      found.instructions = loop.instructions;
      found.operations =
          with_one_and_all({.rounds = loop.run, .per_amount = loop.operations_per_round});
    }
    if (loops_.memory.read != nullptr) measure_memory();
    repeat_on_shared_cores();
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t round_ns = 300'000;  // longer rounds are preempted more often
  static constexpr unsigned wanted_rounds = 9, most_rounds = 60;
  // For a rate, of about 26, and four times that for DRAM. None is begun after most_of_all.
  static constexpr std::int64_t most_ns = 22'000'000, most_of_all = 800'000'000;

  [[gnu::cold]] void note(std::string what) { result_.notes.push_back(std::move(what)); }
  [[gnu::cold]] cpu_ceilings without(const char* why) {
    note(why);
    return std::move(result_);
  }

  struct warming {
    void (*run)(std::uint64_t rounds);
    std::int64_t end_ns;
  };
  /// A core takes milliseconds to reach its clock.
  [[gnu::cold]] void warm_up() {
    const warming until{loops_.arithmetic.front().run, read_clock_ns(CLOCK_MONOTONIC) + 20'000'000};
    static_cast<void>(
        threads_.run(threads_.size(), {[](const void* of, unsigned, round_part&) {
                                         const warming& w = *static_cast<const warming*>(of);
                                         while (read_clock_ns(CLOCK_MONOTONIC) < w.end_ns)
                                           w.run(1000);
                                       },
                                       &until}));
  }

  /// Finds the amount that takes round_ns.
  [[gnu::cold]] void settle_amount(timed_work& w) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const auto ns = best_of({threads_.run(1, {&timed_work::run, &w})}).ns;
      if (ns > round_ns / 2) break;
      const double factor =
          static_cast<double>(round_ns) / static_cast<double>(std::max<std::int64_t>(ns, 1));
      const double scaled = static_cast<double>(w.amount) * std::min(factor, 1000.0);
      w.amount = scaled < 1 ? 1 : static_cast<std::uint64_t>(scaled);
    }
  }

  /// The work of all threads per second. Where every round was disturbed, `of` is a lower bound.
  [[gnu::cold]] double rate(timed_work& w, unsigned threads, rate_ceiling& of) {
    w.amount = 1;
    if (w.walks == 0) settle_amount(w);
    std::vector<std::vector<round_part>> rounds;
    const round_threads::work round{&timed_work::run, &w,
                                    w.walks > 0 ? &timed_work::walk_on : nullptr};
    // The first round has nothing of another's to write back, and counts for nothing.
    if (w.is_triad && w.leaves_caches) static_cast<void>(threads_.run(threads, round));
    const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC) + most_ns * (w.leaves_caches ? 4 : 1);
    for (unsigned undisturbed = 0; undisturbed < wanted_rounds && rounds.size() < most_rounds;) {
      rounds.push_back(threads_.run(threads, round));
      if (undisturbed_ns(rounds.back()) > 0) ++undisturbed;
      if (read_clock_ns(CLOCK_MONOTONIC) > end) break;
    }
    const best_round best = best_of(rounds);
    of.is_lower_bound = of.is_lower_bound || best.ns == 0 || best.was_disturbed;
    if (best.ns == 0) return 0;
    return w.per_amount * static_cast<double>(w.amount) * threads * 1e9 /
           static_cast<double>(best.ns);
  }

  /// Nothing once the time is over.
  [[gnu::cold]] rate_ceiling with_one_and_all(timed_work w) {
    rate_ceiling found;
    if (read_clock_ns(CLOCK_MONOTONIC) > begin_ns_ + most_of_all) {
      if (!std::exchange(is_over_, true))
        note("what is n/a was not measured: the machine was too busy to do it in a second");
      return found;
    }
    found.one_thread = found.all_threads = rate(w, 1, found);
    if (threads_.size() > 1) found.all_threads = rate(w, threads_.size(), found);
    return found;
  }

  /// Measures again what threads reached that seem to have shared cores, while there is time.
  [[gnu::cold]] void repeat_on_shared_cores() {
    const unsigned sharers = machine_.data.empty() ? 1 : machine_.data.front().sharers;
    bool again = true;
    while (again && read_clock_ns(CLOCK_MONOTONIC) < begin_ns_ + most_of_all) {
      again = false;
      for (std::size_t i = 0; i < result_.arithmetic.size(); ++i) {
        rate_ceiling& found = result_.arithmetic[i].operations;
        if (!shared_cores(found, threads_.size(), sharers)) continue;
        const arithmetic_loop& loop = loops_.arithmetic[i];
        timed_work w{.rounds = loop.run, .per_amount = loop.operations_per_round};
        rate_ceiling repeated;
        found.all_threads = std::max(found.all_threads, rate(w, threads_.size(), repeated));
        again = true;
      }
    }
    bool remains = false;
    for (arithmetic_ceiling& a : result_.arithmetic)
      if (shared_cores(a.operations, threads_.size(), sharers))
        a.operations.is_lower_bound = remains = true;
    if (remains)
      note(
          "all threads together were hardly faster than one at arithmetic, as where a virtual "
          "machine's processors share a core: what they reached is a lower bound; measure again");
  }

  [[gnu::cold]] void measure_memory() {
    measuring_memory memory(threads_.size(),
                            measuring_memory::size_for(threads_.size(), machine_.free_bytes));
    if (!memory.is_there())
      return note("caches and DRAM were not measured: no memory could be had");
    measuring_memory* const to = &memory;
    // Each page on the node of the thread that will read it.
    static_cast<void>(
        threads_.run(threads_.size(), {[](const void* of, unsigned t, round_part&) {
                                         (*static_cast<measuring_memory* const*>(of))->touch(t);
                                       },
                                       &to}));
    result_.memory.reserve(machine_.data.size() + 1);
    // First, in case that the time is over before all is measured.
    const bool has_dram = memory.size(0) >= measuring_memory::least_of_dram;
    if (has_dram) measure_level("DRAM", {0, 0, 1}, memory.size(0), true, memory);
    else note("DRAM was not measured: too little memory is free");
    for (const data_cache& cache : machine_.data) {
      const bool is_last = &cache == &machine_.data.back() && cache.level > 2;
      const auto all = static_cast<std::size_t>(cache.bytes) / (is_last ? 4 : 2) / cache.sharers;
      const std::size_t bytes = std::min(all, measuring_memory::largest);
      const std::string name = "L" + std::to_string(cache.level);
      if (memory.holds(bytes, loops_.memory.bytes_per_round))
        measure_level(name, cache, bytes, false, memory);
      else note(name + " was not measured: too little memory is free");
    }
    if (has_dram)
      std::rotate(result_.memory.begin(), result_.memory.begin() + 1, result_.memory.end());
  }

  /// In the first `bytes` of each array. Where these are many, a round takes a part, as a round of
  /// all would be preempted.
  [[gnu::cold]] void measure_level(std::string name, const data_cache& cache, std::size_t bytes,
                                   bool leaves_caches, measuring_memory& memory) {
    const std::size_t round = loops_.memory.bytes_per_round;
    memory_ceiling& level = result_.memory.emplace_back();
    level.level = std::move(name);
    level.bytes = cache.bytes;
    level.sharers = cache.sharers;
    timed_work w{.loops = &loops_.memory, .memory = &memory, .leaves_caches = leaves_caches};
    if (bytes >= 2 * measuring_memory::walked_part) {
      w.walks = bytes;
      bytes = measuring_memory::walked_part;
    }
    w.bytes = memory.rounded(bytes, round);
    w.per_amount = static_cast<double>(w.bytes);
    if (w.walks > 0) begin_walk(w);
    level.read = with_one_and_all(w);
    w.is_triad = true;
    w.bytes = memory.rounded(bytes / 3, round);
    w.per_amount = 3 * static_cast<double>(w.bytes);
    level.triad = with_one_and_all(w);
  }
  [[gnu::cold]] void begin_walk(const timed_work& w) {
    static_cast<void>(threads_.run(threads_.size(), {[](const void* of, unsigned t, round_part&) {
                                                       const timed_work& f =
                                                           *static_cast<const timed_work*>(of);
                                                       if (f.leaves_caches)
                                                         f.loops->flush(f.memory->of(t), f.walks);
                                                       else
                                                         f.loops->read(f.memory->of(t), f.walks, 2);
                                                     },
                                                     &w}));
  }

  usable_cpus_of_machine machine_;
  processor_loops loops_;
  round_threads threads_;
  cpu_ceilings result_;
  std::int64_t begin_ns_ = read_clock_ns(CLOCK_MONOTONIC);
  bool is_over_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

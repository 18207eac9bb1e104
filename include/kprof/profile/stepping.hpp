// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_STEPPING_HPP
#define KPROF_PROFILE_STEPPING_HPP

// The program's steps beside their marks in profile::steps, which may be some of them only: sums of
// all, and what scopes did in single ones. Plain values, included by profile.hpp.

#include <kprof/build_options.hpp>
#include <kprof/record/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// All steps of one thread, those too whose marks were not kept.
struct thread_steps {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t thread = none;  ///< index in profile::threads
  std::uint64_t count = 0;      ///< that ended
  /// Regions inside a step that have the name of steps: they are none.
  std::uint64_t nested = 0;
  double total_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  double first_ns = -1;    ///< of the step that ended first; negative: not known
  double running_ns = -1;  ///< of the step that has not ended; negative: none runs
  histogram durations{};   ///< in ticks of profile::clock
};

/// What the scopes of a node did in one step. A scope that lies in several has its time in each,
/// and is counted where it ended.
struct step_share {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t step = none;  ///< index in profile::steps
  std::uint32_t node = none;  ///< index in profile::nodes
  std::uint64_t calls = 0;
  double total_ns = 0;
  double self_ns = 0;  ///< total less the time in child scopes
};

/// Of the latest steps at most so many shares are in a profile.
inline constexpr std::size_t most_step_shares = std::size_t{1} << 16U;

/// Of a thread with more steps than memory for marks, the marks of so many of the slowest and of
/// the latest steps are in a profile; of the others each is there with the same chance.
inline constexpr std::size_t slowest_marks = 32;
inline constexpr std::size_t latest_marks = 32;

/// Why the timeline has a step that is older than the rest of it.
enum class kept_as : std::uint8_t {
  slowest,
  median,  ///< it took about as long as the median step
  latest,
};

/// A step that lies before profile::timeline's unbroken end and that the timeline has all the same.
/// Its scopes are there but for those that began before it, or that another thread ended later.
struct kept_step {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t step = none;  ///< index in profile::steps
  kept_as why = kept_as::slowest;
};

/// The program's steps.
struct stepping {
  std::string region;                 ///< whose runs are the steps; empty: kprof::step() began them
  std::vector<thread_steps> threads;  ///< most time first
  std::vector<step_share> shares;     ///< of the whole steps, in their order
  /// Steps of the first thread that began no earlier, in ns since the session's start, are whole:
  /// all scopes in them are in `shares`. Negative: none is.
  std::int64_t whole_from = -1;
  /// Steps that the timeline has and that have no shares, since those of later ones are so many.
  std::uint64_t without_shares = 0;
  std::vector<kept_step> kept;  ///< in the order of their ends; they have shares too
};

KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SETTINGS_VALUE_HPP
#define KPROF_SESSION_SETTINGS_VALUE_HPP

// The settings of a session as a value. Included by settings.hpp, which explains them.

#include <kprof/build_options.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/session/step_schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// What scopes are timed with.
enum class clock_choice : std::uint8_t { automatic, system };

/// Whether CUPTI is asked for the GPU's work.
enum class cupti_choice : std::uint8_t {
  automatic,  ///< when the program is found to use CUDA
  on,
  off,
};

struct parsed_settings;
struct profile;

/// Gets the profile of a cycle, see on_profile().
using profile_function = void (*)(const profile& run, void* context);

/// The settings of a session.
struct settings {
  bool enabled = true;  ///< false: nothing is recorded or emitted, guards stay idle
  bool nvtx = true;     ///< send scopes to an attached NVTX tool
  cupti_choice cupti = cupti_choice::automatic;  ///< attribute the GPU's work to operators
  /// Note when devices worked, and which functions of CUDA's libraries took how long.
  bool device_timeline = true;
  /// Bytes for logs and totals of the whole process; 1 MiB or more.
  std::size_t memory = std::size_t{64} * 1024 * 1024;
  clock_choice clock = clock_choice::automatic;
  /// What the machine reaches: "auto", "cache", "measure", "off", or a file, see docs/ceilings.md.
  std::string ceilings = "auto";
  /// Ceilings that the program knows. Each that is above 0 is right, whatever was measured; GPUs
  /// are found by their names.
  machine_ceilings machine{};
  /// Regions of this name are the program's steps; empty: those that kprof::step() begins.
  std::string step{};
  /// How many threads work in a call of an operator without threads(), or all_cpus; 0: not known.
  std::uint32_t threads = 0;
  step_schedule schedule{};  ///< which steps are recorded, see kprof::step(); none: all
  bool signals = true;       ///< write the outputs when SIGINT, SIGTERM or SIGHUP ends the program
  /// Where calls are printed as they end, see verbose.hpp: "off", "on", which is standard error, or
  /// a file.
  std::string verbose = "off";
  report_options report{};  ///< what report() shows when it is not told otherwise
  /// Written when the program ends. The request {"report"}, without options, is what `report` says;
  /// it is left out when the program has printed just that.
  std::vector<output_request> outputs{};

  static constexpr std::size_t smallest_memory =
      std::size_t{1024} * 1024;  ///< bytes; parse() raises what is less

  /// Reads settings as in the variable KPROF. What is wrong is skipped and described; what is right
  /// holds.
  KPROF_DETAIL_SESSION static parsed_settings parse(std::string_view text);
};

/// Settings, and one line for each mistake in the text: what is wrong and what is valid. The lines
/// are fit to print, whatever the text holds, and no more than 20.
struct parsed_settings {
  settings value{};
  std::vector<std::string> errors{};
};

KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_RULE_HPP
#define KPROF_MODEL_ADVICE_RULE_HPP

// What a piece of advice is, and a rule that gives it. Included by kprof/advice.hpp and by the
// rules. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/copy_table.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// A field of an operator with the value that it is advised to have.
struct advised_field {
  std::string field;
  std::int64_t value = 0;  ///< of an enumeration, that of the enumerator
  std::string text{};      ///< how the value is shown; empty: as the number
};
using advised_fields = std::vector<advised_field>;

/// Where a run loses time, and what to do about it. As a sentence: "WHERE FACT. ACTION."
struct advice {
  const char* id = "";   ///< of the rule that gave it: "G9"
  std::string where{};   ///< "Linear 384 → 50304 dgrad"
  std::string fact{};    ///< "is 39% of the run at 2% of the roof"
  std::string action{};  ///< "At that speed it would take 2.3 s"
  /// What following it saves at most; never more than the time of what it is about. Negative: how
  /// much is not known.
  double gain_ns = -1;
  double share = 0;    ///< gain_ns, of advice_facts::window_ns; where it is not known 0
  double time_ns = 0;  ///< of what it is about
  /// Index in profile::nodes of the first call that it is about; none where it is about the run.
  std::uint32_t node = scope_node::none;
  /// Parameters that follow the advice, one set after the other: what advice=prove tries out, where
  /// the program says how to run the operator again (kprof/prove.hpp).
  std::vector<advised_fields> trials{};
};

/// What rules look at: the tables of a run, made once for all of them.
struct advice_facts {
  const profile& run;
  /// What gains are shares of: the time of the run without its pauses or, where several threads
  /// were in scopes at a time, the time of all scopes.
  double window_ns = 0;
  std::vector<operator_row> rows;     ///< by parameters
  std::vector<std::uint32_t> row_of;  ///< of each node; none where it has no row
  std::vector<kernel_row> kernels;    ///< by parameters
  std::vector<copy_row> copies;
  double device_ns = 0;  ///< of all work of the devices
  /// For each row the one of the same operator, with the same type, that is nearest to its roof;
  /// none where no other is nearer by half, or the row is not the one to lose most by that.
  std::vector<std::uint32_t> better_row;
  std::uint32_t most_lost = scope_node::none;  ///< the row that loses most time, far from its roof
  /// Operators that say that they run on several threads, or are faster than one thread can be.
  std::vector<std::string_view> several_threads;
  /// All time that operators' threads were on no CPU is explained by threads without guards, which
  /// they may have waited for.
  bool helpers_worked = false;
  const char* whole = "the run";  ///< what window_ns is the time of, in a sentence
  /// How devices spent their time; null where the profile has no timeline of a device.
  const time_summary* device_times = nullptr;
  /// advice=prove: what a rule says is measured, so that it may speak where it is not sure.
  bool tries = false;
};

/// What a rule looks at, one after the other.
enum class advice_about : std::uint8_t {
  rows,     ///< advice_facts::rows by the time that their rates are over: the device's, if any
  calls,    ///< the same by the time of their calls on the host
  kernels,  ///< advice_facts::kernels
  copies,   ///< advice_facts::copies
  run,      ///< the run as a whole, once
};

/// What a piece of advice puts time down to. Of several about the same thing with the same cause,
/// the rule that comes first gives its advice.
enum class advice_cause : std::uint8_t {
  work,
  first_call,
  spread,
  threads,
  guard,
  denormals,
  memory,
  run
};

/// A rule that finds advice. It lives as long as the binary that registers it.
struct advice_rule {
  const char* id;  ///< letters, digits and _: advice=-ID switches it off
  advice_about about = advice_about::rows;
  advice_cause cause = advice_cause::work;
  /// It is asked about what takes at least this share of the window.
  double least_share = 0.01;
  /// Whether there is advice about number `i`, which is then filled in: `fact`, `action` and
  /// `gain_ns`; of a rule about the run also `where` and `time_ns`. Must not throw anything but
  /// std::bad_alloc. Rows above every roof are not asked about, nor a device of which records are
  /// missing.
  bool (*look)(const advice_facts& of, std::size_t i, advice& out) = nullptr;
};

class advice_registration;
namespace detail {
/// The rules that this binary adds to kprof's own, by their ids. Written before main(), or when the
/// binary is loaded.
KPROF_DETAIL_LOCAL inline constinit const advice_registration* first_advice_registration = nullptr;
}  // namespace detail

/// Makes a rule known in this binary while it exists. Give the variable
/// [[gnu::init_priority(101)]]: KPROF, which may name the rule, is read by constructors that come
/// later. A rule does not become known while another of its id is.
///     constexpr kprof::advice_rule too_many{.id = "MY1", ..., .look = &look};
///     [[gnu::init_priority(101)]] const kprof::advice_registration known{too_many};
class KPROF_DETAIL_LOCAL advice_registration {
 public:
  explicit advice_registration(const advice_rule& what) noexcept : what_(what) {
    const advice_registration** at = &detail::first_advice_registration;
    while (*at != nullptr && std::string_view{(*at)->what_.id} < what.id) at = &(*at)->next_;
    if (*at != nullptr && std::string_view{(*at)->what_.id} == what.id) return;
    next_ = *at;
    *at = this;
  }
  ~advice_registration() {
    const advice_registration** at = &detail::first_advice_registration;
    while (*at != nullptr && *at != this) at = &(*at)->next_;
    if (*at == this) *at = next_;
  }
  advice_registration(const advice_registration&) = delete;
  advice_registration& operator=(const advice_registration&) = delete;

  const advice_rule& what() const noexcept { return what_; }
  const advice_registration* next() const noexcept { return next_; }

 private:
  const advice_rule& what_;
  mutable const advice_registration* next_ = nullptr;
};

namespace detail {

/// The time that a row's rates are over.
inline double time_of(const operator_row& row) noexcept {
  return row.on_device ? row.device_total_ns : row.total_ns;
}

/// What the one kind of GPU of the run reaches; null where there are several kinds or it is not
/// known.
[[gnu::cold]] inline const gpu_ceilings* only_gpu(const profile& p) noexcept {
  for (const gpu_ceilings& gpu : p.machine.gpus)
    if (gpu.device != p.machine.gpus[0].device) return nullptr;
  return p.machine.gpus.empty() ? nullptr : &p.machine.gpus[0];
}

/// The highest rate of a type, in operations a second; 0: not known.
[[gnu::cold]] inline double rate_on(const gpu_ceilings& gpu, dtype type,
                                    arithmetic_unit on) noexcept {
  double rate = 0;
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
    if (a.type == type && a.on == on && a.operations > rate) rate = a.operations;
  return rate;
}

/// That of the processor, of one thread or of all.
[[gnu::cold]] inline rate_ceiling rate_on(const cpu_ceilings& cpu, dtype type) noexcept {
  for (const arithmetic_ceiling& a : cpu.arithmetic)
    if (a.type == type) return a.operations;
  return {};
}

/// The bandwidth of the processor's memory.
[[gnu::cold]] inline rate_ceiling memory_rate(const cpu_ceilings& cpu) noexcept {
  rate_ceiling out;
  if (cpu.memory.empty()) return out;
  const memory_ceiling& m = cpu.memory.back();
  out.one_thread = m.read.one_thread > m.triad.one_thread ? m.read.one_thread : m.triad.one_thread;
  out.all_threads =
      m.read.all_threads > m.triad.all_threads ? m.read.all_threads : m.triad.all_threads;
  return out;
}

/// A number of a call's parameters by its field; 0 where there is none.
[[gnu::cold]] inline std::int64_t number_of(const profile& p, const operator_row& row,
                                            std::string_view field) {
  if (row.node >= p.nodes.size() || row.variants != 1 || row.merged) return 0;
  const parameter_value v = p.value(p.nodes[row.node], field);
  const bool is_number =
      v.kind == parameter_kind::signed_integer || v.kind == parameter_kind::unsigned_integer;
  return is_number ? v.as_signed() : 0;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

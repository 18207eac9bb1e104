// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_CEILINGS_TEXT_HPP
#define KPROF_MODEL_CEILINGS_TEXT_HPP

// Ceilings as text: what a person writes by hand, and what kprof keeps of a measurement. A line is
// "key = value"; docs/ceilings.md describes them. Nothing in the text is trusted. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/written_ceilings.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/write/printable.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A byte is a unit of its own: an operator's bytes are no operations.
enum class ceiling_unit : std::uint8_t { operations, bytes_per_s, hertz, bytes };

/// Reads a text line by line. A line that is wrong is told and changes nothing.
class ceilings_reader {
 public:
  [[gnu::cold]] written_ceilings run(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
      read_line(trimmed(line));
    }
    if (more_mistakes_ > 0)
      out_.mistakes.push_back("more mistakes: " + std::to_string(more_mistakes_));
    return std::move(out_);
  }

 private:
  [[gnu::cold]] static std::string_view trimmed(std::string_view text) noexcept {
    constexpr const char* spaces = " \t\r";
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
  }
  /// No number and no unit has a #; a name may have one.
  [[gnu::cold]] static std::string_view without_comment(std::string_view value) noexcept {
    return value.substr(0, value.find('#'));
  }

  [[gnu::cold]] void read_line(std::string_view line) {
    if (line.empty() || line[0] == '#') return;
    const std::size_t equals = line.find('=');
    key_ = trimmed(line.substr(0, equals));
    value_ = equals == line.npos ? std::string_view{} : trimmed(line.substr(equals + 1));
    if (equals == line.npos || key_.empty() || value_.empty())
      return complain("is no line of the form key = value");
    if (read_text()) return;
    value_ = trimmed(without_comment(value_));
    if (!read_number() && !read_rates()) complain_of_key();
  }

  // ---- the kinds of lines: false where the key is none of this kind

  [[gnu::cold]] bool read_text() {
    cpu_ceilings& cpu = out_.value.cpu;
    if (key_ == "machine") out_.machine = value_;
    else if (key_ == "date") out_.date = value_;
    else if (key_ == "processor") cpu.model = value_;
    else if (key_ == "note") cpu.notes.emplace_back(value_);
    else if (key_ == "gpu") out_.value.gpus.emplace_back().device = value_;
    else if (const dtype type = type_before(".instructions"); type != dtype::unknown)
      entry_of(cpu, type).instructions = value_;
    else return false;
    return true;
  }

  [[gnu::cold]] bool read_number() {
    cpu_ceilings& cpu = out_.value.cpu;
    if (key_ == "threads") {
      read_count("is no number of threads", cpu.threads);
    } else if (const char* const of = level_before(".sharers"); of != nullptr) {
      std::uint32_t sharers = 0;
      read_count("is no number of CPUs", sharers);
      if (sharers > 0) entry_of(cpu, of).sharers = sharers;
    } else if (key_ == "clock") {
      read_one(ceiling_unit::hertz, cpu.clock_hz);
    } else if (const char* const level = level_before(".size"); level != nullptr) {
      double bytes = 0;
      read_one(ceiling_unit::bytes, bytes);
      if (bytes > 0 && bytes < 1e15) entry_of(cpu, level).bytes = static_cast<std::uint64_t>(bytes);
    } else {
      return read_gpu_number();
    }
    return true;
  }

  [[gnu::cold]] void read_count(const char* mistake, std::uint32_t& to) {
    const char* const end = value_.data() + value_.size();
    std::uint32_t count = 0;
    const auto [stop, error] = std::from_chars(value_.data(), end, count);
    if (error != std::errc{} || stop != end || count == 0 || count > 65'536) complain(mistake);
    else to = count;
  }

  /// "gpu.memory", "gpu.f32", "gpu.f16.tensor", "gpu.f16.tensor.f32".
  [[gnu::cold]] bool read_gpu_number() {
    constexpr std::string_view prefix = "gpu.";
    if (key_.substr(0, prefix.size()) != prefix) return false;
    std::string_view name = key_.substr(prefix.size());
    gpu_arithmetic_ceiling found;
    found.on = arithmetic_unit::cuda_core;
    found.source = "by hand";
    const std::size_t tensor = name.find(".tensor");
    if (tensor != name.npos) {
      found.on = arithmetic_unit::tensor_core;
      std::string_view sums = name.substr(tensor + 7);
      name = name.substr(0, tensor);
      if (!sums.empty()) {
        found.sums = sums[0] == '.' ? type_of(sums.substr(1)) : dtype::unknown;
        if (found.sums == dtype::unknown) return false;
      }
    }
    found.type = type_of(name);
    const gpu_number* number = tensor == name.npos ? gpu_numbers : std::end(gpu_numbers);
    while (number != std::end(gpu_numbers) && name != number->key) ++number;
    const bool is_number = number != std::end(gpu_numbers);
    if (found.type == dtype::unknown && !is_number) return false;
    if (out_.value.gpus.empty()) {
      complain("stands before a line that names the device: gpu = NAME");
      return true;
    }
    gpu_ceilings& gpu = out_.value.gpus.back();
    if (is_number) {
      read_one(number->is_clock ? ceiling_unit::hertz : ceiling_unit::bytes_per_s, gpu.*number->to);
    } else {
      read_one(ceiling_unit::operations, found.operations);
      if (found.operations > 0) gpu.arithmetic.push_back(found);
    }
    return true;
  }

  [[gnu::cold]] bool read_rates() {
    cpu_ceilings& cpu = out_.value.cpu;
    rate_ceiling rate;
    if (const dtype type = type_of(key_); type != dtype::unknown) {
      if (read_pair(ceiling_unit::operations, rate)) entry_of(cpu, type).operations = rate;
      return true;
    }
    constexpr std::string_view of_reads = ".read", of_triads = ".triad";
    for (const std::string_view suffix : {std::string_view{}, of_reads, of_triads}) {
      const char* const level = level_before(suffix);
      if (level == nullptr) continue;
      if (!read_pair(ceiling_unit::bytes_per_s, rate)) return true;
      memory_ceiling& entry = entry_of(cpu, level);
      if (suffix != of_triads) entry.read = rate;
      if (suffix != of_reads) entry.triad = rate;
      return true;
    }
    return false;
  }

  // ---- words

  [[gnu::cold]] static dtype type_of(std::string_view name) noexcept {
    for (auto i = static_cast<int>(dtype::c128); i > 0; --i)
      if (name == dtype_name(static_cast<dtype>(i))) return static_cast<dtype>(i);
    return dtype::unknown;
  }
  /// What the key is where it ends so.
  [[gnu::cold]] std::string_view key_before(std::string_view suffix) const noexcept {
    return key_.size() > suffix.size() && key_.substr(key_.size() - suffix.size()) == suffix
               ? key_.substr(0, key_.size() - suffix.size())
               : std::string_view{};
  }
  [[gnu::cold]] dtype type_before(std::string_view suffix) const noexcept {
    return type_of(key_before(suffix));
  }
  /// Null where the key names no level of memory.
  [[gnu::cold]] const char* level_before(std::string_view suffix) const noexcept {
    const std::string_view name = key_before(suffix);
    for (const char* const level : memory_levels)
      if (name == level) return level;
    return nullptr;
  }

  // ---- numbers

  /// Takes the next word off the value.
  [[gnu::cold]] static std::string_view take_word(std::string_view& text) noexcept {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text = trimmed(text.substr(word.size()));
    return word;
  }
  /// The factor that a unit stands for; 0 where it is none of this kind.
  [[gnu::cold]] static double factor_of(std::string_view unit, ceiling_unit kind) noexcept {
    if (unit.empty()) return 1;
    constexpr std::string_view prefixes = "kMGTPE";
    const std::size_t at = prefixes.find(unit[0] == 'K' ? 'k' : unit[0]);
    const bool is_binary = kind == ceiling_unit::bytes;
    double factor = 1;
    if (at != prefixes.npos) {
      unit.remove_prefix(1);
      if (is_binary && !unit.empty() && unit[0] == 'i') unit.remove_prefix(1);
      else if (is_binary) return 0;
      for (std::size_t i = 0; i <= at; ++i) factor *= is_binary ? 1024 : 1000;
    }
    const bool is_right = kind == ceiling_unit::operations    ? unit == "FLOP/s" || unit == "OP/s"
                          : kind == ceiling_unit::bytes_per_s ? unit == "B/s"
                          : kind == ceiling_unit::hertz       ? unit == "Hz"
                                                              : unit == "B";
    return is_right ? factor : 0;
  }
  /// False, and told, where the word is no number that a machine can reach.
  [[gnu::cold]] bool to_number(std::string_view word, double& number) {
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error == std::errc{} && stop == end && is_rate(number)) return true;
    number = 0;
    return complain("is no number above 0, and below 10^24, with its unit behind it"), false;
  }
  [[gnu::cold]] bool to_factor(std::string_view unit, ceiling_unit kind, double& factor) {
    factor = factor_of(unit, kind);
    if (factor > 0) return true;
    static constexpr const char* wanted[] = {"GFLOP/s or GOP/s", "GB/s", "GHz", "KiB or MiB"};
    return complain(std::string{"has another unit than "} + wanted[static_cast<int>(kind)]), false;
  }

  [[gnu::cold]] void read_one(ceiling_unit kind, double& into) {
    std::string_view rest = value_;
    double number = 0, factor = 0;
    if (!to_number(take_word(rest), number) || !to_factor(rest, kind, factor)) return;
    if (is_rate(number * factor)) into = number * factor;
    else complain("is more than any machine reaches");
  }
  /// Of one thread and of all; - where one is not known, >= before both where they are reached at
  /// least.
  [[gnu::cold]] bool read_pair(ceiling_unit kind, rate_ceiling& into) {
    std::string_view rest = value_;
    into = {};
    if (rest.substr(0, 2) == ">=") {
      into.is_lower_bound = true;
      rest = trimmed(rest.substr(2));
    }
    double factor = 0;
    for (double* const number : {&into.one_thread, &into.all_threads}) {
      const std::string_view word = take_word(rest);
      const bool is_there = !word.empty() && (word[0] < 'A' || word[0] > 'Z');
      if (!is_there)
        return complain(
                   "has one number; give two, of one thread and of all, and - for one that "
                   "is not known"),
               false;
      if (word != "-" && !to_number(word, *number)) return false;
    }
    if (!to_factor(rest, kind, factor)) return false;
    into.one_thread *= factor;
    into.all_threads *= factor;
    return is_reachable(into);
  }

  /// False, and told, where no machine reaches both.
  [[gnu::cold]] bool is_reachable(const rate_ceiling& r) {
    if (r.one_thread >= 1e24 || r.all_threads >= 1e24)
      return complain("is more than any machine reaches"), false;
    for (const double known : {r.one_thread, r.all_threads})
      if (known > 0 && known < 1)
        return complain("is less than any machine reaches; is the unit missing?"), false;
    if (r.one_thread <= 0 && r.all_threads <= 0)
      return complain("gives neither number; leave the line out where none is known"), false;
    // What was measured may be a little less for all.
    if (r.all_threads > 0 && r.all_threads * 2 < r.one_thread && !r.is_lower_bound)
      return complain("has less for all threads than for one; one thread's comes first"), false;
    return true;
  }

  // ---- mistakes

  [[gnu::cold]] void complain(const std::string& what) {
    if (out_.mistakes.size() == most_mistakes_told) {
      ++more_mistakes_;
      return;
    }
    std::string line = "line " + std::to_string(number_) + ": \"" + printable(key_, 40);
    if (!value_.empty()) line.append(" = ").append(printable(value_, 60));
    out_.mistakes.push_back(line + "\" " + what);
  }
  [[gnu::cold]] void complain_of_key() {
    complain(
        "is unknown; valid: processor, threads, clock, a type such as f32 or int8, L1 to L4 and "
        "DRAM (.read, .triad, .size), gpu, gpu.f32, gpu.f16.tensor, gpu.memory, gpu.l2, "
        "gpu.shared");
  }
  static constexpr std::size_t most_mistakes_told = 9;

  written_ceilings out_;
  std::string_view key_, value_;
  std::size_t number_ = 0;
  std::size_t more_mistakes_ = 0;
};

[[gnu::cold]] inline written_ceilings read_ceilings(std::string_view text) {
  return ceilings_reader{}.run(text);
}

}  // namespace detail
KPROF_DETAIL_END

#endif

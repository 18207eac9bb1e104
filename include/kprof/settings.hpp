// SPDX-License-Identifier: MIT
#ifndef KPROF_SETTINGS_HPP
#define KPROF_SETTINGS_HPP

// The settings of a session and the grammar of the environment variable KPROF. One parser serves
// both.
//
//   settings = [ setting { "," setting } ]
//   setting  = word | word "=" value | word "(" [ option { "," option } ] ")"
//   option   = word | word "=" value
//   value    = characters without , ( ) or "text" in quotes, where a backslash keeps the next " or
//            backslash
//
//   A switch takes on, off, 1, 0, true or false; without a value it is on. Sizes take B, K, KiB, M,
//   MiB, G or GiB.
//
//   on | off                     record from the first scope (the default), or do nothing at all
//   report | report(...)         print a report when the program ends; options: path width top sort
//                                by filter columns
//                                table tree kernels copies full_names ascii legend. columns are
//                                joined by "+"; "%p" in path is the process id
//   nvtx=on|off                  send scopes to an attached NVTX tool (default on)
//   memory=64MiB                 bound of the memory for logs and totals (default 64 MiB; KiB, MiB,
//                                GiB), 1 MiB or more
//   cupti=auto|on|off            attribute the GPU's work to operators: auto where the program uses
//                                CUDA (default auto)
//   clock=auto|system            the CPU's counter where it is reliable, or clock_gettime
//
//   KPROF="memory=256MiB,report(path=run-%p.txt,width=160,sort=total)"

#include <kprof/build_options.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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

/// The settings of a session.
struct settings {
  bool enabled = true;  ///< false: nothing is recorded or emitted, guards stay idle
  bool nvtx = true;     ///< send scopes to an attached NVTX tool
  cupti_choice cupti = cupti_choice::automatic;        ///< attribute the GPU's work to operators
  std::size_t memory = std::size_t{64} * 1024 * 1024;  ///< bytes for logs and totals of the whole
                                                       ///< process; 1 MiB or more
  clock_choice clock = clock_choice::automatic;
  bool report_at_exit = false;  ///< print a report when the program ends
  report_options report{};      ///< what report() shows when it is not told otherwise

  static constexpr std::size_t smallest_memory =
      std::size_t{1024} * 1024;  ///< bytes; parse() raises what is less

  /// Reads settings as in the variable KPROF. What is wrong is skipped and described; what is right
  /// holds.
  static parsed_settings parse(std::string_view text);
};

/// Settings, and one line for each mistake in the text: what is wrong and what is valid. The lines
/// are fit to print, whatever the text holds, and no more than 20.
struct parsed_settings {
  settings value;
  std::vector<std::string> errors;
};

namespace detail {

/// Reads one settings text from left to right.
class settings_parser {
 public:
  explicit settings_parser(std::string_view text) : rest_(text) {}

  parsed_settings run() {
    skip_spaces();
    while (!rest_.empty()) {
      const std::string what = setting();
      if (!ends(",")) unexpected(what, "", "settings", ",");
      take(',');
    }
    if (more_mistakes_ > 0) out_.errors.push_back("more mistakes: " + format_count(more_mistakes_));
    return std::move(out_);
  }

 private:
  static constexpr std::string_view settings_list =
      "on, off, report, report(...), nvtx=on|off, cupti=auto|on|off, memory=SIZE, "
      "clock=auto|system";
  static constexpr std::string_view options_list =
      "path=FILE, width=COLUMNS, top=ROWS, sort=COLUMN, by=op|parameters|call_site|thread, "
      "filter=REGEX, columns=A+B+C, table=on|off, tree=on|off, "
      "kernels=on|off, copies=on|off, full_names, ascii, legend";

  /// What it read, for the complaint about what follows it. A setting with something behind it that
  /// is no part of it is skipped.
  std::string setting() {
    const std::string word = bare();
    if (take('(')) return options(word);
    const bool has_value = take('=');
    const std::string value = has_value ? this->value() : std::string{};
    const std::string what = has_value ? word + "=" + value : word;
    if (!ends(",")) return what;
    settings& c = out_.value;
    if (word == "on" && !has_value) c.enabled = true;
    else if (word == "off" && !has_value) c.enabled = false;
    else if (word == "report" && !has_value) c.report_at_exit = true;
    else if (word == "report") flag(word, value, c.report_at_exit);
    else if (word == "nvtx") flag(word, value, c.nvtx);
    else if (word == "cupti") cupti(value);
    else if (word == "memory") memory(value);
    else if (word == "clock" && value == "auto") c.clock = clock_choice::automatic;
    else if (word == "clock" && value == "system") c.clock = clock_choice::system;
    else if (word == "clock") wrong(shown(what) + " is unknown; valid: clock=auto, clock=system");
    else if (word.empty()) wrong("a setting is missing before \"" + printable(rest_, 20) + "\"");
    else wrong("unknown setting '" + shown(what) + "'; valid: " + std::string(settings_list));
    return what;
  }

  std::string options(const std::string& word) {
    const bool known = word == "report";
    const std::string what = word + "(...)";
    if (known) out_.value.report_at_exit = true;
    else wrong("unknown setting '" + shown(what) + "'; valid: " + std::string(settings_list));
    while (!rest_.empty() && !take(')')) {
      const std::string key = bare();
      const bool has_value = take('=');
      const std::string value = has_value ? this->value() : std::string{};
      if (!ends(",)"))
        unexpected(has_value ? key + "=" + value : key, " in " + shown(what), "options", ",)");
      else if (known) option(key, has_value, value);
      if (take(')')) return what;
      if (!take(',')) wrong(shown(word) + "( has no closing ')'");
    }
    return what;
  }

  void option(const std::string& key, bool has_value, const std::string& value) {
    report_options& r = out_.value.report;
    if (key == "path" && has_value) r.path = value;
    else if (key == "sort" && has_value) checked(&report_options::sort, value);
    else if (key == "filter" && has_value) checked(&report_options::filter, value);
    else if (key == "width" && has_value)
      number(key, value, 40, 1000, [&](std::uint64_t n) { r.width = static_cast<int>(n); });
    else if (key == "top" && has_value)
      number(key, value, 0, 1'000'000'000,
             [&](std::uint64_t n) { r.top = static_cast<std::size_t>(n); });
    else if (key == "columns" && has_value) checked(&report_options::columns, split(value));
    else if (key == "by" && has_value) by(value);
    else if (key == "table") flag(key, value, r.table);
    else if (key == "tree") flag(key, value, r.tree);
    else if (key == "kernels") flag(key, value, r.kernels);
    else if (key == "copies") flag(key, value, r.copies);
    else if (key == "full_names") flag(key, value, r.full_names);
    else if (key == "ascii") flag(key, value, r.ascii);
    else if (key == "legend") flag(key, value, r.legend);
    else
      wrong("unknown option '" + shown(has_value ? key + "=" + value : key) +
            "' of report; valid: " + std::string(options_list));
  }

  /// Takes what the report itself would take: found out now, and not when the program ends and the
  /// report is due.
  template <class T>
  void checked(T report_options::*member, const T& value) {
    report_options alone;
    alone.*member = value;
    text_plan plan(alone);
    if (status s = plan.prepare(); !s) wrong(std::move(s.message));
    else out_.value.report.*member = value;
  }

  void cupti(const std::string& value) {
    bool wanted = false;
    if (value == "auto") out_.value.cupti = cupti_choice::automatic;
    else if (is_flag(value, wanted))
      out_.value.cupti = wanted ? cupti_choice::on : cupti_choice::off;
    else wrong(shown("cupti=" + value) + " is unknown; valid: cupti=auto, cupti=on, cupti=off");
  }

  void by(const std::string& value) {
    grouping& by = out_.value.report.by;
    if (value == "op") by = grouping::op;
    else if (value == "parameters") by = grouping::parameters;
    else if (value == "call_site") by = grouping::call_site;
    else if (value == "thread") by = grouping::thread;
    else wrong("by=" + shown(value) + " is unknown; valid: op, parameters, call_site, thread");
  }

  static bool is_flag(const std::string& value, bool& into) {
    into = value.empty() || value == "on" || value == "1" || value == "true";
    return into || value == "off" || value == "0" || value == "false";
  }
  void flag(const std::string& word, const std::string& value, bool& into) {
    bool wanted = false;
    if (is_flag(value, wanted)) into = wanted;
    else wrong(shown(word + "=" + value) + " is unknown; valid: " + word + "=on, " + word + "=off");
  }

  static bool digits(std::string_view text, std::uint64_t& n, std::size_t& used) {
    n = 0;
    for (used = 0; used < text.size() && text[used] >= '0' && text[used] <= '9'; ++used) {
      if (n > 100'000'000'000'000'000U) return false;
      n = n * 10 + static_cast<std::uint64_t>(text[used] - '0');
    }
    return used != 0;
  }

  template <class Set>
  void number(const std::string& key, const std::string& value, std::uint64_t least,
              std::uint64_t most, Set set) {
    std::uint64_t n = 0;
    std::size_t used = 0;
    if (digits(value, n, used) && used == value.size() && n >= least && n <= most) set(n);
    else
      wrong(shown(key + "=" + value) + " is no number from " + std::to_string(least) + " to " +
            std::to_string(most));
  }

  void memory(const std::string& value) {
    std::uint64_t n = 0;
    std::size_t used = 0;
    int shift = -1;
    if (digits(value, n, used)) {
      const std::string suffix = value.substr(used);
      if (suffix.empty() || suffix == "B") shift = 0;
      else if (suffix == "K" || suffix == "KiB") shift = 10;
      else if (suffix == "M" || suffix == "MiB") shift = 20;
      else if (suffix == "G" || suffix == "GiB") shift = 30;
    }
    if (shift < 0 || n > (std::uint64_t{1} << 46U >> shift))
      return wrong(shown("memory=" + value) +
                   " is no size; write it like memory=64MiB (KiB, MiB, GiB)");
    out_.value.memory = std::max(settings::smallest_memory, static_cast<std::size_t>(n << shift));
    if (n << shift < settings::smallest_memory)
      wrong(shown("memory=" + value) + " is too small to work with; the smallest, 1 MiB, is used");
  }

  static std::vector<std::string> split(const std::string& joined) {
    std::vector<std::string> out(1);
    for (const char c : joined)
      if (c == '+') out.emplace_back();
      else out.back() += c;
    return out;
  }

  // ---- characters ----

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  /// Whether a setting or an option ends here.
  bool ends(std::string_view any_of) {
    skip_spaces();
    return rest_.empty() || any_of.find(rest_[0]) != std::string_view::npos;
  }
  /// Complains of what stands behind `what`, and goes on where the next may begin; parentheses are
  /// skipped in pairs.
  void unexpected(const std::string& what, const std::string& where, const std::string& these,
                  std::string_view any_of) {
    const std::string_view character = rest_.substr(0, std::max(1U, first_character(rest_).size));
    wrong(
        "unexpected '" + printable(character, 12) + "' after \"" + shown(what) + '"' + where +
        "; " + these + " are separated by commas" +
        (rest_[0] == '(' ? ", and a value with parentheses or commas goes in double quotes" : ""));
    for (std::size_t inside = 0; !rest_.empty(); rest_.remove_prefix(1)) {
      if (inside == 0 && any_of.find(rest_[0]) != std::string_view::npos) return;
      if (rest_[0] == '(') ++inside;
      else if (rest_[0] == ')' && inside > 0) --inside;
    }
  }
  std::string until(std::string_view any_of) {
    std::string out;
    for (; !rest_.empty() && any_of.find(rest_[0]) == std::string_view::npos;
         rest_.remove_prefix(1))
      out += rest_[0];
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t' || out.back() == '\n'))
      out.pop_back();
    return out;
  }
  std::string bare() { return until(",=()"); }
  std::string value() {
    if (rest_.empty() || rest_[0] != '"') return until(",()");
    rest_.remove_prefix(1);
    std::string out;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\' && rest_.size() > 1 && (rest_[1] == '"' || rest_[1] == '\\'))
        rest_.remove_prefix(1);
      out += rest_[0];
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) wrong("a quoted value has no closing '\"'");
    else rest_.remove_prefix(1);
    return out;
  }

  // ---- complaints: a line each, which a terminal shows and does not obey, whatever the text holds

  static std::string shown(std::string_view text) { return printable(text, 60); }
  void wrong(std::string what) {
    if (out_.errors.size() < most_mistakes_told) out_.errors.push_back(std::move(what));
    else ++more_mistakes_;
  }
  static constexpr std::size_t most_mistakes_told = 19;

  std::string_view rest_;
  parsed_settings out_;
  std::uint64_t more_mistakes_ = 0;
};

}  // namespace detail

inline parsed_settings settings::parse(std::string_view text) {
  return detail::settings_parser(text).run();
}

KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SETTINGS_PARSER_HPP
#define KPROF_SESSION_SETTINGS_PARSER_HPP

// Defines settings::parse(), where the session is compiled. Included by settings.hpp.

#include <kprof/build_options.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_option.hpp>
#include <kprof/report/output/read_request.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/report_output.hpp>
#include <kprof/session/settings_table.hpp>
#include <kprof/session/settings_text.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// "on, off, nvtx=on|off, ..., report(...)".
inline std::string settings_list() {
  std::string all;
  for (const option& o : settings_table) all.append(usage(o)).append(", ");
  return all + output_list();
}

/// Reads one settings text from left to right.
class KPROF_DETAIL_LOCAL settings_parser {
 public:
  explicit settings_parser(std::string_view text) : in_(text) {}

  [[gnu::cold]] parsed_settings run() {
    in_.skip_spaces();
    while (!in_.at_end()) {
      const std::string what = read_setting();
      if (!in_.stands_at(",")) skip_unexpected(what, "", "settings", ",");
      in_.take(',');
    }
    if (more_mistakes_ > 0) out_.errors.push_back("more mistakes: " + format_count(more_mistakes_));
    return std::move(out_);
  }

 private:
  /// A word, what stands behind its "=", and both as they were written.
  struct pair {
    std::string name{}, value{}, written{};
    bool has_value = false;
  };
  [[gnu::cold]] pair read_pair() {
    pair p{.name = in_.word()};
    p.has_value = in_.take('=');
    if (p.has_value && !in_.value(p.value)) complain("a quoted value has no closing '\"'");
    p.written = p.has_value ? p.name + '=' + p.value : p.name;
    return p;
  }

  /// Returns what it read, for the complaint about what follows it. A setting with something behind
  /// it that is no part of it is skipped.
  [[gnu::cold]] std::string read_setting() {
    const std::string_view rest = in_.rest();
    pair p = read_pair();
    const option* const of = find_setting(p);
    if (of != nullptr && of->form[0] == '(') return read_group(*of, p);
    if (!p.has_value && in_.take('(')) return read_output(p.name);
    if (!in_.stands_at(",")) return p.written;
    if (p.written.empty()) complain("a setting is missing before \"" + printable(rest, 20) + '"');
    else if (find_output(p.name) != nullptr) switch_output(p);
    else if (of != nullptr) set(*of, p);
    else complain_of_setting(p.written);
    return p.written;
  }

  static const option* find_setting(const pair& p) noexcept {
    for (const option& o : settings_table)
      if (p.name == o.name && (o.kind != option_kind::mark || !p.has_value)) return &o;
    return nullptr;
  }
  [[gnu::cold]] void set(const option& of, const pair& p) {
    option_reading reading = read_option(of, p.value);
    if (!reading.complaint.empty()) complain(std::move(reading.complaint));
    if (reading.valid) of.store(&out_.value, reading.value);
  }
  /// A setting whose options stand in parentheses.
  [[gnu::cold]] std::string read_group(const option& of, pair& p) {
    if (p.has_value || !in_.take('(')) {
      complain(shown(p.written) + " lacks its options; write " + usage(of));
      in_.skip_to(",");
      return p.name;
    }
    const std::string_view inside = in_.rest();
    in_.skip_to(")");
    p.value = inside.substr(0, inside.size() - in_.rest().size());
    if (!in_.take(')')) complain(shown(p.name) + "( has no closing ')'");
    set(of, p);
    return p.name + "(...)";
  }
  [[gnu::cold]] void complain_of_setting(const std::string& written) {
    const std::string name = written.substr(0, written.find('='));
    for (const output* o : outputs())
      if (find_option(*o, name) != nullptr && name != path_option.name)
        return complain(shown(name) + " is no setting but an option of " + o->name + "; write " +
                        o->name + '(' + shown(written) + ')');
    std::vector<std::string> names = output_names();
    for (const option& o : settings_table) names.emplace_back(o.name);
    complain("unknown setting '" + shown(written) + "'; " + before_valid_words(name, names) +
             settings_list() + how_to_add(name));
  }

  // ---- outputs

  /// "csv" and "csv=on" ask for an output with its defaults, "csv=off" for none.
  [[gnu::cold]] void switch_output(const pair& p) {
    bool wanted = false;
    std::vector<output_request>& all = out_.value.outputs;
    const auto is_it = [&](const output_request& r) { return r.output == p.name; };
    if (!read_flag(p.value, wanted))
      complain(shown(p.written) + " is unknown; valid: " + p.name + "=on, " + p.name + "=off, " +
               p.name + "(...)");
    else if (!wanted) all.erase(std::remove_if(all.begin(), all.end(), is_it), all.end());
    else if (std::none_of(all.begin(), all.end(), is_it)) all.push_back({p.name});
  }

  [[gnu::cold]] std::string read_output(const std::string& name) {
    const output* const what = find_output(name);
    const std::string written = name + "(...)";
    if (what == nullptr) complain(unknown_output(name).message);
    output_request request{name};
    std::vector<option_value> values;
    bool has_options = false;
    if (in_.at_end()) complain(shown(name) + "( has no closing ')'");
    while (!in_.at_end() && !in_.take(')')) {
      pair p = read_pair();
      if (what != nullptr && p.has_value) read_rest_of_list(*what, p);
      if (!in_.stands_at(",)"))
        skip_unexpected(p.written, " in " + shown(written), "options", ",)");
      else if (what != nullptr) read_output_option(*what, p, request, values);
      has_options = true;
      if (in_.take(')')) break;
      if (!in_.take(',')) complain(shown(name) + "( has no closing ')'");
    }
    const bool only_mistakes = has_options && request.options.empty();
    if (what != nullptr) add(std::move(request), values, only_mistakes);
    return written;
  }

  /// Behind the value of a list, words without "=" that are no options go on with it: `fold=K,Skv`.
  [[gnu::cold]] void read_rest_of_list(const output& what, pair& p) {
    const option* const of = find_option(what, p.name);
    if (of == nullptr || of->kind != option_kind::list) return;
    for (;;) {
      settings_text ahead = in_;
      if (!ahead.take(',')) return;
      const std::string word = ahead.word();
      if (word.empty() || !ahead.stands_at(",)") || find_option(what, word) != nullptr) return;
      p.value += '+' + word;
      p.written += ',' + word;
      in_ = ahead;
    }
  }

  [[gnu::cold]] void read_output_option(const output& what, const pair& p, output_request& request,
                                        std::vector<option_value>& values) {
    const option* const of = find_option(what, p.name);
    const bool is_right = of != nullptr && (p.has_value || needs_no_value(*of));
    if (!is_right) return complain(unknown_option(what, p.written).message);
    option_reading reading = read_option(*of, p.value);
    if (!reading.complaint.empty()) complain(std::move(reading.complaint));
    if (!reading.valid) {
      const std::string right = right_words(*of, p.value);
      if (right.empty()) return;
      reading = read_option(*of, right);
    }
    request.options.push_back({p.name, reading.value.text});
    values.push_back(std::move(reading.value));
  }

  /// The first report is the session's own: what report() prints without being told how. It comes
  /// all the same where its options are mistakes; other requests of this kind are left out.
  [[gnu::cold]] void add(output_request request, const std::vector<option_value>& values,
                         bool only_mistakes) {
    std::vector<output_request>& all = out_.value.outputs;
    const bool is_main = request.output == report_output.name &&
                         std::none_of(all.begin(), all.end(), [](const output_request& r) {
                           return r.output == report_output.name;
                         });
    if (only_mistakes && !is_main) return;
    // A request without options stands for the session's own report: another says where it goes.
    if (!is_main && request.output == report_output.name && request.options.empty())
      request.options.push_back({path_option.name, ""});
    std::vector<std::string> paths;
    for (const output_request& r : all)
      static_cast<void>(take_path(paths, is_main_report(r) ? out_.value.report.path : path_of(r)));
    if (status s = take_path(paths, path_of(request)); !s) return complain(std::move(s.message));
    if (is_main) {
      for (const option_value& value : values)
        if (value.of == &path_option) out_.value.report.path = value.text;
        else value.of->store(&out_.value.report, value);
      request.options.clear();
    }
    all.push_back(std::move(request));
  }

  // ---- complaints: a line each, which a terminal shows and does not obey, whatever the text holds

  [[gnu::cold]] void skip_unexpected(const std::string& what, const std::string& where,
                                     const std::string& these, std::string_view any_of) {
    const std::string_view rest = in_.rest();
    const std::string_view character = rest.substr(0, std::max(1U, first_character(rest).size));
    complain(
        "unexpected '" + printable(character, 12) + "' after \"" + shown(what) + '"' + where +
        "; " + these + " are separated by commas" +
        (rest[0] == '(' ? ", and a value with parentheses or commas goes in double quotes" : ""));
    in_.skip_to(any_of);
  }
  [[gnu::cold]] void complain(std::string what) {
    if (out_.errors.size() < most_mistakes_told) out_.errors.push_back(std::move(what));
    else ++more_mistakes_;
  }
  static constexpr std::size_t most_mistakes_told = 19;

  settings_text in_;
  parsed_settings out_;
  std::uint64_t more_mistakes_ = 0;
};

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION parsed_settings settings::parse(std::string_view text) {
  return detail::settings_parser(text).run();
}

KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FILTER_HPP
#define KPROF_REPORT_TEXT_FILTER_HPP

// A POSIX extended regular expression: <regex.h>, since std::regex throws and costs 80,000 lines.
// Included by the reports.

#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <regex.h>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Matches everything until it is given an expression.
class name_filter {
 public:
  name_filter() = default;
  name_filter(const name_filter&) = delete;
  name_filter& operator=(const name_filter&) = delete;
  ~name_filter() {
    if (active_) regfree(&regex_);
  }

  status set(const std::string& expression) {
    if (expression.empty()) return {};
    if (const int error = regcomp(&regex_, expression.c_str(), REG_EXTENDED | REG_NOSUB)) {
      char reason[128] = "";
      regerror(error, &regex_, reason, sizeof(reason));
      return {"filter \"" + printable(expression, 200) +
              "\" is not a POSIX extended regular expression (" + reason +
              "); write \\( for a literal parenthesis"};
    }
    active_ = true;
    return {};
  }

  bool active() const noexcept { return active_; }

  /// Whether the expression is found in "name parameters".
  bool matches(const std::string& name, const std::string& parameters) const {
    return !active_ || found_in(name + ' ' + parameters);
  }

  /// Whether the expression is found in the text; there must be one.
  bool found_in(const std::string& text) const {
    return regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_{};
  bool active_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

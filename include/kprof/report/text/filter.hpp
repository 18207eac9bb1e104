// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FILTER_HPP
#define KPROF_REPORT_TEXT_FILTER_HPP

// Chooses names by a POSIX extended regular expression. Included by the reports.

#include <kprof/build_options.hpp>
#include <kprof/report/text/expression.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Matches everything until it is given an expression.
class name_filter {
 public:
  status set(const std::string& expression) {
    if (expression.empty()) return {};
    expression_program program;
    if (const char* const error = expression_parser(expression, program).parse())
      return {"filter \"" + printable(expression, 200) +
              "\" is not a POSIX extended regular expression that kprof takes (" + error +
              "); write \\( for a literal parenthesis"};
    program_ = std::move(program);
    active_ = true;
    return {};
  }

  bool active() const noexcept { return active_; }

  /// Whether the expression is found in "name parameters".
  bool matches(const std::string& name, const std::string& parameters) const {
    return !active_ || found_in(name + ' ' + parameters);
  }

  /// Whether the expression is found in the text; there must be one.
  bool found_in(const std::string& text) const { return program_.found_in(text); }

 private:
  expression_program program_;
  bool active_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

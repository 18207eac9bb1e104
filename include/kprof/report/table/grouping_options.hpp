// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TABLE_GROUPING_OPTIONS_HPP
#define KPROF_REPORT_TABLE_GROUPING_OPTIONS_HPP

// The options `by` and `fold`, which every output has that prints a table. Included by the outputs.

#include <kprof/build_options.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>
#include <kprof/write/message.hpp>

#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status check_by_option(const option_value& value) {
  return grouping::parse(value.text).error;
}
[[gnu::cold]] inline status check_fold_option(const option_value& value) {
  for (const std::string& path : value.words())
    if (!is_field_path(path))
      return {
          "fold=" + printable(value.text, 60) + ": \"" + printable(path, 60) +
          "\" is no name of a field; write it as M, shape[0] or epilogue.scale; + joins fields"};
  return {};
}

/// `Options` has the members `by` and `fold`.
template <class Options>
constexpr option by_option() noexcept {
  return {.name = "by",
          .kind = option_kind::list,
          .form = "KEY+KEY",
          .fallback = "parameters",
          .meaning =
              "what the calls of a row have in common: `op`, `parameters`, `pass`, `dtype`, "
              "`region`, `layer`, `thread`, `call_site`, `step` and fields by their names",
          .validate = &check_by_option,
          .store = &store_member<&Options::by>};
}
template <class Options>
constexpr option fold_option() noexcept {
  return {.name = "fold",
          .kind = option_kind::list,
          .form = "FIELD+FIELD",
          .meaning = "fields that do not make parameters differ: a row has their range",
          .validate = &check_fold_option,
          .store = &store_member<&Options::fold>};
}

/// Says on standard error what is wrong with the grouping of the output `name`, in a line each, for
/// a file is not read at once; gives it back as one text, for the file. The file is still written,
/// since a program that ends has one chance to write it.
[[gnu::cold]] inline std::string tell_complaints(std::string_view name,
                                                 const checked_grouping& asked) {
  std::string all;
  for (const std::string& line : asked.complaints) {
    tell({name, ": ", line});
    all.append(all.empty() ? "" : "; ") += line;
  }
  return all;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

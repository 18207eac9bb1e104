// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_QUERY_JSON_HPP
#define KPROF_TOOLS_QUERY_JSON_HPP

// The members of JSON objects that `kprof query` prints. A number that is not known is null, and
// the member "not_known" of its object says why.

#include <kprof/model/figure.hpp>
#include <kprof/report/trace/json_text.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kprof_tool {

/// Foreign text, as texts and names of members hold it between their quotes.
inline std::string json_escaped(std::string_view text) {
  std::string out;
  kprof::detail::append_json_text(out, text);
  return out;
}
inline std::string json_quoted(std::string_view text) { return '"' + json_escaped(text) + '"'; }

/// One JSON object, written member by member.
class json_object {
 public:
  void text(std::string_view name, std::string_view value) { raw(name, json_quoted(value)); }
  /// null where the text is empty: it differs from call to call, or is not known.
  void text_or_null(std::string_view name, std::string_view value) {
    raw(name, value.empty() ? "null" : json_quoted(value));
  }
  void integer(std::string_view name, std::uint64_t value) { raw(name, std::to_string(value)); }
  void truth(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  /// The shortest decimal that reads back as the same double.
  void number(std::string_view name, double value) {
    if (!std::isfinite(value)) return unknown(name, "no finite number");
    char digits[32];
    const char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    raw(name, std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  void number(std::string_view name, kprof::figure value) {
    if (value.known()) number(name, value.value);
    else unknown(name, kprof::explain(value.why));
  }
  /// null, and in "not_known" the reason.
  void unknown(std::string_view name, std::string_view why) {
    raw(name, "null");
    add(reasons_, name, json_quoted(why));
  }
  /// Text that is JSON already.
  void raw(std::string_view name, std::string_view json) { add(members_, name, json); }
  /// The object with the member "not_known".
  std::string with_reasons() {
    raw("not_known", '{' + reasons_ + '}');
    return whole();
  }
  std::string whole() const { return '{' + members_ + '}'; }

 private:
  static void add(std::string& to, std::string_view name, std::string_view json) {
    to.append(to.empty() ? "\"" : ",\"").append(name).append("\":").append(json);
  }

  std::string members_, reasons_;
};

/// "[...]" of values that are JSON already.
template <class Texts>
std::string json_list(const Texts& values, std::string_view between = ",") {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += between;
    out += value;
  }
  return out + ']';
}

}  // namespace kprof_tool

#endif

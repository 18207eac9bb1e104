// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_PAGE_DATA_HPP
#define KPROF_TESTS_PAGE_DATA_HPP

// The page of a profile and the data in it, read by Boost.JSON.

#include "catch.hpp"

#include <kprof/report/html.hpp>
#include <kprof/report/write.hpp>

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kprof_test {

inline std::string html_of(const kprof::profile& p,
                           std::vector<kprof::option_setting> options = {}) {
  std::string text;
  const kprof::status s = kprof::write(p, "html", options, text);
  INFO(s.message);
  REQUIRE(s);
  return text;
}
inline boost::json::object data_in(const std::string& page) {
  constexpr std::string_view begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size(), to = page.find("</script>", from);
  REQUIRE(to != std::string::npos);
  return boost::json::parse(page.substr(from, to - from)).as_object();
}
inline std::size_t times_in(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++count;
  return count;
}
/// A column as the page's script reads it: each value, also where the file has one for all.
inline boost::json::array column(const boost::json::object& table, std::string_view name) {
  const boost::json::value& v = table.at(name);
  if (v.is_string())  // as a metric
    return column(table.contains("metrics") ? table.at("metrics").as_object() : table,
                  v.as_string());
  if (v.is_array()) return v.as_array();
  const boost::json::object& o = v.as_object();
  if (o.contains("rising")) {
    boost::json::array out;
    for (std::int64_t i = 0; i < o.at("count").to_number<std::int64_t>(); ++i)
      out.push_back(o.at("rising").to_number<std::int64_t>() + i);
    return out;
  }
  if (o.contains("same"))
    return boost::json::array(static_cast<std::size_t>(o.at("count").to_number<std::int64_t>()),
                              o.at("same"));
  boost::json::array all = column(o, "all");
  if (o.contains("endings")) {
    const boost::json::array endings = column(o, "endings"), ending = column(o, "ending");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto which = static_cast<std::size_t>(ending[i].to_number<std::int64_t>());
      all[i].as_string().append(endings.at(which).as_string());
    }
  }
  boost::json::array out;
  for (const boost::json::value& i : column(o, "of"))
    out.push_back(all.at(static_cast<std::size_t>(i.to_number<std::int64_t>())));
  return out;
}

inline constexpr const char* hostile_name = "</script><!--<img src=x onerror=alert('1')>&\"\\";

}  // namespace kprof_test

#endif

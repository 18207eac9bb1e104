// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CSV_READER_HPP
#define KPROF_TESTS_CSV_READER_HPP

// A parser of RFC 4180's grammar, and what the output "csv" makes of a profile.

#include <kprof/report/csv.hpp>
#include <kprof/report/write.hpp>

#include "catch.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kprof_test {

using csv_record = std::vector<std::string>;

/// One field of the text, from `at` on; false where the grammar has none.
inline bool read_field(const std::string& text, std::size_t& at, std::string& field) {
  field.clear();
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"' && text.compare(at, 2, "\"\"") != 0) return ++at, true;
      if (text[at] == '"') ++at;
      field += text[at];
    }
    return false;  // no closing quote
  }
  for (; at < text.size() && text[at] != ',' && text[at] != '\r'; ++at) {
    if (text[at] == '"' || text[at] == '\n') return false;
    field += text[at];
  }
  return true;
}

/// The records of a file; none where a line breaks the grammar.
inline std::vector<csv_record> read_csv(const std::string& text) {
  std::vector<csv_record> records;
  csv_record current;
  std::string field;
  for (std::size_t at = 0; at < text.size();) {
    if (!read_field(text, at, field)) return {};
    current.push_back(field);
    if (text.compare(at, 2, "\r\n") == 0) {
      records.push_back(current);
      current.clear();
      at += 2;
    } else if (text[at] == ',') {
      ++at;
    } else {
      return {};
    }
  }
  return current.empty() ? records : std::vector<csv_record>{};
}

inline std::vector<csv_record> csv_of(const kprof::profile& run,
                                      const std::vector<kprof::option_setting>& options = {}) {
  std::string text;
  const kprof::status s = kprof::write(run, "csv", options, text);
  INFO(s.message);
  REQUIRE(s.ok());
  std::vector<csv_record> records = read_csv(text);
  REQUIRE_FALSE(records.empty());
  for (const csv_record& r : records) REQUIRE(r.size() == records[0].size());
  return records;
}

inline std::string field_of(const std::vector<csv_record>& records, std::size_t row,
                            const std::string& name) {
  for (std::size_t i = 0; i < records[0].size(); ++i)
    if (records[0][i] == name) return records[row + 1][i];
  return "(no such column)";
}

}  // namespace kprof_test

#endif

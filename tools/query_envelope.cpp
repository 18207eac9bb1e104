// SPDX-License-Identifier: MIT
#include "query_envelope.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace kprof_tool {
namespace {

constexpr const char* version = "kprof-query/1";

std::string error_of(const envelope& e) {
  if (e.of.error.empty()) return "null";
  json_object out;
  out.text("message", e.of.error);
  std::vector<std::string> choices;
  for (const choice& c : e.of.choices) {
    json_object one;
    one.text("word", c.word);
    one.text("meaning", c.meaning);
    choices.push_back(one.whole());
  }
  out.raw("choices", json_list(choices));
  out.raw("least_budget", e.needed > 0 ? std::to_string(e.needed) : "null");
  return out.whole();
}

}  // namespace

std::string envelope::print(std::size_t kept) const {
  json_object out;
  out.text("schema", version);
  out.raw("command", command);
  out.raw("trust", trust);
  out.raw("error", error_of(*this));
  out.raw("totals", of.totals);
  double cut_ns = 0;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < of.rows.size(); ++i)
    if (i < kept) rows.push_back('\n' + of.rows[i].json);
    else cut_ns += of.rows[i].ns;
  json_object cut;
  cut.integer("rows", of.rows.size() - rows.size());
  cut.number("time_ns", cut_ns);
  cut.number("share", of.time_ns > 0 ? cut_ns / of.time_ns : 0);
  out.raw("cut", cut.whole());
  if (!of.json_schema.empty()) out.raw("json_schema", of.json_schema);
  out.raw("rows", json_list(rows));
  return out.whole() + '\n';
}

int print_answer(const std::string& text, int code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return code;
  std::fprintf(stderr, "kprof: cannot write the answer: %s\n", std::strerror(errno));
  return 1;
}

int refuse(envelope e, int code, std::string message, std::vector<choice> choices) {
  e.trust = "null";
  e.of = {};
  e.of.error = std::move(message);
  e.of.choices = std::move(choices);
  return print_answer(e.print(0), code);
}

}  // namespace kprof_tool

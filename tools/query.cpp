// SPDX-License-Identifier: MIT
#include "query.hpp"

#include "query_answer.hpp"
#include "query_schema.hpp"
#include "saved_file.hpp"

#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace kprof_tool {
namespace {

constexpr const char* version = "kprof-query/1";
constexpr std::size_t least_budget = 1500;  // any error fits into it
constexpr std::size_t no_budget = ~std::size_t{0};

answer schema_of(const kprof::profile&, const std::string&) {
  answer out;
  out.json_schema = query_schema;
  return out;
}

constexpr question questions[] = {
    {"rows", "operators by their parameters, the longest time first", false, &rows_of},
    {"row", "the row of KEY, with its advice and its kernels", true, &row_of},
    {"kernels", "kernels by operator and launch configuration", false, &kernels_of},
    {"steps", "the program's steps, the longest first", false, &steps_of},
    {"advice", "what to do first, with what it saves at most", false, &advice_of},
    {"schema", "the JSON Schema of all answers; FILE is not read", false, &schema_of},
};

/// Everything that is printed but the rows.
struct envelope {
  std::string command = "null", trust = "null";
  answer of;
  std::size_t needed = 0;  // the least budget, where the one given is too small

  /// With the first `kept` of the rows.
  std::string print(std::size_t kept) const {
    json_object out;
    out.text("schema", version);
    out.raw("command", command);
    out.raw("trust", trust);
    out.raw("error", error());
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

 private:
  std::string error() const {
    if (of.error.empty()) return "null";
    json_object out;
    out.text("message", of.error);
    std::vector<std::string> choices;
    for (const choice& c : of.choices) {
      json_object one;
      one.text("word", c.word);
      one.text("meaning", c.meaning);
      choices.push_back(one.whole());
    }
    out.raw("choices", json_list(choices));
    out.raw("least_budget", needed > 0 ? std::to_string(needed) : "null");
    return out.whole();
  }
};

/// Characters of UTF-8.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

int print(const std::string& text, int code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return code;
  std::fprintf(stderr, "kprof query: cannot write the answer: %s\n", std::strerror(errno));
  return 1;
}

int refuse(envelope e, int code, std::string message, std::vector<choice> choices = {}) {
  e.trust = "null";
  e.of = {};
  e.of.error = std::move(message);
  e.of.choices = std::move(choices);
  return print(e.print(0), code);
}

/// Prints as many rows as fit.
int print_within(envelope e, std::size_t budget) {
  if (budget == no_budget) return print(e.print(e.of.rows.size()), 0);
  std::size_t kept = 0, room = budget;
  while (kept < e.of.rows.size() && characters(e.of.rows[kept].json) + 2 <= room)
    room -= characters(e.of.rows[kept++].json) + 2;
  for (;; --kept) {
    const std::string text = e.print(kept);
    const std::size_t size = characters(text);
    if (size <= budget) return print(text, 0);
    if (kept > 0) continue;
    e.needed = size;
    return refuse(e, 2,
                  "the answer does not fit into --budget " + std::to_string(budget) +
                      " even without its rows; give " + std::to_string(size) + " or more");
  }
}

/// Reads --budget; the message says what is wrong with it.
std::string read_budget(const query_words& given, std::size_t& budget) {
  budget = no_budget;
  if (!given.budget) return {};
  const std::string& text = *given.budget;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, budget);
  if (!text.empty() && read.ec == std::errc{} && read.ptr == end && budget >= least_budget)
    return {};
  return "--budget \"" + kprof::detail::printable(text, 60) +
         "\" is no number of characters that an answer can have; give a whole number from " +
         std::to_string(least_budget) + " on, as in --budget 20000";
}

std::vector<choice> all_questions() {
  std::vector<choice> out;
  for (const question& q : questions) out.push_back({std::string{q.word}, std::string{q.meaning}});
  return out;
}

/// What is wrong with the words behind the question, and what to do; empty: nothing.
std::string wrong_words(const query_words& given, const question& asked) {
  const std::size_t wanted = asked.has_key ? 3 : 2;
  if (given.words.size() < wanted)
    return "the question row wants a KEY; write kprof query FILE row KEY, with the member \"key\" "
           "of a row that kprof query FILE rows prints";
  if (given.words.size() > wanted)
    return "\"" + kprof::detail::printable(given.words[wanted], 60) + "\" is one word too many; " +
           (asked.has_key ? "write one KEY" : "only the question row takes a KEY");
  return {};
}

}  // namespace

int query(const query_words& given) {
  envelope e;
  if (!given.unknown.empty())
    return refuse(e, 2,
                  "there is no option \"" + kprof::detail::printable(given.unknown[0], 60) +
                      "\"; the only one is --budget CHARACTERS");
  // `kprof query schema` asks about no file.
  std::vector<std::string> words = given.words;
  if (words.size() == 1 && words[0] == "schema") words.insert(words.begin(), "");
  if (words.size() < 2)
    return refuse(e, 2, "write kprof query FILE and one of the questions in `choices`",
                  all_questions());
  const auto* const asked = std::find_if(std::begin(questions), std::end(questions),
                                         [&](const question& q) { return q.word == words[1]; });
  if (asked == std::end(questions))
    return refuse(e, 2,
                  "there is no question \"" + kprof::detail::printable(words[1], 60) +
                      "\"; ask one of `choices`",
                  all_questions());
  e.command = json_quoted(asked->word);
  if (std::string wrong = wrong_words({words, {}, {}}, *asked); !wrong.empty())
    return refuse(e, 2, std::move(wrong));
  std::size_t budget = no_budget;
  if (std::string wrong = read_budget(given, budget); !wrong.empty())
    return refuse(e, 2, std::move(wrong));

  kprof::profile run;
  if (asked->ask != &schema_of) {
    if (kprof::status loaded = load_saved(words[0], run); !loaded)
      return refuse(e, 1, std::move(loaded.message));
    e.trust = trust_in(run);
  }
  e.of = asked->ask(run, asked->has_key ? words[2] : std::string{});
  if (!e.of.error.empty()) return refuse(e, 2, e.of.error, e.of.choices);
  return print_within(std::move(e), budget);
}

}  // namespace kprof_tool

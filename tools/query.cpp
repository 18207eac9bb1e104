// SPDX-License-Identifier: MIT
#include "query.hpp"

#include "query_answer.hpp"
#include "query_envelope.hpp"
#include "query_schema.hpp"
#include "saved_file.hpp"

#include <kprof/write/printable.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kprof_tool {
namespace {

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

/// Characters of UTF-8.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// Prints as many rows as fit, but no fewer than `least`.
int print_within(envelope e, std::size_t budget, std::size_t least) {
  if (budget == no_budget) return print_answer(e.print(e.of.rows.size()), 0);
  std::size_t kept = 0, room = budget;
  while (kept < e.of.rows.size() && characters(e.of.rows[kept].json) + 2 <= room)
    room -= characters(e.of.rows[kept++].json) + 2;
  for (kept = std::max(kept, least);; --kept) {
    const std::string text = e.print(kept);
    const std::size_t size = characters(text);
    if (size <= budget) return print_answer(text, 0);
    if (kept > least) continue;
    e.needed = size;
    return refuse(e, 2,
                  "the answer does not fit into --budget " + std::to_string(budget) +
                      (least == 0 ? " even without its rows" : " with the row it is about") +
                      "; give " + std::to_string(size) + " or more");
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
  const std::size_t least = asked->has_key && !e.of.rows.empty() ? 1 : 0;
  return print_within(std::move(e), budget, least);
}

}  // namespace kprof_tool

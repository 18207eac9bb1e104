// SPDX-License-Identifier: MIT
// The program kprof. `kprof run` starts a program with the session preloaded, so that a program
// that only has guards (guard.hpp, nothing linked) gets its report. `kprof show` writes a saved
// profile in any output, `kprof query` answers questions about one as JSON, and `kprof compare`
// compares runs with earlier ones. `kprof ceilings` prints what this machine reaches.

#include "ceilings.hpp"
#include "compare.hpp"
#include "launch.hpp"
#include "query.hpp"
#include "show.hpp"

#include <kprof/ceilings.hpp>
#include <kprof/kprof.hpp>
#include <kprof/model/nearest_word.hpp>
#include <kprof/session/ceilings_cache.hpp>
#include <kprof/session/preloaded.hpp>
#include <kprof/write/printable.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int cannot_run = 126;  // as a shell says that a program cannot be started
constexpr int not_found = 127;

int complain(int code, const std::string& what) {
  std::fprintf(stderr, "kprof run: %s\n", kprof::detail::one_line(what).c_str());
  return code;
}

/// KPROF for the program: what the command line says, else what is there, else a report.
struct wanted_settings {
  std::string text;
  std::vector<std::string> errors;

  explicit wanted_settings(const std::string& given) : text(given) {
    const char* there = std::getenv("KPROF");
    if (text.empty() && there != nullptr) text = there;
    const kprof::parsed_settings parsed = kprof::settings::parse(text);
    if (!given.empty()) errors = parsed.errors;
    // Who starts a program with kprof wants to see something.
    if (parsed.value.enabled && parsed.value.outputs.empty())
      text = text.empty() ? "report" : "report," + text;
  }
};

int run(const std::string& settings, const std::vector<std::string>& command) {
  const wanted_settings wanted(settings);
  for (const std::string& error : wanted.errors) complain(2, error);
  if (!wanted.errors.empty()) return 2;
  const kprof_tool::found program = kprof_tool::find_program(command[0]);
  if (!program.error.empty()) return complain(not_found, program.error);
  const kprof_tool::found library = kprof_tool::find_library();
  if (!library.error.empty()) return complain(cannot_run, library.error);
  const std::string obstacle = kprof_tool::obstacle_to_preloading(program.path);
  if (!obstacle.empty()) return complain(cannot_run, obstacle);

  setenv("KPROF", wanted.text.c_str(), 1);
  // exec keeps the number of the process.
  setenv(kprof::detail::program_variable, std::to_string(getpid()).c_str(), 1);
  setenv("LD_PRELOAD", kprof_tool::preload_with(library.path, std::getenv("LD_PRELOAD")).c_str(),
         1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(program.path.c_str(), arguments.data());
  return complain(cannot_run, program.path + " cannot be started: " + std::strerror(errno));
}

/// Keeps what was measured: in the cache, or in a file of the user's.
bool save_ceilings(const kprof::cpu_ceilings& found, std::string path) {
  kprof::detail::ceilings_cache cache;
  kprof::status kept;
  if (path.empty()) {
    kept = cache.prepare();
    path = cache.path();
  }
  if (kept) kept = cache.write_to(path, found);
  if (kept) std::printf("saved to %s\n", kprof::detail::quoted_path(path).c_str());
  else std::fprintf(stderr, "kprof ceilings: not saved: %s\n", kept.message.c_str());
  return kept.ok();
}

int print_ceilings(bool saves, const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  const kprof::cpu_ceilings found = kprof::measure_ceilings();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string text = kprof_tool::ceilings_table(found, took.count());
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) {
    std::fprintf(stderr, "kprof ceilings: cannot write the table: %s\n", std::strerror(errno));
    return 1;
  }
  if (found.arithmetic.empty()) return 1;
  return !saves || save_ceilings(found, path) ? 0 : 1;
}

/// `kprof query`. What is wrong with its words is told as JSON too, so CLI11 refuses none.
class query_command {
 public:
  explicit query_command(CLI::App& app)
      : command_(app.add_subcommand("query", "Answer a question about a saved profile as JSON")) {
    command_->add_option("words", words_.words,
                         "a saved profile, and a question: rows, row KEY, kernels, steps, advice "
                         "or schema");
    budget_option_ =
        command_->add_option("--budget", budget_, "characters that the answer may have at most")
            ->expected(0, 1)
            ->type_name("CHARACTERS");
    command_->allow_extras();
    command_->footer(
        "  kprof query run.json rows --budget 20000\n"
        "  kprof query run.json advice | jq -r '.rows[].sentence'");
  }
  query_command(const query_command&) = delete;
  query_command& operator=(const query_command&) = delete;

  bool is_asked() const { return command_->parsed(); }
  kprof_tool::query_words words() const {
    kprof_tool::query_words out = words_;
    if (budget_option_->count() > 0) out.budget = budget_;
    out.unknown = command_->remaining();
    return out;
  }

 private:
  CLI::App* command_;
  CLI::Option* budget_option_ = nullptr;
  kprof_tool::query_words words_;
  std::string budget_;
};

/// `kprof compare`.
class compare_command {
 public:
  explicit compare_command(CLI::App& app)
      : command_(app.add_subcommand(
            "compare", "Say which operators became slower or faster between saved profiles")) {
    command_->add_option("before", words_.before, "saved profiles of runs before the change")
        ->required();
    command_->add_option("--with", words_.after, "saved profiles of runs after it")
        ->type_name("AFTER...");
    command_
        ->add_option("--threshold", words_.threshold_percent,
                     "smaller changes do not count, in percent; 3 unless given")
        ->type_name("PERCENT");
    command_->add_flag("--gate", words_.is_gate,
                       "end with 3 where a row, a step or the run is slower");
    command_->add_flag("--json", words_.as_json, "print one JSON object, as kprof query does");
    command_->footer(
        "  kprof compare before_*.json --with after_*.json\n"
        "  kprof compare main_*.json --with branch_*.json --gate || exit 1");
  }
  compare_command(const compare_command&) = delete;
  compare_command& operator=(const compare_command&) = delete;

  bool is_asked() const { return command_->parsed(); }
  const kprof_tool::compare_words& words() const { return words_; }

 private:
  CLI::App* command_;
  kprof_tool::compare_words words_;
};

/// What is wrong with a word that `command` does not take.
std::string why_unexpected(const CLI::App& command, const std::string& word) {
  const std::string shown = '"' + kprof::detail::printable(word, 60) + '"';
  const bool is_option = word.size() > 1 && word[0] == '-';
  std::vector<std::string> valid;
  if (is_option) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) valid.push_back("--" + name);
  } else {
    for (const CLI::App* one : command.get_subcommands({})) valid.push_back(one->get_name());
    if (valid.empty()) return shown + " is not expected";
  }
  std::string text = std::string("there is no ") + (is_option ? "option " : "command ") + shown +
                     "; " +
                     kprof::detail::before_valid_words(word.substr(0, word.find('=')), valid,
                                                       is_option ? "options" : "commands");
  for (const std::string& one : valid) text += (&one == &valid[0] ? "" : ", ") + one;
  return text;
}

/// Prints what is wrong with the words, or the help or the version that they ask for. CLI11's own
/// message names unexpected words last to first, and none where another word is missing too.
int answer_to(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const std::vector<CLI::App*> asked = app.get_subcommands();
  const bool is_own = asked.empty() || !app.remaining().empty();
  const CLI::App& command = is_own ? app : *asked[0];
  const std::string name = is_own ? "kprof" : "kprof " + command.get_name();
  const std::vector<std::string> more = command.remaining();
  const std::string what = more.empty() ? error.what() : why_unexpected(command, more[0]);
  std::fprintf(stderr, "%s: %s; %s --help says what it takes\n", name.c_str(),
               kprof::detail::one_line(what).c_str(), name.c_str());
  return 2;
}

int command_line(int argc, char** argv) {
  CLI::App app{"kprof: profiles the operators of C++ and CUDA programs", "kprof"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::to_string(KPROF_VERSION_MAJOR) + '.' +
                                        std::to_string(KPROF_VERSION_MINOR) + '.' +
                                        std::to_string(KPROF_VERSION_PATCH));

  std::string settings;
  std::vector<std::string> command;
  CLI::App* const runs = app.add_subcommand(
      "run", "Run a program that has guards, with the session preloaded, and print its report");
  runs->add_option("settings", settings, "as in the variable KPROF: report(top=10),memory=256MiB");
  runs->allow_extras();
  runs->footer(
      "  kprof run -- ./program arguments\n"
      "  kprof run 'report(path=run.txt,top=10)' -- python3 train.py");

  CLI::App* const measures = app.add_subcommand(
      "ceilings", "Measure what this machine's processors reach: operations and bytes a second");
  std::string file;
  const CLI::Option* const saves =
      measures
          ->add_option("--save", file,
                       "keep it for the reports of this machine's programs; or in a file, for "
                       "KPROF=ceilings=FILE")
          ->expected(0, 1)
          ->type_name("[FILE]");

  CLI::App* const shows =
      app.add_subcommand("show", "Write a saved profile as a report or in any other output");
  std::string profile;
  std::vector<std::string> outputs;
  shows->add_option("file", profile, "a profile that KPROF=save(path=FILE) or kprof::save() wrote")
      ->required();
  shows
      ->add_option(
          "--output", outputs,
          "as in the variable KPROF: report(top=10), or trace(path=run.json) for Perfetto; "
          "may be given several times")
      ->type_name("OUTPUT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  bool page = false;
  shows->add_flag("--html", page,
                  "write the page beside the file, run.html for run.json, and say where");
  shows->footer(
      "  kprof show run.json\n"
      "  kprof show run.json --html\n"
      "  kprof show run.json --output 'trace(path=run.trace.json),csv(path=run.csv)'");

  query_command query(app);
  const compare_command compare(app);

  // What follows "--" is the program's: no option in it is kprof's.
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  for (int i = own + 1; i < argc; ++i) command.emplace_back(argv[i]);
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return 2;
  }
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& error) { return answer_to(app, error); }
  if (shows->parsed()) return kprof_tool::show(profile, outputs, page);
  if (query.is_asked()) return kprof_tool::query(query.words());
  if (compare.is_asked()) return kprof_tool::compare(compare.words());
  if (measures->parsed()) return print_ceilings(saves->count() > 0, file);
  const std::vector<std::string> more = runs->remaining();
  if (command.empty() && (more.empty() || more[0][0] != '-'))
    return complain(2, "name the program after --: kprof run -- ./program arguments");
  if (!more.empty())
    return complain(2, more[0] +
                           " is not expected before --: write the settings as one word, as in "
                           "kprof run 'report(top=10),memory=256MiB' -- ./program");
  return run(settings, command);
}

}  // namespace

int main(int argc, char** argv) {
  const int code = command_line(argc, argv);
  // This program holds a session too, which prints no report of its own, whatever KPROF says.
  std::fflush(nullptr);
  std::_Exit(code);
}

// SPDX-License-Identifier: MIT
// A program with an output of its own, which KPROF asks for as for those of kprof: see
// check_outputs.py, which runs it. The other file of the program includes kprof.hpp too.

#include <kprof/kprof.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

void work();

namespace {

/// "Scale 3": the operators and their calls.
kprof::status write_calls(const kprof::profile& run, const kprof::option_values& options,
                          kprof::text_sink& out) {
  for (const kprof::scope_node& node : run.nodes)
    if (node.kind == kprof::scope_kind::op && node.calls >= options.number("least"))
      out.put(options.text("prefix") + node.name + ' ' + std::to_string(node.calls) + '\n');
  return {};
}

constexpr kprof::option calls_options[] = {
    {.name = "least",
     .kind = kprof::option_kind::number,
     .form = "CALLS",
     .fallback = "1",
     .meaning = "operators with fewer calls are left out"},
    {.name = "prefix", .form = "TEXT", .meaning = "what each line begins with"},
};
constexpr kprof::output calls_output{"calls", "operators and their calls", calls_options,
                                     &write_calls};
[[gnu::init_priority(101)]] const kprof::output_registration calls_registered{calls_output};

}  // namespace

struct Scale {
  std::int64_t n = 0;
};

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "start") == 0)
    static_cast<void>(kprof::start(
        {.report = {.width = 60},
         .outputs = {{"report"}, {"calls", {{"path", "started.txt"}}}, {"calls", {{"x", "y"}}}}}));
  for (int i = 0; i < 3; ++i) {
    KPROF_OP(Scale, {i});
    work();
  }
  if (argc > 1 && std::strcmp(argv[1], "report") == 0) static_cast<void>(kprof::report());
  if (argc > 1 && std::strcmp(argv[1], "write") == 0) {
    const kprof::status s = kprof::write(kprof::snapshot(), "calls", {{"least", "1"}});
    if (!s) std::fprintf(stderr, "status: %s\n", s.message.c_str());
  }
  return 5;
}

// SPDX-License-Identifier: MIT
// An executable with the session and two libraries of two compilers, opened RTLD_LOCAL: one
// profile, also after one of them has been unloaded and loaded again. Arguments: the libraries.

#include <kprof/kprof.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "find.hpp"

namespace {

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n%s", what, all_paths(kprof::snapshot()).c_str());
  ++failures;
}

struct library {
  void* handle;
  explicit library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
  }
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle, name));
  }
};

bool listed(const char* name) {
  bool found = false;
  kprof::for_each_operator([&](const kprof::operator_view& op) {
    found = found || std::string(op.name().data, op.name().size) == name;
  });
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  check(!listed("OpA") && !listed("OpB"), "no operator of a library that is not loaded is listed");

  library a(argv[1]);
  {
    KPROF_REGION("host");
    a.function<void(int)>("run")(10);
  }
  library b(argv[2]);  // loaded after the session has started
  {
    KPROF_REGION("host");
    b.function<void(int)>("run")(20);
  }
  std::thread([&] { a.function<void(int)>("run")(5); }).join();

  kprof::profile p = kprof::snapshot();
  check(calls(p, "host/plugin") == 30, "regions of both libraries lie under the host's");
  check(calls(p, "host/plugin/Shared n=7") == 30, "the operator they share is one row");
  check(calls(p, "host/plugin/OpA step=0 tag=own") == 5, "the first library's operator");
  check(calls(p, "host/plugin/OpB step=1 tag=own") == 10, "the second library's operator");
  check(calls(p, "plugin/OpA step=1 tag=own") == 2, "a thread of the first library");
  check(listed("OpA") && listed("OpB"), "operators of both libraries are listed");

  a.function<void(int)>("run")(100);  // not yet folded when the library goes
  a.function<void()>("leave_open")();
  dlclose(a.handle);
  check(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == nullptr, "the library is really unloaded");
  check(!listed("OpA") && listed("OpB"), "its operators are no longer listed");
  p = kprof::snapshot({.timeline = true});
  check(calls(p, "plugin/OpA step=0 tag=own") == 3 + 50, "nothing recorded by it is lost");
  for (const auto* n : find_all(p, "plugin/Shared n=7"))
    check(n->work.has_flops && n->work.flops == 21, "nor are its formulas' values");
  check(p.complete.open == 1, "the scope it left open is open");
  check(kprof::report(kprof::report_options{.width = 100, .path = "/dev/null"}).ok(),
        "it can be reported");

  // Threads end: their totals move, and with them what the formulas of the absent library had said.
  for (int t = 0; t < 80; ++t) std::thread([] { KPROF_REGION("passing"); }).join();
  p = kprof::snapshot();
  for (const kprof::scope_node& n : p.nodes)
    if (n.name == "Shared" && n.calls != 0)
      check(n.work.has_flops && n.work.valid, "formulas outlive their library");

  library again(argv[1]);
  again.function<void(int)>("run")(2);
  b.function<void(int)>("run")(2);
  p = kprof::snapshot();
  check(calls(p, "Shared n=11/plugin/OpA step=0 tag=own") == 1, "the library records again");
  check(calls(p, "Shared n=11/plugin/OpB step=1 tag=own") == 1, "and so does the other");
  std::set<std::string> sites;
  for (const kprof::scope_node& n : p.nodes)
    if (n.name == "OpA") sites.insert(n.file + ":" + std::to_string(n.line));
  check(sites.size() == 1, "its call site is still the same one");
  dlclose(again.handle);
  dlclose(b.handle);
  check(calls(kprof::snapshot(), "host/plugin/OpB step=1 tag=own") == 10, "both gone, all there");
  return failures == 0 ? 0 : 1;
}

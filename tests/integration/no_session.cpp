// SPDX-License-Identifier: MIT
// A program, or with NO_SESSION_LIBRARY a library, with guards and no session:
// check_no_session.py reads what it says about that. Each argument is one thing to do.

#include <kprof/guard.hpp>

struct Axpy {
  std::int64_t n = 0;
};

extern "C" [[gnu::visibility("default")]] void run_axpy() { KPROF_OP(Axpy, {.n = 4}); }

#if !defined(NO_SESSION_LIBRARY)

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool fork_a_child() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);  // which runs the destructors of static objects
  int state = 0;
  return waitpid(child, &state, 0) == child && state == 0;
}

/// "load=FILE", or "reload=FILE" for a library that is unloaded at once.
bool load_library(const std::string& how) {
  const std::string::size_type sign = how.find('=');
  void* library = dlopen(how.c_str() + sign + 1, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), false;
  return how[0] == 'l' || dlclose(library) == 0;
}

/// Descriptor 2 becomes a file of the program's own.
bool put_file_at_2(const std::string& how) {
  const int file = open(how.c_str() + how.find('=') + 1, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return file >= 0 && dup2(file, 2) == 2 && close(file) == 0;
}

/// Standard error becomes a pipe without a reader before kprof looks at it: in the program that
/// this one becomes.
bool start_again_without_reader(char** argv) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], 2) != 2 || close(ends[0]) != 0) return false;
  std::signal(SIGPIPE, SIG_DFL);
  execl(argv[0], argv[0], static_cast<char*>(nullptr));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  run_axpy();
  for (int i = 1; i < argc; ++i) {
    const std::string what = argv[i];
    const bool done = what == "fork"                ? fork_a_child()
                      : what == "without_reader"    ? start_again_without_reader(argv)
                      : what.rfind("file=", 0) == 0 ? put_file_at_2(what)
                                                    : load_library(what);
    if (!done) return 1;
  }
  return 0;
}

#endif

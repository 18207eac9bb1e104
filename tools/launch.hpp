// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_LAUNCH_HPP
#define KPROF_TOOLS_LAUNCH_HPP

// What `kprof run` needs to know before it starts a program with libkprof.so: where the two lie,
// and whether the loader will preload a library into that program at all.

#include <string>

namespace kprof_tool {

/// A path, or why there is none: exactly one of the two is empty.
struct found {
  std::string path;
  std::string error;
};

/// The program that `name` means to execvp: a path, or a name that is looked up in PATH.
found find_program(const std::string& name);

/// libkprof.so: what the variable KPROF_LIBRARY names, else beside this program, else where the
/// package was installed.
found find_library();

/// Why the loader would not preload a library into the program: it is statically linked, of another
/// kind of machine, or runs with more rights than its user. Empty: it will. Of a script it looks at
/// the interpreter.
std::string obstacle_to_preloading(const std::string& program);

/// The value of LD_PRELOAD that preloads `library` before what is there.
std::string preload_with(const std::string& library, const char* already);

}  // namespace kprof_tool

#endif

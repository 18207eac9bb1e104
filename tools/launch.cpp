// SPDX-License-Identifier: MIT
#include "launch.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace kprof_tool {
namespace {

constexpr const char* own_session =
    "include <kprof/kprof.hpp> in one file of the program, or link kprof::session, and set "
    "KPROF=report";

bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// The folder of this program, with its last slash.
std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return {};
  const std::string_view whole(path, static_cast<std::size_t>(size));
  return std::string(whole.substr(0, whole.rfind('/') + 1));
}

/// The beginning of a file: its ELF header and program headers, or the first line of a script.
std::string beginning(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(64 * 1024, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

template <class T>
bool read_at(const std::string& bytes, std::size_t at, T& into) {
  if (at > bytes.size() || bytes.size() - at < sizeof into) return false;
  std::memcpy(&into, bytes.data() + at, sizeof into);
  return true;
}

#if defined(__aarch64__)
constexpr Elf64_Half own_machine = EM_AARCH64;
#else
constexpr Elf64_Half own_machine = EM_X86_64;
#endif

/// The second word of "#!/usr/bin/env python3", or the first of "#!/bin/sh -e"; empty: no script.
std::string interpreter_of(const std::string& bytes) {
  if (bytes.compare(0, 2, "#!") != 0) return {};
  std::istringstream words(bytes.substr(2, bytes.find('\n') - 2));
  std::string interpreter, argument;
  words >> interpreter;
  const bool looks_up = interpreter.size() >= 4 && interpreter.ends_with("/env");
  while (looks_up && words >> argument)
    if (argument[0] != '-' && argument.find('=') == std::string::npos) return argument;
  return interpreter;
}

/// Whether a program is loaded by ld.so, which does the preloading.
std::string obstacle_in_elf(const std::string& program, const std::string& bytes) {
  Elf64_Ehdr head{};
  if (!read_at(bytes, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return program + " is neither a program nor a script that begins with #!";
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != own_machine)
    return program + " is built for another kind of machine than libkprof.so; build kprof for it";
  for (Elf64_Half i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(bytes, head.e_phoff + std::size_t{i} * head.e_phentsize, segment)) break;
    if (segment.p_type == PT_INTERP) return {};
  }
  return program + " is statically linked, so no library can be preloaded into it; " + own_session;
}

}  // namespace

found find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!is_file(name)) return {{}, "there is no program " + name};
    if (access(name.c_str(), X_OK) != 0) return {{}, name + " may not be run; chmod +x it"};
    return {name, {}};
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + '/' + name;
    if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return {candidate, {}};
  }
  const std::string here = is_file(name) ? "; there is one in this folder: ./" + name : "";
  return {{}, "there is no program " + name + " in PATH" + here};
}

namespace {

/// ld.so takes spaces and colons in LD_PRELOAD for the ends of names.
found preloadable(const std::string& path) {
  if (path.find_first_of(" :\t\n") == std::string::npos) return {path, {}};
  return {{},
          "ld.so cannot preload " + path +
              ", whose name has a space or a colon; copy "
              "libkprof.so to another folder and name it by KPROF_LIBRARY"};
}

}  // namespace

found find_library() {
  if (const char* given = std::getenv("KPROF_LIBRARY"); given != nullptr && *given != '\0') {
    if (is_file(given)) return preloadable(given);
    return {{}, std::string("KPROF_LIBRARY names ") + given + ", which is not there"};
  }
  const std::string folder = own_folder();
  const std::string beside = folder + "libkprof.so";
  const std::string installed = folder + KPROF_TOOL_LIBRARY_FOLDER "/libkprof.so";
  for (const std::string& candidate : {beside, installed}) {
    char path[PATH_MAX];
    if (is_file(candidate) && realpath(candidate.c_str(), path) != nullptr)
      return preloadable(path);
  }
  return {{},
          "libkprof.so is neither at " + beside + " nor at " + installed +
              "; say where it is: KPROF_LIBRARY=/path/to/libkprof.so"};
}

std::string obstacle_to_preloading(const std::string& program) {
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) return "there is no program " + program;
  const std::string bytes = beginning(program);
  if (const std::string interpreter = interpreter_of(bytes); !interpreter.empty()) {
    const found file = find_program(interpreter);
    // The kernel follows an interpreter that is a script itself; ld.so is asked about the last.
    if (!file.error.empty()) return "the interpreter of " + program + ": " + file.error;
    const std::string of_it = beginning(file.path);
    return of_it.compare(0, 2, "#!") == 0 ? std::string{} : obstacle_in_elf(file.path, of_it);
  }
  const bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  const bool capable =
      getxattr(program.c_str(), "security.capability", nullptr, 0) > 0 && getuid() != 0;
  if (other_user || other_group || capable)
    return program + " runs with more rights than yours, so the loader preloads nothing into it; " +
           own_session;
  return obstacle_in_elf(program, bytes);
}

std::string preload_with(const std::string& library, const char* already) {
  return already == nullptr || *already == '\0' ? library : library + ':' + already;
}

}  // namespace kprof_tool

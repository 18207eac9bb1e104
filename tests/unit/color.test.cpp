// SPDX-License-Identifier: MIT
// needs: guards

// Where the report has colour unasked: on a terminal, unless the user has something against it.

#include <kprof/kprof.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"
#include "../support/profile_builder.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

using kprof_test::has;
using kprof_test::in_child;
using kprof_test::out;
using kprof_test::outcome;
using kprof_test::read_path;
using kprof_test::temporary_folder;

namespace {

kprof::profile small_profile() {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Gemm", "n=2"), 10, 500);
  return b.done();
}

/// A terminal's two ends; negative where there is none.
struct terminal {
  int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;

  terminal() {
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return;
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    if (slave >= 0) close(slave);
    if (master >= 0) close(master);
  }
  /// What has been written to it; it holds some thousand characters.
  std::string shown() const {
    std::string text;
    char block[4096];
    pollfd ready{master, POLLIN, 0};
    while (poll(&ready, 1, 100) == 1 && (ready.revents & POLLIN) != 0) {
      const ssize_t n = read(master, block, sizeof block);
      if (n <= 0) break;
      text.append(block, static_cast<std::size_t>(n));
    }
    return text;
  }
};

/// The report of a program whose standard output is a terminal, with these variables.
struct variable {
  const char* name;
  const char* value;
};
std::string on_terminal(const std::vector<variable>& variables, const char* color,
                        const std::string& path = {}) {
  const terminal t;
  REQUIRE(t.slave >= 0);
  const outcome o = in_child(out::pipe, [&] {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    for (const variable& v : variables) setenv(v.name, v.value, 1);
    dup2(t.slave, STDOUT_FILENO);
    std::vector<kprof::option_setting> options{{"color", color}};
    if (!path.empty()) options.push_back({"path", path});
    return kprof::write(small_profile(), "report", options).message;
  });
  CHECK(o.ended_well());
  CHECK(o.message == "");
  return t.shown();
}

constexpr const char* escape = "\x1b[";

}  // namespace

TEST_CASE("color.a_terminal_has_it_unasked") {
  if (terminal{}.slave < 0) return;
  const std::string page = on_terminal({}, "auto");
  CHECK(has(page, "\x1b[1mOperators"));
  CHECK(has(page, "Gemm"));
}

TEST_CASE("color.a_variable_refuses_it_and_the_option_decides") {
  if (terminal{}.slave < 0) return;
  for (const char* const value : {"1", "0", "anything"}) {
    const std::string page = on_terminal({{"NO_COLOR", value}}, "auto");
    CHECK(has(page, "Gemm"));
    CHECK_FALSE(has(page, escape));
  }
  CHECK_FALSE(has(on_terminal({{"TERM", "dumb"}}, "auto"), escape));
  CHECK_FALSE(has(on_terminal({}, "off"), escape));
  // Set to nothing it says nothing, and who asks for colour gets it.
  CHECK(has(on_terminal({{"NO_COLOR", ""}}, "auto"), escape));
  CHECK(has(on_terminal({{"NO_COLOR", "1"}}, "on"), escape));
}

TEST_CASE("color.files_and_pipes_have_none_unasked") {
  const temporary_folder folder;
  const std::string path = folder.path("page");
  const outcome o = in_child(out::pipe, [] {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    return kprof::write(small_profile(), "report", {{"color", "auto"}}).message;
  });
  CHECK(has(o.printed, "Gemm"));
  CHECK_FALSE(has(o.printed, escape));
  if (terminal{}.slave < 0) return;
  CHECK(on_terminal({}, "auto", path) == "");  // the file alone, while a terminal is there
  CHECK(has(read_path(path), "Gemm"));
  CHECK_FALSE(has(read_path(path), escape));
  on_terminal({}, "on", path);
  CHECK(has(read_path(path), escape));
}

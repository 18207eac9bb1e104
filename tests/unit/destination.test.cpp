// SPDX-License-Identifier: MIT
#include <kprof/report/destination.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using kprof::write_output;
using kprof_test::has;
using kprof_test::in_child;
using kprof_test::out;
using kprof_test::outcome;
using kprof_test::read_path;
using kprof_test::temporary_folder;

TEST_CASE("destination.a_file_is_written_and_replaced") {
  const temporary_folder folder;
  CHECK(write_output(folder.path("file"), "a longer first text\n").ok());
  CHECK(write_output(folder.path("file"), "second\n").ok());
  CHECK(read_path(folder.path("file")) == "second\n");
  CHECK(write_output(folder.path("file"), "").ok());
  CHECK(read_path(folder.path("file")).empty());
}

TEST_CASE("destination.stdout_keeps_the_order_of_what_the_program_printed") {
  const outcome o = in_child(out::pipe, [] {
    std::printf("before\n");
    const kprof::status s = write_output("", "report\n");
    std::printf("after\n");
    return s.message;
  });
  CHECK(o.ended_well());
  CHECK(o.message.empty());
  CHECK(o.printed == "before\nreport\nafter\n");
}

TEST_CASE("destination.a_full_disk_is_an_error_that_says_so") {
  const kprof::status s = write_output("/dev/full", "text");
  CHECK_FALSE(s.ok());
  CHECK(s.message ==
        "cannot write to \"/dev/full\": no space left: free some, or choose another "
        "disk; what has been written is not complete");
  CHECK_FALSE(write_output("/dev/full", std::string(1 << 20, 'x')).ok());
}

TEST_CASE("destination.paths_that_cannot_be_written_have_a_remedy") {
  const temporary_folder folder;
  CHECK(has(write_output(folder.path("no/such/file"), "text").message,
            "the folder does not exist: create it"));
  CHECK(has(write_output(folder.path(), "text").message, "it is a folder: add a file name"));
  CHECK(has(write_output("/no\nsuch/\x1b", "text").message, "\"/no\\nsuch/\\x1b\""));
  CHECK(has(write_output(folder.path(std::string(300, 'x')), "text").message,
            ": File name too long; write to a file elsewhere"));
}

TEST_CASE("destination.a_missing_permission_has_a_remedy") {
  const temporary_folder folder;
  REQUIRE(chmod(folder.path().c_str(), 0500) == 0);
  const outcome o = in_child(out::pipe, [&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return std::string{"cannot give up root"};
    return write_output(folder.path("file"), "text").message;
  });
  CHECK(has(o.message, "no permission to write there: choose another path"));
}

TEST_CASE("destination.a_closed_stdout_is_an_error_and_no_more") {
  const outcome o = in_child(out::closed, [] { return write_output("", "report\n").message; });
  CHECK(o.ended_well());
  CHECK(has(o.message, "standard output: it is closed"));
}

TEST_CASE("destination.a_pipe_whose_reader_has_ended_does_not_kill_the_program") {
  for (const std::size_t size : {std::size_t{10}, std::size_t{1} << 20}) {
    const outcome o =
        in_child(out::nobody, [size] { return write_output("", std::string(size, 'x')).message; });
    CHECK(o.ended_well());
    CHECK(has(o.message, "standard output: its reader has ended"));
  }
}

TEST_CASE("destination.a_file_size_limit_does_not_kill_the_program") {
  const temporary_folder folder;
  const outcome o = in_child(out::pipe, [&] {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return write_output(folder.path("file"), std::string(100'000, 'x')).message;
  });
  CHECK(o.ended_well());
  CHECK(has(o.message, "may not be as large: raise `ulimit -f`"));
}

TEST_CASE("destination.no_file_of_any_size_is_told_as_such") {
  const temporary_folder folder;
  const outcome o = in_child(out::pipe, [&] {
    const rlimit limit{0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string none = write_output(folder.path("file"), "text").message;
    const rlimit raised{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &raised);
    return none + (write_output(folder.path("file"), "text").ok() ? " helps" : " does not help");
  });
  CHECK(o.message == "cannot write to \"" + folder.path("file") +
                         "\": a file of this process may not be as large: raise `ulimit -f` helps");
}

TEST_CASE("destination.a_relative_path_in_proc_is_told_as_such") {
  for (const char* const name : {"run.txt", "./run.txt", "/proc/run.txt", "self/run.txt"}) {
    const outcome o = in_child(out::pipe, [&] {
      if (chdir("/proc") != 0) return std::string{"no /proc"};
      return write_output(name, "text").message;
    });
    CHECK(o.message == std::string{"cannot write to \""} + name +
                           "\": no file can be made in /proc: choose a path in another folder");
  }
  const outcome o = in_child(out::pipe, [] {
    if (chdir("/proc/self/fd") != 0) return std::string{"no /proc"};
    return write_output("1234", "text").message;
  });
  CHECK(has(o.message, "it is closed"));
}

TEST_CASE("destination.signals_of_the_program_are_as_before") {
  const outcome o = in_child(out::nobody, []() -> std::string {
    sigset_t pipe_only, mask, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    (void)write_output("", "report\n");
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    if (sigismember(&mask, SIGPIPE) != 0 || sigismember(&mask, SIGXFSZ) != 0) return "left blocked";
    // A signal that the program itself holds back stays where it is.
    sigprocmask(SIG_BLOCK, &pipe_only, nullptr);
    raise(SIGPIPE);
    (void)write_output("", "report\n");
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) != 1) return "taken away";
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGPIPE) == 1 ? "as before" : "mask changed";
  });
  CHECK(o.message == "as before");
}

TEST_CASE("destination.an_error_leaves_the_stream_usable") {
  const outcome o = in_child(out::pipe, []() -> std::string {
    const int good = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    const bool failed = !write_output("", "lost\n");
    const bool clear = std::ferror(stdout) == 0;
    dup2(good, STDOUT_FILENO);
    return failed && clear && write_output("", "kept\n").ok() ? "fine" : "broken";
  });
  CHECK(o.message == "fine");
  CHECK(o.printed == "kept\n");
}

TEST_CASE("destination.the_width_is_the_variable_columns_or_100") {
  const auto width_with = [](const char* columns) {
    return in_child(out::pipe,
                    [columns] {
                      if (columns == nullptr) unsetenv("COLUMNS");
                      else setenv("COLUMNS", columns, 1);
                      return std::to_string(kprof::output_width(""));
                    })
        .message;
  };
  CHECK(width_with(nullptr) == "100");
  CHECK(width_with("132") == "132");
  for (const char* wrong : {"", "0", "-5", "wide", "80x", "99999999999999999999"})
    CHECK(width_with(wrong) == "100");
}

TEST_CASE("destination.the_width_is_the_terminals_if_there_is_one") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return;
  const int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  const winsize size{24, 77, 0, 0};
  REQUIRE(ioctl(slave, TIOCSWINSZ, &size) == 0);
  const outcome o = in_child(out::pipe, [slave] {
    setenv("COLUMNS", "132", 1);
    dup2(slave, STDOUT_FILENO);
    return std::to_string(kprof::output_width("")) + ' ' +
           std::to_string(kprof::output_width("file"));
  });
  CHECK(o.message == "77 132");
  close(slave);
  close(terminal);
}

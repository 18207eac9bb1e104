// SPDX-License-Identifier: MIT
#include <kprof/report/destination.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"

#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

using kprof::write_output;
using kprof_test::has;
using kprof_test::in_child;
using kprof_test::out;
using kprof_test::outcome;
using kprof_test::read_path;
using kprof_test::temporary_folder;

namespace {

struct stat facts_of(const std::string& path) {
  struct stat there {};
  CHECK(lstat(path.c_str(), &there) == 0);
  return there;
}

constexpr unsigned nobody = 65534;
mode_t mode_before_chmod = 0;           // of the file that fchmod() was last called for
void (*instead_of_rename)() = nullptr;  // then it fails as for a mounted file

/// Gives up the rights of root, in a child.
bool become_nobody() { return geteuid() != 0 || (setegid(nobody) == 0 && seteuid(nobody) == 0); }

}  // namespace

// In place of the C library's.
extern "C" int fchmod(int descriptor, mode_t mode) noexcept {
  struct stat before {};
  if (fstat(descriptor, &before) == 0) mode_before_chmod = before.st_mode & 07777U;
  return static_cast<int>(syscall(SYS_fchmod, descriptor, mode));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (instead_of_rename == nullptr)
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  instead_of_rename();
  errno = EBUSY;
  return -1;
}

/// An access control list: the owner reads and writes, a user reads, the group does nothing.
std::string access_list(std::uint32_t user) {
  struct entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  constexpr std::uint32_t nobody_named = 0xFFFFFFFFU, version = 2;
  const entry entries[] = {{0x01, 6, nobody_named},
                           {0x02, 4, user},
                           {0x04, 0, nobody_named},
                           {0x10, 4, nobody_named},
                           {0x20, 0, nobody_named}};
  std::string list(reinterpret_cast<const char*>(&version), sizeof version);
  return list.append(reinterpret_cast<const char*>(entries), sizeof entries);
}
bool set_list(const std::string& path, const char* name, const std::string& list) {
  return setxattr(path.c_str(), name, list.data(), list.size(), 0) == 0;
}
/// Empty where it has none.
std::string list_of(const std::string& path) {
  char list[256];
  const ssize_t size = getxattr(path.c_str(), "system.posix_acl_access", list, sizeof list);
  return size > 0 ? std::string(list, static_cast<std::size_t>(size)) : std::string{};
}

TEST_CASE("output_file.a_file_has_its_name_when_it_is_whole") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  {
    kprof::detail::destination to(path);
    CHECK(to.append("new").ok());
    CHECK(read_path(path) == "old");
    CHECK(folder.files() == 2);
  }  // not closed: it failed half way
  CHECK(read_path(path) == "old");
  CHECK(folder.files() == 1);
  kprof::detail::destination to(path);
  CHECK(to.append("new ").ok());
  CHECK(to.append("and whole").ok());
  CHECK(to.close().ok());
  CHECK(read_path(path) == "new and whole");
  CHECK(folder.files() == 1);
  kprof::detail::destination unused(folder.path("unused"));
  CHECK(unused.close().ok());
  CHECK(folder.files() == 1);
}

TEST_CASE("output_file.permissions_are_those_of_a_new_file_or_of_the_old_one") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  const mode_t before = umask(027);
  CHECK(write_output(path, "text").ok());
  CHECK((facts_of(path).st_mode & 07777U) == 0640);
  REQUIRE(chmod(path.c_str(), 0606) == 0);
  CHECK(write_output(path, "more").ok());
  umask(before);
  CHECK((facts_of(path).st_mode & 07777U) == 0606);
  if (geteuid() == 0) {  // which may give files to others
    REQUIRE(chown(path.c_str(), nobody, nobody) == 0);
    CHECK(write_output(path, "again").ok());
    CHECK(facts_of(path).st_uid == nobody);
    CHECK(facts_of(path).st_gid == nobody);
    CHECK((facts_of(path).st_mode & 07777U) == 0606);
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("output_file.what_replaces_a_private_file_is_never_open_to_others") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  const mode_t before = umask(0);
  for (const mode_t mode : {0600U, 0640U, 0604U}) {
    REQUIRE(write_output(path, "old").ok());
    REQUIRE(chmod(path.c_str(), mode) == 0);
    mode_before_chmod = 0600;
    CHECK(write_output(path, "secret").ok());
    CHECK(mode_before_chmod == 0600);
    CHECK((facts_of(path).st_mode & 07777U) == mode);
  }
  umask(before);
}

TEST_CASE("output_file.a_file_that_cannot_be_renamed_gets_the_contents") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  const ino_t number = facts_of(path).st_ino;
  instead_of_rename = [] {};
  CHECK(write_output(path, std::string(100'000, 'x')).ok());
  instead_of_rename = nullptr;
  CHECK(facts_of(path).st_ino == number);
  CHECK(read_path(path) == std::string(100'000, 'x'));
  CHECK(folder.files() == 1);
}

TEST_CASE("output_file.where_the_disk_is_full_in_the_middle_the_whole_of_it_stays") {
  const temporary_folder folder;
  const std::string path = folder.path("file"), text(100'000, 'x');
  REQUIRE(write_output(path, "old").ok());
  const outcome o = in_child(out::pipe, [&] {
    instead_of_rename = [] {
      const rlimit limit{1000, 1000};
      setrlimit(RLIMIT_FSIZE, &limit);
    };
    return write_output(path, text).message;
  });
  CHECK(read_path(path) == std::string(1000, 'x'));
  CHECK(folder.files() == 2);
  const std::string before = "is not complete; the whole of it is in \"";
  const std::size_t at = o.message.find(before);
  REQUIRE(at != std::string::npos);
  CHECK(has(o.message, "may not be as large: raise `ulimit -f`"));
  std::string kept = o.message.substr(at + before.size());
  kept.pop_back();
  CHECK(read_path(kept) == text);
}

TEST_CASE("output_file.a_full_disk_leaves_a_file_with_several_names_as_it_was") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  REQUIRE(::link(path.c_str(), folder.path("other").c_str()) == 0);
  const outcome o = in_child(out::pipe, [&] {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return write_output(path, std::string(100'000, 'x')).message;
  });
  CHECK(has(o.message, "may not be as large: raise `ulimit -f`"));
  CHECK(read_path(folder.path("other")) == "old");
  CHECK(folder.files() == 2);
}

TEST_CASE("output_file.links_lead_to_the_file_that_is_written") {
  const temporary_folder folder;
  const auto link = [&](const char* to, const char* name) {
    REQUIRE(symlink(to, folder.path(name).c_str()) == 0);
    return folder.path(name);
  };
  REQUIRE(mkdir(folder.path("below").c_str(), 0700) == 0);
  const std::string chain = link("below/second", "first");
  link("../file", "below/second");
  CHECK(write_output(chain, "through what leads nowhere yet").ok());
  CHECK(read_path(folder.path("file")) == "through what leads nowhere yet");
  CHECK(write_output(chain, "and again").ok());
  CHECK(read_path(folder.path("file")) == "and again");
  CHECK(S_ISLNK(facts_of(chain).st_mode));
  CHECK(S_ISLNK(facts_of(folder.path("below/second")).st_mode));

  REQUIRE(::link(folder.path("file").c_str(), folder.path("other").c_str()) == 0);
  CHECK(write_output(folder.path("file"), "both names").ok());
  CHECK(read_path(folder.path("other")) == "both names");

  link("round", "and round");
  CHECK(has(write_output(link("and round", "round"), "text").message, "symbolic links"));
  CHECK(has(write_output(link("no/such/folder", "lost"), "text").message,
            "the folder does not exist: create it"));
}

TEST_CASE("output_file.names_may_be_as_long_as_the_system_allows") {
  const temporary_folder folder;
  for (const std::size_t length : {240U, 255U}) {
    const std::string path = folder.path(std::string(length, 'x'));
    CHECK(write_output(path, "text").ok());
    const ino_t number = facts_of(path).st_ino;
    CHECK(write_output(path, "new").ok());
    CHECK(facts_of(path).st_ino != number);  // another file has taken the name
    CHECK(read_path(path) == "new");
  }
  CHECK(folder.files() == 2);
}

TEST_CASE("output_file.a_file_in_a_folder_that_cannot_be_written_is_written_in_place") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
  const ino_t number = facts_of(path).st_ino;
  CHECK(in_child(out::pipe, [&] {
          return become_nobody() ? write_output(path, "new").message : "still root";
        }).message.empty());
  CHECK(facts_of(path).st_ino == number);
  CHECK(read_path(path) == "new");
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  if (geteuid() != 0) return;
  // A file of somebody else, which may be written but not be given back to its owner.
  CHECK(in_child(out::pipe, [&] {
          return become_nobody() ? write_output(path, "newer").message : "still root";
        }).message.empty());
  CHECK(facts_of(path).st_ino == number);
  CHECK(facts_of(path).st_uid == 0);
  CHECK(read_path(path) == "newer");
  CHECK(folder.files() == 1);
}

TEST_CASE("output_file.a_file_that_may_not_be_written_is_not_replaced") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  if (geteuid() == 0) REQUIRE(chown(path.c_str(), nobody, nobody) == 0);
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  const outcome o = in_child(out::pipe, [&] {
    return become_nobody() ? write_output(path, "new").message : "still root";
  });
  CHECK(has(o.message, "no permission to write there: choose another path"));
  CHECK(read_path(path) == "old");
}

TEST_CASE("output_file.a_failure_leaves_what_was_there") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  REQUIRE(write_output(path, "old").ok());
  const outcome o = in_child(out::pipe, [&] {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return write_output(path, std::string(100'000, 'x')).message;
  });
  CHECK(o.message == "cannot write to \"" + path +
                         "\": a file of this process may not be as large: raise `ulimit -f`");
  CHECK(read_path(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("output_file.paths_of_descriptors_are_written_at_their_place") {
  const temporary_folder folder;
  const std::string path = folder.path("file");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(write(file, "first ", 6) == 6);
  CHECK(write_output("/dev/fd/" + std::to_string(file), "second ").ok());
  CHECK(write_output("/proc/self/fd/" + std::to_string(file), "third").ok());
  CHECK(close(file) == 0);
  CHECK(read_path(path) == "first second third");
  CHECK(has(write_output("/dev/fd/" + std::to_string(file), "text").message, "it is closed"));
  const outcome o = in_child(out::pipe, [] {
    std::printf("before ");
    return write_output("/dev/stdout", "report").message;
  });
  CHECK(o.message.empty());
  CHECK(o.printed == "before report");
}

TEST_CASE("output_file.a_file_keeps_its_access_control_list") {
  const temporary_folder folder;
  const std::string listed = folder.path("listed"), plain = folder.path("plain");
  REQUIRE(write_output(listed, "old").ok());
  REQUIRE(write_output(plain, "old").ok());
  REQUIRE(chmod(plain.c_str(), 0640) == 0);
  if (!set_list(listed, "system.posix_acl_access", access_list(1234))) {
    WARN("the file system has no access control lists");
    return;
  }
  const std::string before = list_of(listed);
  const mode_t mode = facts_of(listed).st_mode;
  // A new file would take this one over, and let another user read.
  REQUIRE(set_list(folder.path(""), "system.posix_acl_default", access_list(5678)));
  REQUIRE(write_output(listed, "new").ok());
  REQUIRE(write_output(plain, "new").ok());
  CHECK(list_of(listed) == before);
  CHECK(facts_of(listed).st_mode == mode);
  CHECK(list_of(plain).empty());
  CHECK((facts_of(plain).st_mode & 07777U) == 0640U);
  CHECK(read_path(plain) == "new");
}

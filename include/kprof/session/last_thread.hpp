// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_LAST_THREAD_HPP
#define KPROF_SESSION_LAST_THREAD_HPP

// Whether the program's threads have all ended. main() may end by pthread_exit(), and then the
// process ends with its last thread: kprof's own must not keep it.

#include <kprof/build_options.hpp>
#include <kprof/collect/own_thread.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

/// Without a descriptor: a thread that has ended has no program any more, and the folder of the
/// threads has a link for each.
inline bool only_own_threads_have_a_folder() noexcept {
  char program[1];
  if (::readlink("/proc/self/exe", program, 1) >= 0 || errno != ENOENT ||
      ::readlink("/proc/thread-self/exe", program, 1) < 0)
    return false;
  struct stat folder {};
  constexpr nlink_t links_of_itself = 2;
  return ::stat("/proc/self/task", &folder) == 0 &&
         folder.st_nlink == links_of_itself + 1 + static_cast<nlink_t>(own_thread_count.load());
}

/// True where the first thread has ended and no other is left but kprof's. By /proc/self/stat: the
/// state of the first thread, and how many there are with it. False where there is no /proc.
inline bool only_own_threads_are_left() noexcept {
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return only_own_threads_have_a_folder();
  char text[1024];
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* at = std::strrchr(text, ')');  // behind the program's name
  if (at == nullptr || at[1] != ' ' || at[2] != 'Z') return false;
  constexpr int fields_to_threads = 18;  // from the name on
  for (int i = 0; i < fields_to_threads && at != nullptr; ++i) at = std::strchr(at + 1, ' ');
  return at != nullptr && std::atoi(at + 1) == 1 + own_thread_count.load();
}

}  // namespace detail
KPROF_DETAIL_END

#endif

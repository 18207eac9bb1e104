// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_NOTES_HPP
#define KPROF_SESSION_NOTES_HPP

// What the session tells in every report besides its state. Guarded by the session's lock.

#include <kprof/build_options.hpp>
#include <kprof/write/attempt.hpp>

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class session_notes {
 public:
  /// Adds a note, unless it is there.
  void add(std::string note) {
    for (const std::string& n : all_)
      if (n == note) return;
    all_.push_back(std::move(note));
  }
  /// In the child of a fork.
  void add_fork() noexcept {
    static_cast<void>(attempt([this] {
      add("forked from process " + std::to_string(getppid()) +
          ": this profile is of the child alone");
    }));
  }
  const std::vector<std::string>& all() const noexcept { return all_; }

 private:
  std::vector<std::string> all_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

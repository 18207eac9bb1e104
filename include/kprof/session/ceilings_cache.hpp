// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_CEILINGS_CACHE_HPP
#define KPROF_SESSION_CEILINGS_CACHE_HPP

// Keeps what was measured of this machine in the user's cache folder, in a file for each machine
// and each set of processors. What is in a file is used only where all that it was measured with is
// the same now. Included by session_ceilings.hpp and the program kprof. Any thread.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/build_options.hpp>
#include <kprof/machine/loops.hpp>
#include <kprof/machine/usable_cpus.hpp>
#include <kprof/model/ceilings_text.hpp>
#include <kprof/model/written_ceilings.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/status.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/printable.hpp>
#include <kprof/write/small_file.hpp>
#include <kprof/write/write_error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Raised when a measurement of an earlier kprof is no longer good.
inline constexpr int ceilings_version = 3;

/// "2026-11-23", in UTC.
[[gnu::cold]] inline std::string date_of_today() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  text[std::strftime(text, sizeof text, "%Y-%m-%d", &parts)] = '\0';
  return text;
}

/// All that a measurement holds for, in one line: the version of kprof's loops, the processor, the
/// CPUs and how many may run at a time, their caches, the instructions.
[[gnu::cold]] inline std::string this_machine(const usable_cpus_of_machine& found) {
  std::string out = "version " + std::to_string(ceilings_version) + "; " + one_line(found.model) +
                    "; " + std::to_string(found.threads()) + " of CPUs";
  for (const int cpu : found.cpus) out.append(" ").append(std::to_string(cpu));
  out += "; caches";
  for (const data_cache& c : found.data)
    out.append(" ").append(std::to_string(c.bytes)).append("/").append(std::to_string(c.sharers));
  for (const arithmetic_loop& loop : find_loops().arithmetic)
    out.append("; ").append(dtype_name(loop.type)).append(" ").append(loop.instructions);
  return out;
}

class ceilings_cache {
 public:
  [[gnu::cold]] ceilings_cache() : ceilings_cache(this_machine(find_usable_cpus()), "") {}
  /// `name`: of the file; where it is empty, one by the machine.
  [[gnu::cold]] ceilings_cache(std::string machine, const std::string& name)
      : machine_(std::move(machine)) {
    const auto is_absolute = [](const char* path) { return path != nullptr && path[0] == '/'; };
    const char* const cache = environment_variable("XDG_CACHE_HOME");
    const char* const home = environment_variable("HOME");
    if (is_absolute(cache)) folder_ = cache;
    else if (is_absolute(home)) folder_ = std::string{home} + "/.cache";
    else return;
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (const char c : machine_) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    folder_ += "/kprof";
    path_ = folder_ + "/ceilings-" +
            (!name.empty() ? name
                           : hexadecimal(static_cast<std::uint32_t>(hash >> 32U), 8) +
                                 hexadecimal(static_cast<std::uint32_t>(hash), 8)) +
            ".txt";
  }
  ceilings_cache(const ceilings_cache&) = delete;
  ceilings_cache& operator=(const ceilings_cache&) = delete;
  ~ceilings_cache() {
    if (lock_ < 0) return;
    flock(lock_, LOCK_UN);  // a child that was forked meanwhile has the descriptor too
    close_file(lock_);
  }

  const std::string& path() const noexcept { return path_; }

  /// What is kept of this machine; false where that is nothing that can be used.
  [[gnu::cold]] bool read(cpu_ceilings& out, std::string& date) const {
    written_ceilings found;
    std::int64_t age_s = 0;
    if (!read(found, age_s) || found.value.cpu.arithmetic.empty()) return false;
    // Other programs disturbed it, or had the time or the memory: another one may do better.
    constexpr std::int64_t hour = 3600;
    if (may_be_better(found.value.cpu) && (age_s > hour || age_s < -hour)) return false;
    out = std::move(found.value.cpu);
    date = one_line(found.date);
    return true;
  }
  /// The same of a GPU.
  [[gnu::cold]] bool read(gpu_ceilings& out) const {
    written_ceilings found;
    std::int64_t age_s = 0;
    if (!read(found, age_s) || found.value.gpus.size() != 1) return false;
    out = std::move(found.value.gpus[0]);
    out.notes = std::move(found.value.cpu.notes);
    out.measured = one_line(found.date);
    return !out.measured.empty() && !out.arithmetic.empty();
  }

  /// Makes the folder, and keeps other processes from measuring while this object lives. An error
  /// says why nothing can be kept, or that another process measures.
  [[gnu::cold]] status prepare() {
    if (path_.empty()) return {"no folder to keep it in: neither XDG_CACHE_HOME nor HOME is set"};
    const std::string shown = quoted_path(folder_);
    mkdir(folder_.substr(0, folder_.rfind('/')).c_str(), 0700);
    mkdir(folder_.c_str(), 0700);
    struct stat there {};
    lock_ = open_file(folder_.c_str(), O_RDONLY | O_DIRECTORY);
    if (lock_ < 0 || fstat(lock_, &there) != 0 ||
        faccessat(AT_FDCWD, folder_.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
      return {"the folder to keep it in, " + shown + ", cannot be used (" + std::strerror(errno) +
              ')'};
    if (there.st_uid != geteuid())
      return {"the folder to keep it in, " + shown + ", belongs to another user"};
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return {"another process measures this machine now"};
    return {};
  }
  [[gnu::cold]] status keep(const cpu_ceilings& cpu) const { return write_to(path_, cpu); }
  /// The same to another file.
  [[gnu::cold]] status write_to(const std::string& path, const cpu_ceilings& cpu) const {
    const std::string head =
        "# What this machine reaches, measured by kprof: one thread, all threads.\nmachine = " +
        machine_ + "\ndate = " + date_of_today() + '\n';
    return write_output(path, write_ceilings(cpu, head).append(end_line));
  }
  [[gnu::cold]] status keep(const gpu_ceilings& gpu) const {
    const std::string head = "# What this GPU reaches, measured by kprof.\nmachine = " + machine_ +
                             "\ndate = " + gpu.measured + '\n';
    return write_output(path_, write_gpu_ceilings(gpu, head).append(end_line));
  }

 private:
  /// What the file says, if it is whole and of this machine.
  [[gnu::cold]] bool read(written_ceilings& out, std::int64_t& age_s) const {
    if (path_.empty()) return false;
    const small_file file = read_small_file(path_);
    const std::string_view text = file.text;
    if (text.size() < end_line.size() || text.substr(text.size() - end_line.size()) != end_line)
      return false;
    out = read_ceilings(text);
    age_s = file.age_s;
    return out.mistakes.empty() && out.machine == machine_;
  }
  /// Without it, the file was cut short, and perhaps its last number.
  static constexpr std::string_view end_line = "# end\n";

  [[gnu::cold]] static bool may_be_better(const cpu_ceilings& c) noexcept {
    bool found = !c.notes.empty();  // of what was not measured
    for (const arithmetic_ceiling& a : c.arithmetic) found = found || a.operations.is_lower_bound;
    for (const memory_ceiling& m : c.memory)
      found = found || m.read.is_lower_bound || m.triad.is_lower_bound;
    return found;
  }

  std::string machine_;
  std::string folder_;
  std::string path_;  // empty: there is no place for it
  int lock_ = -1;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_USABLE_CPUS_HPP
#define KPROF_MACHINE_USABLE_CPUS_HPP

// What of this machine the process may use: CPUs, their caches, memory. Read from the system's own
// files; what these do not say stays 0. Included by measure_cpu.hpp. Any thread.

#include <kprof/build_options.hpp>
#include <kprof/machine/system_file.hpp>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A data cache of one CPU.
struct data_cache {
  unsigned level = 0;
  std::uint64_t bytes = 0;
  unsigned sharers = 1;  // CPUs, of those that the process may use
};

struct usable_cpus_of_machine {
  std::string model;             // as the system names the processor
  std::vector<int> cpus;         // that the process may run on
  double quota = 0;              // CPUs' worth of time that its control group gets; 0: no limit
  std::vector<data_cache> data;  // of the first CPU, by level
  std::uint64_t free_bytes = 0;  // memory that can be had without harm

  /// As many threads as run at a time.
  unsigned threads() const noexcept {
    const auto all = static_cast<unsigned>(cpus.size());
    if (quota <= 0 || quota >= all) return all == 0 ? 1 : all;
    return quota < 1 ? 1 : static_cast<unsigned>(quota);
  }
};

[[gnu::cold]] inline std::vector<int> cpus_of_affinity() {
  std::vector<int> found;
  // The kernel's set may be larger than cpu_set_t: it refuses one that is too small.
  for (int room = CPU_SETSIZE; room <= 1 << 16; room *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) return found;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    const bool is_known = sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; is_known && cpu < room; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) found.push_back(cpu);
    CPU_FREE(set);
    if (is_known) break;
  }
  return found;
}

/// The numbers in a list such as "0-3,8", as the kernel writes sets of CPUs; what is no list gives
/// none.
[[gnu::cold]] inline std::vector<int> cpu_list(std::string_view text) {
  std::vector<int> found;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= (1U << 16U)) return {};
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) found.push_back(static_cast<int>(cpu));
    text.remove_prefix(part.size() == text.size() ? text.size() : part.size() + 1);
  }
  return found;
}

/// A size as "32K" or "8M" of bytes; 0 where it is none.
[[gnu::cold]] inline std::uint64_t size_with_letter(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M')) {
    shift = text.back() == 'K' ? 10 : 20;
    text.remove_suffix(1);
  }
  const auto number = whole_number(text);
  return number && *number < (std::uint64_t{1} << 40U) ? *number << shift : 0;
}

/// The quota in cpu.max of control groups' version 2: "max 100000", or microseconds of CPU time in
/// so many microseconds. 0: none, or the text says nothing.
[[gnu::cold]] inline double quota_in(std::string_view cpu_max) {
  const std::size_t space = cpu_max.find(' ');
  if (space == cpu_max.npos) return 0;
  const auto time = whole_number(cpu_max.substr(0, space));
  const auto of = whole_number(cpu_max.substr(space + 1));
  return time && of && *of > 0 ? static_cast<double>(*time) / static_cast<double>(*of) : 0;
}

/// The folder of a controller's group of this process, below `mount`; and each folder above it has
/// limits too. Version 2 has one line "0::/path", version 1 lines such as "4:cpu,cpuacct:/path".
[[gnu::cold]] inline std::string own_group(std::string_view proc_cgroup,
                                           std::string_view controller) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = proc_cgroup.substr(0, proc_cgroup.find('\n'));
    proc_cgroup.remove_prefix(line.size() == proc_cgroup.size() ? line.size() : line.size() + 1);
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    std::string_view names = line.substr(first + 1, second - first - 1);
    for (bool is_last = false; !is_last;) {
      const std::string_view name = names.substr(0, names.find(','));
      if (name == controller) return std::string(line.substr(second + 1));
      is_last = name.size() == names.size();
      names.remove_prefix(is_last ? name.size() : name.size() + 1);
    }
  }
  return {};
}

/// The smaller of two limits of which 0 is none.
[[gnu::cold]] inline double smaller_limit(double a, double b) {
  if (a <= 0 || b <= 0) return a <= 0 ? b : a;
  return a < b ? a : b;
}

/// The smallest quota of a group and those around it: of one file with quota and period, or of two.
/// `mount` is the folder of the groups.
[[gnu::cold]] inline double quota_of(std::string group, const char* mount, const char* quota_file,
                                     const char* period_file) {
  double smallest = 0;
  for (;;) {
    const bool is_root = group.size() <= 1 || group.rfind('/') == group.npos;
    std::string folder = mount;
    if (!is_root) folder += group;
    std::string text = system_file(folder + quota_file);
    if (period_file != nullptr) text.append(" ").append(system_file(folder + period_file));
    smallest = smaller_limit(smallest, quota_in(text));
    if (is_root) return smallest;
    group.resize(group.rfind('/'));
  }
}
[[gnu::cold]] inline double own_quota() {
  const std::string groups = system_file("/proc/self/cgroup");
  return smaller_limit(quota_of(own_group(groups, ""), "/sys/fs/cgroup", "/cpu.max", nullptr),
                       quota_of(own_group(groups, "cpu"), "/sys/fs/cgroup/cpu", "/cpu.cfs_quota_us",
                                "/cpu.cfs_period_us"));
}

/// The number behind a name and a space in a line, as memory.stat has them; 0: there is none.
[[gnu::cold]] inline std::uint64_t number_of_line(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (line.substr(0, name.size()) == name && line.substr(name.size(), 1) == " ")
      return whole_number(line.substr(name.size() + 1)).value_or(0);
  }
  return 0;
}

/// The files of a control group's memory.
struct memory_files {
  const char* most;
  const char* used;
  const char* reclaimable;  // in memory.stat: files that were read and can be read again
};
/// How much memory a group and those around it still allow; the largest number: any.
[[gnu::cold]] inline std::uint64_t free_in_groups(std::string group, const std::string& mount,
                                                  const memory_files& files) {
  std::uint64_t least = ~std::uint64_t{0};
  for (;;) {
    const bool is_root = group.size() <= 1 || group.rfind('/') == group.npos;
    const std::string folder = is_root ? mount : mount + group;
    const auto most = whole_number(system_file(folder + files.most));
    const auto used = whole_number(system_file(folder + files.used));
    if (most && used) {
      const std::uint64_t again =
          number_of_line(system_file(folder + "/memory.stat"), files.reclaimable);
      const std::uint64_t kept = *used - std::min(*used, again);
      least = std::min(least, *most - std::min(*most, kept));
    }
    if (is_root) return least;
    group.resize(group.rfind('/'));
  }
}
[[gnu::cold]] inline std::uint64_t own_free_bytes() {
  const std::string groups = system_file("/proc/self/cgroup");
  return std::min(
      free_in_groups(own_group(groups, ""), "/sys/fs/cgroup",
                     {"/memory.max", "/memory.current", "inactive_file"}),
      free_in_groups(own_group(groups, "memory"), "/sys/fs/cgroup/memory",
                     {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}));
}

/// The data caches of a CPU, by level; `usable` are the CPUs that count as sharers.
[[gnu::cold]] inline std::vector<data_cache> data_caches(int cpu, const std::vector<int>& usable) {
  std::vector<data_cache> found;  // few, in the order of the levels
  for (int i = 0; i < 16; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                               "/cache/index" + std::to_string(i) + '/';
    const auto level = whole_number(system_file(folder + "level"));
    const std::string type = system_file(folder + "type");
    const std::uint64_t bytes = size_with_letter(system_file(folder + "size"));
    if (!level) break;
    if (type == "Instruction" || bytes == 0) continue;
    unsigned sharers = 0;
    for (const int other : cpu_list(system_file(folder + "shared_cpu_list")))
      for (const int own : usable) sharers += other == own ? 1U : 0U;
    const auto number = static_cast<unsigned>(*level);
    auto at = found.begin();
    while (at != found.end() && at->level < number) ++at;
    if (at == found.end() || at->level != number) at = found.insert(at, data_cache{});
    *at = {number, bytes, sharers == 0 ? 1 : sharers};
  }
  return found;
}

/// The value of a line such as "model name\t: AMD EPYC" or "MemAvailable:   123 kB".
[[gnu::cold]] inline std::string line_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t colon = line.find(':');
    if (colon == line.npos || line.substr(0, name.size()) != name) continue;
    if (line.substr(name.size(), colon - name.size()).find_first_not_of(" \t") != line.npos)
      continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == line.npos ? std::string{} : std::string(line.substr(first));
  }
  return {};
}

[[gnu::cold]] inline std::uint64_t kib_of_line(std::string_view text, std::string_view name) {
  std::string value = line_of(text, name);
  value.resize(value.find(' ') == value.npos ? value.size() : value.find(' '));
  const auto number = whole_number(value);
  return number && *number < (std::uint64_t{1} << 50U) ? *number * 1024 : 0;
}

[[gnu::cold]] inline usable_cpus_of_machine find_usable_cpus() {
  usable_cpus_of_machine found;
  const std::string cpuinfo = system_file("/proc/cpuinfo");
  found.model = line_of(cpuinfo, "model name");
  if (found.model.empty()) {  // arm64 has numbers only
    const std::string maker = line_of(cpuinfo, "CPU implementer");
    if (!maker.empty())
      found.model = "implementer " + maker + " part " + line_of(cpuinfo, "CPU part");
  }
  found.cpus = cpus_of_affinity();
  found.quota = own_quota();
  if (!found.cpus.empty()) found.data = data_caches(found.cpus.front(), found.cpus);
  found.free_bytes = kib_of_line(system_file("/proc/meminfo"), "MemAvailable");
  const std::uint64_t in_groups = own_free_bytes();
  // 0 is what the system does not tell.
  if (in_groups != ~std::uint64_t{0} && (found.free_bytes == 0 || in_groups < found.free_bytes))
    found.free_bytes = std::max<std::uint64_t>(in_groups, 1);
  return found;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_TRANSCRIPT_HPP
#define KPROF_ATTRIBUTE_TRANSCRIPT_HPP

// Writes everything that a collector tells to a text file, when the environment variable
// KPROF_TRANSCRIPT names one. A machine without a GPU can attribute the run again from that file.
// One line for each:
//
//   path NUMBER PARENT op|region NAME          scopes; 0 is none
//   launch THREAD TIME ID[,ID...] PATH|ignored     a call that launched work; TIME in ns as in
//                                                  records
//   node NUMBER PATH SCOPES                    a graph's node; SCOPES as in
//                                              captured_scope::scopes_started_here
//   cloned NUMBER ORIGINAL TIME
//   kernel ID START END DEVICE STREAM NODE GRID BLOCK STATIC_SHARED DYNAMIC_SHARED REGISTERS NAME
//   memcpy ID START END DEVICE STREAM NODE BYTES DIRECTION FROM TO
//   memset ID START END DEVICE STREAM NODE BYTES TO
//   sync START END, overhead START END, odd, dropped COUNT
//   device ID MAJOR.MINOR MULTIPROCESSORS MEMORY_BYTES MEMORY_BYTES_PER_S CLOCK_HZ NAME

#include <kprof/attribute/parameters.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/parameter_text.hpp>
#include <kprof/record/recorder.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL device_transcript {
 public:
  /// Where the environment asks for it. Never closed: work may come until the process ends.
  void open() {
    const char* path = std::getenv("KPROF_TRANSCRIPT");
    if (path == nullptr || *path == '\0' || file_ != nullptr) return;
    file_ = std::fopen(path, "w");
    if (file_ == nullptr)
      std::fprintf(stderr, "kprof: KPROF_TRANSCRIPT: cannot write to %s\n", path);
    else std::fputs("kprof transcript 1\n", file_);
  }
  bool is_open() const noexcept { return file_ != nullptr; }
  void flush() {
    if (file_ != nullptr) std::fflush(file_);
  }

  void launch(recorder& threads, std::uint32_t thread, std::uint64_t when, const std::uint32_t* ids,
              std::uint32_t count, std::uint32_t path, bool ignored) {
    const std::lock_guard lock(mutex_);
    write_path(threads, path);
    std::fprintf(file_, "launch %" PRIu32 " %" PRIu64 " ", thread, when);
    for (std::uint32_t i = 0; i < count; ++i)
      std::fprintf(file_, "%s%" PRIu32, i == 0 ? "" : ",", ids[i]);
    if (ignored) std::fputs(" ignored\n", file_);
    else std::fprintf(file_, " %" PRIu32 "\n", path);
  }
  void node(recorder& threads, std::uint64_t node, captured_scope where) {
    const std::lock_guard lock(mutex_);
    write_path(threads, where.path);
    std::fprintf(file_, "node %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", node, where.path,
                 where.scopes_started_here);
  }
  void cloned(std::uint64_t node, std::uint64_t original, std::uint64_t when) {
    const std::lock_guard lock(mutex_);
    std::fprintf(file_, "cloned %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", node, original, when);
  }
  void dropped(std::uint64_t records) {
    const std::lock_guard lock(mutex_);
    std::fprintf(file_, "dropped %" PRIu64 "\n", records);
  }
  void describe(const device_description& d) {
    const std::lock_guard lock(mutex_);
    std::fprintf(file_,
                 "device %" PRIu32 " %" PRIu32 ".%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64
                 " %" PRIu64 " %s\n",
                 d.id, d.compute_major, d.compute_minor, d.multiprocessors, d.memory_bytes,
                 d.memory_bytes_per_s, d.clock_hz, d.name == nullptr ? "" : d.name);
  }
  void read(const activity& a) {
    const std::lock_guard lock(mutex_);
    switch (a.kind) {
      case activity_kind::kernel:
        write_work("kernel", a);
        std::fprintf(file_,
                     " %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32 ",%" PRIu32 ",%" PRIu32
                     " %" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n",
                     a.grid[0], a.grid[1], a.grid[2], a.block[0], a.block[1], a.block[2],
                     a.static_shared, a.dynamic_shared, a.registers,
                     a.name == nullptr ? "" : a.name);
        break;
      case activity_kind::copy:
        write_work("memcpy", a);
        std::fprintf(file_, " %" PRIu64 " %d %d %d\n", a.bytes, a.direction, a.from, a.to);
        break;
      case activity_kind::set:
        write_work("memset", a);
        std::fprintf(file_, " %" PRIu64 " %d\n", a.bytes, a.to);
        break;
      case activity_kind::synchronization:
        std::fprintf(file_, "sync %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::overhead:
        std::fprintf(file_, "overhead %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::odd: std::fputs("odd\n", file_); break;
    }
  }

 private:
  void write_work(const char* what, const activity& a) {
    std::fprintf(file_, "%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64,
                 what, a.correlation, a.start, a.end, a.device, a.stream, a.graph_node);
  }

  /// Each path once, what is around it before it.
  void write_path(recorder& threads, std::uint32_t path) {
    if (path == 0 || (path < written_.size() && written_[path])) return;
    const path_table::step s = threads.paths()[path];
    write_path(threads, s.parent);
    if (path >= written_.size()) written_.resize(path + 1);
    written_[path] = true;
    const site_info& where = threads.sites()[s.site];
    std::string name = s.bytes;
    if (where.op != nullptr) {
      const std::string parameters =
          s.merged
              ? "(not kept)"
              : parameter_text(to_operator(*where.op), pack_parameters(*where.op, s.bytes.data()));
      name = where.op->name + (parameters.empty() ? "" : " " + parameters);
    }
    for (char& c : name)
      if (c == '\n' || c == '\r') c = ' ';
    std::fprintf(file_, "path %" PRIu32 " %" PRIu32 " %s %s\n", path, s.parent,
                 where.op != nullptr ? "op" : "region", name.c_str());
  }

  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  std::vector<bool> written_;  // paths
};

}  // namespace detail
KPROF_DETAIL_END

#endif

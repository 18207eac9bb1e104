// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_TRANSCRIPT_HPP
#define KPROF_ATTRIBUTE_TRANSCRIPT_HPP

// Writes everything that a collector tells to a text file, when the environment variable
// KPROF_TRANSCRIPT names one. A machine without a GPU can attribute the run again from that file.
// One line for each:
//
//   path NUMBER PARENT op|region NAME          scopes; 0 is none
//   launch THREAD TIME ID[,ID...] PATH|ignored kernel|transfer|graph
//                                              a call that launched work; TIME in ns as in records
//   node NUMBER PATH SCOPES                    a graph's node; SCOPES as in
//                                              captured_scope::scopes_started_here
//   cloned NUMBER ORIGINAL
//   updated NUMBER ORIGINAL TIME
//   set NUMBER PATH TIME
//   kernel ID START END DEVICE STREAM NODE GRID BLOCK STATIC_SHARED DYNAMIC_SHARED REGISTERS NAME
//          [MULTIPROCESSOR_SHARED CLUSTER COOPERATIVE]
//   memcpy ID START END DEVICE STREAM NODE BYTES DIRECTION FROM TO
//   memset ID START END DEVICE STREAM NODE BYTES TO
//   sync START END, overhead START END, odd
//   dropped COUNT, cut COUNT, foreign COUNT, ids_lost COUNT    as in loss
//   device ID MAJOR.MINOR MULTIPROCESSORS MEMORY_BYTES MEMORY_BYTES_PER_S CLOCK_HZ NAME

#include <kprof/attach/environment_variable.hpp>
#include <kprof/attribute/parameters.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/parameter_text.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/quiet_writes.hpp>
#include <kprof/write/write_error.hpp>

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL device_transcript {
 public:
  /// Where the environment asks for it. Never closed: work may come until the process ends.
  [[gnu::cold]] void open() {
    const std::lock_guard lock(mutex_);
    is_buffered_ = true;
    const char* path = environment_variable("KPROF_TRANSCRIPT");
    if (path == nullptr || *path == '\0' || file_ >= 0) return;
    const quiet_writes quiet;
    const int file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
    if (file < 0) {
      tell({"KPROF_TRANSCRIPT: ", cannot_write(quoted_path(path), errno).message});
      return;
    }
    target_ = target_of(file);
    buffer_ = "kprof transcript 1\n";
    file_ = file;
  }
  bool is_open() const noexcept { return file_ >= 0; }
  void flush() {
    const std::lock_guard lock(mutex_);
    write_buffer();
  }
  /// What comes until open() is called again is not held back: nobody may call flush() after it.
  void write_through() {
    const std::lock_guard lock(mutex_);
    is_buffered_ = false;
    write_buffer();
  }
  /// In the child of a fork, which has its parent's file. Takes no lock: another thread may have
  /// held it.
  void forget() noexcept { file_ = -1; }

  /// `began`: in CLOCK_REALTIME ns.
  [[gnu::cold]] void launch(recorder& threads, const observed_call& call, std::uint64_t began,
                            launch_kind what, bool ignored) {
    const std::uint32_t path = threads.capture_for_graph(0, false).path;
    const std::lock_guard lock(mutex_);
    if (!attempt([&] { write_path(threads, path); })) return end_with(ENOMEM);
    put("launch %" PRIu32 " %" PRIu64 " ", recorder::this_thread(), began);
    for (std::uint32_t i = 0; i < call.count; ++i)
      put("%s%" PRIu32, i == 0 ? "" : ",", call.ids[i]);
    if (ignored) put(" ignored");
    else put(" %" PRIu32, path);
    put(what == launch_kind::kernel     ? " kernel\n"
        : what == launch_kind::transfer ? " transfer\n"
                                        : " graph\n");
  }
  [[gnu::cold]] void node(recorder& threads, std::uint64_t node, captured_scope where) {
    const std::lock_guard lock(mutex_);
    if (where.path == captured_scope::unknown_path) return;
    if (!attempt([&] { write_path(threads, where.path); })) return end_with(ENOMEM);
    put("node %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", node, where.path, where.scopes_started_here);
  }
  [[gnu::cold]] void cloned(std::uint64_t node, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    put("cloned %" PRIu64 " %" PRIu64 "\n", node, original);
  }
  [[gnu::cold]] void updated(std::uint64_t node, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    put("updated %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", node, original,
        nanoseconds_of(CLOCK_REALTIME));
  }
  [[gnu::cold]] void set(recorder& threads, std::uint64_t node, std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    if (!attempt([&] { write_path(threads, path); })) return end_with(ENOMEM);
    put("set %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", node, path, nanoseconds_of(CLOCK_REALTIME));
  }
  [[gnu::cold]] void lost(loss what, std::uint64_t how_many) {
    const std::lock_guard lock(mutex_);
    put("%s %" PRIu64 "\n",
        what == loss::records           ? "dropped"
        : what == loss::cut_buffers     ? "cut"
        : what == loss::foreign_buffers ? "foreign"
                                        : "ids_lost",
        how_many);
  }
  [[gnu::cold]] void describe(const device_description& d) {
    const std::lock_guard lock(mutex_);
    put("device %" PRIu32 " %" PRIu32 ".%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64
        " %s\n",
        d.id, d.compute_major, d.compute_minor, d.multiprocessors, d.memory_bytes,
        d.memory_bytes_per_s, d.clock_hz, d.name == nullptr ? "" : d.name);
  }
  [[gnu::cold]] void read(const activity* some, std::size_t count) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) write(some[i]);
  }

 private:
  void write(const activity& a) {
    switch (a.kind) {
      case activity_kind::kernel:
        write_work("kernel", a);
        put(" %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32
            " %" PRIu32 " %" PRIu32 " %s",
            a.grid[0], a.grid[1], a.grid[2], a.block[0], a.block[1], a.block[2], a.static_shared,
            a.dynamic_shared, a.registers, a.name == nullptr ? "" : a.name);
        if (a.multiprocessor_shared != 0 || a.cluster[0] != 0 || a.cooperative)
          put(" %" PRIu32 " %d,%d,%d %d", a.multiprocessor_shared, a.cluster[0], a.cluster[1],
              a.cluster[2], a.cooperative ? 1 : 0);
        put("\n");
        break;
      case activity_kind::copy:
        write_work("memcpy", a);
        put(" %" PRIu64 " %d %d %d\n", a.bytes, a.direction, a.from, a.to);
        break;
      case activity_kind::set:
        write_work("memset", a);
        put(" %" PRIu64 " %d\n", a.bytes, a.to);
        break;
      case activity_kind::synchronization:
        put("sync %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::event_record: break;
      case activity_kind::overhead:
        put("overhead %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::odd: put("odd\n"); break;
    }
  }

  [[gnu::cold, gnu::format(printf, 2, 3)]] void put(const char* format, ...) {
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    char text[512];
    const int size = std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    const bool had_memory = attempt([&] {
      const std::size_t before = buffer_.size(), added = static_cast<std::size_t>(size);
      if (added < sizeof text) {
        buffer_.append(text, added);
      } else {  // a kernel's long name
        buffer_.resize(before + added + 1);
        std::vsnprintf(buffer_.data() + before, added + 1, format, again);
        buffer_.pop_back();
      }
    });
    va_end(again);
    if (!had_memory) end_with(ENOMEM);
    const bool ends_line = !buffer_.empty() && buffer_.back() == '\n';
    if (buffer_.size() > std::size_t{64} * 1024 || (!is_buffered_ && ends_line)) write_buffer();
  }
  /// Nothing is written where the program has closed the file, whose number may be another file's
  /// since.
  [[gnu::cold]] void write_buffer() {
    const int file = file_;
    if (file >= 0 && !buffer_.empty()) {
      const quiet_writes quiet;
      const int error = target_of(file) == target_ ? write_all(file, buffer_) : EBADF;
      if (error != 0) end_with(error);
    }
    buffer_.clear();
  }
  /// After a failure there is no transcript any more.
  [[gnu::cold]] void end_with(int error) {
    const int file = file_.exchange(-1);
    if (file < 0) return;
    if (error != EBADF) close_file(file);
    const char* const remedy = remedy_for(error);
    tell(
        {"the transcript is not complete, the file that KPROF_TRANSCRIPT names cannot be written: ",
         remedy != nullptr ? remedy : std::strerror(error)});
  }

  [[gnu::cold]] void write_work(const char* what, const activity& a) {
    put("%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64, what,
        a.correlation, a.start, a.end, a.device, a.stream, a.graph_node);
  }

  /// Each path once, what is around it before it.
  [[gnu::cold]] void write_path(recorder& threads, std::uint32_t path) {
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
    put("path %" PRIu32 " %" PRIu32 " %s %s\n", path, s.parent,
        where.op != nullptr ? "op" : "region", name.c_str());
  }

  std::mutex mutex_;  // guards what is below
  std::atomic<int> file_{-1};
  descriptor_target target_;  // of file_
  std::string buffer_;        // what has not been written
  bool is_buffered_ = true;
  std::vector<bool> written_;  // paths
};

}  // namespace detail
KPROF_DETAIL_END

#endif

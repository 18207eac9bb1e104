// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_PACKET_TRACKS_HPP
#define KPROF_REPORT_TRACE_PACKET_TRACKS_HPP

// The tracks of a trace of packets: the program with its threads, devices with their streams, and
// curves. Included by trace.hpp. Each has a number, and a TrackDescriptor of Perfetto, which is
// written before its first event. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/stacks/protobuf.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/row_names.hpp>
#include <kprof/report/trace/trace_curves.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class packet_tracks {
 public:
  /// `has_stages`: rows of streams are no tracks, but queues of render stages.
  packet_tracks(const profile& p, trace_places& places, bool has_stages)
      : p_(p), places_(places), has_stages_(has_stages) {}

  /// Calls use(descriptor) for the tracks that are known from the beginning.
  template <class Use>
  void each_of_profile(const Use& use) {
    use(program());
    for (std::uint32_t i = 0; i < p_.threads.size(); ++i) use(thread(i));
    for (const std::uint32_t device : places_.devices()) {
      const std::uint64_t number = next(process_key(places_.pid_of_device(device)));
      proto_message track = named(number, name_of_device(p_, device));
      track.number(11, 3);  // streams come in the order of their ranks
      use(track);
    }
    for (traced_stream& s : places_.streams())
      if (has_stages_) add_queue(s, name_of_stream(s), s.tid);
      else use(stream(s, name_of_stream(s), s.tid));
  }

  /// A row beside the first one of a thread or a stream.
  proto_message further_row(std::uint32_t thread, std::size_t row, std::uint32_t tid) {
    const std::uint64_t first = of_row(places_.pid(), places_.tid(thread));
    proto_message track =
        named(next(row_key(places_.pid(), tid)), numbered_row(name_of_thread(p_, thread), row));
    track.number(5, first);
    return track;
  }
  proto_message further_row(const traced_stream& s, std::size_t row, std::uint32_t tid) {
    return stream(s, numbered_row(name_of_stream(s), row), tid);
  }
  void further_queue(const traced_stream& s, std::size_t row, std::uint32_t tid) {
    add_queue(s, numbered_row(name_of_stream(s), row), tid);
  }
  /// The name of a queue by the number of its row.
  const std::string& queue(std::uint64_t number) const { return queues_.at(number); }
  proto_message further_track(std::string_view name) { return named(++latest_, name); }

  bool is_new_curve(const curve_point& point) const {
    return point.pid != curve_pid_ || point.name != curve_name_ || point.unit != curve_unit_;
  }
  /// Points of a curve come one after the other.
  proto_message curve(const curve_point& point) {
    curve_pid_ = point.pid;
    curve_name_ = point.name;
    curve_unit_ = point.unit;
    proto_message track = named(++latest_, curve_name_ + ' ' + curve_unit_), counter;
    track.number(5, numbers_.at(process_key(point.pid)));
    counter.bytes(6, point.unit);
    track.message(8, counter);
    return track;
  }

  /// The number of a row's track.
  std::uint64_t of_row(std::uint32_t pid, std::uint32_t tid) const {
    return numbers_.at(row_key(pid, tid));
  }
  std::uint64_t latest() const noexcept { return latest_; }

 private:
  struct key_hash {
    std::size_t operator()(std::uint64_t key) const noexcept {
      return static_cast<std::size_t>((key ^ key >> 29U) * 0x9E3779B97F4A7C15U);
    }
  };
  static std::uint64_t row_key(std::uint32_t pid, std::uint32_t tid) noexcept {
    return std::uint64_t{pid} << 32U | tid;
  }
  /// No row has this number: it is above all that threads and streams have.
  static std::uint64_t process_key(std::uint32_t pid) noexcept { return row_key(pid, 0xFFFFFFFFU); }

  std::uint64_t next(std::uint64_t key) { return numbers_[key] = ++latest_; }

  static std::string plain(std::string_view text) {
    std::string out;
    append_trace_text(out, text);
    return out;
  }
  static proto_message named(std::uint64_t number, std::string_view name) {
    proto_message track;
    track.number(1, number);
    track.bytes(2, plain(name));
    return track;
  }

  proto_message program() {
    proto_message track, process;
    track.number(1, next(process_key(places_.pid())));
    process.number(1, places_.pid());
    process.bytes(6, plain(name_of_program(p_)));
    track.message(3, process);
    return track;
  }
  proto_message thread(std::uint32_t index) {
    proto_message track, thread;
    track.number(1, next(row_key(places_.pid(), places_.tid(index))));
    thread.number(1, places_.pid());
    thread.number(2, places_.tid(index));
    thread.bytes(5, plain(name_of_thread(p_, index)));
    track.message(4, thread);
    return track;
  }
  proto_message stream(const traced_stream& s, std::string_view name, std::uint32_t tid) {
    proto_message track = named(next(row_key(s.pid, tid)), name);
    track.number(5, numbers_.at(process_key(s.pid)));
    track.number(12, s.tid);
    return track;
  }

  /// Perfetto 52 draws the queues of all devices in one group.
  void add_queue(const traced_stream& s, const std::string& name, std::uint32_t tid) {
    const std::vector<traced_stream>& all = places_.streams();
    const bool has_several = all.front().device != all.back().device;
    queues_[next(row_key(s.pid, tid))] =
        has_several ? "GPU " + std::to_string(s.device) + ' ' + name : name;
  }

  const profile& p_;
  trace_places& places_;
  bool has_stages_;
  std::unordered_map<std::uint64_t, std::uint64_t, key_hash> numbers_;
  std::unordered_map<std::uint64_t, std::string> queues_;
  std::uint64_t latest_ = 0;
  std::uint32_t curve_pid_ = 0;
  std::string curve_name_, curve_unit_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

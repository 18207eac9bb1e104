// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_ACTIVITY_HPP
#define KPROF_COLLECT_ACTIVITY_HPP

// What passes between a collector and the session: plain records of device work, and the functions
// that a collector calls to report it. Nothing outside collect/ knows CUPTI; another source of
// records is another collector.

#include <kprof/build_options.hpp>
#include <kprof/collect/launching_calls.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

enum class activity_kind : std::uint8_t {
  kernel,
  copy,
  set,
  synchronization,
  event_record,
  overhead,
  odd
};

/// One thing a device did, or a host call that has to do with waiting for it. Times are
/// CLOCK_REALTIME nanoseconds.
struct activity {
  activity_kind kind = activity_kind::odd;
  // of a copy: a copy_direction; of a synchronization: a waiting
  std::uint8_t direction = 0;
  std::uint8_t from = 0;  // of a copy: a memory_place
  std::uint8_t to = 0;    // of a copy or a set: a memory_place
  std::uint32_t device = 0;
  std::uint32_t stream = 0;   // of a synchronization: of_no_stream where it is about none
  std::uint32_t context = 0;  // the collector's number; 0: not known
  std::uint32_t event = 0;    // of a synchronization or an event_record: the event's number
  // of the call that launched it; all activities of a graph have the id of the graph's launch
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;         // before start, or 0: there is no timing
  std::uint64_t graph_node = 0;  // of the executable graph; 0: launched by itself
  std::uint64_t bytes = 0;       // copied or set
  const char* name = nullptr;    // of a kernel, mangled; valid while the record is read
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t static_shared = 0;          // bytes a block
  std::uint32_t dynamic_shared = 0;         // bytes a block
  std::uint32_t registers = 0;              // a thread
  std::uint32_t multiprocessor_shared = 0;  // bytes that it has for all its blocks; 0: not known
  std::uint8_t cluster[3] = {};             // blocks; 0: there are no clusters
  bool cooperative = false;

  static constexpr std::uint32_t of_no_stream = ~std::uint32_t{0};

  bool timed() const noexcept { return start != 0 && end >= start; }
};

/// What a synchronization waits for.
enum class waiting : std::uint8_t { unknown, event, stream_for_event, stream, context };

/// A device as its driver describes it.
struct device_description {
  std::uint32_t id = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_per_s = 0;
  std::uint64_t clock_hz = 0;
  std::uint64_t l2_bytes = 0;
  std::uint8_t uuid[16] = {};
  const char* name = nullptr;
};

/// A function of the device's library that programs call.
struct function_description {
  std::string_view name;   // without a version
  std::uint8_t kind = 0;   // a call_kind
  std::uint8_t waits = 0;  // an awaited
  bool blocks = false;     // it may return only once something else has happened
};

/// What a call launches.
enum class launch_kind : std::uint8_t { kernel, transfer, graph };

/// A call of the device's library that has ended. It may have several correlation ids: its own and
/// those of the calls that it made.
struct observed_call {
  // set in `function` where calls of it block
  static constexpr std::uint16_t blocks = 0x8000;

  const std::uint32_t* ids;
  std::uint32_t count;
  std::uint64_t began;         // by device_listener::now
  std::uint64_t ended;         // the same; where the function is not known, of no meaning
  std::uint16_t function = 0;  // its number; 0: not known
};

/// What a collector could not pass on.
enum class loss : std::uint8_t {
  records,          // dropped
  cut_buffers,      // of records, each from the middle on
  foreign_buffers,  // of records, which another client of the same source asked for
  launch_ids,       // of launches with very many
};

/// What a collector calls. The first group is called on the program's own threads, from within its
/// CUDA calls; the second on the thread that reads records, one thread at a time.
struct device_listener {
  std::uint64_t (*now)() noexcept;  // a time stamp for observed_call
  /// A call that launches work has succeeded.
  void (*launched)(const observed_call& call, launch_kind what) noexcept;
  /// Another call has ended, or one that launched nothing.
  void (*called)(const observed_call& call) noexcept;
  /// kprof itself has launched work, to measure a device: no part of the profile.
  void (*launched_by_kprof)(const observed_call& call) noexcept;
  // in a graph that is being built or captured
  void (*graph_node_made)(std::uint64_t node, bool does_work) noexcept;
  /// A graph, or the launch of one, became part of another graph, by copying its nodes.
  void (*graph_captured)() noexcept;
  void (*graph_node_copied)(std::uint64_t node, std::uint64_t original) noexcept;
  /// The copy got another number: it is the executable graph's own from now on.
  void (*graph_node_moved)(std::uint64_t node, std::uint64_t before) noexcept;
  /// A node of an executable graph runs what `original` does, from the next launch on.
  void (*graph_node_updated)(std::uint64_t node, std::uint64_t original) noexcept;
  /// The program set the parameters of a node of the executable graph, by the node that it is a
  /// copy of. False where it stays the work of the call that it was.
  bool (*graph_node_set)(std::uint32_t exec, std::uint64_t original) noexcept;
  void (*graph_node_destroyed)(std::uint64_t node) noexcept;
  void (*context_made)() noexcept;  // the program begins to use a device

  void (*begin_reading)() noexcept;
  void (*read)(const activity* some, std::size_t count) noexcept;
  void (*describe)(const device_description& device) noexcept;
  void (*lost)(loss what, std::uint64_t how_many) noexcept;
  void (*end_reading)() noexcept;
};

/// A source of activities. The caller lets no two of these functions run at once, but for
/// version(), notes(), memory(), function() and launching().
struct collector_api {
  /// Begins to collect, with `memory` bytes for records that have not been read. `calls`: also
  /// which functions the program calls, for how long. A failure is final.
  status (*start)(const device_listener& listener, std::size_t memory, bool calls);
  /// Reads the records of all work launched so far, waiting for the devices. False where it could
  /// not wait, so that some may be missing.
  bool (*flush)();
  bool (*stop)();              // the same, and ends collecting
  bool (*end)();               // as stop, and for good: the program ends
  void (*abandon)() noexcept;  // in the child of a fork, where no device can be used
  std::string (*version)();
  std::vector<std::string> (*notes)();  // what a report should say of the collector, a line each
  std::size_t (*memory)() noexcept;
  function_description (*function)(std::uint16_t number) noexcept;
  bool (*captures)() noexcept;  // a stream is being captured
  /// Calls that launch work and have not yet been told to the listener.
  calls_under_way (*launching)() noexcept;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

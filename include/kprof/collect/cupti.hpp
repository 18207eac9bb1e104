// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_HPP
#define KPROF_COLLECT_CUPTI_HPP

// The collector of NVIDIA GPUs: subscribes to CUPTI, tells the session which CUDA call launches
// what, and reads the records of what the devices did. It makes no CUPTI call once one has said
// that there is no driver, no permission or another client.
//
// CUPTI's callbacks come on the program's threads and may hold CUPTI's locks: in them kprof takes
// only locks under which it never calls CUPTI, and queues. Records are read on a thread of kprof's
// own, or by whoever asks for all of them.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/buffer_pool.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/cupti_calls.hpp>
#include <kprof/collect/cupti_library.hpp>
#include <kprof/collect/cupti_records.hpp>
#include <kprof/collect/device_wait.hpp>
#include <kprof/status.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// One a process, of the binary that owns the session; never freed, since CUPTI may call it until
/// the process ends.
class KPROF_DETAIL_LOCAL cupti_collector {
 public:
  /// The one there is, made by the first call, which must give a listener.
  static cupti_collector& get(const device_listener* tell = nullptr) {
    if (own_collector == nullptr) own_collector = new cupti_collector(*tell);
    return *own_collector;
  }
  explicit cupti_collector(const device_listener& tell) : tell_(tell) {}
  cupti_collector(const cupti_collector&) = delete;
  cupti_collector& operator=(const cupti_collector&) = delete;

  /// Begins to collect, with buffers of `memory` bytes in all. What is wrong is for good: it is not
  /// tried again. Opens libraries: without a lock that a static constructor might want.
  status start(std::size_t memory) {
    if (collecting_ || ended_) return {};
    if (failed_) return failure_;
    pool_.set_limit(memory);
    if (f_.subscribe == nullptr)
      if (status s = cupti::open_library(f_); !s) return fail(std::move(s.message));
    static_cast<void>(f_.get_version(&version_));
    cupti::subscriber who = nullptr;
    if (const cupti::result r = f_.subscribe(&who, &callback, this); r != cupti::success)
      return fail(refusal(r));
    subscriber_ = who;
    __atomic_fetch_add(&round_, 1, __ATOMIC_RELAXED);
    if (status s = enable(); !s) {
      static_cast<void>(f_.unsubscribe(subscriber_));
      return fail(std::move(s.message));
    }
    if (!reader_started_) reader_started_ = start_reader();
    __atomic_store_n(&collecting_, true, __ATOMIC_RELEASE);
    return {};
  }

  /// Reads the records of all that has been launched so far, waiting for the devices.
  void flush() {
    if (!collecting_) return;
    wait_.for_all_devices();
    flush_finished();
  }

  /// Ends collecting, so that others may have CUPTI. What still runs is recorded without its end.
  void stop() {
    if (!collecting_) return;
    flush();
    leave();
  }
  /// As stop(), and nothing is ever collected again: CUDA is about to go. Work that does not end is
  /// not waited for.
  void end() {
    if (collecting_) {
      if (wait_.for_all_devices_within(5000)) flush_finished();
      leave();
    }
    ended_ = true;
  }
  /// In the child of a fork, where neither CUDA nor CUPTI may be called.
  static void abandon() noexcept {
    if (own_collector == nullptr) return;
    own_collector->collecting_ = false;
    own_collector->ended_ = true;
  }

  /// "CUPTI 13.0 (API 130001)", once it is known.
  std::string version() const {
    const auto api = " (API " + std::to_string(version_) + ")";
    if (version_ < cupti::version_13) {
      const bool updated = __atomic_load_n(&graphs_updated_, __ATOMIC_RELAXED);
      return "CUPTI 12 or older" + api +
             (updated ? "; it does not tell of updated graphs, whose work stays under the scopes "
                        "of their first capture: use CUPTI 13"
                      : "");
    }
    return "CUPTI " + std::to_string(version_ / 10000) + '.' +
           std::to_string(version_ / 100 % 100) + api;
  }
  std::size_t memory() noexcept { return pool_.bytes_held(); }

 private:
  static constexpr std::uint32_t kinds[] = {cupti::kind_device,  cupti::kind_concurrent_kernel,
                                            cupti::kind_memcpy,  cupti::kind_memcpy_peer,
                                            cupti::kind_memset,  cupti::kind_synchronization,
                                            cupti::kind_overhead};
  static constexpr std::uint32_t resources[] = {
      cupti::context_created,    cupti::context_destroy_starting,    cupti::stream_destroy_starting,
      cupti::graph_node_created, cupti::graph_node_destroy_starting, cupti::graph_node_cloned,
      cupti::graph_node_updated};

  void flush_finished() {
    static_cast<void>(f_.flush_all(0));
    read_all();
    look_after();
  }
  void leave() {
    {
      const std::lock_guard lock(calling_);  // the reader makes no call from here on
      __atomic_store_n(&collecting_, false, __ATOMIC_RELEASE);
      for (const std::uint32_t kind : kinds) static_cast<void>(f_.disable(kind));
      if (api_records_) disable_api_records();
      static_cast<void>(f_.flush_all(cupti::flush_forced));
      count_dropped();
      static_cast<void>(f_.unsubscribe(subscriber_));
      subscriber_ = nullptr;
      wait_.forget_contexts();  // whether they live is not told any more
    }
    read_all();
  }

  // ---- begin and end

  status fail(std::string why) {
    failed_ = true;
    failure_ = {std::move(why)};
    return failure_;
  }

  std::string text_of(cupti::result r) const {
    const char* text = nullptr;
    if (f_.get_result_string(r, &text) != cupti::success || text == nullptr)
      return "error " + std::to_string(r);
    return std::string{text} + ", " + std::to_string(r);
  }

  /// Why cuptiSubscribe said no, and what to do.
  std::string refusal(cupti::result r) const {
    const std::string said = " (" + text_of(r) + ")";
    switch (r) {
      case cupti::multiple_subscribers:
        return "another CUPTI client has the GPU's records" + holder() + said +
               "; run without Nsight, cuda-gdb, compute-sanitizer or another "
               "profiler to have them here, or set KPROF=cupti=off";
      case cupti::insufficient_privileges:
      case cupti::virtual_privileges:
        return "no permission to profile" + said +
               "; run as root, or load the NVIDIA driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
      case cupti::unknown_error:
        return "CUPTI finds no NVIDIA driver" + said +
               "; run where nvidia-smi lists a GPU, with a driver no older than libcupti";
      case cupti::not_initialized:
        return "CUPTI finds no GPU that the program may use" + said +
               "; look at CUDA_VISIBLE_DEVICES, and in a container at --gpus all";
      default:
        return "CUPTI refuses" + said +
               "; use the libcupti of the CUDA Toolkit that the program is built with "
               "(KPROF_CUPTI)";
    }
  }
  /// The name of who has subscribed, where CUPTI can tell.
  std::string holder() const {
    if (f_.subscribe_v2 == nullptr) return {};
    char name[256] = "";
    cupti::subscriber_params params{sizeof params, "kprof", name, sizeof name};
    cupti::subscriber who = nullptr;
    // it has just left
    if (f_.subscribe_v2(&who, &callback, nullptr, &params) == cupti::success)
      static_cast<void>(f_.unsubscribe(who));
    name[sizeof name - 1] = '\0';
    return *name == '\0' ? "" : ": " + std::string{name};
  }

  status enable() {
    if (const cupti::result r = f_.register_buffers(&requested, &completed); r != cupti::success)
      return {refusal(r)};
    for (const std::uint32_t id : resources)
      static_cast<void>(f_.enable_callback(1, subscriber_, cupti::resource, id));
    runtime_.fill(f_, cupti::runtime_api);
    driver_.fill(f_, cupti::driver_api);
    runtime_.each([&](std::uint32_t id) {
      static_cast<void>(f_.enable_callback(1, subscriber_, cupti::runtime_api, id));
    });
    driver_.each([&](std::uint32_t id) {
      static_cast<void>(f_.enable_callback(1, subscriber_, cupti::driver_api, id));
    });
    // Last: a record whose launch was not seen would be of unknown launch.
    for (const std::uint32_t kind : kinds) {
      const cupti::result r = f_.enable(kind);
      if (r == cupti::success || kind == cupti::kind_device ||
          kind == cupti::kind_synchronization || kind == cupti::kind_overhead)
        continue;
      for (const std::uint32_t enabled : kinds) {
        if (enabled == kind) break;
        static_cast<void>(f_.disable(enabled));
      }
      return {refusal(r)};
    }
    return {};
  }

  // CUPTI documents correlation ids only for when records of API calls are on as well. They cost a
  // record a call, and in practice the ids come with the callbacks alone: the records are turned on
  // only once an id is found missing.
  void enable_api_records() {
    if (!__atomic_load_n(&ids_missing_, __ATOMIC_RELAXED) || api_records_) return;
    api_records_ = true;
    const auto on = [&](const cupti::call_table& calls, auto enable_one, std::uint32_t kind) {
      if (enable_one == nullptr) static_cast<void>(f_.enable(kind));
      else calls.each([&](std::uint32_t id) { static_cast<void>(enable_one(id, 1)); });
    };
    on(runtime_, f_.enable_runtime_api, cupti::kind_runtime);
    on(driver_, f_.enable_driver_api, cupti::kind_driver);
  }
  void disable_api_records() {
    static_cast<void>(f_.disable(cupti::kind_runtime));
    static_cast<void>(f_.disable(cupti::kind_driver));
    api_records_ = false;
  }

  // ---- what CUPTI calls

  static void callback(void* self, std::uint32_t domain, std::uint32_t id, const void* data) {
    auto* const c = static_cast<cupti_collector*>(self);
    if (c == nullptr) return;
    if (domain == cupti::runtime_api) c->api_call(c->runtime_[id], data);
    else if (domain == cupti::driver_api) c->api_call(c->driver_[id], data);
    else if (domain == cupti::resource) c->resource(id, data);
  }

  void api_call(cupti::call what, const void* data) noexcept {
    namespace at = cupti::callback_data;
    cupti::call_state& s = cupti::this_call;
    s.enter_round(__atomic_load_n(&round_, __ATOMIC_RELAXED));
    const bool enters = cupti::field<std::uint32_t>(data, at::site) == cupti::api_enter;
    const auto leaves = [enters](std::uint32_t& depth) {
      return enters ? (++depth, false) : depth != 0 && --depth == 0;
    };
    switch (what) {
      case cupti::call::launch:
        if (enters) {
          if (s.launching == 0) s.count = 0, s.captured = false, s.when = tell_.now();
          s.add(cupti::field<std::uint32_t>(data, at::correlation));
          note_context(s, cupti::field<void*>(data, at::context));
        }
        if (leaves(s.launching) && worked(data)) launched(s);
        break;
      case cupti::call::begin_capture:
        if (enters && s.capturing == 0) wait_.begin_capture(stream_of(data));
        if (leaves(s.capturing) && !worked(data)) wait_.end_capture(stream_of(data));
        break;
      case cupti::call::end_capture:
        if (leaves(s.capturing)) wait_.end_capture(stream_of(data));
        break;
      case cupti::call::update_graph:
        if (!enters && worked(data)) __atomic_store_n(&graphs_updated_, true, __ATOMIC_RELAXED);
        break;
      case cupti::call::copy_graph: static_cast<void>(leaves(s.copying)); break;
      case cupti::call::other: break;
    }
  }
  /// Contexts that are older than the subscription are known by what is launched in them.
  void note_context(cupti::call_state& s, void* context) noexcept {
    if (context != s.context && context != nullptr) wait_.add(context);
    s.context = context;
  }
  /// The first parameter of all calls that begin or end a capture.
  static void* stream_of(const void* data) noexcept {
    const void* const params = cupti::field<const void*>(data, cupti::callback_data::params);
    return params == nullptr ? nullptr : cupti::field<void*>(params, 0);
  }
  static bool worked(const void* data) noexcept {
    const void* const result = cupti::field<const void*>(data, cupti::callback_data::return_value);
    return result == nullptr || cupti::field<int>(result, 0) == 0;  // cudaSuccess and CUDA_SUCCESS
  }
  void launched(const cupti::call_state& s) noexcept {
    if (!s.captured) tell_.launched(s.ids, s.count, s.when);
    for (int i = 0; i < 1000 && pool_.filling_up(); ++i) help();
  }

  void resource(std::uint32_t id, const void* data) noexcept {
    if (id == cupti::context_created) {
      wait_.add(cupti::field<void*>(data, cupti::resource_data::context));
      return tell_.context_made();
    }
    if (id == cupti::stream_destroy_starting)
      return wait_.end_capture(cupti::field<void*>(data, cupti::resource_data::stream));
    if (id == cupti::context_destroy_starting)
      return wait_.remove(cupti::field<void*>(data, cupti::resource_data::context));
    const void* const graph = cupti::field<const void*>(data, cupti::resource_data::descriptor);
    std::uint64_t node = 0, original = 0;
    if (graph == nullptr || !node_id(graph, cupti::graph_data::node, node)) return;
    switch (id) {
      case cupti::graph_node_created: {
        cupti::call_state& s = cupti::this_call;
        s.enter_round(__atomic_load_n(&round_, __ATOMIC_RELAXED));
        if (s.launching != 0) s.captured = true;
        if (s.copying == 0)
          tell_.graph_node_made(node,
                                cupti::field<std::uint32_t>(graph, cupti::graph_data::node_type) <=
                                    cupti::node_memset);
        break;
      }
      case cupti::graph_node_cloned:
      case cupti::graph_node_updated:
        if (node_id(graph, cupti::graph_data::original_node, original))
          tell_.graph_node_copied(node, original);
        break;
      case cupti::graph_node_destroy_starting: tell_.graph_node_gone(node); break;
      default: break;
    }
  }
  bool node_id(const void* graph, std::size_t offset, std::uint64_t& id) const noexcept {
    void* const node = cupti::field<void*>(graph, offset);
    return node != nullptr && f_.graph_node_id(node, &id) == cupti::success;
  }

  static void requested(std::uint8_t** records, std::size_t* size, std::size_t* max_records) {
    cupti_collector& c = *own_collector;
    cupti::buffer* b = c.pool_.take();
    for (int i = 0; b == nullptr && i < 1000 && c.pool_.will_have_one(); ++i) {
      c.help();
      b = c.pool_.take();
    }
    if (b == nullptr && c.version_ < cupti::version_buffers_may_be_refused)
      b = c.pool_.take_spare();
    *records = b == nullptr ? nullptr : b->records();
    *size = b == nullptr ? 0 : b->size;
    *max_records = 0;
  }
  static void completed(void*, std::uint32_t, std::uint8_t* records, std::size_t,
                        std::size_t valid) {
    cupti_collector& c = *own_collector;
    cupti::buffer* const b = c.pool_.find(records);
    if (b == nullptr) return;
    b->filled = valid;
    c.pool_.queue(b);
    // the reader is either before its look at the queue or waiting to be woken
    { const std::lock_guard lock(c.waiting_); }
    c.wake_.notify_one();
  }

  // ---- reading

  /// All that is queued. One thread at a time: an activity's names and a buffer's rest belong to
  /// CUPTI.
  void read_all() {
    const std::lock_guard lock(reading_);
    while (read_one()) {}
  }
  /// What is to be asked of CUPTI once records have been read, while it may be called.
  void look_after() {
    const std::lock_guard lock(calling_);
    if (!collecting_) return;
    count_dropped();
    enable_api_records();
  }
  /// What CUPTI dropped since it was asked last.
  void count_dropped() {
    std::size_t dropped = 0;
    if (f_.dropped_records(nullptr, 0, &dropped) == cupti::success && dropped != 0)
      tell_.dropped(dropped);
  }
  bool read_one() {
    cupti::buffer* const b = pool_.next();
    if (b == nullptr) return false;
    tell_.begin_reading();
    read(*b);
    pool_.give_back(b);
    tell_.end_reading();
    return true;
  }
  void read(cupti::buffer& b) {
    constexpr std::size_t batch = 64;
    activity some[batch];
    std::size_t count = 0;
    std::uint64_t lost = 0;
    void* record = nullptr;
    while (b.filled != 0 && f_.next_record(b.records(), b.filled, &record) == cupti::success) {
      if (cupti::kind_of(record) == cupti::kind_device) tell_.describe(cupti::read_device(record));
      if (!cupti::read(record, some[count])) continue;
      if (b.spare) {
        ++lost;
        continue;
      }
      const activity& a = some[count];
      if (a.correlation == 0 && a.kind <= activity_kind::set)
        __atomic_store_n(&ids_missing_, true, __ATOMIC_RELAXED);
      if (++count == batch) tell_.read(some, std::exchange(count, 0));
    }
    if (count != 0) tell_.read(some, count);
    if (lost != 0) tell_.dropped(lost);
  }

  /// Where records come faster than the reader reads them, who brings more reads too: rather late
  /// than lost. Reading needs nothing of CUPTI's that another thread might hold; even so, callers
  /// do not try for ever.
  void help() noexcept {
    if (reading_.try_lock()) {
      read_one();
      reading_.unlock();
    } else {
      usleep(20);
    }
  }

  bool start_reader() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's
    pthread_t thread;
    const bool started = pthread_create(
                             &thread, nullptr,
                             [](void* self) -> void* {
                               static_cast<cupti_collector*>(self)->read_for_ever();
                               return nullptr;
                             },
                             this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) pthread_detach(thread);
    return started;  // if not, launching threads and whoever asks for a profile do the reading
  }
  void read_for_ever() {
    for (;;) {
      {
        std::unique_lock lock(waiting_);
        wake_.wait(lock, [this] { return pool_.any_queued(); });
      }
      read_all();
      look_after();
    }
  }

  static cupti_collector* own_collector;  // CUPTI's buffer callbacks carry no pointer of kprof's

  const device_listener tell_;
  cupti::functions f_{};
  cupti::subscriber subscriber_ = nullptr;
  cupti::call_table runtime_, driver_;
  cupti::buffer_pool pool_;
  cupti::device_wait wait_;
  std::uint32_t version_ = 0;
  std::uint32_t round_ = 0;  // how often collecting has begun
  bool collecting_ = false;
  bool ended_ = false;
  bool failed_ = false;
  status failure_;
  bool ids_missing_ = false;  // a record of the device had no correlation id
  bool api_records_ = false;
  bool graphs_updated_ = false;
  std::mutex reading_;
  std::mutex calling_;  // CUPTI, by the reader or to leave; callbacks do not take it
  bool reader_started_ = false;
  std::mutex waiting_;  // held only to look whether there is something to read
  std::condition_variable wake_;
};
KPROF_DETAIL_LOCAL inline constinit cupti_collector* cupti_collector::own_collector = nullptr;

/// This binary's collector, as the session uses it.
KPROF_DETAIL_LOCAL inline const collector_api& cupti_api() noexcept {
  static constexpr collector_api table{
      [](const device_listener& tell, std::size_t memory) {
        return cupti_collector::get(&tell).start(memory);
      },
      [] { cupti_collector::get().flush(); },
      [] { cupti_collector::get().stop(); },
      [] { cupti_collector::get().end(); },
      &cupti_collector::abandon,
      [] { return cupti_collector::get().version(); },
      []() noexcept { return cupti_collector::get().memory(); },
  };
  return table;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_HPP
#define KPROF_COLLECT_CUPTI_HPP

// The collector of NVIDIA GPUs: starts and stops CUPTI. cupti_callbacks.hpp tells the session which
// CUDA call launches what, cupti_reader.hpp reads what the devices did. The collector makes no
// CUPTI call once one has said that there is no driver, no permission or another client,
// by both sets of its calls.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cuda_driver.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/cupti_callbacks.hpp>
#include <kprof/collect/cupti_calls.hpp>
#include <kprof/collect/cupti_client.hpp>
#include <kprof/collect/cupti_clock.hpp>
#include <kprof/collect/cupti_defects.hpp>
#include <kprof/collect/cupti_failures.hpp>
#include <kprof/collect/cupti_library.hpp>
#include <kprof/collect/cupti_reader.hpp>
#include <kprof/collect/cupti_refusal.hpp>
#include <kprof/collect/describe_devices.hpp>
#include <kprof/collect/device_wait.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// One a process, in the owner of the session; never freed, since CUPTI may call it until the
/// process ends. As collector_api says, start(), flush(), stop() and end() do not run at once.
class KPROF_DETAIL_LOCAL cupti_collector {
 public:
  /// The collector, made by the first call, which must give a listener.
  static cupti_collector& get(const device_listener* listener = nullptr) {
    if (own_collector == nullptr) own_collector = new cupti_collector(*listener);
    return *own_collector;
  }
  explicit cupti_collector(const device_listener& listener) : listener_(listener) {}
  cupti_collector(const cupti_collector&) = delete;
  cupti_collector& operator=(const cupti_collector&) = delete;

  /// Begins to collect, with buffers of `memory` bytes in all; `calls`: and which functions the
  /// program calls. A failure is final: further calls
  /// return it again. Opens libraries, so the caller holds no lock that a static constructor might
  /// want.
  [[gnu::cold]] status start(std::size_t memory, bool calls) {
    if (collecting_ || ended_) return {};
    if (!failure_.ok()) return failure_;
    if (!attempt([&] { failure_ = subscribe(memory, calls); })) {
      if (client_.handle() != nullptr) end_subscription();
      return {out_of_memory};  // not final: there may be memory later
    }
    if (!failure_.ok()) return failure_;
    reader_.start_thread(
        [](void* self) {
          static_cast<void>(static_cast<cupti_collector*>(self)->query_after_reading());
        },
        this);
    collecting_ = true;
    return {};
  }

  /// Reads the records of all work launched so far, waiting for the devices; false where that was
  /// not possible.
  bool flush() {
    if (!collecting_) return false;
    const bool waited = wait_.for_all_devices();
    return flush_finished() && waited;
  }

  /// Ends collecting, so that another client may use CUPTI. Work that still runs is recorded
  /// without its end.
  [[gnu::cold]] bool stop() {
    if (!collecting_) return false;
    const bool all = flush();
    unsubscribe(false);
    return all;
  }
  /// As stop(), and nothing is ever collected again: CUDA is about to shut down. Waits 5 s at most
  /// for the devices.
  [[gnu::cold]] bool end() {
    bool all = false;
    if (collecting_) {
      all = wait_.for_all_devices_within(5000) && flush_finished();
      unsubscribe(true);
    }
    ended_ = true;
    return all;
  }
  /// In the child of a fork, where neither CUDA nor CUPTI may be called.
  static void abandon() noexcept {
    if (own_collector == nullptr) return;
    own_collector->listening_ = false;
    own_collector->collecting_ = false;
    own_collector->ended_ = true;
  }

  /// "CUPTI 13.0 (API 130001)", once it is known.
  [[gnu::cold]] std::string version() const {
    const std::uint32_t version = version_;
    const auto api = " (API " + std::to_string(version) + ")";
    if (version >= cupti::version_13)
      return "CUPTI " + std::to_string(version / 10000) + '.' +
             std::to_string(version / 100 % 100) + api;
    return "CUPTI 12 or older" + api;
  }
  /// What the report should say of CUPTI besides, a line each.
  [[gnu::cold]] std::vector<std::string> notes() const {
    std::vector<std::string> out = cupti::known_defects(version_, callbacks_.use());
    for (std::string& note : failed_.notes(f_)) out.push_back(std::move(note));
    if (wait_.lacked_contexts())
      out.push_back(
          "there was no memory to remember a CUDA context: kprof does not wait for the work in it, "
          "whose records may be missing");
    return out;
  }
  std::size_t memory() noexcept { return reader_.memory(); }
  bool captures() noexcept { return wait_.capturing().any(); }
  calls_under_way launching() const noexcept { return callbacks_.launching(); }
  function_description function(std::uint16_t number) const noexcept {
    return callbacks_.function(number);
  }

 private:
  static constexpr std::uint32_t kinds[] = {cupti::kind_concurrent_kernel,
                                            cupti::kind_memcpy,
                                            cupti::kind_memcpy_peer,
                                            cupti::kind_memset,
                                            cupti::kind_synchronization,
                                            cupti::kind_overhead,
                                            cupti::kind_event};

  [[gnu::cold]] status subscribe(std::size_t memory, bool calls) {
    reader_.set_limit(memory);
    // First: what CUPTI's library does while it is loaded is in vain where no driver works.
    if (status s = cupti::initialize_driver(); !s) return s;
    driver_.find_them();
    if (f_.subscribe == nullptr)
      if (status s = cupti::open_library(f_); !s) return s;
    std::uint32_t version = 0;
    if (const cupti::result r = f_.get_version(&version); r != cupti::success) return {refusal(r)};
    version_ = version;
    failed_.note(cupti::failing::time, clock_.measure(f_));
    bool was_beside_others = false;
    status s = subscribe_and_enable(false, calls, was_beside_others);
    // A driver may know the second set of calls and refuse what it asks for.
    if (!s && was_beside_others && client_.handle() == nullptr) {
      failed_.forget(cupti::failing::callbacks);
      s = subscribe_and_enable(true, calls, was_beside_others);
    }
    return s;
  }
  [[gnu::cold]] status subscribe_and_enable(bool alone, bool calls, bool& is_beside_others) {
    const cupti::client::callbacks to{&callback,  this,          &requested,
                                      &completed, &requested_v2, &completed_v2};
    const cupti::result r =
        reader_.while_none_reads([&] { return client_.subscribe(to, version_, alone); });
    is_beside_others = client_.is_beside_others();
    if (r != cupti::success) {
      if (client_.handle() != nullptr) end_subscription();
      return {refusal(r)};
    }
    listening_ = true;
    status s = enable(calls);
    if (!s) reader_.read_all(), end_subscription();
    return s;
  }
  [[gnu::cold]] void end_subscription() {
    listening_ = false;
    failed_.forget(cupti::failing::the_end);
    failed_.note(cupti::failing::the_end,
                 reader_.while_none_reads([&] { return client_.unsubscribe(); }));
  }
  [[gnu::cold]] status enable(bool calls) {
    if (const cupti::result r = callbacks_.enable(client_.handle(), calls); r != cupti::success)
      return {refusal(r)};
    // Last: a record whose launch was not seen would be of unknown launch.
    for (const std::uint32_t kind : kinds) {
      if (kind == cupti::kind_event && !calls) continue;
      const cupti::result r = client_.enable(kind);
      if (r == cupti::success || kind == cupti::kind_event || kind == cupti::kind_synchronization ||
          kind == cupti::kind_overhead)
        continue;
      for (const std::uint32_t enabled : kinds) {
        if (enabled == kind) break;
        static_cast<void>(client_.disable(enabled));
      }
      return {refusal(r)};
    }
    return {};
  }
  std::string refusal(cupti::result r) const { return cupti::refusal(r, f_, &callback); }

  /// `ends`: with the process.
  [[gnu::cold]] void unsubscribe(bool ends) {
    {
      const std::lock_guard lock(calling_);
      collecting_ = false;  // the reader's thread makes no call from here on
      for (const std::uint32_t kind : kinds)
        if (!ends || !cupti::may_hang_when_disabling(version_))
          static_cast<void>(client_.disable(kind));
      if (api_records_) disable_api_records();
      // A flush is for all clients of CUPTI: another one's unfinished records must stay its own.
      static_cast<void>(f_.flush_all(client_.is_beside_others() ? 0 : cupti::flush_forced));
      reader_.read_all();  // as a subscriber
      static_cast<void>(count_losses());
      end_subscription();
      wait_.forget_all();  // CUPTI no longer tells of their ends
    }
    reader_.read_all();
  }

  /// Reads the records of finished work; false where CUPTI would not give them.
  bool flush_finished() {
    const bool flushed = f_.flush_all(0) == cupti::success;
    reader_.read_all();
    return query_after_reading() && flushed;
  }
  /// What CUPTI and the driver are asked after records were read. False where CUPTI would not say
  /// what it dropped.
  bool query_after_reading() {
    const std::lock_guard lock(calling_);
    if (!collecting_) return true;
    failed_.note(cupti::failing::time, clock_.measure(f_));
    if (!described_) {
      const cupti::own_calls no_program;
      described_ = cupti::describe_devices(driver_, listener_);
    }
    const bool are_known = count_losses();
    if (reader_.ids_are_missing() && !api_records_) enable_api_records();
    return are_known;
  }
  /// Counts what was lost since the last call; false where CUPTI would not say it all.
  bool count_losses() {
    std::size_t dropped = 0;
    const cupti::result r = client_.take_dropped(dropped);
    failed_.note(cupti::failing::dropped_records, r);
    count(loss::records, dropped);
    count(loss::foreign_buffers, reader_.take_foreign_buffers());
    count(loss::launch_ids, callbacks_.take_ids_lost());
    return r == cupti::success;
  }
  void count(loss what, std::uint64_t how_many) {
    if (how_many != 0) listener_.lost(what, how_many);
  }

  // CUPTI documents correlation ids only for when records of API calls are enabled as well. Those
  // cost a record a call, and in practice the ids come with the callbacks alone. So the records are
  // enabled only once a record of device work came without an id.
  [[gnu::cold]] void enable_api_records() {
    api_records_ = true;
    const auto on = [&](const cupti::call_table& calls, std::uint32_t kind) {
      bool one_by_one = true;
      calls.each(
          [&](std::uint32_t id) { one_by_one = one_by_one && client_.enable_api_call(kind, id); });
      if (!one_by_one) static_cast<void>(client_.enable(kind));
    };
    on(callbacks_.runtime_calls(), cupti::kind_runtime);
    on(callbacks_.driver_calls(), cupti::kind_driver);
  }
  [[gnu::cold]] void disable_api_records() {
    static_cast<void>(client_.disable(cupti::kind_runtime));
    static_cast<void>(client_.disable(cupti::kind_driver));
    api_records_ = false;
  }

  // ---- what CUPTI calls

  static void callback(void* self, std::uint32_t domain, std::uint32_t id, const void* data) {
    auto* const its = static_cast<cupti_collector*>(self);
    if (its != nullptr && its->listening_.load(std::memory_order_relaxed))
      its->callbacks_.handle(domain, id, data);
  }
  static void requested(std::uint8_t** records, std::size_t* size, std::size_t* max_records) {
    const bool needs_one = own_collector->version_ < cupti::version_buffers_may_be_refused;
    cupti::buffer* const b = own_collector->reader_.take_empty(needs_one);
    *records = b == nullptr ? nullptr : b->records();
    *size = b == nullptr ? 0 : b->size;
    *max_records = 0;
  }
  static void completed(void*, std::uint32_t, std::uint8_t* records, std::size_t,
                        std::size_t filled) {
    own_collector->reader_.queue(records, filled);
  }

  static void requested_v2(std::uint8_t** records, std::size_t* size, std::size_t* max_records,
                           void*) {
    requested(records, size, max_records);
  }
  static void completed_v2(std::uint8_t* records, std::size_t size, std::size_t filled, void*) {
    completed(nullptr, 0, records, size, filled);
  }

  static cupti_collector* own_collector;  // CUPTI's buffer callbacks carry no pointer of kprof's

  const device_listener listener_;
  cupti::functions f_{};
  cupti::device_functions driver_;
  cupti::device_wait wait_;
  cupti::clock_offset clock_;
  cupti::client client_{f_};
  cupti::record_reader reader_{listener_, client_, clock_};
  cupti::failures failed_;
  cupti::callback_handler callbacks_{listener_, f_, wait_, reader_, failed_};
  std::atomic<std::uint32_t> version_{0};
  std::mutex calling_;  // held to call CUPTI after reading or to unsubscribe; not by callbacks
  std::atomic<bool> listening_{false};  // to callbacks
  std::atomic<bool> collecting_{false};
  std::atomic<bool> ended_{false};
  status failure_;
  // guarded by calling_
  bool api_records_ = false;
  bool described_ = false;  // the devices
};
KPROF_DETAIL_LOCAL inline constinit cupti_collector* cupti_collector::own_collector = nullptr;

/// This module's collector, as the session uses it.
KPROF_DETAIL_LOCAL inline const collector_api& cupti_api() noexcept {
  static constexpr collector_api table{
      [](const device_listener& listener, std::size_t memory, bool calls) {
        return cupti_collector::get(&listener).start(memory, calls);
      },
      [] { return cupti_collector::get().flush(); },
      [] { return cupti_collector::get().stop(); },
      [] { return cupti_collector::get().end(); },
      &cupti_collector::abandon,
      [] { return cupti_collector::get().version(); },
      [] { return cupti_collector::get().notes(); },
      []() noexcept { return cupti_collector::get().memory(); },
      [](std::uint16_t number) noexcept { return cupti_collector::get().function(number); },
      []() noexcept { return cupti_collector::get().captures(); },
      []() noexcept { return cupti_collector::get().launching(); },
  };
  return table;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

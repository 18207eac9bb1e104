// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_CLIENT_HPP
#define KPROF_COLLECT_CUPTI_CLIENT_HPP

// kprof as a client of CUPTI, by one of two sets of calls. From CUPTI 13.3 on, clients that all use
// the second set can work beside each other; where that is refused, as by an older driver or beside
// a client of the first set, kprof asks to be the only one.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class client {
 public:
  explicit client(const functions& f) : f_(f) {}

  /// What a subscription has CUPTI call.
  struct callbacks {
    callback_function event;
    void* user;
    buffer_requested requested;
    buffer_completed completed;
    buffer_requested_v2 requested_v2;
    buffer_completed_v2 completed_v2;
  };

  /// `version`: of CUPTI. Goes on with an earlier subscription that could not be ended. `alone`: by
  /// the first set of calls.
  result subscribe(const callbacks& to, std::uint32_t version, bool alone) noexcept {
    if (who_ == nullptr && (alone || !subscribe_beside_others(to, version)))
      if (const result r = f_.subscribe(&who_, to.event, to.user); r != success) return r;
    return beside_others_ ? f_.register_buffers_v2(who_, to.requested_v2, to.completed_v2)
                          : f_.register_buffers(to.requested, to.completed);
  }
  result unsubscribe() noexcept {
    const result r = f_.unsubscribe(who_);
    if (r != success) return r;
    who_ = nullptr;
    beside_others_ = false;
    return success;
  }
  subscriber handle() const noexcept { return who_; }
  /// Whether other tools can use CUPTI at the same time.
  bool is_beside_others() const noexcept { return beside_others_; }

  result enable(std::uint32_t kind) const noexcept {
    return beside_others_ ? f_.enable_v2(who_, kind, nullptr) : f_.enable(kind);
  }
  result disable(std::uint32_t kind) const noexcept {
    return beside_others_ ? f_.disable_v2(who_, kind, nullptr) : f_.disable(kind);
  }
  /// Records of one call of the runtime's or the driver's API; false where this CUPTI has them only
  /// of all.
  bool enable_api_call(std::uint32_t kind, std::uint32_t id) const noexcept {
    const bool runtime = kind == kind_runtime;
    if (beside_others_) {
      const auto enable_one = runtime ? f_.enable_runtime_api_v2 : f_.enable_driver_api_v2;
      return enable_one != nullptr && enable_one(who_, id, 1) == success;
    }
    const auto enable_one = runtime ? f_.enable_runtime_api : f_.enable_driver_api;
    return enable_one != nullptr && enable_one(id, 1) == success;
  }
  result next_record(std::uint8_t* buffer, std::size_t valid_size, void** record) const noexcept {
    return beside_others_ ? f_.next_record_v2(who_, buffer, valid_size, record)
                          : f_.next_record(buffer, valid_size, record);
  }
  /// Records that CUPTI dropped since the last call.
  result take_dropped(std::size_t& dropped) const noexcept {
    dropped = 0;
    const result r = beside_others_ ? f_.dropped_records_v2(who_, nullptr, 0, &dropped)
                                    : f_.dropped_records(nullptr, 0, &dropped);
    if (r != success) dropped = 0;
    return r;
  }

 private:
  bool subscribe_beside_others(const callbacks& to, std::uint32_t version) noexcept {
    if (version < version_many_subscribers || f_.subscribe_v2 == nullptr ||
        f_.register_buffers_v2 == nullptr || f_.enable_v2 == nullptr || f_.disable_v2 == nullptr ||
        f_.next_record_v2 == nullptr || f_.dropped_records_v2 == nullptr)
      return false;
    subscriber_params params{};
    params.size = sizeof params;
    params.name = "kprof";
    params.allow_others = 1;
    return beside_others_ = f_.subscribe_v2(&who_, to.event, to.user, &params) == success;
  }

  const functions& f_;
  subscriber who_ = nullptr;
  bool beside_others_ = false;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_KNOWN_DEVICES_HPP
#define KPROF_ATTRIBUTE_KNOWN_DEVICES_HPP

// The devices that a collector has described or that did something, and how long each was busy.

#include <kprof/attribute/busy_time.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/write/printable.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class known_devices {
 public:
  void describe(const device_description& d) {
    device_info& known = of(d.id).info;
    known.described = true;
    known.name = d.name == nullptr ? "" : d.name;
    known.compute_major = d.compute_major;
    known.compute_minor = d.compute_minor;
    known.multiprocessors = d.multiprocessors;
    known.memory_bytes = d.memory_bytes;
    known.memory_bytes_per_s = d.memory_bytes_per_s;
    known.clock_hz = d.clock_hz;
    known.l2_bytes = d.l2_bytes;
    known.uuid.clear();
    for (const std::uint8_t byte : d.uuid) known.uuid += hexadecimal(byte, 2);
    if (known.uuid == std::string(32, '0')) known.uuid.clear();
  }
  /// Where the activity's times may be added, with room for them. Valid until the next call.
  busy_time& room_for(const activity& a) {
    busy_time& busy = of(a.device).busy;
    busy.make_room();
    return busy;
  }

  /// Keeps the descriptions.
  void forget_times() {
    for (device& d : all_) d.busy = {};
  }

  /// The devices that are known or did something, by their numbers.
  std::vector<device_info> profile() {
    std::vector<device_info> out;
    for (std::uint64_t from = 0;;) {  // there are few
      device* next = nullptr;
      for (device& d : all_)
        if (d.info.id >= from && (next == nullptr || d.info.id < next->info.id)) next = &d;
      if (next == nullptr) return out;
      device& d = *next;
      from = std::uint64_t{d.info.id} + 1;
      if (!d.info.described && d.busy.sum() == 0) continue;
      d.info.busy_ns = static_cast<double>(d.busy.busy());
      d.info.sum_ns = static_cast<double>(d.busy.sum());
      d.info.busy_is_exact = d.busy.exact();
      out.push_back(d.info);
    }
  }

 private:
  struct device {
    device_info info;
    busy_time busy;
  };

  device& of(std::uint32_t id) {
    for (device& d : all_)
      if (d.info.id == id) return d;
    device& made = all_.emplace_back();
    made.info.id = id;
    return made;
  }

  std::vector<device> all_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DESCRIBE_DEVICES_HPP
#define KPROF_COLLECT_DESCRIBE_DEVICES_HPP

// What the NVIDIA driver says of the devices that the program may use. CUPTI has records of them
// too, but makes them when CUDA is initialized, which most programs do before they record anything.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cupti_library.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// The driver's functions, which make no context; null where it lacks one.
struct device_functions {
  int (*count)(int* count) = nullptr;
  int (*get)(int* device, int ordinal) = nullptr;
  int (*name)(char* name, int size, int device) = nullptr;
  int (*memory)(std::size_t* bytes, int device) = nullptr;
  int (*attribute)(int* value, int which, int device) = nullptr;
  int (*uuid)(void* uuid, int device) = nullptr;

  /// Asks the loader: the caller holds no lock that a static constructor might want.
  void find_them() noexcept {
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver == nullptr) return;
    find(driver, "cuDeviceGetCount", count);
    find(driver, "cuDeviceGet", get);
    find(driver, "cuDeviceGetName", name);
    find(driver, "cuDeviceTotalMem_v2", memory);
    find(driver, "cuDeviceGetAttribute", attribute);
    find(driver, "cuDeviceGetUuid_v2", uuid);
    if (uuid == nullptr) find(driver, "cuDeviceGetUuid", uuid);  // before CUDA 11.4
    dlclose(driver);                                             // it stays, for the program
  }
  bool are_found() const noexcept {
    return count != nullptr && get != nullptr && name != nullptr && memory != nullptr &&
           attribute != nullptr;
  }
};

/// `name`: where the device's is written to, until the description has been used. What the driver
/// does not say is 0; false where it knows no such device.
[[gnu::cold]] inline bool describe_device(const device_functions& driver, int ordinal,
                                          char (&name)[256], device_description& out) noexcept {
  // CUdevice_attribute
  constexpr int clock_khz = 13, multiprocessors = 16, memory_clock_khz = 36, memory_bus_bits = 37,
                l2_bytes = 38, compute_major = 75, compute_minor = 76;
  int device = 0;
  if (driver.get(&device, ordinal) != 0) return false;
  const auto value_of = [&](int which) {
    int value = 0;
    const bool is_known = driver.attribute(&value, which, device) == 0 && value > 0;
    return is_known ? static_cast<std::uint32_t>(value) : 0U;
  };
  out.id = static_cast<std::uint32_t>(ordinal);
  out.compute_major = value_of(compute_major);
  out.compute_minor = value_of(compute_minor);
  out.multiprocessors = value_of(multiprocessors);
  out.clock_hz = std::uint64_t{1000} * value_of(clock_khz);
  out.l2_bytes = value_of(l2_bytes);
  // At both edges of the clock.
  out.memory_bytes_per_s =
      std::uint64_t{2000} * value_of(memory_clock_khz) * (value_of(memory_bus_bits) / 8);
  std::size_t bytes = 0;
  if (driver.memory(&bytes, device) == 0) out.memory_bytes = bytes;
  if (driver.name(name, static_cast<int>(sizeof name), device) != 0) name[0] = '\0';
  name[sizeof name - 1] = '\0';
  out.name = name;
  if (driver.uuid != nullptr) static_cast<void>(driver.uuid(out.uuid, device));
  return true;
}

/// Describes all devices to the listener, by their CUDA ordinals. False, for no device, where the
/// driver's functions are not found or it is not initialized.
[[gnu::cold]] inline bool describe_devices(const device_functions& driver,
                                           const device_listener& listener) {
  int count = 0;
  if (!driver.are_found() || driver.count(&count) != 0) return false;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    char name[256] = "";
    device_description found;
    if (describe_device(driver, ordinal, name, found)) listener.describe(found);
  }
  return true;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif

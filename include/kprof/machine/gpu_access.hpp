// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_GPU_ACCESS_HPP
#define KPROF_MACHINE_GPU_ACCESS_HPP

// kprof's own way to a device, to measure it: a stream, two events, a little memory and one kernel
// at a time, in the primary context of the device. When the object goes, nothing of it is left, and
// the thread has the context that it had. Included by measure_gpu.hpp. One thread.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_calls.hpp>
#include <kprof/machine/cuda_functions.hpp>
#include <kprof/machine/gpu_kernels.hpp>
#include <kprof/profile/device_profile.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Functions that return a bool or a time return false or 0 once a call of the driver has failed:
/// failure() says which, and how.
class gpu_access {
 public:
  static constexpr std::size_t copied_bytes = std::size_t{32} << 20U;

  struct launch_shape {
    std::uint32_t grid = 0;
    std::uint64_t bytes = 0;  // of each array; 0: of a kernel that computes
  };
  [[gnu::cold]] explicit gpu_access(const cuda_functions& cuda) : cuda_(cuda) {
    cupti::work_is_own = cupti::calls_are_own = true;  // the program has launched none of this
  }
  gpu_access(const gpu_access&) = delete;
  gpu_access& operator=(const gpu_access&) = delete;
  ~gpu_access() {
    close();
    cupti::work_is_own = cupti::calls_are_own = false;
  }

  const std::string& failure() const noexcept { return failure_; }
  bool is_well() const noexcept { return failure_.empty(); }
  std::int64_t now() const { return cuda_.now(); }

  [[gnu::cold]] bool open(const device_info& device) {
    char name[256] = {};
    const auto ordinal = static_cast<int>(device.id);
    if (!done("cuDeviceGet", cuda_.device(&number_, ordinal)) ||
        !done("cuDeviceGetName", cuda_.device_name(name, sizeof name - 1, number_)))
      return false;
    if (device.name != name) return fail("CUPTI and the driver number the devices differently");
    unsigned flags = 0;
    int is_active = 0;
    if (!done("cuDevicePrimaryCtxGetState", cuda_.context_state(number_, &flags, &is_active)))
      return false;
    // Where the program made none, kprof makes none either: it takes time and memory of the device.
    if (is_active == 0) return fail("the program has no context of the CUDA runtime on it");
    // Else memory could not be had while another thread captures a stream.
    constexpr int relaxed = 2;
    capture_mode_ = relaxed;
    if (!done("cuThreadExchangeStreamCaptureMode", cuda_.exchange_capture_mode(&capture_mode_)))
      return false;
    has_capture_mode_ = true;
    if (!done("cuDevicePrimaryCtxRetain", cuda_.retain(&context_, number_))) return false;
    is_retained_ = true;
    if (!done("cuCtxPushCurrent", cuda_.push(context_))) return false;
    is_pushed_ = true;
    constexpr unsigned beside_others = 1;  // neither it nor the default stream waits for the other
    return done("cuStreamCreate", cuda_.make_stream(&stream_, beside_others)) &&
           done("cuEventCreate", cuda_.make_event(&begin_, 0)) &&
           done("cuEventCreate", cuda_.make_event(&end_, 0)) &&
           done("cuMemAlloc", cuda_.allocate(&clocks_, 64)) &&
           done("cuMemHostAlloc", cuda_.allocate_host(&host_, copied_bytes, 0));
  }
  /// Gives everything back. Where the device did not finish in time, memory stays: giving it back
  /// would wait for it.
  [[gnu::cold]] void close() {
    unload();
    if (!is_busy_) {
      if (host_ != nullptr) done("cuMemFreeHost", cuda_.release_host(host_));
      if (arrays_ != 0) done("cuMemFree", cuda_.release_memory(arrays_));
      if (clocks_ != 0) done("cuMemFree", cuda_.release_memory(clocks_));
    }
    host_ = nullptr;
    arrays_ = clocks_ = array_bytes_ = 0;
    for (void** const event : {&end_, &begin_})
      if (*event != nullptr) done("cuEventDestroy", cuda_.destroy_event(std::exchange(*event, {})));
    if (stream_ != nullptr)
      done("cuStreamDestroy", cuda_.destroy_stream(std::exchange(stream_, nullptr)));
    void* popped = nullptr;
    if (std::exchange(is_pushed_, false)) done("cuCtxPopCurrent", cuda_.pop(&popped));
    if (std::exchange(is_retained_, false) && !is_busy_)
      done("cuDevicePrimaryCtxRelease", cuda_.release(number_));
    if (std::exchange(has_capture_mode_, false))
      done("cuThreadExchangeStreamCaptureMode", cuda_.exchange_capture_mode(&capture_mode_));
  }

  /// Loads the text of a kernel. Returns the driver's error, without a failure: a driver that is
  /// older than an instruction does not take its text, but the others'.
  [[gnu::cold]] int load(const gpu_kernel& k) {
    const std::string text = ptx_writer::text(k);
    const int error = cuda_.load(&module_, text.c_str());
    if (error != 0) module_ = nullptr;
    else if (!done("cuModuleGetFunction", cuda_.function(&function_, module_, ptx_writer::entry)))
      unload();
    return error;
  }
  [[gnu::cold]] void unload() {
    if (module_ != nullptr && !is_busy_) done("cuModuleUnload", cuda_.unload(module_));
    module_ = nullptr;
  }

  /// Three arrays of so many bytes. False, without a failure, where half of the free memory does
  /// not hold them.
  [[gnu::cold]] bool allocate_arrays(std::uint64_t each) {
    std::size_t free = 0, total = 0;
    if (!done("cuMemGetInfo", cuda_.memory(&free, &total))) return false;
    if (each * 3 > free / 2) return false;
    if (!done("cuMemAlloc", cuda_.allocate(&arrays_, each * 3))) return false;
    array_bytes_ = each;
    return done("cuMemsetD32Async", cuda_.fill(arrays_, 0x3F800000, each * 3 / 4, stream_)) &&
           done("cuEventRecord", cuda_.record(end_, stream_)) && wait();
  }
  std::uint64_t array_bytes() const noexcept { return array_bytes_; }

  /// Of the multiprocessor of the first block, in the latest launch, in Hz; 0: not known.
  [[gnu::cold]] double read_clock() {
    std::uint64_t now[4] = {};  // by the timer in ns and the clock, before and after
    if (!done("cuMemcpyDtoHAsync", cuda_.to_host(host_, clocks_, sizeof now, stream_)) ||
        !done("cuEventRecord", cuda_.record(end_, stream_)) || !wait())
      return 0;
    std::memcpy(now, host_, sizeof now);
    if (now[2] <= now[0] + 100'000 || now[3] <= now[1]) return 0;
    return static_cast<double>(now[3] - now[1]) / static_cast<double>(now[2] - now[0]) * 1e9;
  }
  /// How long a copy of copied_bytes from or to pinned memory takes.
  [[gnu::cold]] double copy(bool to_device) {
    if (!done("cuEventRecord", cuda_.record(begin_, stream_))) return 0;
    const bool is_under_way =
        to_device
            ? done("cuMemcpyHtoDAsync", cuda_.to_device(arrays_, host_, copied_bytes, stream_))
            : done("cuMemcpyDtoHAsync", cuda_.to_host(host_, arrays_, copied_bytes, stream_));
    return is_under_way ? elapsed() : 0;
  }
  /// How long a launch of the kernel takes.
  [[gnu::cold]] double run(const launch_shape& shape, std::uint64_t rounds) {
    std::uint64_t words[] = {
        clocks_, rounds, arrays_, arrays_ + array_bytes_, arrays_ + 2 * array_bytes_, shape.bytes};
    void* params[6];
    for (int i = 0; i < 6; ++i) params[i] = &words[i];
    if (!done("cuEventRecord", cuda_.record(begin_, stream_)) ||
        !done("cuLaunchKernel", cuda_.launch(function_, shape.grid, 1, 1, gpu_shape::threads, 1, 1,
                                             0, stream_, params, nullptr)))
      return 0;
    return elapsed();
  }
  [[gnu::cold]] std::string name_of(int error) const {
    const char* name = nullptr;
    if (cuda_.error_name(error, &name) != 0 || name == nullptr) name = "error";
    std::string text = name;
    fill_in(text, ", #", {static_cast<std::uint64_t>(error)});
    return text;
  }
  [[gnu::cold]] bool fail(const char* why) {
    if (failure_.empty()) failure_ = why;
    return false;
  }

 private:
  static constexpr std::int64_t most_wait_ns = 1'000'000'000;

  /// Whether a call has succeeded; the first that has not is kept.
  [[gnu::cold]] bool done(const char* call, int error) {
    if (error != 0 && failure_.empty())
      failure_.append(call).append(" failed (").append(name_of(error)).append(")");
    return error == 0;
  }
  /// Since begin_ was recorded; 0 where that failed.
  [[gnu::cold]] double elapsed() {
    float ms = 0;
    if (!done("cuEventRecord", cuda_.record(end_, stream_)) || !wait() ||
        !done("cuEventElapsedTime", cuda_.elapsed(&ms, begin_, end_)))
      return 0;
    if (ms > 0) return static_cast<double>(ms) / 1000;
    return fail("the driver says that a launch took no time"), 0;
  }
  /// Asks again and again: a call that waits would become a record of CUPTI's, and might not
  /// return.
  [[gnu::cold]] bool wait() {
    constexpr int not_ready = 600;
    const std::int64_t until = cuda_.now() + most_wait_ns;
    for (;;) {
      const int error = cuda_.query(end_);
      if (error != not_ready) return done("cuEventQuery", error);
      if (cuda_.now() > until) {
        is_busy_ = true;
        return fail("the device was busy with other work for a second");
      }
      usleep(20);
    }
  }

  const cuda_functions& cuda_;
  std::string failure_;
  int number_ = 0;
  int capture_mode_ = 0;  // of the thread, while it has another
  void* context_ = nullptr;
  void* stream_ = nullptr;
  void* begin_ = nullptr;
  void* end_ = nullptr;
  void* host_ = nullptr;  // pinned
  void* module_ = nullptr;
  void* function_ = nullptr;
  std::uint64_t clocks_ = 0, arrays_ = 0;  // of the device
  std::uint64_t array_bytes_ = 0;          // of each of three
  bool has_capture_mode_ = false, is_retained_ = false, is_pushed_ = false;
  bool is_busy_ = false;  // with what this object has launched
};

}  // namespace detail
KPROF_DETAIL_END

#endif

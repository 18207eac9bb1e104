// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_ZLIB_STREAM_HPP
#define KPROF_REPORT_OUTPUT_ZLIB_STREAM_HPP

// zlib as it is found at run time, so that nothing has to be linked.

#include <kprof/build_options.hpp>

#include <dlfcn.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// zlib's z_stream, whose layout has not changed since 1995.
struct zlib_stream {
  const unsigned char* next_in = nullptr;
  unsigned avail_in = 0;
  unsigned long total_in = 0;
  unsigned char* next_out = nullptr;
  unsigned avail_out = 0;
  unsigned long total_out = 0;
  const char* message = nullptr;
  void* state = nullptr;
  void* (*allocate)(void*, unsigned, unsigned) = nullptr;
  void (*release)(void*, void*) = nullptr;
  void* opaque = nullptr;
  int data_type = 0;
  unsigned long adler = 0;
  unsigned long reserved = 0;
};

template <class Function>
void find_in_library(void* library, const char* name, Function& found) noexcept {
  found = reinterpret_cast<Function>(dlsym(library, name));
}
inline constexpr int gzip_window_bits = 15 + 16;  // the format is gzip's

}  // namespace detail
KPROF_DETAIL_END

#endif

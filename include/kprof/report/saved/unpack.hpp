// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_UNPACK_HPP
#define KPROF_REPORT_SAVED_UNPACK_HPP

// Unpacks a saved profile that gzip has packed, by zlib, which is opened then.

#include <kprof/build_options.hpp>
#include <kprof/report/output/zlib_stream.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool is_gzip(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }

/// The functions of zlib that unpack.
struct unpacking_functions {
  int (*init)(zlib_stream*, int window_bits, const char* version, int stream_size) = nullptr;
  int (*inflate)(zlib_stream*, int flush) = nullptr;
  int (*end)(zlib_stream*) = nullptr;

  explicit unpacking_functions(const char* file = "libz.so.1") noexcept {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    find_in_library(library, "inflateInit2_", init);
    find_in_library(library, "inflate", inflate);
    find_in_library(library, "inflateEnd", end);
  }
  bool found() const noexcept { return init != nullptr && inflate != nullptr && end != nullptr; }
};

/// The most bytes of a file's text, packed or not, whatever load_options say.
inline constexpr std::uint64_t largest_text = 0xFFFFFFFFU;

/// What is wrong with a text of more bytes than `most`.
[[gnu::cold]] inline status too_large(std::uint64_t most) {
  if (most < largest_text)
    return {"is larger than allowed; raise load_options::max_file, up to 4 GiB"};
  return {"is larger than 4 GiB, the most that kprof reads; record with a lower `memory`"};
}

/// Unpacks `packed` into `text`. What would become more than `most` bytes, is damaged or cut short
/// is refused. May throw where there is no memory.
[[gnu::cold]] inline status unpack_gzip(std::string_view packed, std::uint64_t most,
                                        std::string& text,
                                        const unpacking_functions& zlib = unpacking_functions{}) {
  if (!zlib.found())
    return {"is packed, and libz.so.1 is not found; install zlib, or unpack it by gunzip"};
  zlib_stream stream;
  if (zlib.init(&stream, gzip_window_bits, "1", static_cast<int>(sizeof stream)) != 0)
    return {"is packed, and zlib does not start; unpack it by gunzip"};
  struct ending {
    const unpacking_functions& zlib;
    zlib_stream& stream;
    ~ending() { zlib.end(&stream); }
  } const ends{zlib, stream};
  constexpr int no_flush = 0, stream_end = 1;
  constexpr std::size_t piece = std::size_t{1} << 16U;
  for (int result = 0; result != stream_end;) {
    if (stream.avail_in == 0) {
      const std::string_view next = packed.substr(0, std::size_t{1} << 30U);
      packed.remove_prefix(next.size());
      stream.next_in = reinterpret_cast<const unsigned char*>(next.data());
      stream.avail_in = static_cast<unsigned>(next.size());
    }
    const std::size_t before = text.size();
    text.resize(before + piece);
    stream.next_out = reinterpret_cast<unsigned char*>(text.data() + before);
    stream.avail_out = static_cast<unsigned>(piece);
    result = zlib.inflate(&stream, no_flush);
    text.resize(before + piece - stream.avail_out);
    if (text.size() > most) return too_large(most);
    if (result < 0 || (result != stream_end && stream.avail_out == piece && packed.empty() &&
                       stream.avail_in == 0))
      return {"is packed, and damaged or cut short; save the profile again"};
  }
  return {};
}

}  // namespace detail
KPROF_DETAIL_END

#endif

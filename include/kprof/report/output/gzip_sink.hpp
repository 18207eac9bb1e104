// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_GZIP_SINK_HPP
#define KPROF_REPORT_OUTPUT_GZIP_SINK_HPP

// Packs what an output puts, as gzip does, where the name of its file ends in ".gz". Included by
// the outputs whose readers take such files. zlib is opened at run time, so that nothing has to be
// linked. Memory does not grow with the text.

#include <kprof/build_options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/zlib_stream.hpp>
#include <kprof/status.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The functions of zlib that pack.
struct zlib_functions {
  int (*init)(zlib_stream*, int level, int method, int window_bits, int memory_level, int strategy,
              const char* version, int stream_size) = nullptr;
  int (*deflate)(zlib_stream*, int flush) = nullptr;
  int (*end)(zlib_stream*) = nullptr;

  bool found() const noexcept { return init != nullptr && deflate != nullptr && end != nullptr; }
};

/// zlib stays open: another thread may pack too.
[[gnu::cold]] inline zlib_functions find_zlib(const char* file = "libz.so.1") noexcept {
  zlib_functions out;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return out;
  find_in_library(library, "deflateInit2_", out.init);
  find_in_library(library, "deflate", out.deflate);
  find_in_library(library, "deflateEnd", out.end);
  return out;
}

[[gnu::cold]] inline bool names_gzip(std::string_view path) noexcept {
  return path.ends_with(".gz");
}

/// Packs text and puts it into another sink. Used by one thread.
class gzip_packer {
 public:
  [[gnu::cold]] explicit gzip_packer(text_sink& to, const zlib_functions& zlib = find_zlib())
      : to_(to), zlib_(zlib), packed_(block) {
    constexpr int quick = 1, deflated = 8, usual_memory = 8;
    if (!zlib_.found())
      failure_ = {
          "cannot pack it: libz.so.1 is not found; install zlib, or give a path that does "
          "not end in .gz"};
    else if (zlib_.init(&stream_, quick, deflated, gzip_window_bits, usual_memory, 0, "1",
                        static_cast<int>(sizeof stream_)) != 0)
      failure_ = {"cannot pack it: zlib does not start; give a path that does not end in .gz"};
    else is_open_ = true;
  }
  gzip_packer(const gzip_packer&) = delete;
  gzip_packer& operator=(const gzip_packer&) = delete;
  ~gzip_packer() {
    if (is_open_) zlib_.end(&stream_);
  }

  /// Why it cannot pack, if so.
  const status& so_far() const noexcept { return failure_; }

  /// For text_sink: `packer` is a gzip_packer.
  static status drain(void* packer, std::string_view text) {
    return static_cast<gzip_packer*>(packer)->pack(text, no_flush);
  }
  /// The end of the file.
  status finish() { return pack({}, last); }

 private:
  static constexpr std::size_t block = std::size_t{64} * 1024;
  static constexpr int no_flush = 0, last = 4, stream_end = 1;

  status pack(std::string_view text, int flush) {
    if (!failure_) return failure_;
    stream_.next_in = reinterpret_cast<const unsigned char*>(text.data());
    stream_.avail_in = static_cast<unsigned>(text.size());
    for (;;) {
      stream_.next_out = packed_.data();
      stream_.avail_out = static_cast<unsigned>(packed_.size());
      const int result = zlib_.deflate(&stream_, flush);
      if (result < 0 && stream_.avail_in > 0)
        return failure_ = {"cannot pack it: zlib failed; give a path that does not end in .gz"};
      to_.put({reinterpret_cast<const char*>(packed_.data()), packed_.size() - stream_.avail_out});
      if (flush == last ? result == stream_end || result < 0 : stream_.avail_out > 0) break;
    }
    return {};
  }

  text_sink& to_;
  zlib_functions zlib_;
  zlib_stream stream_;
  std::vector<unsigned char> packed_;
  bool is_open_ = false;
  status failure_;
};

/// Calls put(sink): with `out`, or where `path` ends in ".gz" with a sink that packs into it.
template <class Put>
[[gnu::cold]] status put_packed_by_name(std::string_view path, text_sink& out, const Put& put) {
  if (!names_gzip(path)) {
    put(out);
    return {};
  }
  gzip_packer packer(out);
  if (!packer.so_far()) return packer.so_far();
  text_sink packed(&gzip_packer::drain, &packer);
  put(packed);
  if (status s = packed.flush(); !s) return s;
  return packer.finish();
}

}  // namespace detail
KPROF_DETAIL_END

#endif

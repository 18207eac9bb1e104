// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_LOAD_HPP
#define KPROF_REPORT_LOAD_HPP

// Loads a profile that save.hpp saved. Include it in tools that work on saved profiles. It parses
// with Boost.JSON, 1.75 or later: link Boost::json, or put `#include <boost/json/src.hpp>` into one
// file of the program, which must be compiled with exceptions. A file is not trusted: what is
// damaged, hostile, newer or too large is refused with a sentence.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/report/output/profile_loader.hpp>
#include <kprof/report/saved/json_tape.hpp>
#include <kprof/report/saved/read_profile.hpp>
#include <kprof/report/saved/unpack.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#if defined(__cpp_exceptions)
#include <new>
#include <stdexcept>
#endif

KPROF_DETAIL_BEGIN

struct load_options {
  std::uint64_t max_file = std::uint64_t{1} << 30U;    ///< bytes of a file; never above 4 GiB
  std::uint64_t max_memory = std::uint64_t{8} << 30U;  ///< bytes allocated, besides the file's own
};

/// A loaded profile, or why there is none.
struct loaded_profile {
  profile run;    ///< empty where `result` is not ok
  status result;  ///< what is wrong and what to do, in one line

  bool ok() const noexcept { return result.ok(); }
  explicit operator bool() const noexcept { return ok(); }
};

namespace detail {

inline constexpr const char* raise_max_memory = "raise load_options::max_memory";

inline std::string why_refused(const json_document& json, const profile_reader* reader,
                               const memory_budget& budget) {
  if (budget.spent()) return std::string("takes more memory than allowed; ") + raise_max_memory;
  if (reader == nullptr)
    return "is no JSON from byte " + std::to_string(json.read()) +
           " on: it is damaged or cut short; save the profile again";
  if (reader->newer() != 0)
    return "is of version " + std::to_string(reader->newer()) + ", and this kprof reads up to " +
           std::to_string(saved_version) + "; load it with the kprof that saved it, or a later one";
  return "is no saved profile or damaged: " + printable(reader->error(), 200) +
         "; save the profile again";
}

inline loaded_profile load_unguarded(std::string_view text, const load_options& options) {
  loaded_profile out;
  if (text.empty()) {
    out.result = {"is empty; save the profile again"};
    return out;
  }
  if (text.size() > std::min(options.max_file, largest_text)) {
    out.result = too_large(options.max_file);
    return out;
  }
  memory_budget budget(options.max_memory);
  const json_document json(text, budget);
  profile_reader reader(json.tape(), budget);
  if (json.valid() && !budget.spent() && reader.read(out.run)) return out;
  out.run = {};
  out.result = {why_refused(json, json.valid() ? &reader : nullptr, budget)};
  return out;
}

/// `work()`, or that there is not enough memory for it.
template <class Work>
loaded_profile with_enough_memory(Work work) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {{}, {"takes more memory than there is; load it where there is more"}};
  } catch (const std::length_error&) {
    return {{}, {"takes more memory than there is; load it where there is more"}};
  }
#else
  return work();
#endif
}

/// `work()`. An error begins with `where()`; it is "out of memory" where there is none for it.
template <class Where, class Work>
loaded_profile load_from(Where where, Work work) {
  loaded_profile out;
  const bool had_memory = attempt([&] {
    out = with_enough_memory(work);
    if (!out) out.result.message.insert(0, where() + ' ');
  });
  if (!had_memory) out = {{}, {out_of_memory}};
  return out;
}

/// Bytes of a regular file; 0 of anything else.
inline std::uint64_t size_of_file(std::FILE* file) noexcept {
  struct stat info {};
  if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

/// Reads the rest of `file`; false: errno says why, 0 where that is more than `most` bytes.
inline bool read_all(std::FILE* file, std::uint64_t most, std::string& text) {
  const std::uint64_t expected = size_of_file(file);
  std::size_t size = 0, room = std::size_t{1} << 16U;
  if (expected >= room) room = static_cast<std::size_t>(std::min(expected, most)) + 1;
  for (errno = 0; expected <= most; room = 2 * size) {
    text.resize(room);
    const std::size_t read = std::fread(text.data() + size, 1, text.size() - size, file);
    size += read;
    if (size > most) return errno = 0, false;
    if (read != 0 && size == text.size()) continue;
    text.resize(size);
    return std::ferror(file) == 0;
  }
  return false;
}

inline loaded_profile load_file(const std::string& path, const load_options& options) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> closes(file, &std::fclose);
  std::string text;
  const std::uint64_t most = std::min(options.max_file, largest_text);
  if (file != nullptr && read_all(file, most, text)) {
    if (!is_gzip(text)) return load_unguarded(text, options);
    std::string unpacked;
    if (status s = unpack_gzip(text, most, unpacked); !s) return {{}, s};
    std::string{}.swap(text);
    return load_unguarded(unpacked, options);
  }
  if (errno == 0) return {{}, too_large(most)};
  return {{},
          {"cannot be read (" + std::string(std::strerror(errno)) +
           "); check the path and its permissions"}};
}

}  // namespace detail

/// Loads a profile from what saved_text() gave. Time and memory are linear in the text. No
/// exception leaves it. Any number of threads may load.
inline loaded_profile load_text(std::string_view text, const load_options& options = {}) {
  return detail::load_from([] { return std::string{"the saved profile"}; },
                           [&] { return detail::load_unguarded(text, options); });
}

/// Loads a profile from the file `path`.
///     const kprof::loaded_profile before = kprof::load("run.json");
///     if (!before) std::fprintf(stderr, "%s\n", before.result.message.c_str());
///     else kprof::report(before.run);
inline loaded_profile load(const std::string& path, const load_options& options = {}) {
  const detail::hold_cancellation hold;
  return detail::load_from([&] { return '"' + detail::printable(path, 300) + '"'; },
                           [&] { return detail::load_file(path, options); });
}

/// Lets the outputs of this binary load profiles, as html(against=before.json) does. Call it before
/// such an output is written; once is enough.
inline void load_for_outputs() noexcept {
  detail::loader_of_outputs = [](const std::string& path, profile& run) {
    loaded_profile loaded = load(path);
    run = std::move(loaded.run);
    return std::move(loaded.result);
  };
}

KPROF_DETAIL_END

#endif

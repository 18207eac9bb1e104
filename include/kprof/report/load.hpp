// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_LOAD_HPP
#define KPROF_REPORT_LOAD_HPP

// Loads a profile that save.hpp saved. Include it in tools that work on saved profiles. It parses
// with Boost.JSON, 1.75 or later: link Boost::json, or put `#include <boost/json/src.hpp>` into one
// file of the program, which must be compiled with exceptions. A file is not trusted: what is
// damaged, hostile, newer or too large is refused with a sentence.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/saved/json_tape.hpp>
#include <kprof/report/saved/read_profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#if defined(__cpp_exceptions)
#include <new>
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

inline std::string why_refused(const json_document& json, const profile_reader* reader,
                               const memory_budget& budget) {
  if (budget.spent()) return "takes more memory than allowed; raise load_options::max_memory";
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
  if (text.size() > std::min<std::uint64_t>(options.max_file, 0xFFFFFFFFU)) {
    out.result = {"is larger than allowed; raise load_options::max_file, up to 4 GiB"};
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

/// The same where memory may not be had.
inline loaded_profile load_guarded(std::string_view text, const load_options& options) {
#if defined(__cpp_exceptions)
  try {
    return load_unguarded(text, options);
  } catch (const std::bad_alloc&) { return {{}, {"takes more memory than there is"}}; }
#else
  return load_unguarded(text, options);
#endif
}

/// false: errno says why, 0 where the file is larger than `most`.
inline bool read_file(const std::string& path, std::uint64_t most, std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  std::size_t size = 0;
  bool good = true;
  for (;;) {
    text.resize(std::max<std::size_t>(std::size_t{1} << 16U, 2 * size));
    const std::size_t read = std::fread(text.data() + size, 1, text.size() - size, file);
    size += read;
    if (size > most) {
      errno = 0;
      good = false;
      break;
    }
    if (read == 0) {
      good = std::ferror(file) == 0;
      break;
    }
  }
  const int error = errno;
  std::fclose(file);
  errno = error;
  text.resize(size);
  return good;
}

}  // namespace detail

/// Loads a profile from what saved_text() gave. Time and memory are linear in the text. No
/// exception leaves it. Any number of threads may load.
inline loaded_profile load_text(std::string_view text, const load_options& options = {}) {
  loaded_profile out = detail::load_guarded(text, options);
  if (!out) out.result.message.insert(0, "the saved profile ");
  return out;
}

/// Loads a profile from the file `path`.
///     const kprof::loaded_profile before = kprof::load("run.json");
///     if (!before) std::fprintf(stderr, "%s\n", before.result.message.c_str());
///     else kprof::report(before.run);
inline loaded_profile load(const std::string& path, const load_options& options = {}) {
  std::string text;
  const std::string name = '"' + detail::printable(path, 300) + "\" ";
  if (!detail::read_file(path, std::min<std::uint64_t>(options.max_file, 0xFFFFFFFFU), text)) {
    const int error = errno;
    return {{},
            {error == 0 ? name + "is larger than allowed; raise load_options::max_file, up to 4 GiB"
                        : "cannot read " + name + "(" + std::strerror(error) +
                              "); check the path and its permissions"}};
  }
  loaded_profile out = detail::load_guarded(text, options);
  if (!out) out.result.message.insert(0, name);
  return out;
}

KPROF_DETAIL_END

#endif

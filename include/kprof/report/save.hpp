// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVE_HPP
#define KPROF_REPORT_SAVE_HPP

// Saves a profile without loss, as JSON that load.hpp reads: every report of the loaded profile is
// that of the saved one. Include it to save, or for the output "save" of KPROF. Memory does not
// grow with the profile, and a million scopes of the timeline take less than a second.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/saved/json_writer.hpp>
#include <kprof/report/saved/write_profile.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/within_memory.hpp>

#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN

/// How the scopes of the timeline are written.
enum class timeline_form : std::uint8_t {
  compact,  ///< packed, some 10 bytes a scope
  plain,    ///< [node, start, duration] in ticks, some 25 bytes a scope: for scripts
};

struct save_options {
  timeline_form timeline = timeline_form::compact;
};

namespace detail {

inline void put_profile(const profile& p, const save_options& options, text_sink& sink) {
  json_writer out(sink);
  profile_writer(p, options.timeline == timeline_form::compact, out).write();
}

inline status write_saved(const profile& p, const option_values& given, text_sink& sink) {
  save_options options;
  given.store_into(options);
  return put_packed_by_name(given.text("path"), sink,
                            [&](text_sink& out) { put_profile(p, options, out); });
}

inline status save_to(const std::string& path, const profile& p, const save_options& options) {
  if (status s = snapshot_error(p.state); !s) return s;
  destination file(path);
  if (const status& s = file.append({}); !s) return s;  // before the work
  text_sink sink(
      [](void* to, std::string_view text) -> status {
        return static_cast<destination*>(to)->append(text);
      },
      &file);
  const status packed =
      put_packed_by_name(path, sink, [&](text_sink& out) { put_profile(p, options, out); });
  if (!packed) return {quoted_path(path) + ": " + packed.message};
  static_cast<void>(sink.flush());  // close() tells of what could not be written
  return file.close();
}

inline constexpr option save_option_table[] = {
    {.name = "timeline",
     .kind = option_kind::choice,
     .form = "compact|plain",
     .fallback = "compact",
     .meaning = "how the scopes of a timeline are written: packed, or as rows of numbers",
     .store = &store_member<&save_options::timeline>},
};
inline constexpr output save_output{
    "save",       "the profile, to be loaded again",         save_option_table,
    &write_saved, [](const option_values&) { return true; }, "kprof.json"};
[[gnu::init_priority(101)]] inline const output_registration save_registered{save_output};

}  // namespace detail

/// Saves the profile to the file `path`, replacing it only when all is written. A failure is in the
/// status with what to do; so is a snapshot for which there was no memory. Any number of threads
/// and processes may save, to the same path too: one of them wins. Where `path` ends in ".gz" the
/// file is packed by zlib, which load() unpacks.
///     kprof::save(kprof::snapshot({.timeline = true}), "run.json");
inline status save(const profile& p, const std::string& path, const save_options& options = {}) {
  if (path.empty()) return {"cannot save to a file without a name; give a path"};
  return detail::within_memory([&] { return detail::save_to(path, p, options); });
}

/// What save() would write; empty where there is no memory for it, or was none for the profile.
inline std::string saved_text(const profile& p, const save_options& options = {}) {
  std::string text;
  if (!detail::snapshot_error(p.state)) return text;
  const bool had_memory = detail::attempt([&] {
    text_sink sink(
        [](void* to, std::string_view more) {
          static_cast<std::string*>(to)->append(more);
          return status{};
        },
        &text);
    detail::put_profile(p, options, sink);
    static_cast<void>(sink.flush());
  });
  if (!had_memory) text.clear();
  return text;
}

KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_STACKS_DEEP_STACKS_HPP
#define KPROF_REPORT_STACKS_DEEP_STACKS_HPP

// Formats in which each node has its whole stack grow with the square of the depth. Of a stack of
// many frames they have the outermost and the innermost ones, and between them how many were left
// out. Included by folded.hpp and pprof.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>

#include <cstddef>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// A stack of more frames is cut.
inline constexpr std::size_t most_frames = 1000;
/// So many of a cut stack's frames are left on either side.
inline constexpr std::size_t frames_at_an_end = 100;

/// The frame in the middle of a cut stack of so many frames: "… 8,800 frames".
inline std::string left_out_frame(std::size_t frames) {
  return "… " + counted(frames - 2 * frames_at_an_end, "frame", "frames");
}

}  // namespace detail
KPROF_DETAIL_END

#endif

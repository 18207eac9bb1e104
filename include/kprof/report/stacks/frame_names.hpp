// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_STACKS_FRAME_NAMES_HPP
#define KPROF_REPORT_STACKS_FRAME_NAMES_HPP

// Names of frames: operators, regions, threads and kernels, as text of one line in UTF-8. Included
// by the outputs that write stacks. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/parameter_parts.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/profile.hpp>
#include <kprof/write/printable.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Foreign text in one line, without control characters; of more than 1,000 columns the beginning.
inline std::string frame_text(std::string_view text) {
  return text.empty() ? "(no name)" : printable(text, 1000);
}

inline std::string thread_frame(const profile& p, std::uint32_t thread) {
  if (thread >= p.threads.size()) return "(unknown thread)";
  const thread_info& t = p.threads[thread];
  if (t.merged > 0) return std::to_string(t.merged) + " threads kept together";
  return t.name.empty() ? "thread " + std::to_string(t.id) : frame_text(t.name);
}

/// "layer", "Gemm", "Gemm(M=64 N=64 K=128)".
inline std::string frame_name(const profile& p, std::size_t node, bool with_parameters) {
  const scope_node& n = p.nodes[node];
  if (n.kind == scope_kind::root) return thread_frame(p, n.thread);
  // Not "graph", a keyword that gprof2dot does not quote.
  if (n.kind == scope_kind::graph) return "CUDA graph";
  std::string name = frame_text(n.name);
  if (!with_parameters || n.kind != scope_kind::op) return name;
  const std::string parameters = joined(parameter_parts(p, n, which_fields::telling));
  return parameters.empty() ? name : name + '(' + frame_text(parameters) + ')';
}

/// What a device did, as a frame below the scope that launched it.
class work_frames {
 public:
  explicit work_frames(const profile& p) {
    for (const std::string& name : telling_names_of(p.device)) kernels_.push_back(frame_text(name));
  }
  std::string name(const device_work& w) const {
    if (w.task == device_task::copy) return "(copy)";
    if (w.task == device_task::set) return "(memset)";
    return w.kernel < kernels_.size() ? kernels_[w.kernel] : "(other kernels)";
  }

 private:
  std::vector<std::string> kernels_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

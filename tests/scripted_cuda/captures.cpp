// SPDX-License-Identifier: MIT
// Stream capture.
#include "gpu.hpp"

#include <algorithm>

using namespace scripted;

namespace {

struct captures {
  std::mutex lock;
  std::vector<std::shared_ptr<capture>> active;
  std::uint64_t ids = 0;
  std::atomic<int> count{0}, global{0}, blocking{0};
};

captures& all_captures() {
  static auto* made = new captures;
  return *made;
}

void count_capture(const capture& c, int by) {
  captures& all = all_captures();
  all.count += by;
  if (c.mode == cudaStreamCaptureModeGlobal) all.global += by;
  if (c.mode != cudaStreamCaptureModeRelaxed) this_thread().captures += by;
  if (c.origin->blocking) all.blocking += by;
}

cudaError_t begin_capture(CUstream_st& s, cudaStreamCaptureMode mode) {
  if (s.legacy) return cudaErrorStreamCaptureUnsupported;
  if (s.capturing) return cudaErrorIllegalState;
  captures& all = all_captures();
  auto made = std::make_shared<capture>();
  made->mode = mode;
  made->graph = make_graph();
  made->origin = &s;
  made->thread = std::this_thread::get_id();
  made->streams.push_back(&s);
  const std::lock_guard guard(all.lock);
  made->id = ++all.ids;
  count_capture(*made, 1);
  s.capturing = made;
  all.active.push_back(std::move(made));
  return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& s, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!s.capturing) return cudaErrorIllegalState;
  const auto ended = s.capturing;
  if (ended->origin != &s) return cudaErrorStreamCaptureUnmatched;
  if (ended->mode != cudaStreamCaptureModeRelaxed && ended->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  for (CUstream_st* joined : ended->streams) {
    joined->capturing.reset();
    joined->last_nodes.clear();
  }
  captures& all = all_captures();
  {
    const std::lock_guard guard(all.lock);
    std::erase(all.active, ended);
    count_capture(*ended, -1);
  }
  if (ended->invalid) return destroy_graph(ended->graph), cudaErrorStreamCaptureInvalidated;
  *graph = ended->graph;
  return cudaSuccess;
}

}  // namespace

namespace scripted {

bool any_capture() { return all_captures().count.load(std::memory_order_relaxed) != 0; }
bool any_blocking_capture() { return all_captures().blocking.load(std::memory_order_relaxed) != 0; }

bool capturing_forbids_unsafe_calls() {
  const runtime_thread& t = this_thread();
  if (!any_capture() || t.capture_mode == cudaStreamCaptureModeRelaxed) return false;
  return t.captures != 0 ||
         (t.capture_mode == cudaStreamCaptureModeGlobal && all_captures().global != 0);
}

void invalidate_captures() {
  captures& all = all_captures();
  const std::lock_guard guard(all.lock);
  for (const auto& active : all.active) active->invalid = true;
}

cudaError_t capture_work(CUstream_st& s, const work& what) {
  if (s.capturing->invalid) return cudaErrorStreamCaptureInvalidated;
  const std::lock_guard guard(s.capturing->changes);
  s.last_nodes = {add_node(*s.capturing->graph, s.last_nodes, what)};
  return cudaSuccess;
}

void abandon_capture(CUstream_st& s) {
  cudaGraph_t graph = nullptr;
  if (s.capturing && end_capture(s, &graph) == cudaSuccess) destroy_graph(graph);
}

cudaError_t join_capture(CUstream_st& s, const CUevent_st& event,
                         const std::shared_ptr<capture>& captured) {
  if (s.legacy) return cudaErrorStreamCaptureImplicit;
  if (s.capturing && s.capturing != captured) return cudaErrorStreamCaptureMerge;
  if (!s.capturing) {
    const std::lock_guard guard(captured->changes);
    captured->streams.push_back(&s);
  }
  s.capturing = captured;
  for (CUgraphNode_st* node : event.captured_nodes) {
    if (std::find(s.last_nodes.begin(), s.last_nodes.end(), node) == s.last_nodes.end())
      s.last_nodes.push_back(node);
  }
  return cudaSuccess;
}

}  // namespace scripted

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  SCRIPTED_CALL(cudaStreamBeginCapture_v10000, (stream, mode),
                [&](auto&) { return begin_capture(resolve(stream), mode); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  SCRIPTED_CALL(cudaStreamEndCapture_v10000, (stream, graph),
                [&](auto&) { return end_capture(resolve(stream), graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  SCRIPTED_CALL(cudaStreamIsCapturing_v10000, (stream, status), [&](auto&) {
    const auto& c = resolve(stream).capturing;
    *status = !c           ? cudaStreamCaptureStatusNone
              : c->invalid ? cudaStreamCaptureStatusInvalidated
                           : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  SCRIPTED_CALL(cudaStreamGetCaptureInfo_v12030, (stream, status, id, graph, after, edges, count),
                [&](auto&) {
                  CUstream_st& s = resolve(stream);
                  const auto& c = s.capturing;
                  *status = !c           ? cudaStreamCaptureStatusNone
                            : c->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
                  if (!c) return cudaSuccess;
                  if (id != nullptr) *id = c->id;
                  if (graph != nullptr) *graph = c->graph;
                  if (after != nullptr) *after = s.last_nodes.data();
                  if (edges != nullptr) *edges = nullptr;
                  if (count != nullptr) *count = s.last_nodes.size();
                  return cudaSuccess;
                });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  SCRIPTED_CALL(cudaThreadExchangeStreamCaptureMode_v10010, (mode), [&](auto&) {
    std::swap(*mode, this_thread().capture_mode);
    return cudaSuccess;
  });
}

}  // extern "C"

// SPDX-License-Identifier: MIT
// What CUDA's opaque handles point to in the scripted CUDA.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_HANDLES_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_HANDLES_HPP

#include "shared.hpp"

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace scripted {

// What a stream or a graph node is asked to do: the record of it, and what is really done on the
// host.
struct work {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  device_op op;
  CUkern_st* kernel = nullptr;
  char* to = nullptr;
  const char* from = nullptr;
  std::size_t width = 0, height = 0, to_pitch = 0, from_pitch = 0;  // bytes
  unsigned element_size = 1;
  cudaHostFn_t function = nullptr;
  void* argument = nullptr;
  CUgraph_st* child = nullptr;
};

// The streams that one cudaStreamBeginCapture drew in, and the graph that they build.
struct capture {
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  CUgraph_st* graph = nullptr;
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;
  std::thread::id thread;  // that began it
  bool invalid = false;
  std::mutex changes;  // of the graph and the streams, by threads that capture at once
};

}  // namespace scripted

struct CUctx_st {
  std::uint32_t id = 0, device = 0;
};

struct CUkern_st {
  std::string name;
  std::atomic<bool> loaded{false};
};

struct CUstream_st {
  std::uint32_t id = 0, device = 0;
  bool blocking = true, legacy = false;
  // of its last work, in GPU time; and how much it ran. Guarded by the GPU's lock.
  std::uint64_t end = 0, count = 0;
  std::shared_ptr<scripted::capture> capturing;
  std::vector<CUgraphNode_st*> last_nodes;
};

struct CUevent_st {
  std::uint32_t id = 0;
  bool timed = true;
  std::mutex lock;  // guards what follows: a thread may wait for an event while another records it
  std::uint64_t time = 0;
  std::weak_ptr<scripted::capture> captured;
  std::vector<CUgraphNode_st*> captured_nodes;
};

struct CUgraphNode_st {
  std::uint64_t id = 0;  // the graph's id in the upper half
  CUgraph_st* graph = nullptr;
  CUgraphNode_st* original = nullptr;
  scripted::work what;
  std::vector<CUgraphNode_st*> after;
  std::uint64_t end = 0;  // of the launch under way
};

struct CUgraph_st {
  std::uint32_t id = 0, next_node = 0;
  CUgraph_st* original = nullptr;
  CUgraphNode_st* parent = nullptr;  // the child graph node that this graph belongs to
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  std::uint32_t id = 0;
  CUgraph_st* graph = nullptr;  // a clone, its own
};

#endif

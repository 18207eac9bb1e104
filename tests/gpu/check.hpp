// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_CHECK_HPP
#define KPROF_TESTS_GPU_CHECK_HPP

// What the programs of the GPU suite share: checks that print a line each, the modes of a program,
// and what a profile says of the device's work. run.sh reads the lines: "PASS <check>", "FAIL
// <check>: <why>", "SKIP <mode>: <why>", "NOTE <text>".

#include <kprof/kprof.hpp>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

// ---- checks

inline std::string check_prefix;  // "attribution.plain"
inline int checks_failed = 0;
inline bool long_run = false;  // --long

inline void report_check(bool right, const std::string& what, const std::string& why) {
  if (!right) ++checks_failed;
  std::printf("%s %s: %s%s%s\n", right ? "PASS" : "FAIL", check_prefix.c_str(), what.c_str(),
              right || why.empty() ? "" : ": ", right ? "" : why.c_str());
  std::fflush(stdout);  // a later crash must not take it along
}
template <class A, class B>
void report_equal(const std::string& what, const A& got, const B& wanted, const char* file,
                  int line) {
  std::ostringstream why;
  why << "is " << got << ", must be " << wanted << " (" << file << ':' << line << ')';
  report_check(got == wanted, what, why.str());
}
inline void report_within(const std::string& what, double got, double low, double high,
                          const char* file, int line) {
  std::ostringstream why;
  why << "is " << got << ", must be from " << low << " to " << high << " (" << file << ':' << line
      << ')';
  report_check(got >= low && got <= high, what, why.str());  // not a number is not within
}
inline void note(const std::string& text) {
  std::printf("NOTE %s: %s\n", check_prefix.c_str(), text.c_str());
  std::fflush(stdout);
}

/// `what` is a sentence about the fact: it is what a reader of the results sees.
#define CHECK(what, condition)      \
  report_check((condition), (what), \
               std::string{#condition " ("} + __FILE__ + ':' + std::to_string(__LINE__) + ')')
/// The same in a loop: only a failure is a line.
#define CHECK_QUIETLY(what, condition)          \
  do                                            \
    if (!(condition)) CHECK((what), condition); \
  while (false)
#define CHECK_EQUAL(what, got, wanted) report_equal((what), (got), (wanted), __FILE__, __LINE__)
#define CHECK_WITHIN(what, got, low, high) \
  report_within((what), (got), (low), (high), __FILE__, __LINE__)
#define CUDA(call) cuda_must((call), #call, __FILE__, __LINE__)

inline void cuda_must(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  report_check(
      false, std::string{"CUDA works, "} + call,
      std::string{cudaGetErrorString(error)} + " (" + file + ':' + std::to_string(line) + ')');
  std::exit(1);
}

/// What cuBLAS, cuDNN and their like return.
inline void library_must(bool worked, const char* library, const char* why) {
  if (worked) return;
  report_check(false, std::string{library} + " works", why);
  std::exit(1);
}

[[noreturn]] inline void skip(const std::string& why) {
  std::printf("SKIP %s: %s\n", check_prefix.c_str(), why.c_str());
  std::exit(77);
}
/// A function of a library that was opened; without it the mode is skipped, if it is needed.
template <class Function>
Function* function_of(void* library, const char* name, bool needed = true) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr && needed) skip(std::string{"the library has no "} + name);
  return found;
}

// ---- modes

/// Whether kernels are executed; the scripted CUDA, which exports `scripted_launches`, only notes
/// them.
inline bool kernels_compute() { return dlsym(RTLD_DEFAULT, "scripted_launches") == nullptr; }

/// What a program can be told to do. Each mode is run in a process of its own, as there is one
/// CUPTI session a process.
struct mode {
  enum kind : std::uint8_t {
    any,  ///< also where kernels are noted and not executed
    gpu,  ///< only on a GPU: it compares times or results, or calls what the scripted CUDA has not
    helper,  ///< started by another mode; not listed
  };
  const char* name;
  void (*run)();
  kind needs;
};

inline std::string why_no_gpu() {
  int gpus = 0;
  const cudaError_t found = cudaGetDeviceCount(&gpus);
  if (found == cudaSuccess && gpus > 0) return {};
  return found == cudaSuccess ? "none found" : cudaGetErrorString(found);
}

/// `program MODE [--long]`, `program --list` or `program --gpu`, which names it. Ends with 0, with
/// 1 where a check failed, with 77 without a GPU.
inline int run_modes(int argc, char** argv, const char* program, const std::vector<mode>& modes) {
  const std::string wanted = argc > 1 ? argv[1] : "--list";
  for (int i = 2; i < argc; ++i) long_run = long_run || std::strcmp(argv[i], "--long") == 0;
  if (wanted == "--list") {
    for (const mode& m : modes)
      if (m.needs != mode::helper)
        std::printf("%s %s\n", m.name, m.needs == mode::any ? "any" : "gpu");
    return 0;
  }
  check_prefix = std::string{program} + '.' + wanted;
  if (wanted == "--gpu") {
    const std::string why = why_no_gpu();
    if (!why.empty()) return std::printf("no GPU (%s)\n", why.c_str()), 77;
    cudaDeviceProp props{};
    CUDA(cudaGetDeviceProperties(&props, 0));
    return std::printf("%s\n", kernels_compute() ? props.name : "scripted CUDA"), 0;
  }
  for (const mode& m : modes) {
    if (wanted != m.name) continue;
    if (m.needs == mode::gpu && !kernels_compute())
      return std::printf("SKIP %s: kernels are not executed here\n", check_prefix.c_str()), 77;
    m.run();
    return checks_failed == 0 ? 0 : 1;
  }
  std::fprintf(stderr, "%s has no mode %s; --list shows them\n", program, wanted.c_str());
  return 2;
}

// ---- what a profile says

/// Rows of device work, added up.
struct tally {
  std::uint64_t kernels = 0, copies = 0, sets = 0;  // runs
  std::uint64_t copied = 0, set = 0;                // bytes
  std::uint64_t untimed = 0, gaps = 0;
  double ns = 0, gap_ns = 0;
  double min_ns = 0, max_ns = 0;

  std::uint64_t runs() const { return kernels + copies + sets; }
  void add(const kprof::device_work& w) {
    switch (w.task) {
      case kprof::device_task::kernel: kernels += w.calls; break;
      case kprof::device_task::copy: copies += w.calls, copied += w.bytes; break;
      case kprof::device_task::set: sets += w.calls, set += w.bytes; break;
    }
    if (w.calls > w.untimed) {
      min_ns = ns == 0 || w.min_ns < min_ns ? w.min_ns : min_ns;
      max_ns = w.max_ns > max_ns ? w.max_ns : max_ns;
    }
    untimed += w.untimed, gaps += w.gaps, ns += w.total_ns, gap_ns += w.gap_ns;
  }
};

template <class Wanted>
tally tally_if(const kprof::profile& p, Wanted wanted) {
  tally sum;
  for (const kprof::device_work& w : p.device.work)
    if (wanted(w)) sum.add(w);
  return sum;
}

inline std::string title(const kprof::profile& p, const kprof::scope_node& n) {
  const std::string parameters = parameter_text(p, n);
  return parameters.empty() ? n.name : n.name + ' ' + parameters;
}

/// `title`: a name alone, or one with all its parameters, "Touch id=1 n=1024".
inline bool is_called(const kprof::profile& p, const kprof::scope_node& n,
                      const std::string& name) {
  return n.kind != kprof::scope_kind::root && n.kind != kprof::scope_kind::graph &&
         (n.name == name || title(p, n) == name);
}
inline bool is_within(const kprof::profile& p, std::uint32_t node, const std::string& name) {
  for (; node != kprof::scope_node::none; node = p.nodes[node].parent)
    if (is_called(p, p.nodes[node], name)) return true;
  return false;
}

inline tally everything(const kprof::profile& p) {
  return tally_if(p, [](const kprof::device_work&) { return true; });
}
/// Work whose innermost scope is called so.
inline tally directly_in(const kprof::profile& p, const std::string& name) {
  return tally_if(p, [&](const kprof::device_work& w) {
    return w.scope != kprof::device_work::none && is_called(p, p.nodes[w.scope], name);
  });
}
/// The same, and what is in scopes below.
inline tally within(const kprof::profile& p, const std::string& name) {
  return tally_if(p, [&](const kprof::device_work& w) {
    return w.scope != kprof::device_work::none && is_within(p, w.scope, name);
  });
}
inline tally outside_scopes(const kprof::profile& p) {
  return tally_if(p, [&](const kprof::device_work& w) {
    return w.scope != kprof::device_work::none && p.nodes[w.scope].kind == kprof::scope_kind::root;
  });
}
inline tally of_no_known_launch(const kprof::profile& p) {
  return tally_if(p,
                  [](const kprof::device_work& w) { return w.scope == kprof::device_work::none; });
}

struct scope_counts {
  std::uint64_t calls = 0, captured = 0, replays = 0;
};
inline scope_counts scopes(const kprof::profile& p, const std::string& name) {
  scope_counts sum;
  for (const kprof::scope_node& n : p.nodes)
    if (is_called(p, n, name))
      sum.calls += n.calls, sum.captured += n.captured, sum.replays += n.replays;
  return sum;
}
inline std::uint64_t graph_launches(const kprof::profile& p) {
  std::uint64_t sum = 0;
  for (const kprof::scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::graph) sum += n.replays;
  return sum;
}

/// Everything that was launched is accounted for. Only after all work is done.
inline void check_complete(const kprof::profile& p) {
  const kprof::device_completeness& c = p.device.complete;
  if (!p.device.collecting)
    CHECK_EQUAL("the device's work is collected", p.device.state, "collecting");
  CHECK_EQUAL("launches are attributed, outside of operators or open", c.launches,
              c.attributed + c.outside + c.open);
  CHECK_EQUAL("no launch is open", c.open, 0U);
  CHECK_EQUAL("the launch of every record was seen", c.unknown, 0U);
  CHECK_EQUAL("work of no known launch", of_no_known_launch(p).runs(), 0U);
  CHECK_EQUAL("no record was dropped", c.dropped, 0U);
  CHECK_EQUAL("every record has its timing", c.untimed, 0U);
  CHECK_EQUAL("every kind of record is known", c.odd, 0U);
  CHECK_EQUAL("every record is in a row of work", everything(p).runs(), c.records);
}

/// What the state of a collector that is not at work must hold, for a message with the rest.
inline void check_not_collecting(const kprof::profile& p, const char* reason) {
  CHECK("nothing is collected", !p.device.collecting);
  CHECK("the state says why: " + p.device.state, p.device.state.find(reason) != std::string::npos);
  CHECK_EQUAL("there is no work of the device", p.device.work.size(), 0U);
}

// ---- device memory

template <class T>
class device_array {
 public:
  explicit device_array(std::size_t n) { CUDA(cudaMalloc(&data_, n * sizeof(T))); }
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  T* data() { return data_; }

 private:
  T* data_ = nullptr;
};

#endif

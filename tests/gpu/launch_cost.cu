// SPDX-License-Identifier: MIT
//
// Two ways to know who launched a kernel, done with CUPTI itself: a callback of the launch that
// notes its id, as kprof does, and an external id that is pushed before it. launch_cost.py runs
// each way in a process of its own and compares what they cost and whether each gives every kernel
// to its operator.
//
//     launch_cost VARIANT LAUNCHES THREADS        prints one line of JSON
//     launch_cost --variants                      a line each

#include "facts.hpp"
#include "kernels.cuh"

#include <chrono>
#include <map>

namespace {

constexpr std::uint32_t operators = 10;

// launches: of both interfaces
enum class calls : std::uint8_t { none, runtime_launches, launches, runtime };

struct way {
  const char* name;
  bool work = true;  // records of the work
  calls callbacks = calls::none, records = calls::none;
  bool external = false;  // ids that are pushed
};
constexpr way ways[] = {
    {"bare", false},
    {"records of the work"},
    {"callbacks of the runtime's launches", true, calls::runtime_launches},
    {"callbacks of all launches", true, calls::launches},
    {"records of the runtime's launches", true, calls::none, calls::runtime_launches},
    {"external ids, records of the runtime's launches", true, calls::none, calls::runtime_launches,
     true},
    {"external ids, records of all launches", true, calls::none, calls::launches, true},
    {"external ids, records of all the runtime's calls", true, calls::none, calls::runtime, true},
};

/// What a thread noted of its launches: ids and operators, two words each, as in a thread's log.
struct notes {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launched;
  std::uint32_t now = 0;  // operator
  std::uint64_t callbacks = 0;
};
thread_local notes* mine = nullptr;

/// The id of the runtime's call, and that of the driver's in it where it has one of its own, as
/// kprof notes them.
void CUPTIAPI note_launch(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (mine == nullptr) return;
  ++mine->callbacks;
  if (call.callbackSite == CUPTI_API_EXIT) return;
  if (mine->launched.empty() || mine->launched.back().first != call.correlationId)
    mine->launched.emplace_back(call.correlationId, mine->now);
}

/// Calls visit(id) for those of a domain that kprof takes for launches.
template <class Visit>
void each_launch(CUpti_CallbackDomain domain, Visit visit) {
  const char* name = nullptr;
  const auto name_of = CUPTI_FUNCTION(cuptiGetCallbackName);
  for (std::uint32_t id = 1; name_of(domain, id, &name) == CUPTI_SUCCESS && name != nullptr; ++id)
    if (names_launch(name)) visit(id);
}

void begin(const way& how) {
  if (how.callbacks != calls::none) {
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(cuptiSubscribe, &subscriber, note_launch, nullptr);
    const auto listen = [&](CUpti_CallbackDomain domain) {
      each_launch(domain,
                  [&](std::uint32_t id) { CUPTI(cuptiEnableCallback, 1, subscriber, domain, id); });
    };
    listen(CUPTI_CB_DOMAIN_RUNTIME_API);
    if (how.callbacks == calls::launches) listen(CUPTI_CB_DOMAIN_DRIVER_API);
  }
  if (!how.work) return;
  activity_log::begin(4U << 20);
  if (how.external) CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  if (how.records == calls::runtime) CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_RUNTIME);
  if (how.records == calls::runtime_launches || how.records == calls::launches)
    each_launch(CUPTI_CB_DOMAIN_RUNTIME_API,
                [](std::uint32_t id) { CUPTI(cuptiActivityEnableRuntimeApi, id, 1); });
  if (how.records == calls::launches)
    each_launch(CUPTI_CB_DOMAIN_DRIVER_API,
                [](std::uint32_t id) { CUPTI(cuptiActivityEnableDriverApi, id, 1); });
  enable_work();
}

double ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// One thread's launches, in two streams; returns the ns in which they were queued. The waits
/// between batches, which a full queue would hide in some launches, are not in it.
double launch(const way& how, int launches, notes& told) {
  constexpr int batch = 500;
  const auto push = how.external ? CUPTI_FUNCTION(cuptiActivityPushExternalCorrelationId) : nullptr;
  const auto pop = how.external ? CUPTI_FUNCTION(cuptiActivityPopExternalCorrelationId) : nullptr;
  static float* const nowhere = nullptr;  // no element of it is touched
  cudaStream_t s[2] = {};
  for (cudaStream_t& one : s) CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  double ns = 0;
  std::uint64_t popped = 0;
  for (int i = 0; i < launches;) {
    mine = &told;
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < batch && i < launches; ++k, ++i) {
      const std::uint32_t op = static_cast<std::uint32_t>(i) % operators;
      told.now = op;
      if (push != nullptr) push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 100 + op);
      touch_kernel<<<op + 1, 32, 0, s[i % 2]>>>(nowhere, 0);  // the grid says whose it is
      if (pop != nullptr) pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
    }
    ns += ns_since(begin);
    mine = nullptr;
    for (const cudaStream_t one : s) CUDA(cudaStreamSynchronize(one));
  }
  CUDA(cudaGetLastError());
  for (const cudaStream_t one : s) CUDA(cudaStreamDestroy(one));
  return ns;
}

/// ns a launch, of all threads.
double launch_all(const way& how, int launches, std::vector<notes>& told) {
  std::vector<double> ns(told.size());
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < told.size(); ++t)
    others.emplace_back([&, t] { ns[t] = launch(how, launches, told[t]); });
  ns[0] = launch(how, launches, told[0]);
  for (std::thread& one : others) one.join();
  double sum = 0;
  for (const double one : ns) sum += one;
  return sum / launches / static_cast<double>(told.size());
}

struct outcome {
  std::size_t records = 0, right = 0;  // right: by the grid, which tells whose it is
};
/// Gives each kernel to an operator, by the way's own ids.
outcome attribute(const way& how, const std::vector<notes>& told) {
  std::map<std::uint32_t, std::uint32_t> operator_of;  // by correlation id
  if (how.callbacks != calls::none)
    for (const notes& n : told)
      for (const auto& [id, op] : n.launched) operator_of[id] = op;
  const std::vector<record> all = activity_log::records();
  if (how.external)
    for (const record& r : all)
      if (r.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
        operator_of[r.correlation] = static_cast<std::uint32_t>(r.external) - 100;
  outcome found;
  for (const record& r : all) {
    if (!r.is_work()) continue;
    ++found.records;
    const auto op = operator_of.find(r.correlation);
    if (op == operator_of.end()) continue;
    found.right += r.grid_x == static_cast<std::int32_t>(op->second) + 1 ? 1 : 0;
  }
  return found;
}

/// ns of one push and pop.
double push_and_pop() {
  constexpr int times = 1'000'000;
  const auto push = CUPTI_FUNCTION(cuptiActivityPushExternalCorrelationId);
  const auto pop = CUPTI_FUNCTION(cuptiActivityPopExternalCorrelationId);
  std::uint64_t popped = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) {
    push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 1);
    pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
  }
  return ns_since(begin) / times;
}

int measure(const way& how, int launches, int threads) {
  touch_kernel<<<1, 32>>>(static_cast<float*>(nullptr), 0);  // is loaded now
  CUDA(cudaDeviceSynchronize());
  begin(how);
  std::vector<notes> told(static_cast<std::size_t>(threads));
  for (notes& n : told) n.launched.reserve(2 * static_cast<std::size_t>(launches));
  launch_all(how, launches / 10, told);
  for (notes& n : told) n.launched.clear(), n.callbacks = 0;
  if (how.work) CUPTI(cuptiActivityFlushAll, 0);
  activity_log::forget();
  const double ns = launch_all(how, launches, told);
  if (how.work) finish_work();
  const outcome found = attribute(how, told);
  std::uint64_t callbacks = 0;
  for (const notes& n : told) callbacks += n.callbacks;
  std::printf(
      "{\"launches\": %d, \"launch_ns\": %.1f, \"records\": %zu, \"right\": %zu, "
      "\"dropped\": %llu, \"callbacks\": %.2f, \"push_pop_ns\": %.2f}\n",
      launches, ns, found.records, found.right,
      static_cast<unsigned long long>(activity_log::dropped()),
      static_cast<double>(callbacks) / launches / threads, how.external ? push_and_pop() : 0.0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  check_prefix = "launch_cost";
  const std::string variant = argc > 1 ? argv[1] : "";
  if (variant == "--variants") {
    for (const way& how : ways) std::printf("%s\n", how.name);
    return 0;
  }
  const int launches = argc == 4 ? std::atoi(argv[2]) : 0,
            threads = argc == 4 ? std::atoi(argv[3]) : 0;
  for (const way& how : ways)
    if (variant == how.name && threads > 0 && launches >= 10 * static_cast<int>(operators))
      return measure(how, launches / 100 * 100, threads);
  return std::fprintf(stderr,
                      "usage: launch_cost VARIANT LAUNCHES THREADS | launch_cost --variants; at "
                      "least 100 launches\n"),
         2;
}

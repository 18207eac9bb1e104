// SPDX-License-Identifier: MIT
// The environment, and what a test can ask: see scripted_cuda.hpp.
#include "shared.hpp"

#include "scripted_cuda.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace scripted;

namespace {

// All state is leaked: atexit handlers and destructors of a client may still come here.
std::atomic<std::uint32_t> misuses{0};
std::atomic<const char*> first_misuse{nullptr};

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

bool equals(const char* name, const char* value) {
  const char* text = std::getenv(name);
  return text != nullptr && std::strcmp(text, value) == 0;
}

// Whichever version of it a program asks the driver for.
std::string without_version(std::string name) {
  const bool of_driver = name.compare(0, 5, "cupti") != 0;
  if (of_driver && name.size() > 3 && name.compare(name.size() - 3, 3, "_v2") == 0)
    name.resize(name.size() - 3);
  return name;
}

// name, name:first or name:first-last
void read_failing_call(settings& set, const std::string& text) {
  const std::size_t colon = text.find(':');
  set.failing_call = without_version(text.substr(0, colon));
  if (colon == std::string::npos) return;
  unsigned long long first = 1, last = ~0ULL;
  std::sscanf(text.c_str() + colon + 1, "%llu-%llu", &first, &last);
  set.first_failure = first;
  set.last_failure = last;
}

void read(settings& set) {
  set.seed = number("SCRIPTED_SEED", 1);
  set.devices = std::min<std::uint64_t>(number("SCRIPTED_DEVICES", 2), 16);
  set.speed = std::max<std::uint64_t>(number("SCRIPTED_SPEED", 1), 1);
  set.wait_ms = number("SCRIPTED_WAIT_MS", 50);
  set.kernel_us = number("SCRIPTED_KERNEL_US", 10);
  set.version = number("SCRIPTED_VERSION", CUPTI_API_VERSION);
  set.deadlock_s = number("SCRIPTED_DEADLOCK_S", 30);
  set.buffer = number("SCRIPTED_BUFFER", 0);
  set.refuse = number("SCRIPTED_REFUSE", 0);
  set.drop = number("SCRIPTED_DROP", 0);
  set.zero_times = number("SCRIPTED_ZERO_TIMES", 0);
  set.reversed = number("SCRIPTED_REVERSED", 0);
  set.ahead = number("SCRIPTED_AHEAD", 0);
  set.odd = number("SCRIPTED_ODD", 0);
  set.carve_out = number("SCRIPTED_CARVE_OUT", 0);
  set.cut = number("SCRIPTED_CUT", 0);
  set.end_ms = number("SCRIPTED_END_MS", 0);
  set.monotonic_clock = equals("SCRIPTED_CLOCK", "monotonic");
  set.refuse_end = number("SCRIPTED_REFUSE_END", 0) != 0;
  set.no_driver = number("SCRIPTED_NO_DRIVER", 0) != 0;
  set.hang_when_disabling = number("SCRIPTED_HANG", 0) != 0;
  set.busy_beside_others = equals("SCRIPTED_BUSY", "v2");
  set.busy = set.busy_beside_others || number("SCRIPTED_BUSY", 0) != 0;
  set.refuse_activity = equals("SCRIPTED_NO_PERMISSION", "enable");
  set.refuse_subscription = number("SCRIPTED_NO_PERMISSION", 0) != 0;
  set.own_driver_id = equals("SCRIPTED_DRIVER_ID", "own");
  set.correlation_needs_api = equals("SCRIPTED_CORRELATION", "api");
  set.late_device = number("SCRIPTED_LATE_DEVICE", 0) != 0;
  if (const char* text = std::getenv("SCRIPTED_ENABLE_ERROR")) {
    std::sscanf(text, "%u:%u", &set.failing_kind, &set.failing_code);
  }
  if (const char* text = std::getenv("SCRIPTED_TRUTH")) set.truth = text;
  if (const char* text = std::getenv("SCRIPTED_FAIL")) read_failing_call(set, text);
}

void report_at_exit() {
  if (const shared_state& all = shared(); !all.set.failing_call.empty() && !all.forked)
    std::fprintf(stderr, "scripted cuda: made %s fail: %llu of %llu\n",
                 all.set.failing_call.c_str(), static_cast<unsigned long long>(all.made_to_fail),
                 static_cast<unsigned long long>(all.calls_that_may_fail));
  if (shared().truth != nullptr && !shared().forked) std::fflush(shared().truth);
  const std::uint32_t count = misuses;
  if (count != 0)
    std::fprintf(stderr, "scripted cupti: %u misuses; the first: %s\n", count, first_misuse.load());
}

// What is not written would be written by the child too.
void before_fork() {
  if (shared().truth != nullptr) std::fflush(shared().truth);
}

// In the child nothing of CUDA works, and kprof promises not to call CUPTI there.
void in_child() {
  shared().forked = true;
  misuses = 0;
  first_misuse = nullptr;
}

shared_state* make_shared_state() {
  auto* state = new shared_state;
  read(state->set);
  state->correlation = static_cast<std::uint32_t>(number("SCRIPTED_LAST_ID", 0));
  if (!state->set.truth.empty()) state->truth = std::fopen(state->set.truth.c_str(), "w");
  return state;
}

thread_local thread_state state_of_thread;

}  // namespace

extern "C" {

shared_state* scripted_shared_state() {
  static shared_state* state = [] {
    shared_state* made = make_shared_state();
    std::atexit(report_at_exit);
    pthread_atfork(before_fork, nullptr, in_child);
    return made;
  }();
  return state;
}

thread_state* scripted_thread_state() { return &state_of_thread; }

void scripted_note_misuse(const char* what) {
  const char* none = nullptr;
  first_misuse.compare_exchange_strong(none, what);
  if (misuses++ < 10) std::fprintf(stderr, "scripted cupti: misuse: %s\n", what);
}

bool scripted_call_fails(const char* function) {
  shared_state& all = shared();
  if (all.set.failing_call.empty() || all.set.failing_call != without_version(function))
    return false;
  const std::uint64_t call = ++all.calls_that_may_fail;
  if (call < all.set.first_failure || call > all.set.last_failure) return false;
  ++all.made_to_fail;
  return true;
}

std::uint32_t scripted_misuse() { return misuses; }
const char* scripted_misuse_text() { return first_misuse; }
std::uint64_t scripted_cupti_calls() { return shared().cupti_calls; }
std::uint64_t scripted_failed_calls() { return shared().failed_calls; }

const char* scripted_truth_path() {
  shared_state& state = shared();
  if (state.truth == nullptr) return nullptr;
  std::fflush(state.truth);
  return state.set.truth.c_str();
}

}  // extern "C"

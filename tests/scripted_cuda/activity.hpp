// SPDX-License-Identifier: MIT
// The activity half of the scripted libcupti: records, the buffers they go to, and their delivery.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_ACTIVITY_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_ACTIVITY_HPP

#include "handles.hpp"

namespace scripted {

// What hooks make of a call, of work on a GPU and of waiting for it.
void begin_activity(api_call& call);
void end_activity(const api_call& call);
void device_activity(const device_op& op);
void synchronization_activity(const synchronization& s);
void lazy_loading_activity(const api_call& call, std::uint64_t start, std::uint64_t end);

// How a call of CUPTI comes in: counted, and refused where CUPTI would refuse it. What CUPTI
// forbids is noted.
enum rule : unsigned {
  anywhere = 0,
  without_driver = 1,
  in_buffer_callbacks = 2,
  not_in_resource_callbacks = 4,
  first_set = 8  // has a counterpart in the set of calls that CUPTI 13.3 brought
};
bool refused(unsigned rules, const char* function, CUptiResult& result);
// Calls of the first set, made for one of the second: they are no misuse then.
struct for_second_set {
  for_second_set() { current_thread().in_second_set = true; }
  ~for_second_set() { current_thread().in_second_set = false; }
};
CUptiResult finished(CUptiResult result);
void install_hooks();
// Of a subscription that is being ended: all buffers, and takes SCRIPTED_END_MS.
void give_all_back();

template <class Body>
CUptiResult cupti_call(unsigned rules, const char* function, const Body& body) {
  CUptiResult result = CUPTI_SUCCESS;
  if (refused(rules, function, result)) return finished(result);
  return finished(body());
}

}  // namespace scripted

#endif

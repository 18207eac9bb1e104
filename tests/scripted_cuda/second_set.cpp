// SPDX-License-Identifier: MIT
// The calls that CUPTI 13.3 brought for clients that work beside each other, by their older
// counterparts. CUDA 13.0's headers do not declare them.
#include "activity.hpp"

using namespace scripted;

namespace {

using request_function = void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
using complete_function = void (*)(std::uint8_t*, std::size_t, std::size_t, void*);

std::atomic<request_function> request{nullptr};
std::atomic<complete_function> complete{nullptr};

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  request.load()(buffer, size, most, nullptr);
}
void complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                     std::size_t valid) {
  complete.load()(buffer, size, valid, nullptr);
}

// Only who subscribed by this set may make its calls.
template <class Call>
CUptiResult of_subscriber(CUpti_SubscriberHandle who, const char* function, const Call& call) {
  if (scripted_call_fails(function)) return CUPTI_ERROR_UNKNOWN;
  if (who == nullptr || !shared().beside_others) return CUPTI_ERROR_INVALID_PARAMETER;
  const for_second_set mark;
  return call();
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle who,
                                              request_function requested,
                                              complete_function completed) {
  request = requested;
  complete = completed;
  return of_subscriber(who, __func__, [] {
    return cuptiActivityRegisterCallbacks(request_buffer, complete_buffer);
  });
}
CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle who, CUpti_ActivityKind kind, void*) {
  return of_subscriber(who, __func__, [&] { return cuptiActivityEnable(kind); });
}
CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle who, CUpti_ActivityKind kind, void*) {
  return of_subscriber(who, __func__, [&] { return cuptiActivityDisable(kind); });
}
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle who, std::uint8_t* buffer,
                                          std::size_t valid, CUpti_Activity** record) {
  // Also after the subscription has ended: the client reads what it was given.
  if (scripted_call_fails(__func__)) return CUPTI_ERROR_UNKNOWN;
  const for_second_set mark;
  return who == nullptr ? CUPTI_ERROR_INVALID_PARAMETER
                        : cuptiActivityGetNextRecord(buffer, valid, record);
}
CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle who, CUcontext context,
                                                 std::uint32_t stream, std::size_t* dropped) {
  return of_subscriber(who, __func__,
                       [&] { return cuptiActivityGetNumDroppedRecords(context, stream, dropped); });
}
// since CUPTI 13.4
CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle who, CUpti_CallbackId cbid,
                                             std::uint8_t enable) {
  return of_subscriber(who, __func__, [&] { return cuptiActivityEnableRuntimeApi(cbid, enable); });
}
CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle who, CUpti_CallbackId cbid,
                                            std::uint8_t enable) {
  return of_subscriber(who, __func__, [&] { return cuptiActivityEnableDriverApi(cbid, enable); });
}

}  // extern "C"

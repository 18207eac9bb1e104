// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_HOLD_CANCELLATION_HPP
#define KPROF_RECORD_HOLD_CANCELLATION_HPP

// pthread_cancel() unwinds a thread from wherever it waits or writes, and that may be within kprof.

#include <kprof/build_options.hpp>

#include <pthread.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds back the cancellation of this thread until the end of the block: unwinding from within
/// kprof would pass through functions that are noexcept.
class KPROF_DETAIL_LOCAL hold_cancellation {
 public:
  hold_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~hold_cancellation() { pthread_setcancelstate(before_, nullptr); }
  hold_cancellation(const hold_cancellation&) = delete;
  hold_cancellation& operator=(const hold_cancellation&) = delete;

 private:
  int before_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

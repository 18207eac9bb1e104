// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/collect/capturing_streams.hpp>

#include <cstdint>
#include <thread>

using kprof::detail::cupti::capturing_streams;

namespace {

void* stream(std::uintptr_t handle) { return reinterpret_cast<void*>(handle); }

template <class What>
void on_another_thread(What what) {
  std::thread(what).join();
}

}  // namespace

TEST_CASE("capturing_streams.a_stream_per_thread_is_another_one_on_each_thread") {
  capturing_streams all;
  all.begin(stream(2), nullptr);
  on_another_thread([&] {
    all.begin(stream(2), nullptr);
    all.end(stream(2));
    all.end(stream(2));  // there is none
    all.destroyed(stream(2));
  });
  CHECK(all.any());
  all.end(stream(0));  // the default stream where that is per thread: the same one
  CHECK_FALSE(all.any());
}

TEST_CASE("capturing_streams.other_streams_are_the_same_on_all_threads") {
  capturing_streams all;
  all.begin(stream(0x1000), nullptr);
  all.begin(stream(0x2000), nullptr);
  on_another_thread([&] { all.end(stream(0x1000)); });  // as of a relaxed capture
  CHECK(all.any());
  on_another_thread([&] { all.destroyed(stream(0x2000)); });
  CHECK_FALSE(all.any());
}

TEST_CASE("capturing_streams.a_begin_that_fails_leaves_the_capture_that_it_met") {
  capturing_streams all;
  all.begin(stream(0x1000), nullptr);
  all.begin(stream(0x1000), nullptr);
  all.end(stream(0x1000));
  CHECK(all.any());
  all.end(stream(0x1000));
  CHECK_FALSE(all.any());
}

TEST_CASE("capturing_streams.captures_end_with_their_context") {
  int one = 0, other = 0;
  capturing_streams all;
  all.begin(stream(0x1000), &one);
  all.begin(stream(2), &one);
  all.begin(stream(0x2000), &other);
  all.begin(stream(0x3000), nullptr);  // not told
  all.destroyed_with(&one);
  all.destroyed_with(nullptr);
  CHECK(all.any());
  all.end(stream(0x2000));
  CHECK(all.any());
  all.end(stream(0x3000));
  CHECK_FALSE(all.any());
}

TEST_CASE("capturing_streams.an_error_ends_a_capture_only_if_that_was_invalid") {
  using kprof::detail::cupti::ends_capture;
  CHECK(ends_capture(0));
  CHECK(ends_capture(901));  // cudaErrorStreamCaptureInvalidated
  CHECK(ends_capture(904));  // cudaErrorStreamCaptureUnjoined
  CHECK_FALSE(ends_capture(1));
  CHECK_FALSE(ends_capture(401));  // cudaErrorIllegalState
  CHECK_FALSE(ends_capture(903));  // cudaErrorStreamCaptureUnmatched
  CHECK_FALSE(ends_capture(908));  // cudaErrorStreamCaptureWrongThread
}

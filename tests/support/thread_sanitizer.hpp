// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_THREAD_SANITIZER_HPP
#define KPROF_TESTS_SUPPORT_THREAD_SANITIZER_HPP

// Whether the thread sanitizer runs the test: it forbids some things and touches memory of its own.

#if defined(__SANITIZE_THREAD__)
#define KPROF_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KPROF_TEST_THREAD_SANITIZER 1
#endif
#endif
#ifndef KPROF_TEST_THREAD_SANITIZER
#define KPROF_TEST_THREAD_SANITIZER 0
#endif

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_ADDRESS_SANITIZER_HPP
#define KPROF_TESTS_SUPPORT_ADDRESS_SANITIZER_HPP

// Whether the address sanitizer runs the test. Where one thread allocates while another forks, the
// child's threads may wait for the allocator for ever: before LLVM 18 it takes no care of forks.

#if defined(__SANITIZE_ADDRESS__)
#define KPROF_TEST_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KPROF_TEST_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef KPROF_TEST_ADDRESS_SANITIZER
#define KPROF_TEST_ADDRESS_SANITIZER 0
#endif

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_VERSION_HPP
#define KPROF_VERSION_HPP

// The version of these headers. CMakeLists.txt and the single header read it from here.
// Include it to test for a feature; it costs nothing.

#define KPROF_VERSION_MAJOR 0
#define KPROF_VERSION_MINOR 1
#define KPROF_VERSION_PATCH 0

#endif

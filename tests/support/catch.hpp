// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CATCH_HPP
#define KPROF_TESTS_CATCH_HPP

// Catch2, version 3 or 2.13, whichever is there. main() is in catch_main.cpp.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#endif

# SPDX-License-Identifier: MIT
# The outputs come however the program ends.
set(KPROF_TEST_ENDING_SIGNALS 25 CACHE STRING "Random moments at which a signal comes")
add_executable(abuse_ending ending.cpp)
target_link_libraries(abuse_ending PRIVATE kprof_test_options)
kprof_share_session(abuse_ending)
set(how --signals ${KPROF_TEST_ENDING_SIGNALS})
if(NOT sanitized EQUAL -1)
  set(how --signals 5 --sanitized)   # each is a program that starts
endif()
add_test(NAME abuse.ending
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_ending.py
                 $<TARGET_FILE:abuse_ending> ${how})
set_tests_properties(abuse.ending PROPERTIES TIMEOUT 1800)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  # The leak sanitizer writes about threads of children made by clone().
  set_property(TEST abuse.ending PROPERTY ENVIRONMENT
               ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1)
endif()

# SPDX-License-Identifier: MIT
# Filters that would use up the stack, the memory or the time.
add_executable(abuse_filters filters.cpp)
target_link_libraries(abuse_filters PRIVATE kprof_test_options)
target_compile_options(abuse_filters PRIVATE -O1)
set(filters 100000)
if(NOT sanitized EQUAL -1)
  set(filters 3000)
endif()
add_test(NAME abuse.filters COMMAND abuse_filters ${filters})
set_tests_properties(abuse.filters PROPERTIES TIMEOUT 600)
add_test(NAME abuse.filters_from_the_environment
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_filters.py
                 $<TARGET_FILE:abuse_notes>)
set_tests_properties(abuse.filters_from_the_environment PROPERTIES TIMEOUT 120)

# SPDX-License-Identifier: MIT
# Standard streams, files and pipes that reports and messages must not harm, nor be harmed by.
add_executable(abuse_writer writer.cpp)
target_link_libraries(abuse_writer PRIVATE kprof_test_options)
kprof_share_session(abuse_writer)
add_executable(abuse_code_points code_points.cpp)
target_link_libraries(abuse_code_points PRIVATE kprof_test_options)
target_compile_options(abuse_code_points PRIVATE -O1)   # four times a million characters
set(no_forks "")
if(NOT sanitized EQUAL -1)
  # A child has the sanitizer's locks as they were, some held by threads that it has not.
  set(no_forks --no-forks)
endif()
set(checks descriptors files)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # At the end the thread sanitizer writes out standard output itself, and waits for its lock; and
  # the messages have no threads.
  list(APPEND checks standard_output)
  add_test(NAME abuse.messages
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_messages.py
                   $<TARGET_FILE:abuse_writer> $<TARGET_FILE:abuse_code_points>)
  set_tests_properties(abuse.messages PROPERTIES TIMEOUT 240)
endif()
foreach(check IN LISTS checks)
  add_test(NAME abuse.${check}
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_${check}.py
                   $<TARGET_FILE:abuse_writer> ${no_forks})
  set_tests_properties(abuse.${check} PROPERTIES TIMEOUT 240)
endforeach()

if(TARGET scripted_cuda AND TARGET cupti_replay)
  kprof_scripted_program(abuse_transcribed transcribed.cpp)
  target_link_libraries(abuse_transcribed PRIVATE kprof_test_options)
  kprof_share_session(abuse_transcribed)
  add_test(NAME abuse.transcript
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_transcript.py
                   $<TARGET_FILE:abuse_transcribed> $<TARGET_FILE:scripted_cupti>
                   $<TARGET_FILE:cupti_replay> ${no_forks})
  set_tests_properties(abuse.transcript PROPERTIES TIMEOUT 240)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
    # as in tests/cupti, and the scripted libcupti never frees a subscriber
    set_property(TEST abuse.transcript PROPERTY ENVIRONMENT
                 ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1)
  endif()
endif()

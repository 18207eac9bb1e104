# SPDX-License-Identifier: MIT
# Standard streams, files and pipes that reports and messages must not harm, nor be harmed by.
add_executable(abuse_writer writer.cpp)
target_link_libraries(abuse_writer PRIVATE kprof_test_options)
kprof_share_session(abuse_writer)
add_executable(abuse_code_points code_points.cpp)
target_link_libraries(abuse_code_points PRIVATE kprof_test_options)
foreach(check standard_output descriptors files)
  add_test(NAME abuse.${check}
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_${check}.py
                   $<TARGET_FILE:abuse_writer>)
endforeach()
add_test(NAME abuse.messages
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_messages.py
                 $<TARGET_FILE:abuse_writer> $<TARGET_FILE:abuse_code_points>)
set_tests_properties(abuse.standard_output abuse.descriptors abuse.files abuse.messages
                     PROPERTIES TIMEOUT 240)

if(TARGET scripted_cuda AND TARGET cupti_replay)
  kprof_scripted_program(abuse_transcribed transcribed.cpp)
  target_link_libraries(abuse_transcribed PRIVATE kprof_test_options)
  kprof_share_session(abuse_transcribed)
  add_test(NAME abuse.transcript
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_transcript.py
                   $<TARGET_FILE:abuse_transcribed> $<TARGET_FILE:scripted_cupti>
                   $<TARGET_FILE:cupti_replay>)
  set_tests_properties(abuse.transcript PROPERTIES TIMEOUT 240)
endif()

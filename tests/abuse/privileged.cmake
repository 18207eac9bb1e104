# SPDX-License-Identifier: MIT
# Programs with rights that their caller lacks.
add_library(abuse_foreign_library MODULE foreign_library.cpp)
foreach(program privileged privileged_emitter)
  add_executable(abuse_${program} ${program}.cpp)
  target_link_libraries(abuse_${program} PRIVATE kprof_test_options)
endforeach()
kprof_share_session(abuse_privileged)
add_test(NAME abuse.privileged_programs
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_privileged.py
                 $<TARGET_FILE:abuse_privileged> $<TARGET_FILE:abuse_privileged_emitter>
                 $<TARGET_FILE:abuse_foreign_library> $<TARGET_FILE:abuse_driver>)
set_tests_properties(abuse.privileged_programs PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)

# SPDX-License-Identifier: MIT
# Libraries whose notes are damaged.
add_library(abuse_noted MODULE noted.cpp)
target_link_libraries(abuse_noted PRIVATE kprof_test_options)
add_executable(abuse_notes notes.cpp)
target_link_libraries(abuse_notes PRIVATE kprof_test_options ${CMAKE_DL_LIBS})
kprof_share_session(abuse_notes)
set(not_preloaded "")
if(NOT sanitized EQUAL -1)
  # A sanitizer reads the notes of what is loaded at the start itself, and dies of some.
  set(not_preloaded --not-preloaded)
endif()
add_test(NAME abuse.damaged_notes
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_notes.py
                 $<TARGET_FILE:abuse_notes> $<TARGET_FILE:abuse_noted> ${not_preloaded})
set_tests_properties(abuse.damaged_notes PROPERTIES TIMEOUT 120)

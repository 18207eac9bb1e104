# SPDX-License-Identifier: MIT
# Libraries whose headers are of the same version and laid out otherwise.
if(KPROF_TEST_COMPILE_CHECKS)
  add_test(NAME abuse.other_commits
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_other_commit.py
                   ${PROJECT_SOURCE_DIR} $<TARGET_FILE:abuse_notes> $<TARGET_FILE:kprof_session>
                   ${kprof_test_quick_compiler} ${kprof_test_include_flags})
  set_tests_properties(abuse.other_commits PROPERTIES LABELS compile TIMEOUT 600 COST 30)
endif()

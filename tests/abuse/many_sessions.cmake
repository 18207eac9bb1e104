# SPDX-License-Identifier: MIT
# Many plugins that each bring a session, and one with thread-local data of its own.
foreach(plugin session_plugin large_plugin)
  add_library(abuse_${plugin} MODULE session_plugin.cpp)
  target_link_libraries(abuse_${plugin} PRIVATE kprof_test_options)
  kprof_share_session(abuse_${plugin})
endforeach()
target_compile_definitions(abuse_large_plugin PRIVATE THREAD_LOCAL_BYTES=4096)
add_executable(abuse_plugin_host plugin_host.cpp)
target_link_libraries(abuse_plugin_host PRIVATE kprof_test_options Threads::Threads
                      ${CMAKE_DL_LIBS})
add_test(NAME abuse.many_sessions
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_many_sessions.py
                 $<TARGET_FILE:abuse_plugin_host> $<TARGET_FILE:abuse_session_plugin>
                 $<TARGET_FILE:abuse_large_plugin>)
set_tests_properties(abuse.many_sessions PROPERTIES TIMEOUT 120)

# SPDX-License-Identifier: MIT
# CUPTI without a driver that works.
option(KPROF_TEST_REAL_CUPTI
       "Also test with NVIDIA's own libcupti of many CUDA versions: fetches 0.13 GB from PyPI" OFF)
foreach(library crashing_cupti driver)
  add_library(abuse_${library} SHARED ${library}.cpp)
endforeach()
# in a folder of its own, which LD_LIBRARY_PATH may name
set_target_properties(abuse_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/driver)
add_library(abuse_tool_of_driver MODULE tool_of_driver.cpp)
target_link_libraries(abuse_tool_of_driver PRIVATE kprof_test_options)
add_executable(abuse_with_cupti with_cupti.cpp)
target_link_libraries(abuse_with_cupti PRIVATE kprof_test_options ${CMAKE_DL_LIBS})
kprof_share_session(abuse_with_cupti)

add_test(NAME abuse.cupti_without_a_driver
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_driver.py
                 $<TARGET_FILE:abuse_with_cupti> $<TARGET_FILE:abuse_crashing_cupti>
                 $<TARGET_FILE_DIR:abuse_driver> $<TARGET_FILE:abuse_tool_of_driver>)
set_tests_properties(abuse.cupti_without_a_driver PROPERTIES TIMEOUT 120)
if(NOT sanitized EQUAL -1)
  return()   # NVIDIA's libraries, of which 13.2 overflows the stack, say nothing new there
endif()
set(fetch "")
if(KPROF_TEST_REAL_CUPTI)
  set(fetch --fetch)
endif()
add_test(NAME abuse.nvidias_cupti_without_a_driver
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/check_real_cupti.py
                 $<TARGET_FILE:abuse_with_cupti> ${KPROF_TEST_DOWNLOADS}/libcupti ${fetch})
set_tests_properties(abuse.nvidias_cupti_without_a_driver PROPERTIES SKIP_RETURN_CODE 77
                     TIMEOUT 600)

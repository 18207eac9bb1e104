# SPDX-License-Identifier: MIT
# Configures, builds and runs the consumer in SCRATCH as another project would, and looks at the
# report it prints.
#
#   cmake -DMODE=find_package -DBUILD=<kprof's build> ... -P consume.cmake
#       with kprof installed into SCRATCH
#   cmake -DMODE=add_subdirectory -DSOURCE=<kprof> ... -P consume.cmake
#       with kprof as a part of its build
# TARGET is kprof::kprof, or kprof::session, which compiles the session in a file of its own.
# OPTIONS are handed to the consumer's configuration.

cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
if(MODE STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
  file(GLOB_RECURSE installed RELATIVE ${SCRATCH}/prefix/include ${SCRATCH}/prefix/include/*)
  file(GLOB_RECURSE expected RELATIVE ${SOURCE}/include ${SOURCE}/include/*.hpp)
  if(NOT installed STREQUAL expected)
    message(FATAL_ERROR "installed headers:\n${installed}\nexpected:\n${expected}")
  endif()
  file(GLOB_RECURSE exported ${SCRATCH}/prefix/*.cmake)
  foreach(file IN LISTS exported)
    file(READ ${file} text)
    string(FIND "${text}" "${SOURCE}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names the folder that kprof was built from")
    endif()
  endforeach()
  set(how -Dkprof_ROOT=${SCRATCH}/prefix -DKPROF_WANTED_VERSION=${VERSION})
else()   # compiles the session: not optimised, in half of the time
  set(how -DKPROF_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0
      -DKPROF_SESSION_FOR_DISABLED=OFF)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${SCRATCH}/build
    -DCMAKE_CXX_COMPILER=${COMPILER} ${how} -DKPROF_TARGET=${TARGET} ${OPTIONS})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${CMAKE_COMMAND} -E env --unset=KPROF ${SCRATCH}/build/consumer)
foreach(wanted Saxpy Other 1048576)
  string(FIND "${output}" "${wanted}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the report does not show ${wanted}:\n${output}")
  endif()
endforeach()
message("${output}")

if(MODE STREQUAL "find_package")
  # Another version must be refused.
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer
                          -B ${SCRATCH}/refused -DCMAKE_CXX_COMPILER=${COMPILER}
                          -Dkprof_ROOT=${SCRATCH}/prefix -DKPROF_WANTED_VERSION=99.0
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    message(FATAL_ERROR "find_package(kprof 99.0) was content with ${VERSION}")
  endif()
endif()

# SPDX-License-Identifier: MIT
# Compiles one file of this folder: its good half, which must compile, and each of its bad halves,
# which must not and must say why in the first error that the compiler prints.
#
#   cmake -DSOURCE=pointer_field.cpp -DCOMPILER=g++ -DKIND=GNU "-DFLAGS=-I;../../include"
#         -P check.cmake
#
# KIND is GNU, Clang or NVIDIA. The comments that the driver reads:
#   // expect: text             the first error line contains text; one such comment for each value
#                               1, 2, ... of KPROF_TEST_BAD
#   // expect-anywhere: text    the same, but any line of the output may contain it
#   //   more text              goes on with the comment before it, behind one space
#   // flags: ...               for both halves
#   // bad-flags: ...           for the bad halves only
#   // skip: NVIDIA ...         compilers this file is not for
# A file that includes use.hpp is compiled once for each way of meeting an operator.

cmake_minimum_required(VERSION 3.25)
cmake_policy(SET CMP0054 NEW)

file(READ "${SOURCE}" text)
string(REGEX REPLACE "\n//   +" " " text "${text}")   # lines that go on
# A semicolon would split CMake's lists, and a bracket would join them.
string(REGEX REPLACE "[][;]" "~" text "${text}")
string(REGEX MATCHALL "// (expect|expect-anywhere|flags|bad-flags|skip): [^\n]*" comments "${text}")
get_filename_component(folder "${SOURCE}" DIRECTORY)

set(expected "")
set(flags ${FLAGS})
set(bad_flags "")
foreach(comment IN LISTS comments)
  string(REGEX MATCH "^// ([a-z-]+): (.*)$" ignored "${comment}")
  set(value "${CMAKE_MATCH_2}")
  if(CMAKE_MATCH_1 STREQUAL "skip")
    separate_arguments(kinds UNIX_COMMAND "${value}")
    if(KIND IN_LIST kinds)
      message("skipped: ${SOURCE} is not for ${KIND}")
      return()
    endif()
  elseif(CMAKE_MATCH_1 STREQUAL "flags")
    separate_arguments(more UNIX_COMMAND "${value}")
    list(APPEND flags ${more})
  elseif(CMAKE_MATCH_1 STREQUAL "bad-flags")
    separate_arguments(bad_flags UNIX_COMMAND "${value}")
  else()
    list(APPEND expected "${CMAKE_MATCH_1}=${value}")
  endif()
endforeach()
if(NOT expected)
  message(FATAL_ERROR "${SOURCE} has no `// expect: ` line")
endif()

if(KIND STREQUAL "NVIDIA")
  set(compile "${COMPILER}" -x cu --cuda -o "${SCRATCH}.ii")
elseif(KIND STREQUAL "Clang")
  set(compile "${COMPILER}" -fsyntax-only -ferror-limit=20 -Wall -Wextra -Wno-unused)
else()
  set(compile "${COMPILER}" -fsyntax-only -Wall -Wextra -Wno-unused)
endif()

set(ways 0)
if(text MATCHES "include \"use.hpp\"" AND NOT KIND STREQUAL "NVIDIA")
  set(ways 0 1 2)
endif()

# Sets `result` and `output`.
macro(compile_half)
  execute_process(
    COMMAND ${compile} -std=c++20 ${flags} ${ARGN} "${SOURCE}"
    WORKING_DIRECTORY "${folder}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

set(failures 0)
foreach(way IN LISTS ways)
  # The ways differ in what is instantiated first, which one bad half is enough to show.
  if(way GREATER 0)
    list(GET expected 0 expected)
  endif()
  compile_half(-DKPROF_TEST_VIA=${way})
  if(NOT result EQUAL 0)
    message("FAILED ${SOURCE}, way ${way}: the good half does not compile:\n${output}")
    math(EXPR failures "${failures} + 1")
  endif()
  set(half 0)
  foreach(expectation IN LISTS expected)
    math(EXPR half "${half} + 1")
    string(REGEX MATCH "^([a-z-]+)=(.*)$" ignored "${expectation}")
    set(where "${CMAKE_MATCH_1}")
    set(wanted "${CMAKE_MATCH_2}")
    if(KIND STREQUAL "NVIDIA")
      string(REPLACE "`" "?" wanted "${wanted}")   # as nvcc prints it
    endif()
    compile_half(-DKPROF_TEST_VIA=${way} -DKPROF_TEST_BAD=${half} ${bad_flags})
    string(REGEX REPLACE "[][;]" "~" output "${output}")
    string(REGEX MATCH "[^\n]*error[^\n]*: [^\n]*" first "${output}")
    if(where STREQUAL "expect")
      set(seen "${first}")
    else()
      set(seen "${output}")
    endif()
    string(FIND "${seen}" "${wanted}" position)
    if(result EQUAL 0)
      message("FAILED ${SOURCE}, bad half ${half}, way ${way}: "
              "it compiles, but should say:\n  ${wanted}")
      math(EXPR failures "${failures} + 1")
    elseif(position EQUAL -1)
      message("FAILED ${SOURCE}, bad half ${half}, way ${way}: expected\n  ${wanted}\n"
              "but the first error is\n  ${first}\nof\n${output}")
      math(EXPR failures "${failures} + 1")
    endif()
  endforeach()
endforeach()
if(failures)
  message(FATAL_ERROR "${failures} failed")
endif()

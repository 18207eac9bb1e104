# SPDX-License-Identifier: MIT
# What of kprof is compiled: the session, once, as the static library kprof::session and as
# libkprof.so, and the program kprof. Sets kprof_installed to the targets that the package holds.

set(kprof_installed kprof)
if(NOT KPROF_BUILD_LIBRARIES)
  return()
endif()

# The session with every output, which are the headers of report/ that register one: a new output is
# in the libraries because it is there. The setting verbose is too.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
     ${PROJECT_SOURCE_DIR}/include/kprof/report/*.hpp)
set(outputs "#include <kprof/verbose.hpp>\n")
foreach(header IN LISTS headers)
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/${header} registers
       REGEX "^\\[\\[gnu::init_priority|^(KPROF_DETAIL_LOCAL )?.*inline .*output_registration ")
  if(registers)
    string(APPEND outputs "#include <${header}>\n")
  endif()
endforeach()
set(session_source ${PROJECT_BINARY_DIR}/kprof_session.cpp)
file(CONFIGURE OUTPUT ${session_source} @ONLY CONTENT
     "#include \"@PROJECT_SOURCE_DIR@/tools/session.cpp\"\n@outputs@\n")

# One compilation serves both libraries, so it is position-independent. Nothing of it is exported: a
# program finds the session through its guards, and two binaries of a process may each bring one.
add_library(kprof_session_objects OBJECT EXCLUDE_FROM_ALL ${session_source})
target_link_libraries(kprof_session_objects PUBLIC kprof)
target_compile_definitions(kprof_session_objects PRIVATE KPROF_DETAIL_ALL_OUTPUTS=1)
# A project without a build type does not want what records its operators to be slow.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  target_compile_options(kprof_session_objects PRIVATE -O2)
endif()
set_target_properties(kprof_session_objects PROPERTIES POSITION_INDEPENDENT_CODE ON
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
add_library(kprof_session STATIC $<TARGET_OBJECTS:kprof_session_objects>)
add_library(kprof::session ALIAS kprof_session)
set_target_properties(kprof_session PROPERTIES EXPORT_NAME session POSITION_INDEPENDENT_CODE ON
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(kprof_session PUBLIC kprof)
target_compile_definitions(kprof_session INTERFACE KPROF_SESSION_ELSEWHERE=1)
# A program that has guards and calls nothing of the session refers to nothing in the library: the
# option does.
if(NOT CMAKE_CXX_FLAGS MATCHES "-DKPROF_ENABLE=0")
  target_link_options(kprof_session INTERFACE LINKER:-u,kprof_session_is_linked)
  if(KPROF_SESSION_FOR_DISABLED)
    target_sources(kprof_session PRIVATE ${PROJECT_SOURCE_DIR}/tools/session_compiled_out.cpp)
  endif()
endif()

add_library(kprof_preload SHARED $<TARGET_OBJECTS:kprof_session_objects>
            ${PROJECT_SOURCE_DIR}/tools/preload.cpp)
add_library(kprof::preload ALIAS kprof_preload)
set_target_properties(kprof_preload PROPERTIES EXPORT_NAME preload OUTPUT_NAME kprof
                      LINKER_LANGUAGE CXX)
set_target_properties(kprof_preload PROPERTIES CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(kprof_preload PRIVATE kprof)

list(APPEND kprof_installed kprof_session kprof_preload)
if(NOT PROJECT_IS_TOP_LEVEL)   # built where something links them
  set_target_properties(kprof_session kprof_preload PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

if(KPROF_BUILD_TOOLS)
  find_package(CLI11 2.1 QUIET)
  if(CLI11_FOUND)
    set(schema ${PROJECT_SOURCE_DIR}/docs/query.schema.json)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
    file(READ ${schema} query_schema)
    configure_file(${PROJECT_SOURCE_DIR}/tools/query_schema.hpp.in
                   ${PROJECT_BINARY_DIR}/tool/query_schema.hpp @ONLY)
    set(tool_sources kprof ceilings compare compare_json compare_table launch query query_envelope
                     query_lists query_tables query_trust saved_file show)
    list(TRANSFORM tool_sources REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tools/\\1.cpp")
    add_executable(kprof_tool ${tool_sources})
    target_include_directories(kprof_tool PRIVATE ${PROJECT_BINARY_DIR}/tool)
    add_executable(kprof::tool ALIAS kprof_tool)
    set_target_properties(kprof_tool PROPERTIES EXPORT_NAME tool OUTPUT_NAME kprof)
    # Where libkprof.so lies beside the program: as installed, and in the build.
    file(RELATIVE_PATH from_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    target_compile_definitions(kprof_tool PRIVATE KPROF_TOOL_LIBRARY_FOLDER="${from_bin_to_lib}")
    target_link_libraries(kprof_tool PRIVATE kprof_session CLI11::CLI11)
    add_dependencies(kprof_tool kprof_preload)
    list(APPEND kprof_installed kprof_tool)
  else()
    message(STATUS
            "kprof: no CLI11, so the program kprof is left out; install libcli11-dev, or set "
            "CLI11_DIR")
  endif()
endif()

# SPDX-License-Identifier: MIT
# Finds what kprof's headers include: Boost.PFR, threads, and the CUDA Toolkit's headers where there
# are any. Used by kprof's own build and, installed beside kprofConfig.cmake, by
# find_package(kprof).
#
# Sets KPROF_CUDA_INCLUDE_DIR (a folder, or false) and makes sure that the target Boost::headers
# exists.

if(NOT TARGET Threads::Threads)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
endif()

# Boost.PFR came with Boost 1.75. Any copy of its headers will do, with or without Boost's CMake
# files.
if(NOT TARGET Boost::headers)
  find_package(Boost 1.75 QUIET)
endif()
if(NOT TARGET Boost::headers)
  find_path(KPROF_BOOST_INCLUDE_DIR boost/pfr/tuple_size.hpp HINTS ${BOOST_ROOT} $ENV{BOOST_ROOT}
            PATH_SUFFIXES include
            DOC "Folder that holds boost/pfr")
  if(NOT KPROF_BOOST_INCLUDE_DIR)
    message(FATAL_ERROR
            "kprof needs Boost.PFR, which is in Boost 1.75 or newer: install libboost-dev, on "
            "Debian 12 libboost1.81-dev (its libboost-dev is 1.74), or set BOOST_ROOT or "
            "KPROF_BOOST_INCLUDE_DIR to the folder that holds boost/pfr")
  endif()
  add_library(Boost::headers INTERFACE IMPORTED)
  target_include_directories(Boost::headers SYSTEM INTERFACE ${KPROF_BOOST_INCLUDE_DIR})
endif()

if(NOT DEFINED KPROF_WITH_CUDA_HEADERS)
  set(KPROF_WITH_CUDA_HEADERS AUTO)
endif()
if(KPROF_WITH_CUDA_HEADERS)
  find_path(KPROF_CUDA_INCLUDE_DIR nvtx3/nvToolsExt.h
            HINTS ${CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda
            PATH_SUFFIXES include DOC "Folder of the CUDA Toolkit's headers")
  if(NOT KPROF_CUDA_INCLUDE_DIR AND NOT KPROF_WITH_CUDA_HEADERS STREQUAL "AUTO")
    message(FATAL_ERROR
            "kprof: KPROF_WITH_CUDA_HEADERS is on, but nvtx3/nvToolsExt.h is not found; set "
            "KPROF_CUDA_INCLUDE_DIR to the CUDA Toolkit's include folder")
  endif()
else()
  unset(KPROF_CUDA_INCLUDE_DIR)
  unset(KPROF_CUDA_INCLUDE_DIR CACHE)
endif()

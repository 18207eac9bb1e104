#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the scripted CUDA without CMake: build.sh <folder> [compiler flag...]; CXX and CUDA_HOME
# choose compiler and headers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
include=${CUDA_HOME:-/usr/local/cuda}/include
python3 "$here/callback_names.py" "$include" "$out/callback_names.inc"
cd "$here"
# --disable-new-dtags: the toolkit's folder in LD_LIBRARY_PATH would come before a RUNPATH.
compile=("${CXX:-g++}" -std=c++20 -O2 -g -fPIC -shared -pthread -Wl,--disable-new-dtags
  -isystem "$include" -I"$out" "$@")
runtime=(-L"$out" -l:libcudart.so.13 -Wl,-rpath,'$ORIGIN')
cupti=(-Wl,--version-script=cupti.map -Wl,-z,nodelete
  cupti.cpp activity.cpp activity_api.cpp buffers.cpp records.cpp second_set.cpp ids.cpp)
"${compile[@]}" -Wl,-soname,libcudart.so.13 -Wl,--version-script=cudart.map \
  cudart.cpp copies.cpp streams.cpp graphs.cpp graphs_api.cpp captures.cpp gpu.cpp memory.cpp \
  state.cpp work.cpp driver_work.cpp -o "$out/libcudart.so.13"
"${compile[@]}" -Wl,-soname,libcuda.so.1 driver.cpp \
  -o "$out/libcuda.so.1" "${runtime[@]}"
"${compile[@]}" -Wl,-soname,libcupti.so.13 "${cupti[@]}" -o "$out/libcupti.so.13" "${runtime[@]}"
"${compile[@]}" -DSCRIPTED_MISSING -Wl,-soname,libcupti_missing.so.13 "${cupti[@]}" \
  -o "$out/libcupti_missing.so" "${runtime[@]}"
"${compile[@]}" not_cupti.cpp -o "$out/libnot_cupti.so"

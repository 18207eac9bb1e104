#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records the profiles of this folder again.
#
#   tests/profiles/record.sh [profile...]    resnet50 transformer decode threads device hpcg; all of
#                                            them, or only those named
#
# Needs what README.md names beside each profile. HPCG_SOURCE is a checkout of HPCG 3.1, CUDA_HOME a
# CUDA Toolkit of version 13 (default /usr/local/cuda); the GPU is the scripted one of tests.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx=${CXX:-g++}
# The session and its output `save` are compiled once, for all programs.
options=(-std=c++20 -O2 -pthread -I "$root/include" -DKPROF_SESSION_ELSEWHERE=1)
session=$work/session.o
printf '#include "%s"\n#include <kprof/report/save.hpp>\n' "$root/tools/session.cpp" |
  "$cxx" "${options[@]}" -UKPROF_SESSION_ELSEWHERE -x c++ -c - -o "$session"

# record <profile> <settings> <command...>: runs the command, and keeps what it saves at its end.
record() {
  local profile=$1 settings=$2
  shift 2
  KPROF="$settings,save(path=$work/$profile.json)" "$@" > "$work/$profile.out"
  sed -i "s|$root/||g; s|$work/||g" "$work/$profile.json"  # call sites from the repository's root
  if [ "$(stat -c %s "$work/$profile.json")" -lt 400000 ]; then
    cp "$work/$profile.json" "$here/"
  else
    gzip -9 -n -c "$work/$profile.json" > "$here/$profile.json.gz"
  fi
}

record_resnet50() {
  "$cxx" "${options[@]}" "$root/examples/resnet50_onednn.cpp" "$session" \
    -o "$work/resnet50" -ldnnl
  OMP_NUM_THREADS=1 record resnet50 ceilings=auto "$work/resnet50" 1 5
}
record_transformer() {
  "$cxx" "${options[@]}" "$root/examples/13_transformer_training.cpp" "$session" \
    -o "$work/train"
  record transformer ceilings=auto,step=step "$work/train" 4
}
record_decode() {
  "$cxx" "${options[@]}" "$root/examples/14_decode_with_cache.cpp" "$session" \
    -o "$work/decode"
  record decode ceilings=auto "$work/decode" 1 900
}
record_threads() {
  "$cxx" "${options[@]}" "$here/threads.cpp" "$session" -o "$work/threads"
  record threads ceilings=off "$work/threads"
}
record_device() {
  local cuda=${CUDA_HOME:-/usr/local/cuda}
  bash "$root/tests/scripted_cuda/build.sh" "$work/scripted"
  "$cuda/bin/nvcc" -std=c++20 -O2 -ccbin "$cxx" -I "$root/include" -cudart shared \
    -DKPROF_SESSION_ELSEWHERE=1 "$root/examples/09_gpu_streams_and_threads.cu" "$session" \
    -o "$work/device"
  LD_LIBRARY_PATH=$work/scripted KPROF_CUPTI=$work/scripted/libcupti.so.13 \
    record device ceilings=off "$work/device"
}
record_hpcg() {
  if [ -z "${HPCG_SOURCE:-}" ]; then
    echo "set HPCG_SOURCE to a checkout of https://github.com/hpcg-benchmark/hpcg" >&2
    return 1
  fi
  cp -r "$HPCG_SOURCE" "$work/hpcg"
  python3 "$here/annotate_hpcg.py" "$work/hpcg/src"
  "$cxx" "${options[@]}" -w -DHPCG_NO_MPI -DHPCG_NO_OPENMP -I "$work/hpcg/src" \
    "$work"/hpcg/src/*.cpp "$session" -o "$work/xhpcg"
  (cd "$work" && record hpcg ceilings=auto ./xhpcg --nx=24 --rt=1)
}

profiles=(resnet50 transformer decode threads device hpcg)
[ $# -eq 0 ] || profiles=("$@")
for profile in "${profiles[@]}"; do
  echo "recording $profile"
  "record_$profile"
done
ls -l "$here"

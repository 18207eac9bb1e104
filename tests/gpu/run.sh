#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs all that needs a GPU: tests, questions to CUPTI, the truth of the catalogue's
# formulas, and what kprof costs. Prints a line for each check, PASS or FAIL, and a summary; keeps
# the lines, what the programs said, the tables, transcripts and reports in the results' folder,
# from which keep.py takes them into the repository. Ends with 0 when all is well, with 1 when a
# check failed, with 2 when a program does not build, and with 77 when there is no GPU. README.md
# beside this has more.
#
#   tests/gpu/run.sh [option...]
#
#   --build FOLDER     where the programs are, or go; default build-gpu in the repository,
#                      build-gpu-scripted with --scripted
#   --build-only       build and run nothing
#   --no-build         run what was built before, on a machine without a compiler for instance
#   --out FOLDER       results; default: the folder "results" in that of the programs. What an
#                      earlier run left there goes
#   --arch ARCH        build for this one, sm_90 for instance; default: that of the GPU at hand,
#                      sm_90 where there is none
#   --cudart KIND      link CUDA's runtime static, which the machine that runs the programs need
#                      not have, or shared
#   --scripted FOLDER  run on the scripted CUDA in this folder (tests/scripted_cuda), in place of a
#                      GPU: what needs no kernel to be executed. Builds with --cudart shared
#   --only REGEX       run only what matches, for instance '^graphs\.'
#   --long             many more kernels, and more repetitions
#
# In the environment: JOBS, how many programs are built at a time (2); KPROF_GPU_TIMEOUT, seconds
# that a program may take (300); KPROF_OVERHEAD_OPTIONS, KPROF_LAUNCH_COST_OPTIONS and
# KPROF_TRUTH_OPTIONS, further options of these scripts.

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
usage() { sed -n '3,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }

build= out= arch= cudart=static scripted= only=. long=() do_build=yes do_run=yes
while [ $# -gt 0 ]; do
  case $1 in
    --build | --out | --arch | --cudart | --scripted | --only) [ $# -gt 1 ] || usage ;;&
    --build) build=$2; shift ;;
    --out) out=$2; shift ;;
    --arch) arch=$2; shift ;;
    --cudart) cudart=$2; shift ;;
    --scripted) scripted=$(cd "$2" && pwd) || exit 2; cudart=shared; shift ;;
    --only) only=$2; shift ;;
    --long) long=(--long) ;;
    --build-only) do_run=no ;;
    --no-build) do_build=no ;;
    *) usage ;;
  esac
  shift
done
# Of another runtime: not over what was built for a GPU.
build=${build:-$root/build-gpu${scripted:+-scripted}}
mkdir -p "$build" || exit 2
build=$(cd "$build" && pwd)
out=${out:-$build/results}

programs=(attribution times gemm graphs lifecycle overhead overhead_bare libspin.so facts
          facts_graphs facts_libraries launch_cost truth truth_cublas truth_cudnn occupancy roofs
          timeline features facts_programs)
examples=(08_gpu_kernels 09_gpu_streams_and_threads 10_gpu_graph 11_transformer_cublas
          18_gpu_training)

# ---- build

cuda_home() {   # the folder of the CUDA Toolkit
  local nvcc=${CUDACXX:-}
  [ -n "$nvcc" ] || nvcc=$(command -v nvcc) || nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
  [ -x "$nvcc" ] && dirname "$(dirname "$nvcc")"
}
gpu_arch() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null |
    head -n 1 | tr -d ' .')
  case $capability in *[!0-9]* | '') echo sm_90 ;; *) echo "sm_$capability" ;; esac
}
leave_out() {   # leave_out NAME...: of the programs and examples
  mapfile -t programs < <(printf '%s\n' "${programs[@]}" | grep -vxF "$(printf '%s\n' "$@")")
  mapfile -t examples < <(printf '%s\n' "${examples[@]}" | grep -vxF "$(printf '%s\n' "$@")")
}
compile() {   # compile PROGRAM: one of them, in a process of its own
  local name=$1 source=$here/$1.cu options=(-DKPROF_SESSION_ELSEWHERE=1 "$build/kprof_session.o")
  case $name in
    overhead_bare) source=$here/overhead.cu options=(-DKPROF_ENABLE=0) ;;
    libspin.so) source=$here/overhead.cu options=(-DKPROF_ENABLE=0 -shared -Xcompiler -fPIC) ;;
    [0-9]*) source=$root/examples/$1.cu options=() ;;
  esac
  case $name in
    gemm | *_cublas) options+=(-lcublas) ;;
    *_cudnn) options+=(-lcudnn) ;;
  esac
  "$nvcc" -std=c++20 -O2 -cudart "$cudart" -gencode "arch=${arch/sm_/compute_},code=$arch" \
    -Xcompiler -Wall,-Wextra -I "$root/include" -I "$home/extras/CUPTI/include" "$source" \
    -o "$build/$name" "${options[@]}" > "$build/$name.log" 2>&1 && echo "built $name" ||
    { echo "$name does not build:"; cat "$build/$name.log"; return 1; }
}

fail() { echo "$1"; exit 2; }
if [ $do_build = yes ]; then
  home=$(cuda_home) ||
    fail "no nvcc: install the CUDA Toolkit, set CUDACXX, or use --no-build with built programs"
  nvcc=${CUDACXX:-$home/bin/nvcc}
  [ -n "$arch" ] || arch=$(gpu_arch)
  echo "building for $arch with $nvcc, CUDA's runtime $cudart, into $build"
  if [ ! -e "$home/include/cublas_v2.h" ]; then
    echo "no cuBLAS in $home: what uses it is left out"
    leave_out gemm truth_cublas 11_transformer_cublas
  fi
  if ! "$nvcc" -x cu -E - <<< "#include <cudnn.h>" > /dev/null 2>&1; then
    echo "no headers of cuDNN: truth_cudnn is left out"
    leave_out truth_cudnn
  fi
  if [ ! -e "$home/include/cupti.h" ] && [ ! -e "$home/extras/CUPTI/include/cupti.h" ]; then
    echo "no headers of CUPTI in $home: the questions to it and launch_cost are left out"
    leave_out facts facts_graphs facts_libraries facts_programs launch_cost
  fi
  export -f compile
  export nvcc arch cudart root here build home
  "$nvcc" -std=c++20 -O2 -I "$root/include" -c "$root/tools/session.cpp" \
    -o "$build/kprof_session.o" || fail "tests/gpu: the session does not build"
  printf '%s\n' "${programs[@]}" "${examples[@]}" | grep . |
    xargs -P "${JOBS:-2}" -I {} bash -c 'compile {}' ||
    fail "tests/gpu: not all programs were built"
  for cupti in "$home"/lib64/libcupti.so.1? "$home"/extras/CUPTI/lib64/libcupti.so.1?; do
    [ -e "$cupti" ] && mkdir -p "$build/lib" && cp -fL "$cupti" "$build/lib/" && break
  done
fi
if [ $do_run = no ]; then
  echo "tests/gpu: built in $build, nothing is run"
  exit 0
fi

# ---- run

# NVIDIA's Python packages hold cuBLAS and cuDNN on machines without a CUDA Toolkit. Links to these
# alone: the packages' other libraries are not for ncu, nor for PyTorch, which finds its own.
link_packages() {   # link_packages FOLDER
  command -v python3 > /dev/null && python3 -c '
import glob, os, sys
os.makedirs(sys.argv[1], exist_ok=True)
for part in filter(None, sys.path):
    for name in ("cublas", "cudnn", "nvrtc", "nvJitLink"):
        for library in glob.glob(f"{part}/nvidia/*/lib/lib{name}*"):
            link = os.path.join(sys.argv[1], os.path.basename(library))
            if not os.path.lexists(link):
                os.symlink(library, link)' "$1" 2> /dev/null
}
if [ -n "$scripted" ]; then
  export LD_LIBRARY_PATH=$scripted${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export KPROF_CUPTI=$scripted/libcupti.so.13
else
  link_packages "$build/packages"
  # Last: what the machine has itself is preferred.
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$build/packages
  # A driver that no process uses unloads, and takes long to start: one does all along.
  { exec 9< /dev/nvidia0; } 2> /dev/null || true
  [ -n "${KPROF_CUPTI:-}" ] || for cupti in "$build"/lib/libcupti.so.1?; do
    [ ! -e "$cupti" ] || export KPROF_CUPTI=$cupti
  done
fi
unset KPROF
[ -x "$build/attribution" ] || fail "tests/gpu: there are no programs in $build; build them first"
gpu=$("$build/attribution" --gpu 2>&1) || { echo "tests/gpu: skipped, $gpu"; exit 77; }

mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
if [ -e "$out/results.txt" ]; then   # one run's results are one run's
  rm -rf "$out"/{records,reports,ncu,results.txt,programs.log}
  rm -f "$out"/{launch_cost,overhead,truth}.{md,json,log}
elif [ -n "$(ls -A "$out")" ] && [ "$out" != "$build" ]; then
  echo "tests/gpu: $out holds something else: name another folder with --out"
  exit 2
fi
results=$out/results.txt
: > "$results"
: > "$out/programs.log"
tell() { printf '%s\n' "$*" | tee -a "$results"; }
{
  date -u +%Y-%m-%dT%H:%MZ
  echo "GPU: $gpu"
  if [ -z "$scripted" ]; then
    nvidia-smi --query-gpu=driver_version,compute_cap,clocks.sm,clocks.max.sm \
      --format=csv,noheader 2> /dev/null
  fi
  echo "libcupti: ${KPROF_CUPTI:-as the loader finds it}"
} | while read -r line; do tell "NOTE $line"; done

limit=${KPROF_GPU_TIMEOUT:-300}
# A program says PASS, FAIL, SKIP and NOTE by itself; what it cannot say is how it ended.
run_mode() {
  local program=$1 mode=$2 lines ended last
  lines=$(mktemp)
  # Facts want kernels that take longer than their launch, on any machine; the rest passes with
  # kernels of 10 us too.
  [[ -z $scripted || $program != facts ]] || local -x SCRIPTED_KERNEL_US=100
  timeout -k 10 "$limit" "$build/$program" "$mode" "${long[@]}" > "$lines" 2> "$lines.err"
  ended=$?
  grep -aE '^(PASS|FAIL|SKIP|NOTE|FACT) ' "$lines" | tee -a "$results"
  {
    echo "== $program $mode: $ended"
    grep -avE '^(PASS|FAIL|SKIP|NOTE|FACT) ' "$lines"
    cat "$lines.err"
  } >> "$out/programs.log"
  case $ended in
    0 | 1 | 77) ;;
    124 | 137) tell "FAIL $program.$mode: it ends: still at work after $limit s" ;;
    *) tell "FAIL $program.$mode: it ends: with status $ended; $(tail -n 1 "$lines.err")" ;;
  esac
  # A program that ends before it has checked anything has not passed.
  last=$(tail -n 1 "$lines.err")
  grep -qaE '^(PASS|FAIL|SKIP) ' "$lines" || [ $ended -gt 1 ] ||
    tell "FAIL $program.$mode: it checks something: $last"
  [ $ended -ne 1 ] || grep -qa '^FAIL' "$lines" ||
    tell "FAIL $program.$mode: it ends: with status 1; $last"
  rm -f "$lines" "$lines.err"
}

for program in facts facts_graphs facts_libraries facts_programs attribution graphs lifecycle \
  features times timeline occupancy roofs gemm truth truth_cublas truth_cudnn; do
  [ -x "$build/$program" ] || { tell "SKIP $program: it was not built"; continue; }
  if ! modes=$("$build/$program" --list 2>> "$out/programs.log"); then
    tell "SKIP $program: it does not start; $(tail -n 1 "$out/programs.log")"
    continue
  fi
  while read -r mode needs; do
    [[ $program.$mode =~ $only ]] || continue
    [ -z "$scripted" ] || [ "$needs" = any ] || continue
    run_mode "$program" "$mode"
  done <<< "$modes"
done

# The examples check their own numbers. What CUPTI tells of them is kept for replay without a GPU:
# tests/gpu/records.
mkdir -p "$out/records" "$out/reports"
for example in "${examples[@]}"; do
  [[ examples.$example =~ $only ]] || continue
  [ -x "$build/$example" ] || { tell "SKIP examples.$example: it was not built"; continue; }
  if [[ -n $scripted && $example == *_cublas ]]; then
    tell "SKIP examples.$example: cuBLAS needs a GPU"
    continue
  fi
  report=$out/reports/$example.txt
  COLUMNS=100 KPROF_TRANSCRIPT=$out/records/$example.txt timeout -k 10 "$limit" \
    "$build/$example" > "$report" 2>> "$out/programs.log"
  ended=$?
  if [ $ended -eq 0 ]; then
    tell "PASS examples.$example: its numbers are right"
  else
    tell "FAIL examples.$example: it ends with status $ended"
  fi
  # "62 launches = 50 attributed + 12 outside any operator; ...": no other part, and no line that
  # begins with "!". Without details a report says in one line that nothing was lost.
  sum='^ *device  *\([0-9,]*\) launch[es]* = \([0-9,]*\) attributed + \([0-9,]*\) outside any.*'
  read -r launches attributed outside < <(sed -n "s/$sum/\1 \2 \3/p" "$report" | tr -d ,)
  if ! grep -q '^! ' "$report" &&
    { [ "${attributed:-0}" -gt 0 ] && [ "$launches" -eq $((attributed + outside)) ] ||
      grep -q '^Complete: nothing was lost of .* records of the device' "$report"; }; then
    tell "PASS examples.$example: every launch is attributed"
  else
    tell "FAIL examples.$example: every launch is attributed: see $report"
  fi
done

# What only a script can tell: it prints the same lines, and writes NAME.md with its table.
run_script() {   # run_script NAME [option...]: tests/gpu/NAME.py
  local name=$1 ended
  shift
  [[ $name =~ $only ]] || return 0
  command -v python3 > /dev/null || { tell "SKIP $name: there is no python3"; return 0; }
  # As the lines come: a run that is cut off leaves what it knows. Waited for, so that a signal is
  # heard meanwhile, and the script does not go on by itself.
  python3 -u "$here/$name.py" --build "$build" --out "$out" "$@" > >(tee "$out/$name.log" |
    grep -aE --line-buffered '^(PASS|FAIL|SKIP|NOTE|FACT) ' | tee -a "$results") 2>&1 &
  script=$!
  trap 'kill "$script" 2> /dev/null; tell "FAIL $name: it ends: stopped with the run"; exit 1' \
    TERM INT HUP
  wait "$script"
  ended=$?
  trap - TERM INT HUP
  sleep 0.2   # what it said last is on its way
  [ $ended -eq 0 ] || grep -qa '^FAIL' "$out/$name.log" ||
    tell "FAIL $name: it ends: with status $ended; $(tail -n 1 "$out/$name.log")"
  [ ! -e "$out/$name.md" ] || cat "$out/$name.md"
}
find_ncu() {   # where the CUDA Toolkit and Nsight Compute put it, if not on the PATH
  local ncu
  for ncu in "$(command -v ncu)" "${CUDA_HOME:-/usr/local/cuda}/bin/ncu" /usr/local/cuda/bin/ncu \
    /opt/nvidia/nsight-compute/*/ncu; do
    [ ! -x "$ncu" ] || { echo "$ncu"; return; }
  done
}
if [ -n "$scripted" ]; then
  run_script launch_cost --launches 2000 --rounds 1 --without-times
  compare=(python3 "$here/facts.py" compare "$results" scripted)
  if [ "$only" = . ] && differences=$("${compare[@]}" 2>&1); then
    tell "PASS facts: the scripted CUDA answers as noted in records/scripted.facts"
  elif [ "$only" = . ]; then
    while read -r line; do
      tell "FAIL facts: the scripted CUDA answers as noted in records/scripted.facts: $line"
    done <<< "$differences"
  fi
else
  # What is to be looked at first: where the scripted CUDA, on which all else was tested, is wrong.
  python3 "$here/facts.py" compare "$results" scripted 2>&1 |
    grep -avE '^machine\.|: no answer, |, was not asked$' |
    while read -r line; do tell "NOTE facts: the scripted CUDA answers otherwise: $line"; done
  ncu=$(find_ncu)
  # shellcheck disable=SC2086   # options are words
  run_script launch_cost ${KPROF_LAUNCH_COST_OPTIONS:-}
  run_script overhead "${long[@]}" ${KPROF_OVERHEAD_OPTIONS:-}
  run_script truth ${ncu:+--ncu "$ncu"} ${KPROF_TRUTH_OPTIONS:-}
fi

count() { grep -ac "^$1 " "$results"; }
passed=$(count PASS) failed=$(count FAIL) skipped=$(count SKIP)
if [ "$failed" -gt 0 ]; then
  echo
  echo "failed:"
  grep -a '^FAIL ' "$results"
fi
echo
tell "tests/gpu: $passed checks passed, $failed failed, $skipped skipped; results in $out"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

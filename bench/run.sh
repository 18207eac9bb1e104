#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs all benchmarks, prints one table, and writes it with the machine's description to
# bench/results/<date>-<processor>.md and .json. Installs what is needed and missing with apt-get;
# what kprof is compared with only when asked to: without it a row says "not installed". Ends with 1
# when a budget is missed.
#
#   bench/run.sh [--peers] [--soak SCOPES] [--repetitions N] [--build FOLDER] [--results FOLDER]
#
#   --peers          install LTTng and libtorch too (about 300 MB)
#   --soak SCOPES    length of the soak run; default 1000000000, two minutes
#   --repetitions N  how often each row of guard_cost is repeated; default 15

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

peers=no soak=1000000000 repetitions=15 build=$root/build-bench results=$here/results
while [ $# -gt 0 ]; do
  case $1 in
    --peers) peers=yes ;;
    --soak) soak=$2; shift ;;
    --repetitions) repetitions=$2; shift ;;
    --build) build=$2; shift ;;
    --results) results=$2; shift ;;
    *) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

# wanted COMMAND-OR-FILE PACKAGE... puts the packages on the list of those to install where the
# command or file is missing.
missing=()
wanted() {
  local sign=$1; shift
  if command -v "$sign" > /dev/null || [ -e "$sign" ] || compgen -G "$sign" > /dev/null; then
    return 0
  fi
  missing+=("$@")
}
install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get > /dev/null; then
    echo "bench: no apt-get here; install by hand: ${missing[*]}"
    return 0
  fi
  echo "bench: installing ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q > /dev/null ||
    echo "bench: the lists of packages could not be brought up to date"
  # Boost.PFR is in every Boost from 1.75 on. Debian 12's libboost-dev is older, but it has 1.81
  # beside it.
  case " ${missing[*]} " in *" libboost1.81-dev "*)
    apt-cache show libboost1.81-dev > /dev/null 2>&1 ||
      missing=("${missing[@]/libboost1.81-dev/libboost-dev}") ;;
  esac
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" > /dev/null ||
    echo "bench: could not install ${missing[*]}"
}
wanted cmake cmake
wanted ninja ninja-build
wanted g++ g++
wanted python3 python3
wanted lscpu util-linux
wanted size binutils
wanted "/usr/include/benchmark/benchmark.h" libbenchmark-dev
wanted "/usr/include/boost/pfr/tuple_size.hpp" libboost1.81-dev
install_missing
# One by one: a peer that cannot be had must not keep the others away.
peer() { missing=(); wanted "$@"; install_missing; }
if [ "$peers" = yes ]; then
  peer lttng-sessiond lttng-tools
  peer "/usr/include/*/lttng/tracepoint.h" liblttng-ust-dev pkg-config
  peer "/usr/include/ATen/record_function.h" libtorch-dev
fi

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKPROF_BUILD_BENCH=ON \
      -DKPROF_BUILD_TESTS=OFF -DKPROF_BUILD_EXAMPLES=OFF | grep 'kprof benchmarks' || true
cmake --build "$build" -j "${JOBS:-2}" | tail -1
programs=$build/bench

raw=$(mktemp -d)
sessiond=
end_lttng() {
  lttng destroy kprof_bench > /dev/null 2>&1 || true
  if [ -n "$sessiond" ]; then kill "$sessiond" 2> /dev/null || true; fi
}
trap 'end_lttng; rm -rf "$raw"' EXIT

# LTTng records into memory only, so that no reader of the trace takes part.
start_lttng() {
  command -v lttng-sessiond > /dev/null || return 0
  export LTTNG_HOME=$raw
  if ! lttng list > /dev/null 2>&1; then
    lttng-sessiond --no-kernel > /dev/null 2>&1 &
    sessiond=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do lttng list > /dev/null 2>&1 && break; sleep 0.3; done
  fi
  record_with_lttng > /dev/null 2>&1 ||
    echo "bench: no LTTng session can be had here; its row is without one"
}
record_with_lttng() {
  lttng create kprof_bench --snapshot --output="$raw/trace" &&
    lttng enable-channel -u -s kprof_bench --overwrite --subbuf-size=1M --num-subbuf=8 ring &&
    lttng enable-event -u -s kprof_bench -c ring 'kprof_bench:*' && lttng start kprof_bench
}

# guard_cost NAME [OPTION...]
guard_cost() {
  local name=$1; shift
  if ! "$programs/guard_cost" --benchmark_enable_random_interleaving=true \
    --benchmark_repetitions="$repetitions" --benchmark_report_aggregates_only=true \
    --benchmark_out="$raw/$name.json" --benchmark_out_format=json "$@" \
    > /dev/null 2> "$raw/$name.err"; then
    cat "$raw/$name.err"
    exit 1
  fi
}

echo "bench: guards"
start_lttng
guard_cost guard_cost
end_lttng
if [ -e "$programs/libkprof_bench_nvtx_tool.so" ]; then
  echo "bench: guards with an NVTX tool attached"
  NVTX_INJECTION64_PATH=$programs/libkprof_bench_nvtx_tool.so guard_cost guard_cost_nvtx \
    --benchmark_filter='^(floor|recording|recording_region|nvtx|nvtx_payload)/'
fi
preloaded=$(find "$build" -name libkprof.so | head -1)
if [ -n "$preloaded" ]; then
  echo "bench: guards with the session in a shared library"
  LD_PRELOAD=$preloaded guard_cost guard_cost_library \
    --benchmark_filter='^(floor|recording|recording_in_library)/'
fi

echo "bench: snapshots and reports"
for _ in 1 2 3; do
  for run in "100000 16 2048" "1000000 16 2048" "10000000 16 2048" "10000000 16 64" \
             "10000000 100000 2048"; do
    # shellcheck disable=SC2086
    "$programs/scale" $run >> "$raw/scale.json"
  done
done

echo "bench: records of devices"
for _ in 1 2 3; do
  for records in 100000 1000000 10000000; do
    "$programs/device" $records >> "$raw/device.json"
  done
done

echo "bench: ceilings of the processors"
"$programs/ceilings" 8 > "$raw/ceilings.json"

echo "bench: soak"
failed=
"$programs/soak" "$soak" 16 >> "$raw/soak.json" || failed=yes
"$programs/soak" "$((soak / 20))" 16 1000000 >> "$raw/soak.json" || failed=yes

echo "bench: headers and code"
cuda_include=$(sed -n 's/^KPROF_CUDA_INCLUDE_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
for compiler in g++ clang++; do
  if ! command -v $compiler > /dev/null; then continue; fi
  python3 "$here/include_cost.py" --cxx $compiler ${cuda_include:+--include "$cuda_include"} \
    > "$raw/include_cost_$compiler.json"
done

python3 "$here/results.py" "$raw" "$results"
if [ -n "$failed" ]; then exit 1; fi

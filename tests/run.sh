#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and tests kprof in every configuration, from a fresh Debian on: installs what is missing,
# then all tests with g++, and with clang++, with sanitizers, compiled out, and without exceptions
# and RTTI those that may come out otherwise there. The last lines are ctest's summary.
#
#   tests/run.sh [configuration...]     all of them, or only those named, for instance ci-gcc
#   tests/run.sh torch                  not one of them: the catalogue against PyTorch's flop
#                                       counter, 0.55 GB from PyPI
#   tests/run.sh clients                nor is this: files of recorded runs in the programs that
#                                       people open them with, 1.2 GB from PyPI and Debian; with
#                                       KPROF_TEST_TRACELENS=<folder>, a checkout, AMD's TraceLens
#   tests/run.sh abuse                  nor is this: what tests/abuse does to a process, in full,
#                                       also with NVIDIA's libcupti of ten versions, 0.13 GB from
#                                       PyPI, and a table of what held; abuse-asan and abuse-tsan:
#                                       the same under address and undefined, and under thread
#   tests/run.sh fuzz                   nor is this: 10^6 inputs for each target of tests/fuzz, by
#                                       libFuzzer under address and undefined; an hour
#   tests/run.sh units                  nor is this: all unit tests by g++, which takes four times
#                                       as long to compile them as clang++ does, with more random
#                                       cases, and damaged files
#   tests/run.sh headers                nor is this: each header alone, by clang++; minutes
#   tests/run.sh arm64                  nor is this: programs for arm64 on simulated processors
#
# KPROF_TEST_BUILD=<folder> is where it builds (default: build), KPROF_TEST_JOBS=<n> how much at a
# time.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${KPROF_TEST_BUILD:-build}
jobs=${KPROF_TEST_JOBS:-$(nproc)}
at_once=$(((jobs * 3 + 1) / 2))   # of the tests, some of which wait
# Each kind by the compiler that is quicker at it: g++ takes two to three times as long as clang++.
# The full sets come last, so that what is printed at the end is the summary of most tests.
configurations=(off-clang noexcept-clang tsan-clang asan-clang ci-clang ci-gcc)
[ $# -eq 0 ] || configurations=("$@")

say() { printf '\n== %s\n' "$*"; }

install_packages() {
  if ! command -v dpkg-query > /dev/null; then
    echo "no dpkg here: the packages are taken to be installed"
    return 0
  fi
  local missing=() package
  local wanted=(g++ clang lld clang-format libclang-rt-dev cmake ninja-build catch2 libcli11-dev
                libdnnl-dev valgrind python3 python3-jsonschema jq binutils)
  case " ${configurations[*]} " in *" arm64 "*) wanted+=(g++-aarch64-linux-gnu qemu-user) ;; esac
  case " ${configurations[*]} " in *" torch "* | *" clients "*) wanted+=(python3-venv) ;; esac
  case " ${configurations[*]} " in *" clients "*)
    wanted+=(chromium chromium-driver graphviz golang-go) ;;
  esac
  for package in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f '${Status}' "$package" 2> /dev/null)" = "install ok installed" ] ||
      missing+=("$package")
  done
  # Boost.PFR is in every Boost from 1.75 on. Debian 12's libboost-dev is older, but it has 1.81
  # beside it.
  [ -e /usr/include/boost/pfr/tuple_size.hpp ] || missing+=(libboost1.81-dev)
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q || return 1
  case " ${missing[*]} " in *" libboost1.81-dev "*)
    apt-cache show libboost1.81-dev > /dev/null 2>&1 ||
      missing=("${missing[@]/libboost1.81-dev/libboost-dev}") ;;
  esac
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Configures and builds into $build/<configuration>; the log is shown where that fails.
build_configuration() {
  local name=$1 folder=$build/$1 preset=$1 targets=() kind
  local options=(-DKPROF_TEST_DOWNLOADS="$(realpath -m "$build")/downloads")
  options+=(-DKPROF_TEST_GROUP_UNITS=ON)
  # Tests that need nvcc say so by the name KPROF_NVCC or KPROF_TEST_NVCC; an empty one leaves them
  # out.
  case $name in
    # Examples and tools print what a recording found, and use exceptions.
    off-* | noexcept-*)
      options+=(-DKPROF_TEST_LONG_RUNS=OFF -DKPROF_BUILD_EXAMPLES=OFF -DKPROF_BUILD_TOOLS=OFF)
      options+=(-DKPROF_TEST_ALL_HEADERS=OFF -DKPROF_SESSION_FOR_DISABLED=OFF)
      options+=(-DKPROF_TEST_MORE_CASES=OFF) ;;
    # Without lines in their stacks, which take a sixth of the compiler's time: who looks for
    # something builds the preset.
    asan-* | tsan-*)
      options+=(-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0)
      options+=(-DKPROF_NVCC= -DKPROF_TEST_NVCC= -DKPROF_BUILD_EXAMPLES=OFF)
      options+=(-DKPROF_BUILD_TOOLS=OFF -DKPROF_SESSION_FOR_DISABLED=OFF) ;;
    # ci-clang compiles all headers in one file; g++ reads them among poisoned macros. What only
    # computes, and damaged files, come out the same for all compilers: clang++ compiles those tests
    # in a quarter of g++'s time, for asan-clang and noexcept-clang; `units` is for g++.
    ci-gcc) options+=(-DKPROF_TEST_ALL_HEADERS=OFF -DKPROF_TEST_ROOMS=OFF) ;;
    units) preset=ci-gcc targets=(--target unit_all saved_fuzz) ;;
    # These once, with g++, are enough; clang++ compiles the unit tests and the behaviour's for
    # asan-clang and noexcept-clang.
    ci-clang)
      options+=(-DKPROF_TEST_LONG_RUNS=OFF -DKPROF_TEST_MORE_CASES=OFF)
      options+=(-DKPROF_TEST_DOCS=OFF -DKPROF_TEST_PACKAGE=OFF)
      options+=(-DKPROF_TEST_UNIT=OFF -DKPROF_TEST_BEHAVIOUR=OFF -DKPROF_BUILD_EXAMPLES=OFF)
      options+=(-DKPROF_SESSION_FOR_DISABLED=OFF)
      options+=(-DKPROF_NVCC= -DKPROF_TEST_NVCC=) ;;
    torch) preset=ci-gcc options+=(-DKPROF_TEST_TORCH=ON) targets=(--target torch_catalogue) ;;
    arm64) preset=ci-gcc options+=(-DKPROF_TEST_ARM64=ON) targets=(--target arm64_programs) ;;
    clients) preset=ci-gcc options+=(-DKPROF_TEST_CLIENTS=ON) targets=(--target clients_all)
             [ -z "${KPROF_TEST_TRACELENS:-}" ] ||
               options+=(-DKPROF_TEST_TRACELENS="$KPROF_TEST_TRACELENS") ;;
    abuse) preset=ci-gcc options+=(-DKPROF_TEST_REAL_CUPTI=ON) targets=(--target abuse_all)
           options+=(-DKPROF_TEST_ENDING_SIGNALS=500) ;;
    abuse-*) preset=asan-clang targets=(--target abuse_all)
             [ "$name" = abuse-asan ] || preset=tsan-gcc
             options+=(-DKPROF_TEST_ABUSE_SANITIZED=ON -DKPROF_NVCC= -DKPROF_TEST_NVCC=)
             options+=(-DKPROF_BUILD_EXAMPLES=OFF -DKPROF_BUILD_TOOLS=OFF) ;;
    headers) preset=ci-gcc options+=(-DKPROF_TEST_EACH_HEADER=ON)
             targets=(--target help) ;;   # nothing is to be built
    fuzz) preset=asan-clang options+=(-DKPROF_NVCC= -DKPROF_TEST_NVCC= -DKPROF_BUILD_EXAMPLES=OFF)
          options+=(-DKPROF_BUILD_TOOLS=OFF -DKPROF_TEST_FUZZ=1000000)
          options+=(-DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1 -fsanitize=fuzzer-no-link")
          targets=(--target fuzz_all) ;;
  esac
  # In a third of the time; the full sets are linked by the linker of the system.
  case $name in off-clang | noexcept-clang | tsan-clang | asan-clang)
    for kind in EXE SHARED MODULE; do
      options+=("-DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=lld")
    done ;;
  esac
  mkdir -p "$folder"
  if ! cmake --preset "$preset" -B "$folder" "${options[@]}" > "$folder/configure.log" 2>&1; then
    cat "$folder/configure.log"
    return 1
  fi
  grep -aE -- '-- kprof.*(left out|skipped)' "$folder/configure.log" || true
  if ! cmake --build "$folder" -j "$jobs" "${targets[@]}" -- -k 0 > "$folder/build.log" 2>&1; then
    grep -avE '^\[[0-9]+/[0-9]+\] ' "$folder/build.log" | tail -n 100
    return 1
  fi
}

test_configuration() {
  local options=()
  case $1 in
    units) options+=(-R '^(unit|saved\.fuzz)') ;;
    torch) options+=(-R '^torch\.' --verbose) ;;   # verbose: the test says what it compared
    abuse*) options+=(-R '^abuse\.' --verbose --output-junit abuse.xml) ;;
    clients) options+=(-R '^clients\.' --verbose -j 1) ;;
    headers) options+=(-R '^structure\.alone\.') ;;
    fuzz) options+=(-R '^fuzz\.') ;;
    arm64) options+=(-R '^arm64\.') ;;
    # A sanitizer keeps its own books of what is loaded, so that no library comes back at the
    # address it had.
    asan-* | tsan-*) options+=(-E '^nvtx.library_arms') ;;
    # Executes more than a minute's instructions one by one; ci-gcc does.
    noexcept-*) options+=(-E '^recording\.guards_between_all_instructions') ;;
    # What reads sources, compares times of its own, or compiles much that is the same for both
    # compilers is done by ci-gcc.
    ci-clang)
      local sources='structure\.(style|limits|format|layout|include_graph|preprocessed_size\.ops)'
      local compiled='structure\.(compile_cost\.linked|alone\.among_poisoned_macros)'
      # What the system does to a process is the same whoever compiled it.
      local system='abuse\.(other_commits|filters|messages|standard_output|files)'
      options+=(-E "^($sources|$compiled|$system|tools\.query)") ;;
  esac
  ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 \
  UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=100 \
    ctest --test-dir "$build/$1" --output-on-failure --no-label-summary --no-tests=error \
          -j "$at_once" "${options[@]}"
  local result=$?
  case $1 in abuse*)
    python3 tests/abuse/table.py docs/guarantees.md "$build/$1/abuse.xml" || result=1 ;;
  esac
  return $result
}

say "packages"
if ! install_packages; then
  echo "tests/run.sh: packages are missing and could not be installed"
  exit 1
fi

failed=()
for name in "${configurations[@]}"; do
  say "$name"
  SECONDS=0
  build_configuration "$name" || { echo "$name: does not build"; failed+=("$name"); continue; }
  echo "$name: built in $SECONDS s"
  test_configuration "$name" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
  say "failed: ${failed[*]}"
  exit 1
fi

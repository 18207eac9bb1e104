#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds and runs ResNet-50 on oneDNN under kprof and prints the report:
#
#   bash examples/demo.sh [batch=1] [iterations=5]
#
# Installs what is missing with apt-get (a compiler, Boost.PFR's headers, oneDNN) and builds in
# build/demo.

set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${CXX:-g++}
build=$root/build/demo

fail() { echo "demo.sh: $1" >&2; exit 1; }
# Whether the compiler finds a header.
has_header() { echo "#include <$1>" | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }

missing=()
if ! command -v "$compiler" >/dev/null; then
  [[ $compiler == g++ ]] ||
    fail "no compiler called $compiler; set CXX to g++ 12, clang++ 14 or newer"
  missing+=(g++)
fi
has_header boost/pfr.hpp || missing+=(boost)
has_header oneapi/dnnl/dnnl.hpp || missing+=(libdnnl-dev)

if ((${#missing[@]})); then
  wanted="missing: ${missing[*]} (boost: 1.75 or newer)"
  command -v apt-get >/dev/null ||
    fail "$wanted; install them with this system's package manager and run again"
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "$wanted, and no sudo to install them with; run this once as root"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  # PFR came with Boost 1.75: where libboost-dev is older there may be a newer one beside it.
  boost=$(apt-cache search --names-only '^libboost1\.[0-9]+-dev$' |
    cut -d' ' -f1 | sort -V | tail -1)
  missing=("${missing[@]/#boost/${boost:-libboost-dev}}")
  echo "demo.sh: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

mkdir -p "$build"
echo "demo.sh: compiling examples/resnet50_onednn.cpp, about a minute"
"$compiler" -std=c++20 -O2 -I "$root/include" "$root/examples/resnet50_onednn.cpp" \
  -o "$build/resnet50_onednn" -ldnnl
# Wide enough for whole parameters where no terminal says how wide it is.
COLUMNS=${COLUMNS:-240} "$build/resnet50_onednn" "$@"

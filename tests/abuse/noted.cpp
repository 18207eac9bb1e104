// SPDX-License-Identifier: MIT
// A library with a guard, and with room for records where none may be: check_notes.py finds it by
// its first bytes.
#include <kprof/guard.hpp>

struct room_for_record {
  char mark[16];
  const void* relocated;
  char rest[64];
};

[[gnu::used]] static const char read_only[96] = "read-only room";
[[gnu::used]] static const room_for_record sealed = {"sealed room", &read_only, {}};
[[gnu::used]] static char writable[96] = "writable room";

extern "C" void run() { KPROF_REGION("library"); }

// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_LOADED_OBJECT_HPP
#define KPROF_ATTACH_LOADED_OBJECT_HPP

// What the loader says of an executable or a library in memory, and the walk over all of them, as
// <link.h> and <elf.h> declare them: those two are a tenth of what guard.hpp costs a file.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;
extern "C" int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

KPROF_DETAIL_BEGIN
namespace detail {

static_assert(sizeof(void*) == 8, "kprof is for 64-bit systems");

/// A program header: the system's Elf64_Phdr.
struct program_header {
  enum : std::uint32_t {
    loaded = 1,
    notes = 4,
    sealed = 0x6474e552
  };                                                    // PT_LOAD, PT_NOTE, PT_GNU_RELRO
  enum : std::uint32_t { writable = 2, readable = 4 };  // PF_W, PF_R

  std::uint32_t type = 0, rights = 0;
  std::uint64_t offset = 0, address = 0, physical_address = 0;
  std::uint64_t size_in_file = 0, size = 0, alignment = 0;
};

/// The first members of the system's dl_phdr_info.
struct loaded_object {
  std::uint64_t base = 0;
  const char* path = nullptr;
  const program_header* headers = nullptr;
  std::uint16_t header_count = 0;
};

inline loaded_object read_loaded_object(const dl_phdr_info* info) noexcept {
  loaded_object object;
  __builtin_memcpy(static_cast<void*>(&object), info, sizeof object);
  return object;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

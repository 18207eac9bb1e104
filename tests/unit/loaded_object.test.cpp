// SPDX-License-Identifier: MIT
// The loader's description of what is loaded, as kprof declares it, beside the system's own.
#include <kprof/attach/environment_variable.hpp>
#include <kprof/attach/loaded_object.hpp>

#include "catch.hpp"

#include <link.h>

#include <cstddef>
#include <string>

namespace {

using kprof::detail::loaded_object;
using kprof::detail::program_header;

#define SAME_MEMBER(ours, our_member, theirs, their_member)                     \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) && \
                sizeof(ours::our_member) == sizeof(theirs::their_member))
SAME_MEMBER(program_header, type, Elf64_Phdr, p_type);
SAME_MEMBER(program_header, rights, Elf64_Phdr, p_flags);
SAME_MEMBER(program_header, address, Elf64_Phdr, p_vaddr);
SAME_MEMBER(program_header, size, Elf64_Phdr, p_memsz);
SAME_MEMBER(program_header, alignment, Elf64_Phdr, p_align);
static_assert(sizeof(program_header) == sizeof(Elf64_Phdr));
SAME_MEMBER(loaded_object, base, dl_phdr_info, dlpi_addr);
SAME_MEMBER(loaded_object, path, dl_phdr_info, dlpi_name);
SAME_MEMBER(loaded_object, headers, dl_phdr_info, dlpi_phdr);
SAME_MEMBER(loaded_object, header_count, dl_phdr_info, dlpi_phnum);
static_assert(sizeof(loaded_object) <= sizeof(dl_phdr_info));
static_assert(program_header::loaded == PT_LOAD && program_header::notes == PT_NOTE &&
              program_header::sealed == PT_GNU_RELRO);
static_assert(kprof::detail::auxiliary_secure == AT_SECURE);
static_assert(program_header::readable == PF_R && program_header::writable == PF_W);

TEST_CASE("What is loaded is read as the loader describes it") {
  int seen = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* count) {
        const loaded_object object = kprof::detail::read_loaded_object(info);
        CHECK(object.base == info->dlpi_addr);
        CHECK(std::string(object.path) == info->dlpi_name);
        REQUIRE(object.header_count == info->dlpi_phnum);
        for (unsigned i = 0; i < object.header_count; ++i) {
          CHECK(object.headers[i].type == info->dlpi_phdr[i].p_type);
          CHECK(object.headers[i].rights == info->dlpi_phdr[i].p_flags);
          CHECK(object.headers[i].size == info->dlpi_phdr[i].p_memsz);
        }
        ++*static_cast<int*>(count);
        return 0;
      },
      &seen);
  CHECK(seen >= 2);
}

}  // namespace

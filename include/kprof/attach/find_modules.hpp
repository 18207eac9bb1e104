// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_FIND_MODULES_HPP
#define KPROF_ATTACH_FIND_MODULES_HPP

// Finds the records of all loaded modules by their ELF notes. Neither exported symbols nor a
// library of kprof's own are needed, so hidden visibility, RTLD_LOCAL and mixed compilers make no
// difference.

#include <kprof/attach/abi.hpp>
#include <kprof/build_options.hpp>

#include <link.h>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

template <class T>
T load(T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_SEQ_CST);
}
template <class T>
void store(T& to, T value) noexcept {
  __atomic_store_n(&to, value, __ATOMIC_SEQ_CST);
}

/// The module_record a note segment names, or nullptr.
inline module_record* record_in_notes(const char* from, const char* to,
                                      std::size_t alignment) noexcept {
  const auto up = [alignment](std::size_t n) { return (n + alignment - 1) & ~(alignment - 1); };
  while (to - from >= 12) {
    std::uint32_t head[3];  // name size, contents size, type
    __builtin_memcpy(head, from, sizeof head);
    const char* contents = from + up(12 + std::size_t{head[0]});
    if (static_cast<std::size_t>(to - from) < up(12 + std::size_t{head[0]}) + head[1])
      return nullptr;
    if (head[0] == 12 && head[1] == 8 && head[2] == 1 &&
        __builtin_memcmp(from + 12, "kprof-scope", 12) == 0) {
      std::int64_t distance = 0;
      __builtin_memcpy(&distance, contents, sizeof distance);
      return reinterpret_cast<module_record*>(reinterpret_cast<std::uintptr_t>(contents) +
                                              static_cast<std::uintptr_t>(distance));
    }
    from = contents + up(head[1]);
  }
  return nullptr;
}

/// Calls visit(module_record&) for each loaded module that has guards and the same ABI. The
/// loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_module(Visit visit) noexcept {
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) -> int {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const char* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      if (module_record* m =
              record_in_notes(notes, notes + segment.p_memsz, segment.p_align == 8 ? 8 : 4)) {
        if (m->version == 1 && m->size == sizeof(module_record)) (*static_cast<Visit*>(data))(*m);
        break;
      }
    }
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

}  // namespace detail
KPROF_DETAIL_END

#endif

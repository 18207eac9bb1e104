// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_FIND_MODULES_HPP
#define KPROF_ATTACH_FIND_MODULES_HPP

// Finds the records of all loaded modules by their ELF notes. Neither exported symbols nor a
// library of kprof's own are needed, so hidden visibility, RTLD_LOCAL and mixed compilers make no
// difference.

#include <kprof/attach/abi.hpp>
#include <kprof/attach/loaded_object.hpp>
#include <kprof/build_options.hpp>

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

/// The addresses from `from` up to `to`.
struct address_range {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
};

/// One loaded module, as the loader describes it. The loader checks only what it needs itself: of a
/// damaged library, or one that a tool has rewritten, any number here may be wrong.
class loaded_module {
 public:
  explicit loaded_module(const loaded_object& object) noexcept : object_(object) {}

  /// The record that a note of the module names, in the module's own writable memory; or nullptr.
  module_record* record() const noexcept {
    for (unsigned i = 0; i < object_.header_count; ++i) {
      const auto& segment = object_.headers[i];
      if (segment.type != program_header::notes) continue;
      const address_range notes = mapped_part(range_of(segment), program_header::readable);
      const std::uintptr_t at = named_record(notes, segment.alignment == 8 ? 8 : 4);
      if (at != 0 && is_record(at)) return reinterpret_cast<module_record*>(at);
    }
    return nullptr;
  }

 private:
  /// Up to the end of the address space, where the size leads past it.
  address_range range_of(const program_header& segment) const noexcept {
    const std::uintptr_t from = object_.base + segment.address;
    const std::uintptr_t to = from + segment.size;
    return {from, to < from ? ~std::uintptr_t{0} : to};
  }
  /// What of the range one loaded segment holds, from the range's beginning on, with these rights
  /// at least. Of segments that overlap, the loader maps the later one over the earlier: then all
  /// must have the rights.
  address_range mapped_part(address_range wanted, std::uint32_t rights) const noexcept {
    address_range out{};
    for (unsigned i = 0; i < object_.header_count; ++i) {
      const auto& segment = object_.headers[i];
      if (segment.type != program_header::loaded) continue;
      const address_range named = range_of(segment), mapped = whole_pages(named);
      if (wanted.to <= mapped.from || mapped.to <= wanted.from) continue;
      if ((segment.rights & rights) != rights) return {};
      if (out.to != 0 || wanted.from < named.from || wanted.from >= named.to) continue;
      out = {wanted.from, wanted.to < named.to ? wanted.to : named.to};
    }
    return out;
  }
  static constexpr std::uintptr_t page = 4096;  // the least
  static constexpr std::uintptr_t page_of(std::uintptr_t address) noexcept {
    return address & ~(page - 1);
  }
  /// The loader maps whole pages.
  static constexpr address_range whole_pages(address_range r) noexcept {
    const std::uintptr_t up = r.to + page - 1;
    return {page_of(r.from), up < r.to ? ~std::uintptr_t{0} : page_of(up)};
  }
  /// Whether the loader has made any of it read-only after it relocated the module.
  bool is_sealed(address_range wanted) const noexcept {
    for (unsigned i = 0; i < object_.header_count; ++i) {
      const auto& segment = object_.headers[i];
      if (segment.type != program_header::sealed) continue;
      const address_range named = range_of(segment);
      const address_range sealed{page_of(named.from), page_of(named.to)};  // as glibc rounds
      if (wanted.from < sealed.to && sealed.from < wanted.to) return true;
    }
    return false;
  }
  bool is_record(std::uintptr_t at) const noexcept {
    const address_range whole{at, at + sizeof(module_record)};
    const address_range mapped =
        mapped_part(whole, program_header::readable | program_header::writable);
    return at % alignof(module_record) == 0 && mapped.to - mapped.from == sizeof(module_record) &&
           !is_sealed(whole);
  }

  /// The address that the notes name, unchecked, or 0.
  static std::uintptr_t named_record(address_range notes, std::uintptr_t alignment) noexcept {
    const auto up = [alignment](std::uintptr_t n) {
      return (n + alignment - 1) & ~(alignment - 1);
    };
    while (notes.to - notes.from >= 12) {
      const char* const note = reinterpret_cast<const char*>(notes.from);
      std::uint32_t head[3];  // name size, contents size, type
      __builtin_memcpy(head, note, sizeof head);
      const std::uintptr_t left = notes.to - notes.from;
      const std::uintptr_t contents = up(12 + std::uintptr_t{head[0]});
      const std::uintptr_t next = contents + up(head[1]);
      if (left < contents + head[1]) return 0;
      if (head[0] == 12 && head[1] == 8 && head[2] == 1 &&
          __builtin_memcmp(note + 12, "kprof-scope", 12) == 0) {
        std::int64_t distance = 0;
        __builtin_memcpy(&distance, note + contents, sizeof distance);
        return notes.from + contents + static_cast<std::uintptr_t>(distance);
      }
      if (left < next) return 0;
      notes.from += next;
    }
    return 0;
  }

  const loaded_object object_;
};

/// Whether the record is laid out as those of this build.
inline bool is_of_this_layout(const module_record& m) noexcept {
  return m.version == abi_layout && m.size == sizeof(module_record);
}

// The loader calls visit() from its own C code and holds its lock meanwhile. So visit() throws
// nothing, and asks for no memory: a thread that holds the allocator's lock may be waiting for the
// loader's.

/// The modules that were last told who listens. In the child of a fork they stand for all: another
/// thread of the parent may have been in dlopen(), whose lock is held for ever then.
struct told_modules {
  static constexpr unsigned most = 256;

  module_record* all[most] = {};
  unsigned count = 0;
  bool is_in_child = false;

  void tell(unsigned number, module_record* m) noexcept {
    if (number < most) store(all[number], m);
  }
  /// The module is about to be unloaded.
  void forget(const module_record& leaving) noexcept {
    for (unsigned i = 0; i < load(count) && i < most; ++i)
      if (load(all[i]) == &leaving) store(all[i], static_cast<module_record*>(nullptr));
  }
};
KPROF_DETAIL_LOCAL inline constinit told_modules modules_told{};
inline bool may_ask_loader() noexcept { return !load(modules_told.is_in_child); }

/// Calls visit(module_record&) for each loaded module that has guards and the same ABI. The
/// loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_module(Visit visit) noexcept {
  if (!may_ask_loader()) {
    for (unsigned i = 0; i < load(modules_told.count) && i < told_modules::most; ++i)
      if (module_record* const m = load(modules_told.all[i])) visit(*m);
    return;
  }
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) noexcept -> int {
    module_record* const m = loaded_module(read_loaded_object(info)).record();
    if (m != nullptr && is_of_this_layout(*m)) (*static_cast<Visit*>(data))(*m);
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

/// Calls visit(path) for each loaded module whose guards are of another ABI. The path of the
/// program is empty. The loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_other_module(Visit visit) noexcept {
  static_assert(noexcept(visit("")), "nothing may be thrown through the loader's code");
  if (!may_ask_loader()) return;
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) noexcept -> int {
    const module_record* const m = loaded_module(read_loaded_object(info)).record();
    const bool is_leaving = m != nullptr && m->version == 0;
    if (m != nullptr && !is_leaving && !is_of_this_layout(*m))
      (*static_cast<Visit*>(data))(read_loaded_object(info).path);
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

}  // namespace detail
KPROF_DETAIL_END

#endif

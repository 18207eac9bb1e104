// SPDX-License-Identifier: MIT
#ifndef KPROF_EMIT_NVTX_SCHEMA_HPP
#define KPROF_EMIT_NVTX_SCHEMA_HPP

// Tells an NVTX tool what operators, nested structs and enums look like: payload schemas and enums,
// built at run time from the descriptors. Included by emit/nvtx.hpp, which has the ranges. Any
// thread.

#include <kprof/build_options.hpp>
// Both here: behind the condition the single header would hold them twice.
#include <kprof/declare/division_trap.hpp>
#include <kprof/emit/nvtx_registry.hpp>

#if KPROF_NVTX

#include <cstddef>
#include <cstdlib>

KPROF_DETAIL_BEGIN
namespace detail {
namespace nvtx {

/// How many binaries have gone: an operator may lie where another lay.
KPROF_DETAIL_LOCAL inline constinit std::uint32_t unloadings = 0;

#if KPROF_DETAIL_PAYLOAD

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc& fields) noexcept;

/// Schema id of an enum; 0 when none of its enumerators has a name.
KPROF_DETAIL_LOCAL inline std::uint64_t enum_id(const enum_desc& e, std::uint32_t bytes) noexcept {
  std::size_t characters = 0;
  for (std::uint32_t i = 0; i < e.size; ++i) characters += e.list[i].name.size + 1;
  char* names = nullptr;
  known* item = make_known(role::enumeration, e.name, bytes, e.size, characters, names);
  if (item == nullptr) return 0;
  for (; item->length < e.size; ++item->length) {
    entry& to = item->entries[item->length];
    to.name = names;
    // sign extended, as NVTX's own tables come out
    to.offset = static_cast<std::uint64_t>(e.list[item->length].value);
    names = copy_text(names, e.list[item->length].name) + 1;
  }
  return intern(item)->id;
}

/// NVTX's type of one element of a field; 0 when it has none.
KPROF_DETAIL_LOCAL inline std::uint64_t element_type(const field_desc& f) noexcept {
  static constexpr enumerator truth[] = {{0, {"false", 5}}, {1, {"true", 4}}};
  const bool is_signed = f.kind == field_kind::signed_integer ||
                         (f.kind == field_kind::enumeration && f.enumerators->is_signed);
  switch (f.kind) {
    case field_kind::boolean: return enum_id({{"bool", 4}, false, 2, truth}, f.size);
    case field_kind::string: return NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
    case field_kind::aggregate: {
      const known* nested = describe(role::nested, f.nested->name, *f.nested);
      return nested == nullptr ? 0 : nested->id;
    }
    case field_kind::floating:
      if (f.size == sizeof(float)) return NVTX_PAYLOAD_ENTRY_TYPE_FLOAT;
      if (f.size == sizeof(double)) return NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
      return f.size == sizeof(long double) ? NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE : 0;
    case field_kind::enumeration:
      if (const std::uint64_t id = enum_id(*f.enumerators, f.size)) return id;
      break;
    default: break;
  }
  switch (f.size) {
    case 1: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT8 : NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
    case 2: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT16 : NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
    case 4: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT32 : NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
    case 8: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT64 : NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
    default: return 0;
  }
}

/// Entries of one field: NVTX has no array of strings of fixed size, so that each of its elements
/// gets its own.
KPROF_DETAIL_LOCAL constexpr std::uint32_t entries_of(const field_desc& f) noexcept {
  return f.kind == field_kind::string && f.extent != 0 ? f.extent : 1;
}

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc& fields) noexcept {
  std::size_t entries = 0, characters = 0;
  for (std::uint32_t i = 0; i < fields.field_count; ++i) {
    const field_desc& f = fields.fields[i];
    entries += entries_of(f);
    characters += entries_of(f) * (f.name.size + std::size_t{8});  // "[511]"
  }
  char* names = nullptr;
  known* item = make_known(as, name, fields.size, entries, characters, names);
  if (item == nullptr) return nullptr;
  for (std::uint32_t i = 0; i < fields.field_count; ++i) {
    const field_desc& f = fields.fields[i];
    const std::uint64_t type = element_type(f);
    if (type == 0) continue;
    for (std::uint32_t k = 0; k < entries_of(f); ++k) {
      const std::uint64_t offset = f.offset + std::uint64_t{k} * f.size;
      // Sorted, since a tool takes offset 0 for "after the entry before": listed fields may come in
      // any order.
      std::size_t at = item->length++;
      for (; at > 0 && item->entries[at - 1].offset > offset; --at)
        item->entries[at] = item->entries[at - 1];
      const bool is_array = f.extent != 0 && f.kind != field_kind::string;
      item->entries[at] = {is_array ? std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE} : 0,
                           type,
                           names,
                           nullptr,
                           f.kind == field_kind::string ? f.size : f.extent,
                           offset,
                           nullptr,
                           nullptr};
      names = copy_text(names, f.name);
      if (entries_of(f) > 1) {
        char digits[] = {'[', static_cast<char>('0' + k / 100),
                         static_cast<char>('0' + k / 10 % 10), static_cast<char>('0' + k % 10),
                         ']'};
        const std::uint32_t skip = k < 10 ? 2 : k < 100 ? 1 : 0;
        digits[skip] = '[';
        names = copy_text(names, {digits + skip, 5 - skip});
      }
      ++names;
    }
  }
  return intern(item);
}

/// Bytes of `work` that are numbers.
inline constexpr std::uint32_t work_size = 24;

/// The schemas of what evaluate() yields, one for each set of declared formulas: they name what is
/// there of `work`.
KPROF_DETAIL_LOCAL inline void register_work() noexcept {
  constexpr field_kind number = field_kind::unsigned_integer;
  static constexpr field_desc fields[] = {
      {{"flops", 5}, offsetof(work, flops), 8, 0, number, nullptr, nullptr},
      {{"bytes_read", 10}, offsetof(work, read), 8, 0, number, nullptr, nullptr},
      {{"bytes_written", 13}, offsetof(work, written), 8, 0, number, nullptr, nullptr}};
  for (std::uint32_t set = 1; set < 4; ++set) {
    const known* item =
        describe(role::nested, {"kprof.work", 10},
                 {{"", 0}, work_size, set, set == 2 ? fields + 1 : fields, nullptr});
    told.work_ids[set] = item == nullptr ? 0 : item->id;
  }
}

/// What the formulas said of a set of parameters, whose bytes follow: running them safely takes
/// system calls.
struct remembered_work {
  const op_desc* op;
  std::uint32_t generation;  // of `unloadings`
  std::uint32_t bytes;
  work numbers;
};
inline constexpr std::size_t remembered_slots = 4096;  // sets beyond are evaluated every time
inline constexpr std::size_t remembered_probes = 16;
KPROF_DETAIL_LOCAL inline constinit remembered_work* remembered[remembered_slots]{};

KPROF_DETAIL_LOCAL inline work work_of(const op_desc& op, const void* params,
                                       std::uint32_t bytes) noexcept {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&op);
  for (std::uint32_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, static_cast<const char*>(params) + at, bytes - at < 8 ? bytes - at : 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  const std::uint32_t generation = load(unloadings);
  remembered_work** slot = nullptr;
  for (std::size_t i = 0; i < remembered_probes; ++i) {
    slot = &remembered[(hash + i) % remembered_slots];
    const remembered_work* at = load(*slot);
    if (at == nullptr) break;
    if (at->op == &op && at->generation == generation && at->bytes == bytes &&
        __builtin_memcmp(at + 1, params, bytes) == 0)
      return at->numbers;
    slot = nullptr;
  }
  work numbers{};
  division_trap::run_keeping_handler(op.evaluate, params, numbers);
  auto* made = slot == nullptr
                   ? nullptr
                   : static_cast<remembered_work*>(std::malloc(sizeof(remembered_work) + bytes));
  if (made == nullptr) return numbers;
  *made = {&op, generation, bytes, numbers};
  if (bytes != 0) __builtin_memcpy(made + 1, params, bytes);
  remembered_work* nobody = nullptr;
  if (!exchange(*slot, nobody, made)) std::free(made);
  return numbers;
}

/// The payloads of one range; lives until the range is pushed.
struct payloads {
  nvtxPayloadData_t data[2];
  work numbers;

  /// The parameters at `params`, as `item` describes them, and what the formulas of `op` say about
  /// them.
  KPROF_DETAIL_LOCAL void add_to(nvtxEventAttributes_t& event, const known& item, const op_desc& op,
                                 const void* params, std::uint32_t bytes) noexcept {
    std::int32_t count = 0;
    if (item.id != 0) data[count++] = {item.id, bytes, params};
    if (told.work_ids[3] != 0) {
      numbers = work_of(op, params, bytes);
      // A formula that is not declared, or not valid for these parameters, is left out: it must not
      // read as 0.
      const unsigned set = numbers.valid == 0 ? 0U
                                              : (numbers.has_flops != 0 ? 1U : 0U) +
                                                    (numbers.has_bytes != 0 ? 2U : 0U);
      if (set != 0) data[count++] = {told.work_ids[set], work_size, &numbers};
    }
    if (count == 0) return;
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = count;
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(data);
  }
};

#else

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc&) noexcept {
  char* names = nullptr;
  return intern(make_known(as, name, 0, 0, 0, names));
}
KPROF_DETAIL_LOCAL inline void register_work() noexcept {}
struct payloads {
  void add_to(nvtxEventAttributes_t&, const known&, const op_desc&, const void*,
              std::uint32_t) noexcept {}
};

#endif  // KPROF_DETAIL_PAYLOAD

}  // namespace nvtx
}  // namespace detail
KPROF_DETAIL_END

#undef KPROF_DETAIL_PAYLOAD

#endif  // KPROF_NVTX

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_EMIT_NVTX_REGISTRY_HPP
#define KPROF_EMIT_NVTX_REGISTRY_HPP

// What an NVTX tool was told of operators, nested structs and enums: one registration for each
// different description, on a list that readers walk without a lock. Included by nvtx_schema.hpp,
// which makes the descriptions. Any thread; allocates for a new description, and never frees what
// the tool was told.

#include <kprof/build_options.hpp>

#if KPROF_NVTX

#include <kprof/attach/hub.hpp>

// The C headers of the SDK are not written for the warnings that kprof's users may turn on.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
// Brings the nvToolsExt.h beside it, and not one of another toolkit.
#include <nvtx3/nvToolsExtPayload.h>
#else
#include <nvtx3/nvToolsExt.h>
#endif
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdlib>

// Toolkits before CUDA 13 have no payload header, or one with other names: ranges are then sent
// without payload.
#ifdef NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
#define KPROF_DETAIL_PAYLOAD 1
#else
#define KPROF_DETAIL_PAYLOAD 0
#endif

KPROF_DETAIL_BEGIN
namespace detail {
// All functions are hidden: each binary that includes this has its own NVTX instance and its own
// state.
namespace nvtx {

#if KPROF_DETAIL_PAYLOAD
using entry = nvtxPayloadSchemaEntry_t;
#else
struct entry {};
#endif

enum class role : std::uint8_t { enumeration, nested, op };

/// What the tool was told of an operator, a nested struct or an enum. One block, immutable once it
/// is on the list, and leaked: a tool may keep the pointers of a registration, and readers hold no
/// lock.
struct known {
  known* next;
  nvtxStringHandle_t message;  // of an operator
  // schema or enum; 0: the tool takes no payload, or there are no fields
  std::uint64_t id;
  const char* name;
  std::uint64_t size;
  // not `count`: nvcc takes `item->count <` for the start of template arguments of kprof::count
  std::size_t length;
  entry* entries;
  void* enumerators;  // of an enum: the table that the tool was given
  role as;
};

struct registry {
  nvtxDomainHandle_t domain;
  known* list;
  std::uint64_t work_ids[4];  // schema for [has_flops + 2 * has_bytes]
};
KPROF_DETAIL_LOCAL inline constinit registry told{};

template <class T>
KPROF_DETAIL_LOCAL inline bool exchange(T& at, T& expected, T desired) noexcept {
  return __atomic_compare_exchange_n(&at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

KPROF_DETAIL_LOCAL inline char* copy_text(char* to, text_view from) noexcept {
  __builtin_memcpy(to, from.data, from.size);
  to[from.size] = '\0';
  return to + from.size;
}

/// `characters` is room for the names of the entries.
KPROF_DETAIL_LOCAL inline known* make_known(role as, text_view name, std::uint64_t size,
                                            std::size_t entries, std::size_t characters,
                                            char*& names) noexcept {
  const std::size_t head = sizeof(known) + entries * sizeof(entry);
  auto* block = static_cast<char*>(std::calloc(1, head + name.size + 1 + characters));
  if (block == nullptr) return nullptr;
  auto* item = reinterpret_cast<known*>(block);
  item->name = block + head;
  item->size = size;
  item->entries = reinterpret_cast<entry*>(block + sizeof(known));
  item->as = as;
  names = copy_text(block + head, name) + 1;
  return item;
}

KPROF_DETAIL_LOCAL inline bool same(const known& a, const known& b) noexcept {
  if (a.as != b.as || a.size != b.size || a.length != b.length ||
      __builtin_strcmp(a.name, b.name) != 0)
    return false;
#if KPROF_DETAIL_PAYLOAD
  for (std::size_t i = 0; i < a.length; ++i) {
    const entry& x = a.entries[i];
    const entry& y = b.entries[i];
    if (x.flags != y.flags || x.type != y.type || x.offset != y.offset ||
        x.arrayOrUnionDetail != y.arrayOrUnionDetail || __builtin_strcmp(x.name, y.name) != 0)
      return false;
  }
#endif
  return true;
}

KPROF_DETAIL_LOCAL inline void register_item(known& item) noexcept {
  if (item.as == role::op) item.message = nvtxDomainRegisterStringA(told.domain, item.name);
#if KPROF_DETAIL_PAYLOAD
  if (item.length == 0) return;
  if (item.as == role::enumeration) {
    auto* list =
        static_cast<nvtxPayloadEnum_t*>(std::calloc(item.length, sizeof(nvtxPayloadEnum_t)));
    if (list == nullptr) return;
    item.enumerators = list;
    for (std::size_t i = 0; i < item.length; ++i)
      list[i] = {item.entries[i].name, item.entries[i].offset, 0};
    nvtxPayloadEnumAttr_t about{};
    about.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    about.name = item.name;
    about.entries = list;
    about.numEntries = item.length;
    about.sizeOfEnum = item.size;
    item.id = nvtxPayloadEnumRegister(told.domain, &about);
  } else {
    nvtxPayloadSchemaAttr_t about{};
    about.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    about.name = item.name;
    about.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    about.entries = item.entries;
    about.numEntries = item.length;
    about.payloadStaticSize = item.size;
    item.id = nvtxPayloadSchemaRegister(told.domain, &about);
  }
#endif
}

/// The item on the list that says the same, or `item` after it was registered and put there. No
/// lock is held while the tool is called: it may wait for the loader, and so may a static object's
/// constructor that opens a scope meanwhile. Of two threads that describe the same operator at
/// once, both register it, and either registration serves.
KPROF_DETAIL_LOCAL inline const known* intern(known* item) noexcept {
  if (item == nullptr) return nullptr;
  known* head = load(told.list);
  for (const known* k = head; k != nullptr; k = k->next)
    if (same(*k, *item)) {
      std::free(item);
      return k;
    }
  register_item(*item);
  do item->next = head;
  while (!exchange(told.list, head, item));
  return item;
}

}  // namespace nvtx
}  // namespace detail
KPROF_DETAIL_END

#endif  // KPROF_NVTX

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_EMIT_NVTX_RANGES_HPP
#define KPROF_EMIT_NVTX_RANGES_HPP

// Pushes and pops the ranges of this module: finds what the tool knows of an operator or a region's
// name, and sends a scope with its payload. Included by emit/nvtx.hpp, which attaches to a tool.
// Any thread.

#include <kprof/build_options.hpp>
#include <kprof/emit/nvtx_schema.hpp>

#if KPROF_NVTX

#include <ctime>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

struct emitter_api;

// Of the modules that include this, the first that finds the tool serves the whole process through
// hub_record::emitter.
namespace nvtx {

/// Where the push of an operator finds what the tool knows. `op` never changes once set; `item`
/// does.
///
/// A library may go and another one take its address, with an op_desc at the very same place, even
/// with the same function addresses when it is the same plugin built again. So an address alone
/// proves nothing. hub_record::detach tells when the binary that last filled the slot goes, and
/// empties it: the next push describes the operator anew. If the linker merged the descriptors of
/// several binaries into one, whoever uses it keeps its owner loaded, and the slot is emptied with
/// the user. A description that was seen before is found on the list by its contents, so that
/// loading and unloading in a loop neither leaks nor registers anything twice.
struct op_slot {
  const op_desc* op;
  const module_record* home;
  const known* item;
};

struct region_name {
  nvtxStringHandle_t message;  // nullptr while it is being registered
  std::uint32_t size;
  const char* data;
};

// What is known of a tool. Numbers: the atomic builtins of clang take no enums.
inline constexpr std::uint32_t not_sought = 0, being_sought = 1, found = 2, absent = 3;

// an operator beyond finds its description by a walk of the list
inline constexpr std::size_t op_slots = 1024;
inline constexpr std::size_t name_slots = 2048;
// those beyond are sent as plain text: a tool never forgets a string
inline constexpr std::size_t max_region_names = 1024;
inline constexpr std::uint32_t max_message = 1000;

struct state {
  std::uint32_t tool;  // one of the above
  bool refused;
  bool gave_up_waiting;
  const emitter_api* emitter;
  void (*next_detach)(const module_record& leaving) noexcept;
  std::uint32_t threads;
  std::uint32_t region_names;
  region_name* names[name_slots];
  op_slot ops[op_slots];
};
KPROF_DETAIL_LOCAL inline constinit state self{};

/// What the tool knows of the operator at `where`; nullptr when memory is short.
KPROF_DETAIL_LOCAL inline const known* known_op(const site& where) noexcept {
  // op_slots = 2^10
  const std::size_t start =
      (reinterpret_cast<std::uintptr_t>(where.op) >> 4U) * 0x9E3779B97F4A7C15U >> 54U;
  op_slot* slot = nullptr;
  for (std::size_t i = 0; i < op_slots; ++i) {
    op_slot& at = self.ops[(start + i) % op_slots];
    const op_desc* key = load(at.op);
    if (key == nullptr && exchange(at.op, key, where.op)) key = where.op;
    if (key != where.op) continue;
    if (const known* item = load(at.item)) return item;
    slot = &at;
    break;
  }
  const known* item = describe(role::op, where.op->name(), where.op->params());
  if (slot != nullptr) {
    store(slot->home, where.home);
    store(slot->item, item);
  }
  return item;
}

/// Empties the slots of a binary that is about to go. Then calls the function that
/// hub_record::detach held before this one.
KPROF_DETAIL_LOCAL inline void forget(const module_record& leaving) noexcept {
  for (op_slot& slot : self.ops)
    if (load(slot.home) == &leaving) store(slot.item, static_cast<const known*>(nullptr));
  __atomic_fetch_add(&unloadings, 1U, __ATOMIC_SEQ_CST);
  if (self.next_detach != nullptr) self.next_detach(leaving);
}

/// The handle of a region's name, or nullptr when it is to be sent as text.
KPROF_DETAIL_LOCAL inline nvtxStringHandle_t region_handle(text_view name) noexcept {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (std::uint32_t i = 0; i < name.size; ++i)
    hash = (hash ^ static_cast<unsigned char>(name.data[i])) * 1099511628211U;
  for (std::size_t i = 0; i < name_slots; ++i) {
    region_name*& slot = self.names[(hash + i) % name_slots];
    region_name* at = load(slot);
    if (at == nullptr) {
      if (load(self.region_names) >= max_region_names) return nullptr;
      auto* block = static_cast<char*>(std::malloc(sizeof(region_name) + name.size + 1));
      if (block == nullptr) return nullptr;
      auto* made = reinterpret_cast<region_name*>(block);
      *made = {nullptr, name.size, block + sizeof(region_name)};
      copy_text(block + sizeof(region_name), name);
      if (exchange(slot, at, made)) {
        __atomic_fetch_add(&self.region_names, 1U, __ATOMIC_RELAXED);
        store(made->message, nvtxDomainRegisterStringA(told.domain, made->data));
        return made->message;
      }
      std::free(block);  // another thread was first, with the name at `at`
    }
    if (at->size == name.size && __builtin_memcmp(at->data, name.data, name.size) == 0)
      return load(at->message);
  }
  return nullptr;
}

KPROF_DETAIL_LOCAL inline nvtxEventAttributes_t event_named(nvtxStringHandle_t handle) noexcept {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = handle;
  return event;
}

[[gnu::noinline]] KPROF_DETAIL_LOCAL inline void push_text(text_view name) noexcept {
  char copy[max_message + 1];
  if (name.size > max_message) name.size = max_message;
  copy_text(copy, name);
  nvtxEventAttributes_t event = event_named(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = copy;
  nvtxDomainRangePushEx(told.domain, &event);
}

/// Set while this thread is inside the tool, which may hold a lock of its own and allocate: scopes
/// that a guard in the program's allocator opens there are not sent.
KPROF_DETAIL_LOCAL inline constinit thread_local bool telling = false;

KPROF_DETAIL_LOCAL inline void tell(const site& where, const void* payload,
                                    std::uint32_t bytes) noexcept {
  if (where.op == nullptr) {
    const text_view name{static_cast<const char*>(payload), bytes};
    const nvtxStringHandle_t handle = region_handle(name);
    if (handle == nullptr) return push_text(name);
    const nvtxEventAttributes_t event = event_named(handle);
    nvtxDomainRangePushEx(told.domain, &event);
    return;
  }
  const known* item = known_op(where);
  if (item == nullptr) return push_text(where.op->name());
  nvtxEventAttributes_t event = event_named(item->message);
  if (item->message == nullptr) {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = item->name;
  }
  payloads with;
  with.add_to(event, *item, *where.op, payload, bytes);
  nvtxDomainRangePushEx(told.domain, &event);
}

KPROF_DETAIL_LOCAL inline bool push(const site& where, const void* payload,
                                    std::uint32_t bytes) noexcept {
  if (telling) return false;
  telling = true;
  tell(where, payload, bytes);
  telling = false;
  return true;
}
KPROF_DETAIL_LOCAL inline void pop() noexcept {
  telling = true;
  nvtxDomainRangePop(told.domain);
  telling = false;
}

KPROF_DETAIL_LOCAL inline constexpr emitter_api emitter{&push, &pop};

/// Looks for a tool. The process's emitter if another binary has one, else this binary's own.
KPROF_DETAIL_LOCAL inline const emitter_api* look_for_tool(hub_record& hub) noexcept {
  if (const emitter_api* other = load(hub.emitter)) return other;
  // the first call of NVTX: loads the tool, if there is one
  told.domain = nvtxDomainCreateA("kprof");
  if (told.domain == nullptr) return nullptr;
  keep_loaded();
  register_work();
  self.next_detach = load(hub.detach);
  while (!exchange(hub.detach, self.next_detach, &forget)) {}
  const emitter_api* other = nullptr;
  return exchange(hub.emitter, other, &emitter) ? &emitter : other;
}

}  // namespace nvtx

}  // namespace detail
KPROF_DETAIL_END

#endif  // KPROF_NVTX

#endif

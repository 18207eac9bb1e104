// SPDX-License-Identifier: MIT
#ifndef KPROF_EMIT_NVTX_HPP
#define KPROF_EMIT_NVTX_HPP

// Sends scopes to an attached NVTX tool, such as Nsight Systems: a range in domain `kprof` with the
// operator's or region's name, the parameters as a typed payload and, where they are declared and
// valid, the operator's FLOPs and bytes. kprof.hpp includes it. A library may include it alone, so
// that its users see typed ranges without any session. Including it arms the guards of the process:
// the first scope looks for a tool, and without one guards are idle again. It costs about 0.4 s of
// compile time and 31 KB of weak code an object. Any thread may open and close scopes.

#include <kprof/build_options.hpp>
#include <kprof/emit/nvtx_schema.hpp>

#if KPROF_NVTX

#include <ctime>
#include <utility>

#endif

KPROF_DETAIL_BEGIN
namespace detail {

struct emitter_api;

#if !KPROF_NVTX

inline const emitter_api* attach_nvtx() noexcept { return nullptr; }
inline bool arm_nvtx() noexcept { return false; }
inline void refuse_nvtx() noexcept {}
inline void disarm_nvtx() noexcept {}

#else

// Of the binaries that include this, the first to find the tool serves the whole process through
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
  bool waited_in_vain;
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

/// Empties the slots of a binary that is about to go, and tells whoever wanted to know before.
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

/// The emitter when an NVTX tool is attached, else nullptr. The first call initialises NVTX and
/// hangs the emitter into the hub; later ones cost two loads. Any thread. Another thread that
/// initialises is waited for, but not for ever: it may need the loader's lock, which this one holds
/// when a static object's constructor opens a scope. Such a scope is not sent.
KPROF_DETAIL_LOCAL inline const emitter_api* attach_nvtx() noexcept {
  using nvtx::self;
  if (load(self.refused) || nvtx::telling) return nullptr;
  std::uint32_t tool = load(self.tool);
  if (tool == nvtx::not_sought && nvtx::exchange(self.tool, tool, nvtx::being_sought)) {
    nvtx::telling = true;
    self.emitter = nvtx::look_for_tool(the_hub());
    nvtx::telling = false;
    tool = self.emitter != nullptr ? nvtx::found : nvtx::absent;
    store(self.tool, tool);
  }
  for (int i = 0; tool == nvtx::being_sought && !load(self.waited_in_vain); ++i) {
    const std::timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    tool = load(self.tool);
    if (i == 2000) store(self.waited_in_vain, true);
  }
  return tool == nvtx::found ? self.emitter : nullptr;
}

// The functions of guards while no session records.
namespace nvtx {

/// The ranges that this thread has open here, and how often it opened one at each depth: a token
/// that names an older range at the same depth is recognised. Below the depths that are counted it
/// is not.
struct thread_ranges {
  static constexpr std::uint32_t counted = 64;
  std::uint32_t number;
  std::uint32_t depth;
  std::uint16_t opened[counted];
};
KPROF_DETAIL_LOCAL inline constinit thread_local thread_ranges mine{};

/// A token: `emitted_token` and the thread's number in the upper half, then 16 bits of which opening
/// at this depth, then the depth.
KPROF_DETAIL_LOCAL inline scope_token token_of_innermost() noexcept {
  const std::uint32_t opening = mine.depth < thread_ranges::counted ? mine.opened[mine.depth] : 0U;
  return emitted_token | static_cast<scope_token>(mine.number) << 32U | opening << 16U | mine.depth;
}

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept;
template <std::uint32_t Words>
KPROF_DETAIL_LOCAL inline scope_token begin_words(site& where, const void* payload) noexcept {
  return begin(where, payload, 8 * Words);
}

/// Closes the range and those left open within it. Nothing for a token of another thread or of a
/// range that is closed.
KPROF_DETAIL_LOCAL inline void end(scope_token token) noexcept {
  if ((token & emitted_token) == 0) return end_through_hub(token);
  const std::uint32_t depth = token & 0xFFFFU;
  if ((token & ~emitted_token) >> 32U != mine.number || depth > mine.depth) return;
  if (depth < thread_ranges::counted && mine.opened[depth] != (token >> 16U & 0xFFFFU)) return;
  for (; mine.depth >= depth; --mine.depth) self.emitter->pop();
}

KPROF_DETAIL_LOCAL inline std::uint32_t capture() noexcept { return 0; }
// NVTX ranges stay on their thread
KPROF_DETAIL_LOCAL inline scope_token adopt(std::uint32_t) noexcept { return 0; }
KPROF_DETAIL_LOCAL inline void release(scope_token) noexcept {}

template <std::uint32_t... Words>
constexpr scope_api make_emit_only(std::integer_sequence<std::uint32_t, Words...>) noexcept {
  return {1, sizeof(scope_api), &end, &begin, {&begin_words<Words>...}, &capture, &adopt, &release};
}
KPROF_DETAIL_LOCAL inline constexpr scope_api emit_only =
    make_emit_only(std::make_integer_sequence<std::uint32_t, max_fast_words + 1>{});

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept {
  if (telling) return 0;
  const emitter_api* to = attach_nvtx();
  if (to == nullptr) {
    // No tool: guards go idle again. Only the first scope finds itself in the hub, so that only it
    // walks the binaries.
    const scope_api* own = &emit_only;
    if (load(self.tool) != being_sought &&
        exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr)))
      publish(the_hub());
    return 0;
  }
  if (mine.number == 0) mine.number = __atomic_add_fetch(&self.threads, 1U, __ATOMIC_RELAXED);
  if (mine.depth == 0xFFFF) return 0;
  if (!to->push(where, payload, bytes)) return 0;
  if (++mine.depth < thread_ranges::counted) ++mine.opened[mine.depth];
  return token_of_innermost();
}

}  // namespace nvtx

/// Lets the guards of the process look for a tool at the next scope, unless somebody else does so
/// already. False when it is known that there is none. Including this header calls it when static
/// objects are built.
KPROF_DETAIL_LOCAL inline bool arm_nvtx() noexcept {
  hub_record& hub = the_hub();
  if (load(nvtx::self.refused) || load(hub.emit_refused) != 0 ||
      load(nvtx::self.tool) == nvtx::absent)
    return false;
  const scope_api* nobody = nullptr;
  keep_loaded();
  if (nvtx::exchange(hub.emit_only, nobody, &nvtx::emit_only)) {
    store(hub.end_emitted, &nvtx::end);
    publish(hub);
  }
  return true;
}

/// For a session whose user wants no NVTX: nothing is sent from now on, and no tool is looked for.
/// Ranges that are open are still closed. Libraries loaded later find it written in the hub.
KPROF_DETAIL_LOCAL inline void refuse_nvtx() noexcept {
  hub_record& hub = the_hub();
  store(nvtx::self.refused, true);
  store(hub.emit_refused, std::uint32_t{1});
  store(hub.emitter, static_cast<const emitter_api*>(nullptr));
  store(hub.emit_only, static_cast<const scope_api*>(nullptr));
  publish(hub);
}

/// For a session that has found no tool: guards do not look for one again when it stops. The caller
/// publishes the hub.
KPROF_DETAIL_LOCAL inline void disarm_nvtx() noexcept {
  const scope_api* own = &nvtx::emit_only;
  nvtx::exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr));
}

namespace nvtx {
struct arming {
  KPROF_DETAIL_LOCAL arming() noexcept { arm_nvtx(); }
};
KPROF_DETAIL_LOCAL inline arming armed;
}  // namespace nvtx

#endif  // KPROF_NVTX

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_ABI_HPP
#define KPROF_ATTACH_ABI_HPP

// The records that modules share: call sites, tables of functions, the hub, and one record for each
// module. Everything here is ABI: plain structs, versioned, never freed, so that late destructors
// may still reach them.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

struct module_record;

/// One per call site, static. The type is hidden so that no module shares another's sites.
struct [[gnu::visibility("hidden")]] site {
  std::uint32_t id;  // given by the session at the first scope; 0 until then
  std::uint32_t line;
  const char* file;   // nullptr: a guard without a call site of its own
  const op_desc* op;  // nullptr: a region, whose name is its payload
  const module_record* home;
};

/// Names an open scope: the number of its thread's log in the upper half, then 16 bits that change
/// whenever scopes end out of order there, then how deep it lies. 0 names none. One word, so that
/// closing a scope in order is one comparison, and all that a guard keeps.
using scope_token = std::uint64_t;
/// Set in the tokens that the NVTX emitter gives out while no session records.
inline constexpr scope_token emitted_token = scope_token{1} << 63U;

/// Payloads of 0, 8, ..., 8 * max_fast_words bytes have a function of their own: a copy of known
/// size costs 2 ns less than a loop. The record is written behind a call and not at the call site,
/// which would be three times as large.
inline constexpr std::uint32_t max_fast_words = 16;

/// The functions of whoever listens.
struct scope_api {
  std::uint32_t version;
  std::uint32_t size;
  void (*end)(scope_token scope) noexcept;
  scope_token (*begin_any)(site& where, const void* payload, std::uint32_t bytes) noexcept;
  scope_token (*begin[max_fast_words + 1])(site& where, const void* payload) noexcept;
  std::uint32_t (*capture)() noexcept;  // path of the innermost open scope; 0: none
  scope_token (*adopt)(std::uint32_t path) noexcept;
  void (*release)(scope_token adopted) noexcept;
  // 0: gives the innermost open scope a number; else that scope belongs to the call of this number.
  // Returns the number; 0: no scope is open, or no memory.
  std::uint32_t (*link_call)(std::uint32_t of) noexcept;
};

/// Sends scopes to a tool, with or without a session.
struct emitter_api {
  // false: not sent, not to be popped
  bool (*push)(const site& where, const void* payload, std::uint32_t payload_bytes) noexcept;
  void (*pop)() noexcept;
};

/// One per process, made by the first module that listens.
struct hub_record {
  std::uint32_t version;
  std::uint32_t size;
  const scope_api* active;     // what every module_record::api points to, or nullptr
  const scope_api* recorder;   // the session's functions while it records, or nullptr
  const scope_api* emit_only;  // the emitter's functions for when no session records, or nullptr
  std::uint32_t emit_refused;  // 1: the user wants no tool to be told anything
  // nullptr: no tool is attached; a recorder calls it beside its own work
  const emitter_api* emitter;
  // the functions of the session's owner; before them a `const char*` that names its build
  const void* session;
  // the session takes what it needs before a module goes
  void (*detach)(const module_record& leaving) noexcept;
  const scope_api* latest;  // the last `active` that was not nullptr, or nullptr
  // What closes scopes opened by the session's functions and by the emitter's, also when others
  // listen by then. Once set they stay.
  void (*end_recorded)(scope_token scope) noexcept;
  void (*end_emitted)(scope_token scope) noexcept;
  // the calling thread's step ends and the next begins; nullptr: there is no session
  void (*step)() noexcept;
};

/// An operator known to a module.
struct op_node {
  const op_desc* op;
  op_node* next;
};

struct module_record {
  std::uint32_t version;  // abi_layout; 0 while the module is unloaded
  std::uint32_t size;
  const scope_api* api;  // nullptr: nobody listens, and a guard costs this load and a branch
  // The last `api` that was not nullptr, set before it. A guard keeps only the token and closes by
  // this, also when nobody listens any more. Where g++ compiled it, it begins by this as well.
  const scope_api* latest;
  hub_record* hub;
  op_node* ops;
};

/// One number of many. 32 bits of FNV-1a.
template <class... Number>
constexpr std::uint32_t hash_of(Number... numbers) noexcept {
  std::uint32_t hash = 2166136261U;
  ((hash = (hash ^ static_cast<std::uint32_t>(numbers)) * 16777619U), ...);
  return hash;
}

/// Where the members lie that modules read of each other, and how large they are: commits of one
/// version may differ in it.
#define KPROF_DETAIL_AT(type, member) __builtin_offsetof(type, member), sizeof(type::member)
inline constexpr std::uint32_t abi_layout = hash_of(
    sizeof(text_view), KPROF_DETAIL_AT(text_view, data), KPROF_DETAIL_AT(text_view, size),
    sizeof(enumerator), KPROF_DETAIL_AT(enumerator, value), KPROF_DETAIL_AT(enumerator, name),
    sizeof(enum_desc), KPROF_DETAIL_AT(enum_desc, name), KPROF_DETAIL_AT(enum_desc, is_signed),
    KPROF_DETAIL_AT(enum_desc, size), KPROF_DETAIL_AT(enum_desc, list), sizeof(field_desc),
    KPROF_DETAIL_AT(field_desc, name), KPROF_DETAIL_AT(field_desc, offset),
    KPROF_DETAIL_AT(field_desc, size), KPROF_DETAIL_AT(field_desc, extent),
    KPROF_DETAIL_AT(field_desc, kind), KPROF_DETAIL_AT(field_desc, nested),
    KPROF_DETAIL_AT(field_desc, enumerators), sizeof(struct_desc),
    KPROF_DETAIL_AT(struct_desc, name), KPROF_DETAIL_AT(struct_desc, size),
    KPROF_DETAIL_AT(struct_desc, field_count), KPROF_DETAIL_AT(struct_desc, fields),
    KPROF_DETAIL_AT(struct_desc, defaults), sizeof(work), KPROF_DETAIL_AT(work, flops),
    KPROF_DETAIL_AT(work, read), KPROF_DETAIL_AT(work, written), KPROF_DETAIL_AT(work, has_flops),
    KPROF_DETAIL_AT(work, has_bytes), KPROF_DETAIL_AT(work, valid), KPROF_DETAIL_AT(work, type),
    KPROF_DETAIL_AT(work, on), KPROF_DETAIL_AT(work, pass), KPROF_DETAIL_AT(work, threads),
    sizeof(presentation), KPROF_DETAIL_AT(presentation, unshown),
    KPROF_DETAIL_AT(presentation, beside), KPROF_DETAIL_AT(presentation, size),
    KPROF_DETAIL_AT(presentation, failed), KPROF_DETAIL_AT(presentation, text), sizeof(op_desc),
    KPROF_DETAIL_AT(op_desc, params_size), KPROF_DETAIL_AT(op_desc, part_at),
    KPROF_DETAIL_AT(op_desc, name), KPROF_DETAIL_AT(op_desc, params),
    KPROF_DETAIL_AT(op_desc, evaluate), KPROF_DETAIL_AT(op_desc, present), sizeof(site),
    KPROF_DETAIL_AT(site, id), KPROF_DETAIL_AT(site, line), KPROF_DETAIL_AT(site, file),
    KPROF_DETAIL_AT(site, op), KPROF_DETAIL_AT(site, home), sizeof(scope_api),
    KPROF_DETAIL_AT(scope_api, version), KPROF_DETAIL_AT(scope_api, size),
    KPROF_DETAIL_AT(scope_api, end), KPROF_DETAIL_AT(scope_api, begin_any),
    KPROF_DETAIL_AT(scope_api, begin), KPROF_DETAIL_AT(scope_api, capture),
    KPROF_DETAIL_AT(scope_api, adopt), KPROF_DETAIL_AT(scope_api, release),
    KPROF_DETAIL_AT(scope_api, link_call), sizeof(emitter_api), KPROF_DETAIL_AT(emitter_api, push),
    KPROF_DETAIL_AT(emitter_api, pop), sizeof(hub_record), KPROF_DETAIL_AT(hub_record, version),
    KPROF_DETAIL_AT(hub_record, size), KPROF_DETAIL_AT(hub_record, active),
    KPROF_DETAIL_AT(hub_record, recorder), KPROF_DETAIL_AT(hub_record, emit_only),
    KPROF_DETAIL_AT(hub_record, emit_refused), KPROF_DETAIL_AT(hub_record, emitter),
    KPROF_DETAIL_AT(hub_record, session), KPROF_DETAIL_AT(hub_record, detach),
    KPROF_DETAIL_AT(hub_record, latest), KPROF_DETAIL_AT(hub_record, end_recorded),
    KPROF_DETAIL_AT(hub_record, end_emitted), KPROF_DETAIL_AT(hub_record, step), sizeof(op_node),
    KPROF_DETAIL_AT(op_node, op), KPROF_DETAIL_AT(op_node, next), sizeof(module_record),
    KPROF_DETAIL_AT(module_record, version), KPROF_DETAIL_AT(module_record, size),
    KPROF_DETAIL_AT(module_record, api), KPROF_DETAIL_AT(module_record, latest),
    KPROF_DETAIL_AT(module_record, hub), KPROF_DETAIL_AT(module_record, ops));
#undef KPROF_DETAIL_AT
static_assert(abi_layout != 0);

}  // namespace detail
KPROF_DETAIL_END

#endif

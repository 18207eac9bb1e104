// SPDX-License-Identifier: MIT

// An NVTX tool for tests: a shared library that the NVTX headers load through
// NVTX_INJECTION64_PATH. It decodes all that arrives in any domain and writes one line per event to
// the file named by KPROF_TEST_NVTX_LOG (else to stderr):
//
//   domain kprof
//   string kprof 'conv2d'
//   enum kprof dtype size=1 {unknown=0 f64=1}
//   schema kprof conv2d size=16 {N@0 type@8}
//   push kprof 'conv2d' conv2d{N=1 type=f64(1)} kprof.work{flops=10} thread=1 depth=1
//   pop kprof thread=1 depth=1
//   error <what is wrong>
//   balance 0 errors 0            at the end of the process: ranges left open, and lines that begin
//                                 with error
//
// A message in 'single quotes' is a registered string, in "double quotes" plain text. With
// KPROF_TEST_NO_PAYLOAD_EXTENSION it is a tool that knows nothing of the payload extension.

#include "nvtx_payload.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

using namespace nvtx_tool;

std::string message_of(const nvtxEventAttributes_t& event) {
  switch (event.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return '"' + std::string(event.message.ascii) + '"';
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto found = state().strings.find(event.message.registered);
      if (found != state().strings.end()) return '\'' + std::string(found->second->text) + '\'';
      error("message with an unknown handle");
      return "?";
    }
    default: error("message of type %d", static_cast<int>(event.messageType)); return "?";
  }
}

std::string payloads_of(const nvtxEventAttributes_t& event) {
  if (event.payloadType == NVTX_PAYLOAD_UNKNOWN) return "";
  if (event.payloadType != NVTX_PAYLOAD_TYPE_EXT || event.reserved0 < 1) {
    error("payload of type %d, count %d", static_cast<int>(event.payloadType),
          static_cast<int>(event.reserved0));
    return "";
  }
  std::string out;
  const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(
      static_cast<std::uintptr_t>(event.payload.ullValue));
  for (int i = 0; i < event.reserved0; ++i) {
    const auto found = state().schemas.find(data[i].schemaId);
    if (found == state().schemas.end()) {
      error("payload with unknown schema %llu", static_cast<unsigned long long>(data[i].schemaId));
    } else {
      if (data[i].size != found->second.size)
        error("payload of %zu bytes for schema %s of %zu", data[i].size, found->second.name,
              found->second.size);
      out +=
          std::string(" ") + found->second.name +
          decode(found->second, static_cast<const unsigned char*>(data[i].payload), data[i].size);
    }
  }
  return out;
}

const domain& checked(nvtxDomainHandle_t handle) {
  static const domain unknown{"?"};
  const auto* d = reinterpret_cast<const domain*>(handle);
  for (const auto& [name, known] : state().domains)
    if (known == d) return *d;
  error("unknown domain");
  return unknown;
}

/// The running depth of this thread in a domain.
int& depth_in(const domain& d) {
  if (thread_number == 0) thread_number = ++state().threads;
  if (depths == nullptr) state().depths.push_back(depths = new std::map<const domain*, int>);
  return (*depths)[&d];
}

nvtxDomainHandle_t domain_create(const char* name) {
  const std::lock_guard lock(state().mutex);
  domain*& d = state().domains[name];
  if (d == nullptr) {
    d = new domain{name};
    std::fprintf(state().log, "domain %s\n", name);
  }
  return reinterpret_cast<nvtxDomainHandle_t>(d);
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t in, const char* text) {
  const std::lock_guard lock(state().mutex);
  const domain& d = checked(in);
  auto* s = new registered_string{&d, text};
  state().strings[s] = s;
  std::fprintf(state().log, "string %s '%s'\n", d.name.c_str(), text);
  return reinterpret_cast<nvtxStringHandle_t>(s);
}

int range_push(nvtxDomainHandle_t in, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(state().mutex);
  const domain& d = checked(in);
  if (event->version != NVTX_VERSION || event->size != NVTX_EVENT_ATTRIB_STRUCT_SIZE)
    error("event of version %d, size %d", event->version, event->size);
  int& depth = depth_in(d);
  const std::string line = message_of(*event) + payloads_of(*event);
  std::fprintf(state().log, "push %s %s thread=%d depth=%d\n", d.name.c_str(), line.c_str(),
               thread_number, ++depth);
  ++state().open;
  return depth - 1;
}

int range_pop(nvtxDomainHandle_t in) {
  const std::lock_guard lock(state().mutex);
  const domain& d = checked(in);
  int& depth = depth_in(d);
  if (depth == 0) error("pop without a push on thread %d", thread_number);
  std::fprintf(state().log, "pop %s thread=%d depth=%d\n", d.name.c_str(), thread_number, depth);
  if (depth > 0) {
    --depth;
    --state().open;
  }
  return depth;
}

#ifndef KPROF_TEST_NO_PAYLOAD_EXTENSION

std::uint64_t enum_register(nvtxDomainHandle_t in, const nvtxPayloadEnumAttr_t* about) {
  const std::lock_guard lock(state().mutex);
  schema s;
  s.name = about->name;
  s.is_enum = true;
  s.size = s.alignment = about->sizeOfEnum;
  std::string list;
  for (std::size_t i = 0; i < about->numEntries; ++i) {
    s.enumerators.emplace_back(about->entries[i].name, about->entries[i].value);
    list += std::string(i == 0 ? "" : " ") + s.enumerators.back().first + '=' +
            std::to_string(static_cast<std::int64_t>(about->entries[i].value));
  }
  std::fprintf(state().log, "enum %s %s size=%zu {%s}\n", checked(in).name.c_str(), about->name,
               s.size, list.c_str());
  state().schemas[state().next_id] = s;
  return state().next_id++;
}

std::uint64_t schema_register(nvtxDomainHandle_t in, const nvtxPayloadSchemaAttr_t* about) {
  const std::lock_guard lock(state().mutex);
  schema s;
  s.name = about->name;
  s.size = about->payloadStaticSize;
  if (about->type != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) error("schema %s is not static", about->name);
  std::string list;
  for (std::size_t i = 0; i < about->numEntries; ++i) {
    const auto& e = about->entries[i];
    s.entries.push_back({e.name, e.flags, e.type, e.arrayOrUnionDetail, e.offset});
    const layout one = layout_of(e.type, e.arrayOrUnionDetail);
    if (one.size == 0) error("schema %s: the type of %s is not registered", about->name, e.name);
    if (one.alignment > s.alignment) s.alignment = one.alignment;
    list += std::string(i == 0 ? "" : " ") + e.name + '@' + std::to_string(e.offset);
  }
  std::fprintf(state().log, "schema %s %s size=%zu {%s}\n", checked(in).name.c_str(), about->name,
               s.size, list.c_str());
  state().schemas[state().next_id] = s;
  return state().next_id++;
}

#endif

template <class Function>
void set(NvtxFunctionTable table, int id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

[[gnu::destructor]] void finish() {
  std::fprintf(state().log, "balance %ld errors %ld\n", state().open, state().errors);
  std::fflush(state().log);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size < NVTX_CBID_CORE2_SIZE)
    return 0;
  // as slow as a real tool: other threads must wait, not lose scopes
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  set(table, NVTX_CBID_CORE2_DomainCreateA, &domain_create);
  set(table, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, &range_push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, &range_pop);
  return 1;
}

#ifndef KPROF_TEST_NO_PAYLOAD_EXTENSION
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount < 1) return 0;
  {
    const std::lock_guard lock(state().mutex);
    const auto* info = static_cast<const nvtxPayloadEntryTypeInfo_t*>(module->extInfo);
    state().type_info.assign(info, info + info[0].size);  // the first entry holds their number
  }
  std::intptr_t* slots = module->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(&schema_register);
  slots[NVTX3EXT_CBID_nvtxPayloadEnumRegister] = reinterpret_cast<std::intptr_t>(&enum_register);
  return 1;
}
#endif

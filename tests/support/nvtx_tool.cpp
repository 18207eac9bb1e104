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

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct domain {
  std::string name;
};

// Names are kept as the pointers that came and read when they are needed, as a tool may do.
struct registered_string {
  const domain* in;
  const char* text;
};

struct schema_entry {
  const char* name;
  std::uint64_t flags, type, detail, offset;
};

struct schema {
  const char* name = nullptr;
  bool is_enum = false;
  std::size_t size = 0;
  std::size_t alignment = 1;
  std::vector<schema_entry> entries;
  std::vector<std::pair<const char*, std::uint64_t>> enumerators;
};

// Leaked: events may come until the very end.
struct tool_state {
  std::mutex mutex;
  std::FILE* log = nullptr;
  std::map<std::uint64_t, schema> schemas;
  std::map<std::string, domain*> domains;
  std::map<const void*, registered_string*> strings;
  std::vector<nvtxPayloadEntryTypeInfo_t> type_info;
  std::vector<std::map<const domain*, int>*> depths;
  std::uint64_t next_id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
  int threads = 0;
  long open = 0;
  long errors = 0;
};

tool_state& state() {
  static tool_state* const leaked = [] {
    auto* s = new tool_state;
    const char* path = std::getenv("KPROF_TEST_NVTX_LOG");
    s->log = path != nullptr ? std::fopen(path, "w") : stderr;
    if (s->log == nullptr) s->log = stderr;
    return s;
  }();
  return *leaked;
}

thread_local int thread_number = 0;
thread_local std::map<const domain*, int>* depths = nullptr;  // one of state().depths

[[gnu::format(printf, 1, 2)]] void error(const char* format, ...) {
  ++state().errors;
  std::fputs("error ", state().log);
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(state().log, format, arguments);
  va_end(arguments);
  std::fputc('\n', state().log);
}

template <class T>
T read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  // the shortest text that reads back as the same value
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[64];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    if (std::strtod(shorter, nullptr) == value) return shorter;
  }
  return text;
}

struct layout {
  std::size_t size;
  std::size_t alignment;
};

/// Size and alignment of one element; size 0 for what this tool does not know.
layout layout_of(std::uint64_t type, std::uint64_t detail) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING: return {detail, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE: return {1, 1};
    default: break;
  }
  if (type < state().type_info.size())
    return {state().type_info[type].size, state().type_info[type].align};
  const auto found = state().schemas.find(type);
  return found == state().schemas.end() ? layout{0, 1}
                                        : layout{found->second.size, found->second.alignment};
}

std::string decode(const schema& s, const unsigned char* bytes, std::size_t size);

std::string decode_one(std::uint64_t type, std::uint64_t detail, const unsigned char* at,
                       std::size_t size) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8: return std::to_string(read<std::int8_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8: return std::to_string(read<std::uint8_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16: return std::to_string(read<std::int16_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16: return std::to_string(read<std::uint16_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32: return std::to_string(read<std::int32_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32: return std::to_string(read<std::uint32_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64: return std::to_string(read<std::int64_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64: return std::to_string(read<std::uint64_t>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT: return number(static_cast<double>(read<float>(at)));
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE: return number(read<double>(at));
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE: {
      char text[64];
      std::snprintf(text, sizeof text, "%.20Lg", read<long double>(at));
      return text;
    }
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING: {
      const auto* text = reinterpret_cast<const char*>(at);
      return '"' + std::string(text, ::strnlen(text, detail)) + '"';
    }
    default: break;
  }
  const auto found = state().schemas.find(type);
  if (found == state().schemas.end()) {
    error("entry of unknown type %llu", static_cast<unsigned long long>(type));
    return "?";
  }
  if (!found->second.is_enum) return decode(found->second, at, size);
  std::uint64_t value = 0;
  std::memcpy(&value, at, size);
  const std::uint64_t mask = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  for (const auto& [name, of] : found->second.enumerators)
    if ((of & mask) == value) return std::string(name) + '(' + std::to_string(value) + ')';
  return '(' + std::to_string(value) + ')';
}

/// Reads entries the strict way: an offset of 0 that is not the first entry's means "after the one
/// before, aligned".
std::string decode(const schema& s, const unsigned char* bytes, std::size_t size) {
  std::string out = "{";
  std::size_t end = 0;
  for (std::size_t i = 0; i < s.entries.size(); ++i) {
    const schema_entry& e = s.entries[i];
    const bool is_array = (e.flags & NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) != 0;
    if ((e.flags & ~std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE}) != 0)
      error("%s.%s has flags that this tool does not know", s.name, e.name);
    const layout one = layout_of(e.type, e.detail);
    const std::size_t count = is_array ? e.detail : 1;
    std::size_t at = e.offset;
    if (at == 0 && i != 0) at = (end + one.alignment - 1) / one.alignment * one.alignment;
    end = at + count * one.size;
    out += std::string(i == 0 ? "" : " ") + e.name + '=';
    if (one.size == 0 || end > size) {
      error("%s.%s reaches byte %zu of a payload of %zu", s.name, e.name, end, size);
      out += '?';
      continue;
    }
    if (is_array) out += '[';
    for (std::size_t k = 0; k < count; ++k)
      out +=
          (k == 0 ? "" : ",") + decode_one(e.type, e.detail, bytes + at + k * one.size, one.size);
    if (is_array) out += ']';
  }
  return out + '}';
}

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

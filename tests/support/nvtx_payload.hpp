// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_NVTX_PAYLOAD_HPP
#define KPROF_TESTS_SUPPORT_NVTX_PAYLOAD_HPP

// What the NVTX tool of the tests was told, and the text of a payload by its schema. Included by
// nvtx_tool.cpp.

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nvtx_tool {

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

inline tool_state& state() {
  static tool_state* const leaked = [] {
    auto* s = new tool_state;
    const char* path = std::getenv("KPROF_TEST_NVTX_LOG");
    s->log = path != nullptr ? std::fopen(path, "w") : stderr;
    if (s->log == nullptr) s->log = stderr;
    return s;
  }();
  return *leaked;
}

inline thread_local int thread_number = 0;
inline thread_local std::map<const domain*, int>* depths = nullptr;  // one of state().depths

[[gnu::format(printf, 1, 2)]] inline void error(const char* format, ...) {
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

inline std::string number(double value) {
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
inline layout layout_of(std::uint64_t type, std::uint64_t detail) {
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

inline std::string decode(const schema& s, const unsigned char* bytes, std::size_t size);

inline std::string decode_one(std::uint64_t type, std::uint64_t detail, const unsigned char* at,
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
inline std::string decode(const schema& s, const unsigned char* bytes, std::size_t size) {
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

}  // namespace nvtx_tool

#endif

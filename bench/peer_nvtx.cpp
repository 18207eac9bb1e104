// SPDX-License-Identifier: MIT

// NVTX by hand, as a program has it that wants to be seen in Nsight Systems: a range with a
// registered name, and a range with a typed payload of eight fields.

#include "bench.hpp"

#if KPROF_BENCH_NVTX
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#pragma GCC diagnostic pop

#include <cstddef>

namespace {

struct known {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
  nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "conv");
  std::uint64_t schema = 0;

  known() {
    using bench::shape;
    const nvtxPayloadSchemaEntry_t fields[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "n", nullptr, 0, offsetof(shape, n), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "c", nullptr, 0, offsetof(shape, c), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "h", nullptr, 0, offsetof(shape, h), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "w", nullptr, 0, offsetof(shape, w), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "k", nullptr, 0, offsetof(shape, k), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "r", nullptr, 0, offsetof(shape, r), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "s", nullptr, 0, offsetof(shape, s), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "stride", nullptr, 0, offsetof(shape, stride), nullptr,
         nullptr}};
    nvtxPayloadSchemaAttr_t about{};
    about.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    about.name = "conv";
    about.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    about.entries = fields;
    about.numEntries = 8;
    about.payloadStaticSize = sizeof(shape);
    schema = nvtxPayloadSchemaRegister(domain, &about);
  }
};

const known& tool() {
  static const known k;
  return k;
}

void push_pop(std::int64_t scopes, const bench::shape&) {
  const known& k = tool();
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = k.name;
  for (std::int64_t i = 0; i < scopes; ++i) {
    nvtxDomainRangePushEx(k.domain, &event);
    bench::work();
    nvtxDomainRangePop(k.domain);
  }
}

void push_pop_with_payload(std::int64_t scopes, const bench::shape& values) {
  const known& k = tool();
  for (std::int64_t i = 0; i < scopes; ++i) {
    const bench::shape params{i % bench::layers, values.c, values.h, values.w,
                              values.k,          values.r, values.s, values.stride};
    const nvtxPayloadData_t data{k.schema, sizeof params, &params};
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = k.name;
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainRangePushEx(k.domain, &event);
    bench::work();
    nvtxDomainRangePop(k.domain);
  }
}

}  // namespace

void bench::add_peers_nvtx() {
  add({.name = "nvtx", .run = push_pop});
  add({.name = "nvtx_payload", .run = push_pop_with_payload});
}

#else

void bench::add_peers_nvtx() {}

#endif

// SPDX-License-Identifier: MIT

// An NVTX tool that takes every range and does nothing with it: what is left is the cost of
// sending. The NVTX headers load it through NVTX_INJECTION64_PATH.

#define NVTX_NO_IMPL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#pragma GCC diagnostic pop

#include <cstdint>

namespace {

template <class Function>
void set(NvtxFunctionTable table, int id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

thread_local constinit int depth = 0;
int object = 0;  // its address stands for any domain and any string

nvtxDomainHandle_t domain_create(const char*) {
  return reinterpret_cast<nvtxDomainHandle_t>(&object);
}
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char*) {
  return reinterpret_cast<nvtxStringHandle_t>(&object);
}
int range_push(nvtxDomainHandle_t, const nvtxEventAttributes_t*) { return depth++; }
int range_pop(nvtxDomainHandle_t) { return --depth; }

std::uint64_t next_id() {
  static std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
  return __atomic_fetch_add(&id, 1U, __ATOMIC_RELAXED);
}
std::uint64_t enum_register(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t*) { return next_id(); }
std::uint64_t schema_register(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*) {
  return next_id();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table);
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size < NVTX_CBID_CORE2_SIZE)
    return 0;
  set(table, NVTX_CBID_CORE2_DomainCreateA, &domain_create);
  set(table, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, &range_push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, &range_pop);
  return 1;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount < 1) return 0;
  std::intptr_t* slots = module->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(&schema_register);
  slots[NVTX3EXT_CBID_nvtxPayloadEnumRegister] = reinterpret_cast<std::intptr_t>(&enum_register);
  return 1;
}

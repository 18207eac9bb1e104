// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_LIBRARY_HPP
#define KPROF_COLLECT_CUPTI_LIBRARY_HPP

// Finds libcupti at run time. Nothing links against it, so one program serves CUDA 11.8 to 13, and
// where it is missing the report gives the reason in one line.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/attach/find_modules.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/status.hpp>

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Puts the path of a libcupti that is loaded into `path`; false where none is. The loader holds
/// its lock meanwhile and is C code: nothing here asks for memory or throws.
inline bool find_loaded_library(char (&path)[PATH_MAX]) noexcept {
  path[0] = '\0';
  if (!may_ask_loader()) return false;
  const auto is_cupti = [](dl_phdr_info* info, std::size_t, void* found) noexcept -> int {
    const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (!name.substr(name.rfind('/') + 1).starts_with("libcupti.so") || name.size() >= PATH_MAX)
      return 0;
    std::memcpy(found, name.data(), name.size() + 1);
    return 1;
  };
  return dl_iterate_phdr(is_cupti, path) != 0;
}

/// Where libcupti may be: only where KPROF_CUPTI says, if it is set; else a libcupti that is
/// loaded, then where the loader finds one, then where the CUDA Toolkit puts it.
[[gnu::cold]] inline std::vector<std::string> library_names() {
  if (const char* named = environment_variable("KPROF_CUPTI"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> names;
  // A libcupti that the program has loaded already: two in one process do not work together.
  char loaded[PATH_MAX];
  if (find_loaded_library(loaded)) names.emplace_back(loaded);
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    names.emplace_back(name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = environment_variable(variable); home != nullptr && *home != '\0') {
      names.push_back(std::string{home} + "/extras/CUPTI/lib64/libcupti.so");
      names.push_back(std::string{home} + "/lib64/libcupti.so");
    }
  names.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so");
  names.emplace_back("/usr/local/cuda/lib64/libcupti.so");
  return names;
}

/// A function of the library, or nullptr.
template <class Function>
void find(void* library, const char* symbol, Function& out) noexcept {
  void* found = dlsym(library, symbol);
  static_assert(sizeof found == sizeof out);
  std::memcpy(&out, &found, sizeof out);
}

/// Looks up all functions; returns the first that is missing and needed, or nullptr.
inline const char* find_functions(void* library, functions& out) noexcept {
  const char* missing = nullptr;
  const auto need = [&](const char* symbol, auto& function) {
    find(library, symbol, function);
    if (function == nullptr && missing == nullptr) missing = symbol;
  };
  need("cuptiGetVersion", out.get_version);
  need("cuptiGetResultString", out.get_result_string);
  need("cuptiSubscribe", out.subscribe);
  need("cuptiUnsubscribe", out.unsubscribe);
  need("cuptiEnableCallback", out.enable_callback);
  need("cuptiGetCallbackName", out.get_callback_name);
  need("cuptiActivityRegisterCallbacks", out.register_buffers);
  need("cuptiActivityEnable", out.enable);
  need("cuptiActivityDisable", out.disable);
  need("cuptiActivityFlushAll", out.flush_all);
  need("cuptiActivityGetNextRecord", out.next_record);
  need("cuptiActivityGetNumDroppedRecords", out.dropped_records);
  need("cuptiGetGraphNodeId", out.graph_node_id);
  find(library, "cuptiGetTimestamp", out.get_timestamp);
  find(library, "cuptiGetGraphExecId", out.graph_exec_id);
  find(library, "cuptiSubscribe_v2", out.subscribe_v2);
  find(library, "cuptiActivityRegisterCallbacks_v2", out.register_buffers_v2);
  find(library, "cuptiActivityEnable_v2", out.enable_v2);
  find(library, "cuptiActivityDisable_v2", out.disable_v2);
  find(library, "cuptiActivityGetNextRecord_v2", out.next_record_v2);
  find(library, "cuptiActivityGetNumDroppedRecords_v2", out.dropped_records_v2);
  find(library, "cuptiActivityEnableRuntimeApi_v2", out.enable_runtime_api_v2);
  find(library, "cuptiActivityEnableDriverApi_v2", out.enable_driver_api_v2);
  find(library, "cuptiActivityEnableRuntimeApi", out.enable_runtime_api);
  find(library, "cuptiActivityEnableDriverApi", out.enable_driver_api);
  return missing;
}

/// Opens the first libcupti that has all that is needed. It stays open: CUPTI cannot be unloaded
/// safely.
inline status open_library(functions& out) {
  const char* const named = environment_variable("KPROF_CUPTI");
  const bool is_named = named != nullptr && *named != '\0';
  std::string lacking, reason;
  for (const std::string& name : library_names()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* text = dlerror();
      if (reason.empty() && text != nullptr) reason = text;
      continue;
    }
    const char* missing = find_functions(library, out);
    if (missing == nullptr) return {};
    if (lacking.empty()) lacking = name + " lacks " + missing;
    dlclose(library);
  }
  out = {};
  if (!lacking.empty())
    return {lacking +
            ": it is no libcupti, or one older than CUDA 11.8; set KPROF_CUPTI to the libcupti of "
            "the CUDA Toolkit in use"};
  if (is_named)
    return {"KPROF_CUPTI names a libcupti that cannot be opened (" + reason +
            "); correct it, or leave it out to search"};
  return {"libcupti was not found (" + reason +
          "); it is in the CUDA Toolkit (extras/CUPTI/lib64) and in the Python packages "
          "nvidia-cuda-cupti; set KPROF_CUPTI to its path"};
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif

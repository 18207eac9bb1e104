// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OTHER_MACHINE_HPP
#define KPROF_REPORT_TEXT_OTHER_MACHINE_HPP

// The machine that a report projects its rows on, by the name of a GPU or by a file of ceilings.
// Included by text_plan.hpp.

#include <kprof/build_options.hpp>
#include <kprof/machine/gpu_table.hpp>
#include <kprof/machine/known_gpus.hpp>
#include <kprof/model/ceilings_text.hpp>
#include <kprof/model/projection.hpp>
#include <kprof/model/written_ceilings.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>
#include <kprof/write/small_file.hpp>
#include <kprof/write/write_error.hpp>

#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline void put_gpu(other_machine& to, const known_gpu& card) {
  const device_info device = describe(card);
  to.gpu = table_ceilings(device);
  to.l2_bytes = device.l2_bytes;
}

/// Reads the machine of `machine=`; `complaints` gets what is wrong in a file.
[[gnu::cold]] inline status read_machine(const std::string& wanted, other_machine& to,
                                         std::vector<std::string>& complaints) {
  if (const known_gpu* const card = find_known_gpu(wanted); card != nullptr) {
    put_gpu(to, *card);
    to.name = to.gpu.device;
    return {};
  }
  const small_file file = read_small_file(wanted);
  if (!file.error.empty() && wanted.find('/') != wanted.npos)
    return {"machine=" + quoted_path(wanted) + ' ' + file.error +
            "; name a file that `kprof ceilings --save FILE` has written, or a GPU such as H100"};
  if (!file.error.empty()) {
    const std::string alike = gpu_names_with(wanted);
    return {"unknown machine \"" + printable(wanted, 100) + "\"; " +
            (alike.empty() ? "choose from: " + gpu_names_with("") : "did you mean: " + alike) +
            "; or name a file of ceilings"};
  }
  const written_ceilings given = read_ceilings(file.text);
  for (const std::string& mistake : given.mistakes)
    complaints.push_back("machine=" + quoted_path(wanted) + ' ' + mistake);
  to.cpu = given.value.cpu;
  for (const gpu_ceilings& gpu : given.value.gpus) {  // the first one
    if (const known_gpu* const card = find_known_gpu(gpu.device); card != nullptr)
      put_gpu(to, *card);
    put_over(to.gpu, gpu);
    if (to.gpu.device.empty()) to.gpu.device = gpu.device;
    break;
  }
  to.name = !to.has_cpu()           ? to.gpu.device
            : to.cpu.model.empty()  ? quoted_path(wanted)
            : to.gpu.device.empty() ? to.cpu.model
                                    : to.cpu.model + " and " + to.gpu.device;
  if (!to.has_cpu() && !to.has_gpu())
    return {"machine=" + quoted_path(wanted) + " has no ceilings; docs/ceilings.md shows a file"};
  return {};
}

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
// Any bytes as the program headers and the contents of a loaded library. What the loader has
// mapped is true; all else may lead anywhere.
#include "printable.hpp"

#include <kprof/attach/find_modules.hpp>

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace {

constexpr std::size_t image_size = 512;
constexpr std::size_t most_headers = 6;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // On the heap, so that a sanitizer sees a byte read beyond its end.
  const std::unique_ptr<std::uint8_t[]> image(new std::uint8_t[image_size]());
  ElfW(Phdr) headers[most_headers] = {};
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t bytes) {
    const std::size_t taken = bytes < size - at ? bytes : size - at;
    std::memcpy(to, data + at, taken);
    at += taken;
  };
  take(headers, sizeof headers);
  take(image.get(), image_size);
  for (ElfW(Phdr) & header : headers) {
    // few kinds, so that most of them matter
    static constexpr std::uint32_t kinds[] = {PT_LOAD, PT_NOTE, PT_GNU_RELRO, PT_DYNAMIC};
    header.p_type = kinds[header.p_type % 4];
    if (header.p_type != PT_LOAD) continue;
    header.p_vaddr %= image_size;
    header.p_memsz %= image_size - header.p_vaddr + 1;
  }
  dl_phdr_info info{};
  info.dlpi_addr = reinterpret_cast<ElfW(Addr)>(image.get());
  info.dlpi_name = "fuzzed.so";
  info.dlpi_phdr = headers;
  info.dlpi_phnum = most_headers;
  const auto* const record = reinterpret_cast<const std::uint8_t*>(
      kprof::detail::loaded_module(kprof::detail::read_loaded_object(&info)).record());
  if (record == nullptr) return 0;
  kprof_test::require(record >= image.get() &&
                          record + sizeof(kprof::detail::module_record) <= image.get() + image_size,
                      "a record outside of the library");
  return 0;
}

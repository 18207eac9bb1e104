// SPDX-License-Identifier: MIT
// Any bytes as a saved profile. What is not refused prints as a report and comes back the same.
#include "load_input.hpp"
#include "saved_mutator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kprof_test::load_input({reinterpret_cast<const char*>(data), size});
  return 0;
}

/// Bytes alone make files of which almost none loads.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  if (size == 0 || seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  kprof_test::saved_mutator mutator({text}, seed);
  for (unsigned n = seed / 4 % 4 + 1; n > 0 && !text.empty(); --n) mutator.mutate(text);
  const std::size_t made = std::min(text.size(), most);
  std::memcpy(data, text.data(), made);
  return made;
}
}

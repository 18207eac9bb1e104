// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TENSOR_CORE_HPP
#define KPROF_MODEL_TENSOR_CORE_HPP

// Whether a kernel computes on tensor cores, as far as its name tells. Included by the table of
// kernels. Pure.
//
// A name can say yes and never no. What is looked for are whole words, and where they come from:
//   s16816gemm h884gemm i8816cudnn d884gemm   instruction shapes in names of cuBLAS, cuDNN and
//                                             CUTLASS: accumulator, M N K
//   cutlass..._tensorop, ..._sptensorop       CUTLASS's opcode class; the other is "simt"
//   OpClassTensorOp, MmaTensorOp...           the same as template arguments
//   tensor16x8x16                             XMMA kernels of cuBLAS, cuDNN and TensorRT; without
//                                             tensor cores it is "ffma"
//   xmma ... warpgroupsize1x1x1               XMMA kernels of sm_90: warp groups are those of
//                                             wgmma. "xmma" alone says nothing
//   nvjet                                     GEMMs of cuBLAS for sm_90 and later, all on wgmma,
//                                             tcgen05 or mma
//   SM80_16x8x16_F32F16F16F32_TN, GMMA, UMMA  CuTe's MMA atoms
//   hmma imma bmma dmma qmma wmma wgmma ...   the instructions

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// "16x8x16", with something behind it or not.
inline bool begins_with_shape(std::string_view word) noexcept {
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (word.empty() || word[0] != 'x')) return false;
    if (i > 0) word.remove_prefix(1);
    if (word.empty() || !is_digit(word[0])) return false;
    while (!word.empty() && is_digit(word[0])) word.remove_prefix(1);
  }
  return true;
}

/// "s16816gemm": a letter for the type, the shape of an instruction, and the end or a letter.
inline bool is_instruction(std::string_view word) noexcept {
  if (word.size() < 4 || std::string_view{"bcdhisz"}.find(word[0]) == std::string_view::npos)
    return false;
  std::size_t digits = 1;
  while (digits < word.size() && is_digit(word[digits])) ++digits;
  if (digits < word.size() && (word[digits] < 'a' || word[digits] > 'z')) return false;
  for (const std::string_view shape :
       {"884", "1684", "1688", "8816", "8832", "16816", "16832", "16864", "88128", "161616",
        "168128", "168256", "321616", "83216"})
    if (word.substr(1, digits - 1) == shape) return true;
  return false;
}

inline std::string lower(std::string_view word) {
  std::string out{word};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// `name` as kernel_name() gives it; of one that it could not demangle, the words are the names in
/// it.
class tensor_core_words {
 public:
  bool found = false;

  explicit tensor_core_words(std::string_view name) {
    if (!name.starts_with("_Z")) {
      read(name);
      return;
    }
    bool within = false;  // a number that is no length: Li128E
    for (std::size_t at = 2; at < name.size();) {
      std::size_t number = 0;
      if (const std::size_t end = reference_end(name, at, number); end != at) {
        at = end;
        continue;
      }
      const std::string_view part = within ? std::string_view{} : source_name(name, at);
      if (!part.empty()) {
        read(part);
        continue;
      }
      within = is_digit(name[at]) || (name[at - 1] == 'L' && name[at] >= 'a' && name[at] <= 'z');
      ++at;
    }
  }

 private:
  void read(std::string_view text) {
    std::string_view before;  // the word that "_" joins to this one
    while (!text.empty()) {
      std::size_t size = 0;
      while (size < text.size() && is_word(text[size]) && text[size] != '_') ++size;
      if (size > 0) look_at(text.substr(0, size), before);
      before = size < text.size() && text[size] == '_' ? text.substr(0, size) : std::string_view{};
      text.remove_prefix(size < text.size() ? size + 1 : size);
    }
  }

  void look_at(std::string_view word, std::string_view before) {
    const std::string plain = lower(word);
    for (const char* instruction : {"hmma", "imma", "bmma", "dmma", "qmma", "wmma", "wgmma",
                                    "hgmma", "igmma", "qgmma", "gmma", "umma", "tcgen05", "nvjet"})
      found = found || plain == instruction;
    cutlass_ = cutlass_ || plain.starts_with("cutlass");
    xmma_ = xmma_ || plain == "xmma";
    found = found || (cutlass_ && word.ends_with("tensorop")) ||
            (word.starts_with("OpClass") && word.ends_with("TensorOp")) ||
            word.starts_with("MmaTensorOp") || is_instruction(word) ||
            (word.starts_with("tensor") && begins_with_shape(word.substr(6))) ||
            (xmma_ && word.starts_with("warpgroupsize")) ||
            (before.size() > 2 && before.starts_with("SM") && is_digit(before[2]) &&
             begins_with_shape(word));
  }

  bool cutlass_ = false, xmma_ = false;
};

inline bool name_says_tensor_core(std::string_view name) { return tensor_core_words(name).found; }

}  // namespace detail
KPROF_DETAIL_END

#endif

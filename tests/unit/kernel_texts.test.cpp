// SPDX-License-Identifier: MIT
// Where the names of kernels are cut: between tokens, so that what is left can be read.

#include <kprof/report/text/kernel_texts.hpp>

#include "../support/catch.hpp"
#include "../support/kernel_names.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kprof::detail::kernel_texts;
using kprof::detail::printable;

const std::string mark = "\u2026";

std::vector<std::string> wholes() {
  std::vector<std::string> out;
  for (const char* const name : kprof_test::real_kernel_names)
    out.push_back(kprof::kernel_name(name));
  return out;
}

/// The text without the spaces, indentation and line ends of a cell.
std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    out += line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return out;
}

bool is_in_token(char c) { return kprof::detail::is_letter(c) && c != '_'; }

std::string one_line(const std::string& name, std::size_t width,
                     std::vector<std::string> beside = {}) {
  beside.insert(beside.begin(), name);
  return joined(kernel_texts(beside, false).at_width(width)[0]);
}

/// What is cut through: a piece of a token beside a mark whose other part is not shown. Tokens that
/// are longer than `longest` may be cut.
std::string cut_token(const std::string& text, const std::string& whole, std::size_t longest) {
  std::set<std::string> tokens;
  std::string readable = whole;
  if (whole.starts_with("_Z")) readable = kprof::detail::spelled_name(whole);
  const auto tokens_of = [](const std::string& name, const auto& take) {
    for (std::size_t at = 0; at < name.size();) {
      if (name.compare(at, mark.size(), mark) == 0) {
        at += mark.size();
        continue;
      }
      std::size_t end = at;
      while (end < name.size() && is_in_token(name[end]) &&
             name.compare(end, mark.size(), mark) != 0)
        ++end;
      if (end > at)
        take(name.substr(at, end - at),
             (at >= mark.size() && name.compare(at - mark.size(), mark.size(), mark) == 0) ||
                 name.compare(end, mark.size(), mark) == 0);
      at = std::max(end, at + 1);
    }
  };
  tokens_of(readable, [&](std::string token, bool) { tokens.insert(token); });
  std::string wrong;
  tokens_of(text, [&](const std::string& piece, bool beside_mark) {
    if (!beside_mark || tokens.contains(piece)) return;
    for (const std::string& token : tokens)
      if (token.find(piece) != std::string::npos && token.size() > longest) return;
    for (const char* const suffix : {"u", "l", "ul"})  // "64ul" is shown as "64"
      if (tokens.contains(piece + suffix)) return;
    wrong = piece;
  });
  return wrong;
}

}  // namespace

TEST_CASE("kernel_texts.names_are_cut_between_tokens") {
  const std::string cutlass =
      "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8";
  CHECK(one_line(cutlass, 40) == "cutlass_80_wmma_\u2026_16x16_128x1_tn_align8");
  CHECK(one_line("nvjet_sm100_tst_256x48_64x5_4x1_v_bz_TNT", 30) ==
        "nvjet_sm100_tst\u2026_4x1_v_bz_TNT");
  CHECK(one_line("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_view_3", 40) ==
        "triton_red_fused__to\u2026_pow_rsqrt_view_3");
  CHECK(one_line("DeviceRadixSortOnesweepKernelWithoutEnd", 30) ==
        "DeviceRadixSort\u2026WithoutEnd");
  // A token that nothing divides.
  CHECK(one_line(std::string(60, 'a') + std::string(60, 'b'), 21) ==
        std::string(11, 'a') + mark + std::string(9, 'b'));
}

TEST_CASE("kernel_texts.no_token_of_a_real_name_is_cut") {
  const std::vector<std::string> names = wholes();
  const kernel_texts texts(names, false);
  std::size_t cut = 0;
  for (std::size_t width = 30; width < 80; ++width) {
    const auto lines = texts.at_width(width);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string text = joined(lines[i]);
      INFO("width " << width << ": " << text << "\nof " << names[i]);
      CHECK(cut_token(text, names[i], width / 3) == "");
      cut += text.find(mark) != std::string::npos ? 1U : 0U;
    }
  }
  CHECK(cut > 500);
}

TEST_CASE("kernel_texts.hostile_names_fit_and_differ") {
  const std::vector<std::string> names = {
      "",
      "_",
      std::string(500, '_') + "a",
      std::string(500, '_') + "b",
      std::string(500, '<'),
      std::string(500, ',') + "x",
      "a_" + std::string(300, 'x') + "_1",
      "a_" + std::string(300, 'x') + "_2",
      "k<\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57, 1>",
      "k<\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57, 2>",
      "e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_e\u0301_x",
      "\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF_\x80\xFF"};
  for (const bool ascii : {false, true})
    for (std::size_t width = 8; width < 60; ++width) {
      std::set<std::string> texts;
      const auto lines = kernel_texts(names, ascii).at_width(width);
      for (const std::vector<std::string>& of_name : lines) {
        std::string text;
        for (const std::string& line : of_name) {
          INFO("width " << width << ": " << line);
          REQUIRE(kprof::detail::display_width(line) <= width);
          text += line + '\n';
        }
        texts.insert(text);
      }
      REQUIRE(texts.size() == names.size());
    }
}

// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NUMBER_TEXT_HPP
#define KPROF_MODEL_NUMBER_TEXT_HPP

// Numbers as people read them. Included by the texts of the model and of the reports. Pure; no
// locale: what a program sets with setlocale() changes nothing.

#include <kprof/build_options.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// 1234567 as "1,234,567".
inline std::string format_count(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
  return out;
}

/// "1 kernel", "12 kernels".
inline std::string counted(std::uint64_t n, const char* one, const char* many) {
  return format_count(n) + ' ' + (n == 1 ? one : many);
}

/// `x` (not negative, below 10^15) with so many decimals (0 to 3), rounded.
inline std::string format_fixed(double x, unsigned decimals) {
  static constexpr double scales[] = {1, 10, 100, 1000};
  const auto scale = static_cast<std::uint64_t>(scales[decimals]);
  const auto n = static_cast<std::uint64_t>(std::floor(x * scales[decimals] + 0.5));
  std::string out = format_count(n / scale);
  if (decimals == 0) return out;
  const std::string fraction = std::to_string(n % scale);
  return out + '.' + std::string(decimals - fraction.size(), '0') + fraction;
}

/// Three significant digits, no fewer than those before the point: 1.23, 12.3, 123, 1,234.
inline std::string format_3(double x) {
  if (!(x >= 0)) return "n/a";
  if (x >= 1e15) return ">10^15";
  return format_fixed(x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
}

struct scaled_unit {
  double size;
  const char* name;
};
template <std::size_t N>
std::string format_scaled(double x, const scaled_unit (&units)[N]) {
  std::size_t u = 0;
  // 999.5 ns is printed as 1.00 us, not as 1,000 ns
  while (u + 1 < N && x >= units[u + 1].size * 0.9995) ++u;
  return format_3(x / units[u].size) + units[u].name;
}

/// A duration: "0 ns", "0.31 ns", "12.3 µs", "812 ms", "1,234 s".
inline std::string format_time(double ns, bool ascii = false) {
  static constexpr scaled_unit units[] = {{1, " ns"}, {1e3, " \u00B5s"}, {1e6, " ms"}, {1e9, " s"}};
  static constexpr scaled_unit ascii_units[] = {
      {1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}};
  if (!(ns >= 0) || std::isinf(ns)) return "n/a";
  if (ns == 0) return "0 ns";
  if (ns < 0.01) return "<0.01 ns";
  return format_scaled(ns, ascii ? ascii_units : units);
}

/// A number with a decimal prefix: "512", "1.05 M", "2.10 G".
inline std::string format_si(double x) {
  static constexpr scaled_unit units[] = {{1, ""},      {1e3, " k"},  {1e6, " M"}, {1e9, " G"},
                                          {1e12, " T"}, {1e15, " P"}, {1e18, " E"}};
  if (!(x >= 0) || std::isinf(x)) return "n/a";
  if (x < 1000 && x == std::floor(x)) return format_count(static_cast<std::uint64_t>(x));
  return format_scaled(x, units);
}

/// An amount or a rate in its unit with a decimal prefix: "512 FLOP", "2.10 GFLOP/s".
inline std::string format_si(double x, const char* unit) {
  const std::string number = format_si(x);
  return number + (number.find(' ') == std::string::npos ? " " : "") + unit;
}

/// Memory: "512 B", "12.0 MiB".
inline std::string format_memory(std::uint64_t bytes) {
  static constexpr scaled_unit units[] = {{1, " B"},
                                          {1024, " KiB"},
                                          {1048576.0, " MiB"},
                                          {1073741824.0, " GiB"},
                                          {1099511627776.0, " TiB"}};
  if (bytes < 1000) return format_count(bytes) + " B";
  return format_scaled(static_cast<double>(bytes), units);
}

/// A rate or ratio in the unit that its column's header names: "0.012", "1.23", "15,210".
inline std::string format_rate(double x) {
  if (!(x >= 0) || std::isinf(x)) return "n/a";
  if (x == 0) return "0";
  if (x < 0.0005) return "<0.001";
  return x < 0.9995 ? format_fixed(x, 3) : format_3(x);
}

/// 0.474 as "47.4%".
inline std::string format_share(double share) {
  if (!(share >= 0) || share > 1e9) return "n/a";
  if (share == 0) return "0%";
  if (share < 0.0005) return "<0.1%";
  return format_fixed(share * 100, 1) + '%';
}

}  // namespace detail
KPROF_DETAIL_END

#endif

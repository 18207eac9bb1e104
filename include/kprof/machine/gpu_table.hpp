// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_GPU_TABLE_HPP
#define KPROF_MACHINE_GPU_TABLE_HPP

// The rates of a whole GPU, from those of a multiprocessor and a clock. Included by
// kprof/ceilings.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/machine/gpu_rates.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/profile/device_profile.hpp>

#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// The words of a device's name after "NVIDIA ", which not every name has.
inline std::string_view name_without_maker(std::string_view name) noexcept {
  constexpr std::string_view maker = "NVIDIA ";
  if (name.substr(0, maker.size()) == maker) name.remove_prefix(maker.size());
  return name;
}

/// Whether a name begins with whole words: "H20" begins "H20-3e", and not "H200".
inline bool begins_with_words(std::string_view name, std::string_view words) noexcept {
  return name.substr(0, words.size()) == words &&
         (name.size() == words.size() || name[words.size()] == ' ' || name[words.size()] == '-');
}

/// Null where a card runs at the rates of its architecture and the clock of its attributes.
inline const gpu_card* find_card(std::string_view name) noexcept {
  const std::string_view own = name_without_maker(name);
  for (const gpu_card& card : gpu_cards)
    if (begins_with_words(own, card.name)) return &card;
  return nullptr;
}

inline bool is_geforce(std::string_view name) noexcept {
  return begins_with_words(name_without_maker(name), "GeForce");
}

inline const char* source_name(rate_source source) noexcept {
  switch (source) {
    case rate_source::none: break;
    case rate_source::vendor: return "vendor";
    case rate_source::measured: return "measured";
    case rate_source::derived: return "derived";
    case rate_source::statement: return "statement";
  }
  return "";
}

/// Adds the ceilings of one device.
class table_of_device {
 public:
  table_of_device(const device_info& device, const gpu_architecture& a, gpu_ceilings& to)
      : device_(device),
        card_(find_card(device.name)),
        is_geforce_(is_geforce(device.name)),
        sparse_factor_(a.sparse_factor),
        to_(to) {}

  void cuda(dtype type, const gpu_rate& rate, double part = 1) {
    add(type, arithmetic_unit::cuda_core, dtype::unknown, rate, part, 1, false);
  }
  void tensor(dtype type, const gpu_rate& rate, dtype sums = dtype::unknown,
              bool has_sparse_form = true) {
    add(type, arithmetic_unit::tensor_core, sums, rate, card_ == nullptr ? 1 : card_->tensor_part,
        card_ == nullptr ? 1 : card_->tensor_clock, has_sparse_form);
  }
  /// f64's have no sparse form, and on some cards are fewer.
  void tensor_f64(const gpu_rate& rate) {
    add(dtype::f64, arithmetic_unit::tensor_core, dtype::unknown, rate, f64_part(), 1, false);
  }
  double f64_part() const { return card_ == nullptr ? 1 : card_->f64_part; }

 private:
  void add(dtype type, arithmetic_unit on, dtype sums, const gpu_rate& rate, double part,
           double clock, bool has_sparse_form) {
    if (rate.per_clock <= 0) return;
    const double hz = static_cast<double>(device_.clock_hz) * clock;
    const double each = rate.per_clock * (is_geforce_ && rate.is_halved ? 0.5 : 1) * part;
    const double dense = each * device_.multiprocessors * hz;
    const double sparse = has_sparse_form && sparse_factor_ > 1 ? dense * sparse_factor_ : 0;
    to_.arithmetic.push_back({type, on, sums, dense, sparse, hz, source_name(rate.source)});
  }

  const device_info& device_;
  const gpu_card* card_;
  bool is_geforce_;
  int sparse_factor_;
  gpu_ceilings& to_;
};

[[gnu::cold]] inline void add_arithmetic(const device_info& device, const gpu_architecture& a,
                                         gpu_ceilings& to) {
  table_of_device table(device, a, to);
  table.cuda(dtype::f64, a.f64, table.f64_part());
  table.cuda(dtype::f32, a.f32);
  table.cuda(dtype::f16, a.f16);
  table.cuda(dtype::bf16, a.bf16);
  table.cuda(dtype::int32, a.int32);
  table.cuda(dtype::int8, a.int8);
  table.tensor_f64(a.tensor_f64);
  table.tensor(dtype::tf32, a.tf32);
  table.tensor(dtype::f16, a.f16_in_f32, dtype::f32);
  table.tensor(dtype::f16, a.f16_in_f16, dtype::f16);
  table.tensor(dtype::bf16, a.tensor_bf16);
  for (const dtype type : {dtype::fp8_e4m3, dtype::fp8_e5m2}) {
    table.tensor(type, a.fp8_in_f32, dtype::f32);
    table.tensor(type, a.fp8_in_f16, dtype::f16);
  }
  for (const dtype type : {dtype::fp6_e2m3, dtype::fp6_e3m2}) table.tensor(type, a.fp6);
  // The published sparse figures of 10.3 are 1.3 times the dense ones, and do not agree.
  table.tensor(dtype::fp4_e2m1, a.fp4, dtype::unknown, a.compute != 103);
  table.tensor(dtype::int8, a.tensor_int8);
  table.tensor(dtype::int4, a.tensor_int4);
}

inline gpu_ceilings table_ceilings(const device_info& device) {
  gpu_ceilings found;
  found.device = device.name;
  if (!device.described) {
    found.notes.push_back("the driver did not describe the device");
    return found;
  }
  const gpu_architecture* const a = find_architecture(device.compute_major, device.compute_minor);
  const std::string compute =
      std::to_string(device.compute_major) + '.' + std::to_string(device.compute_minor);
  // On these the driver's clock and bus width are not those of the memory.
  const bool shares_memory = compute == "7.2" || compute == "8.7" || compute == "11.0" ||
                             compute == "10.1" || compute == "12.1";
  if (shares_memory)
    found.notes.push_back(
        "memory bandwidth is not known: the device shares the host's memory, and "
        "its attributes do not give the rate");
  else if (device.memory_bytes_per_s == 0)
    found.notes.push_back("memory bandwidth is not known: the driver gives none");
  else found.memory_bytes = static_cast<double>(device.memory_bytes_per_s);
  if (a == nullptr) {
    found.notes.push_back("arithmetic rates are not known: kprof has no table for compute " +
                          compute);
    return found;
  }
  if (device.clock_hz == 0 || device.multiprocessors == 0) {
    found.notes.push_back(
        "arithmetic rates are not known: the driver gives no clock or no "
        "multiprocessors");
    return found;
  }
  add_arithmetic(device, *a, found);
  const auto clock = static_cast<double>(device.clock_hz);
  if (a->l2_bytes_of_gpu > 0) found.l2_bytes = a->l2_bytes_of_gpu * clock;
  if (a->shared_bytes > 0) found.shared_bytes = a->shared_bytes * clock * device.multiprocessors;
  const std::string mhz = std::to_string(device.clock_hz / 1'000'000);
  const gpu_card* const card = find_card(device.name);
  if (card == nullptr) found.notes.push_back(std::string{gpu_ceilings::clock_note} + mhz + " MHz");
  else
    found.notes.push_back(std::string{gpu_ceilings::clock_note} + mhz +
                          " MHz; of tensor cores at " +
                          std::to_string(static_cast<int>(clock * card->tensor_clock / 1e6)) +
                          " MHz, the clock of the card's published figures");
  if (is_geforce(device.name))
    found.notes.push_back("GeForce: tensor cores that add into f32 run at half rate");
  return found;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

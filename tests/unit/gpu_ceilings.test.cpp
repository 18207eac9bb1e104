// SPDX-License-Identifier: MIT
// The table of GPUs against the published figures of cards, and what is not known.

#include <kprof/ceilings.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using kprof::arithmetic_unit;
using kprof::ceilings_of;
using kprof::device_info;
using kprof::dtype;
using kprof::gpu_ceilings;

namespace {

constexpr auto cuda = arithmetic_unit::cuda_core, tensor = arithmetic_unit::tensor_core;
constexpr dtype any = dtype::unknown;

struct published_rate {
  dtype type;
  arithmetic_unit on;
  double tera;  // dense
  dtype sums = any;
};
struct published_card {
  const char* name;
  std::uint32_t compute;
  std::uint32_t multiprocessors;
  std::uint64_t mhz;
  std::vector<published_rate> rates;
};

device_info device(const char* name, std::uint32_t compute, std::uint32_t multiprocessors,
                   std::uint64_t mhz) {
  device_info d;
  d.described = true;
  d.name = name;
  d.compute_major = compute / 10;
  d.compute_minor = compute % 10;
  d.multiprocessors = multiprocessors;
  d.clock_hz = mhz * 1'000'000;
  d.memory_bytes_per_s = 1'000'000'000'000;
  return d;
}

// NVIDIA's data sheets and white papers. Clocks are those that the sheets give their figures for.
const std::vector<published_card> cards{
    {"Tesla V100-SXM2-16GB",
     70,
     80,
     1530,
     {{dtype::f64, cuda, 7.8},
      {dtype::f32, cuda, 15.7},
      {dtype::f16, cuda, 31.4},
      {dtype::f16, tensor, 125}}},
    {"Tesla T4",
     75,
     40,
     1590,
     {{dtype::f32, cuda, 8.1},
      {dtype::f16, tensor, 65, dtype::f32},
      {dtype::int8, tensor, 130},
      {dtype::int4, tensor, 260}}},
    {"NVIDIA GeForce RTX 2080 Ti",
     75,
     68,
     1635,
     {{dtype::f32, cuda, 14.2},
      {dtype::f16, tensor, 113.8, dtype::f16},
      {dtype::f16, tensor, 56.9, dtype::f32},
      {dtype::int8, tensor, 227.7}}},
    {"NVIDIA A100-SXM4-40GB",
     80,
     108,
     1410,
     {{dtype::f64, cuda, 9.7},
      {dtype::f64, tensor, 19.5},
      {dtype::f32, cuda, 19.5},
      {dtype::f16, cuda, 78},
      {dtype::bf16, cuda, 39},
      {dtype::tf32, tensor, 156},
      {dtype::f16, tensor, 312},
      {dtype::bf16, tensor, 312},
      {dtype::int8, tensor, 624},
      {dtype::int4, tensor, 1248}}},
    {"NVIDIA A10",
     86,
     72,
     1695,
     {{dtype::f32, cuda, 31.2},
      {dtype::tf32, tensor, 62.5},
      {dtype::f16, tensor, 125, dtype::f32},
      {dtype::int8, tensor, 250}}},
    {"NVIDIA RTX A6000",
     86,
     84,
     1800,
     {{dtype::f32, cuda, 38.7},
      {dtype::tf32, tensor, 77.4},
      {dtype::bf16, tensor, 154.8},
      {dtype::int8, tensor, 309.7}}},
    {"NVIDIA GeForce RTX 3090",
     86,
     82,
     1695,
     {{dtype::f32, cuda, 35.6},
      {dtype::tf32, tensor, 35.6},
      {dtype::f16, tensor, 142, dtype::f16},
      {dtype::f16, tensor, 71, dtype::f32},
      {dtype::int8, tensor, 284}}},
    {"NVIDIA GeForce RTX 4090",
     89,
     128,
     2520,
     {{dtype::f32, cuda, 82.6},
      {dtype::tf32, tensor, 82.6},
      {dtype::f16, tensor, 330.3, dtype::f16},
      {dtype::f16, tensor, 165.2, dtype::f32},
      {dtype::bf16, tensor, 165.2},
      {dtype::fp8_e4m3, tensor, 660.6, dtype::f16},
      {dtype::fp8_e5m2, tensor, 330.3, dtype::f32},
      {dtype::int8, tensor, 660.6},
      {dtype::int4, tensor, 1321}}},
    {"NVIDIA L4",
     89,
     58,
     2040,
     {{dtype::f32, cuda, 30.3},
      {dtype::f16, tensor, 121, dtype::f32},
      {dtype::fp8_e4m3, tensor, 242.5, dtype::f32}}},
    {"NVIDIA L40S",
     89,
     142,
     2520,
     {{dtype::f32, cuda, 91.6}, {dtype::tf32, tensor, 183}, {dtype::int8, tensor, 733}}},
    {"NVIDIA H100 80GB HBM3",
     90,
     132,
     1980,
     {{dtype::f64, cuda, 33.5},
      {dtype::f32, cuda, 66.9},
      {dtype::f64, tensor, 66.9},
      {dtype::f16, cuda, 133.8},
      {dtype::int32, cuda, 33.5},
      {dtype::tf32, tensor, 494.7},
      {dtype::f16, tensor, 989.4},
      {dtype::bf16, tensor, 989.4},
      {dtype::fp8_e4m3, tensor, 1978.9},
      {dtype::int8, tensor, 1978.9}}},
    {"NVIDIA H100 PCIe",
     90,
     114,
     1755,
     {{dtype::f32, cuda, 51.2}, {dtype::f16, tensor, 756}, {dtype::fp8_e4m3, tensor, 1513}}},
    {"NVIDIA H100 NVL", 90, 132, 1785, {{dtype::f32, cuda, 60}, {dtype::f16, tensor, 835}}},
    {"NVIDIA H200", 90, 132, 1980, {{dtype::f32, cuda, 66.9}, {dtype::f16, tensor, 989.4}}},
    {"NVIDIA H20", 90, 78, 1980, {{dtype::f64, cuda, 1}, {dtype::f16, tensor, 148}}},
    {"NVIDIA B200",
     100,
     148,
     1965,
     {{dtype::f64, cuda, 37},
      {dtype::f32, cuda, 75},
      {dtype::f16, tensor, 2250},
      {dtype::fp8_e4m3, tensor, 4500},
      {dtype::fp4_e2m1, tensor, 9000}}},
    {"NVIDIA GB200",
     100,
     152,
     2062,
     {{dtype::f32, cuda, 80}, {dtype::f16, tensor, 2500}, {dtype::fp4_e2m1, tensor, 10000}}},
    {"NVIDIA B300 SXM6 AC",
     103,
     148,
     2032,
     {{dtype::f32, cuda, 77}, {dtype::bf16, tensor, 2250}, {dtype::fp8_e4m3, tensor, 4500}}},
    {"NVIDIA GeForce RTX 5090",
     120,
     170,
     2407,
     {{dtype::f32, cuda, 104.8},
      {dtype::tf32, tensor, 104.8},
      {dtype::f16, tensor, 419, dtype::f16},
      {dtype::f16, tensor, 209.5, dtype::f32},
      {dtype::fp8_e4m3, tensor, 838, dtype::f16},
      {dtype::fp8_e4m3, tensor, 419, dtype::f32},
      {dtype::fp4_e2m1, tensor, 1676},
      {dtype::int8, tensor, 838}}},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
     120,
     188,
     2617,
     {{dtype::f32, cuda, 126}, {dtype::f16, tensor, 503.8, dtype::f32}}},
    {"Orin", 87, 16, 1300, {{dtype::f32, cuda, 5.3}, {dtype::int8, tensor, 85}}},
    {"NVIDIA Thor", 110, 20, 1575, {{dtype::f32, cuda, 8.06}, {dtype::fp4_e2m1, tensor, 1035}}},
};

}  // namespace

TEST_CASE("gpu_ceilings.cards_have_their_published_rates") {
  for (const published_card& card : cards) {
    const gpu_ceilings found =
        ceilings_of(device(card.name, card.compute, card.multiprocessors, card.mhz));
    for (const published_rate& rate : card.rates) {
      INFO(card.name << ", type " << static_cast<int>(rate.type) << ", " << rate.tera << " T");
      const auto* ceiling = found.find(rate.type, rate.on, rate.sums);
      REQUIRE(ceiling != nullptr);
      // Sheets round to two or three digits.
      CHECK(std::abs(ceiling->operations / 1e12 / rate.tera - 1) < 0.013);
    }
    CHECK_FALSE(found.arithmetic.empty());
    CHECK(found.device == card.name);
    CHECK_FALSE(found.notes.empty());
  }
}

TEST_CASE("gpu_ceilings.every_entry_has_a_source_and_scales") {
  std::set<std::uint32_t> computes;
  for (const kprof::detail::gpu_architecture& a : kprof::detail::gpu_rates::architectures) {
    INFO(a.compute);
    CHECK(computes.insert(a.compute).second);
    CHECK(a.f32.per_clock == 2 * a.lanes);
    const gpu_ceilings one = ceilings_of(device("NVIDIA X", a.compute, 1, 1000));
    const gpu_ceilings many = ceilings_of(device("NVIDIA X", a.compute, 7, 2000));
    REQUIRE(one.arithmetic.size() == many.arithmetic.size());
    REQUIRE(one.arithmetic.size() >= 5);
    for (std::size_t i = 0; i < one.arithmetic.size(); ++i) {
      const std::set<std::string> sources{"vendor", "measured", "derived", "statement"};
      CHECK(sources.count(one.arithmetic[i].source) == 1);
      CHECK(many.arithmetic[i].operations == 14 * one.arithmetic[i].operations);
      CHECK(many.arithmetic[i].sparse_operations == 14 * one.arithmetic[i].sparse_operations);
      CHECK(one.arithmetic[i].clock_hz == 1e9);
    }
    if (a.compute >= 89)
      CHECK(one.find(dtype::fp8_e4m3, tensor, dtype::f16)->operations ==
            2 * one.find(dtype::f16, tensor, dtype::f16)->operations);
    // 2 of 4 zeros count on tensor cores from 8.0 on, and never for f64.
    CHECK((one.find(dtype::f16, tensor)->sparse_operations > 0) == (a.compute >= 80));
    CHECK(one.find(dtype::f32, cuda)->sparse_operations == 0);
    if (const auto* f64 = one.find(dtype::f64, tensor)) CHECK(f64->sparse_operations == 0);
  }
  CHECK(computes ==
        std::set<std::uint32_t>{70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121});
}

TEST_CASE("gpu_ceilings.an_unknown_device_has_no_rates_of_a_neighbour") {
  for (const std::uint32_t compute : {60U, 71U, 76U, 81U, 88U, 91U, 99U, 102U, 107U, 130U}) {
    const gpu_ceilings found = ceilings_of(device("NVIDIA X", compute, 100, 1000));
    CHECK(found.arithmetic.empty());
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].find("no table for compute") != std::string::npos);
    CHECK(found.memory_bytes == 1e12);
  }
  // 8.16 is not 9.6, nor is 7.10 8.0.
  device_info odd = device("NVIDIA X", 70, 10, 1000);
  odd.compute_minor = 10;
  CHECK(ceilings_of(odd).arithmetic.empty());
  odd = device("NVIDIA X", 101, 20, 1000);  // the first name of 11.0
  CHECK(ceilings_of(odd).find(dtype::f32, cuda)->operations == 256. * 20 * 1e9);

  CHECK(ceilings_of(device_info{}).notes ==
        std::vector<std::string>{"the driver did not describe the device"});
  device_info no_clock = device("NVIDIA A10", 86, 72, 0);
  CHECK(ceilings_of(no_clock).arithmetic.empty());
  CHECK(ceilings_of(no_clock).notes.size() == 1);
  no_clock = device("NVIDIA A10", 86, 0, 1695);
  CHECK(ceilings_of(no_clock).arithmetic.empty());
  no_clock = device("NVIDIA A10", 86, 72, 1695);
  no_clock.memory_bytes_per_s = 0;
  CHECK(ceilings_of(no_clock).memory_bytes == 0);
  CHECK(ceilings_of(no_clock).notes[0].find("memory bandwidth is not known") == 0);
}

TEST_CASE("gpu_ceilings.names_are_compared_by_words") {
  const auto half_rate = [](const char* name) {
    return ceilings_of(device(name, 89, 10, 1000)).find(dtype::tf32, tensor)->operations;
  };
  CHECK(half_rate("NVIDIA GeForce RTX 4060") == 256. * 10 * 1e9);
  CHECK(half_rate("GeForce RTX 4060") == 256. * 10 * 1e9);
  CHECK(half_rate("NVIDIA L40") == 512. * 10 * 1e9);
  CHECK(half_rate("NVIDIA GeForcer") == 512. * 10 * 1e9);
  const auto tensor_clock = [](const char* name) {
    return ceilings_of(device(name, 90, 10, 1000)).find(dtype::f16, tensor)->clock_hz;
  };
  CHECK(tensor_clock("NVIDIA H100 PCIe") == 0.923e9);
  CHECK(tensor_clock("NVIDIA H100 80GB HBM3") == 0.924e9);
  CHECK(tensor_clock("NVIDIA H1000") == 1e9);
  CHECK(tensor_clock("NVIDIA H200 NVL") == 0.866e9);
  CHECK(tensor_clock("NVIDIA H20-3e") == 0.936e9);
  CHECK(tensor_clock("My H100") == 1e9);
}

TEST_CASE("gpu_ceilings.bandwidths") {
  const gpu_ceilings a100 = ceilings_of(device("NVIDIA A100-SXM4-80GB", 80, 108, 1410));
  CHECK(a100.memory_bytes == 1e12);
  CHECK(a100.l2_bytes == 5120 * 1.41e9);
  CHECK(a100.shared_bytes == 128 * 1.41e9 * 108);
  CHECK(ceilings_of(device("NVIDIA H100 PCIe", 90, 114, 1755)).l2_bytes == 0);
  for (const std::uint32_t shared : {72U, 87U, 101U, 110U, 121U})
    CHECK(ceilings_of(device("Shared", shared, 8, 1000)).memory_bytes == 0);
}

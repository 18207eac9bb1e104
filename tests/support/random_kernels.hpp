// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_RANDOM_KERNELS_HPP
#define KPROF_TESTS_RANDOM_KERNELS_HPP

// Random names of kernels, and profiles whose kernels have them: real ones, templates that differ
// in few of their arguments, and names that no compiler makes. The same seed gives the same names
// everywhere.

#include "device_builder.hpp"
#include "kernel_names.hpp"
#include "sample_profile.hpp"
#include "torch_kernel_names.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace kprof_test {

class random_kernels {
 public:
  explicit random_kernels(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  /// So many names at the most; some sets have names of one template only.
  std::vector<std::string> names(std::size_t most) {
    std::vector<std::string> out;
    const std::string base = type(0), prefix(below(3) == 0 ? below(60) : 0, 'p');
    const std::size_t arguments = 1 + below(6), way = below(5);
    for (std::size_t n = 1 + below(most); n > 0; --n) {
      const std::size_t kind = way == 0 ? below(4) : way - 1;
      out.push_back(kind == 0   ? real()
                    : kind == 1 ? templated("void " + prefix + base, arguments)
                    : kind == 2 ? prefix + word() + '_' + word() + '_' + word()
                                : hostile());
      if (below(8) == 0) out.back() = changed(out.back());
    }
    return out;
  }

  /// A profile with kernels of these names in operators, regions and outside of them.
  kprof::profile profile(const std::vector<std::string>& names) {
    device_builder b;
    const auto main = b.thread("main", 1), other = b.thread("other", 2);
    std::vector<std::uint32_t> places = {main, other, kprof::scope_node::none};
    places.push_back(b.region(main, "step"));
    b.calls(places.back(), 1, 1e6);
    for (std::size_t i = 0, n = below(6); i < n; ++i) {
      const std::string parameters = "n=" + std::to_string(below(3)) +
                                     " m=" + (below(3) == 0 ? hostile() : std::to_string(below(2)));
      places.push_back(
          b.op(places[below(2) == 0 ? 0 : 3], below(2) == 0 ? "Gemm" : "Scan", parameters));
      b.calls(places.back(), 1, 1e3).work(places.back(), 1000, 10, 10);
    }
    for (const std::string& name : names) {
      kprof::device_work& w = b.kernel(places[below(places.size())], name, 1 + below(1000),
                                       static_cast<double>(1 + below(100'000)));
      if (below(3) == 0) w.grid[0] = 1 + static_cast<std::uint32_t>(below(3));
      if (below(4) == 0) w.dynamic_shared = static_cast<std::uint32_t>(below(3)) << 10U;
      if (below(6) == 0) w.device = static_cast<std::uint32_t>(below(2));
    }
    kprof::profile p = b.done();
    add_surroundings(p);
    add_device(p);
    return p;
  }

 private:
  std::string real() {
    if (below(2) == 0) return torch_kernels[below(std::size(torch_kernels))].whole;
    return real_kernel_names[below(std::size(real_kernel_names))];
  }
  std::string word() {
    static constexpr const char* words[] = {"gemm", "tile",   "64",   "128",    "fused",  "add",
                                            "f16",  "reduce", "rows", "Policy", "kernel", "x"};
    return words[below(std::size(words))];
  }
  std::string type(std::size_t depth) {
    static constexpr const char* types[] = {"float",
                                            "int",
                                            "c10::Half",
                                            "c10::BFloat16",
                                            "unsigned int",
                                            "float const*",
                                            "(Layout)1",
                                            "128u",
                                            "true",
                                            "-3l",
                                            "at::native::f(int)::{lambda(float)#1}",
                                            "at::native::f<int>(int)::{lambda(float)#2}",
                                            "ns::AddOp<float>",
                                            "std::plus<void>",
                                            "std::array<char*, 2ul>"};
    if (depth > 3 || below(3) > 0) return types[below(std::size(types))];
    return (below(2) == 0 ? "ns::" : "") + ("T" + std::to_string(below(3))) +
           arguments_of(1 + below(4), depth + 1) + (below(5) == 0 ? "::Policy" : "");
  }
  std::string arguments_of(std::size_t count, std::size_t depth) {
    std::string out = "<";
    for (std::size_t i = 0; i < count; ++i) out += (i > 0 ? ", " : "") + type(depth);
    return out + (out.back() == '>' ? " >" : ">");
  }
  std::string templated(const std::string& base, std::size_t arguments) {
    return base + "::kernel" + arguments_of(arguments, 1) + "(int, " + type(2) + ")";
  }
  std::string hostile() {
    static constexpr const char* pieces[] = {"<",
                                             ">",
                                             "(",
                                             ")",
                                             "{lambda(int)#1}",
                                             "::",
                                             "operator<",
                                             "operator()",
                                             ", ",
                                             "\n",
                                             "\t",
                                             "\x1b[1m",
                                             "(anonymous namespace)::",
                                             "->",
                                             "\xC3\x9F",
                                             "\xE6\xBC\xA2",
                                             "\xFF",
                                             "_Z",
                                             "N",
                                             "5kernelI",
                                             "Li3E",
                                             "E",
                                             "S_",
                                             "e\xCC\x81",
                                             "a",
                                             "b",
                                             " ",
                                             "\xE2\x80\xA6",
                                             "...",
                                             "void ",
                                             "[",
                                             "}"};
    std::string out;
    for (std::size_t n = below(20); n > 0; --n) out += pieces[below(std::size(pieces))];
    if (below(40) == 0) out += std::string(10'000, "<(a,"[below(4)]);
    return out;
  }
  std::string changed(std::string name) {
    if (!name.empty()) name[below(name.size())] = "<>(),: _aZ0"[below(11)];
    return name;
  }

  std::mt19937 random_;
};

/// Each of the real names once, in operators of a training step: names of one library stand in the
/// same operators.
inline kprof::profile real_kernels_profile() {
  device_builder b;
  const auto main = b.thread("train", 4711), step = b.region(main, "step");
  b.calls(step, 10, 1e6);
  std::vector<std::uint32_t> operators;
  for (const char* const name :
       {"Sort", "Reduce", "Gemv", "Norm", "Pointwise", "Gemm", "Attention"}) {
    operators.push_back(b.op(step, name, "n=1048576 type=f32"));
    b.calls(operators.back(), 10, 2e4).work(operators.back(), 1'048'576, 4'194'304, 4'194'304);
  }
  double ns = 90'000;
  std::size_t i = 0;
  for (const char* const name : real_kernel_names) {
    b.kernel(operators[i * operators.size() / std::size(real_kernel_names)], name, 10, ns,
             static_cast<std::uint32_t>(32 * i + 32));
    ns *= 0.93;
    ++i;
  }
  // one kernel in two operators, and in one of them with other parameters
  const auto other = b.op(step, "Sort", "n=4096 type=f32");
  b.calls(other, 10, 2e3).work(other, 4096, 4096, 4096);
  b.kernel(other, real_kernel_names[0], 10, 3'000, 1);
  b.kernel(operators[6], real_kernel_names[0], 10, 2'500, 1);
  b.copy(step, kprof::copy_direction::host_to_device, 10, 60'000, 1 << 22);
  kprof::profile p = b.done();
  add_surroundings(p);
  add_device(p);
  return p;
}

}  // namespace kprof_test

#endif

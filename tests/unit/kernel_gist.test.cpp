// SPDX-License-Identifier: MIT
// What a kernel of PyTorch, cuBLAS or CUTLASS is called in a table, where it runs with others.

#include <kprof/model/kernel_gist.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/report/text/kernel_texts.hpp>

#include "../support/catch.hpp"
#include "../support/torch_kernel_names.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kprof::short_kernel_name;
using kprof::telling_kernel_names;
using names = std::vector<std::string>;

names torch_names() {
  names out;
  for (const kprof_test::kernel_of_torch& kernel : kprof_test::torch_kernels)
    out.push_back(kprof::kernel_name(kernel.whole));
  return out;
}

/// Whether each bracket has its other one, and none holds nothing.
bool is_balanced(std::string_view text) {
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{') {
      open += c;
    } else if (c == '>' || c == ')' || c == '}') {
      if (open.empty() || kprof::detail::closing(open.back()) != c || text[i - 1] == open.back())
        return false;
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("kernel_gist.a_template_is_named_by_what_it_does") {
  for (const kprof_test::kernel_of_torch& kernel : kprof_test::torch_kernels) {
    INFO(kernel.whole);
    CHECK(kprof::detail::kernel_namer({kprof::kernel_name(kernel.whole)}).take()[0].brief ==
          kernel.brief);
  }
  CHECK(short_kernel_name("void each<main::{lambda(int, float)#1}>(int)") ==
        "each main(int, float)");
  CHECK(short_kernel_name("void each<main::{lambda(float*)#1}>(int)") == "each main");
  CHECK(short_kernel_name("void map<float, 256, my::SquareOp>(float*)") == "map<float> SquareOp");
  CHECK(short_kernel_name("void map<float, my::Loop>(float*)") == "map<float, Loop>");
  CHECK(short_kernel_name("void fold<std::plus<void>, float*>(float*)") == "fold plus");
  CHECK(short_kernel_name("void each<&my::relu<float>, true>(float*)") == "each relu<float>");
}

TEST_CASE("kernel_gist.names_that_are_the_same_get_what_differs") {
  const names all = torch_names(), texts = telling_kernel_names(all);
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == all.size());
  const auto has = [&](std::string_view text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  CHECK(has("reduce_kernel<128, 4> sum_functor<float>"));
  CHECK(has("reduce_kernel<512, 1> sum_functor<float>"));
  CHECK(has("vectorized_elementwise_kernel<BinaryFunctor, array<3>> MulFunctor<float>"));
  CHECK(has("reduce_kernel MeanOps<float>"));
  CHECK(telling_kernel_names(
            {"void k<f(int)::{lambda(float)#1}>()", "void k<f(int)::{lambda(float)#2}>()"}) ==
        names{"k<f::{lambda#1}>", "k<f::{lambda#2}>"});
  CHECK(telling_kernel_names({"void k<8, AddOp<float> >()", "void k<4, AddOp<float> >()"}) ==
        names{"k<8> AddOp<float>", "k<4> AddOp<float>"});
  // what is left out of all comes back where nothing else differs
  CHECK(telling_kernel_names({"void k<AddOp<float>, std::array<char*, 2ul> >()",
                              "void k<AddOp<float>, std::array<char*, 3ul> >()"}) ==
        names{"k<array<2>> AddOp<float>", "k<array<3>> AddOp<float>"});
}

TEST_CASE("kernel_gist.a_name_that_is_cut_keeps_what_it_does_and_its_brackets") {
  const names all = torch_names();
  for (const bool ascii : {false, true}) {
    const kprof::detail::kernel_texts texts(all, ascii);
    for (std::size_t width = 24; width < 90; ++width) {
      const auto lines = texts.at_width(width);
      std::set<std::string> seen;
      std::size_t broken = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::string text;
        for (const std::string& line : lines[i]) {
          CHECK(kprof::detail::display_width(line) <= width);
          text += line + '\n';
        }
        INFO("width " << width << ": " << text << "\nof " << all[i]);
        CHECK(seen.insert(text).second);
        CHECK(is_balanced(text));
        broken += lines[i].size() > 1 ? 1U : 0U;
      }
      INFO("width " << width);
      if (width >= 46) CHECK(broken <= 8);
    }
  }
  const auto at = [&](std::string_view part, std::size_t width) {
    const auto lines = kprof::detail::kernel_texts(all, false).at_width(width);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].find(part) != std::string::npos) return lines[i][0];
    return std::string{};
  };
  CHECK(at("CUDAFunctor_add", 46) == "vectorized_elementwise_\u2026CUDAFunctor_add<float>");
  CHECK(at("FusedAdam", 46) == "multi_tensor_apply\u2026FusedAdamMathFunctor<float>");
}

// Arguments that begin with a bracket, where nothing of the name has been written before.
TEST_CASE("kernel_gist.arguments_in_brackets_are_told_apart") {
  for (const char* open : {"{unnamed type#", "{lambda(int)#", "(B)", "[", "(ns::S){"}) {
    const std::string close = open[0] == '{' || open[1] == 'n' ? "}" : open[0] == '[' ? "]" : "";
    std::vector<std::string> names;
    for (const char* first : {"1, A", "2, A", "3, A"})
      names.push_back(std::string{"void k<"} + first + ">(int)");
    for (const char* last : {"1", "2"})
      names.push_back("void k<4, " + (open + (last + close)) + ">(int)");
    const std::vector<std::string> told = kprof::telling_kernel_names(names);
    for (std::size_t i = 0; i < told.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) CHECK(told[i] != told[k]);
  }
}

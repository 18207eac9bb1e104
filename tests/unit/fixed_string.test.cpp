// SPDX-License-Identifier: MIT
#include <kprof/declare/fixed_string.hpp>

#include "catch.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

using kprof::fixed_string;

TEST_CASE("fixed_string.holds_text_up_to_its_capacity") {
  static_assert(std::is_trivially_copyable_v<fixed_string<7>> && sizeof(fixed_string<7>) == 8);
  static_assert(fixed_string<7>{"gemm"}.size() == 4);
  static_assert(fixed_string<7>{}.size() == 0);
  static_assert(fixed_string<4>{"gemm"} == fixed_string<4>{"gemm"});
  CHECK(std::string(fixed_string<7>{"gemm"}.c_str()) == "gemm");
  CHECK(std::string(fixed_string<4>{"gemm"}.c_str()) == "gemm");
  CHECK(fixed_string<1>{"x"}.size() == 1);
  CHECK(fixed_string<255>{std::string(255, 'x')}.size() == 255);
}

TEST_CASE("fixed_string.longer_text_is_cut") {
  CHECK(std::string(fixed_string<4>{"convolution"}.c_str()) == "conv");
  CHECK(std::string(fixed_string<4>{std::string("convolution")}.c_str()) == "conv");
  CHECK(fixed_string<255>{std::string(256, 'x')}.size() == 255);
}

TEST_CASE("fixed_string.text_is_cut_between_characters") {
  // U+00E9 takes two bytes, U+20AC three, U+1F600 four.
  CHECK(std::string(fixed_string<4>{"abc\xC3\xA9"}.c_str()) == "abc");
  CHECK(std::string(fixed_string<5>{"abc\xC3\xA9"}.c_str()) == "abc\xC3\xA9");
  CHECK(std::string(fixed_string<4>{"ab\xE2\x82\xAC"}.c_str()) == "ab");
  CHECK(std::string(fixed_string<3>{"\xF0\x9F\x98\x80"}.c_str()).empty());
  CHECK(std::string(fixed_string<4>{"\xF0\x9F\x98\x80z"}.c_str()) == "\xF0\x9F\x98\x80");
}

TEST_CASE("fixed_string.anything_with_data_and_size_is_text") {
  const std::string_view part = std::string_view("one two").substr(0, 3);  // not zero-terminated
  CHECK(std::string(fixed_string<15>{part}.c_str()) == "one");
  CHECK(std::string(fixed_string<15>{std::string("two")}.c_str()) == "two");
  CHECK(fixed_string<15>{std::string_view{}}.size() == 0);
  CHECK(std::string(fixed_string<15>{std::string("a\0b", 3)}.c_str()) == "a");
  CHECK(fixed_string<15>{static_cast<const char*>(nullptr)}.size() == 0);
}

TEST_CASE("fixed_string.equal_texts_are_equal_bytes") {
  fixed_string<15> reused = "a long text";
  reused = "ab";
  const fixed_string<15> fresh = "ab";
  CHECK(reused == fresh);
  CHECK(std::equal(std::begin(reused.bytes), std::end(reused.bytes), std::begin(fresh.bytes)));
  CHECK(std::all_of(fresh.bytes + 2, std::end(fresh.bytes), [](char c) { return c == '\0'; }));
  CHECK_FALSE(fresh == fixed_string<15>{"abc"});
}

// SPDX-License-Identifier: MIT
#include <kprof/report/text/format.hpp>

#include "../support/catch.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace f = kprof::detail;

TEST_CASE("format.counts_have_separators") {
  CHECK(f::format_count(0) == "0");
  CHECK(f::format_count(999) == "999");
  CHECK(f::format_count(1000) == "1,000");
  CHECK(f::format_count(1234567) == "1,234,567");
  CHECK(f::format_count(~std::uint64_t{0}) == "18,446,744,073,709,551,615");
}

TEST_CASE("format.times_have_three_digits_and_a_unit") {
  CHECK(f::format_time(0) == "0 ns");
  CHECK(f::format_time(0.004) == "<0.01 ns");
  CHECK(f::format_time(0.314) == "0.31 ns");
  CHECK(f::format_time(9.994) == "9.99 ns");
  CHECK(f::format_time(9.996) == "10.0 ns");
  CHECK(f::format_time(99.96) == "100 ns");
  CHECK(f::format_time(999.4) == "999 ns");
  CHECK(f::format_time(999.6) == "1.00 \u00B5s");
  CHECK(f::format_time(12'345) == "12.3 \u00B5s");
  CHECK(f::format_time(12'345, true) == "12.3 us");
  CHECK(f::format_time(999.6e6) == "1.00 s");
  CHECK(f::format_time(812e6) == "812 ms");
  CHECK(f::format_time(1234.5e9) == "1,235 s");
}

TEST_CASE("format.what_is_no_number_is_not_printed_as_one") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const double x : {nan, infinite, -1.0}) {
    CHECK(f::format_time(x) == "n/a");
    CHECK(f::format_si(x) == "n/a");
    CHECK(f::format_rate(x) == "n/a");
    CHECK(f::format_share(x) == "n/a");
  }
  CHECK(f::format_time(1e300) == ">10^15 s");
}

TEST_CASE("format.decimal_prefixes") {
  CHECK(f::format_si(0) == "0");
  CHECK(f::format_si(512) == "512");
  CHECK(f::format_si(1000) == "1.00 k");
  CHECK(f::format_si(999'950) == "1.00 M");
  CHECK(f::format_si(2.1e9) == "2.10 G");
  CHECK(f::format_si(6.02e23) == "602,000 E");
}

TEST_CASE("format.memory_has_binary_prefixes") {
  CHECK(f::format_memory(0) == "0 B");
  CHECK(f::format_memory(512) == "512 B");
  CHECK(f::format_memory(64 << 20) == "64.0 MiB");
  CHECK(f::format_memory(1000) == "1,000 B");
  CHECK(f::format_memory(1536) == "1.50 KiB");
  CHECK(f::format_memory(std::uint64_t{3} << 40) == "3.00 TiB");
}

TEST_CASE("format.rates_keep_small_numbers_apart_from_zero") {
  CHECK(f::format_rate(0) == "0");
  CHECK(f::format_rate(0.0001) == "<0.001");
  CHECK(f::format_rate(0.0005) == "0.001");
  CHECK(f::format_rate(0.1667) == "0.167");
  CHECK(f::format_rate(0.9999) == "1.00");
  CHECK(f::format_rate(80.47) == "80.5");
  CHECK(f::format_rate(15210.4) == "15,210");
}

TEST_CASE("format.shares_are_per_cent") {
  CHECK(f::format_share(0) == "0%");
  CHECK(f::format_share(0.0004) == "<0.1%");
  CHECK(f::format_share(0.0005) == "0.1%");
  CHECK(f::format_share(0.4744) == "47.4%");
  CHECK(f::format_share(1) == "100.0%");
}

TEST_CASE("format.every_dtype_has_its_name") {
#define SAME(name) CHECK(std::string{f::dtype_name(kprof::dtype::name)} == #name)
  SAME(unknown);
  SAME(f64);
  SAME(f32);
  SAME(tf32);
  SAME(f16);
  SAME(bf16);
  SAME(fp8_e4m3);
  SAME(fp8_e5m2);
  SAME(fp6_e2m3);
  SAME(fp6_e3m2);
  SAME(fp4_e2m1);
  SAME(int64);
  SAME(int32);
  SAME(int16);
  SAME(int8);
  SAME(int4);
  SAME(uint64);
  SAME(uint32);
  SAME(uint16);
  SAME(uint8);
  SAME(uint4);
  SAME(boolean);
  SAME(c64);
  SAME(c128);
#undef SAME
  CHECK(std::string{f::dtype_name(static_cast<kprof::dtype>(200))} == "unknown");
}

TEST_CASE("format.what_a_terminal_would_obey_is_escaped") {
  CHECK(f::printable("a\nb\r\tc", 80) == "a\\nb\\r\\tc");
  CHECK(f::printable("\x1b[31mred", 80) == "\\x1b[31mred");
  CHECK(f::printable(std::string("\0\x7f", 2), 80) == "\\x00\\x7f");
  CHECK(f::printable("\xC2\x9B"
                     "31m",
                     80) == "\\u009b31m");  // CSI as one character
  CHECK(f::printable("\xE2\x80\xAE"
                     "abc",
                     80) == "\\u202eabc");  // right-to-left override
  CHECK(f::printable("a\xE2\x80\x8B"
                     "b",
                     80) == "a\\u200bb");                        // zero-width space
  CHECK(f::printable("\xF3\xA0\x81\x81", 80) == "\\U000e0041");  // tag
  CHECK(f::printable("\"quotes\" 'and' `more` %s", 80) == "\"quotes\" 'and' `more` %s");
}

TEST_CASE("format.a_backslash_is_doubled_so_that_no_two_texts_look_the_same") {
  CHECK(f::printable("\\n", 80) == "\\\\n");
  CHECK(f::printable("\\n", 80) != f::printable("\n", 80));
}

TEST_CASE("format.bytes_that_are_not_utf8_are_escaped_one_by_one") {
  CHECK(f::printable("\xFF\xFE", 80) == "\\xff\\xfe");
  CHECK(f::printable("\xC0\xAF", 80) == "\\xc0\\xaf");                    // overlong
  CHECK(f::printable("\xE0\x80\x80", 80) == "\\xe0\\x80\\x80");           // overlong
  CHECK(f::printable("\xED\xA0\x80", 80) == "\\xed\\xa0\\x80");           // surrogate
  CHECK(f::printable("\xF4\x90\x80\x80", 80) == "\\xf4\\x90\\x80\\x80");  // above 10FFFF
  CHECK(f::printable("\xE2\x82", 80) == "\\xe2\\x82");                    // cut short
  CHECK(f::printable("\xE2\x82\xAC", 80) == "\xE2\x82\xAC");
}

TEST_CASE("format.widths_of_characters") {
  CHECK(f::display_width("abc") == 3);
  CHECK(f::display_width("Gr\xC3\xB6\xC3\x9F"
                         "e") == 5);
  CHECK(f::display_width("e\xCC\x81") == 1);                    // combining accent
  CHECK(f::display_width("\xE6\xBC\xA2\xE5\xAD\x97") == 4);     // wide
  CHECK(f::display_width("\xEF\xBC\xA1") == 2);                 // fullwidth A
  CHECK(f::display_width("\xF0\x9F\x9A\x80") == 2);             // rocket
  CHECK(f::display_width("\u251C\u2500 \u2026 \u00B5s") == 7);  // what reports draw
}

TEST_CASE("format.widths_are_never_below_those_of_the_c_library") {
  if (!kprof_test::use_utf8_locale()) return;
  for (char32_t c = 0x20; c < 0x110000; ++c) {
    if ((c >= 0xD800 && c <= 0xDFFF) || f::is_unsafe(c)) continue;
    const int theirs = wcwidth(static_cast<wchar_t>(c));
    if (theirs <= static_cast<int>(f::width_of(c))) continue;
    INFO("U+" << std::hex << static_cast<unsigned>(c));
    CHECK(theirs <= static_cast<int>(f::width_of(c)));
  }
}

TEST_CASE("format.marks_need_something_to_stand_on_and_do_not_pile_up") {
  CHECK(f::printable("\xCC\x81"
                     "a",
                     80) == "\\u0301a");
  CHECK(f::printable("a \xCC\x81", 80) == "a \\u0301");
  CHECK(f::printable("e\xCC\x81\xCC\x82\xCC\x83\xCC\x84", 80) ==
        "e\xCC\x81\xCC\x82\xCC\x83\\u0304");
}

TEST_CASE("format.long_text_is_cut_with_an_ellipsis") {
  CHECK(f::printable("abcdef", 6) == "abcdef");
  CHECK(f::printable("abcdef", 5) == "abcd\u2026");
  CHECK(f::printable("abcdef", 5, true) == "ab...");
  CHECK(f::printable("abcdef", 1) == "\u2026");
  CHECK(f::printable("abcdef", 2, true) == "..");
  CHECK(f::printable("abcdef", 0).empty());
  CHECK(f::printable("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2", 5) ==
        "\xE6\xBC\xA2\xE5\xAD\x97\u2026");
  CHECK(f::printable("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2", 4) == "\xE6\xBC\xA2\u2026");
  CHECK(f::printable("ab\x1b"
                     "cd",
                     5) == "ab\u2026");  // an escape is shown whole or not at all
  CHECK(f::printable(std::string(10'000, 'x'), 10) == "xxxxxxxxx\u2026");
}

TEST_CASE("format.ascii_means_ascii") {
  CHECK(f::printable("Gr\xC3\xB6\xC3\x9F"
                     "e \xF0\x9F\x9A\x80",
                     80, true) == "Gr\\u00f6\\u00dfe \\U0001f680");
}

TEST_CASE("format.any_text_comes_out_as_utf8_of_the_width_asked") {
  std::mt19937 random(5);
  std::vector<std::string> texts = kprof_test::hostile_names();
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (std::size_t n = random() % 30; n > 0; --n)
      bytes += random() % 3 == 0 ? kprof_test::hostile_names()[random() % 18].substr(0, 3)
                                 : std::string(1, static_cast<char>(random()));
    texts.push_back(bytes);
  }
  for (const std::string& text : texts)
    for (const std::size_t width : {0U, 1U, 2U, 3U, 5U, 8U, 13U, 40U, 1000U})
      for (const bool ascii : {false, true}) {
        const std::string out = f::printable(text, width, ascii);
        INFO(out << " at " << width);
        REQUIRE(kprof_test::is_plain_text(out));
        REQUIRE(f::display_width(out) <= width);
        if (ascii) REQUIRE(kprof_test::is_ascii(out));
      }
}

TEST_CASE("format.the_notation_of_parameters_has_an_ascii_form") {
  using kprof::detail::ascii_notation;
  CHECK(ascii_notation("32\u00D73\u00D7224 \u2192 64, A\u1D40, 7\u2026") ==
        "32x3x224 -> 64, A^T, 7...");
  CHECK(ascii_notation("").empty());
  // Of other text nothing is known: printable() escapes it.
  CHECK(ascii_notation("\u00B5\xC3\xE2\x86") == "\u00B5\xC3\xE2\x86");
}

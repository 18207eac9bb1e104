// SPDX-License-Identifier: MIT
// The text that an operator makes of its parameters, and what it says of its fields.
#include <kprof/op.hpp>

#include "catch.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

using kprof::brief_text;
using kprof::field_name;
using kprof::detail::presentation;

namespace {

std::string str(kprof::text_view t) { return {t.data, t.size}; }
std::string str(const brief_text& t) { return str(t.text()); }

template <class Op>
presentation presented(const Op& params) {
  presentation out{};
  REQUIRE(kprof::detail::op_desc_of<Op>.present != nullptr);
  kprof::detail::op_desc_of<Op>.present(&params, out);
  return out;
}
template <class Op>
std::string brief_of(const Op& params) {
  const presentation p = presented(params);
  return {p.text, p.size};
}
std::string number(double x) { return str(brief_text{}.put(x)); }

struct Conv {
  std::int64_t N = 1, C = 3, H = 224, W = 224, K = 64, R = 7, S = 7;
  bool bias = false;
  kprof::dtype type = kprof::dtype::f16;
  constexpr void brief(brief_text& out) const {
    out.put(N).by(C).by(H).by(W).to(K).item(R).by(S);
    if (bias) out.item("bias");
  }
};
constexpr bool reads(const Conv& c, const char* text) {
  brief_text out;
  c.brief(out);
  return field_name{out.text()} == text;
}
static_assert(reads({.N = 32}, "32\u00D73\u00D7224\u00D7224 \u2192 64, 7\u00D77"));
static_assert(reads({.bias = true}, "1\u00D73\u00D7224\u00D7224 \u2192 64, 7\u00D77, bias"));

struct Attend {
  std::int64_t tokens = 1, heads = 1, window = -1;
  bool stored = false;
  kprof::pass_kind pass = kprof::pass_kind::fprop;
  constexpr void brief(brief_text& out) const {
    out.named("H", heads).word(stored ? "stored" : "flash").beside("tokens").beside("misspelt");
  }
  constexpr bool shows(field_name field) const {
    return field == "stored" ? pass == kprof::pass_kind::bprop : field != "window" || window != -1;
  }
};
struct Silent {
  int n = 0;
};
struct Hostile {
  int kind = 0;
  void brief(brief_text& out) const {
    switch (kind) {
      case 0: break;
      case 1: out.put("two\nlines\x1b[31m"); break;
      case 2:
        for (int i = 0; i < 10'000; ++i) out.put("x");
        break;
      case 3:
        for (int i = 0; i < 10'000; ++i) out.put("\u00D7");
        break;
#if defined(__cpp_exceptions)
      default: out.put("half"); throw std::runtime_error("no text");
#endif
    }
  }
};
struct vendor {
  void* handle = nullptr;
  int m = 1, n = 1;
};

}  // namespace

template <>
struct kprof::op_traits<vendor> {
  using fields = kprof::members<&vendor::m, &vendor::n>;
  static constexpr kprof::pass_kind pass(const vendor& v) {
    return v.m == 1 ? kprof::pass_kind::update : kprof::pass_kind::wgrad;
  }
  static constexpr void brief(const vendor& v, kprof::brief_text& out) { out.put(v.m).by(v.n); }
  static constexpr bool shows(const vendor& v, kprof::field_name field) {
    return field != "n" || v.n > 1;
  }
};

TEST_CASE("brief.numbers_are_written_exactly") {
  CHECK(str(brief_text{}.put(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808");
  CHECK(str(brief_text{}.put(std::numeric_limits<std::uint64_t>::max())) == "18446744073709551615");
  CHECK(str(brief_text{}.put(std::int8_t{-128}).by(0).by(std::uint8_t{255})) ==
        "-128\u00D70\u00D7255");
  CHECK(number(0) == "0");
  CHECK(number(1) == "1");
  CHECK(number(50304) == "50304");
  CHECK(number(-0.125) == "-0.125");
  CHECK(number(0.1) == "0.1");
  CHECK(number(3.14159) == "3.142");
  CHECK(number(0.0001) == "0.0001");
  CHECK(number(1.5e-6) == "1.5e-6");
  CHECK(number(1e-8) == "1e-8");
  CHECK(number(999'999'999'999'999) == "999999999999999");
  CHECK(number(2.5e15) == "2.5e15");
  CHECK(number(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(number(std::numeric_limits<double>::denorm_min()).size() <= 10);
  CHECK(number(std::numeric_limits<double>::max()) == "1.798e308");
}

TEST_CASE("brief.items_are_separated_only_from_what_stands_before_them") {
  CHECK(str(brief_text{}.item(3).item("bias")) == "3, bias");
  CHECK(str(brief_text{}.word("causal").named("B", 4)) == "causal B=4");
}

TEST_CASE("brief.the_descriptor_makes_the_text_of_the_bytes") {
  CHECK(brief_of(Conv{.N = 2}) == "2\u00D73\u00D7224\u00D7224 \u2192 64, 7\u00D77");
  CHECK(kprof::detail::op_desc_of<Silent>.present == nullptr);
}

TEST_CASE("brief.fields_without_meaning_and_beside_the_text_are_told_by_their_place") {
  const presentation forward = presented(Attend{.heads = 6});
  CHECK(brief_of(Attend{.heads = 6}) == "H=6 flash");
  CHECK(forward.beside == 0b1);      // tokens; a name that no field has changes nothing
  CHECK(forward.unshown == 0b1100);  // window, stored
  CHECK(presented(Attend{.window = 4, .pass = kprof::pass_kind::bprop}).unshown == 0);
}

TEST_CASE("brief.hostile_texts_are_cut_kept_or_given_up") {
  CHECK(brief_of(Hostile{0}).empty());
  CHECK(brief_of(Hostile{1}) == "two\nlines\x1b[31m");
  CHECK(brief_of(Hostile{2}) == std::string(117, 'x') + "\u2026");
  std::string crosses;
  for (int i = 0; i < 58; ++i) crosses += "\u00D7";  // 116 bytes: no character is halved
  CHECK(brief_of(Hostile{3}) == crosses + "\u2026");
  // 120 bytes have room.
  brief_text full;
  for (int i = 0; i < 120; ++i) full.put("x");
  CHECK(str(full) == std::string(120, 'x'));
#if defined(__cpp_exceptions)
  const presentation thrown = presented(Hostile{4});
  CHECK(thrown.failed == 1);
  CHECK(thrown.size == 0);
#endif
}

TEST_CASE("brief.a_foreign_struct_says_it_in_op_traits") {
  CHECK(brief_of(vendor{.m = 3, .n = 4}) == "3\u00D74");
  CHECK(presented(vendor{.m = 3, .n = 1}).unshown == 0b10);
  CHECK(kprof::detail::evaluate(vendor{.m = 1}).pass ==
        static_cast<std::uint8_t>(kprof::pass_kind::update));
  CHECK(kprof::detail::evaluate(vendor{.m = 2}).pass ==
        static_cast<std::uint8_t>(kprof::pass_kind::wgrad));
}

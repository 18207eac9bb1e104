// SPDX-License-Identifier: MIT

// Opens scopes of every kind; check_nvtx.py compares what an NVTX tool saw of them. Built as C++
// and, through nvtx_program.cu, as CUDA; with KPROF_TEST_WITH_SESSION the same scopes go through a
// session.
//   nvtx_program            the scopes
//   nvtx_program refuse     the same after refuse_nvtx()
// The last line on stdout says whether the guards are idle at the end.

#ifdef KPROF_TEST_WITH_SESSION
#include <kprof/kprof.hpp>
#else
#include <kprof/guard.hpp>
#include <kprof/nvtx.hpp>
#endif

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

enum color { red, green, blue };
enum class gappy : std::uint8_t { low, five = 5, high = 63 };
enum class sign : std::int8_t { minus = -1, zero, plus };
enum class wide : std::int64_t { below = -1, far = 40 };
enum class nameless : std::uint16_t {};
enum class signed_nameless : std::int8_t {};
enum class layout : std::uint32_t { nchw, nhwc };

struct point {
  std::int8_t tag = 0;
  double x = 0;  // after 7 bytes of padding
};
struct box {
  point corner;
  std::array<point, 2> others{};
  std::uint8_t last = 0;
};

struct Everything {
  static constexpr const char* name = "every field";
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  bool yes = false;
  bool no = false;
  float f = 0;
  double d = 0;
  long double ld = 0;
  color plain = red;
  gappy gaps = gappy::low;
  sign negative = sign::zero;
  wide broad = wide::far;
  nameless number = nameless{};
  signed_nameless drift = signed_nameless{};
  std::array<std::int64_t, 4> shape{};
  std::array<layout, 2> layouts{};
  std::array<std::array<std::int16_t, 3>, 2> matrix{};
  std::array<bool, 3> mask{};
  box inner;
  std::array<point, 2> points{};
  kprof::fixed_string<7> text;
  std::array<kprof::fixed_string<3>, 2> texts{};
  kprof::dtype type = kprof::dtype::unknown;
};

struct Conv {
  static constexpr const char* name = "conv2d";
  std::int64_t n = 1, c = 1, k = 1;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n * c * k; }
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{n} * c * size_of(type),
            .written = kprof::count{n} * k * size_of(type)};
  }
  constexpr bool valid() const { return n > 0 && c > 0 && k > 0; }
};
struct OnlyFlops {
  std::int32_t n = 0;
  constexpr std::uint64_t flops() const { return 3 * static_cast<std::uint64_t>(n); }
};
struct OnlyBytes {
  std::int32_t n = 0;
  constexpr kprof::traffic bytes() const { return {.read = n, .written = 2 * n}; }
};
struct Divides {
  std::int32_t n = 0, k = 1;
  __attribute__((no_sanitize("undefined"))) constexpr std::uint64_t flops() const {
    return static_cast<std::uint64_t>(n / k);
  }
};
struct NoFormula {
  std::array<std::int64_t, 20> shape{};  // more words than the guard has functions for
};
struct NoField {
  constexpr std::uint64_t flops() const { return 7; }
};
struct Throws {
  std::int64_t id = 0;
};
struct FromThread {
  std::int64_t thread = 0, call = 0;
};

// A struct that cannot be changed, whose fields are listed in another order than they lie in.
struct vendor_descriptor {
  std::int64_t first = 0;
  void* handle = nullptr;
  std::int32_t second = 0;
  std::int32_t third = 0;
};

}  // namespace

template <>
struct kprof::op_traits<vendor_descriptor> {
  static constexpr const char* name = "vendor";
  using fields = kprof::members<&vendor_descriptor::third, &vendor_descriptor::first>;
};

namespace {

void all_field_types() {
  Everything e;
  e.i8 = -128;
  e.i16 = -32768;
  e.i32 = -2147483647 - 1;
  e.i64 = INT64_MIN;
  e.u8 = 255;
  e.u16 = 65535;
  e.u32 = 4294967295U;
  e.u64 = UINT64_MAX;
  e.yes = true;
  e.f = 0.1F;
  e.d = -2.5e300;
  e.ld = 1.25L;
  e.plain = blue;
  e.gaps = gappy::five;
  e.negative = sign::minus;
  e.broad = wide::below;
  e.number = nameless{513};
  e.drift = signed_nameless{-5};
  e.shape = {1, -2, 3, -4};
  e.layouts = {layout::nhwc, layout::nchw};
  e.matrix = {{{1, 2, 3}, {4, 5, 6}}};
  e.mask = {true, false, true};
  e.inner = {{1, 1.5}, {{{2, 2.5}, {3, 3.5}}}, 9};
  e.points = {{{-4, 4.5}, {-5, 5.5}}};
  e.text = "abc";
  e.texts = {kprof::fixed_string<3>{"xyz!"}, kprof::fixed_string<3>{"q"}};
  e.type = kprof::dtype::bf16;
  { KPROF_OP(Everything, e); }
  e.plain = static_cast<color>(3);
  e.gaps = static_cast<gappy>(6);  // a value without a name
  e.text = "seven77";
  KPROF_OP(Everything, e);
}

void guards_and_formulas() {
  const Conv conv{.n = 2, .c = 3, .k = 5, .type = kprof::dtype::f16};
  KPROF_OP(Conv, conv);
  {
    KPROF_OP(Conv, {.n = 4});
    KPROF_OP(OnlyFlops, {.n = 11});
    const kprof::op_guard guard{OnlyBytes{.n = 10}};
  }
  { KPROF_OP(Conv, {.n = -1}); }                         // valid() says no
  { KPROF_OP(Conv, {.n = INT64_MAX, .c = 3, .k = 3}); }  // overflows
  { KPROF_OP(OnlyBytes, {.n = -1}); }                    // a negative count
  // a declared formula that really is 0
  { KPROF_OP(OnlyFlops, {.n = 0}); }
  { KPROF_OP(Divides, {.n = 6, .k = 2}); }
#if defined(__x86_64__)
  // stops the formula and not the program
  { KPROF_OP(Divides, {.n = 6, .k = 0}); }
#endif
  { KPROF_OP(NoFormula, {.shape = {1, 2, 3}}); }
  { KPROF_OP(NoField); }
  { KPROF_OP(vendor_descriptor, {.first = 1, .second = 2, .third = 3}); }
}

void regions() {
  KPROF_REGION("outer region");
  const std::string dynamic = std::string("layer ") + std::to_string(3);
  { KPROF_REGION(dynamic); }
  { KPROF_REGION(std::string_view("cut here").substr(0, 3)); }
  { KPROF_REGION(""); }
  { KPROF_REGION(static_cast<const char*>(nullptr)); }
  { const kprof::region_guard guard{"outer region"}; }
  // More names than are registered: the rest arrives as text. Then one of the first again.
  for (int i = 0; i < 1200; ++i) { KPROF_REGION("name " + std::to_string(i)); }
  KPROF_REGION("name 7");
}

void exceptions() {
#ifdef __cpp_exceptions
  try {
    KPROF_OP(Throws, {.id = 1});
    KPROF_REGION("inside");
    throw 1;
  } catch (int) {}
#else
  KPROF_OP(Throws, {.id = 1});
  KPROF_REGION("inside");
#endif
}

/// A session has its own rules for scopes out of order; what must hold in both is that the ranges
/// balance.
void out_of_order() {
  KPROF_REGION("out of order");
  auto first = kprof::begin(OnlyFlops{.n = 1});
  auto second = kprof::begin(OnlyFlops{.n = 2});
  kprof::end(first);  // closes both
  kprof::end(second);
  auto third = kprof::begin(OnlyFlops{.n = 3});
  auto copy = third;
  kprof::end(third);
  auto fourth = kprof::begin(OnlyFlops{.n = 4});  // at the same depth
  kprof::end(copy);                               // must not close it
  { KPROF_REGION("within 4"); }
  kprof::end(fourth);
  for (int i = 0; i < 3; ++i) {
    auto under = std::make_unique<kprof::context_guard>(kprof::context::current());
    auto fifth = kprof::begin(OnlyFlops{.n = 5});
    under.reset();  // in a session, closes what is inside
    kprof::end(fifth);
  }
}

/// Fresh threads, so that the scope which is closed on the wrong one and the one that is open there
/// are alike.
void on_another_thread() {
  std::thread([] {
    KPROF_REGION("owner");
    auto elsewhere = kprof::begin(OnlyFlops{.n = 5});
    std::thread([&elsewhere, here = kprof::context::current()] {
      const kprof::context_guard under{here};
      KPROF_REGION("other thread");
      KPROF_REGION("its second");
      kprof::end(elsewhere);  // must not close "its second"
      KPROF_REGION("its third");
    }).join();
  }).join();  // the owner's region closes what the other thread could not
}

void deep(int levels) {
  if (levels == 0) return;
  KPROF_REGION("deep");
  deep(levels - 1);
}

void threads() {
  std::vector<std::thread> all;
  std::atomic<int> ready{0};
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t, &ready] {
      ++ready;
      while (ready < 4) {}
      for (int i = 0; i < 50; ++i) {
        KPROF_OP(FromThread, {.thread = t, .call = i});
        KPROF_REGION("in thread");
      }
    });
  for (auto& thread : all) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "refuse") == 0) {
#ifndef KPROF_TEST_WITH_SESSION
    kprof::detail::refuse_nvtx();
#endif
  }
  threads();  // before anything else: all of them find NVTX not yet initialised
  all_field_types();
  guards_and_formulas();
  exceptions();
  out_of_order();
  on_another_thread();
  deep(100);
  regions();
#if KPROF_ENABLE
  std::printf("idle %d\n", static_cast<int>(kprof::detail::listener() == nullptr));
#else
  std::printf("idle 1\n");
#endif
  return 0;
}

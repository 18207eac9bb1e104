// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_DEFAULT_ARITHMETIC_HPP
#define KPROF_WRITE_DEFAULT_ARITHMETIC_HPP

// Keeps kprof's arithmetic and the program's apart. Included by whatever the program enters kprof
// by.

#include <kprof/build_options.hpp>

#include <fenv.h>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it lives, this thread computes as a program begins: it rounds to the nearest, and no
/// operation traps. Flags and modes of <cfenv> are afterwards as before.
class KPROF_DETAIL_LOCAL default_arithmetic {
 public:
  default_arithmetic() noexcept { enter(); }
  ~default_arithmetic() { leave(); }
  default_arithmetic(const default_arithmetic&) = delete;
  default_arithmetic& operator=(const default_arithmetic&) = delete;

  /// Around a call of the program's own code.
  void leave() noexcept {
    if (has_modes_) fesetenv(&before_);
    else put_flags();
  }
  void enter() noexcept {
    has_modes_ = !take_flags();
    if (!has_modes_) return;
    fegetenv(&before_);
    fesetenv(FE_DFL_ENV);
  }

 private:
#if defined(__x86_64__)
  // The functions of <fenv.h> take 100 ns. Where the modes are those of a program's begin only the
  // flags of MXCSR have to be put back: kprof's own arithmetic raises none of the x87's.
  static constexpr std::uint32_t no_flags = ~std::uint32_t{0x3F}, default_modes = 0x1F80;
  static constexpr std::uint16_t default_control = 0x37F;

  bool take_flags() noexcept {
    std::uint16_t control = 0;
    asm volatile("fnstcw %0" : "=m"(control));
    asm volatile("stmxcsr %0" : "=m"(flags_));
    return (flags_ & no_flags) == default_modes && control == default_control;
  }
  void put_flags() noexcept {
    std::uint32_t now = 0;
    asm volatile("stmxcsr %0" : "=m"(now));
    if (now != flags_) asm volatile("ldmxcsr %0" : : "m"(flags_));
  }
#else
  static bool take_flags() noexcept { return false; }
  void put_flags() noexcept {}
#endif

  std::uint32_t flags_ = 0;
  bool has_modes_ = false;
  fenv_t before_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

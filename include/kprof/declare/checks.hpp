// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_CHECKS_HPP
#define KPROF_DECLARE_CHECKS_HPP

// Refuses types that are no operators. Each reason is a static_assert whose message says what to
// do; the first that applies is the first error that the compiler prints. Included by op.hpp.
// Compile time only. tests/compile_fail expects each message in full.

#include <kprof/build_options.hpp>
#include <kprof/declare/reflect.hpp>
#include <kprof/declare/traits.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t max_params_size = 1024;
inline constexpr std::size_t max_params_alignment = 128;

template <class T>
constexpr bool check_fields() noexcept;

/// True where a field of type F, and all that F contains, is supported.
template <class F>
constexpr bool check_field() noexcept {
  using element = typename array_of<F>::element;
  if constexpr (array_of<F>::is_array) {
    return check_field<element>();
  } else if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> ||
                       std::is_null_pointer_v<F> || std::is_reference_v<F>) {
    static_assert(!std::is_same_v<F, F>,
                  "kprof: a parameter is a pointer, which means nothing once the call is over; "
                  "store what it points to: a value, a shape as std::array, a name as "
                  "kprof::fixed_string<N>");
    return false;
  } else if constexpr (std::is_array_v<F>) {
    static_assert(!std::is_same_v<F, F>,
                  "kprof: a parameter is a C array; use std::array<T, N> for numbers or "
                  "kprof::fixed_string<N> for text");
    return false;
  } else if constexpr (is_array_of_none<F>) {
    static_assert(
        !std::is_same_v<F, F>,
        "kprof: a parameter is a std::array without elements; give it a size or leave it out");
    return false;
  } else if constexpr (is_number<F> || is_fixed_string<F>::value) {
    return true;
  } else if constexpr (std::is_class_v<F> && std::is_aggregate_v<F> &&
                       std::is_trivially_copyable_v<F>) {
    return check_fields<F>();
  } else {
    static_assert(
        !std::is_same_v<F, F>,
        "kprof: a parameter has an unsupported type; use integers up to 64 bits, "
        "floating point, bool, enums, std::array of these, nested aggregates of these, or "
        "kprof::fixed_string<N>");
    return false;
  }
}

template <class T, std::size_t... Index>
constexpr bool check_each(std::index_sequence<Index...>) noexcept {
  return (check_field<typename field_list<T>::template type<Index>>() && ... && true);
}

/// Whether `names` has a name for each of `Count` fields. Names must be an array, which has a
/// length.
template <std::size_t Count, class Names>
constexpr bool fits_fields(const Names& names) noexcept {
  return std::is_convertible_v<decltype(names[0]), const char*> &&
         sizeof(Names) == Count * sizeof(const char*);
}

template <class T>
constexpr bool check_field_names() noexcept {
  constexpr bool fit = [] {
    if constexpr (requires { op_traits<T>::field_names[0]; })
      return fits_fields<field_list<T>::size>(op_traits<T>::field_names);
    else if constexpr (requires { T::field_names[0]; })
      return fits_fields<field_list<T>::size>(T::field_names);
    else return true;
  }();
  static_assert(fit,
                "kprof: field_names does not fit the fields; declare `static constexpr const char* "
                "field_names[]` with one name a field");
  return fit;
}

template <class List>
inline constexpr bool is_member_list = false;
template <auto... Members>
inline constexpr bool is_member_list<members<Members...>> =
    (std::is_member_object_pointer_v<decltype(Members)> && ... && true);

/// Checks the fields of an aggregate: an operator's parameters or a nested struct.
template <class T>
constexpr bool check_fields() noexcept {
  if constexpr (lists_fields<T>) {
    if constexpr (!is_member_list<typename declared_fields<T>::type>) {
      static_assert(!std::is_same_v<T, T>,
                    "kprof: fields is not a list of data members; write `using fields = "
                    "kprof::members<&T::a, ...>`, or rename the type");
      return false;
    } else if constexpr (field_list<T>::size > max_fields) {
      static_assert(
          !std::is_same_v<T, T>,
          "kprof: too many fields, the limit is 32; group some of them in a nested struct");
      return false;
    } else if constexpr (!check_field_names<T>()) {
      return false;
    } else {
      return check_each<T>(std::make_index_sequence<field_list<T>::size>{});
    }
  } else if constexpr (has_base<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: a parameter struct has a base class; make the base a member, or list the "
                  "fields with `using fields = kprof::members<&T::a, ...>`");
    return false;
  } else if constexpr (has_c_array<T>()) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: a parameter is a C array; use std::array<T, N> for numbers or "
                  "kprof::fixed_string<N> for text");
    return false;
  } else if constexpr (field_list<T>::size > max_fields) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: too many fields, the limit is 32; group some of them in a nested struct");
    return false;
  } else if constexpr (!check_field_names<T>()) {
    return false;
  } else {
    return check_each<T>(std::make_index_sequence<field_list<T>::size>{});
  }
}

template <class T>
constexpr bool check_struct() noexcept {
  if constexpr (!std::is_class_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: not an operator: an operator is a struct of parameters, such as `struct "
                  "Saxpy { std::int64_t n; };`");
    return false;
  } else if constexpr (!requires { sizeof(T); }) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: the operator is only declared here; include the header that defines it");
    return false;
  } else if constexpr (!std::is_trivially_copyable_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator must be trivially copyable; replace std::string by "
                  "kprof::fixed_string<N> and std::vector by std::array<T, N>");
    return false;
  } else if constexpr (!std::is_default_constructible_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator must be default constructible; give its fields default "
                  "values, and store a value where there is a reference");
    return false;
  } else if constexpr (!std::is_aggregate_v<T> && !lists_fields<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: not an operator: an operator is an aggregate; remove its constructors "
                  "and private fields, or list the fields in kprof::op_traits with `using fields = "
                  "kprof::members<&T::a, ...>`");
    return false;
  } else if constexpr (alignof(T) > max_params_alignment) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator's alignment is above 128 bytes; parameters need none, drop "
                  "the alignas");
    return false;
  } else if constexpr (sizeof(T) > max_params_size) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator's parameters take more than 1024 bytes; keep shapes and "
                  "flags, not data");
    return false;
  } else {
    return check_fields<T>();
  }
}

template <class Pointer>
concept points_to_function = std::is_member_function_pointer_v<Pointer> ||
    std::is_function_v<std::remove_pointer_t<Pointer>>;

// A function of that name which cannot be called as kprof calls it, such as `std::string brief()`:
// it would silently be none. Not where op_traits names a type of somebody else's.
#define KPROF_DETAIL_UNCALLED(piece)                              \
  template <class T>                                              \
  concept foreign_##piece##_function = requires {                 \
    requires points_to_function<decltype(&op_traits<T>::piece)>;  \
  };                                                              \
  template <class T>                                              \
  concept own_##piece##_function = !foreign_name<T> && requires { \
    requires points_to_function<decltype(&T::piece)>;             \
  };                                                              \
  template <class T>                                              \
  concept uncalled_##piece =                                      \
      !has_##piece<T> && (foreign_##piece##_function<T> || own_##piece##_function<T>);
KPROF_DETAIL_UNCALLED(flops)
KPROF_DETAIL_UNCALLED(bytes)
KPROF_DETAIL_UNCALLED(valid)
KPROF_DETAIL_UNCALLED(arithmetic)
KPROF_DETAIL_UNCALLED(threads)
KPROF_DETAIL_UNCALLED(brief)
KPROF_DETAIL_UNCALLED(shows)
#undef KPROF_DETAIL_UNCALLED

template <class T>
constexpr bool check_formulas() noexcept {
  if constexpr (mutable_flops<T> || mutable_bytes<T> || mutable_valid<T> || mutable_arithmetic<T> ||
                mutable_threads<T> || mutable_brief<T> || mutable_shows<T>) {
    static_assert(
        !std::is_same_v<T, T>,
        "kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called "
        "on constant parameters; declare them const");
    return false;
  } else if constexpr (uncalled_brief<T>) {
    static_assert(
        !std::is_same_v<T, T>,
        "kprof: brief() has the wrong parameters, so nothing would call it; declare `void "
        "brief(kprof::brief_text& out) const`, which writes to `out`");
    return false;
  } else if constexpr (uncalled_shows<T>) {
    static_assert(
        !std::is_same_v<T, T>,
        "kprof: shows() has the wrong parameters, so nothing would call it; declare `bool "
        "shows(kprof::field_name field) const`");
    return false;
  } else if constexpr (uncalled_flops<T> || uncalled_bytes<T> || uncalled_valid<T> ||
                       uncalled_arithmetic<T> || uncalled_threads<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: flops(), bytes(), valid(), arithmetic() and threads() are called without "
                  "arguments, those of kprof::op_traits with the operator; declare them so, or "
                  "rename the function");
    return false;
  } else if constexpr (misspells_flops<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: the operator has no flops(), but a function whose name differs a little; "
                  "kprof calls flops()");
    return false;
  } else if constexpr (misspells_bytes<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: the operator has no bytes(), but a function whose name differs a little; "
                  "kprof calls bytes()");
    return false;
  } else {
    if constexpr (has_flops<T>) {
      static_assert(
          is_count<decltype(call_flops(T{}))>,
          "kprof: flops() has the wrong return type; return std::uint64_t or kprof::count");
      if constexpr (is_count<decltype(call_flops(T{}))>)
        static_assert(constant_flops<T>,
                      "kprof: flops() is not usable in a constant expression; declare it "
                      "constexpr, and give the fields default values for which it is defined");
    }
    if constexpr (has_bytes<T>) {
      static_assert(std::is_same_v<decltype(call_bytes(T{})), traffic>,
                    "kprof: bytes() has the wrong return type; return kprof::traffic{.read = ..., "
                    ".written = ...}");
      if constexpr (std::is_same_v<decltype(call_bytes(T{})), traffic>)
        static_assert(constant_bytes<T>,
                      "kprof: bytes() is not usable in a constant expression; declare it "
                      "constexpr, and give the fields default values for which it is defined");
    }
    if constexpr (has_valid<T>) {
      static_assert(std::is_same_v<decltype(call_valid(T{})), bool>,
                    "kprof: valid() has the wrong return type; return bool");
      static_assert(constant_valid<T>,
                    "kprof: valid() is not usable in a constant expression; declare it constexpr");
    }
    if constexpr (has_arithmetic<T>) {
      static_assert(std::is_same_v<decltype(call_arithmetic(T{})), arithmetic>,
                    "kprof: arithmetic() has the wrong return type; return kprof::arithmetic{.type "
                    "= ..., .on = ...}");
      static_assert(
          constant_arithmetic<T>,
          "kprof: arithmetic() is not usable in a constant expression; declare it constexpr");
    }
    if constexpr (has_threads<T>) {
      using type = decltype(call_threads(T{}));
      static_assert(std::is_integral_v<type> && !std::is_same_v<type, bool>,
                    "kprof: threads() has the wrong return type; return a number of threads, an "
                    "integer");
      static_assert(
          constant_threads<T>,
          "kprof: threads() is not usable in a constant expression; declare it constexpr");
    }
    if constexpr (has_shows<T>)
      static_assert(
          std::is_same_v<decltype(call_shows(T{}, std::declval<const kprof::field_name&>())), bool>,
          "kprof: shows() has the wrong return type; return bool");
    if constexpr (foreign_name<T>)
      static_assert(std::is_convertible_v<decltype(op_traits<T>::name), const char*>,
                    "kprof: name has the wrong type; declare `static constexpr const char* name`");
    else if constexpr (own_name<T>)
      static_assert(std::is_convertible_v<decltype(T::name), const char*>,
                    "kprof: name has the wrong type; declare `static constexpr const char* name`");
    return true;
  }
}

/// True where T is an operator. Where it is none, a static_assert says why.
template <class T>
constexpr bool check_operator() noexcept {
  if constexpr (check_struct<T>()) return check_formulas<T>();
  else return false;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

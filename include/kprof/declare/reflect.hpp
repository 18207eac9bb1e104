// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_REFLECT_HPP
#define KPROF_DECLARE_REFLECT_HPP

// The fields of a parameter struct: their number, types and addresses, counted by Boost.PFR or
// listed by the author; and what checks.hpp asks before it refuses a struct. Compile time only.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/declare/extent.hpp>
#include <kprof/declare/field_pointer.hpp>
#include <kprof/declare/fixed_string.hpp>

#include <boost/pfr/tuple_size.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

KPROF_DETAIL_BEGIN

/// The operator interface of a struct that cannot be changed: specialise it and give it the members
/// an operator has, as static members: `name`, `flops(const T&)`, `bytes(const T&)`, `valid(const
/// T&)`, `arithmetic(const T&)`, `field_names`, and `fields`, a kprof::members list of the fields
/// that count as parameters.
template <class T>
struct op_traits {};

/// A list of data members, for op_traits<T>::fields or T::fields: only these are parameters, in
/// this order. It admits structs with bases, pointers or C arrays, as long as the listed members
/// are of supported types.
template <auto... Members>
struct members {};

namespace detail {

template <class T>
struct is_fixed_string : std::false_type {};
template <std::size_t N>
struct is_fixed_string<fixed_string<N>> : std::true_type {};

/// std::array<T, N>, recognised by its shape: its header would be as large as all else here.
template <class F>
struct array_of {
  using element = F;
  static constexpr std::size_t extent = 0;
  static constexpr bool is_array = false;
};
template <template <class, std::size_t> class Array, class T, std::size_t N>
  requires(N > 0 && sizeof(Array<T, N>) == N * sizeof(T) &&
           std::is_same_v<typename Array<T, N>::value_type, T>)
struct array_of<Array<T, N>> {
  using element = typename array_of<T>::element;
  static constexpr std::size_t extent = N * (array_of<T>::is_array ? array_of<T>::extent : 1);
  static constexpr bool is_array = true;
};

template <class F>
inline constexpr bool is_array_of_none = false;
template <template <class, std::size_t> class Array, class T>
  requires std::is_same_v<typename Array<T, 0>::value_type, T>
inline constexpr bool is_array_of_none<Array<T, 0>> = true;

// Where an operator's optional pieces are declared: in op_traits<T> if it is specialised with them,
// else in T.
template <class T>
struct declared_fields {
  using type = void;
};
template <class T>
  requires requires { typename op_traits<T>::fields; }
struct declared_fields<T> {
  using type = typename op_traits<T>::fields;
};
template <class T>
  requires(
      !requires { typename op_traits<T>::fields; } && requires { typename T::fields; })
struct declared_fields<T> {
  using type = typename T::fields;
};

template <class T>
inline constexpr bool lists_fields = !std::is_void_v<typename declared_fields<T>::type>;

/// Converts to any base of T but not to T itself.
template <class T>
struct any_base_of {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  constexpr operator B() const noexcept;
};
template <class T>
inline constexpr bool has_base = requires {
  T{any_base_of<T>{}};
};

/// Converts to any type but an array, so that it initialises one field whole.
struct anything {
  template <class V>
    requires(!std::is_array_v<V>)
  constexpr operator V() const noexcept;
};
template <std::size_t>
using any_field = anything;

template <class T>
inline constexpr bool has_two_initialisers = requires {
  T{anything{}, anything{}};
};

/// The number of initialisers T takes; for an aggregate without bases and C arrays, the number of
/// its fields.
template <class T>
constexpr std::size_t count_initialisers() noexcept {
  // checks.hpp refuses a type that is no aggregate, and clang would take half a minute to count its
  // initialisers.
  if constexpr (std::is_empty_v<T> || !std::is_aggregate_v<T>) return 0;
  // nvcc's front end cannot compile Boost.PFR's search for a base class in a struct of one field.
  else if constexpr (!has_two_initialisers<T>) return 1;
  else return boost::pfr::tuple_size_v<T>;
}

// Finds C arrays, whose elements count as fields because their braces may be left out. Empty braces
// always initialise a whole field: in the place of the I-th initialiser they leave too many
// initialisers behind them if the I-th begins an array. An array of one element takes one
// initialiser and reaches check_field() as an array.
template <class T, class Before, class After>
inline constexpr bool c_array_between = false;
template <class T, std::size_t... B, std::size_t... A>
inline constexpr bool c_array_between<T, std::index_sequence<B...>, std::index_sequence<A...>> =
    requires {
  T{any_field<B>{}..., {}};
}
&&!requires { T{any_field<B>{}..., {}, any_field<A>{}...}; };
template <class T, std::size_t Index = 0>
constexpr bool has_c_array() noexcept {
  constexpr std::size_t count = count_initialisers<T>();
  if constexpr (Index >= count || Index > max_fields) return false;
  else if constexpr (c_array_between<T, std::make_index_sequence<Index>,
                                     std::make_index_sequence<count - Index - 1>>)
    return true;
  else return has_c_array<T, Index + 1>();
}

/// The fields of T as the compiler lays them out.
template <class T, class List = typename declared_fields<T>::type>
struct field_list {
  static constexpr std::size_t size = count_initialisers<T>();
  template <std::size_t Index>
  using type = std::remove_const_t<
      std::remove_pointer_t<decltype(field_pointer<Index, size>(std::declval<const T&>()))>>;
  template <std::size_t Index>
  static const void* address(const T& object) noexcept {
    return field_pointer<Index, size>(object);
  }
};
template <std::size_t Index, auto First, auto... Rest>
struct nth_value : nth_value<Index - 1, Rest...> {};
template <auto First, auto... Rest>
struct nth_value<0, First, Rest...> {
  static constexpr auto value = First;
};
template <class Pointer>
struct member_type;
template <class C, class M>
struct member_type<M C::*> {
  using type = M;
};

/// The fields of T that its author listed.
template <class T, auto... Members>
struct field_list<T, members<Members...>> {
  static constexpr std::size_t size = sizeof...(Members);
  template <std::size_t Index>
  using member = nth_value<Index, Members...>;
  template <std::size_t Index>
  using type = typename member_type<
      std::remove_const_t<decltype(nth_value<Index, Members...>::value)>>::type;
  template <std::size_t Index>
  static const void* address(const T& object) noexcept {
    return &(object.*nth_value<Index, Members...>::value);
  }
};

template <class F>
constexpr field_kind kind_of() noexcept {
  if constexpr (std::is_same_v<F, bool>) return field_kind::boolean;
  else if constexpr (std::is_enum_v<F>) return field_kind::enumeration;
  else if constexpr (std::is_same_v<F, extent>) return field_kind::signed_integer;
  else if constexpr (std::is_floating_point_v<F>) return field_kind::floating;
  else if constexpr (std::is_integral_v<F>)
    return std::is_signed_v<F> ? field_kind::signed_integer : field_kind::unsigned_integer;
  else if constexpr (is_fixed_string<F>::value) return field_kind::string;
  else return field_kind::aggregate;
}

template <class F>
inline constexpr bool is_number = ((std::is_integral_v<F> || std::is_same_v<F, float> ||
                                    std::is_same_v<F, double> || std::is_same_v<F, long double>) ||
                                   std::is_enum_v<F> ||
                                   std::is_same_v<F, extent>)&&sizeof(F) <= 16 &&
                                  !(std::is_integral_v<F> && sizeof(F) > 8);

struct reflection_probe {
  std::int64_t value;
  float field_pointer;
  bool last;
};
static_assert(boost::pfr::tuple_size_v<reflection_probe> == 3,
              "kprof: Boost.PFR miscounts the fields of a known struct with this compiler");
static_assert(std::is_same_v<field_list<reflection_probe>::type<1>, float>,
              "kprof: the type of a known field is mistaken with this compiler");

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_TRAITS_HPP
#define KPROF_DECLARE_TRAITS_HPP

// Finds the optional members of an operator, in op_traits<T> first and then in T itself, and gives
// each its default. Compile time, except evaluate(), which runs the formulas on parameters.

#include <kprof/build_options.hpp>
#include <kprof/declare/brief.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/declare/reflect.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

// A variable, not T{}: inside a requires-expression nvcc's front end drops the default member
// initialisers of T{}.
template <class T>
inline constexpr T default_params{};

#define KPROF_DETAIL_PIECE(piece, foreign, own)                                              \
  template <class T>                                                                         \
  concept foreign_##piece = requires(const T& p, brief_text& out, field_name field) {        \
    op_traits<T>::piece foreign;                                                             \
  };                                                                                         \
  template <class T>                                                                         \
  concept own_##piece = requires(const T& p, brief_text& out, field_name field) {            \
    p.piece own;                                                                             \
  };                                                                                         \
  /* Not callable on a const object: a mistake that would silently read as "no formula". */  \
  template <class T>                                                                         \
  concept mutable_##piece = !foreign_##piece<T> && !own_##piece<T> &&                        \
                            requires(T & p, brief_text & out, field_name field) {            \
    p.piece own;                                                                             \
  };                                                                                         \
  template <class T>                                                                         \
  concept has_##piece = foreign_##piece<T> || own_##piece<T>;                                \
  template <class T>                                                                         \
  constexpr auto call_##piece(const T& p, auto&... more) {                                   \
    if constexpr (foreign_##piece<T>) return op_traits<T>::piece(p, more...);                \
    else return p.piece(more...);                                                            \
  }                                                                                          \
  template <class T>                                                                         \
  concept constant_##piece = requires {                                                      \
    typename std::bool_constant<(static_cast<void>(call_##piece(default_params<T>)), true)>; \
  };

KPROF_DETAIL_PIECE(flops, (p), ())
KPROF_DETAIL_PIECE(bytes, (p), ())
KPROF_DETAIL_PIECE(valid, (p), ())
KPROF_DETAIL_PIECE(arithmetic, (p), ())
KPROF_DETAIL_PIECE(threads, (p), ())
KPROF_DETAIL_PIECE(pass, (p), ())
KPROF_DETAIL_PIECE(brief, (p, out), (out))
KPROF_DETAIL_PIECE(shows, (p, field), (field))
#undef KPROF_DETAIL_PIECE

// Names next to those of the formulas: they would silently read as "no formula" too.
// Not where op_traits names a type of somebody else's.
#define KPROF_DETAIL_NEAR(name)                \
  template <class T>                           \
  concept near_##name = requires(const T& p) { \
    p.name();                                  \
  };
KPROF_DETAIL_NEAR(flop)
KPROF_DETAIL_NEAR(Flops)
KPROF_DETAIL_NEAR(FLOPs)
KPROF_DETAIL_NEAR(FLOPS)
KPROF_DETAIL_NEAR(byte)
KPROF_DETAIL_NEAR(Bytes)
#undef KPROF_DETAIL_NEAR

template <class T>
inline constexpr bool is_count = std::is_same_v<T, count> ||
                                 (std::is_integral_v<T> && !std::is_same_v<T, bool>);

constexpr text_view text_of(const char* zero_terminated) noexcept {
  std::uint32_t n = 0;
  while (zero_terminated[n] != '\0') ++n;
  return {zero_terminated, n};
}

constexpr bool same_text(text_view a, text_view b) noexcept {
  if (a.size != b.size) return false;
  for (std::uint32_t i = 0; i < a.size; ++i)
    if (a.data[i] != b.data[i]) return false;
  return true;
}

template <class T>
constexpr const char* printed_type() noexcept {
  return __PRETTY_FUNCTION__;
}

/// The type's name without namespaces, as the compiler prints it: `Conv2d`, `Gemm<float>`.
template <class T>
constexpr text_view type_name() noexcept {
  const text_view all = text_of(printed_type<T>());
  std::uint32_t from = 0;
  while (from + 4 < all.size &&
         !(all.data[from] == 'T' && all.data[from + 1] == ' ' && all.data[from + 2] == '='))
    ++from;
  from += 4;
  // g++ closes with "]" or goes on with "; ..."; clang closes with "]".
  std::uint32_t to = from;
  int depth = 0;
  while (to < all.size) {
    const char c = all.data[to];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}' || (c == ']' && depth > 0)) --depth;
    else if (depth == 0 && (c == ']' || c == ';')) break;
    ++to;
  }
  depth = 0;
  std::uint32_t start = from;
  for (std::uint32_t i = from; i + 1 < to; ++i) {
    const char c = all.data[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    else if (c == '>' || c == ')' || c == '}') --depth;
    else if (depth == 0 && c == ':' && all.data[i + 1] == ':') start = i + 2;
  }
  return {all.data + start, to - start};
}

template <class T>
concept foreign_name = requires {
  op_traits<T>::name;
};
template <class T>
concept misspells_flops = !has_flops<T> && !foreign_name<T> &&
                          (near_flop<T> || near_Flops<T> || near_FLOPs<T> || near_FLOPS<T>);
template <class T>
concept misspells_bytes = !has_bytes<T> && !foreign_name<T> && (near_byte<T> || near_Bytes<T>);
template <class T>
// a field may be called name
concept own_name = requires {
  &T::name;
}
&&!std::is_member_pointer_v<decltype(&T::name)>;

template <class T>
constexpr text_view operator_name() noexcept {
  if constexpr (foreign_name<T>) return text_of(op_traits<T>::name);
  else if constexpr (own_name<T>) return text_of(T::name);
  else return type_name<T>();
}

/// The first field of type Field; Field{}, which is `unknown`, where there is none. The dtype an
/// operator computes in when it declares no arithmetic(), and its pass when it declares no pass().
template <class Field, class T, std::size_t Index = 0>
constexpr Field first_of(const T& p) noexcept {
  if constexpr (!std::is_void_v<typename declared_fields<T>::type>) return Field{};
  else if constexpr (Index == field_list<T>::size) return Field{};
  else if constexpr (std::is_same_v<typename field_list<T>::template type<Index>, Field>)
    return *field_pointer<Index, field_list<T>::size>(p);
  else return first_of<Field, T, Index + 1>(p);
}

template <class T>
constexpr pass_kind declared_pass(const T& p) noexcept {
  if constexpr (!has_pass<T>) return first_of<pass_kind>(p);
  else if constexpr (std::is_same_v<decltype(call_pass(p)), pass_kind>) return call_pass(p);
  // a struct may have a pass() that means another thing
  else return pass_kind::unknown;
}

/// How the parameters are shown; `fields` are those of T.
template <class T>
constexpr void present(const T& p, const struct_desc& fields, presentation& out) {
  brief_text brief(&fields);
  if constexpr (has_brief<T>) call_brief(p, brief);
  out = brief.said();
  if constexpr (has_shows<T>)
    for (std::uint32_t i = 0; i < fields.field_count && i < 64; ++i) {
      const field_name field{fields.fields[i].name};
      if (!call_shows(p, field)) out.unshown |= std::uint64_t{1} << i;
    }
}

// A formula of plain integers cannot report an overflow: a value in the upper half of the range is
// taken for a negative or wrapped one.
constexpr std::uint64_t checked(count c, bool& valid) noexcept {
  if (!c.valid() || c.value() >> 63U != 0) valid = false;
  return c.value();
}
template <class T>
constexpr count as_count(T value, bool& valid) noexcept {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if (value < 0) {
      valid = false;
      return 0;
    }
  }
  return value;
}

/// Whether a parameter, or one inside it, is an integer that did not fit. Operators without such
/// parameters are not searched: networks of them are evaluated by the compiler, in so many steps.
template <class F>
constexpr bool holds_extent() noexcept {
  using element = typename array_of<F>::element;
  if constexpr (kind_of<element>() != field_kind::aggregate) return std::is_same_v<element, extent>;
  else return []<std::size_t... Index>(std::index_sequence<Index...>) {
      return (holds_extent<typename field_list<element>::template type<Index>>() || ...);
    }
  (std::make_index_sequence<field_list<element>::size>{});
}
template <class F>
constexpr bool is_out_of_range(const F& field) noexcept {
  if constexpr (std::is_same_v<F, extent>) return field == extent::out_of_range;
  else if constexpr (!holds_extent<F>()) return false;
  else if constexpr (array_of<F>::is_array) {
    bool any = false;
    for (std::size_t i = 0; i < sizeof(F) / sizeof(field[0]); ++i) any |= is_out_of_range(field[i]);
    return any;
  } else return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      if constexpr (lists_fields<F>)
        return (is_out_of_range(field.*field_list<F>::template member<Index>::value) || ...);
      else return (is_out_of_range(*field_pointer<Index, sizeof...(Index)>(field)) || ...);
    }
  (std::make_index_sequence<field_list<F>::size>{});
}

/// The formulas of T for one set of parameters. A row that is not valid has no numbers.
template <class T>
constexpr work evaluate(const T& p) {
  work out{};
  // In a constant expression an extent out of range has not compiled.
  bool valid = __builtin_is_constant_evaluated() || !is_out_of_range(p);
  if constexpr (has_valid<T>) valid = valid && call_valid(p);
  out.has_flops = has_flops<T>;
  out.has_bytes = has_bytes<T>;
  if (valid) {
    if constexpr (has_flops<T>) out.flops = checked(as_count(call_flops(p), valid), valid);
    if constexpr (has_bytes<T>) {
      const traffic t = call_bytes(p);
      out.read = checked(t.read, valid);
      out.written = checked(t.written, valid);
      checked(t.total(), valid);
    }
    if constexpr (has_arithmetic<T>) {
      const arithmetic a = call_arithmetic(p);
      out.type = static_cast<std::uint8_t>(a.type);
      out.on = static_cast<std::uint8_t>(a.on);
    } else {
      out.type = static_cast<std::uint8_t>(first_of<dtype>(p));
    }
    out.pass = static_cast<std::uint8_t>(declared_pass(p));
    if constexpr (has_threads<T>) {
      const auto threads = call_threads(p);  // none or fewer: not known
      if (threads > 0)
        out.threads =
            std::uint64_t(threads) < all_cpus ? static_cast<std::uint32_t>(threads) : all_cpus;
    }
  }
  if (!valid) out.flops = out.read = out.written = 0;
  out.valid = valid;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

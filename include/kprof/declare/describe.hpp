// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DESCRIBE_HPP
#define KPROF_DECLARE_DESCRIBE_HPP

// Builds the run-time description of a parameter struct, once a type, at its first use. It takes
// the names of fields and enumerators from what the compiler prints for a template argument. That
// is read at run time only: in a constant expression nvcc's front end prints another text than the
// host compiler that builds the code.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/declare/reflect.hpp>
#include <kprof/declare/traits.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

template <class T>
struct holder {
  T value;
};
template <class T>
struct named_pointer {
  const T* pointer;
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
// Enumerators are probed beyond the range of an enum without a fixed type.
#pragma GCC diagnostic ignored "-Wconversion"
#endif

// Never defined: only the addresses of its fields are named.
template <class T>
extern const holder<T> imaginary;

template <auto Pointer>
const char* printed() noexcept {
  return __PRETTY_FUNCTION__;
}
template <class E, E... Values>
const char* printed_values() noexcept {
  return __PRETTY_FUNCTION__;
}

template <class T, std::size_t Index>
const char* printed_field() noexcept {
  if constexpr (lists_fields<T>) {
    return printed<field_list<T>::template member<Index>::value>();
  } else {
    using type = typename field_list<T>::template type<Index>;
    return printed<named_pointer<type>{
        field_pointer<Index, field_list<T>::size>(imaginary<T>.value)}>();
  }
}

constexpr bool in_identifier(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// The last identifier in what the compiler printed: "... &imaginary<Op>.value.Op::alpha)}]" gives
/// "alpha".
inline text_view last_identifier(const char* printed_text) noexcept {
  const text_view all = text_of(printed_text);
  std::uint32_t to = all.size;
  while (to > 0 && !in_identifier(all.data[to - 1])) --to;
  std::uint32_t from = to;
  while (from > 0 && in_identifier(all.data[from - 1])) --from;
  return {all.data + from, to - from};
}

/// Whether this compiler's text gives the names of a known struct. Where it does not, fields are
/// called field01, field02, ...
KPROF_DETAIL_LOCAL inline bool names_can_be_read() noexcept {
  static const bool readable =
      same_text(last_identifier(printed_field<reflection_probe, 0>()), text_of("value")) &&
      same_text(last_identifier(printed_field<reflection_probe, 1>()), text_of("field_pointer")) &&
      same_text(last_identifier(printed_field<reflection_probe, 2>()), text_of("last"));
  return readable;
}

template <class E, long long V>
concept enumerable = requires {
  typename std::integral_constant<E, static_cast<E>(V)>;
};

// How many values are probed for enumerators: -1 to 63, or what fits an enum without a fixed
// underlying type.
template <class E>
constexpr std::size_t probed_values() noexcept {
  if constexpr (std::is_same_v<std::underlying_type_t<E>, bool>) return 2;
  else if constexpr (requires { E{0}; }) return 64;
  else if constexpr (enumerable<E, 63>) return 64;
  else if constexpr (enumerable<E, 15>) return 16;
  else if constexpr (enumerable<E, 7>) return 8;
  else if constexpr (enumerable<E, 3>) return 4;
  else return 2;
}
template <class E>
inline constexpr long long first_value = std::is_signed_v<std::underlying_type_t<E>>&& requires {
  E{0};
}
? -1 : 0;

template <class E, std::size_t... Index>
const char* printed_enum(std::index_sequence<Index...>) noexcept {
  return printed_values<E, static_cast<E>(first_value<E> + static_cast<long long>(Index))...>();
}

/// The enumerators of E that have a name.
template <class E>
struct KPROF_DETAIL_LOCAL enum_storage {
  static constexpr std::size_t capacity = probed_values<E>() + (first_value<E> < 0 ? 1 : 0);
  enumerator list[capacity];
  enum_desc desc;

  enum_storage() noexcept
      : list{}, desc{type_name<E>(), std::is_signed_v<std::underlying_type_t<E>>, 0, list} {
    // "... {red, ns::green, (color)2}]" or "... <red, ...>]": a name is a token that does not begin
    // with a cast.
    const char* p = printed_enum<E>(std::make_index_sequence<capacity>{});
    const char* start = p;
    for (; *p != '\0'; ++p)
      if (p[0] == 'V' && p[1] == 'a' && p[2] == 'l' && p[3] == 'u' && p[4] == 'e' && p[5] == 's' &&
          p[6] == ' ' && p[7] == '=')
        start = p + 9;
    p = *start == '\0' ? start : start + 1;
    for (std::size_t i = 0; i < capacity && *p != '\0'; ++i) {
      const char* token = p;
      while (*p != ',' && *p != '}' && *p != '>' && *p != ']' && *p != '\0') {
        // "(<unnamed>::anon)0"
        if (*p == '<' && token[0] == '(')
          while (*p != '>' && *p != '\0') ++p;
        // "<unnamed>::anon::q"
        if (*p == '<')
          while (*p != '>' && *p != '\0') ++p;
        if (*p == '{')
          while (*p != '}' && *p != '\0') ++p;
        ++p;
      }
      if (*token != '(' || token[1] == 'a')
        add(first_value<E> + static_cast<long long>(i), token, p);
      if (*p == ',') ++p;
      while (*p == ' ') ++p;
    }
  }

 private:
  void add(long long value, const char* from, const char* to) noexcept {
    const char* name = to;
    while (name > from && in_identifier(name[-1])) --name;
    if (name == to || (*name >= '0' && *name <= '9')) return;
    list[desc.size++] = {value, {name, static_cast<std::uint32_t>(to - name)}};
  }
};

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

template <class E>
KPROF_DETAIL_LOCAL const enum_desc& describe_enum() noexcept {
  static const enum_storage<E> storage;
  return storage.desc;
}

template <class T>
KPROF_DETAIL_LOCAL const struct_desc& describe_struct() noexcept;

template <class T, std::size_t Index>
KPROF_DETAIL_LOCAL text_view field_name() noexcept {
  if constexpr (requires { op_traits<T>::field_names; })
    return text_of(op_traits<T>::field_names[Index]);
  else if constexpr (requires { T::field_names; }) return text_of(T::field_names[Index]);
  else if (names_can_be_read()) return last_identifier(printed_field<T, Index>());
  else {
    static const char digits[] = {'f',
                                  'i',
                                  'e',
                                  'l',
                                  'd',
                                  static_cast<char>('0' + (Index + 1) / 10),
                                  static_cast<char>('0' + (Index + 1) % 10),
                                  '\0'};
    return text_of(digits);
  }
}

template <class T>
struct KPROF_DETAIL_LOCAL struct_storage {
  static constexpr std::size_t size = field_list<T>::size;
  field_desc fields[size == 0 ? 1 : size];
  struct_desc desc;

  struct_storage() noexcept
      : fields{},
        desc{type_name<T>(), sizeof(T), static_cast<std::uint32_t>(size), fields, &sample()} {
    fill(std::make_index_sequence<size>{});
  }

 private:
  template <std::size_t... Index>
  void fill(std::index_sequence<Index...>) noexcept {
    ((fields[Index] = describe_field<Index>(sample())), ...);
  }
  static const T& sample() noexcept {
    static const T object{};
    return object;
  }
  template <std::size_t Index>
  static field_desc describe_field(const T& sample) noexcept {
    using type = typename field_list<T>::template type<Index>;
    using element = typename array_of<type>::element;
    field_desc f{};
    f.name = field_name<T, Index>();
    f.offset = static_cast<std::uint32_t>(
        static_cast<const char*>(field_list<T>::template address<Index>(sample)) -
        reinterpret_cast<const char*>(&sample));
    f.size = sizeof(element);
    f.extent = static_cast<std::uint32_t>(array_of<type>::extent);
    f.kind = kind_of<element>();
    if constexpr (kind_of<element>() == field_kind::aggregate)
      f.nested = &describe_struct<element>();
    if constexpr (kind_of<element>() == field_kind::enumeration)
      f.enumerators = &describe_enum<element>();
    return f;
  }
};

template <class T>
KPROF_DETAIL_LOCAL const struct_desc& describe_struct() noexcept {
  static const struct_storage<T> storage;
  return storage.desc;
}

template <class T>
struct KPROF_DETAIL_LOCAL describe_op {
  static text_view name() noexcept { return operator_name<T>(); }
  static const struct_desc& params() noexcept { return describe_struct<T>(); }
  static void evaluate(const void* bytes, work& out) noexcept {
#if defined(__cpp_exceptions)
    try {
      out = detail::evaluate(*static_cast<const T*>(bytes));
    } catch (...) {
      out = {};
      out.has_flops = has_flops<T>;
      out.has_bytes = has_bytes<T>;
    }
#else
    out = detail::evaluate(*static_cast<const T*>(bytes));
#endif
  }
  static void present(const void* bytes, presentation& out) noexcept {
#if defined(__cpp_exceptions)
    try {
      detail::present(*static_cast<const T*>(bytes), params(), out);
    } catch (...) {
      out = {};
      out.failed = 1;
    }
#else
    detail::present(*static_cast<const T*>(bytes), params(), out);
#endif
  }
  static constexpr decltype(op_desc::present) presenter() noexcept {
    if constexpr (has_brief<T> || has_shows<T>) return &present;
    else return nullptr;
  }
};

/// The descriptor of T, one a module.
template <class T>
KPROF_DETAIL_LOCAL inline constexpr op_desc op_desc_of{
    std::is_empty_v<T> ? 0U : static_cast<std::uint32_t>(sizeof(T)),
    0U,
    &describe_op<T>::name,
    &describe_op<T>::params,
    &describe_op<T>::evaluate,
    describe_op<T>::presenter()};

}  // namespace detail
KPROF_DETAIL_END

#endif

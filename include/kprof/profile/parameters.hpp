// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_PARAMETERS_HPP
#define KPROF_PROFILE_PARAMETERS_HPP

// The operators of a profile and the typed values of their parameters. Included by profile.hpp.
// Values are held packed and decoded when they are asked for: a snapshot copies bytes, and only the
// rows that are printed become text. Pure; a value may be read by several threads.

#include <kprof/build_options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a field of an operator holds.
enum class parameter_kind : std::uint8_t {
  none,  ///< no such field
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  enumeration,
  text,
  aggregate,  ///< a nested struct
};

/// An enumerator that has a name.
struct enumerator_name {
  std::int64_t value = 0;  ///< of an unsigned enumeration: the same 64 bits
  std::string name;
  friend bool operator==(const enumerator_name&, const enumerator_name&) = default;
};

/// A field of an operator, or of a struct nested in one.
struct operator_field {
  std::string name;
  parameter_kind kind = parameter_kind::none;
  /// Of one element: 8 to 64; floating: 32, 64, 80 (x87) or 128; 0 for text and aggregates.
  std::uint32_t bits = 0;
  std::uint32_t extent = 0;  ///< elements of an array, all its dimensions; 0 for a single value
  bool is_signed = false;    ///< of an integer or enumeration
  std::vector<operator_field> fields;        ///< of an aggregate
  std::vector<enumerator_name> enumerators;  ///< of an enumeration; those that have a name
  friend bool operator==(const operator_field&, const operator_field&) = default;
};

/// The values of the fields of one operator, packed: the fields in their order, arrays element by
/// element, aggregates field by field, without padding, little-endian. A boolean is one byte, 0 or
/// 1; integers and enumerations have their own width; floating values have 4, 8, 10 (x87) or 16
/// bytes, with one NaN for each sign; text has its length as a LEB128 number, then its bytes. So
/// equal parameters are equal bytes.
struct parameter_values {
  std::string packed;

  bool empty() const noexcept { return packed.empty(); }
  friend bool operator==(const parameter_values&, const parameter_values&) = default;
};

/// An operator that the profile has calls of.
struct operator_info {
  std::string name;           ///< as shown: with a number where others are declared by that name
  std::string declared_name;  ///< as the program declares it
  std::vector<operator_field> fields;
  /// Of an object that the program gave no values; empty where they are not known, as in a profile
  /// saved by an older version.
  parameter_values defaults{};
  friend bool operator==(const operator_info&, const operator_info&) = default;
};

/// One value. Its text is a view of the profile it is from, which must outlive it.
struct parameter_value {
  parameter_kind kind = parameter_kind::none;
  std::uint32_t bits = 0;  ///< as operator_field::bits
  bool is_signed = false;  ///< of an integer or enumeration
  /// Of a boolean 0 or 1; of an integer or enumeration its value, of a signed one in two's
  /// complement: see as_signed().
  std::uint64_t integer = 0;
  long double floating = 0;  ///< of a floating field, exact whatever its width
  /// Of a text field; of an enumeration the enumerator's name, empty where it has none.
  std::string_view text;

  /// Whether there is a value.
  explicit operator bool() const noexcept { return kind != parameter_kind::none; }
  std::int64_t as_signed() const noexcept { return static_cast<std::int64_t>(integer); }
};

KPROF_DETAIL_END

#endif

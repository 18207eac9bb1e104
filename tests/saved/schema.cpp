// SPDX-License-Identifier: MIT
// Prints the JSON Schema of a saved profile, docs/saved_profile.schema.json, from the tables of
// members that the writer and the reader use.

#include <kprof/profile.hpp>
#include <kprof/report/saved/members.hpp>
#include <kprof/report/saved/step_members.hpp>
#include <kprof/report/saved/timeline_members.hpp>

#include <cxxabi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace {

using kprof::detail::members_of;
using kprof::detail::saved_member;

/// "scope_node" of kprof::scope_node.
template <class T>
std::string name_of_type() {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr), &std::free);
  const std::string whole = name.get();
  return whole.substr(whole.rfind(':') + 1);
}

std::string list_of(const std::string& element) {
  return "{\"type\": \"array\", \"items\": " + element + "}";
}

class schema {
 public:
  /// The definitions that a profile refers to, by name.
  std::map<std::string, std::string> definitions;

  /// One member a line.
  template <class T>
  std::string members(const std::string& indent) {
    std::string out;
    const auto add = [&]<auto Pointer>(const saved_member<Pointer>& m) {
      if (!out.empty()) out += ",\n";
      out.append(indent).append("\"").append(m.name).append("\": ");
      out += of_member(m, static_cast<T*>(nullptr));
    };
    std::apply([&](const auto&... m) { (add(m), ...); }, members_of<T>);
    return out;
  }

 private:
  template <auto Pointer, class T>
  std::string of_member(const saved_member<Pointer>&, T*) {
    using member = saved_member<Pointer>;
    if constexpr (std::is_same_v<member, saved_member<&kprof::scope_node::values>> ||
                  std::is_same_v<member, saved_member<&kprof::operator_info::defaults>>)
      return reference("values");
    else
      return of(
          static_cast<std::remove_reference_t<decltype(std::declval<T&>().*Pointer)>*>(nullptr));
  }

  std::string of(bool*) { return "{\"type\": \"boolean\"}"; }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  std::string of(T*) {
    if (std::is_signed_v<T>) return "{\"type\": \"integer\"}";
    std::string most;
    if (sizeof(T) < 8) most = ", \"maximum\": " + std::to_string(T(~T{0}));
    return "{\"type\": \"integer\", \"minimum\": 0" + most + "}";
  }
  template <std::floating_point T>
  std::string of(T*) {
    return reference("number");
  }
  std::string of(std::string*) { return reference("text"); }
  std::string of(kprof::histogram*) { return reference("histogram"); }
  std::string of(std::vector<kprof::timeline_scope>*) { return reference("timeline"); }
  template <class T>
  std::string of(std::vector<T>*) {
    return list_of(of(static_cast<T*>(nullptr)));
  }
  template <class T, std::size_t Size>
  std::string of(T (*)[Size]) {
    const std::string size = std::to_string(Size);
    std::string list = list_of(of(static_cast<T*>(nullptr)));
    list.pop_back();
    return list + ", \"minItems\": " + size + ", \"maxItems\": " + size + "}";
  }
  template <class E>
    requires std::is_enum_v<E> std::string of(E*) {
      std::string words;
      for (const std::string_view word : kprof::detail::names_of<E>)
        words.append(words.empty() ? "\"" : ", \"").append(word) += '"';
      return "{\"enum\": [" + words + "]}";
    }
  template <class T>
    requires(std::tuple_size_v<std::remove_cvref_t<decltype(members_of<T>)>> > 0)
  std::string of(T*) {
    const std::string name = name_of_type<T>();
    if (definitions.emplace(name, "").second)  // a field has fields
      definitions[name] =
          "{\"type\": \"object\", \"properties\": {\n" + members<T>("      ") + "}}";
    return reference(name);
  }
  static std::string reference(const std::string& name) {
    return "{\"$ref\": \"#/$defs/" + name + "\"}";
  }
};

constexpr const char* forms_of_their_own = R"(
    "number": {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan", "-nan"]}]},
    "text": {
      "anyOf": [{"type": "string"}, {
        "type": "object", "required": ["bytes"], "maxProperties": 1,
        "properties": {"bytes": {"type": "string", "pattern": "^[\u0000-\u00ff]*$"}}}]},
    "values": {
      "description": "the values of an operator's fields in their order, or their bytes in base64",
      "anyOf": [
        {"type": "array", "items": {"anyOf": [
          {"type": "boolean"}, {"$ref": "#/$defs/number"}, {"$ref": "#/$defs/text"}]}},
        {"type": "string", "pattern": "^[A-Za-z0-9+/]*$"}]},
    "histogram": {
      "description": "bucket, count, bucket, count, ...",
      "type": "array", "items": {"type": "integer", "minimum": 0}},
    "timeline": {
      "type": "object", "oneOf": [{"required": ["columns", "rows"]}, {"required": ["packed"]}],
      "properties": {
        "columns": {"const": ["node", "start", "duration"]},
        "rows": {"type": "array", "items": {
          "type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 3}},
        "packed": {"type": "array", "items": {
          "type": "string", "pattern": "^[A-Za-z0-9+/]*$"}}}})";

}  // namespace

int main() {
  schema all;
  const std::string profile = all.members<kprof::profile>("    ");
  std::printf(R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A profile that kprof saved",
  "description": "profile.hpp explains the members. One that is not there has its default.",
  "type": "object",
  "required": ["kprof_profile"],
  "properties": {
    "kprof_profile": {"description": "version", "type": "integer", "minimum": 1, "maximum": %llu},
    "producer": {"type": "string"},
%s},
  "$defs": {%s)",
              static_cast<unsigned long long>(kprof::detail::saved_version), profile.c_str(),
              forms_of_their_own);
  for (const auto& [name, text] : all.definitions)
    std::printf(",\n    \"%s\": %s", name.c_str(), text.c_str());
  std::puts("}}");
}

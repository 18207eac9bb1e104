// SPDX-License-Identifier: MIT
// Says what operators of the catalogue count. Reads lines such as `Conv2d N=8 C=64 H=32 W=32 K=128
// R=3 S=3 pass=dgrad` and writes for each `<FLOPs> <bytes read> <bytes written>`, or `invalid`.
// Operators, fields and enumerators are found by their names in kprof's own descriptions; a field
// that is not named keeps its default.
#include <kprof/ops.hpp>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

using kprof::detail::field_desc;
using kprof::detail::field_kind;

std::string_view view(kprof::text_view t) { return {t.data, t.size}; }

[[noreturn]] void refuse(const std::string& line, std::string_view word) {
  std::fprintf(stderr, "catalogue: %.*s is not understood in: %s\n", static_cast<int>(word.size()),
               word.data(), line.c_str());
  std::exit(1);
}

bool value_of(const field_desc& field, std::string_view word, std::int64_t& out) {
  if (field.kind == field_kind::enumeration) {
    for (std::uint32_t i = 0; i < field.enumerators->size; ++i) {
      out = field.enumerators->list[i].value;
      if (view(field.enumerators->list[i].name) == word) return true;
    }
    return false;
  }
  if (field.kind != field_kind::signed_integer && field.kind != field_kind::unsigned_integer &&
      field.kind != field_kind::boolean)
    return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc{} && end == word.data() + word.size();
}

/// Sets the field of `name=value` in the bytes of a parameter struct.
bool assign(char* params, const kprof::detail::struct_desc& fields, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) return false;
  for (std::uint32_t i = 0; i < fields.field_count; ++i) {
    const field_desc& field = fields.fields[i];
    std::int64_t value = 0;
    if (view(field.name) != word.substr(0, equals)) continue;
    if (field.extent != 0 || !value_of(field, word.substr(equals + 1), value)) return false;
    // the low bytes: x86-64 and aarch64 Linux have them first
    std::memcpy(params + field.offset, &value, field.size);
    return true;
  }
  return false;
}

template <class Op>
void answer(const std::string& line, std::istringstream& words) {
  constexpr const kprof::detail::op_desc& desc = kprof::detail::op_desc_of<Op>;
  Op op{};
  for (std::string word; words >> word;)
    if (!assign(reinterpret_cast<char*>(&op), desc.params(), word)) refuse(line, word);
  kprof::detail::work work{};
  desc.evaluate(&op, work);
  if (work.valid != 0 && work.has_flops != 0 && work.has_bytes != 0)
    std::cout << work.flops << ' ' << work.read << ' ' << work.written << '\n';
  else std::cout << "invalid\n";
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    bool found = false;
    kprof::ops::catalogue::for_each([&](auto op) {
      using type = typename decltype(op)::type;
      if (found || view(kprof::name_of<type>()) != name) return;
      found = true;
      answer<type>(line, words);
    });
    if (!found) refuse(line, name);
  }
}

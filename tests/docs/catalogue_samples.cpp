// SPDX-License-Identifier: MIT
// What the catalogue says of itself, for catalogue_page.py: of each operator a line of JSON with
// its fields, their defaults, and random calls with what the compiled formulas give for them.
#include <kprof/ops.hpp>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>

namespace {

using kprof::text_view;
using kprof::detail::field_desc;
using kprof::detail::field_kind;
using kprof::detail::struct_desc;

constexpr int samples_wanted = 160, large_wanted = 80, tries = 60'000;

std::mt19937 engine;  // seeded for each operator, so that one more changes no other
std::int64_t draw(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
}
std::int64_t draw_size() {
  constexpr std::int64_t rarer[] = {16, 20, 24, 31, 32, 48, 64, 100};
  return draw(0, 3) != 0 ? draw(1, 9) : rarer[draw(0, 7)];
}

/// Sizes whose products overflow, among others whose do not.
std::int64_t draw_large() {
  constexpr std::int64_t large[] = {(1 << 20) + 1,         (1 << 30) - 1,
                                    std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1,
                                    std::int64_t{1} << 40, std::int64_t{1} << 53,
                                    std::int64_t{1} << 62, INT64_MAX};
  return large[draw(0, 7)];
}
bool larger = false;  // whether sizes may be large ones

std::int64_t get(const field_desc& f, const char* at) {
  std::int64_t value = 0;
  std::memcpy(&value, at, f.size);  // little endian
  return f.kind == field_kind::signed_integer && f.size == 4 ? static_cast<std::int32_t>(value)
                                                             : value;
}

void randomise(const struct_desc& s, char* object, const char* defaults);
std::string type_of(const field_desc& f);

void randomise(const field_desc& f, char* at, const char* default_at) {
  if (f.kind == field_kind::aggregate) return randomise(*f.nested, at, default_at);
  if (f.kind == field_kind::floating || f.kind == field_kind::string) return;
  std::int64_t value = get(f, default_at);
  if (f.kind == field_kind::boolean) value = draw(0, 1);
  // A type that may be left out is so in half the calls.
  else if (f.kind == field_kind::enumeration && value == 0 && type_of(f) == "dtype" &&
           draw(0, 1) == 0)
    return;
  // no operator of the catalogue has the other passes
  else if (f.kind == field_kind::enumeration && type_of(f) == "pass_kind")
    value =
        draw(static_cast<int>(kprof::pass_kind::fprop), static_cast<int>(kprof::pass_kind::bgrad));
  else if (f.kind == field_kind::enumeration)
    value = f.enumerators->list[draw(0, f.enumerators->size - 1)].value;
  else if (larger && draw(0, 3) == 0) value = draw_large();
  else if (draw(0, 5) != 0) value = draw_size();
  std::memcpy(at, &value, f.size);
}

void randomise(const struct_desc& s, char* object, const char* defaults) {
  for (std::uint32_t i = 0; i < s.field_count; ++i) {
    const field_desc& f = s.fields[i];
    if (f.extent == 0) {
      randomise(f, object + f.offset, defaults + f.offset);
      continue;
    }
    const std::uint32_t size = f.kind == field_kind::aggregate ? f.nested->size : f.size;
    const std::int64_t used = draw(1, f.extent);  // sizes stand in front, zeros behind them
    for (std::uint32_t e = 0; e < f.extent; ++e) {
      char* at = object + f.offset + e * size;
      // as where nothing is given
      std::memcpy(at, defaults + f.offset + (f.extent - 1) * size, size);
      if (e < used && f.kind == field_kind::aggregate)
        randomise(*f.nested, at, defaults + f.offset + e * size);
      else if (e < used && f.size == 8) {
        const std::int64_t value = larger && draw(0, 2) == 0 ? draw_large()
                                   : draw(0, 2) == 0         ? 1
                                                             : draw(2, 8);
        std::memcpy(at, &value, 8);
      }
    }
  }
}

std::string quoted(text_view t) { return '"' + std::string(t.data, t.size) + '"'; }

std::string value_of(const struct_desc& s, const char* object);

std::string value_of(const field_desc& f, const char* at) {
  switch (f.kind) {
    case field_kind::aggregate: return value_of(*f.nested, at);
    case field_kind::boolean: return get(f, at) != 0 ? "true" : "false";
    case field_kind::enumeration:
      for (std::uint32_t i = 0; i < f.enumerators->size; ++i)
        if (f.enumerators->list[i].value == get(f, at)) return quoted(f.enumerators->list[i].name);
      return "null";
    default: return std::to_string(get(f, at));
  }
}

std::string value_of(const struct_desc& s, const char* object) {
  std::string out;
  for (std::uint32_t i = 0; i < s.field_count; ++i) {
    const field_desc& f = s.fields[i];
    out += (i == 0 ? "" : ", ") + quoted(f.name) + ": ";
    if (f.extent == 0) {
      out += value_of(f, object + f.offset);
      continue;
    }
    const std::uint32_t size = f.kind == field_kind::aggregate ? f.nested->size : f.size;
    for (std::uint32_t e = 0; e < f.extent; ++e)
      out += (e == 0 ? "[" : ", ") + value_of(f, object + f.offset + e * size);
    out += "]";
  }
  return "{" + out + "}";
}

std::string type_of(const field_desc& f) {
  switch (f.kind) {
    case field_kind::enumeration:
      return std::string(f.enumerators->name.data, f.enumerators->name.size);
    case field_kind::aggregate: return std::string(f.nested->name.data, f.nested->name.size);
    case field_kind::boolean: return "bool";
    case field_kind::floating: return "float";
    case field_kind::string: return "string";
    case field_kind::unsigned_integer: return "uint" + std::to_string(8 * f.size);
    default: return "int" + std::to_string(8 * f.size);
  }
}

/// Of an enumeration its values, but for the two that every operator shares.
std::string values_of(const field_desc& f) {
  if (f.kind != field_kind::enumeration || type_of(f) == "dtype" || type_of(f) == "pass_kind")
    return "";
  std::string out;
  for (std::uint32_t i = 0; i < f.enumerators->size; ++i)
    out += ", " + quoted(f.enumerators->list[i].name);
  return out;
}

template <class Op>
void print_operator() {
  const struct_desc& params = kprof::detail::describe_op<Op>::params();
  engine.seed(12345);
  const Op defaults{};
  const char* default_bytes = reinterpret_cast<const char*>(&defaults);

  std::string fields;
  // more, where an enumeration has so many values that some would be drawn too rarely
  int wanted = samples_wanted;
  for (std::uint32_t i = 0; i < params.field_count; ++i) {
    if (!values_of(params.fields[i]).empty())
      wanted += 16 * static_cast<int>(params.fields[i].enumerators->size);
    fields += std::string(i == 0 ? "" : ", ") + "[" + quoted(params.fields[i].name) + ", \"" +
              type_of(params.fields[i]) + "\", " + std::to_string(params.fields[i].extent) +
              values_of(params.fields[i]) + "]";
  }

  std::string samples;
  int valid = 0;
  for (int i = 0; i < tries && valid < wanted; ++i) {
    Op op{};
    if (i != 0) randomise(params, reinterpret_cast<char*>(&op), default_bytes);
    const auto work = kprof::detail::evaluate(op);
    if (work.valid == 0) continue;
    const auto number = [&](const char* name, kprof::count n) {
      return std::string(", \"") + name + "\": " + std::to_string(n.value());
    };
    std::string more;
    if constexpr (requires { op.transcendentals(); })
      more += number("transcendentals", op.transcendentals());
    if constexpr (requires { op.parameters(); }) more += number("parameters", op.parameters());
    if constexpr (requires { op.flops_valid(); }) more += number("flops_valid", op.flops_valid());
    if constexpr (requires { op.flops_exact(); }) more += number("flops_exact", op.flops_exact());
    if constexpr (requires { op.sparse_flops(); })
      more += number("sparse_flops", op.sparse_flops());
    using kprof::ops::cost_model;
    if constexpr (requires { op.flops(cost_model::pyprof); })
      more += number("flops_pyprof", op.flops(cost_model::pyprof)) +
              number("flops_expressions", op.flops(cost_model::expressions));
    if constexpr (requires { op.transcendentals(cost_model::expressions); })
      more += number("transcendentals_expressions", op.transcendentals(cost_model::expressions));
    constexpr const char* units[] = {"unknown", "cuda_core", "tensor_core"};
    samples += std::string(valid == 0 ? "" : ", ") +
               "{\"with\": " + value_of(params, reinterpret_cast<const char*>(&op)) +
               ", \"unit\": \"" + units[work.on] + "\"" + number("flops", work.flops) +
               number("read", work.read) + number("written", work.written) + more + "}";
    ++valid;
  }

  // Calls that are valid, whether or not their counts fit.
  std::string large;
  larger = true;
  for (int i = 0, found = 0; i < tries && found < large_wanted; ++i) {
    Op op{};
    randomise(params, reinterpret_cast<char*>(&op), default_bytes);
    if (!op.valid()) continue;
    const auto work = kprof::detail::evaluate(op);
    large += std::string(found++ == 0 ? "" : ", ") +
             "{\"with\": " + value_of(params, reinterpret_cast<const char*>(&op)) +
             ", \"counted\": " + (work.valid != 0 ? "true" : "false") +
             ", \"flops\": " + std::to_string(work.flops) +
             ", \"read\": " + std::to_string(work.read) +
             ", \"written\": " + std::to_string(work.written) + "}";
  }
  larger = false;
  std::printf("{\"name\": %s, \"fields\": [%s], \"samples\": [%s], \"large\": [%s]}\n",
              quoted(kprof::name_of<Op>()).c_str(), fields.c_str(), samples.c_str(), large.c_str());
}

}  // namespace

int main() {
  kprof::ops::catalogue::for_each([](auto op) { print_operator<typename decltype(op)::type>(); });
}

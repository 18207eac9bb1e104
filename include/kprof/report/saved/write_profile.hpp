// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_WRITE_PROFILE_HPP
#define KPROF_REPORT_SAVED_WRITE_PROFILE_HPP

// Writes a profile as JSON, member by member. Included by save.hpp. Linear in the profile.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/saved/encoding.hpp>
#include <kprof/report/saved/json_writer.hpp>
#include <kprof/report/saved/members.hpp>
#include <kprof/report/saved/step_members.hpp>
#include <kprof/report/saved/timeline_members.hpp>
#include <kprof/write/version_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// "kprof 1.2.3"
inline const std::string& producer_name() {
  static const std::string name = "kprof " + version_text();
  return name;
}

class profile_writer {
 public:
  profile_writer(const profile& p, bool compact, json_writer& out)
      : p_(p), compact_(compact), out_(out) {}

  void write() {
    out_.raw("{");
    out_.key("kprof_profile");
    out_.value(saved_version);
    out_.raw(",");
    out_.key("producer");
    out_.value(std::string_view{producer_name()});
    bool first = false;  // the two above come first
    write_members(p_, first);
    out_.raw("}\n");
  }

 private:
  // ---- one member

  template <class T>
  void write_value(const T& value) {
    if constexpr (std::is_enum_v<T>) write_enumerator(value);
    else if constexpr (std::is_arithmetic_v<T>) out_.value(value);
    else if constexpr (std::is_same_v<T, std::string>) out_.value(std::string_view{value});
    else if constexpr (std::is_same_v<T, histogram>) write_histogram(value);
    else if constexpr (std::is_array_v<T>) write_list(std::begin(value), std::end(value));
    else if constexpr (requires { value.begin(); }) write_list(value.begin(), value.end());
    else {
      out_.raw("{");
      bool first = true;
      write_members(value, first);
      out_.raw("}");
    }
  }
  void write_value(const std::vector<timeline_scope>& scopes) {
    if (compact_) write_compact(scopes);
    else write_plain(scopes);
  }

  /// Without those of scopes that the timeline lacks.
  void write_value(const std::vector<call_link>& links) {
    out_.raw("[");
    bool first = true;
    for (const call_link& l : links) {
      if (l.call >= p_.timeline.size() || l.of >= p_.timeline.size()) continue;
      if (!first) out_.raw(",");
      out_.raw("\n{\"call\":");
      out_.value(l.call);
      out_.raw(",\"of\":");
      out_.value(l.of);
      out_.raw("}");
      first = false;
    }
    out_.raw("]");
  }

  template <class E>
  void write_enumerator(E value) {
    const auto number = static_cast<std::size_t>(value);
    // A type or pass that a program made of any number is unknown; nothing else is out of range.
    out_.value(names_of<E>[number < names_of<E>.size() ? number : 0]);
  }

  template <class Iterator>
  void write_list(Iterator from, Iterator to) {
    using element = std::remove_cvref_t<decltype(*from)>;
    constexpr bool one_a_line = std::is_class_v<element> && !std::is_same_v<element, std::string>;
    out_.raw("[");
    for (Iterator i = from; i != to; ++i) {
      if (i != from) out_.raw(",");
      if constexpr (one_a_line) out_.raw("\n");
      write_value(*i);
    }
    out_.raw("]");
  }

  template <class T>
  void write_members(const T& object, bool& first) {
    std::apply([&](const auto&... m) { (write_member(m, object, first), ...); }, members_of<T>);
  }
  template <auto Pointer, class T>
  void write_member(const saved_member<Pointer>& m, const T& object, bool& first) {
    static const T defaults{};
    if constexpr (std::is_same_v<saved_member<Pointer>, saved_member<&scope_node::values>>) {
      if (object.values.empty()) return;
      begin(m.name, first);
      write_parameters(p_.operator_of(object), object.values);
    } else if constexpr (std::is_same_v<saved_member<Pointer>,
                                        saved_member<&operator_info::defaults>>) {
      if (object.defaults.empty()) return;
      begin(m.name, first);
      write_parameters(&object, object.defaults);
    } else {
      const auto& value = kept(m, object);
      if (is_default(value, defaults.*Pointer)) return;
      begin(m.name, first);
      write_value(value);
    }
  }

  void begin(std::string_view name, bool& first) {
    if (!first) out_.raw(",");
    first = false;
    out_.key(name);
  }

  template <class T>
  static bool is_default(const T& value, const T& standard) {
    if constexpr (std::is_floating_point_v<T>)
      return value == standard && std::signbit(value) == std::signbit(standard);
    else if constexpr (std::is_array_v<T>)
      return std::equal(std::begin(value), std::end(value), std::begin(standard));
    else if constexpr (std::is_same_v<T, histogram>) return value.count() == 0;
    else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return value == standard;
    else if constexpr (requires { value.empty(); }) return value.empty();
    else
      return std::apply(
          [&]<auto... Pointer>(const saved_member<Pointer>&...) {
            return (is_default(value.*Pointer, standard.*Pointer) && ...);
          },
          members_of<T>);
  }

  /// The member, or none in place of a reference to what is not there: a profile made by hand may
  /// have one, every table takes it for none, and a file with one is refused.
  template <auto Pointer, class T>
  const auto& kept(const saved_member<Pointer>&, const T& object) const {
    using member = saved_member<Pointer>;
    static const std::uint32_t none = scope_node::none;
    if constexpr (std::is_same_v<member, saved_member<&scope_node::parent>>) {
      const auto self = static_cast<std::size_t>(&object - p_.nodes.data());
      return object.parent < self ? object.parent : none;
    } else if constexpr (std::is_same_v<member, saved_member<&scope_node::op>>) {
      return object.op < p_.operators.size() ? object.op : none;
    } else if constexpr (std::is_same_v<member, saved_member<&device_work::scope>>) {
      return object.scope < p_.nodes.size() ? object.scope : none;
    } else if constexpr (std::is_same_v<member, saved_member<&device_work::kernel>>) {
      return object.kernel < p_.device.kernels.size() ? object.kernel : none;
    } else if constexpr (std::is_same_v<member, saved_member<&device_item::work>>) {
      return object.work < p_.device.work.size() ? object.work : none;
    } else if constexpr (std::is_same_v<member, saved_member<&device_item::thread>> ||
                         std::is_same_v<member, saved_member<&host_call::thread>> ||
                         std::is_same_v<member, saved_member<&step_mark::thread>> ||
                         std::is_same_v<member, saved_member<&thread_steps::thread>>) {
      return object.thread < p_.threads.size() ? object.thread : none;
    } else if constexpr (std::is_same_v<member, saved_member<&step_share::step>> ||
                         std::is_same_v<member, saved_member<&kept_step::step>>) {
      return object.step < p_.steps.size() ? object.step : none;
    } else if constexpr (std::is_same_v<member, saved_member<&step_share::node>>) {
      return object.node < p_.nodes.size() ? object.node : none;
    } else if constexpr (std::is_same_v<member, saved_member<&host_call::name>> ||
                         std::is_same_v<member, saved_member<&host_call_sum::name>>) {
      return object.name < p_.device.functions.size() ? object.name : none;
    } else if constexpr (std::is_same_v<member, saved_member<&host_call::scope>> ||
                         std::is_same_v<member, saved_member<&host_call_sum::scope>>) {
      return object.scope < p_.nodes.size() ? object.scope : none;
    } else {
      return object.*Pointer;
    }
  }

  // ---- what has a form of its own

  /// [bucket, count, bucket, count, ...]
  void write_histogram(const histogram& h) {
    bool first = true;
    out_.raw("[");
    h.each([&](std::uint32_t bucket, std::uint64_t count) {
      if (!first) out_.raw(",");
      first = false;
      out_.value(bucket);
      out_.raw(",");
      out_.value(count);
    });
    out_.raw("]");
  }

  /// The values in the order in which they are packed; where they are no values of the operator's
  /// fields, as in a profile made by hand, a text of the bytes.
  void write_parameters(const operator_info* op, const parameter_values& given) {
    if (op == nullptr || !fits(op->fields, given.packed)) {
      std::string text;
      append_base64(text, given.packed);
      out_.value(std::string_view{text});
      return;
    }
    parameter_cursor values(given.packed);
    bool first = true;
    out_.raw("[");
    write_fields(op->fields, values, first);
    out_.raw("]");
  }

  static bool fits(const std::vector<operator_field>& fields, std::string_view packed) {
    parameter_cursor from(packed);
    return from.fits(fields) && from.at_end();
  }

  void write_fields(const std::vector<operator_field>& fields, parameter_cursor& values,
                    bool& first) {
    for (const operator_field& f : fields)
      for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i) {
        if (f.kind == parameter_kind::aggregate) {
          write_fields(f.fields, values, first);
          continue;
        }
        if (!first) out_.raw(",");
        first = false;
        write_parameter(f, values);
      }
  }

  void write_parameter(const operator_field& f, parameter_cursor& values) {
    if (f.kind == parameter_kind::floating && f.bits > 64) {  // exact on any machine: its bytes
      std::string text;
      append_base64(text, values.bytes(f.bits / 8));
      out_.value(std::string_view{text});
      return;
    }
    const parameter_value v = values.read(f);
    switch (f.kind) {
      case parameter_kind::text: out_.value(v.text); break;
      case parameter_kind::boolean: out_.value(v.integer != 0); break;
      case parameter_kind::floating:
        if (f.bits == 32) out_.value(static_cast<float>(v.floating));
        else out_.value(static_cast<double>(v.floating));
        break;
      default:
        if (v.is_signed) out_.value(v.as_signed());
        else out_.value(v.integer);
    }
  }

  void write_plain(const std::vector<timeline_scope>& scopes) {
    out_.raw("{\"columns\":[\"node\",\"start\",\"duration\"],\"rows\":[");
    bool first = true;
    for (const timeline_scope& s : scopes) {
      out_.raw(first ? "\n[" : ",\n[");
      first = false;
      out_.value(s.node);
      out_.raw(",");
      out_.value(s.start);
      out_.raw(",");
      out_.value(s.duration);
      out_.raw("]");
    }
    out_.raw("]}");
  }

  /// Pieces that can be read one by one, so that neither side holds all text at once.
  void write_compact(const std::vector<timeline_scope>& scopes) {
    constexpr std::size_t piece = 4096;
    out_.raw("{\"packed\":[");
    std::string text;
    for (std::size_t at = 0; at < scopes.size(); at += piece) {
      const std::size_t end = std::min(scopes.size(), at + piece);
      text.assign(at == 0 ? "\n\"" : ",\n\"");
      append_base64(text, pack_timeline(scopes.data() + at, scopes.data() + end));
      text += '"';
      out_.raw(text);
    }
    out_.raw("]}");
  }

  const profile& p_;
  bool compact_;
  json_writer& out_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_READ_PROFILE_HPP
#define KPROF_REPORT_SAVED_READ_PROFILE_HPP

// Makes a profile of a saved one. Nothing in the file is trusted: types, ranges, references and
// sizes are checked, members that are not known are passed over. Included by load.hpp. Linear in
// the file.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/saved/encoding.hpp>
#include <kprof/report/saved/json_tape.hpp>
#include <kprof/report/saved/members.hpp>
#include <kprof/report/saved/read_parameters.hpp>
#include <kprof/report/saved/step_members.hpp>
#include <kprof/report/saved/timeline_members.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class profile_reader {
 public:
  profile_reader(const json_tape& tape, memory_budget& budget) : tape_(tape), budget_(budget) {}

  /// false: error() says what is wrong.
  bool read(profile& out) {
    profile_ = &out;
    return read_version() && read_members(0, out) && check_references(out);
  }
  /// "nodes[3].calls is ...", or a sentence of its own.
  const std::string& error() const noexcept { return error_; }
  /// A version above the one that is known; 0 where that is not what is wrong.
  std::uint64_t newer() const noexcept { return newer_; }

 private:
  bool fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return false;
  }
  /// Puts a member or an index in front of what failed in it.
  bool within(std::string_view name) {
    const bool goes_on = !error_.empty() && (error_[0] == '.' || error_[0] == '[');
    error_ = std::string{name} + (goes_on || error_[0] == ' ' ? "" : ".") + error_;
    return false;
  }
  bool charge(std::uint64_t bytes) { return budget_.take(bytes) || fail(" takes too much memory"); }

  bool read_version() {
    if (tape_.size() < 3 || tape_[0].kind != json_kind::object || tape_[1].kind != json_kind::key ||
        tape_.text_of(tape_[1]) != "kprof_profile")
      return fail("it does not begin with {\"kprof_profile\":");
    std::uint64_t version = 0;
    if (!read_value(2, version) || version == 0) {
      error_ = "its version is no number";
      return false;
    }
    if (version <= saved_version) return true;
    newer_ = version;
    return fail("it is newer");
  }

  // ---- objects and lists

  template <class T>
  bool read_members(std::uint32_t object, T& out) {
    if (tape_[object].kind != json_kind::object) return fail(" is no object");
    std::uint64_t seen = 0;
    for (std::uint32_t at = object + 1; at < tape_[object].next; at = tape_[at + 1].next) {
      const std::string_view name = tape_.text_of(tape_[at]);
      if (!read_member(name, at + 1, out, seen)) return within(name);
    }
    return true;
  }

  template <class T>
  bool read_member(std::string_view name, std::uint32_t value, T& out, std::uint64_t& seen) {
    bool good = true;
    std::uint64_t bit = 1;
    const auto one = [&]<auto Pointer>(const saved_member<Pointer>& m) {
      if (m.name == name) {
        if ((seen & bit) != 0) good = fail(" stands twice");
        else good = read_one(m, value, out);
        seen |= bit;
        return true;
      }
      bit <<= 1U;
      return false;
    };
    std::apply([&](const auto&... m) { static_cast<void>((one(m) || ...)); }, members_of<T>);
    return good;
  }
  template <auto Pointer, class T>
  bool read_one(const saved_member<Pointer>&, std::uint32_t value, T& out) {
    if constexpr (std::is_same_v<saved_member<Pointer>, saved_member<&scope_node::values>>)
      return read_parameters(value, out);
    else if constexpr (std::is_same_v<saved_member<Pointer>,
                                      saved_member<&operator_info::defaults>>)
      return read_defaults(value, out);
    else return read_value(value, out.*Pointer);
  }

  template <class T>
    requires std::is_class_v<T>
  bool read_value(std::uint32_t at, T& out) { return read_members(at, out); }
  template <class T>
  bool read_value(std::uint32_t at, std::vector<T>& out) {
    if (tape_[at].kind != json_kind::array) return fail(" is no list");
    std::size_t index = 0;
    for (std::uint32_t i = at + 1; i < tape_[at].next; i = tape_[i].next, ++index) {
      // A vector may hold twice what is used, and moves what it holds to new memory.
      if (!charge(3 * sizeof(T)) || !read_value(i, out.emplace_back()))
        return within('[' + std::to_string(index) + ']');
    }
    return true;
  }
  template <class T, std::size_t Size>
  bool read_value(std::uint32_t at, T (&out)[Size]) {
    std::vector<T> list;
    if (!read_value(at, list)) return false;
    if (list.size() != Size) return fail(" has another number of elements");
    std::copy(list.begin(), list.end(), out);
    return true;
  }

  // ---- single values

  bool read_value(std::uint32_t at, bool& out) {
    if (tape_[at].kind != json_kind::boolean) return fail(" is neither true nor false");
    out = tape_[at].truth;
    return true;
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  bool read_value(std::uint32_t at, T& out) {
    const std::string_view text = tape_.text_of(tape_[at]);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (tape_[at].kind != json_kind::number || read.ec != std::errc{} ||
        read.ptr != text.data() + text.size())
      return fail(" is no whole number that fits");
    return true;
  }
  bool read_value(std::uint32_t at, double& out) {
    if (!read_floating(tape_, at, out)) return fail(" is no number that fits");
    return true;
  }
  bool read_value(std::uint32_t at, std::string& out) {
    if (!read_text(tape_, at, out)) return fail(" is no text");
    return charge(2 * out.capacity());
  }
  template <class E>
    requires std::is_enum_v<E>
  bool read_value(std::uint32_t at, E& out) {
    const std::string_view name = tape_.text_of(tape_[at]);
    for (std::size_t i = 0; i < names_of<E>.size(); ++i)
      if (tape_[at].kind == json_kind::text && names_of<E>[i] == name) {
        out = static_cast<E>(i);
        return true;
      }
    return fail(" is none of the words that are known");
  }

  // ---- what has a form of its own

  bool read_value(std::uint32_t at, histogram& out) {
    std::vector<std::uint64_t> numbers;
    if (!read_value(at, numbers)) return false;
    if (numbers.size() % 2 != 0) return fail(" has a bucket without a count");
    std::uint64_t calls = 0;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      const std::uint64_t bucket = numbers[i];
      if (bucket > histogram::last_bucket || (i > 0 && bucket <= numbers[i - 2]))
        return fail(" has no such bucket, or not in this order");
      if (__builtin_add_overflow(calls, numbers[i + 1], &calls))
        return fail(" counts more calls than there are numbers for");
      const std::size_t before = out.memory();
      out.restore(static_cast<std::uint32_t>(bucket), numbers[i + 1]);
      if (!charge(2 * (out.memory() - before))) return false;
    }
    return true;
  }

  bool read_value(std::uint32_t at, std::vector<operator_info>& out) {
    if (!read_value<operator_info>(at, out)) return false;
    for (const operator_info& op : out) {
      operator_sizes sizes;
      if (!sizes.add(op.fields, 1)) return fail(" has a field that no operator can have");
      text_sizes_.push_back(sizes.text);
    }
    return true;
  }

  /// The operator comes first, and the table of them before the nodes.
  bool read_parameters(std::uint32_t at, scope_node& out) {
    const operator_info* const op =
        out.op < profile_->operators.size() ? &profile_->operators[out.op] : nullptr;
    return read_packed_values(at, op, out.values);
  }
  /// The fields come first.
  bool read_defaults(std::uint32_t at, operator_info& out) {
    operator_sizes sizes;
    if (!sizes.add(out.fields, 1))
      return fail(" is of an operator with a field that none can have");
    return read_packed_values(at, &out, out.defaults);
  }
  bool read_packed_values(std::uint32_t at, const operator_info* op, parameter_values& out) {
    if (tape_[at].kind == json_kind::text) {
      if (!from_base64(tape_.text_of(tape_[at]), out.packed)) return fail(" is no base64");
    } else {
      if (op == nullptr) return fail(" has no operator");
      parameter_packer packer(tape_, at);
      if (!packer.pack(op->fields, out.packed))
        return fail(" does not have the values of the operator's fields");
    }
    return charge(2 * out.packed.capacity());
  }

  bool read_value(std::uint32_t at, std::vector<timeline_scope>& out) {
    if (tape_[at].kind != json_kind::object) return fail(" is no object");
    for (std::uint32_t i = at + 1; i < tape_[at].next; i = tape_[i + 1].next) {
      const std::string_view name = tape_.text_of(tape_[i]);
      if (name == "rows" && !read_rows(i + 1, out)) return within(name);
      if (name == "packed" && !read_packed(i + 1, out)) return within(name);
    }
    return true;
  }
  bool read_rows(std::uint32_t at, std::vector<timeline_scope>& out) {
    if (tape_[at].kind != json_kind::array) return fail(" is no list");
    for (std::uint32_t i = at + 1; i < tape_[at].next; i = tape_[i].next) {
      timeline_scope s;
      if (tape_[i].kind != json_kind::array || tape_[i].next != i + 4 ||
          !read_value(i + 1, s.node) || !read_value(i + 2, s.start) ||
          !read_value(i + 3, s.duration))
        return fail(" has a row that is not [node, start, duration]");
      if (!charge(2 * sizeof s)) return false;
      out.push_back(s);
    }
    return true;
  }
  bool read_packed(std::uint32_t at, std::vector<timeline_scope>& out) {
    if (tape_[at].kind != json_kind::array) return fail(" is no list");
    std::string bytes;
    for (std::uint32_t i = at + 1; i < tape_[at].next; i = tape_[i].next) {
      const std::string_view text = tape_.text_of(tape_[i]);
      // A scope has three bytes or more, which are four characters.
      if (!charge(text.size() / 4 * 2 * sizeof(timeline_scope) + text.size())) return false;
      if (tape_[i].kind != json_kind::text || !from_base64(text, bytes) ||
          !unpack_timeline(bytes, out))
        return fail(" has a piece that is no timeline");
    }
    return true;
  }

  // ---- references

  bool check_references(const profile& p) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (!check_node(p, i)) return within("nodes[" + std::to_string(i) + ']');
    for (std::size_t i = 0; i < p.device.work.size(); ++i) {
      const device_work& w = p.device.work[i];
      if ((w.scope != device_work::none && w.scope >= p.nodes.size()) ||
          (w.kernel != device_work::none && w.kernel >= p.device.kernels.size())) {
        fail(" refers to a scope or a kernel that is not there");
        return within("device.work[" + std::to_string(i) + ']');
      }
    }
    for (const timeline_scope& s : p.timeline)
      if (s.node >= p.nodes.size()) return fail("timeline refers to a node that is not there");
    for (const call_link& l : p.links)
      if (l.call >= p.timeline.size() || l.of >= p.timeline.size())
        return fail("links refers to a scope that the timeline does not have");
    return check_device_timeline(p);
  }
  bool check_device_timeline(const profile& p) {
    static_assert(device_item::none == 0xFFFFFFFFU && host_call::none == device_item::none &&
                  host_call_sum::none == device_item::none && step_mark::none == device_item::none);
    const auto there = [](std::uint32_t i, std::size_t size) {
      return i == device_item::none || i < size;
    };
    bool good = true;
    for (const device_item& i : p.device.timeline.items)
      good = good && there(i.work, p.device.work.size()) && there(i.thread, p.threads.size());
    for (const host_call& c : p.device.timeline.calls)
      good = good && there(c.name, p.device.functions.size()) && there(c.scope, p.nodes.size()) &&
             there(c.thread, p.threads.size());
    for (const host_call_sum& c : p.device.calls)
      good = good && there(c.name, p.device.functions.size()) && there(c.scope, p.nodes.size());
    for (const step_mark& s : p.steps) good = good && there(s.thread, p.threads.size());
    for (const thread_steps& s : p.stepping.threads)
      good = good && there(s.thread, p.threads.size());
    for (const step_share& s : p.stepping.shares)
      good = good && there(s.step, p.steps.size()) && there(s.node, p.nodes.size());
    good = good && p.stepping.kept.size() <= 3;  // one for each kept_as
    for (const kept_step& s : p.stepping.kept) good = good && there(s.step, p.steps.size());
    return good ||
           fail("device.timeline, device.calls, steps or stepping refer to what is not there");
  }
  bool check_node(const profile& p, std::size_t i) {
    const scope_node& n = p.nodes[i];
    if (n.parent != scope_node::none && n.parent >= i)
      return fail(" stands before its parent, or has none");
    if (n.thread >= p.threads.size()) return fail(" is of a thread that is not there");
    if (n.op == scope_node::none) return true;
    if (n.op >= p.operators.size()) return fail(" is of an operator that is not there");
    // Text that a report may make of the parameters, whose names stand in the file only once.
    return charge(text_sizes_[n.op] + n.values.packed.size());
  }

  const json_tape& tape_;
  memory_budget& budget_;
  profile* profile_ = nullptr;
  std::vector<std::uint64_t> text_sizes_;  // of operators: the text of their parameters, at most
  std::string error_;
  std::uint64_t newer_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_PROFILE_BUILDER_HPP
#define KPROF_TESTS_PROFILE_BUILDER_HPP

// Builds profiles by hand.

#include <kprof/profile.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kprof_test {

/// Builds a profile whose self times agree with its totals.
class profile_builder {
 public:
  kprof::profile p;

  explicit profile_builder(double ns_per_tick = 0.5) { p.clock.ns_per_tick = ns_per_tick; }

  std::uint32_t thread(std::string name, std::uint64_t id) {
    kprof::thread_info t;
    t.id = id;
    t.name = std::move(name);
    p.threads.push_back(t);
    kprof::scope_node root;
    root.thread = static_cast<std::uint32_t>(p.threads.size() - 1);
    p.nodes.push_back(root);
    return static_cast<std::uint32_t>(p.nodes.size() - 1);
  }

  std::uint32_t scope(std::uint32_t parent, kprof::scope_kind kind, std::string name,
                      std::string parameters = {}) {
    kprof::scope_node n;
    n.parent = parent;
    n.thread = p.nodes[parent].thread;
    n.kind = kind;
    n.name = std::move(name);
    if (kind == kprof::scope_kind::op) set_parameters(n, parameters);
    p.nodes.push_back(n);
    return static_cast<std::uint32_t>(p.nodes.size() - 1);
  }
  std::uint32_t op(std::uint32_t parent, std::string name, std::string parameters = {}) {
    return scope(parent, kprof::scope_kind::op, std::move(name), std::move(parameters));
  }
  std::uint32_t region(std::uint32_t parent, std::string name) {
    return scope(parent, kprof::scope_kind::region, std::move(name));
  }

  /// Makes `n` a call of the operator of its name with these fields: "M=4 type=f32" has an integer
  /// and a text, what is no such list is a text by the name of `text`.
  void set_parameters(kprof::scope_node& n, std::string_view parameters) {
    kprof::operator_info op{n.name, n.name, {}, {}};
    n.values = {};
    if (!add_fields(op, n.values.packed, parameters)) {
      op.fields.assign(1, {});
      op.fields[0].name = "text";
      op.fields[0].kind = kprof::parameter_kind::text;
      n.values = {};
      add_text(n.values.packed, parameters);
    }
    const auto known = std::find(p.operators.begin(), p.operators.end(), op);
    n.op = static_cast<std::uint32_t>(known - p.operators.begin());
    if (known == p.operators.end()) p.operators.push_back(std::move(op));
  }

  /// Adds `calls` calls of `ns` each.
  profile_builder& calls(std::uint32_t node, std::uint64_t calls, double ns) {
    kprof::scope_node& n = p.nodes[node];
    n.min_ns = n.calls == 0 ? ns : std::min(n.min_ns, ns);
    n.max_ns = std::max(n.max_ns, ns);
    n.calls += calls;
    n.total_ns += ns * static_cast<double>(calls);
    for (std::uint64_t i = 0; i < calls; ++i)
      n.durations.add(static_cast<std::uint64_t>(ns / p.clock.ns_per_tick));
    return *this;
  }
  profile_builder& work(std::uint32_t node, std::uint64_t flops, std::uint64_t read,
                        std::uint64_t written, kprof::dtype type = kprof::dtype::f32) {
    p.nodes[node].work = {.has_flops = true,
                          .has_bytes = true,
                          .flops = flops,
                          .bytes_read = read,
                          .bytes_written = written,
                          .type = type};
    return *this;
  }
  profile_builder& site(std::uint32_t node, std::string file, std::uint32_t line) {
    p.nodes[node].file = std::move(file);
    p.nodes[node].line = line;
    return *this;
  }

  /// Self times, and the count of scopes.
  kprof::profile done() {
    for (auto& n : p.nodes) n.self_ns = n.total_ns;
    for (const auto& n : p.nodes)
      if (n.kind != kprof::scope_kind::root && p.nodes[n.parent].kind != kprof::scope_kind::root &&
          p.nodes[n.parent].calls > 0)
        p.nodes[n.parent].self_ns -= n.total_ns;
    p.complete.recorded = 0;
    for (const auto& n : p.nodes) p.complete.recorded += n.calls;
    return p;
  }

 private:
  static void add_text(std::string& packed, std::string_view text) {
    std::size_t rest = text.size();
    for (; rest >= 128; rest /= 128) packed += static_cast<char>(rest % 128 | 128U);
    packed += static_cast<char>(rest);
    packed += text;
  }

  /// false where the text is no list of fields and values.
  static bool add_fields(kprof::operator_info& op, std::string& packed, std::string_view list) {
    while (!list.empty()) {
      const std::string_view field = list.substr(0, list.find(' '));
      list.remove_prefix(std::min(list.size(), field.size() + 1));
      const std::size_t equals = field.find('=');
      if (equals == 0 || equals == std::string_view::npos) return false;
      const std::string_view value = field.substr(equals + 1);
      for (const char c : field.substr(0, equals))
        if (c < '0' || c > 'z') return false;
      kprof::operator_field& f = op.fields.emplace_back();
      f.name = field.substr(0, equals);
      std::int64_t number = 0;
      const char* const end = value.data() + value.size();
      if (std::from_chars(value.data(), end, number).ptr == end && !value.empty()) {
        f.kind = kprof::parameter_kind::signed_integer;
        f.bits = 64;
        f.is_signed = true;
        packed.append(reinterpret_cast<const char*>(&number), sizeof number);
      } else {
        f.kind = kprof::parameter_kind::text;
        add_text(packed, value);
      }
    }
    return true;
  }
};

}  // namespace kprof_test

#endif

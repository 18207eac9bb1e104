// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_CALLGRIND_HPP
#define KPROF_REPORT_CALLGRIND_HPP

// The output "callgrind": the call tree in the format of Valgrind's callgrind, for
// callgrind_annotate, KCachegrind and gprof2dot (docs/files.md). Including it makes
// KPROF="callgrind(path=callgrind.out.run)" and kprof::write(profile, "callgrind", ...) known in
// this binary.
//
// A function is an operator with its parameters, a region or a thread; its line is that of the
// guard. Events are nanoseconds of the host and of devices, FLOPs and bytes. Calls that recurse are
// one function, whose time counts once.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/stacks/frame_names.hpp>
#include <kprof/report/stacks/node_costs.hpp>
#include <kprof/status.hpp>
#include <kprof/write/version_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct callgrind_options {
  bool parameters = true;
};

inline constexpr option callgrind_option_table[] = {
    {.name = "parameters",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "operators are told apart by their parameters",
     .store = &store_member<&callgrind_options::parameters>},
};

class callgrind_writer {
 public:
  callgrind_writer(const profile& p, const callgrind_options& options)
      : p_(p), options_(options), costs_(p), function_of_(p.nodes.size()) {
    walk(
        p, [&](std::uint32_t node) { enter(node); }, [&](std::uint32_t node) { leave(node); });
  }

  void put(text_sink& out) const {
    out.put("# callgrind format\nversion: 1\ncreator: kprof " + version_text() +
            "\ncmd: " + frame_text(p_.program) +
            "\npositions: line\nevent: ns : Nanoseconds of the host\n"
            "event: device_ns : Nanoseconds of devices\nevent: flops : FLOPs\n"
            "event: bytes : Bytes\nevents: ns device_ns flops bytes\n");
    node_cost total;
    for (const function& f : functions_) {
      total.add(f.own);
      out.put("\nfl=" + f.file + "\nfn=" + f.name + '\n' + position(f.line, f.own));
      for (const call& c : f.calls) {
        const function& to = functions_[c.to];
        out.put("cfi=" + to.file + "\ncfn=" + to.name + "\ncalls=" + std::to_string(c.count) + ' ' +
                std::to_string(to.line) + '\n' +
                position(to.file == f.file ? to.line : f.line, c.whole));
      }
    }
    out.put("\ntotals:" + numbers(total) + '\n');
  }

 private:
  struct call {
    std::uint32_t to = 0;
    std::uint64_t count = 0;
    node_cost whole;
    std::uint32_t active = 0;  // of it on the path from the root
  };
  struct function {
    std::string file, name;
    std::uint32_t line = 0;
    node_cost own;
    std::vector<call> calls;
  };

  void enter(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    std::string name = callable(frame_name(p_, node, options_.parameters));
    if (n.kind == scope_kind::root) name.insert(0, "thread ");
    const std::string file = n.file.empty() ? "???" : frame_text(n.file);
    const std::uint32_t number = number_of(file, name);
    if (functions_[number].line == 0) functions_[number].line = n.line;
    function_of_[node] = number;
    functions_[number].own.add(costs_.own(node));
    if (const std::uint32_t parent = parent_of(p_, node); parent != scope_node::none) {
      call& c = call_of(function_of_[parent], number);
      c.count += n.calls + n.replays;
      // Inside itself it is in the sum already.
      if (c.active++ == 0) c.whole.add(costs_.whole(node));
    }
  }
  void leave(std::uint32_t node) {
    if (const std::uint32_t parent = parent_of(p_, node); parent != scope_node::none)
      --call_of(function_of_[parent], function_of_[node]).active;
  }

  std::uint32_t number_of(const std::string& file, const std::string& name) {
    const std::uint32_t number = numbers_.of(
        std::hash<std::string>{}(file + '\n' + name),
        [&](std::uint32_t i) { return functions_[i].file == file && functions_[i].name == name; });
    if (number == functions_.size()) functions_.push_back({file, name, 0, {}, {}});
    return number;
  }
  call& call_of(std::uint32_t from, std::uint32_t to) {
    std::vector<call>& calls = functions_[from].calls;
    const auto at =
        std::find_if(calls.begin(), calls.end(), [&](const call& c) { return c.to == to; });
    if (at != calls.end()) return *at;
    calls.push_back({to, 0, {}, 0});
    return calls.back();
  }

  /// A name that begins with a number in parentheses would be an abbreviation of another.
  static std::string callable(std::string name) {
    if (name.size() > 1 && name[0] == '(' && name[1] >= '0' && name[1] <= '9') name.insert(0, "_");
    return name;
  }
  static std::string numbers(const node_cost& cost) {
    std::string out;
    for (const std::uint64_t n : {cost.ns, cost.device_ns, cost.flops, cost.bytes})
      out += ' ' + std::to_string(n);
    return out;
  }
  static std::string position(std::uint32_t line, const node_cost& cost) {
    return std::to_string(line) + numbers(cost) + '\n';
  }

  const profile& p_;
  const callgrind_options& options_;
  node_costs costs_;
  std::vector<std::uint32_t> function_of_;  // by node
  numbering numbers_{64};
  std::vector<function> functions_;
};

KPROF_DETAIL_LOCAL inline status write_callgrind(const profile& run, const option_values& values,
                                                 text_sink& out) {
  callgrind_options options;
  values.store_into(options);
  return put_packed_by_name(values.text("path"), out,
                            [&](text_sink& sink) { callgrind_writer(run, options).put(sink); });
}

inline constexpr output callgrind_output{
    "callgrind",
    "the call tree for callgrind_annotate, KCachegrind and gprof2dot",
    callgrind_option_table,
    &write_callgrind,
    nullptr,
    "callgrind"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration callgrind_registered{callgrind_output};

}  // namespace detail
KPROF_DETAIL_END

#endif

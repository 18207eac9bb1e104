// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_VERBOSE_LINE_HPP
#define KPROF_SESSION_VERBOSE_LINE_HPP

// A line for each call, as CSV whose first field is always kprof_verbose. Included by verbose.hpp.
// Pure.

#include <kprof/attribute/build.hpp>
#include <kprof/attribute/parameters.hpp>
#include <kprof/build_options.hpp>
#include <kprof/model/names.hpp>
#include <kprof/profile/parameter_text.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/report/csv/line.hpp>
#include <kprof/write/printable.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::string_view verbose_header =
    "kprof_verbose,op,pass,parameters,time_ns,gflop_per_s,gbyte_per_s,flops,bytes,thread,end_ns,"
    "part\n";

/// All parameters, so that they can be read back: `M=64 shape=[1,2] tag="a \"b\"" e={x=0.5}`. A
/// text is in quotes with a backslash before quotes and backslashes, and "\x0a" for each byte that
/// is a control character or no UTF-8. Numbers are the shortest that read back as the same.
class exact_parameters {
 public:
  static std::string text(const op_info& op, const char* values) {
    const operator_info known = to_operator(op);
    const parameter_values packed = pack_parameters(op, values);
    parameter_cursor cursor(packed.packed);
    std::string out;
    append_all(out, known.fields, cursor);
    return out;
  }

 private:
  static void append_all(std::string& out, const std::vector<operator_field>& fields,
                         parameter_cursor& values) {
    for (const operator_field& f : fields) {
      if (&f != &fields.front()) out += ' ';
      out += f.name;
      out += '=';
      if (f.extent == 0) {
        append_one(out, f, values);
        continue;
      }
      for (std::uint32_t i = 0; i < f.extent; ++i) {
        out += i == 0 ? '[' : ',';
        append_one(out, f, values);
      }
      out += ']';
    }
  }
  static void append_one(std::string& out, const operator_field& f, parameter_cursor& values) {
    if (f.kind == parameter_kind::aggregate) {
      out += '{';
      append_all(out, f.fields, values);
      out += '}';
      return;
    }
    const parameter_value value = values.read(f);
    if (f.kind == parameter_kind::text) append_quoted(out, value.text);
    else append_text(out, value);
  }
  static void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
      const code_point c = first_character(text);
      if (c.size == 0 || c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0)) {
        // Each byte by itself, so that it can be put back.
        for (std::size_t i = 0; i < (c.size == 0 ? 1U : c.size); ++i)
          out.append("\\x").append(hexadecimal(static_cast<unsigned char>(text[i]), 2));
      } else {
        if (text[0] == '"' || text[0] == '\\') out += '\\';
        out += text.substr(0, c.size);
      }
      text.remove_prefix(c.size == 0 ? 1 : c.size);
    }
    out += '"';
  }
};

/// What the lines of a node's calls have in common.
struct verbose_node {
  std::string head;   ///< up to the parameters
  std::string tail;   ///< the part, and the end of the line
  double flops = -1;  ///< of one call, or of a part of one; negative: not known
  double bytes = -1;
};

inline verbose_node verbose_node_of(const tree_node& n, const op_info& op, const payload& p) {
  verbose_node out;
  csv_line head;
  head.add("kprof_verbose");
  head.add(one_line(op.name));
  const work_per_call work = n.merged ? work_per_call{} : to_work(n.values);
  head.add(work.pass == pass_kind::unknown ? std::string_view{} : pass_name(work.pass));
  // Calls that were kept together for want of memory.
  head.add(n.merged ? std::string{"n/a"} : exact_parameters::text(op, p.bytes));
  out.head = head.text();
  double parts = 1;
  if (n.is_part && !n.merged) {
    const part_number part = part_number_of(op, p);
    parts = part.parts > 0 ? part.parts : 1;
    out.tail = std::to_string(part.part) + '/' + std::to_string(part.parts);
  }
  out.tail += '\n';
  if (work.valid && work.has_flops) out.flops = static_cast<double>(work.flops) / parts;
  if (work.valid && work.has_bytes)
    out.bytes =
        (static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written)) / parts;
  return out;
}

/// `on_host`: calls of the node do no work on a device, whose time the host's is not.
inline void append_verbose_line(std::string& out, const verbose_node& node, bool on_host,
                                double time_ns, double end_ns, std::uint64_t thread) {
  const auto whole = [&out](double value) {
    out += ',';
    if (value >= 0) append_shortest(out, static_cast<std::uint64_t>(std::llround(value)));
  };
  const auto rate = [&](double work) {
    out += ',';
    char text[32];
    if (on_host && work >= 0 && time_ns > 0)
      out.append(text, std::to_chars(text, text + sizeof text, work / time_ns,
                                     std::chars_format::general, 4)
                           .ptr);
  };
  out += node.head;
  whole(time_ns);
  rate(node.flops);
  rate(node.bytes);
  whole(node.flops);
  whole(node.bytes);
  whole(static_cast<double>(thread));
  whole(end_ns < 0 ? 0 : end_ns);
  out += ',';
  out += node.tail;
}

}  // namespace detail
KPROF_DETAIL_END

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_PPROF_HPP
#define KPROF_REPORT_PPROF_HPP

// The output "pprof": the call tree as a profile of Go's pprof, with flame graphs, differences and
// parameters as labels (docs/files.md). Including it makes KPROF="pprof(path=run.pb.gz)" and
// kprof::write(profile, "pprof", ...) known in this binary.
//
// A sample is a node of the call tree with its own time, calls and work, or a kernel below it with
// its time on the device. Its labels are the fields of the parameters, the type and the thread. Of
// very deep stacks the middle is left out.

#include <kprof/build_options.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/stacks/deep_stacks.hpp>
#include <kprof/report/stacks/frame_names.hpp>
#include <kprof/report/stacks/node_costs.hpp>
#include <kprof/report/stacks/protobuf.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Fields of perftools.profiles.Profile and what is in it, by profile.proto of pprof.
namespace pprof_field {
inline constexpr std::uint32_t sample_type = 1, sample = 2, location = 4, function = 5,
                               string_table = 6, time_nanos = 9, duration_nanos = 10,
                               default_sample_type = 14;
}  // namespace pprof_field

class pprof_writer {
 public:
  explicit pprof_writer(const profile& p) : p_(p), costs_(p), frames_(p), works_(p.nodes.size()) {
    text_number("");  // the first text must be this one
  }

  /// What is written goes out part by part, samples first; pprof takes any order.
  void put(text_sink& out) {
    std::vector<const device_work*> unknown;  // whose launch is not known
    for (const device_work& w : p_.device.work)
      (w.scope < works_.size() ? works_[w.scope] : unknown).push_back(&w);
    walk(
        p_,
        [&](std::uint32_t node) {
          put_node(node);
          for (const device_work* w : works_[node]) put_work(*w);
          flush(out);
        },
        [&](std::uint32_t node) {
          if (p_.nodes[node].kind != scope_kind::root) stack_.pop_back();
        });
    for (const device_work* w : unknown) put_work(*w);
    flush(out);
    for (const auto& [name, unit] : {std::pair{"calls", "count"},
                                     {"time", "nanoseconds"},
                                     {"device", "nanoseconds"},
                                     {"flops", "count"},
                                     {"bytes", "bytes"}}) {
      proto_message type;
      type.number(1, text_number(name));
      type.number(2, text_number(unit));
      all_.message(pprof_field::sample_type, type);
    }
    all_.number(pprof_field::default_sample_type, text_number("time"));
    if (p_.clock.start_realtime_ns < std::uint64_t{1} << 63U)
      all_.number(pprof_field::time_nanos, p_.clock.start_realtime_ns);
    all_.number(pprof_field::duration_nanos, whole_cost(p_.wall_ns));
    flush(out);
    for (const std::string& text : texts_) all_.bytes(pprof_field::string_table, text);
    flush(out);
  }

 private:
  void flush(text_sink& out) {
    out.put(all_.text());
    all_ = {};
  }

  void put_node(std::size_t node) {
    const scope_node& n = p_.nodes[node];
    if (n.kind == scope_kind::root) return;  // no frame but a label
    stack_.push_back(location(frame_name(p_, node, false), n.file, n.line));
    const node_cost& own = costs_.own(node);
    const std::uint64_t calls = n.calls + n.replays;
    if (calls != 0 || own.ns != 0 || own.flops != 0 || own.bytes != 0)
      put_sample(node, 0, {calls, own.ns, 0, own.flops, own.bytes});
  }
  void put_work(const device_work& w) {
    const std::uint64_t ns = whole_cost(w.total_ns);
    if (ns == 0) return;
    put_sample(w.scope, location(frames_.name(w), "", 0), {0, 0, ns, 0, 0});
  }

  /// `below`: the location of a kernel under the node; 0: none.
  void put_sample(std::size_t node, std::uint64_t below, const std::vector<std::uint64_t>& values) {
    proto_message sample;
    sample.numbers(1, path_down_to(below));
    sample.numbers(2, values);
    if (node < p_.nodes.size()) add_labels(sample, p_.nodes[node]);
    all_.message(pprof_field::sample, sample);
  }
  /// Leaf first.
  std::vector<std::uint64_t> path_down_to(std::uint64_t below) {
    std::vector<std::uint64_t> path;
    if (below != 0) path.push_back(below);
    const std::size_t frames = path.size() + stack_.size();
    const bool is_cut = frames > most_frames;
    const std::size_t inner = is_cut ? frames_at_an_end - path.size() : stack_.size();
    path.insert(path.end(), stack_.rbegin(), stack_.rbegin() + static_cast<std::ptrdiff_t>(inner));
    if (!is_cut) return path;
    path.push_back(location(left_out_frame(frames), "", 0));
    path.insert(path.end(), stack_.rend() - std::ptrdiff_t{frames_at_an_end}, stack_.rend());
    return path;
  }
  void add_labels(proto_message& sample, const scope_node& n) {
    add_label(sample, "thread", thread_frame(p_, n.thread));
    if (n.kind != scope_kind::op) return;
    if (n.work.type != dtype::unknown) add_label(sample, "dtype", dtype_name(n.work.type));
    if (n.work.pass != pass_kind::unknown) add_label(sample, "pass", pass_name(n.work.pass));
    const operator_info* const op = p_.operator_of(n);
    if (op == nullptr || n.merged) return;
    for_each_parameter(*op, n.values,
                       [&](std::string_view path, const operator_field&, const parameter_value& v) {
                         add_label(sample, path, frame_text(parameter_text(v)));
                       });
  }
  void add_label(proto_message& sample, std::string_view key, std::string_view value) {
    proto_message label;
    label.number(1, text_number(frame_text(key)));
    label.number(2, text_number(value));
    sample.message(3, label);
  }

  std::uint64_t text_number(std::string_view text) {
    const std::uint32_t number = text_numbers_.of(
        std::hash<std::string_view>{}(text), [&](std::uint32_t i) { return texts_[i] == text; });
    if (number == texts_.size()) texts_.emplace_back(text);
    return number;
  }
  /// A function with one line, which is also its location's number.
  std::uint64_t location(const std::string& name, std::string_view file, std::uint32_t line) {
    const place wanted{text_number(name), file.empty() ? 0 : text_number(frame_text(file)), line};
    const std::uint32_t number =
        place_numbers_.of((wanted.name * 0x9E3779B97F4A7C15U ^ wanted.file) * 0x9E3779B97F4A7C15U ^
                              wanted.line << 32U,
                          [&](std::uint32_t i) { return places_[i] == wanted; });
    if (number < places_.size()) return number + 1U;
    places_.push_back(wanted);
    proto_message function, at, line_of;
    function.number(1, places_.size());
    function.number(2, wanted.name);
    function.number(3, wanted.name);
    if (wanted.file != 0) function.number(4, wanted.file);
    all_.message(pprof_field::function, function);
    line_of.number(1, places_.size());
    line_of.number(2, line);
    at.number(1, places_.size());
    at.message(4, line_of);
    all_.message(pprof_field::location, at);
    return places_.size();
  }

  struct place {
    std::uint64_t name = 0, file = 0, line = 0;
    friend bool operator==(const place&, const place&) = default;
  };

  const profile& p_;
  node_costs costs_;
  work_frames frames_;
  std::vector<std::vector<const device_work*>> works_;  // by node
  std::vector<std::uint64_t> stack_;                    // locations, from the outermost frame
  proto_message all_;                                   // what has not been put yet
  numbering text_numbers_{64}, place_numbers_{64};
  std::vector<std::string> texts_;
  std::vector<place> places_;
};

KPROF_DETAIL_LOCAL inline status write_pprof(const profile& run, const option_values& values,
                                             text_sink& out) {
  return put_packed_by_name(values.text("path"), out,
                            [&](text_sink& sink) { pprof_writer(run).put(sink); });
}

inline constexpr output pprof_output{
    "pprof", "the call tree for go tool pprof", {}, &write_pprof, nullptr, "pb"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration pprof_registered{pprof_output};

}  // namespace detail
KPROF_DETAIL_END

#endif

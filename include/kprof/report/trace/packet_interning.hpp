// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_PACKET_INTERNING_HPP
#define KPROF_REPORT_TRACE_PACKET_INTERNING_HPP

// Texts of a trace of packets, each of which is written once and has a number then, and arguments
// of slices made of such numbers. Included by trace.hpp. Memory is bounded: when the texts are too
// many, the writer forgets them and tells the reader to do so.

#include <kprof/build_options.hpp>
#include <kprof/report/stacks/protobuf.hpp>
#include <kprof/report/trace/json_text.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Numbers in Perfetto's InternedData.
namespace interned {
inline constexpr std::uint32_t category = 1, event_name = 2, argument_name = 3, argument_text = 29,
                               graphics_context = 23, gpu_specification = 24;
}

class interned_texts {
 public:
  /// `most`: bytes that the texts may take.
  explicit interned_texts(std::size_t most) : most_(most) {}

  /// The number of a text of that field.
  std::uint64_t number(std::uint32_t field, std::string_view text) {
    plain_.clear();
    append_trace_text(plain_, text);
    numbers& of = of_field(field);
    const auto [at, is_new] = of.try_emplace(plain_, of.size() + 1);
    if (is_new) {
      taken_ += plain_.size() + per_text;
      entry_.clear();
      entry_.number(1, at->second);
      entry_.bytes(2, plain_);
      not_written_.message(field, entry_);
    }
    return at->second;
  }
  /// The number of a render stage of Perfetto: the name of what a device did, and as its
  /// description the category.
  std::uint64_t stage(std::string_view category, std::string_view name) {
    plain_ = category;
    plain_ += ' ';
    const std::size_t begin = plain_.size();
    append_trace_text(plain_, name);
    const auto [at, is_new] = stages_.try_emplace(plain_, first_stage + stages_.size());
    if (is_new) {
      taken_ += plain_.size() + per_text;
      constexpr std::uint64_t other = 0, compute = 2;
      entry_.clear();
      entry_.number(1, at->second);
      entry_.bytes(2, std::string_view{plain_}.substr(begin));
      entry_.bytes(3, category);
      entry_.number(4, category == "kernel" ? compute : other);
      not_written_.message(interned::gpu_specification, entry_);
    }
    return at->second;
  }
  /// A hardware queue of Perfetto, which is a row of a stream, has the row's number. Perfetto takes
  /// another number for another row, so that it stays when the texts are forgotten.
  std::uint64_t queue(std::uint64_t number, std::string_view name) {
    if (told_queues_.insert(number).second) {
      plain_.clear();
      append_trace_text(plain_, name);
      taken_ += plain_.size() + per_text;
      entry_.clear();
      entry_.number(1, number);
      entry_.bytes(2, plain_);
      not_written_.message(interned::gpu_specification, entry_);
    }
    return number;
  }
  /// The number of the program's CUDA context.
  std::uint64_t context(std::uint32_t pid) {
    constexpr std::uint64_t number = 1, cuda = 4;
    if (!std::exchange(has_context_, true)) {
      entry_.clear();
      entry_.number(1, number);
      entry_.number(2, pid);
      entry_.number(3, cuda);
      not_written_.message(interned::graphics_context, entry_);
    }
    return number;
  }
  bool is_full() const noexcept { return taken_ >= most_; }
  void forget() {
    for (numbers& of : fields_) of.clear();
    stages_.clear();
    told_queues_.clear();
    has_context_ = false;
    not_written_.clear();
    taken_ = 0;
  }

  /// An InternedData with the texts that no packet has had yet.
  const proto_message& not_written() const noexcept { return not_written_; }
  void were_written() noexcept { not_written_.clear(); }

 private:
  using numbers = std::unordered_map<std::string, std::uint64_t>;
  static constexpr std::size_t per_text = 96;  // of the table, about
  /// Stages and queues share their numbers; no track has one of these.
  static constexpr std::uint64_t first_stage = std::uint64_t{1} << 32U;

  numbers& of_field(std::uint32_t field) noexcept {
    return fields_[field == interned::argument_text ? 0 : field];
  }

  std::size_t most_, taken_ = 0;
  numbers fields_[4], stages_;
  std::unordered_set<std::uint64_t> told_queues_;
  bool has_context_ = false;
  proto_message not_written_, entry_;
  std::string plain_;
};

/// Arguments of a slice: the field debug_annotations of Perfetto's TrackEvent. The names of its
/// functions are those of json_members.
class annotation_list {
 public:
  annotation_list(proto_message& out, interned_texts& texts) noexcept : out_(out), texts_(texts) {}

  void text(std::string_view name, std::string_view value) {
    begin(name);
    one_.number(17, texts_.number(interned::argument_text, value));
    put();
  }
  /// Above 2^63 as a floating number, which Perfetto would take for negative.
  void integer(std::string_view name, std::uint64_t value) {
    if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return number(name, static_cast<double>(value));
    begin(name);
    one_.number(4, value);
    put();
  }
  /// An amount whole where it can be.
  void amount(std::string_view name, double value) {
    if (value >= 0 && value < 9.2e18) integer(name, static_cast<std::uint64_t>(value));
    else number(name, std::isfinite(value) ? value : 0);
  }
  /// Nothing where it is not finite.
  void number(std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    begin(name);
    one_.real(5, value);
    put();
  }
  void rounded(std::string_view name, double value) { number(name, value); }
  void three(std::string_view name, const std::uint32_t (&of)[3]) {
    begin(name);
    for (const std::uint32_t value : of) {
      element_.clear();
      element_.number(4, value);
      one_.message(12, element_);
    }
    put();
  }

 private:
  void begin(std::string_view name) {
    one_.clear();
    one_.number(1, texts_.number(interned::argument_name, name));
  }
  void put() { out_.message(4, one_); }

  proto_message& out_;
  interned_texts& texts_;
  proto_message one_, element_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

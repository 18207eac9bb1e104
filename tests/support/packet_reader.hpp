// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_PACKET_READER_HPP
#define KPROF_TESTS_PACKET_READER_HPP

// Reads a trace of Perfetto's packets back as Perfetto does, and throws where a packet is not what
// it should be: the wire format, texts without a number, ends without a begin, tracks not told of,
// calls of render stages that are not there.

#include "trace_reader.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kprof_test {

[[noreturn]] inline void refuse(const std::string& why) { throw std::runtime_error(why); }

/// A message of Protocol Buffers: its fields in their order.
struct wire_message {
  struct field {
    std::uint64_t number = 0, value = 0;
    unsigned type = 0;
    std::string_view text{};
  };
  std::vector<field> fields;

  explicit wire_message(std::string_view from) {
    while (!from.empty()) {
      const std::uint64_t key = varint(from);
      field f{.number = key >> 3U, .type = static_cast<unsigned>(key & 7U)};
      if (f.type == 0) {
        f.value = varint(from);
      } else if (f.type == 1) {
        for (unsigned i = 0; i < 8; ++i)
          f.value |= std::uint64_t{static_cast<unsigned char>(take(from, 1)[0])} << (8 * i);
      } else if (f.type == 2) {
        f.text = take(from, varint(from));
      } else {
        refuse("wire type " + std::to_string(f.type));
      }
      fields.push_back(f);
    }
  }
  bool has(std::uint64_t number) const { return find(number) != nullptr; }
  std::uint64_t number(std::uint64_t of, std::uint64_t otherwise = 0) const {
    const field* const f = find(of);
    return f == nullptr ? otherwise : f->value;
  }
  std::string text(std::uint64_t of) const {
    const field* const f = find(of);
    return f == nullptr ? std::string{} : std::string{f->text};
  }
  std::vector<wire_message> messages(std::uint64_t of) const {
    std::vector<wire_message> out;
    for (const field& f : fields)
      if (f.number == of) out.emplace_back(f.text);
    return out;
  }

 private:
  static std::string_view take(std::string_view& from, std::uint64_t size) {
    if (size > from.size()) refuse("a field is longer than its message");
    const std::string_view out = from.substr(0, static_cast<std::size_t>(size));
    from.remove_prefix(static_cast<std::size_t>(size));
    return out;
  }
  static std::uint64_t varint(std::string_view& from) {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(from, 1)[0]);
      out |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return out;
    }
    refuse("a number of more than 64 bits");
  }
  const field* find(std::uint64_t number) const {
    const auto at = std::find_if(fields.begin(), fields.end(),
                                 [&](const field& f) { return f.number == number; });
    return at == fields.end() ? nullptr : &*at;
  }
};

struct packet_track {
  std::string name;
  std::uint64_t parent = 0;
  bool is_process = false, is_thread = false, is_counter = false, is_queue = false;
};

struct packet_slice {
  std::uint64_t track = 0;
  std::string category, name;
  std::int64_t begin = 0, end = -1;
  std::size_t depth = 0;
  /// Numbers as they are written by to_string(); of a list "[4,1,1]".
  std::map<std::string, std::string> args;
  std::int64_t gpu = -1;    // of a render stage
  std::uint32_t pid = 0;    // of a render stage's context
  std::uint64_t event = 0;  // its number
};

struct packet_flow {
  std::size_t from = 0, to = 0;  // slices
};

struct read_packets {
  std::map<std::uint64_t, packet_track> tracks;
  std::vector<packet_slice> slices;
  std::vector<packet_flow> flows;
  std::vector<counter_point> points;  // pid is the parent's track
  std::map<std::uint64_t, std::uint64_t> clocks;
  std::map<std::string, std::string> missing;  // what the event of the trace itself says
  std::size_t forgotten = 0;                   // how often the texts were
  bool explains_correlation = false;           // for readers that do not know the field

  explicit read_packets(std::string_view text) {
    const wire_message all(text);
    for (const wire_message::field& f : all.fields) {
      if (f.number != 1 || f.type != 2) refuse("not a packet");
      read(wire_message(f.text));
    }
    replay();
  }
  std::vector<packet_slice> called(const std::string& name) const {
    std::vector<packet_slice> out;
    for (const packet_slice& s : slices)
      if (s.name == name) out.push_back(s);
    return out;
  }
  std::vector<packet_slice> of(const std::string& category) const {
    std::vector<packet_slice> out;
    for (const packet_slice& s : slices)
      if (s.category == category) out.push_back(s);
    return out;
  }
  const std::string& row_of(const packet_slice& s) const { return tracks.at(s.track).name; }

 private:
  struct event {
    std::int64_t at = 0;
    std::uint64_t type = 0, track = 0;
    std::string category, name;
    std::map<std::string, std::string> args;
    std::vector<std::uint64_t> flows, launched;
    double value = 0;
  };
  using numbered = std::map<std::uint64_t, std::string>;

  void read(const wire_message& packet) {
    if (packet.number(10) != 1) refuse("a packet of no sequence");
    const std::uint64_t flags = packet.number(13);
    if ((flags & 1U) != 0) texts_.clear(), ++forgotten, knows_ = true;
    if (!knows_) refuse("the first packet does not say that texts are forgotten");
    for (const wire_message& data : packet.messages(12))
      for (const wire_message::field& f : data.fields) add_text(f);
    for (const wire_message& snapshot : packet.messages(6))
      for (const wire_message& clock : snapshot.messages(1))
        clocks[clock.number(1)] = clock.number(2);
    for (const wire_message& track : packet.messages(60)) add_track(track);
    for (const wire_message& e : packet.messages(11)) {
      if (!packet.has(8)) refuse("an event without a time");
      uses_texts_ = false;
      add_event(static_cast<std::int64_t>(packet.number(8)), e);
      if (uses_texts_ && (flags & 2U) == 0) refuse("an event does not say that it uses texts");
    }
    for (const wire_message& stage : packet.messages(53)) {
      if (!packet.has(8)) refuse("a stage without a time");
      if ((flags & 2U) == 0) refuse("a stage does not say that it uses texts");
      add_stage(static_cast<std::int64_t>(packet.number(8)), stage);
    }
    for (const wire_message& set : packet.messages(72))
      for (const wire_message& files : set.messages(1))
        for (const wire_message& file : files.messages(1))
          for (const wire_message& of : file.messages(4))
            for (const wire_message& extension : of.messages(6))
              explains_correlation |=
                  extension.number(3) == 3000 && extension.text(2) == ".perfetto.protos.TrackEvent";
  }
  void add_text(const wire_message::field& f) {
    constexpr std::uint64_t context = 23, specification = 24;
    const wire_message entry(f.text);
    const std::string text = f.number == context ? std::to_string(entry.number(2)) : entry.text(2);
    if (!is_plain_text(text)) refuse("not a plain text: " + text);
    if (!texts_[f.number].emplace(entry.number(1), text).second) refuse("a number has two texts");
    if (f.number == specification) descriptions_[entry.number(1)] = entry.text(3);
  }
  void add_stage(std::int64_t at, const wire_message& stage) {
    packet_slice made;
    made.track = stage.number(13);
    const packet_track queue{.name = text_of(24, made.track), .is_queue = true};
    const packet_track& known = tracks.emplace(made.track, queue).first->second;
    if (!known.is_queue || known.name != queue.name)
      refuse("a queue has the number of another track");
    made.name = text_of(24, stage.number(14));
    made.category = descriptions_.at(stage.number(14));
    made.begin = at;
    made.end = at + static_cast<std::int64_t>(stage.number(2));
    made.gpu = static_cast<std::int64_t>(stage.number(11));
    made.pid = static_cast<std::uint32_t>(std::stoul(text_of(23, stage.number(5))));
    made.event = stage.number(1);
    for (const wire_message& one : stage.messages(6))
      if (!made.args.emplace(one.text(1), one.text(2)).second)
        refuse("two arguments called " + one.text(1));
    stages_.push_back(made);
  }
  const std::string& text_of(std::uint64_t field, std::uint64_t number) {
    uses_texts_ = true;
    const numbered& of = texts_[field];
    if (of.count(number) == 0) refuse("a text is used before it is told");
    return of.at(number);
  }

  void add_track(const wire_message& t) {
    packet_track made{t.text(2), t.number(5), t.has(3), t.has(4), t.has(8)};
    if (made.is_process) made.name = t.messages(3)[0].text(6);
    if (made.is_thread) made.name = t.messages(4)[0].text(5);
    if (!is_plain_text(made.name)) refuse("not a plain text: " + made.name);
    if (made.parent != 0 && tracks.count(made.parent) == 0) refuse("a track before its parent");
    if (!tracks.emplace(t.number(1), made).second) refuse("two tracks of one number");
  }
  void add_event(std::int64_t at, const wire_message& e) {
    event made;
    made.at = at;
    made.type = e.number(9);
    made.track = e.number(11);
    if (tracks.count(made.track) == 0) refuse("an event before its track");
    if (e.has(3)) made.category = text_of(1, e.number(3));
    made.name = e.has(10) ? text_of(2, e.number(10)) : e.text(23);
    made.value =
        e.has(44) ? std::bit_cast<double>(e.number(44)) : static_cast<double>(e.number(30));
    for (const wire_message& a : e.messages(4)) {
      const std::string& name = text_of(3, a.number(1));
      if (!made.args.emplace(name, value_of(a)).second) refuse("two arguments called " + name);
    }
    for (const wire_message::field& f : e.fields)
      if (f.number == 47) made.flows.push_back(f.value);
    for (const wire_message& correlation : e.messages(3000))
      for (const wire_message::field& f : correlation.fields) made.launched.push_back(f.value);
    events_.push_back(std::move(made));
  }
  std::string value_of(const wire_message& a) {
    if (a.has(17)) return text_of(29, a.number(17));
    if (a.has(4)) return std::to_string(static_cast<std::int64_t>(a.number(4)));
    if (a.has(5)) return std::to_string(std::bit_cast<double>(a.number(5)));
    std::string list;
    for (const wire_message& one : a.messages(12))
      list += (list.empty() ? "" : ",") + value_of(one);
    if (list.empty()) refuse("an argument without a value");
    return '[' + list + ']';
  }

  /// In the order of time, as Perfetto sorts: what is of one time in the order of the file.
  void replay() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const event& a, const event& b) { return a.at < b.at; });
    std::map<std::uint64_t, std::vector<std::size_t>> open;
    std::map<std::uint64_t, std::size_t> latest;
    std::vector<std::pair<std::uint64_t, std::size_t>> launches;
    for (event& e : events_) {
      std::vector<std::size_t>& row = open[e.track];
      std::size_t slice = 0;
      if (e.type == 1) {
        slice = slices.size();
        slices.push_back({e.track, e.category, e.name, e.at, -1, row.size(), e.args});
        row.push_back(slice);
      } else if (e.type == 2) {
        if (row.empty()) refuse("an end without a begin");
        slice = row.back();
        slices[slice].end = e.at;
        row.pop_back();
      } else if (e.type == 3) {
        missing.insert(e.args.begin(), e.args.end());
      } else if (e.type == 4) {
        const packet_track& track = tracks.at(e.track);
        if (!track.is_counter) refuse("a point of what is no curve");
        points.push_back({track.name, static_cast<std::int64_t>(track.parent), e.at, e.value});
      } else {
        refuse("an event of no type");
      }
      for (const std::uint64_t flow : e.flows) {
        const auto [at, is_first] = latest.try_emplace(flow, slice);
        if (!is_first) flows.push_back({std::exchange(at->second, slice), slice});
      }
      for (const std::uint64_t stage : e.launched) launches.emplace_back(stage, slice);
    }
    std::map<std::uint64_t, std::size_t> by_event;
    for (const packet_slice& s : stages_) {
      by_event[s.event] = slices.size();
      slices.push_back(s);
    }
    for (const auto& [stage, slice] : launches) {
      if (by_event.count(stage) == 0) refuse("a call launched a stage that is not there");
      flows.push_back({slice, by_event.at(stage)});
    }
    for (const auto& [track, row] : open)
      if (!row.empty()) refuse("a begin without an end on " + tracks.at(track).name);
  }

  std::map<std::uint64_t, numbered> texts_;
  numbered descriptions_;
  std::vector<packet_slice> stages_;
  std::vector<event> events_;
  bool knows_ = false, uses_texts_ = false;
};

}  // namespace kprof_test

#endif

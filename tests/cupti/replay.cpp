// SPDX-License-Identifier: MIT

// Attributes a transcript anew (see kprof/attribute/transcript.hpp) and prints what comes out,
// a line a row: `replay FILE`. So CI sees what a GPU did on a machine that has none.

#include "find.hpp"

#include <kprof/attribute/build.hpp>
#include <kprof/declare/fixed_string.hpp>
#include <kprof/op.hpp>
#include <kprof/record/scope_functions.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace kprof::detail;

namespace {

/// Any operator of the transcript, by what it was called with its parameters.
struct Scope {
  kprof::fixed_string<240> is{};
  constexpr std::uint64_t flops() const { return 0; }
};

using scopes = scope_functions<kprof::detail::system_clock, false>;
site op_site{0, 1, "transcript", &op_desc_of<Scope>, &this_module};
site region_site{0, 2, "transcript", nullptr, &this_module};

struct path {
  std::uint32_t parent = 0;
  bool op = false;
  std::string name;
};

class replay {
 public:
  replay() {
    own_recorder = &threads_;
    threads_.set_memory(memory);
    joined_.restart(0, memory);
  }
  /// Forgets all lines.
  void restart() {
    threads_.restart(0);
    joined_.restart(0, memory);
    paths_.clear();
  }

  bool line(const std::string& text) {
    std::istringstream in(text);
    std::string what;
    in >> what;
    if (what == "path") {
      std::uint32_t number = 0;
      path p;
      std::string kind;
      in >> number >> p.parent >> kind;
      p.op = kind == "op";
      in.get();
      std::getline(in, p.name);
      // A path comes after the one around it, and once: else it could lie in itself.
      if (p.parent != 0 && !paths_.contains(p.parent)) return false;
      if (!paths_.emplace(number, p).second) return false;
    } else if (what == "launch") {
      launch(in);
    } else if (what == "node") {
      std::uint64_t node = 0;
      std::uint32_t where = 0, scopes_started_here = 0;
      in >> node >> where >> scopes_started_here;
      std::uint32_t captured = 0;
      inside(where, [&] { captured = scopes::api().capture(); });
      joined_.graphs().made(node, {captured, scopes_started_here});
    } else if (what == "cloned") {
      std::uint64_t node = 0, original = 0;
      in >> node >> original;
      joined_.graphs().copied(node, original);
    } else if (what == "updated") {
      std::uint64_t node = 0, original = 0, when = 0;
      in >> node >> original >> when;
      joined_.graphs().updated(node, original, when);
    } else if (what == "set") {
      std::uint64_t node = 0, when = 0;
      std::uint32_t where = 0, path = 0;
      in >> node >> where >> when;
      inside(where, [&] { path = scopes::api().capture(); });
      joined_.graphs().set(node, path, when);
    } else if (what == "device") {
      describe(in);
    } else if (what == "dropped") {
      std::uint64_t n = 0;
      in >> n;
      joined_.count_loss(loss::records, n);
    } else {
      return work(what, in);
    }
    return !in.fail();
  }

  kprof::profile attributed() {
    take_launches();
    joined_.retry_pending();
    joined_.count_pending_as_unknown();
    timebase time;
    time.reset(calibrate<kprof::detail::system_clock>());
    return build_profile(threads_, &joined_, {time, 0, single_scopes::none});
  }

  void print() {
    const kprof::profile p = attributed();
    std::vector<std::string> lines;
    for (const auto& w : p.device.work) lines.push_back(row(p, w));
    for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
      if (p.nodes[i].replays != 0)
        lines.push_back(path_of(p, i) + ": " + std::to_string(p.nodes[i].replays) + " replays");
    std::sort(lines.begin(), lines.end());
    for (const std::string& l : lines) std::printf("%s\n", l.c_str());
    for (const auto& d : p.device.devices)
      std::printf("device %u %s: busy %.0f of %.0f ns\n", d.id, d.name.c_str(), d.busy_ns,
                  d.sum_ns);
    const auto& c = p.device.complete;
    std::printf(
        "%llu launches: %llu attributed, %llu outside, %llu open; %llu records: %llu unknown, %llu "
        "untimed, %llu ignored, %llu odd, %llu of "
        "foreign graphs; %llu dropped; %llu synchronisations\n",
        number(c.launches), number(c.attributed), number(c.outside), number(c.open),
        number(c.records), number(c.unknown), number(c.untimed), number(c.ignored), number(c.odd),
        number(c.foreign_graphs), number(c.dropped), number(c.synchronizations));
  }

 private:
#ifdef KPROF_LIBFUZZER
  // All of it is looked through when a recording begins, which it does with every input.
  static constexpr std::size_t memory = std::size_t{1} << 20U;
#else
  static constexpr std::size_t memory = std::size_t{64} << 20U;
#endif

  static unsigned long long number(std::uint64_t n) { return n; }

  static std::string row(const kprof::profile& p, const kprof::device_work& w) {
    char numbers[200];
    std::snprintf(
        numbers, sizeof numbers,
        " %llu runs, %llu untimed, %.0f ns (%.0f to %.0f), gap %.0f ns over %llu, %llu bytes",
        number(w.calls), number(w.untimed), w.total_ns, w.min_ns, w.max_ns, w.gap_ns,
        number(w.gaps), number(w.bytes));
    const char* const task = w.task == kprof::device_task::kernel ? ""
                             : w.task == kprof::device_task::copy ? "memcpy"
                                                                  : "memset";
    return (w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope)) + ": " + task +
           (w.kernel == kprof::device_work::none ? "" : p.device.kernels[w.kernel]) + numbers;
  }

  void inside(std::uint32_t where, const std::function<void()>& what) {
    if (where == 0) return what();
    const path& p = paths_.at(where);
    inside(p.parent, [&] {
      scope_token t = 0;
      if (p.op) {
        const Scope params{kprof::fixed_string<240>{p.name.substr(0, 239)}};
        t = scopes::api().begin_any(op_site, &params, sizeof params);
      } else {
        t = scopes::api().begin_any(region_site, p.name.data(),
                                    static_cast<std::uint32_t>(p.name.size()));
      }
      what();
      scopes::api().end(t);
    });
  }

  void launch(std::istringstream& in) {
    std::uint32_t thread = 0;
    std::uint64_t when = 0;
    std::string ids, where, what;
    in >> thread >> when >> ids >> where;
    if (!(in >> what)) in.clear();  // transcripts of earlier versions do not say
    std::vector<std::uint32_t> all;
    std::istringstream list(ids);
    for (std::string id; std::getline(list, id, ',');)
      all.push_back(static_cast<std::uint32_t>(std::stoul(id)));
    const bool ignored = where == "ignored";
    inside(ignored ? 0 : static_cast<std::uint32_t>(std::stoul(where)), [&] {
      threads_.note_launch(all.data(), static_cast<std::uint32_t>(all.size()), when,
                           ignored              ? record_kind::ignored_launch
                           : what == "graph"    ? record_kind::graph_launch
                           : what == "transfer" ? record_kind::transfer_launch
                                                : record_kind::kernel_launch);
    });
  }

  void describe(std::istringstream& in) {
    device_description d;
    std::string compute, name;
    in >> d.id >> compute >> d.multiprocessors >> d.memory_bytes >> d.memory_bytes_per_s >>
        d.clock_hz;
    in.get();
    std::getline(in, name);
    d.compute_major = static_cast<std::uint32_t>(std::stoul(compute));
    d.compute_minor = static_cast<std::uint32_t>(std::stoul(compute.substr(compute.find('.') + 1)));
    d.name = name.c_str();
    joined_.describe(d);
  }

  static void triple(std::istringstream& in, std::uint32_t (&out)[3]) {
    char comma = 0;
    in >> out[0] >> comma >> out[1] >> comma >> out[2];
  }
  static void launch(std::istringstream& in, activity& a) {
    std::uint32_t cluster[3] = {}, cooperative = 0;
    triple(in, cluster);
    in >> cooperative;
    for (int i = 0; i < 3; ++i) a.cluster[i] = static_cast<std::uint8_t>(cluster[i]);
    a.cooperative = cooperative != 0;
  }
  bool work(const std::string& what, std::istringstream& in) {
    activity a;
    std::string name;
    if (what == "sync") a.kind = activity_kind::synchronization;
    else if (what == "overhead") a.kind = activity_kind::overhead;
    else if (what == "kernel") a.kind = activity_kind::kernel;
    else if (what == "memcpy") a.kind = activity_kind::copy;
    else if (what == "memset") a.kind = activity_kind::set;
    else if (what != "odd") return false;
    if (a.kind <= activity_kind::set) {
      in >> a.correlation >> a.start >> a.end >> a.device >> a.stream >> a.graph_node;
      if (a.kind == activity_kind::kernel) {
        triple(in, a.grid);
        triple(in, a.block);
        in >> a.static_shared >> a.dynamic_shared >> a.registers >> name;
        if (in >> a.multiprocessor_shared) launch(in, a);
        else if (in.eof() && !name.empty()) in.clear();  // older, or there was nothing to tell
        a.name = name.c_str();
      } else {
        unsigned direction = 0, from = 0, to = 0;
        in >> a.bytes;
        if (a.kind == activity_kind::copy) in >> direction >> from;
        in >> to;
        a.direction = static_cast<std::uint8_t>(direction);
        a.from = static_cast<std::uint8_t>(from);
        a.to = static_cast<std::uint8_t>(to);
      }
    } else if (a.kind != activity_kind::odd) {
      in >> a.start >> a.end;
    }
    take_launches();
    joined_.take(&a, 1);
    joined_.retry_pending();
    return !in.fail();
  }
  void take_launches() { joined_.take_launches({}); }

  recorder& threads_ = *new recorder;  // never freed: this thread is in it
  attribution& joined_ = *new attribution(threads_, threads_.budget());
  std::map<std::uint32_t, path> paths_;
};

}  // namespace

#ifndef KPROF_LIBFUZZER
int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  std::string line;
  if (!std::getline(file, line) || line != "kprof transcript 1") {
    std::fprintf(stderr, "usage: %s FILE, a transcript\n", argv[0]);
    return 2;
  }
  static replay all;
  const auto is_right = [&] {
    try {
      return all.line(line);
    } catch (const std::logic_error&) {  // no number, or an id of no line before
      return false;
    }
  };
  for (int number = 2; std::getline(file, line); ++number)
    if (!is_right()) {
      std::fprintf(stderr, "line %d is none of a transcript: %s\n", number, line.c_str());
      return 1;
    }
  all.print();
  return 0;
}
#endif

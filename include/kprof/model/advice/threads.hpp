// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_THREADS_HPP
#define KPROF_MODEL_ADVICE_THREADS_HPP

// Rules of advice about how a program's threads use the CPUs. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/unguarded_cpu.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// H1. One thread works, on a machine of several CPUs.
[[gnu::cold]] inline bool one_thread(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const std::uint32_t cpus = p.machine.cpu.threads;
  if (cpus < 2) return false;
  double busiest = 0, all = 0;
  for (const thread_info& t : p.threads) {
    busiest = std::max(busiest, t.in_scopes_ns);
    all += not_negative(t.in_scopes_ns);
  }
  if (!(busiest > 0) || all + unguarded_cpu_ns(p) > 1.2 * busiest) return false;
  constexpr double worth_sharing_ns = 20'000;  // waking threads takes microseconds
  struct share {
    std::string_view name;
    std::uint32_t node;
    double ns = 0, gain_ns = 0;
  };
  std::vector<share> found;  // by operator
  for (const operator_row& row : f.rows) {
    const bool on_one = !row.on_device && row.thread != scope_node::none && !row.threads.known() &&
                        is_its_own(f, row) && row.mean_ns.known() &&
                        row.mean_ns.value >= worth_sharing_ns;
    const double steady = row.self_ns - warm_up_ns(row);
    if (!on_one || !(steady > 0) || is_one_of(f.several_threads, row.name)) continue;
    const double rise = rise_of_roof(p, row);
    if (!(rise > 1)) continue;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const share& s) { return s.name == row.name; });
    share& s = known != found.end() ? *known : found.emplace_back(share{row.name, row.node});
    s.ns += steady;
    s.gain_ns += steady * (1 - 1 / rise);
  }
  std::erase_if(found, [&](const share& s) { return s.ns < 0.1 * f.window_ns; });
  if (found.empty()) return false;
  out.gain_ns = 0;
  out.node = found[0].node;
  for (std::size_t k = 0; k < found.size(); ++k) {
    out.gain_ns += found[k].gain_ns;
    out.time_ns += found[k].ns;
    if (k < 3)
      out.where.append(k == 0                            ? ""
                       : k + 1 == found.size() || k == 2 ? " and "
                                                         : ", ")
          .append(k == 2 && found.size() > 3 ? "others" : found[k].name);
  }
  out.fact = sentence(
      found.size() == 1 ? "runs on one of # CPUs for # of #" : "run on one of # CPUs for # of #",
      {as_number(cpus), as_share(out.time_ns / f.window_ns), as_text(f.whole)});
  out.action =
      "Share the work of a call among threads, and mark their parts with KPROF_PART so that kprof "
      "sees them";
  return true;
}

/// Time in which a thread is in scopes that keep it off the CPU, as where it joins others: one that
/// has to share a CPU gets more of it.
[[gnu::cold]] inline double waiting_ns(const profile& p) {
  constexpr double least = 0.95;
  double ns = 0;
  std::vector<bool> waits(p.nodes.size());  // also those below one that does
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const std::uint32_t parent = parent_of(p, i);
    const bool is_inside = parent != scope_node::none && waits[parent];
    const bool is_known = n.measured_ns > 0 && n.off_cpu_ns >= least * n.measured_ns;
    waits[i] = is_inside || is_known;
    if (is_known && !is_inside) ns += n.off_cpu_ns;
  }
  return ns;
}

/// H12. Threads without guards do work that no row tells of.
[[gnu::cold]] inline bool unguarded_threads(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const double ns = unguarded_cpu_ns(p);
  // The driver has threads of its own.
  if (has_device_work(p) || !(ns > 0) || ns < 0.2 * p.cpu_ns) return false;
  out.where = "The program";
  out.time_ns = ns;
  out.fact = sentence("spends # of its CPU time, #, in threads without guards",
                      {as_share(ns / p.cpu_ns), as_time(ns)});
  out.action =
      "Guard what they do: KPROF_PART where they share a call, KPROF_OP where each has its own. "
      "Where a library shares the work of calls among its own threads, KPROF=threads=all says so";
  return true;
}

/// H14. Kernels are launched in no operator. Those of graphs that were captured while nothing was
/// recorded have operators that nobody knows.
[[gnu::cold]] inline bool unguarded_launches(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const std::vector<std::uint32_t> operators = operators_around(p);
  std::vector<double> of_thread(p.threads.size() + 1), of_name(p.device.kernels.size() + 3);
  for (const device_work& w : p.device.work) {
    const std::uint32_t node = scope_of(p, w);
    if (w.task != device_task::kernel || node == scope_node::none ||
        operators[node] != scope_node::none)
      continue;
    const double ns = not_negative(w.total_ns);
    out.time_ns += ns;
    of_name[name_number(p, w)] += ns;
    const scope_node& n = p.nodes[node];
    if (n.kind == scope_kind::root && n.thread < p.threads.size()) of_thread[n.thread] += ns;
  }
  if (!(out.time_ns > 0) || out.time_ns < 0.2 * f.device_ns) return false;
  const auto thread = std::max_element(of_thread.begin(), of_thread.end());
  const auto number = static_cast<std::uint32_t>(thread - of_thread.begin());
  const bool is_one = number < p.threads.size() && p.threads[number].merged == 0;
  if (is_one && p.threads.size() > 1 && *thread >= 0.5 * out.time_ns) {
    out.time_ns = *thread;
    out.where = "Thread " + thread_text(p, number);
    out.fact = sentence("launches # of the device time, #, outside all scopes",
                        {as_share(*thread / f.device_ns), as_time(*thread)});
    out.action =
        "Guard these launches in that thread, or put them under the scopes that they are for: "
        "kprof::context::current() where these are open, kprof::context_guard in that thread";
    return true;
  }
  if (p.device.complete.foreign_graphs > 0) return false;
  const auto name = std::max_element(of_name.begin(), of_name.end());
  const std::string kernel =
      short_kernel_name(work_name(p, static_cast<std::uint32_t>(name - of_name.begin())));
  out.where = "The program";
  out.fact = sentence("launches # of the device time, #, in no operator",
                      {as_share(out.time_ns / f.device_ns), as_time(out.time_ns)});
  out.action = sentence("Guard the calls that launch it with KPROF_OP; the largest kernel is #, #",
                        {as_text(kernel), as_time(*name)});
  return true;
}

/// H2. More threads are in scopes at a time than there are CPUs.
[[gnu::cold]] inline bool too_many_threads(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const double wall = p.wall_ns - p.paused_ns;
  double in_scopes = 0;
  for (const thread_info& t : p.threads) in_scopes += not_negative(t.in_scopes_ns);
  const double at_a_time = wall > 0 ? (in_scopes - waiting_ns(p)) / wall : 0;
  if (p.cpus == 0 || has_device_work(p) || at_a_time < 1.25 * p.cpus) return false;
  out.where = "The program";
  out.time_ns = f.window_ns;
  out.fact = sentence("has # threads in scopes at a time, on # CPUs",
                      {as_number(at_a_time + 0.5), as_number(p.cpus)});
  out.action =
      "They take the CPUs from one another, unless they wait: run as many threads as there are "
      "CPUs, and see to it that a library starts none of its own (OMP_NUM_THREADS)";
  return true;
}

/// H13. The threads of operators were on no CPU: nobody can tell how fast they would be on one.
[[gnu::cold]] inline bool off_the_cpu(const advice_facts& f, std::size_t, advice& out) {
  if (has_device_work(f.run)) return false;  // the host waits for it
  if (advice of_too_many; too_many_threads(f, 0, of_too_many)) return false;  // H2 says why
  double off = off_cpu_in(f.rows), most = 0;
  for (const operator_row& row : f.rows)
    if (row.off_cpu_self_ns > most)
      most = row.off_cpu_self_ns, out.node = row.node, out.where = row.name;
  off -= std::min(off, helpers_cpu_ns(f.run));  // so long they may wait for their helpers
  if (off < 0.2 * f.window_ns) return false;
  out.time_ns = out.gain_ns = off;
  const std::string share =
      sentence("on no CPU for # of #", {as_share(off / f.window_ns), as_text(f.whole)});
  if (most < 0.95 * off) {
    const std::string name = std::exchange(out.where, "The program's operators");
    out.fact = sentence("are #, mostly #: they wait, or others run in their place",
                        {as_text(share), as_text(name)});
  } else {
    out.fact = sentence("is #: it waits, or others run in its place", {as_text(share)});
  }
  out.action =
      "Look at what else runs on the machine, and at the locks, files and sleeps of these calls. "
      "Rates tell little until then";
  return true;
}

}  // namespace detail::advice_rules
KPROF_DETAIL_END

#endif

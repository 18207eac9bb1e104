// SPDX-License-Identifier: MIT

// Rules of advice about the number of threads: each speaks where its evidence reaches the
// threshold, and is silent just below it.

#include "catch.hpp"

#include "advised.hpp"
#include "host_case.hpp"
#include "profile_builder.hpp"

#include <kprof/advice.hpp>

using namespace kprof_test;

/// What the threads of a profile may have run.
static double of_guarded_threads(const profile& p) {
  double ns = 0;
  for (const kprof::thread_info& t : p.threads) ns += t.begin_ns + t.wall_ns;
  return ns;
}

TEST_CASE("advice_threads.H1_one_thread_of_several_cpus") {
  host_case op{};
  // The roof of arithmetic doubles with both CPUs.
  CHECK(gain(op.make(), "H1") == Approx(T / 2));
  CHECK(kprof_test::text_of(asked(op.make(), "H1")[0])
            .find("Op runs on one of 2 CPUs for 100% of the run") == 0);
  profile p = op.make();
  p.nodes[1].self_ns = 0.099 * T;
  CHECK(gain(p, "H1") == silent);
  p = op.make();
  p.machine.cpu.arithmetic[1].operations.all_threads = 100e9;  // two threads of one core
  CHECK(gain(p, "H1") == silent);
  p = op.make();
  p.machine.cpu = {};
  CHECK(gain(p, "H1") == silent);
  // That of memory rises by half.
  op = {.flops = 0, .bytes = 1'000'000};
  CHECK(gain(op.make(), "H1") == Approx(T / 3));
  // Faster than one thread can be: it has threads of its own.
  op = {.flops = 12'000'000};
  CHECK(gain(op.make(), "H1") == silent);

  profile_builder b;
  const auto node = b.op(b.thread("main", 1), "Op", "n=1");
  b.thread("other", 2);
  b.calls(node, 10, 100e3).work(node, 1'000'000, 1000, 0);
  p = host_case::finished(b);
  p.threads[1].in_scopes_ns = 0.2 * T;
  CHECK(gain(p, "H1") > 0);
  p.threads[1].in_scopes_ns = 0.21 * T;
  CHECK(gain(p, "H1") == silent);
  // Threads without guards are at work too.
  p.threads[1].in_scopes_ns = 0;
  p.threads[0].wall_ns = T;
  p.cpu_ns = of_guarded_threads(p) + 0.2 * T;
  CHECK(gain(p, "H1") > 0);
  p.cpu_ns = of_guarded_threads(p) + 0.21 * T;
  CHECK(gain(p, "H1") == silent);
}

TEST_CASE("advice_threads.H12_threads_without_guards") {
  profile p = host_case{}.make();
  p.threads[0].begin_ns = 0.2 * T, p.threads[0].wall_ns = T;
  CHECK(gain(p, "H12") == silent);  // the system does not tell the process's
  p.cpu_ns = 1.26 * of_guarded_threads(p);
  CHECK(gain(p, "H12") == not_stated);
  p.cpu_ns = 1.24 * of_guarded_threads(p);
  CHECK(gain(p, "H12") == silent);
  // What threads with guards were off the CPU, others may have run.
  p.threads[0].off_cpu_ns = 0.1 * of_guarded_threads(p);
  CHECK(gain(p, "H12") == not_stated);
  p.threads[0].off_cpu_ns = 0;
  // Those of an operator that says so are no others.
  p.cpu_ns = of_guarded_threads(p) + 2 * T;
  CHECK(gain(p, "H12") == not_stated);
  p.nodes[1].work.threads = 3;
  CHECK(gain(p, "H12") == silent);
}

TEST_CASE("advice_threads.H13_operators_whose_threads_are_on_no_cpu") {
  const auto off = [](double share) {
    profile p = host_case{}.make();
    p.nodes[1].measured_ns = p.nodes[1].total_ns;
    p.nodes[1].measured_calls = p.nodes[1].calls;
    p.nodes[1].off_cpu_ns = share * T;
    return p;
  };
  CHECK(gain(off(0.21), "H13") == Approx(0.21 * T));
  CHECK(gain(off(0.19), "H13") == silent);
  CHECK(kprof_test::text_of(asked(off(0.5), "H13")[0])
            .find("Op is on no CPU for 50% of the run: it waits, or others run in its place. "
                  "Look at what else runs") == 0);
  profile_builder b;  // of two operators the second is off for a tenth as long
  const auto main = b.thread("main", 1);
  for (const double share : {0.5, 0.05}) {
    const auto node = b.op(main, share > 0.1 ? "Op" : "Other", "n=1");
    b.calls(node, 10, 0.05 * T);
    b.p.nodes[node].measured_ns = b.p.nodes[node].total_ns;
    b.p.nodes[node].measured_calls = 10;
    b.p.nodes[node].off_cpu_ns = share * T;
  }
  const profile two = host_case::finished(b);
  CHECK(kprof_test::text_of(asked(two, "H13")[0])
            .find("The program's operators are on no CPU for 55% of the run, mostly Op: they "
                  "wait, or others run in their place. Look at what else runs") == 0);
  profile many = off(0.5);  // of which H2 speaks
  many.threads[0].in_scopes_ns = 3.5 * T;
  CHECK(gain(many, "H2") == not_stated);
  CHECK(gain(many, "H13") == silent);
  profile waits = off(0.9);  // for a device
  waits.device.work.emplace_back().scope = 1;
  CHECK(gain(waits, "H13") == silent);
  // They may wait for other threads of the process, whether or not operators say that these help.
  profile helped = off(0.9);
  helped.threads[0].begin_ns = 0, helped.threads[0].wall_ns = T;
  helped.threads[0].off_cpu_ns = 0.9 * T;
  helped.cpu_ns = 0.1 * T + 0.65 * T;
  CHECK(gain(helped, "H13") == Approx(0.25 * T));
  helped.cpu_ns = 0.1 * T + 0.75 * T;
  CHECK(gain(helped, "H13") == silent);
  helped.nodes[1].work.threads = 4;
  CHECK(gain(helped, "H13") == silent);
}

// The thread of the guard sleeps while those work that the operator says it has.
TEST_CASE("advice_threads.R2_speaks_of_calls_that_wait_for_threads_they_say_they_have") {
  profile p = host_case{}.make();
  p.nodes[1].measured_ns = p.nodes[1].total_ns;
  p.nodes[1].measured_calls = p.nodes[1].calls;
  p.threads[0].begin_ns = 0, p.threads[0].wall_ns = T;
  p.threads[0].off_cpu_ns = p.nodes[1].off_cpu_ns = 0.9 * T;
  p.nodes[1].work.threads = 2;
  p.cpu_ns = 0.1 * T + 0.9 * T;
  CHECK(gain(p, "R2") > 0);
  CHECK(kprof_test::text_of(asked(p, "R2")[0])
            .find("; often it is too little work for each of its threads, a loop that") !=
        std::string::npos);
  p.cpu_ns = 0.1 * T + 0.82 * T;  // it takes some time to wake up
  CHECK(gain(p, "R2") > 0);
  p.cpu_ns = 0.1 * T + 0.81 * T;  // something else kept it waiting
  CHECK(gain(p, "R2") == silent);
  p.cpu_ns = 0.1 * T + 0.9 * T;
  p.nodes[1].work.threads = 1;  // nobody knows whether they worked for it
  CHECK(gain(p, "R2") == silent);
}

TEST_CASE("advice_threads.H2_more_threads_than_cpus") {
  profile p = host_case{}.make();
  p.threads[0].in_scopes_ns = 2.5 * T;
  CHECK(gain(p, "H2") == not_stated);
  p.threads[0].in_scopes_ns = 2.49 * T;
  CHECK(gain(p, "H2") == silent);
}

// SPDX-License-Identifier: MIT
#ifndef KPROF_PROVE_HPP
#define KPROF_PROVE_HPP

// Proof instead of promise: says how to run an operator again with other parameters, so that the
// report can measure what its advice gains. Nothing is run unasked, but where the report's option
// `advice` has the word `prove`. Include it where the operator's code is; costs as measure.hpp.
//
//   [[gnu::init_priority(101)]] const auto again = kprof::prove<Gemm>([](const Gemm& p) {
//     return [p, data = buffers(p)]() mutable { run(p, data); };   // set-up, which is not timed
//   });

#include <kprof/build_options.hpp>
#include <kprof/measure.hpp>
#if KPROF_ENABLE
#include <kprof/declare/division_trap.hpp>
#include <kprof/model/advice/proof.hpp>
#include <kprof/profile/unpack_parameters.hpp>
#endif

#include <exception>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Half a second for a set of parameters, with warm caches.
inline measure_options options_of_proof() {
  measure_options out;
  out.seconds = 0.5;
  out.cold = out.print = false;
  return out;
}

#if KPROF_ENABLE

/// The parameters of a call with some changed; what is wrong with that, or empty.
[[gnu::cold]] inline std::string changed_parameters(const op_desc& desc, const profile& run,
                                                    const scope_node& node,
                                                    const advised_fields& changed, char* to) {
  const operator_info* const op = run.operator_of(node);
  if (op == nullptr || node.merged ||
      !unpacking(node.values.packed).take(desc.params(), op->fields, to))
    return "the parameters of the call are not those of the operator in this program";
  for (const advised_field& f : changed)
    if (!change_field(desc.params(), f.field, f.value, to))
      return "the field " + f.field + " cannot be " + std::to_string(f.value);
  work values{};
  division_trap::run(desc.evaluate, to, values);
  return values.valid != 0 ? std::string{} : "the parameters are invalid then";
}

[[gnu::cold]] inline measured_call timed(const measurement& m) {
  if (!m) return {m.warm.why, 0, 0, 0};
  const median_interval& median = m.warm.median;
  if (!median.has_interval())
    return {"a call takes so long that half a second is too short to know its time", 0, 0, 0};
  return {{}, median.median_ns, median.low_ns, median.high_ns};
}

/// What `work` throws has come to nothing that kprof could do about it: the report goes on.
template <class Work>
measured_call timed_or_why(Work work) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::exception& error) {
    return {std::string{"the program threw an exception: "} + error.what(), 0, 0, 0};
  } catch (...) { return {"the program threw an exception", 0, 0, 0}; }
#else
  return work();
#endif
}

template <class Op, class Make>
class KPROF_DETAIL_LOCAL rerun : public rerun_link {
 public:
  rerun(Make make, const measure_options& options)
      : rerun_link(&operator_name<Op>, &time_again), make_(std::move(make)), options_(options) {}

 private:
  static measured_call time_again(const rerun_link& self, const profile& run,
                                  const scope_node& node, const advised_fields& changed) {
    const rerun& of = static_cast<const rerun&>(self);
    Op params{};
    if (std::string wrong = changed_parameters(op_desc_of<Op>, run, node, changed,
                                               reinterpret_cast<char*>(&params));
        !wrong.empty())
      return {std::move(wrong), 0, 0, 0};
    return timed_or_why([&] {
      const recording_pause pause;  // guards in the set-up are not of the run either
      auto call = of.make_(static_cast<const Op&>(params));
      return timed(measure(static_cast<const Op&>(params), call, of.options_));
    });
  }

  mutable Make make_;
  measure_options options_;
};

#else

template <class Op, class Make>
class [[maybe_unused]] rerun {
 public:
  rerun(const Make&, const measure_options&) {}
  ~rerun() {}  // else compilers warn of a variable that nobody uses
};

#endif

}  // namespace detail

/// Says how to run operator `Op`: make(params) sets up what it needs, data of its own too, and
/// returns a function that does one call and ends when the work is done. Known to this binary while
/// the returned value exists, which cannot be copied; of several for an operator the last one
/// counts. For the report at the end of the program it has to outlive main():
///     const auto& gemm_again = *new auto(kprof::prove<Gemm>(make_gemm));
/// The report calls it on the thread that writes the report, twice with the parameters of the run
/// and once with those that are advised, and pauses the recording meanwhile.
template <class Op, class Make>
[[nodiscard]] detail::rerun<Op, Make> prove(
    Make make, const measure_options& options = detail::options_of_proof()) {
  static_assert(detail::check_operator<Op>());
  return {std::move(make), options};
}

KPROF_DETAIL_END

#endif

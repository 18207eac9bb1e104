// SPDX-License-Identifier: MIT
// Parameters from hell, for every operator of the catalogue: sizes at the ends of their type,
// enumerators that there are not. None may trap, wrap or give a number where valid() says that
// there is none. What numbers valid calls have is checked by docs.catalogue.
#include <kprof/ops.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstring>
#include <set>
#include <string>
#include <vector>

using kprof::detail::field_desc;
using kprof::detail::field_kind;
using kprof::detail::struct_desc;
using kprof_test::least;
using kprof_test::most;

namespace {

constexpr std::int64_t ends[] = {least,
                                 least + 2,
                                 -1,
                                 0,
                                 1,
                                 2,
                                 3,
                                 (1 << 30) - 1,
                                 1 << 30,
                                 std::int64_t{1} << 31,
                                 std::int64_t{1} << 32,
                                 std::int64_t{1} << 62,
                                 most - 1,
                                 most};

/// One number among the parameters: a field, or an element of one that is a list.
struct place {
  std::string name;
  std::size_t offset, size;
  field_kind kind;
};

void places_of(const struct_desc& s, std::size_t offset, const std::string& outer,
               std::vector<place>& out) {
  for (std::uint32_t i = 0; i < s.field_count; ++i) {
    const field_desc& f = s.fields[i];
    const std::string name = outer + "." + std::string(f.name.data, f.name.size);
    const std::size_t size = f.nested != nullptr ? f.nested->size : f.size;
    for (std::uint32_t e = 0; e < (f.extent == 0 ? 1 : f.extent); ++e) {
      const std::size_t at = offset + f.offset + e * size;
      if (f.nested != nullptr) places_of(*f.nested, at, name, out);
      else out.push_back({name, at, f.size, f.kind});
    }
  }
}

template <class Op>
class subject {
 public:
  subject() : name_(kprof_test::named<Op>()) {
    places_of(kprof::detail::describe_op<Op>::params(), 0, name_, places_);
  }

  const std::vector<place>& places() const { return places_; }
  static void set(Op& op, const place& p, std::int64_t value) {
    std::memcpy(reinterpret_cast<char*>(&op) + p.offset, &value, p.size);
  }
  static std::int64_t get(const Op& op, const place& p) {
    std::int64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const char*>(&op) + p.offset, p.size);
    return value;
  }

  /// Calls everything that counts. Of a call that is not valid nothing may have a number.
  static bool is_sound(const Op& op) {
    const bool valid = op.valid();
    const kprof::count flops = op.flops();
    const kprof::traffic bytes = op.bytes();
    const kprof::detail::work work = kprof::detail::evaluate(op);
    bool good = valid || (!flops.valid() && !bytes.total().valid() && work.valid == 0);
    const auto counts = [&](kprof::count n) { good = good && (valid || !n.valid()); };
    if constexpr (requires { op.transcendentals(); }) counts(op.transcendentals());
    if constexpr (requires { op.flops_valid(); }) counts(op.flops_valid());
    if constexpr (requires { op.flops_exact(); }) counts(op.flops_exact());
    if constexpr (requires { op.sparse_flops(); }) counts(op.sparse_flops());
    if constexpr (requires { op.parameters(); }) static_cast<void>(op.parameters());
    // FLOPs of valid taps are among all FLOPs.
    if constexpr (requires { op.flops_valid(); })
      if (flops.valid() && op.flops_valid().valid())
        good = good && op.flops_valid().value() <= flops.value();
    return good;
  }

 private:
  std::string name_;
  std::vector<place> places_;
};

}  // namespace

TEST_CASE("ops_hostile.one_size_at_the_end_of_its_type") {
  std::set<std::string> accepted, unsound;
  kprof::ops::catalogue::for_each([&](auto identity) {
    using Op = typename decltype(identity)::type;
    const subject<Op> of;
    for (const place& p : of.places()) {
      if (p.kind != field_kind::signed_integer) continue;
      for (const std::int64_t end : ends) {
        Op op{};
        of.set(op, p, end);
        if (!of.is_sound(op)) unsound.insert(p.name);
        if (end < 0 && end != of.get(Op{}, p) && op.valid()) accepted.insert(p.name);
      }
    }
  });
  CHECK(unsound == std::set<std::string>{});
  // What a default call makes no use of; -1, where that is the default, says so.
  CHECK(accepted == std::set<std::string>{"Dequantize.group", "Quantize.group"});
}

TEST_CASE("ops_hostile.a_call_without_output_reads_nothing") {
  std::set<std::string> reading, computing;
  kprof::ops::catalogue::for_each([&](auto identity) {
    using Op = typename decltype(identity)::type;
    const subject<Op> of;
    for (const place& p : of.places()) {
      if (p.kind != field_kind::signed_integer || of.get(Op{}, p) < 1) continue;
      // of the field `pass`, where there is one
      for (const std::int64_t value : {0, 1, 2, 3, 4}) {
        Op op{};
        if constexpr (requires { op.pass = kprof::ops::pass::fprop; })
          op.pass = static_cast<kprof::ops::pass>(value);
        of.set(op, p, 0);
        if (!op.valid() || op.bytes().written != 0) continue;
        if (op.bytes().read != 0) reading.insert(p.name);
        if (op.flops() != 0) computing.insert(p.name);
      }
    }
  });
  CHECK(reading == std::set<std::string>{});
  CHECK(computing == std::set<std::string>{});
}

TEST_CASE("ops_hostile.enumerators_that_there_are_not") {
  std::set<std::string> accepted;
  kprof::ops::catalogue::for_each([&](auto identity) {
    using Op = typename decltype(identity)::type;
    const subject<Op> of;
    for (const place& p : of.places()) {
      if (p.kind != field_kind::enumeration) continue;
      for (const std::int64_t value : {99, 255}) {
        Op op{};
        of.set(op, p, value);
        if (op.valid() || !of.is_sound(op)) accepted.insert(p.name);
      }
    }
  });
  CHECK(accepted == std::set<std::string>{});
}

TEST_CASE("ops_hostile.many_sizes_at_once") {
  kprof_test::random_shape random(7);
  std::set<std::string> unsound;
  kprof::ops::catalogue::for_each([&](auto identity) {
    using Op = typename decltype(identity)::type;
    const subject<Op> of;
    for (int i = 0; i < 400; ++i) {
      Op op{};
      for (const place& p : of.places()) {
        if (random(0, 2) == 0) continue;
        if (p.kind == field_kind::boolean) of.set(op, p, random(0, 1));
        else if (p.kind == field_kind::enumeration)
          of.set(op, p, random(0, random.coin() ? 25 : 5));
        else if (p.kind == field_kind::signed_integer)
          of.set(op, p, random.coin() ? random(0, 9) : ends[random(0, random.coin() ? 13 : 6)]);
      }
      if (!of.is_sound(op)) unsound.insert(kprof_test::named<Op>());
    }
  });
  CHECK(unsound == std::set<std::string>{});
}

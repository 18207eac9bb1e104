// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_RANDOM_REPORTS_HPP
#define KPROF_TESTS_RANDOM_REPORTS_HPP

// Random profiles for page_checks.hpp: operators with fields of all kinds, arrays and nested
// structs, whose calls differ in few of their values; regions, threads, and work on a device. The
// same seed gives the same profile everywhere.

#include "device_builder.hpp"
#include "sample_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kprof_test {

class random_report {
 public:
  explicit random_report(std::uint32_t seed) : random_(seed) {}

  /// A profile with so many operators, each called with up to twelve sets of parameters.
  kprof::profile make(std::size_t operators) {
    device_builder b;
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0, threads = 1 + below(3); i < threads; ++i)
      places.push_back(b.thread(i == 0 ? "main" : text(12), 100 + i));
    for (std::size_t i = below(12); i > 0; --i) {
      const auto region = b.region(places[below(places.size())], region_name());
      b.calls(region, 1 + below(4), 0);
      places.push_back(region);
    }
    for (std::size_t i = 0; i < operators; ++i) add_operator(b, places, i);
    // A region takes as long as what is in it, and some time more.
    kprof::profile& p = b.p;
    for (std::size_t i = p.nodes.size(); i-- > 0;) {
      kprof::scope_node& n = p.nodes[i];
      if (n.kind == kprof::scope_kind::region) n.total_ns += static_cast<double>(below(100'000));
      if (n.kind != kprof::scope_kind::root && n.parent != kprof::scope_node::none &&
          p.nodes[n.parent].kind == kprof::scope_kind::region)
        p.nodes[n.parent].total_ns += n.total_ns;
    }
    const bool device = below(3) == 0;
    if (device) add_work(b);
    kprof::profile done = b.done();
    add_surroundings(done);
    if (device) add_device(done);
    return done;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  std::string word(std::size_t longest) {
    static constexpr std::string_view first =
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                      more = "abcdefghijklmnopqrstuvwxyz_0123456789";
    std::string out(1, first[below(first.size())]);
    for (std::size_t n = below(longest); n > 0; --n) out += more[below(more.size())];
    return out;
  }
  /// Words, spaces and characters that are hard to print.
  std::string text(std::size_t longest) {
    static constexpr const char* odd[] = {" ",    "=",    "%",        "\n",           "\x1b[31m",
                                          ", ",   "\xFF", "\xC3\x9F", "\xE6\xBC\xA2", "e\xCC\x81",
                                          "... ", "\t",   "\"",       "\xE2\x80\xA6", "(1)"};
    std::string out;
    while (out.size() < longest && below(6) != 0)
      out += below(3) == 0 ? odd[below(std::size(odd))] : word(6);
    return out;
  }
  std::string region_name() {
    const std::size_t kind = below(3);
    return kind == 0 ? "layer " + std::to_string(below(4)) : kind == 1 ? word(10) : text(30);
  }

  kprof::operator_field field(std::size_t depth) {
    static constexpr kprof::parameter_kind kinds[] = {
        kprof::parameter_kind::signed_integer, kprof::parameter_kind::signed_integer,
        kprof::parameter_kind::signed_integer, kprof::parameter_kind::unsigned_integer,
        kprof::parameter_kind::boolean,        kprof::parameter_kind::floating,
        kprof::parameter_kind::enumeration,    kprof::parameter_kind::text,
        kprof::parameter_kind::aggregate};
    kprof::operator_field f;
    f.name = word(below(8) == 0 ? 40 : 8);
    f.kind = kinds[below(std::size(kinds) - (depth > 1 ? 1 : 0))];
    f.bits = 8U << below(4);
    if (below(6) == 0) f.extent = 1 + static_cast<std::uint32_t>(below(6));
    switch (f.kind) {
      case kprof::parameter_kind::signed_integer: f.is_signed = true; break;
      case kprof::parameter_kind::boolean: f.bits = 8; break;
      case kprof::parameter_kind::floating: f.bits = below(2) == 0 ? 32 : 64; break;
      case kprof::parameter_kind::enumeration:
        f.bits = 8;
        for (std::size_t i = 0, n = below(5); i < n; ++i)
          f.enumerators.push_back({static_cast<std::int64_t>(i), word(12) + std::to_string(i)});
        break;
      case kprof::parameter_kind::text: f.bits = 0; break;
      case kprof::parameter_kind::aggregate:
        f.bits = 0;
        for (std::size_t i = 0, n = 1 + below(4); i < n; ++i) {
          f.fields.push_back(field(depth + 1));
          f.fields.back().name += std::to_string(i);  // names of a struct differ
        }
        break;
      default: break;
    }
    return f;
  }

  template <class T>
  static void append(std::string& packed, T value, std::size_t size = sizeof(T)) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof value);
    packed.append(bytes, size);
  }
  std::string value(const kprof::operator_field& f) {
    std::string packed;
    for (std::uint32_t i = 0, n = f.extent == 0 ? 1 : f.extent; i < n; ++i) append_one(packed, f);
    return packed;
  }
  void append_one(std::string& packed, const kprof::operator_field& f) {
    static constexpr std::int64_t integers[] = {0,
                                                1,
                                                -1,
                                                2,
                                                3,
                                                64,
                                                128,
                                                1024,
                                                50'257,
                                                std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min()};
    static constexpr double numbers[] = {
        0, 1, -0.5, 1e-9, 1e300, 0.1, 3.14159265358979, std::numeric_limits<double>::infinity()};
    switch (f.kind) {
      case kprof::parameter_kind::boolean: append(packed, static_cast<char>(below(2))); break;
      case kprof::parameter_kind::floating:
        if (f.bits == 64) append(packed, numbers[below(std::size(numbers))]);
        else append(packed, static_cast<float>(numbers[below(4)]));
        break;
      case kprof::parameter_kind::enumeration: append(packed, static_cast<char>(below(6))); break;
      case kprof::parameter_kind::text: {
        const std::string t = text(below(9) == 0 ? 120 : 12);
        std::size_t rest = t.size();
        for (; rest >= 128; rest /= 128) packed += static_cast<char>(rest % 128 | 128U);
        packed += static_cast<char>(rest);
        packed += t;
        break;
      }
      case kprof::parameter_kind::aggregate:
        for (const kprof::operator_field& part : f.fields) packed += value(part);
        break;
      default:
        append(packed,
               below(4) == 0 ? static_cast<std::int64_t>(random_())
                             : integers[below(std::size(integers))],
               f.bits / 8);
    }
  }
  static unsigned sum_of(const std::string& bytes) {
    unsigned sum = 0;
    for (const char c : bytes) sum += static_cast<unsigned char>(c);
    return sum;
  }
  /// A short form, the same for the same parameters and often for others. Of half of the operators
  /// it is one that no operator should have: empty, as of one that throws; of several lines; of
  /// 10,000 characters, which differ at the end, in the middle or not at all.
  static std::string brief_of(const std::string& packed, std::size_t hostility) {
    const std::string number = std::to_string(sum_of(packed) % 4);
    const std::string plain = number + " x " + std::string(1 + packed.size() % 7, 'K');
    switch (hostility) {
      case 1: return sum_of(packed) % 2 == 0 ? "" : plain;
      case 2: return plain + "\n\nGemm  " + number + "\r\t\x1b[31m\n";
      case 3: return std::string(10'000, 'x') + number;
      case 4: return std::string(5'000, ' ') + number + std::string(5'000, '\n');
      default: return plain;
    }
  }
  static std::string joined(const std::vector<std::string>& values) {
    std::string packed;
    for (const std::string& v : values) packed += v;
    return packed;
  }

  void add_operator(device_builder& b, const std::vector<std::uint32_t>& places,
                    std::size_t number) {
    kprof::operator_info op;
    // not a space first, by which a page tells rows from operators
    op.declared_name = word(below(5) == 0 ? 3 : 14);
    if (below(5) == 0) op.declared_name += text(40);
    op.name = op.declared_name + '#' + std::to_string(number);
    for (std::size_t i = 0, n = below(9); i < n; ++i) {
      op.fields.push_back(field(0));
      op.fields.back().name += std::to_string(i);
    }
    std::vector<std::string> base;
    for (const kprof::operator_field& f : op.fields) base.push_back(value(f));
    if (below(4) > 0) op.defaults.packed = joined(base);
    const bool brief = below(3) == 0, pass = below(3) == 0;
    const std::size_t hostility = brief ? below(8) : 0;
    const auto index = static_cast<std::uint32_t>(b.p.operators.size());
    b.p.operators.push_back(op);
    for (std::size_t sets = below(3) == 0 ? 1 : 1 + below(12); sets > 0; --sets) {
      std::vector<std::string> values = base;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (below(4) == 0) values[i] = value(op.fields[i]);
      const auto at = b.scope(places[below(places.size())], kprof::scope_kind::region, op.name);
      kprof::scope_node& n = b.p.nodes[at];
      n.kind = kprof::scope_kind::op;
      n.op = index;
      n.values.packed = joined(values);
      if (brief) {
        // as every call of the same parameters has it
        n.brief = brief_of(n.values.packed, hostility);
        for (std::size_t i = 0; i < op.fields.size(); ++i)
          if (i % 2 == 1) n.beside |= std::uint64_t{1} << i;
      }
      if (pass) n.work.pass = static_cast<kprof::pass_kind>(n.values.packed.size() % 8);
      b.site(at, "src/" + word(8) + ".cpp", static_cast<std::uint32_t>(below(2000)));
      b.calls(at, 1 + below(1000), static_cast<double>(1 + below(3'000'000)));
      if (below(4) > 0) {
        const kprof::pass_kind direction = n.work.pass;
        b.work(at, below(1'000'000'000), below(1'000'000), below(1'000'000));
        b.p.nodes[at].work.pass = direction;
        if (below(8) == 0)
          b.p.nodes[at].work.threads =
              below(4) == 0 ? kprof::all_cpus : 1 + static_cast<std::uint32_t>(below(4));
      }
    }
  }

  void add_work(device_builder& b) {
    for (std::size_t i = 0, n = b.p.nodes.size(); i < n; ++i) {
      if (b.p.nodes[i].kind == kprof::scope_kind::root || below(3) != 0) continue;
      const auto at = static_cast<std::uint32_t>(i);
      const auto ns = static_cast<double>(1 + below(2'000'000));
      if (below(4) == 0)
        b.copy(at, kprof::copy_direction::host_to_device, 1 + below(100), ns, below(1U << 20U));
      else b.kernel(at, "_Z" + std::to_string(3) + word(2).substr(0, 1) + "ab", 1 + below(100), ns);
    }
  }

  std::mt19937 random_;
};

}  // namespace kprof_test

#endif

// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_EXPRESSION_PROGRAM_HPP
#define KPROF_REPORT_TEXT_EXPRESSION_PROGRAM_HPP

// A regular expression as the steps of a machine that follows all ways to match at once: each step
// is visited at most once for each byte of the text. Included by expression.hpp, which writes the
// steps. Pure.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class byte_set {
 public:
  void add(unsigned char low, unsigned char high) noexcept {
    for (unsigned c = low; c <= high; ++c) words_[c / 64] |= std::uint64_t{1} << c % 64;
  }
  void add(const byte_set& more) noexcept {
    for (std::size_t i = 0; i < 4; ++i) words_[i] |= more.words_[i];
  }
  byte_set others() const noexcept {
    byte_set out;
    for (std::size_t i = 0; i < 4; ++i) out.words_[i] = ~words_[i];
    return out;
  }
  bool has(unsigned char c) const noexcept { return (words_[c / 64] >> c % 64 & 1U) != 0; }

  static byte_set all() noexcept { return byte_set{}.others(); }
  static byte_set words() noexcept {
    byte_set out = of_class("alnum");
    out.add('_', '_');
    return out;
  }
  static constexpr bool is_word(unsigned char c) noexcept {
    return is(c, 'a', 'z') || is(c, 'A', 'Z') || is(c, '0', '9') || c == '_';
  }
  static bool has_class(std::string_view name) noexcept { return find_class(name) != nullptr; }
  /// ASCII only, whatever the program's locale is.
  static byte_set of_class(std::string_view name) noexcept {
    byte_set out;
    for (unsigned char c = 0; c < 128; ++c)
      if (find_class(name)(c)) out.add(c, c);
    return out;
  }

 private:
  using test = bool (*)(unsigned char);
  static test find_class(std::string_view name) noexcept {
    static constexpr struct {
      std::string_view name;
      test holds;
    } classes[] = {
        {"alpha", [](unsigned char c) { return is(c, 'a', 'z') || is(c, 'A', 'Z'); }},
        {"digit", [](unsigned char c) { return is(c, '0', '9'); }},
        {"alnum",
         [](unsigned char c) { return is(c, 'a', 'z') || is(c, 'A', 'Z') || is(c, '0', '9'); }},
        {"upper", [](unsigned char c) { return is(c, 'A', 'Z'); }},
        {"lower", [](unsigned char c) { return is(c, 'a', 'z'); }},
        {"space", [](unsigned char c) { return c == ' ' || is(c, '\t', '\r'); }},
        {"blank", [](unsigned char c) { return c == ' ' || c == '\t'; }},
        {"punct",
         [](unsigned char c) {
           return is(c, '!', '/') || is(c, ':', '@') || is(c, '[', '`') || is(c, '{', '~');
         }},
        {"print", [](unsigned char c) { return is(c, ' ', '~'); }},
        {"graph", [](unsigned char c) { return is(c, '!', '~'); }},
        {"cntrl", [](unsigned char c) { return c < ' ' || c == 127; }},
        {"xdigit",
         [](unsigned char c) { return is(c, '0', '9') || is(c, 'a', 'f') || is(c, 'A', 'F'); }},
    };
    for (const auto& one : classes)
      if (one.name == name) return one.holds;
    return nullptr;
  }
  static constexpr bool is(unsigned char c, char low, char high) noexcept {
    return c >= static_cast<unsigned char>(low) && c <= static_cast<unsigned char>(high);
  }

  std::uint64_t words_[4] = {};
};

enum class step_kind : std::uint8_t {
  byte,   // takes this byte
  set,    // takes a byte of set `first`
  split,  // goes on at both distances
  jump,   // goes on at distance `first`
  text_begin,
  text_end,
  word_edge,
  no_word_edge,
  word_begin,
  word_end,
  match,
};

struct expression_step {
  step_kind kind;
  unsigned char byte = 0;
  std::int32_t first = 0;
  std::int32_t second = 0;
};

class expression_program {
 public:
  std::size_t size() const noexcept { return steps_.size(); }
  expression_step& operator[](std::size_t i) noexcept { return steps_[i]; }
  void add(expression_step step) { steps_.push_back(step); }
  void insert(std::size_t at, expression_step step) {
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(at), step);
  }
  /// The number of the set.
  std::int32_t keep(const byte_set& set) {
    sets_.push_back(set);
    return static_cast<std::int32_t>(sets_.size() - 1);
  }
  /// Takes the steps from `begin` on away, without their sets, which stay here.
  expression_program cut(std::size_t begin) {
    expression_program out;
    const auto from = steps_.begin() + static_cast<std::ptrdiff_t>(begin);
    out.steps_.assign(from, steps_.end());
    steps_.erase(from, steps_.end());
    return out;
  }
  /// Adds steps whose sets are here.
  void append(const expression_program& more) {
    steps_.insert(steps_.end(), more.steps_.begin(), more.steps_.end());
  }

  /// Whether the text has a part that matches.
  bool found_in(std::string_view text) const {
    run r{text, std::vector<std::size_t>(steps_.size(), 0), {}, {}, {}};
    for (std::size_t at = 0;; ++at) {
      if (enter(r, 0, at)) return true;
      if (at == text.size()) return false;
      r.now.swap(r.next);
      r.next.clear();
      const auto c = static_cast<unsigned char>(text[at]);
      for (const std::size_t i : r.now)
        if (takes(steps_[i], c) && enter(r, i + 1, at + 1)) return true;
    }
  }

 private:
  /// Where a run stands. `next` are the steps that wait for the byte at the current place.
  struct run {
    std::string_view text;
    std::vector<std::size_t> entered;  // for each step: the last place + 1 at which it was entered
    std::vector<std::size_t> now, next, open;
  };

  bool takes(const expression_step& s, unsigned char c) const noexcept {
    return s.kind == step_kind::byte ? s.byte == c
                                     : sets_[static_cast<std::size_t>(s.first)].has(c);
  }
  /// Goes on from a step as far as no byte is taken; true at a match.
  bool enter(run& r, std::size_t begin, std::size_t at) const {
    r.open.assign(1, begin);
    while (!r.open.empty()) {
      const std::size_t i = r.open.back();
      r.open.pop_back();
      if (r.entered[i] == at + 1) continue;
      r.entered[i] = at + 1;
      const expression_step& s = steps_[i];
      const auto step_at = [i](std::int32_t distance) {
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + distance);
      };
      switch (s.kind) {
        case step_kind::match: return true;
        case step_kind::byte:
        case step_kind::set: r.next.push_back(i); break;
        case step_kind::split:
          r.open.push_back(step_at(s.second));
          r.open.push_back(step_at(s.first));
          break;
        case step_kind::jump: r.open.push_back(step_at(s.first)); break;
        default:
          if (holds(s.kind, r.text, at)) r.open.push_back(i + 1);
      }
    }
    return false;
  }
  static bool holds(step_kind kind, std::string_view text, std::size_t at) noexcept {
    const auto is_word = [text](std::size_t i) {
      return i < text.size() && byte_set::is_word(static_cast<unsigned char>(text[i]));
    };
    const bool before = at > 0 && is_word(at - 1), behind = is_word(at);
    switch (kind) {
      case step_kind::text_begin: return at == 0;
      case step_kind::text_end: return at == text.size();
      case step_kind::word_edge: return before != behind;
      case step_kind::no_word_edge: return before == behind;
      case step_kind::word_begin: return !before && behind;
      case step_kind::word_end: return before && !behind;
      default: return false;
    }
  }

  std::vector<expression_step> steps_;
  std::vector<byte_set> sets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

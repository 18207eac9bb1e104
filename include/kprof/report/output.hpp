// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_HPP
#define KPROF_REPORT_OUTPUT_HPP

// An output is a format that a profile can be written in: a value with a name, a table of options
// and a function that writes. Each of kprof's outputs has a header of its own in kprof/report/;
// including it makes the output known in this binary. Include this header to add an output of your
// own, and write.hpp to write a profile in any of them:
//
//   kprof::status write_names(const kprof::profile& run, const kprof::option_values& options,
//                             kprof::text_sink& out);
//   constexpr kprof::option name_options[] = {
//       {.name = "top", .kind = kprof::option_kind::number, .form = "ROWS", .fallback = "0",
//        .meaning = "rows to write; 0: all"}};
//   constexpr kprof::output names{"names", "one name a line", name_options, &write_names};
//   [[gnu::init_priority(101)]] const kprof::output_registration names_registered{names};
//
// Registrations happen before main() and are read afterwards, so that no function here needs a
// lock. An output is known to the binary that registers it.

#include <kprof/build_options.hpp>
#include <kprof/report/option.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

struct profile;

/// The options of one request, checked: those given, and the others with their defaults.
class option_values {
 public:
  option_values() = default;
  explicit option_values(std::vector<option_value> values) : values_(std::move(values)) {}

  /// Of an option that the output's table does not have: false, 0 or nothing.
  bool flag(std::string_view name) const noexcept { return number(name) != 0; }
  std::uint64_t number(std::string_view name) const noexcept {
    const option_value* const found = find(name);
    return found == nullptr ? 0 : found->number;
  }
  std::string text(std::string_view name) const {
    const option_value* const found = find(name);
    return found == nullptr ? std::string{} : found->text;
  }
  std::vector<std::string> list(std::string_view name) const {
    const option_value* const found = find(name);
    return found == nullptr ? std::vector<std::string>{} : found->words();
  }

  /// Sets the members that the table names with `option::store`, which are members of a T.
  template <class T>
  void store_into(T& options) const {
    for (const option_value& value : values_)
      if (value.of->store != nullptr) value.of->store(&options, value);
  }

 private:
  const option_value* find(std::string_view name) const noexcept {
    for (const option_value& value : values_)
      if (name == value.of->name) return &value;
    return nullptr;
  }
  std::vector<option_value> values_;
};

/// Where an output puts its text, piece by piece: nothing is held in memory but the last 64 KiB.
/// Used by one thread.
class text_sink {
 public:
  /// Passes text on; `to` is what the sink was made with.
  using drain_function = status (*)(void* to, std::string_view text);

  /// `takes_color`: `to` is a terminal.
  text_sink(drain_function drain, void* to, bool takes_color = false) noexcept
      : drain_(drain), to_(to), takes_color_(takes_color) {}
  text_sink(const text_sink&) = delete;
  text_sink& operator=(const text_sink&) = delete;

  void put(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= piece) flush();
  }
  /// Whether an output may use the escape sequences of terminals.
  bool takes_color() const noexcept { return takes_color_; }
  /// Passes on what was put so far. After a failure, which an output need not look at, all further
  /// text is dropped.
  const status& flush() {
    if (failure_) failure_ = drain_(to_, buffer_);
    buffer_.clear();
    return failure_;
  }

 private:
  static constexpr std::size_t piece = std::size_t{64} * 1024;
  drain_function drain_;
  void* to_;
  bool takes_color_;
  std::string buffer_;
  status failure_;
};

/// A format. It lives as long as the binary that registers it.
struct output {
  const char* name;     ///< as in KPROF="name(...)": letters, digits and _
  const char* meaning;  ///< one sentence, for people
  /// What it takes beside `path`, which every output has.
  std::span<const option> options;
  /// Puts the profile into `out`. A status that is not ok says what is wrong with the options and
  /// what to do; nothing has been put then. What it throws is told as such a status.
  status (*write)(const profile& run, const option_values& options, text_sink& out);
  /// Whether it shows single scopes with these options: the profile that is written at the end
  /// then has them. Null: it never does.
  bool (*shows_timeline)(const option_values& options) = nullptr;
  /// For an output that nobody reads in a terminal: the end of a file's name, "html". Where no
  /// path is given and standard output is a terminal, PROGRAM.PID.html is written instead, and a
  /// line on standard error says so. Null: a terminal gets it.
  const char* file_ending = nullptr;
};

/// An option of a request: {"top", "20"}.
struct option_setting {
  std::string name;
  std::string value;  ///< as in KPROF; empty for a flag: on

  friend bool operator==(const option_setting&, const option_setting&) = default;
};

/// What is to be written: an output and its options, {"csv", {{"path", "run.csv"}}}.
struct output_request {
  std::string output;
  std::vector<option_setting> options{};

  friend bool operator==(const output_request&, const output_request&) = default;
};

class output_registration;
namespace detail {
/// The registered outputs of this binary, by name. Written before main(), or when the binary is
/// loaded.
KPROF_DETAIL_LOCAL inline constinit const output_registration* first_registration = nullptr;
}  // namespace detail

/// Makes an output known in this binary while it exists. Give the variable
/// [[gnu::init_priority(101)]]: KPROF is read when the binary is loaded, by constructors that come
/// later. An output does not become known while another of its name is, nor when that one goes.
class KPROF_DETAIL_LOCAL output_registration {
 public:
  explicit output_registration(const output& what) noexcept : what_(what) {
    const output_registration** at = &detail::first_registration;
    while (*at != nullptr && std::string_view{(*at)->what_.name} < what.name) at = &(*at)->next_;
    if (*at != nullptr && std::string_view{(*at)->what_.name} == what.name) return;
    next_ = *at;
    *at = this;
  }
  ~output_registration() {
    const output_registration** at = &detail::first_registration;
    while (*at != nullptr && *at != this) at = &(*at)->next_;
    if (*at == this) *at = next_;
  }
  output_registration(const output_registration&) = delete;
  output_registration& operator=(const output_registration&) = delete;

  const output& what() const noexcept { return what_; }
  const output_registration* next() const noexcept { return next_; }

 private:
  const output& what_;
  mutable const output_registration* next_ = nullptr;
};

/// The outputs that this binary knows, by name.
KPROF_DETAIL_LOCAL inline std::vector<const output*> outputs() {
  std::vector<const output*> known;
  for (auto* r = detail::first_registration; r != nullptr; r = r->next())
    known.push_back(&r->what());
  return known;
}
/// The output of that name; nullptr where this binary knows none.
KPROF_DETAIL_LOCAL inline const output* find_output(std::string_view name) noexcept {
  for (auto* r = detail::first_registration; r != nullptr; r = r->next())
    if (name == r->what().name) return &r->what();
  return nullptr;
}

KPROF_DETAIL_END

#endif

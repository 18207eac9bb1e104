// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SPELLED_NAME_HPP
#define KPROF_MODEL_SPELLED_NAME_HPP

// The names and numbers in a mangled name that is too long for the demangler, as those of CUTLASS 3
// are. Included by telling_kernel_names.hpp. Pure; linear in the name, whatever it holds.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Reads a mangled name from its front, and writes it as a demangler would, but for what refers to
/// an earlier part, for which "…" stands: so nothing grows.
class name_speller {
 public:
  [[gnu::cold]] explicit name_speller(std::string_view mangled) : text_(mangled) {}

  [[gnu::cold]] std::string spell() {
    at_ = text_.starts_with("_Z") ? 2 : text_.size();
    // The function's name ends where its last bracket does.
    while (at_ < text_.size() && !(out_.size() > 0 && open_.empty())) step();
    while (!open_.empty()) close();
    return std::move(out_);
  }

 private:
  [[gnu::cold]] void step() {
    if (const std::string_view name = source_name(text_, at_); !name.empty()) {
      write(name);
      in_name_ = true;
      // a name that stands alone goes on with its arguments
      if (open_.empty() && (at_ >= text_.size() || text_[at_] != 'I')) at_ = text_.size();
      else if (open_.empty()) open_arguments();
      return;
    }
    std::size_t number = 0;
    if (const std::size_t end = reference_end(text_, at_, number); end != at_) {
      at_ = end;
      // at the front of a qualified name it is a namespace
      if (!open_.empty() && open_.back() == 'N') return;
      write("\u2026");
      in_name_ = true;
      return;
    }
    const char c = text_[at_++];
    if (c == 'N') open('N');
    else if (c == 'I' && in_name_) --at_, open_arguments();
    else if (c == 'I' || c == 'J') open('J');
    else if (c == 'E') close();
    else if (c == 'L') literal();
    else if (c == 'D' || c == 'S') ++at_;  // Dv, St: two letters
    else if (const std::string_view type = type_of(c); !type.empty()) write(type);
  }

  [[gnu::cold]] void open(char kind) {
    // A qualified name and a pack begin where an argument does, and write nothing themselves.
    if (open_.size() < deepest) open_ += kind;
    begun_ = false;
    in_name_ = false;
  }
  [[gnu::cold]] void open_arguments() {
    ++at_;
    if (open_.size() >= deepest) {
      at_ = text_.size();
      return;
    }
    open_ += 'I';
    out_ += '<';
    begun_ = true;
    in_name_ = false;
  }
  [[gnu::cold]] void close() {
    if (open_.empty()) return;
    if (open_.back() == 'I') out_ += out_.back() == '<' ? "\u2026>" : ">";
    open_.pop_back();
    begun_ = false;
    in_name_ = true;
  }

  /// A component of a qualified name, or an argument.
  [[gnu::cold]] void write(std::string_view piece) {
    if (!open_.empty() && open_.back() == 'N' && in_name_) out_ += "::";
    else if (!out_.empty() && !begun_ && out_.back() != '<') out_ += ", ";
    out_ += piece;
    begun_ = false;
    in_name_ = false;
  }

  /// Li64E, Lb1E, LNS_4enumE2E: the number, behind a type.
  [[gnu::cold]] void literal() {
    bool is_bool = false;
    std::size_t number = 0;
    if (at_ < text_.size() && text_[at_] == 'N') {
      for (++at_; at_ < text_.size() && text_[at_] != 'E';) {
        if (const std::size_t end = reference_end(text_, at_, number); end != at_) at_ = end;
        else if (source_name(text_, at_).empty()) ++at_;
      }
      ++at_;
    } else if (at_ < text_.size()) {
      if (const std::size_t end = reference_end(text_, at_, number); end != at_) at_ = end;
      else if (source_name(text_, at_).empty()) is_bool = text_[at_++] == 'b';
    }
    const std::size_t end = text_.find('E', at_);
    std::string_view value =
        text_.substr(std::min(at_, text_.size()), end == std::string_view::npos ? end : end - at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (is_bool) write(value == "0" ? "false" : "true");
    else if (value.starts_with('n')) write('-' + std::string{value.substr(1)});
    else write(value);
  }

  [[gnu::cold]] static std::string_view type_of(char c) noexcept {
    switch (c) {
      case 'v': return "void";
      case 'b': return "bool";
      case 'c': return "char";
      case 'a': return "signed char";
      case 'h': return "unsigned char";
      case 's': return "short";
      case 't': return "unsigned short";
      case 'i': return "int";
      case 'j': return "unsigned int";
      case 'l': return "long";
      case 'm': return "unsigned long";
      case 'x': return "long long";
      case 'y': return "unsigned long long";
      case 'f': return "float";
      case 'd': return "double";
      default: return {};  // of pointers, const and expressions nothing is written
    }
  }

  static constexpr std::size_t deepest = 200;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::string open_;      // the brackets that are open: N, I or J
  bool begun_ = true;     // nothing stands behind the last bracket
  bool in_name_ = false;  // the last piece can have arguments or components
};

/// "cutlass::device_kernel<gemm::kernel::GemmUniversal<...>>" of its mangled name.
[[gnu::cold]] inline std::string spelled_name(std::string_view mangled) {
  return name_speller(mangled).spell();
}

}  // namespace detail
KPROF_DETAIL_END

#endif

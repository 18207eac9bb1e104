// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_JSON_TAPE_HPP
#define KPROF_REPORT_SAVED_JSON_TAPE_HPP

// JSON as a row of tokens that refer to its text, parsed by Boost.JSON's basic_parser: of a number
// the digits are kept, since Boost's conversion to double may be off by one bit. 16 bytes a token,
// within a budget. Included by load.hpp.

#include <kprof/build_options.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

enum class json_kind : std::uint8_t { object, array, key, text, number, boolean, null };

struct json_token {
  json_kind kind;
  bool unescaped;      // its text is not the document's own
  bool truth;          // of a boolean
  std::uint32_t at;    // where its text begins
  std::uint32_t size;  // of its text
  std::uint32_t next;  // the token behind it and all that it holds
};

/// Bytes that loading may still allocate.
class memory_budget {
 public:
  explicit memory_budget(std::uint64_t bytes) noexcept : left_(bytes) {}
  bool take(std::uint64_t bytes) noexcept {
    const bool enough = bytes <= left_;
    left_ = enough ? left_ - bytes : 0;
    spent_ = spent_ || !enough;
    return enough;
  }
  bool spent() const noexcept { return spent_; }

 private:
  std::uint64_t left_;
  bool spent_ = false;
};

/// The handler of basic_parser: every function notes a token.
class json_tape {
 public:
  static constexpr std::size_t max_object_size = ~std::size_t{0}, max_array_size = max_object_size,
                               max_key_size = max_object_size, max_string_size = max_object_size;
  using error = boost::system::error_code;
  using piece = boost::json::string_view;

  json_tape(std::string_view document, memory_budget& budget)
      : document_(document), budget_(budget) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(tokens_.size()); }
  const json_token& operator[](std::uint32_t i) const noexcept { return tokens_[i]; }
  std::string_view text_of(const json_token& t) const noexcept {
    return (t.unescaped ? std::string_view{unescaped_} : document_).substr(t.at, t.size);
  }

  bool on_document_begin(error&) { return true; }
  bool on_document_end(error&) { return true; }
  bool on_object_begin(error&) { return begin(json_kind::object); }
  bool on_object_end(std::size_t, error&) { return end(); }
  bool on_array_begin(error&) { return begin(json_kind::array); }
  bool on_array_end(std::size_t, error&) { return end(); }
  bool on_key_part(piece text, std::size_t, error&) { return gather(text); }
  bool on_key(piece text, std::size_t, error&) { return finish(json_kind::key, text); }
  bool on_string_part(piece text, std::size_t, error&) { return gather(text); }
  bool on_string(piece text, std::size_t, error&) { return finish(json_kind::text, text); }
  bool on_number_part(piece, error&) { return false; }  // only of documents that come in pieces
  bool on_int64(std::int64_t, piece text, error&) { return finish(json_kind::number, text); }
  bool on_uint64(std::uint64_t, piece text, error&) { return finish(json_kind::number, text); }
  bool on_double(double, piece text, error&) { return finish(json_kind::number, text); }
  bool on_bool(bool truth, error&) {
    return note({json_kind::boolean, false, truth, 0, 0, size() + 1});
  }
  bool on_null(error&) { return note({json_kind::null, false, false, 0, 0, size() + 1}); }
  bool on_comment_part(piece, error&) { return false; }
  bool on_comment(piece, error&) { return false; }

 private:
  bool note(const json_token& t) {
    if (!budget_.take(2 * sizeof t)) return false;  // the vector may hold twice what is used
    tokens_.push_back(t);
    return true;
  }
  bool begin(json_kind kind) {
    open_.push_back(size());
    return note({kind, false, false, 0, 0, 0});
  }
  bool end() {
    tokens_[open_.back()].next = size();
    open_.pop_back();
    return true;
  }
  bool gather(piece text) {
    if (!gathering_) gathered_from_ = unescaped_.size();
    gathering_ = true;
    if (!budget_.take(2 * text.size())) return false;
    unescaped_.append(text.data(), text.size());
    return true;
  }
  /// The last piece of a text; whole texts without escapes are views of the document.
  bool finish(json_kind kind, piece text) {
    const auto at = static_cast<std::size_t>(text.data() - document_.data());
    if (!gathering_ && at <= document_.size() && text.size() <= document_.size() - at)
      return note({kind, false, false, static_cast<std::uint32_t>(at),
                   static_cast<std::uint32_t>(text.size()), size() + 1});
    if (!gather(text)) return false;
    gathering_ = false;
    return note({kind, true, false, static_cast<std::uint32_t>(gathered_from_),
                 static_cast<std::uint32_t>(unescaped_.size() - gathered_from_), size() + 1});
  }

  std::string_view document_;
  memory_budget& budget_;
  std::vector<json_token> tokens_;
  std::vector<std::uint32_t> open_;
  std::string unescaped_;
  std::size_t gathered_from_ = 0;
  bool gathering_ = false;
};

/// Parses the document; false where it is no JSON, or the budget is spent.
class json_document {
 public:
  json_document(std::string_view text, memory_budget& budget) : parser_(options(), text, budget) {
    boost::system::error_code error;
    const std::size_t read = parser_.write_some(false, text.data(), text.size(), error);
    valid_ = !error.failed() && parser_.done() && read == text.size();
    read_ = read;
  }
  bool valid() const noexcept { return valid_; }
  /// Bytes up to the error.
  std::size_t read() const noexcept { return read_; }
  const json_tape& tape() const noexcept { return parser_.handler(); }

 private:
  static boost::json::parse_options options() {
    boost::json::parse_options out;
    out.max_depth = 64;
    return out;
  }
  boost::json::basic_parser<json_tape> parser_;
  bool valid_ = false;
  std::size_t read_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

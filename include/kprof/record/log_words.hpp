// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LOG_WORDS_HPP
#define KPROF_RECORD_LOG_WORDS_HPP

// What a thread's log is made of: words of 8 bytes. The first of a record tells what it is:
//   bit 63 set: the innermost scope ended; the other bits are the time
//   bit 63 clear: bits 0-31 subject, 32-47 payload bytes, 48-55 kind; the second word is the time,
//   the payload follows

#include <kprof/build_options.hpp>
#include <kprof/record/open_scopes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

enum class record_kind : std::uint8_t {
  begin,   // subject: call site
  folded,  // a begin that is in the totals; subject: node of the call tree
  end_to,  // subject: depth; that scope and all inside it ended
  adopt,   // subject: path; what follows belongs under it
  // subject: correlation id of work launched on a device, under the innermost scope; payload: a
  // call_word, its other ids
  kernel_launch,
  transfer_launch,  // of a copy or a memset, which does nothing where there are no bytes
  graph_launch,
  ignored_launch,  // of any of them, while nothing was being recorded
  // payload: how long the thread had run on a CPU, in ns, and in the highest bit whether it met
  // denormal numbers since the record of this kind before; then its page faults
  cpu_time,
  // The thread's running step ended. Subject: the number of the step that begins, or step_number.
  step,
  host_call,    // of a device's library, which launched nothing; otherwise as a launch
  call_number,  // subject: the number that the program names the innermost scope by
  belongs_to,   // subject: the number of the call that the innermost scope belongs to
};

/// Instead of a step's number.
enum step_number : std::uint32_t {
  second_step = 0xFFFFFFFC,     // number 1; the one before began with the recording
  no_second_step = 0xFFFFFFFD,  // none begins, and the one that ends began with the recording
  no_step = 0xFFFFFFFE,         // none begins
  next_step = 0xFFFFFFFF,       // one more than the last
};

inline constexpr std::uint32_t record_header = 16;
inline constexpr std::uint32_t max_launch_ids = 32;
inline constexpr std::uint64_t end_bit = std::uint64_t{1} << 63U;

/// Which function a call was of, 0 where that is not known, and how many ticks it took: a day at
/// the most.
constexpr std::uint64_t call_word(std::uint16_t function, std::uint64_t took) noexcept {
  constexpr std::uint64_t most = (std::uint64_t{1} << 48U) - 1;
  return std::uint64_t{function} << 48U | (took < most ? took : most);
}
constexpr std::uint16_t function_of(std::uint64_t call) noexcept {
  return static_cast<std::uint16_t>(call >> 48U);
}
constexpr std::uint64_t ticks_of(std::uint64_t call) noexcept {
  return call & ((std::uint64_t{1} << 48U) - 1);
}

/// The first word of a record.
constexpr std::uint64_t record_word(record_kind kind, std::uint32_t subject,
                                    std::uint32_t payload_bytes) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 48U |
         std::uint64_t{payload_bytes} << 32U | subject;
}
constexpr record_kind kind_of(std::uint64_t word) noexcept {
  return static_cast<record_kind>(word >> 48U & 0xFFU);
}
constexpr std::uint32_t payload_bytes_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32U & 0xFFFFU);
}
constexpr std::size_t record_size(std::uint64_t word) noexcept {
  return record_header + (payload_bytes_of(word) + 7U) / 8U * 8U;
}

constexpr bool is_begin(std::uint64_t word) noexcept {
  static_assert(static_cast<int>(record_kind::begin) == 0);
  return word >> 48U == 0;
}
/// The first word of a begin once it is in the totals.
constexpr std::uint64_t folded_word(std::uint64_t begin, std::uint32_t node) noexcept {
  return (begin >> 32U << 32U) | record_word(record_kind::folded, node, 0);
}

inline void put(char* at, std::uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }
inline std::uint64_t get(const char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// What begin and end touch: one cache line of the thread's own. What follows is for ends out of
/// order.
struct alignas(64) log_head {
  /// Where the next record goes; for the thread itself.
  char* next_record() const noexcept { return cursor.load(std::memory_order_relaxed); }
  /// Makes the records up to `up_to` visible to the reader.
  void publish(char* up_to) noexcept { cursor.store(up_to, std::memory_order_release); }
  /// How far the records are visible; for the reader.
  char* published() const noexcept { return cursor.load(std::memory_order_acquire); }

  std::atomic<char*> cursor = nullptr;
  char* limit = nullptr;             // of the chunk
  std::uint64_t emitted = 0;         // bit d: a tool was sent the open scope at depth d < 64
  std::uint32_t emitted_deeper = 0;  // how many deeper ones it was sent
  std::uint64_t cpu_due = 0;         // ticks, from when on the thread notes its CPU time
  open_scopes scopes;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

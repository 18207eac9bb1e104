// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_OP_INFO_HPP
#define KPROF_RECORD_OP_INFO_HPP

// What the session keeps of operators and call sites: copies, so that a shared library may be
// unloaded. Only the formulas stay where they are; they are run when a set of parameters is first
// seen, and the library's leaving waits for that.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/declare/division_trap.hpp>
#include <kprof/declare/part.hpp>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct enumerator_info {
  std::int64_t value;
  std::string name;
};

/// A copy of a field_desc.
struct field_info {
  std::string name;
  std::uint32_t offset;
  std::uint32_t size;
  std::uint32_t extent;
  field_kind kind;
  bool is_signed;  // kind == enumeration
  std::vector<field_info> nested;
  std::vector<enumerator_info> enumerators;
};

inline std::string copy(text_view t) { return {t.data, t.size}; }

inline bool same_fields(const std::vector<field_info>& a, const std::vector<field_info>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const field_info &x = a[i], &y = b[i];
    if (x.name != y.name || x.offset != y.offset || x.size != y.size || x.extent != y.extent ||
        x.kind != y.kind || x.is_signed != y.is_signed)
      return false;
    if (!same_fields(x.nested, y.nested) || x.enumerators.size() != y.enumerators.size())
      return false;
    for (std::size_t e = 0; e < x.enumerators.size(); ++e)
      if (x.enumerators[e].value != y.enumerators[e].value ||
          x.enumerators[e].name != y.enumerators[e].name)
        return false;
  }
  return true;
}

inline std::vector<field_info> copy_fields(const struct_desc& from) {
  std::vector<field_info> out;
  for (std::uint32_t i = 0; i < from.field_count; ++i) {
    const field_desc& f = from.fields[i];
    field_info info{copy(f.name), f.offset, f.size,
                    f.extent,     f.kind,   f.enumerators != nullptr && f.enumerators->is_signed,
                    {},           {}};
    if (f.nested != nullptr) info.nested = copy_fields(*f.nested);
    if (f.enumerators != nullptr)
      for (std::uint32_t e = 0; e < f.enumerators->size; ++e)
        info.enumerators.push_back(
            {f.enumerators->list[e].value, copy(f.enumerators->list[e].name)});
    out.push_back(std::move(info));
  }
  return out;
}

/// A stretch of parameter bytes that carry a value; what lies between is padding.
struct byte_run {
  std::uint32_t offset;
  std::uint32_t size;
};

/// Bytes of a value of this kind: x87 long double has 10 in 16.
inline std::uint32_t value_bytes(const field_info& f) noexcept {
#if defined(__x86_64__)
  if (f.kind == field_kind::floating && f.size == 16) return 10;
#endif
  return f.size;
}

inline void add_runs(std::vector<byte_run>& runs, const std::vector<field_info>& fields,
                     std::uint32_t base) {
  for (const field_info& f : fields) {
    const std::uint32_t elements = f.extent == 0 ? 1 : f.extent;
    for (std::uint32_t e = 0; e < elements; ++e) {
      const std::uint32_t at = base + f.offset + e * f.size;
      if (f.kind == field_kind::aggregate) add_runs(runs, f.nested, at);
      else if (!runs.empty() && runs.back().offset + runs.back().size == at)
        runs.back().size += value_bytes(f);
      else runs.push_back({at, value_bytes(f)});
    }
  }
}

/// Bytes of a presentation up to the end of its text; 0 where it says nothing.
inline std::uint32_t used_bytes(const presentation& p) noexcept {
  const bool empty = p.unshown == 0 && p.beside == 0 && p.size == 0 && p.failed == 0;
  return empty ? 0 : static_cast<std::uint32_t>(__builtin_offsetof(presentation, text)) + p.size;
}
/// From these bytes.
inline presentation to_presentation(const char* bytes, std::uint32_t size) noexcept {
  presentation out{};
  if (size != 0) std::memcpy(static_cast<void*>(&out), bytes, size);
  return out;
}

/// An operator as the session knows it: declared by one or more binaries, the same in name and
/// layout.
class op_info {
 public:
  explicit op_info(const op_desc& from)
      : declared_name(copy(from.name())),
        name(declared_name),
        params_size(from.params_size),
        part_at(from.part_at),
        fields(copy_fields(from.params())),
        defaults(params_size, '\0') {
    add_runs(runs_, fields, 0);
    for (const byte_run& r : runs_)
      std::memcpy(defaults.data() + r.offset,
                  static_cast<const char*>(from.params().defaults) + r.offset, r.size);
    if (part_at != 0) add_part_number();
    packed = params_size == 0 ||
             (runs_.size() == 1 && runs_[0].offset == 0 && runs_[0].size == params_size);
  }

  /// The same operator, declared in another binary or in this one: same name, size and fields, and
  /// no other formulas from the same binary, for then they are two that share a name, of two
  /// namespaces for instance. Parts of its calls have another op_info than its whole calls.
  bool is(const op_info& other, const module_record* home, const op_desc& desc) const {
    if (declared_name != other.declared_name || !same_fields(fields, other.fields) ||
        (part_at == other.part_at && params_size != other.params_size))
      return false;
    for (const evaluator& e : evaluators_)
      if (e.home == home && e.evaluate != desc.evaluate) return false;
    return true;
  }

  /// Copies the bytes that carry values and zeroes the others, so that equal parameters are equal
  /// bytes.
  void canonical(const char* from, char* to) const noexcept {
    std::memset(to, 0, params_size);
    for (const byte_run& r : runs_) std::memcpy(to + r.offset, from + r.offset, r.size);
  }

  /// The formulas' values for canonical parameters (aligned for any type), invalid where a formula
  /// divides by zero; and how the parameters are shown. Both are zero where nothing is known.
  void evaluate(const char* params, work& values, presentation& shown) const noexcept {
    if (evaluators_.empty()) return;
    const evaluator& last = evaluators_.back();
    division_trap::run(last.evaluate, params, values);
    if (last.present == nullptr) return;
    if (division_trap::runs([&] { last.present(params, shown); })) return;
    shown = {};
    shown.failed = 1;
  }

  void add_evaluator(const module_record* home, const op_desc& desc) {
    for (const evaluator& e : evaluators_)
      if (e.home == home) return;
    evaluators_.push_back({home, desc.evaluate, desc.present});
  }
  void remove_evaluators(const module_record* home) noexcept {
    std::size_t kept = 0;
    for (const evaluator& e : evaluators_)
      if (e.home != home) evaluators_[kept++] = e;
    evaluators_.resize(kept);
  }

  std::string declared_name;
  std::string name;  // as shown: with a number when another operator is called the same
  std::uint32_t params_size;
  std::uint32_t part_at;  // of parts of calls: where the part_number is; 0 of whole calls
  std::vector<field_info> fields;
  std::string defaults;      // parameters of a value-initialised object
  bool packed = false;       // no padding: bytes as they are
  bool shares_name = false;  // with the same operator in parts, or as a whole

 private:
  void add_part_number() {
    constexpr std::uint32_t size = sizeof(part_number);
    if (!runs_.empty() && runs_.back().offset + runs_.back().size == part_at)
      runs_.back().size += size;
    else runs_.push_back({part_at, size});
  }

  struct evaluator {
    const module_record* home;
    void (*evaluate)(const void*, work&) noexcept;
    void (*present)(const void*, presentation&) noexcept;
  };
  std::vector<byte_run> runs_;
  std::vector<evaluator> evaluators_;
};

/// A call site, or the place of an operator's guards that have none.
struct site_info {
  op_info* op = nullptr;  // nullptr: a region
  std::string file;
  std::uint32_t line = 0;
};

/// All call sites seen, by number. Numbers are given under a lock and read without: an entry never
/// moves or changes, but for the formulas of its operator, which change under `mutex()` and are run
/// under it.
class site_table {
 public:
  /// What a replay of a CUDA graph stands under in the call tree; its payload is its name.
  static constexpr std::uint32_t graph_site = 1;

  site_table() { static_cast<void>(add({})); }
  ~site_table() {
    for (const auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
  }
  site_table(const site_table&) = delete;
  site_table& operator=(const site_table&) = delete;

  /// The number of a call site, given at its first scope; 0 when there are a million. Sites of a
  /// library that was loaded again get their old one.
  std::uint32_t number_of(site& where) {
    const std::lock_guard lock(mutex_);
    if (const std::uint32_t known =
            std::atomic_ref<std::uint32_t>(where.id).load(std::memory_order_relaxed))
      return known;
    op_info* op = where.op == nullptr ? nullptr : &intern(*where.op, where.home);
    std::string file = where.file == nullptr ? std::string{} : std::string{where.file};
    std::string key = file + '\n' + std::to_string(where.line) + '\n' +
                      std::to_string(reinterpret_cast<std::uintptr_t>(op));
    std::uint32_t& id = numbers_[std::move(key)];
    if (id == 0) id = add({op, std::move(file), where.line});
    std::atomic_ref<std::uint32_t>(where.id).store(id, std::memory_order_release);
    return id;
  }

  const site_info& operator[](std::uint32_t id) const noexcept {
    return blocks_[id / per_block].load(std::memory_order_acquire)[id % per_block];
  }

  void evaluate(const site_info& where, const char* params, work& values,
                presentation& shown) noexcept {
    const std::lock_guard lock(mutex_);
    where.op->evaluate(params, values, shown);
  }

  void forget_formulas(const module_record* home) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& op : ops_) op->remove_evaluators(home);
  }

  /// Whether any operator was seen whose calls are done in parts.
  bool have_parts() const noexcept { return have_parts_.load(std::memory_order_relaxed); }

  /// Says which regions are steps; "": none. Regions that have been seen stay what they are.
  void set_step_name(const std::string& name) {
    const std::lock_guard lock(mutex_);
    step_name_ = name;
    has_steps_.store(!name.empty(), std::memory_order_relaxed);
  }
  /// Whether scopes of this site with this name are steps.
  bool is_step(std::uint32_t site, const char* name, std::uint32_t size) {
    if (!has_steps_.load(std::memory_order_relaxed) || site <= graph_site ||
        (*this)[site].op != nullptr)
      return false;
    const std::lock_guard lock(mutex_);
    return step_name_ == std::string_view{name, size};
  }

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t per_block = 256;
  static constexpr std::uint32_t max_blocks = 4096;  // a million call sites

  op_info& intern(const op_desc& desc, const module_record* home) {
    op_info candidate(desc);
    const op_info* in_parts = nullptr;  // the same operator, and one of both is of parts
    std::size_t namesakes = 0;
    for (const auto& op : ops_) {
      if (op->is(candidate, home, desc)) {
        if (op->part_at == candidate.part_at) {
          op->add_evaluator(home, desc);
          return *op;
        }
        in_parts = op.get();
      } else if (op->declared_name == candidate.declared_name && !op->shares_name) {
        ++namesakes;
      }
    }
    if (in_parts != nullptr) candidate.name = in_parts->name;
    else if (namesakes != 0) candidate.name += " (" + std::to_string(namesakes + 1) + ")";
    candidate.shares_name = in_parts != nullptr;
    if (candidate.part_at != 0) have_parts_.store(true, std::memory_order_relaxed);
    ops_.push_back(std::make_unique<op_info>(std::move(candidate)));
    ops_.back()->add_evaluator(home, desc);
    return *ops_.back();
  }

  std::uint32_t add(site_info info) {
    if (next_ / per_block >= max_blocks) return 0;
    std::atomic<site_info*>& block = blocks_[next_ / per_block];
    if (block.load(std::memory_order_relaxed) == nullptr)
      block.store(new site_info[per_block], std::memory_order_release);
    block.load(std::memory_order_relaxed)[next_ % per_block] = std::move(info);
    return next_++;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<op_info>> ops_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::atomic<site_info*> blocks_[max_blocks] = {};
  std::uint32_t next_ = 1;
  std::atomic<bool> have_parts_{false};
  std::string step_name_;
  std::atomic<bool> has_steps_{false};
};

}  // namespace detail
KPROF_DETAIL_END

#endif

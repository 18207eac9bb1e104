// SPDX-License-Identifier: MIT
#ifndef KPROF_REGISTRY_HPP
#define KPROF_REGISTRY_HPP

// Lists of operators: one that the compiler checks, and one of all operators that the modules of
// the process know. Include it where a library lists its operators, or to walk them; it arms
// nothing. At run time an operator is on the list if a module has a guard for it, or has enrolled a
// registry that names it.
//
//   using ops = kprof::op_registry<Gemm, Conv2d>;
//   static_assert(ops::size == 2 && ops::contains("Conv2d"));
//   template class kprof::op_registry<Gemm, Conv2d>;   // in one .cpp file: on the process's list
//                                                      without any guard

#include <kprof/build_options.hpp>
#include <kprof/guard.hpp>
#include <kprof/op.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

namespace detail {

template <class... Ops>
constexpr bool distinct_names() noexcept {
  const text_view names[sizeof...(Ops) + 1] = {operator_name<Ops>()..., {"", 0}};
  for (std::size_t i = 0; i != sizeof...(Ops); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_text(names[i], names[j])) return false;
  return true;
}

/// False when a type of the list is no operator; a static_assert of check_operator() has then said
/// why, and the names are not checked.
template <class... Ops>
constexpr bool check_registry() noexcept {
  if constexpr ((check_operator<Ops>() && ... && true)) {
    static_assert(distinct_names<Ops...>(),
                  "kprof: two operators of the registry have the same name; give one of them "
                  "`static constexpr const char* name`");
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

/// A list of operators, checked by the compiler: each is an operator, and their names are distinct.
/// Names are those of name_of(): a template's arguments are spelt as the compiler prints them.
template <class... Ops>
class op_registry {
  static_assert(detail::check_registry<Ops...>());

 public:
  static constexpr std::size_t size = sizeof...(Ops);
  /// What index_of() returns for a name that is not on the list.
  static constexpr std::size_t npos = ~std::size_t{0};

  /// Position of the operator called `name`, or npos.
  static constexpr std::size_t index_of(const char* name) noexcept {
    const text_view names[size + 1] = {detail::operator_name<Ops>()..., {"", 0}};
    for (std::size_t i = 0; i != size; ++i)
      if (detail::same_text(names[i], detail::text_of(name))) return i;
    return npos;
  }
  /// Whether an operator is called `name`.
  static constexpr bool contains(const char* name) noexcept { return index_of(name) != npos; }
  /// Whether operator `Op` is on the list.
  template <class Op>
  static constexpr bool has = (std::is_same_v<Op, Ops> || ... || false);

  /// Calls f(std::type_identity<Op>{}) for each operator in the order of the list.
  ///     ops::for_each([](auto op) { print(kprof::name_of<typename decltype(op)::type>()); });
  template <class F>
  static constexpr void for_each(F&& f) {
    (static_cast<void>(f(std::type_identity<Ops>{})), ...);
  }

  /// Puts the operators on the process's list. The loader does so when it loads a module that has
  /// this call anywhere, executed or not; an explicit instantiation of the registry does the same.
  static void enroll() noexcept {
#if KPROF_ENABLE
    (static_cast<void>(&detail::listed<Ops>), ...);
#endif
  }
};

/// One field of a listed operator; valid while the module that declared it is loaded.
class field_view {
 public:
  text_view name() const noexcept { return field_->name; }
  field_kind kind() const noexcept { return field_->kind; }
  /// Bytes from the start of the parameters.
  std::uint32_t offset() const noexcept { return field_->offset; }
  /// Bytes of one element.
  std::uint32_t size() const noexcept { return field_->size; }
  /// Elements of a std::array, all dimensions together; 0 for a single value.
  std::uint32_t extent() const noexcept { return field_->extent; }

 private:
  friend class operator_view;
  explicit field_view(const detail::field_desc& field) noexcept : field_(&field) {}
  const detail::field_desc* field_;
};

/// An operator of the process's list; valid while the module that declared it is loaded.
class operator_view {
 public:
  text_view name() const noexcept { return op_->name(); }
  /// Bytes of the parameters; 0 for an operator without any.
  std::uint32_t params_size() const noexcept { return op_->params_size; }
  std::uint32_t field_count() const noexcept { return op_->params().field_count; }
  /// Field `i` of field_count(), in the order of declaration.
  field_view field(std::uint32_t i) const noexcept { return field_view{op_->params().fields[i]}; }
  /// Whether both are one operator, perhaps of two modules: name and fields agree.
  friend bool operator==(operator_view a, operator_view b) noexcept {
    if (a.op_ == b.op_) return true;
    if (!detail::same_text(a.name(), b.name()) || a.params_size() != b.params_size() ||
        a.field_count() != b.field_count())
      return false;
    for (std::uint32_t i = 0; i < a.field_count(); ++i) {
      const field_view x = a.field(i), y = b.field(i);
      if (!detail::same_text(x.name(), y.name()) || x.kind() != y.kind() ||
          x.offset() != y.offset() || x.size() != y.size() || x.extent() != y.extent())
        return false;
    }
    return true;
  }

 private:
  template <class F>
  friend void for_each_operator(F f);
  explicit operator_view(const detail::op_desc& op) noexcept : op_(&op) {}
  const detail::op_desc* op_;
};

/// Calls f(operator_view) once for each operator that the loaded modules know. An operator of
/// several modules is one. Takes time quadratic in the number of operators: not for hot code. Holds
/// the loader's lock: `f` must not load or unload a library, nor throw. With KPROF_ENABLE=0 there
/// are none.
template <class F>
void for_each_operator(F f) {
#if KPROF_ENABLE
  // An operator that several modules guard is visited at its first node.
  const auto each_node = [](auto visit) {
    bool go_on = true;
    detail::for_each_module([&](detail::module_record& m) {
      for (const detail::op_node* n = detail::load(m.ops); n != nullptr && go_on; n = n->next)
        go_on = visit(*n);
    });
  };
  each_node([&](const detail::op_node& node) {
    bool first = true;
    each_node([&](const detail::op_node& earlier) {
      if (&earlier == &node) return false;
      if (operator_view{*earlier.op} == operator_view{*node.op}) first = false;
      return first;
    });
    if (first) f(operator_view{*node.op});
    return true;
  });
#else
  static_cast<void>(f);
#endif
}

KPROF_DETAIL_END

#endif

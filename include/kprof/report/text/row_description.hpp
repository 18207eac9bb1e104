// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_ROW_DESCRIPTION_HPP
#define KPROF_REPORT_TEXT_ROW_DESCRIPTION_HPP

// What a row of the table of operators says of its calls, in parts: their parameters, or what else
// the table is grouped by. Included by operator_lines.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/row_numbers.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The nodes of which a row with this grouping holds sets of parameters, by the row's first node.
class nodes_of_rows {
 public:
  nodes_of_rows(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : rows_(p.nodes.size()) {
    const device_sums device(p);
    std::vector<bool> operators(p.nodes.size());
    for (std::size_t i = 0; i < operators.size(); ++i)
      operators[i] = p.nodes[i].kind == scope_kind::op && (kept.empty() || kept[i]);
    group_numbers groups(p, by);
    const row_numbers numbers(p, by, groups, launched_in(p, device), operators);
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (operators[i] && numbers.row_of[i] != scope_node::none && !p.nodes[i].merged)
        rows_[numbers.first[numbers.row_of[i]]].push_back(static_cast<std::uint32_t>(i));
  }
  const std::vector<std::uint32_t>& of(std::uint32_t first_node) const { return rows_[first_node]; }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
};

class row_describer {
 public:
  /// `pass_apart`: a column beside the parameters shows it. `regions_apart`: so do columns of
  /// regions, as far as the plan has them.
  row_describer(const profile& p, const text_plan& plan, bool pass_apart,
                bool regions_apart = false)
      : p_(p), plan_(plan), pass_apart_(pass_apart), regions_apart_(regions_apart) {}

  /// `sets`: the nodes of the row, where it holds several sets of parameters.
  part_list parts(const operator_row& row, const std::vector<std::uint32_t>& sets) const {
    part_list out;
    if (row.invalid) out.push_back({invalid_place, invalid_text(row), false, row.variants == 1});
    add_keys(out, row);
    if (row.variants > 1) {
      if (row.operators == 1) append(out, ranges_of(sets, true));
      const bool comma = !out.empty();
      out.push_back({sets_place,
                     row.merged ? format_count(row.variants - 1) + "+ sets"
                                : format_count(row.variants) + " sets",
                     comma, true});
    } else if (row.merged) {
      out.push_back({sets_place, "(not kept)"});
    } else if (row.node < p_.nodes.size() && row.operators == 1) {
      append(out, parts_of(p_.nodes[row.node]));
    }
    if (row.invalid && row.variants > 1 && out.size() > 1) out[1].after_comma = true;
    return row.values.empty() ? out : said_once(std::move(out), row);
  }

  /// Of one set of parameters.
  part_list parts_of(const scope_node& n) const {
    if (plan_.options.all_parameters) return parameter_parts(p_, n, which_fields::all);
    part_list parts = parameter_parts(p_, n, which_fields::telling);
    erase_class(parts, n);
    if (!pass_apart_ && n.work.pass != pass_kind::unknown && n.work.pass != pass_kind::fprop)
      parts.push_back({pass_place, pass_name(n.work.pass)});
    if (n.work.type != dtype::unknown && !plan_.one_type)
      parts.push_back({type_place, dtype_name(n.work.type)});
    return parts;
  }

  /// Every field of a row with one set of parameters, but for the pass and the type, which are told
  /// apart elsewhere.
  part_list fields_of(const operator_row& row) const {
    if (row.variants != 1 || row.merged || row.operators != 1 || row.node >= p_.nodes.size())
      return {};
    return fields_of(p_.nodes[row.node]);
  }
  part_list fields_of(const scope_node& n) const {
    part_list parts = parameter_parts(p_, n, which_fields::all);
    erase_class(parts, n);
    return parts;
  }

  /// Of several: what they share, with the ranges of their numbers. Where that is nothing, how many
  /// there are.
  part_list parts_of_sets(const std::vector<std::uint32_t>& sets) const {
    if (sets.size() == 1) return parts_of(p_.nodes[sets[0]]);
    part_list out = ranges_of(sets);
    if (out.empty()) out.push_back({sets_place, format_count(sets.size()) + " sets"});
    return out;
  }

  // Places of parts that are no fields.
  static constexpr std::uint32_t invalid_place = ~std::uint32_t{0} - 1,
                                 sets_place = invalid_place - 1, type_place = sets_place - 1,
                                 pass_place = type_place - 1, default_place = pass_place - 1,
                                 first_key_place = std::uint32_t{1} << 20U;

 private:
  static void append(part_list& out, part_list more) {
    for (parameter_part& part : more) out.push_back(std::move(part));
  }

  /// Takes away the fields that say the pass and the type, where kprof knows these.
  void erase_class(part_list& parts, const scope_node& n) const {
    const operator_info* const op = p_.operator_of(n);
    std::erase_if(parts, [&](const parameter_part& part) {
      if (op == nullptr || part.place >= op->fields.size()) return false;
      const std::string& name = op->fields[part.place].name;
      return (name == "pass" && n.work.pass != pass_kind::unknown) ||
             (name == "type" && n.work.type != dtype::unknown);
    });
  }

  static std::string invalid_text(const operator_row& row) {
    if (row.variants == 1) return "invalid:";
    return "invalid: " + counted(row.invalid_calls, "call", "calls");
  }

  /// What the table is grouped by, beside operators and their parameters.
  void add_keys(part_list& out, const operator_row& row) const {
    std::uint32_t place = first_key_place;
    for (const group_value& v : row.values) {
      ++place;
      if (v.kind == group_key::op || v.kind == group_key::parameters ||
          (regions_apart_ && plan_.has_column(v.kind)))
        continue;
      std::string text = v.known ? v.text : "n/a";
      if (v.kind == group_key::field) text = v.key + '=' + text;
      else if (!v.known) text = "no " + v.key;
      else if (v.kind == group_key::step) text = "step " + text;
      out.push_back({place, std::move(text)});
    }
  }

  /// Without the parts of fields that say what a key of the row does.
  [[gnu::cold]] static part_list said_once(part_list parts, const operator_row& row) {
    part_list out;
    for (parameter_part& part : parts) {
      bool is_said = false;
      for (const group_value& v : row.values)
        if (v.kind == group_key::field && v.known && part.place < first_key_place)
          is_said = is_said || part.text == v.key + '=' + v.text ||
                    (part.text == v.key && v.text == "true");
      if (!is_said) out.push_back(std::move(part));
    }
    return out;
  }

  [[gnu::cold]] part_list ranges_of(const std::vector<std::uint32_t>& sets,
                                    bool range_stays = false) const {
    part_ranges ranges;
    bool has_brief = false;
    for (const std::uint32_t node : sets) {
      ranges.add(parts_of(p_.nodes[node]));
      has_brief = has_brief || !p_.nodes[node].brief.empty();
    }
    part_list out = ranges.parts(range_stays);
    // A field that has its default in one of the sets is no part of that one.
    if (plan_.options.all_parameters ||
        (has_brief ? ranges.tell_what_differs() : ranges.are_whole()))
      return out;
    part_list fields = field_ranges_of(sets, range_stays);
    for (parameter_part& part : out)
      if (part.place >= pass_place) fields.push_back(std::move(part));
    return fields;
  }
  /// Of sets whose parts do not tell what differs: the fields that any of them uses.
  [[gnu::cold]] part_list field_ranges_of(const std::vector<std::uint32_t>& sets,
                                          bool range_stays) const {
    std::vector<bool> used;
    part_ranges ranges;
    for (const std::uint32_t node : sets) {
      for (const parameter_part& part : parameter_parts(p_, p_.nodes[node], which_fields::used)) {
        if (part.place >= used.size()) used.resize(part.place + std::size_t{1});
        used[part.place] = true;
      }
      ranges.add(fields_of(p_.nodes[node]));
    }
    part_list out = ranges.parts(range_stays);
    std::erase_if(out, [&](const parameter_part& part) {
      return part.place >= used.size() || !used[part.place];
    });
    return out;
  }

  const profile& p_;
  const text_plan& plan_;
  bool pass_apart_, regions_apart_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif

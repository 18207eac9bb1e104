// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FORMAT_HPP
#define KPROF_REPORT_TEXT_FORMAT_HPP

// Numbers and foreign text as a terminal can show them. Included by the text reports.

#include <kprof/model/names.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/write/printable.hpp>

#endif

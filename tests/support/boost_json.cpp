// SPDX-License-Identifier: MIT

// Boost.JSON, compiled into the program, as Boost has it for programs that do not link it.

#include <boost/json/src.hpp>

// SPDX-License-Identifier: MIT
// A library that is not CUPTI, for a client that is pointed at the wrong file.
extern "C" int not_cupti() { return 0; }

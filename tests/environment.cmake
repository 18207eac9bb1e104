# SPDX-License-Identifier: MIT
# Read by ctest before it runs the tests of these folders: what holds for all of them.
set(ENV{XDG_CACHE_HOME} /dev/null)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens 20 plugins with a session in one process, and plugins with thread-local data of their own:
check_many_sessions.py HOST PLUGIN LARGE_PLUGIN
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

host, plugin, large = sys.argv[1:]
failures = 0
with tempfile.TemporaryDirectory() as folder:

    def copies(of, count):
        for i in range(count):
            target = pathlib.Path(folder) / f"{pathlib.Path(of).stem}_{i}.so"
            yield shutil.copyfile(of, target)

    for name, plugins in {
        "one plugin": [plugin],
        "20 plugins": list(copies(plugin, 20)),
        "a plugin with 4 KiB of thread-local data": [large],
        "5 of those behind 20 others": [*copies(plugin, 20), *copies(large, 5)],
    }.items():
        env = {k: v for k, v in os.environ.items() if k not in ("KPROF", "GLIBC_TUNABLES")}
        r = subprocess.run([host, *plugins], env=env, text=True, capture_output=True, timeout=60)
        print(f"{name}: {r.stdout.strip()[-300:]}")
        if r.returncode != 0 or r.stderr != "":
            failures += 1
            print(f"FAILED: {name}: ended with {r.returncode}\n{r.stderr}")
sys.exit(1 if failures else 0)

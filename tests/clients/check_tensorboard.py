#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens traces in TensorBoard's PyTorch plugin, a real server, and compares the tables that its
pages draw with the profiles: check_tensorboard.py FOLDER
"""

import gzip
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import saved


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Board:
    def __init__(self, folder, log):
        self.port = free_port()
        self.server = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--host", "127.0.0.1"]
            + ["--port", str(self.port)],
            stdout=log,
            stderr=log,
        )

    def get(self, page, **query):
        address = f"http://127.0.0.1:{self.port}/data/plugin/pytorch_profiler/{page}?"
        with urllib.request.urlopen(address + urllib.parse.urlencode(query), timeout=30) as r:
            body = r.read()
        return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)

    def run(self):
        """The name of the only run, once it is loaded."""
        for _ in range(600):
            try:
                runs = self.get("runs")
                if runs["runs"] and not runs["loading"]:
                    return runs["runs"][0]
            except OSError:
                pass
            time.sleep(0.2)
        raise SystemExit("FAIL: TensorBoard loads nothing")


def near(what, seen, wanted, most):
    """The tables have whole microseconds."""
    if abs(seen - wanted) > most:
        raise SystemExit(f"FAIL: {what}: TensorBoard has {seen} us, the profile {wanted} us")
    print(f"{what}: {seen} us, the profile has {wanted:.3f} us")


def compare(board, profile):
    where = {"run": board.run(), "worker": "worker", "span": "default"}
    views = board.get("views", run=where["run"])
    names = [v if isinstance(v, str) else v["name"] for v in views]
    print("views:", *names)
    rows = board.get("operation/table", group_by="Operation", **where)["data"]
    rows = {row["name"]: row for row in rows}
    for name, (calls, ns) in profile.operators().items():
        if rows[name]["calls"] != calls:
            raise SystemExit(f"FAIL: {rows[name]['calls']} of {calls} calls of {name}")
        near(f"{calls} calls of {name}, host", rows[name]["host_total_duration"], ns / 1e3, 1)
    for name, ns in profile.device_times().items():
        if name is not None:
            near(f"{name}, device", rows[name].get("device_total_duration", 0), ns / 1e3, 1)
    kernels = profile.kernels()
    if kernels:
        table = board.get("kernel/table", **where)["data"]
        columns = [c["name"] for c in table["columns"]]
        seen = [dict(zip(columns, row)) for row in table["rows"]]
        if sum(k["Calls"] for k in seen) != len(kernels):
            raise SystemExit(f"FAIL: {len(kernels)} kernels: {seen}")
        near("kernels", sum(k["Total Duration (us)"] for k in seen),
             sum(k["end"] - k["start"] for k in kernels) / 1e3, 0.01)
    steps = board.get("overview", **where)["steps"]["rows"]
    if profile.steps and len(steps) != len(profile.steps):
        raise SystemExit(f"FAIL: {len(steps)} of {len(profile.steps)} steps")


def main():
    folder = pathlib.Path(sys.argv[1])
    for run in ("resnet50", "training"):
        print(f"-- {run}")
        with tempfile.TemporaryDirectory() as top, open(f"{top}/said", "w+") as log:
            pathlib.Path(f"{top}/log/run").mkdir(parents=True)
            shutil.copy(folder / f"{run}.pt.trace.json", f"{top}/log/run/worker.pt.trace.json")
            board = Board(f"{top}/log", log)
            try:
                compare(board, saved.Profile(folder / f"{run}.saved.json"))
            finally:
                board.server.terminate()
                board.server.wait()
            log.seek(0)
            said = log.read()
            for complaint in ("Error in input data", "different external id", "Failed to parse"):
                if complaint in said:
                    raise SystemExit(f"FAIL: {run}: {said}")


main()

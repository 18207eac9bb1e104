# SPDX-License-Identifier: MIT
"""A saved profile as the tests of clients compare with it: times in nanoseconds."""

import json


class Profile:
    def __init__(self, path):
        with open(path) as file:
            self.all = json.load(file)
        self.nodes = self.all["nodes"]
        self.device = self.all.get("device", {})
        self.work = self.device.get("work", [])
        timeline = self.device.get("timeline", {})
        self.items = [i for i in timeline.get("items", []) if i["end"] >= i["start"]]
        self.steps = [
            s
            for s in self.all.get("steps", [])
            if s.get("counts", True) and "thread" in s
        ]
        ns = self.all["clock"]["ns_per_tick"]
        #: Every scope of the timeline: node, begin and end in whole nanoseconds.
        self.scopes = [
            (node, round(start * ns), round((start + duration) * ns))
            for node, start, duration in self.all.get("timeline", {}).get("rows", [])
        ]

    def operators(self):
        """Calls and host time of each operator, by its name."""
        sums = {}
        for node, begin, end in self.scopes:
            if self.nodes[node].get("kind") == "op":
                calls, ns = sums.get(self.nodes[node]["name"], (0, 0))
                sums[self.nodes[node]["name"]] = (calls + 1, ns + end - begin)
        return sums

    def operator_around(self, node):
        """The name of the innermost operator around a node, None where a graph lies between."""
        while node is not None and self.nodes[node].get("kind", "root") != "root":
            kind = self.nodes[node]["kind"]
            if kind == "op":
                return None if self.is_in_graph(node) else self.nodes[node]["name"]
            node = self.nodes[node].get("parent")
        return None

    def is_in_graph(self, node):
        while node is not None:
            if self.nodes[node].get("kind") == "graph":
                return True
            node = self.nodes[node].get("parent")
        return False

    def device_times(self):
        """Time on the device of the work that each operator launched outside graphs."""
        sums = {}
        for item in self.items:
            name = self.operator_around(self.work[item["work"]].get("scope"))
            sums[name] = sums.get(name, 0) + item["end"] - item["start"]
        return sums

    def kernels(self):
        return [i for i in self.items if self.work[i["work"]].get("task", "kernel") == "kernel"]

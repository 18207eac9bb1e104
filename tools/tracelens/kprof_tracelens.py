# SPDX-License-Identifier: MIT
"""Rate, bound and % of roof of each operator of kprof in AMD's TraceLens, as its extension file.

    KPROF="save(path=run.kprof),trace(path=run.json,detail=kineto)" ./program
    python3 kprof_tracelens.py run.kprof gpu.json    # roofs of the first GPU that kprof knew
    generate_perf_report_pytorch --profile_json_path run.json --output_csvs_dir report \
        --extension_file kprof_tracelens.py --gpu_arch_json_path gpu.json

The trace has FLOPs and bytes of each call, so that one class does for all operators.
"""

import json
import sys

PRECISIONS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "tf32": "fp32", "f64": "fp64",
              "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "int8": "int8", "uint8": "int8",
              "c64": "fp32", "c128": "fp64"}
perf_model_extension = {}  # the operators of the trace, which TraceLens takes from here


class kprof_operator:
    category, bwd_category, sheet_category = "kprof", None, "kprof"

    def __init__(self, event, arch=None, python_path=None, **others):
        self.args = event["args"]
        self.param_details = {"parameters": self.args.get("Input Dims", ""),
                              "type": self.args.get("type", "")}

    @classmethod
    def can_model(cls, event):
        return "flops" in event["args"] and "bytes" in event["args"]

    def flops(self):
        return float(self.args["flops"])

    def bytes(self):
        return float(self.args["bytes"])

    def flops_bwd(self):
        raise NotImplementedError("a backward pass is a call of its own")

    def get_compute_precision(self):
        return PRECISIONS.get(self.args.get("type"))

    def get_maf_type(self):
        """Where an operator names no unit, f32 is for CUDA cores, as in kprof's own roofs."""
        on = self.args.get("arithmetic")
        if on is None:
            on = "CUDA core" if self.args.get("type") in ("f32", "c64", None) else "tensor core"
        return "vector" if on == "CUDA core" else "matrix"


def tree_postprocess_extension(tree):
    for event in tree.events:
        if event.get("cat") == "cpu_op" and "flops" in event.get("args", {}):
            perf_model_extension[event["name"]] = kprof_operator


def roofs(profile):
    """TraceLens's file of a GPU, of a saved profile: TFLOP/s and GB/s."""
    gpus = [g for g in profile.get("machine", {}).get("gpus", []) if "memory_bytes" in g]
    if not gpus:
        sys.exit("kprof_tracelens: the profile has no GPU whose roofs are known")
    gpu, rates = gpus[0], {}
    for one in gpu["arithmetic"]:
        if one["type"] in PRECISIONS:
            unit = "matrix" if one["on"] == "tensor_core" else "vector"
            name = f"{unit}_{PRECISIONS[one['type']]}"
            rates[name] = max(rates.get(name, 0), one["operations"] / 1e12)
    return {"name": gpu["device"], "mem_bw_gbps": gpu["memory_bytes"] / 1e9,
            "max_achievable_tflops": rates}


if __name__ == "__main__":
    with open(sys.argv[1]) as saved, open(sys.argv[2], "w") as file:
        json.dump(roofs(json.load(saved)), file, indent=1)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The answers of CUPTI, by machine, and the page that shows them.

  facts.py take RESULTS NAME [ROOT]   the FACT lines of a run's results.txt become
  tests/gpu/records/NAME.facts
  facts.py page [ROOT]                writes docs/what_cupti_does.md of all that are there
  facts.py check [ROOT]               ends with 1 where the page is not what they make
  facts.py compare RESULTS NAME [ROOT]  ends with 1 where a run answers otherwise than NAME.facts,
  and tells where
"""

import pathlib
import re
import sys

PAGE = "docs/what_cupti_does.md"
RECORDS = "tests/gpu/records"
SCRIPTED = "scripted"

INTRODUCTION = """<!-- Made by tests/gpu/facts.py from tests/gpu/records/*.facts: change those. -->
# What CUPTI does

What kprof's collector has to know of CUPTI, and what CUPTI itself answers: `tests/gpu/facts*.cu`
and `tests/gpu/launch_cost.cu` ask it, with nothing of kprof in between, and fail where kprof could
not cope with the answer. `bash tests/gpu/run.sh` asks the GPU at hand; [its
README](../tests/gpu/README.md) says how the answers get here. The [scripted
CUDA](../tests/scripted_cuda/README.md) stands in for a GPU in all other tests: where a GPU answers
otherwise, it is to be corrected, and the collector if it relied on it.
"""
NONE_YET = """
No answer of a GPU is in the tree yet. What is said in the texts below is from NVIDIA's
documentation and headers and from the sources of other tools.
"""

# Heading, text, and the questions by the keys of their answers.
SECTIONS = [
    (
        "Ids of launches and records",
        """A record of the device's work has the correlation id of the call that launched it. CUPTI
documents that ids are there only while records of API calls are on too (`RUNTIME` or `DRIVER`);
other tools find them with callbacks alone. kprof listens to the launching calls of both interfaces,
notes the ids of all that are inside one another, and turns records of API calls on only when a
record's id is found missing.""",
        {
            "correlation.callback.kernels": "With callbacks and without records of API calls, "
            "whose id has a kernel's record?",
            "correlation.callback.copies": "Whose has a copy's?",
            "correlation.callback.memsets": "Whose has a memset's?",
            "correlation.callback.nodes": "Whose has that of a graph's node?",
            "correlation.alone": "With neither callbacks nor records of API calls, how many "
            "records have an id?",
            "correlation.alone.distinct": "and does each launch have its own?",
            "correlation.api_records": "With records of the runtime's calls, how many records have "
            "the id of one?",
            "correlation.external": "With an external id pushed around the launches, how many have "
            "a record that gives it?",
        },
    ),
    (
        "The calls that launches come through",
        """What is listed is each call that CUPTI called back for, with its number, `>` being a call
inside the one before. kprof recognises launching calls by the names that CUPTI has for them, so
that a new number is not missed, as `<<<>>>`'s was with CUDA 13 by tools that list numbers.""",
        {
            "callbacks.launch": "`<<<>>>`",
            "callbacks.cudaLaunchKernel": "`cudaLaunchKernel`",
            "callbacks.cudaLaunchKernelExC": "`cudaLaunchKernelExC`",
            "callbacks.cudaLaunchCooperativeKernel": "`cudaLaunchCooperativeKernel`",
            "callbacks.cudaMemcpyAsync": "`cudaMemcpyAsync`",
            "callbacks.cudaMemcpy": "`cudaMemcpy`",
            "callbacks.cudaMemsetAsync": "`cudaMemsetAsync`",
            "callbacks.cudaGraphLaunch": "`cudaGraphLaunch`",
            "callbacks.cuLaunchKernel": "`cuLaunchKernel`",
            "callbacks.cuLaunchKernelEx": "`cuLaunchKernelEx`",
            "callbacks.cublas": "cuBLAS, GEMM in f32, tf32 and bf16 of several sizes",
            "callbacks.cudnn": "cuDNN, a forward convolution in f32 and in bf16",
        },
    ),
    (
        "Buffers and flushes",
        """CUPTI asks for buffers and hands them back when they are full, when it is flushed, and at
times of its own. kprof counts on no order of records, and joins them with launches both ways. It
flushes without force after waiting for the devices; with force only when it ends, after the kinds
are disabled, since what is unfinished then comes without times and not again.""",
        {
            "buffers.full_ones_come_unasked": "Do full buffers come without a flush?",
            "buffers.space_is_taken": "When is a record's space taken?",
            "buffers.delivered_by": "Which thread hands them back?",
            "buffers.sorted_within": "Are a buffer's records in the order in which they began?",
            "buffers.sorted_across": "Does no record begin before one in a buffer that came "
            "earlier?",
            "buffers.sorted_in_a_stream": "Are the records of one stream in order?",
            "flush.ended_come_while_others_run": "Does a flush without force deliver kernels that "
            "have ended while others of the stream are still "
            "queued?",
            "flush.forced_delivers_unfinished": "Does a forced flush deliver kernels that have not "
            "ended?",
            "flush.forced_unfinished_times": "With which times?",
            "flush.forced_come_again": "How many of these come again once they have ended?",
        },
    ),
    (
        "CUDA graphs",
        """The nodes of a graph are known by callbacks: created while they are captured, inside the
call that is captured, and cloned into what is instantiated. kprof remembers the scope of a node
when it is created, copies it when it is cloned, and ignores nodes that are created while a graph is
copied. A graph that is instantiated takes over the nodes of the graphs in it, with ids that no
callback tells: kprof asks for the ids of the copied nodes again when the call ends. Whether a node
does work is known by the call that makes it, not by the type that is told. Which of the two nodes
of an update is the executable graph's is known by the upper halves of their ids. It goes by the
record's node id, not by its graph id. That drivers run memsets as kernels is said of some: what
kind a node's record has is not relied on.""",
        {
            "graph.record_graph_id": "Which id is in a record's `graphId`?",
            "graph.record_node_id": "Which is in its `graphNodeId`?",
            "graph.node_id_upper_half": "What is the upper half of a node's id?",
            "graph.inner_node_id": "Which id has a record of a graph in the graph?",
            "graph.inner_node_id_upper_half": "and what is its upper half?",
            "graph.updated_node": "Which of the two nodes that are told of an update is the "
            "executable graph's?",
            "graph.type_when_created": "Of how many nodes is the type known when they are created?",
            "graph.instances_differ": "Do two instances of a graph have different nodes?",
            "graph.one_correlation_a_launch": "Do all records of a launch, and no others, have one "
            "correlation id?",
            "graph.callbacks_of_capture": "Callbacks of capturing three kernels",
            "graph.created_inside_the_captured_call": "How many nodes are created between the "
            "begin and the end of the captured call?",
            "graph.callbacks_of_clone": "of `cudaGraphClone`",
            "graph.callbacks_of_child": "of `cudaGraphCreate` and `cudaGraphAddChildGraphNode`",
            "graph.callbacks_of_instantiate": "of `cudaGraphInstantiate`",
            "graph.callbacks_of_instantiate_with_child": "of `cudaGraphInstantiate` with a child "
            "graph",
            "graph.callbacks_of_update": "of `cudaGraphExecUpdate`",
            "graph.callbacks_of_launch": "of `cudaGraphLaunch`",
            "graph.memset_of_1_byte": "Record of a memset node of 1 byte",
            "graph.memset_of_4_KiB": "of a memset node of 4 KiB",
            "graph.memset_of_1_MiB": "of a memset node of 1 MiB",
            "graph.copy_on_the_device_of_4_KiB": "of a copy on the device of 4 KiB",
            "graph.copy_on_the_device_of_1_MiB": "of a copy on the device of 1 MiB",
            "graph.copy_to_the_device_of_1_MiB": "of a copy from pinned memory of 1 MiB",
            "conditional.body_correlation": "Which correlation id has a record of a conditional "
            "node's body?",
            "conditional.body_node": "Which node's id?",
            "conditional.body_graph": "and which graph's?",
            "conditional.behind_correlation": "Which correlation id has that of a node behind it?",
        },
    ),
    (
        "Captures",
        """A capture is broken where its device is waited for, by any thread. kprof hears of
captures from CUPTI while it records, and does not wait then.""",
        {
            "capture.broken_by_a_wait": "Which captures of another thread does "
            "`cudaDeviceSynchronize` break?",
            "capture.broken_by_a_relaxed_wait": "and from a thread in relaxed mode?",
            "capture.broken_by_a_relaxed_wait_for_a_stream": "`cudaStreamSynchronize` of another "
            "stream, in relaxed mode?",
            "capture.broken_by_subscribing": "`cuptiSubscribe`?",
            "capture.broken_by_enabling": "`cuptiActivityEnable`?",
            "capture.broken_by_a_flush": "`cuptiActivityFlushAll`?",
        },
    ),
    (
        "Clocks",
        """CUPTI's host times, and the device's times that it converts, are of `CLOCK_REALTIME`.
Scopes are stamped with the processor's counter, which kprof sets against that clock at the start,
at every flush and at the end.""",
        {
            "clock.cupti_is_realtime": "How many of 100,000 times of `cuptiGetTimestamp` lie "
            "between two of `CLOCK_REALTIME` around them?",
            "clock.records_between_launch_and_wait": "In how many seconds of a minute do all "
            "kernels lie between their launch and the end "
            "of the wait for them?",
            "clock.records_drift": "How far does the device's time move against the host's, within "
            "a minute?",
            "clock.counter_drift": "How far does the processor's counter, set by one second, move "
            "against `CLOCK_REALTIME`, within a minute?",
        },
    ),
    (
        "Others in the process",
        """Up to CUDA 13.2 one subscriber is served. kprof takes the refusal for what it is, names
the other tool where CUPTI does, and goes on without the device's work. In a forked child it makes
no call of CUPTI.""",
        {
            "subscriber.second": "What does a second `cuptiSubscribe` get?",
            "subscriber.second_v2": "What does a second subscriber by `cuptiSubscribe_v2` get?",
            "subscriber.holder": "Which name of the first does that tell?",
            "subscriber.first_goes_on": "Does the first go on being called?",
            "subscriber.after_the_first_has_gone": "What does the second get once the first has "
            "gone?",
            "fork.timestamp": "In a forked child, `cuptiGetTimestamp`",
            "fork.flush": "In a forked child, `cuptiActivityFlushAll`",
            "fork.subscribe": "In a forked child, `cuptiSubscribe`",
            "fork.cuda": "In a forked child, `cudaMalloc`",
            "fork.parent_records": "How many records of its kernels has the parent afterwards?",
        },
    ),
    (
        "What it costs",
        """On one thread, against the same launches with records of the work alone: the median of
all rounds, with the smallest and the largest difference. The table of a run, under `bench/results`,
has all ways, and four threads.""",
        {
            "cost.callbacks": "The callbacks of kprof's way",
            "cost.api_record": "A record of each launching call of the runtime's",
            "cost.push_pop": "Pushing and popping an external id",
            "cost.external": "External ids, and records of the launching calls of both interfaces",
            "cost.choice": "The least of the two that see all launches, if it gives every kernel "
            "to its operator",
        },
    ),
]
MACHINE = {
    "machine.gpu": "GPU",
    "machine.compute": "compute capability",
    "machine.driver": "driver's CUDA",
    "machine.runtime": "runtime's CUDA",
    "machine.cupti": "CUPTI",
}


def read(path):
    """Answers by key, of NAME.facts or of the FACT lines of results.txt."""
    found = {}
    for line in path.read_text().split("\n"):
        if match := re.fullmatch(r"(?:FACT )?([a-z][\w.]*): (.*)", line):
            if line.startswith("FACT ") or path.suffix == ".facts":
                found[match[1]] = match[2]
    return found


def known_keys():
    return set(MACHINE) | {key for _, _, questions in SECTIONS for key in questions}


def machines(root):
    """(name, answers), the scripted CUDA first."""
    return in_order({path.stem: read(path) for path in (root / RECORDS).glob("*.facts")})


def in_order(found):
    return sorted(found.items(), key=lambda item: (item[0] != SCRIPTED, item[0]))


def row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page(found):
    """The page's text, of (name, answers) by machine."""
    gpus = [name for name, _ in found if name != SCRIPTED]
    columns = [
        (
            answers.get("machine.gpu", name),
            answers,
            "n/a, not scripted" if name == SCRIPTED else "n/a, not asked",
        )
        for name, answers in found
    ]
    columns += [] if gpus else [("a GPU", {}, "n/a, not run")]
    lines = [INTRODUCTION.rstrip("\n")] + ([] if gpus else [NONE_YET.rstrip("\n")])

    def table(first, questions):
        lines.extend(
            [
                "",
                row([first, *(title for title, _, _ in columns)]),
                "|---" * (1 + len(columns)) + "|",
            ]
        )
        lines.extend(
            row([question, *(answers.get(key, missing) for _, answers, missing in columns)])
            for key, question in questions.items()
        )

    table("", {key: title for key, title in MACHINE.items() if key != "machine.gpu"})
    for heading, text, questions in SECTIONS:
        lines.extend(["", f"## {heading}", "", text])
        table("question", questions)
    return "\n".join(lines) + "\n"


class refused(Exception):
    pass


def taken(found, name, root):
    """What NAME.facts has to hold with these answers: those of a part of the programs leave the
    others."""
    strange = sorted(set(found) - known_keys())
    if strange:
        raise refused(
            f"no question is known to {', '.join(strange)}: add it to SECTIONS of facts.py"
        )
    if "machine.gpu" not in found:
        raise refused("the results do not say which machine answered: run the program facts too")
    if (found["machine.gpu"] == "scripted CUDA") != (name == SCRIPTED):
        raise refused(
            f"these are the answers of {found['machine.gpu']}, which cannot be kept as {name}"
        )
    path = root / RECORDS / f"{name}.facts"
    known = read(path) if path.exists() else {}
    if any(found.get(key, known[key]) != known[key] for key in MACHINE if key in known):
        known = {}  # of another driver or CUPTI, whose answers are not to be mixed with these
    return known | found


def as_text(found):
    return "".join(f"{key}: {found[key]}\n" for key in sorted(found))


def compare(results, name, root):
    found, wanted = read(results), read(root / RECORDS / f"{name}.facts")
    return [
        f"{key}: {found.get(key, 'no answer')}, was {wanted.get(key, 'not asked')}"
        for key in sorted(set(found) | set(wanted))
        if found.get(key) != wanted.get(key)
    ]


def main():
    verb, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    needs = {"take": 2, "compare": 2, "page": 0, "check": 0}
    if verb not in needs or len(arguments) not in (needs[verb], needs[verb] + 1):
        sys.exit(__doc__)
    root = (
        pathlib.Path(arguments[needs[verb]])
        if len(arguments) > needs[verb]
        else pathlib.Path(__file__).resolve().parents[2]
    )
    if verb == "take":
        try:
            text = as_text(taken(read(pathlib.Path(arguments[0])), arguments[1], root))
        except refused as why:
            sys.exit(str(why))
        return (root / RECORDS / f"{arguments[1]}.facts").write_text(text)
    if verb == "compare":
        differences = compare(pathlib.Path(arguments[0]), arguments[1], root)
        sys.exit("\n".join(differences) if differences else 0)
    if verb == "page":
        (root / PAGE).write_text(page(machines(root)))
    elif (root / PAGE).read_text() != page(machines(root)):
        sys.exit(f"{PAGE} is not what {RECORDS}/*.facts make: run python3 tests/gpu/facts.py page")


if __name__ == "__main__":
    main()

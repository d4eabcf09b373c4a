#!/usr/bin/env python3
"""Overlap of compute and communication in Kineto traces, from their JSON alone: what ringscope is compared with.

    overlap.py TRACE...     one line per trace: rank, calls, overlap in percent (whole us), overlap in percent (exact)

Communication: kernels whose names begin with nccl, and multimem_all_reduce_kernel of PyTorch's symmetric memory.
Compute: all other kernels. Overlap: time in which both run, of the time in which communication runs, each as the
union over all streams. In whole us, starts are rounded up and ends down, as Holistic Trace Analysis does; that tool
leaves the last ProfilerStep out unless it is told otherwise, and counts kernels of other libraries as compute: its own
figures differ by that. Calls: record_param_comms with a collective; where none has arguments, nccl: annotations.
"""
import gzip
import json
import math
import re
import sys
from fractions import Fraction


def ns(value):
    return round(Fraction(str(value)) * 1000)


def union(spans):
    merged = []
    for start, end in sorted(s for s in spans if s[1] > s[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def percent(compute, comm):
    both = length(union(compute)) + length(union(comm)) - length(union(compute + comm))
    return f"{100 * both / length(union(comm)):.4f}" if length(union(comm)) else "-"


def whole(spans):
    return [(math.ceil(start / 1000) * 1000, end // 1000 * 1000) for start, end in spans]


def main():
    called = re.compile("all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|reduce|broadcast|barrier|gather|scatter|send|recv")
    for path in sys.argv[1:]:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=str)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        info = trace.get("distributedInfo", {}) if isinstance(trace, dict) else {}
        kernels = [e for e in events if e.get("ph") == "X" and e.get("cat") in ("kernel", "Kernel")]
        compute, comm = [], []
        for e in kernels:
            start = ns(e["ts"])
            is_comm = re.match("(void )?nccl", e["name"]) or "multimem_all_reduce_kernel" in e["name"]
            (comm if is_comm else compute).append((start, start + ns(e.get("dur", 0))))
        named = [e["args"]["Collective name"] for e in events
                 if e.get("name") == "record_param_comms" and e.get("args", {}).get("Collective name")]
        notes = [e["name"][5:] for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("nccl:")]
        calls = sum(1 for name in (named or notes) if called.match(name.lstrip("_")))
        print(info.get("rank", "-"), calls, percent(whole(compute), whole(comm)), percent(compute, comm))


main()

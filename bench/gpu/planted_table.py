#!/usr/bin/env python3
"""What a planted delay costs, measured in its blocks, beside what `ringscope whatif` says about each block.

usage: planted_table.py RINGSCOPE FOLDER...      FOLDER: blocks.json of planted.py and its recording `rec`
One row per shape and delay. The cost is the mean step time of the blocks with the delay minus that of the blocks without.
"""
import json
import statistics
import subprocess
import sys


def mean_and_error(values):
    error = statistics.stdev(values) / len(values) ** .5 if len(values) > 1 else float("nan")
    return statistics.mean(values), error


def said(ringscope, folder, late, begin, end):
    """Saving per block in ms; None if the replay is refused."""
    done = subprocess.run([ringscope, "whatif", "--json", "--take-out", f"rank {late}", "--from", str(begin), "--to",
                           str(end), f"{folder}/rec"], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout) if done.stdout else {"refused": done.stderr, "cases": []}
    answer = answer.get("whatif", answer)
    if answer["refused"] or not answer["cases"] or answer["cases"][0]["saving_ns"] is None:
        return None
    return answer["cases"][0]["saving_ns"] / 1e6


print("| job | planted, ms per step | step, ms | cost, ms per step | said, ms per step | said - cost |")
print("|---|---|---|---|---|---|")
for folder in sys.argv[2:]:
    with open(f"{folder}/blocks.json", encoding="utf-8") as file:
        job = json.load(file)
    steps, by_delay = job["steps"], {}
    for ms, begin, end in job["blocks"]:
        by_delay.setdefault(ms, []).append(((end - begin) / 1e6 / steps, said(sys.argv[1], folder, job["late"], begin, end)))
    usual, usual_error = mean_and_error([length for length, _ in by_delay[0.0]])
    for ms, rows in sorted(by_delay.items()):
        length, error = mean_and_error([length for length, _ in rows])
        savings = [saving / steps for _, saving in rows if saving is not None]
        cost, cost_error = length - usual, (error ** 2 + usual_error ** 2) ** .5
        row = f"| {job['shape']} | {ms:g} | {length:.2f} ± {error:.2f} | "
        row += "| " if ms == 0 else f"{cost:.2f} ± {cost_error:.2f} | "
        if len(savings) < 2:
            print(row + f"refused in {len(rows) - len(savings)} of {len(rows)} blocks | |")
            continue
        saving, saving_error = mean_and_error(savings)
        row += f"{saving:.2f} ± {saving_error:.2f} | "
        print(row + ("|" if ms == 0 else f"{saving - cost:+.2f} |"))

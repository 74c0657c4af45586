#!/usr/bin/env python3
"""Stands in for wakebench where a test wants what wakebench never does: usage as `wakebench run`, of a suite.

Each seed passes at once, but those that variables name, with commas: KILLS ends the worker, CRASHES ends this program
without an answer, WAITS holds the answer back until the file GO is there, and FAILS misses an expectation.
"""

import json
import os
import pathlib
import signal
import sys
import time


def named(variable):
    return {int(seed) for seed in os.environ.get(variable, "").split(",") if seed}


words = sys.argv
seeds = [int(seed) for seed in words[words.index("--seeds") + 1].split(",")]
folder = pathlib.Path(words[words.index("--out") + 1])
parent = int(words[words.index("--parent") + 1])
runs = []
for seed in seeds:
    if seed in named("KILLS"):
        os.kill(parent, signal.SIGKILL)
    if seed in named("CRASHES"):
        print("wakebench: out of luck", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGSEGV)
    while seed in named("WAITS") and not os.path.exists(os.environ["GO"]):
        if os.getppid() != parent:
            sys.exit(130)
        time.sleep(0.02)
    (folder / f"s.seed-{seed}").mkdir()
    missed = seed in named("FAILS")
    failure = {"expected": "a resume: 1", "place": "s.yaml:9", "failure": "found 0 \033[1m"}
    runs.append(
        {
            "name": f"s.seed-{seed}",
            "seed": seed,
            "outcome": "failed" if missed else "passed",
            "exit_code": 7 if missed else 0,
            "took_ms": 1,
            "fault": None,
            "results": {"decisions": 2, "expectations": [failure] if missed else []},
        }
    )
print(json.dumps({"runs": runs}))

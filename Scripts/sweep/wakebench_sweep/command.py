"""The command `wakebench-sweep`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NoReturn

from .plan import MOST_RUNS, Combination, Refusal, batches, combinations, seeds
from .progress import Progress, summary
from .sweep import Sweep, local, remote, sweep_up
from .table import Table

PROGRAM = "wakebench-sweep"
MOST_AT_ONCE = 1_000


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with a command."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(2, f"{message}; see --help")


def number(text: str) -> int:
    """A number from 1 to 1000."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_AT_ONCE):
        raise argparse.ArgumentTypeError(f"{text!r}: expected 1 to {MOST_AT_ONCE}")
    return int(text)


def parser() -> Parser:
    parser = Parser(
        prog=PROGRAM,
        description="Plays scenarios by seeds, by profiles and by settings, and writes what came of each run to one table.",
        epilog="Exit codes are wakebench's: 0 when each run passed, 7 when one failed, another when one could not be played, "
        "12 when a worker cannot find wakebench, 130 when it was interrupted.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("scenarios", nargs="+", metavar="SCENARIO.yaml", help="with a cluster, at the same path on each of its machines")
    add("-o", dest="output", required=True, metavar="RESULTS.sqlite", help="the table; without --resume it must not be there yet")
    add("--resume", action="store_true", help="play what is missing in a table that is there")
    add("--seeds", default="1-100", metavar="1-10000", help="ranges and numbers, with commas; default 1-100")
    add("--profile", default="", metavar="ios12,ios17", help="each of these; default the scenario's own")
    add("--set", action="append", default=[], metavar="NAME=V1,V2", help="each of these values; may be given again")
    add("--scheduler", metavar="ADDRESS", help="a Dask cluster, such as tcp://10.0.0.1:8786; default this machine")
    add("--workers", type=number, metavar="N", help="processes on this machine; default one a processor")
    add("--batch", type=number, default=20, metavar="N", help="so many seeds a task; default 20")
    add("--time-limit", type=number, metavar="SECONDS", help="interrupt a run that takes longer by the wall clock")
    add("--keep-runs", choices=["failing", "all", "none"], default="failing", help="which run folders stay; default failing")
    add("--runs", metavar="DIR", help="where they stay; default beside the table, RESULTS-runs")
    return parser


class Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP, as for a run of wakebench."""


def interrupt(signal_number: int, frame: object) -> NoReturn:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted


def missing(
    combinations: list[Combination], seeds: list[int], done: dict[Combination, set[int]], size: int
) -> Iterator[tuple[Combination, list[int]]]:
    """What is to be played, in batches."""
    for combination in combinations:
        for batch in batches(seeds, done[combination], size):
            yield combination, batch


def run(options: argparse.Namespace) -> int:
    """Sweeps, prints the summary, and gives the exit code."""
    if options.scheduler and options.workers:
        raise Refusal(2, "--workers is for this machine, and --scheduler for a cluster; give one")
    wanted = seeds(options.seeds)
    profiles = options.profile.split(",") if options.profile else []
    plan = combinations(options.scenarios, profiles, options.set)
    if len(wanted) * len(plan) > MOST_RUNS:
        raise Refusal(2, f"{len(plan)} combinations with {len(wanted)} seeds are more than {MOST_RUNS} runs; take fewer")
    for scenario in options.scenarios:
        if not os.path.isfile(scenario):
            raise Refusal(3, f"{scenario}: no such file; name scenarios")
    with closing(Table(options.output, options.resume)) as table:
        runs = os.path.abspath(options.runs or os.path.splitext(options.output)[0] + "-runs")
        done = {combination: table.done(combination) for combination in plan}
        left = sum(len(set(wanted) - each) for each in done.values())
        progress = Progress(left)
        interrupted = False
        try:
            if left:
                with remote(options.scheduler) if options.scheduler else local(options.workers or os.cpu_count() or 1) as client:
                    progress = Progress(left)
                    limit = ["--time-limit", str(options.time_limit)] if options.time_limit else []
                    sweep = Sweep(client, table, progress, runs, options.keep_runs, limit)
                    sweep.play(missing(plan, wanted, done, options.batch))
        except Interrupted:
            interrupted = True
        finally:
            progress.end()
            sweep_up(runs, table)
        print(summary(table, progress))
        if interrupted:
            raise Refusal(130, f"interrupted with {left - progress.done} of {left} left; go on with --resume")
        return table.exit_code()


def main(arguments: Sequence[str] | None = None) -> int:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, interrupt)
    try:
        return run(parser().parse_args(arguments))
    except Refusal as refusal:
        print(f"{PROGRAM}: {refusal}", file=sys.stderr)
        return refusal.code
    except Interrupted:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

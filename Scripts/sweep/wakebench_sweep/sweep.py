"""Plays the batches of a plan as futures of Dask, and hands what comes back to the table."""

from __future__ import annotations

import inspect
import itertools
import logging
import os
import pathlib
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import dask
import psutil
from distributed import Client, Future, KilledWorker, LocalCluster, WorkerPlugin, as_completed

from . import batch
from .plan import Combination, Refusal
from .progress import Progress
from .table import Table

# What Dask would log, a sweep says itself.
for name in ("distributed", "distributed.client"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

WINDOW = 1_000
"""So many batches are known to the scheduler at a time, that a million runs need no memory."""
PATIENCE = 30
"""Seconds that a cluster has to answer and to have a worker, and that runs have to end with their worker."""

LOCAL = {
    "distributed.scheduler.allowed-failures": 1,
    # A batch that waits on a worker would count as one that was there when it died.
    "distributed.scheduler.worker-saturation": 1.0,
    # The pages of these servers have no password.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
}


class ByValue:
    """A function that arrives with its module's code, where Dask alone would send its name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = inspect.getmodule(function)
        cloudpickle.register_pickle_by_value(module)
        self.code = cloudpickle.dumps(function)
        cloudpickle.unregister_pickle_by_value(module)

    def __reduce__(self) -> tuple[Any, ...]:
        return cloudpickle.loads, (self.code,)

    def __call__(self, *arguments: Any) -> Any:
        return cloudpickle.loads(self.code)(*arguments)


PLAY = ByValue(batch.play)


class Obedience(WorkerPlugin):
    """Ctrl-C reaches all processes of a terminal: a worker waits for its client's word, and then plays nothing to its end."""

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def teardown(self, worker: Any) -> None:
        for child in psutil.Process().children():
            child.send_signal(signal.SIGINT)


@contextmanager
def local(workers: int) -> Iterator[Client]:
    """Processes on this machine's loopback. They speak TLS, so that no other user can have them run anything."""
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(LOCAL))
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            security=True,
            memory_limit=None,
            dashboard_address=None,
            # Any port: the usual one may be taken.
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )
        stack.enter_context(cluster)
        client = stack.enter_context(Client(cluster))
        client.register_plugin(Obedience())
        yield client


@contextmanager
def remote(address: str) -> Iterator[Client]:
    """A cluster that somebody else runs."""
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise Refusal(12, f"--scheduler {address}: {error}; start one with 'dask scheduler', and give its address") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise Refusal(12, f"{address} has no worker; start some with 'dask worker {address} --nthreads 1'") from None
        yield client


@dataclass
class Sweep:
    """What is to be played, where, and what is kept of it."""

    client: Client
    table: Table
    progress: Progress
    runs: str
    keep: str
    arguments: list[str]
    number: Iterator[int] = field(default_factory=itertools.count)

    def play(self, batches: Iterator[tuple[Combination, list[int]]]) -> None:
        """Plays all batches. What is lost of one again and again is played once more after all others, alone."""
        playing: dict[Future, tuple[Combination, list[int]]] = {}
        suspects: list[tuple[Combination, list[int]]] = []
        completed = as_completed(raise_errors=False)

        def begin(most: int) -> None:
            for combination, seeds in itertools.islice(batches, most):
                future = self.begin(combination, seeds)
                playing[future] = (combination, seeds)
                completed.add(future)

        begin(WINDOW)
        for future in completed:
            combination, seeds = playing.pop(future)
            lost, _ = self.end(future, combination, seeds)
            suspects += halves(combination, lost)
            begin(1)
        self.corner(suspects)

    def corner(self, suspects: list[tuple[Combination, list[int]]]) -> None:
        """Plays batches that were lost, one at a time, by halves down to the seed: nobody else can be to blame then."""
        while suspects:
            combination, seeds = suspects.pop()
            lost, reason = self.end(self.begin(combination, seeds), combination, seeds)
            if len(lost) == 1 == len(seeds):
                self.add(combination, [self.error(lost[0], reason)])
            else:
                suspects += halves(combination, lost)

    @staticmethod
    def error(seed: int, reason: str) -> dict[str, Any]:
        """The row of a seed that cannot be played."""
        empty = dict.fromkeys(("decisions", "took_ms", "place", "folder"))
        return empty | {"seed": seed, "outcome": "error", "exit_code": 1, "complaint": f"internal: {reason}", "worker": ""}

    def begin(self, combination: Combination, seeds: list[int]) -> Future:
        return self.client.submit(
            PLAY,
            combination.words + self.arguments,
            seeds,
            os.path.join(self.runs, combination.folder),
            self.keep,
            self.table.path,
            key=f"{combination.folder}-{next(self.number)}",
            pure=False,
        )

    def end(self, future: Future, combination: Combination, seeds: list[int]) -> tuple[list[int], str]:
        """Writes down what came of a batch: gives the seeds that nothing came of, and why."""
        error = future.exception()
        if isinstance(error, KilledWorker):
            return seeds, f"each worker that played it died, {error.allowed_failures + 1} in all"
        if future.cancelled():
            raise Refusal(12, "the scheduler is gone; start it again, and go on with --resume")
        if error is not None:
            raise Refusal(1, f"a worker could not play a batch: {type(error).__name__}: {error}; go on with --resume")
        answer = future.result()
        if answer["refused"]:
            raise Refusal(*answer["refused"])
        self.add(combination, answer["rows"])
        played = {row["seed"] for row in answer["rows"]}
        return [seed for seed in seeds if seed not in played], answer["lost"]

    def add(self, combination: Combination, rows: list[dict[str, Any]]) -> None:
        self.table.add(combination, rows)
        self.progress.add(len(rows), sum(row["outcome"] != "passed" for row in rows))


def halves(combination: Combination, seeds: list[int]) -> list[tuple[Combination, list[int]]]:
    """Two batches of one, the first last; one of one seed, and none of none."""
    middle = (len(seeds) + 1) // 2
    return [(combination, half) for half in (seeds[middle:], seeds[:middle]) if half]


def sweep_up(runs: str, table: Table) -> None:
    """Removes the folders of this table's batches that came to nothing, once nobody writes to them."""
    marks = [mark for mark in pathlib.Path(runs).glob(f"*/*/{batch.MARK}") if mark.read_text() == table.path]
    kept = {os.path.dirname(folder) for folder in table.folders()}
    lost = tuple(str(mark.parent) for mark in marks if str(mark.parent) not in kept)
    commands = {each: each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])}
    writing = [each for each, words in commands.items() if any(word.startswith(lost) for word in words)]
    psutil.wait_procs(writing, timeout=PATIENCE)
    for folder in lost:
        shutil.rmtree(folder, ignore_errors=True)
    for empty in [*pathlib.Path(runs).glob("*/*"), *pathlib.Path(runs).glob("*"), pathlib.Path(runs)]:
        with suppress(OSError):
            empty.rmdir()

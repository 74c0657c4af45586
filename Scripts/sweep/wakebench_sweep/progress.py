"""The line that says how far a sweep is, and what stands at its end."""

from __future__ import annotations

import sys
import time

from .plan import command
from .table import Table

SHOWN = 20
"""How many failing runs the summary lists."""


class Progress:
    """On a terminal one line that is written over; elsewhere a line each ten seconds."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.done, self.failed = wanted, 0, 0
        self.began = self.said = time.monotonic()
        self.on_terminal = sys.stderr.isatty()

    @property
    def rate(self) -> float:
        """Seeds a second."""
        return self.done / max(time.monotonic() - self.began, 1e-3)

    def add(self, done: int, failed: int) -> None:
        self.done += done
        self.failed += failed
        now = time.monotonic()
        if self.on_terminal:
            print(f"\r{self}\033[K", end="", file=sys.stderr, flush=True)
        elif now - self.said >= 10:
            self.said = now
            print(self, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.on_terminal and self.done:
            print(f"\r{self}", file=sys.stderr)

    def __str__(self) -> str:
        left = f", {clock((self.wanted - self.done) / self.rate)} left" if 0 < self.done < self.wanted else ""
        return f"{self.done} of {self.wanted} done, {self.failed} failed, {self.rate:.1f} seeds a second{left}"


def clock(seconds: float) -> str:
    """Such as 0:07 or 1:02:03."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def summary(table: Table, progress: Progress) -> str:
    """What the table holds, and how fast this sweep was."""
    counts = table.counts()
    nouns = {"error": "errors"}
    words = [f"{count} {outcome if count == 1 else nouns.get(outcome, outcome)}" for outcome, count in counts.items()]
    lines = []
    failing = table.failing(SHOWN)
    for run in failing:
        name = " ".join(filter(None, [run["scenario"], run["profile"], run["settings"]]))
        place = f"  [{run['place']}]" if run["place"] else ""
        lines.append(printable(f"{run['outcome'].upper()}  {name} seed {run['seed']}: {run['complaint']}{place}"))
        if run["folder"]:
            lines.append(printable(f"        {run['folder']}/report.html"))
    more = sum(counts.values()) - counts.get("passed", 0) - len(failing)
    if more:
        lines.append(f"and {more} more: SELECT * FROM runs WHERE outcome != 'passed' in {table.path}")
    if failing:
        first = failing[0]
        again = command(first["scenario"], first["profile"], first["settings"], first["seed"])
        lines.append(f"play the first again: {printable(again)}")
    count = sum(counts.values())
    runs = f"{count} run{'' if count == 1 else 's'}: {', '.join(words) or 'none played'}"
    lines.append(f"{runs}; {progress.done} of them now, {progress.rate:.1f} seeds a second")
    return "\n".join(lines)


def printable(text: str) -> str:
    """A text with what a terminal would obey written out: apps and devices may have said it."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)

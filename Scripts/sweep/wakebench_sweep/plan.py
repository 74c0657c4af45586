"""What is to be played: each scenario with each profile, each setting and each seed."""

from __future__ import annotations

import hashlib
import itertools
import os
import pathlib
import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass

MOST_RUNS = 1_000_000
"""More runs are a mistake in a command, as for wakebench."""
LARGEST_SEED = 2**63 - 1
"""What a column of SQLite can hold."""


class Refusal(Exception):
    """What a sweep ends with: an exit code of wakebench's, and one line that says what is wrong and what to do."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Combination:
    """A scenario, by its whole path, with a profile and settings. Either is empty where the scenario's own counts."""

    scenario: str
    profile: str = ""
    settings: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What the table calls it."""
        return self.scenario, self.profile, " ".join(self.settings)

    @property
    def words(self) -> list[str]:
        """What `wakebench run` is given."""
        profile = ["--profile", self.profile] if self.profile else []
        return [self.scenario, *profile, *(word for setting in self.settings for word in ("--set", setting))]

    @property
    def folder(self) -> str:
        """A name for its run folders that no other combination has."""
        text = ".".join(filter(None, [pathlib.Path(self.scenario).stem, self.profile, *self.settings]))
        digest = hashlib.sha256("\0".join(self.key).encode()).hexdigest()[:8]
        return re.sub(r"[^\w.=-]", "-", text)[:100] + "." + digest


def command(scenario: str, profile: str, settings: str, seed: int) -> str:
    """The command that plays one run again."""
    words = Combination(scenario, profile, tuple(settings.split())).words
    return shlex.join(["wakebench", "run", *words, "--seed", str(seed)])


def combinations(scenarios: list[str], profiles: list[str], settings: list[str]) -> list[Combination]:
    """All of them, each once. A setting is `NAME=V1,V2`."""
    choices = []
    for text in settings:
        name, equals, values = text.partition("=")
        if not (name and equals) or not all(values.split(",")) or re.search(r"\s", text):
            raise Refusal(2, f"--set {text}: expected a name and its values, such as bluetoothWindow=5s,10s")
        choices.append([f"{name}={value}" for value in values.split(",")])
    names = [choice[0].partition("=")[0] for choice in choices]
    if len(set(names)) < len(names):
        raise Refusal(2, "--set is given twice for one setting; give all its values at once, with commas")
    whole = [os.path.abspath(scenario) for scenario in scenarios]
    pairs = itertools.product(whole, profiles or [""], itertools.product(*choices))
    every = [Combination(scenario, profile, tuple(sorted(chosen))) for scenario, profile, chosen in pairs]
    return list(dict.fromkeys(every))


def seeds(text: str) -> list[int]:
    """Reads `1-20`, `3` and `1-5,9`, each seed once."""
    found: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,20})(?:-([0-9]{1,20}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise Refusal(2, f"--seeds {text}: expected numbers and ranges, such as 1-20,99")
        if last > LARGEST_SEED:
            raise Refusal(2, f"--seeds {text}: the table holds seeds up to {LARGEST_SEED}")
        if last - first >= MOST_RUNS or len(found) + last - first >= MOST_RUNS:
            raise Refusal(2, f"--seeds {text}: more than {MOST_RUNS} seeds; sweep them in parts, each with its table")
        found.update(dict.fromkeys(range(first, last + 1)))
    return list(found)


def batches(seeds: list[int], done: Collection[int], size: int) -> Iterator[list[int]]:
    """The seeds that are not done, so many at a time."""
    missing = (seed for seed in seeds if seed not in done)
    while batch := list(itertools.islice(missing, size)):
        yield batch

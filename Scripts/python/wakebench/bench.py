"""Playing scenarios: a call of `wakebench run`, and the fixture's object that makes one of a test's words."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

from .program import HIDDEN, Program, WakebenchError, refusal
from .run import Run

__tracebackhide__ = HIDDEN

# What `play` itself says to the program, and what makes several runs of one.
OWN = ("--out", "--force", "--json", "--parent", "-q", "--quiet")
SEVERAL = ("-j", "--jobs", "--seeds", "--repeat", "--shard")


def play(program: Program, scenario: Path, folder: Path, words: Sequence[str]) -> Run:
    """Plays a scenario file in a run folder, in place of a run that is there.

    Raises a `WakebenchError` when it cannot be played; a run that is over is one, whatever came of it.
    """
    for word in words:
        name = word.partition("=")[0]
        if name in OWN:
            raise WakebenchError(
                "usage", f"{name} is the plug-in's to say", "leave it out; --wakebench-out keeps run folders"
            )
        if name in SEVERAL:
            raise WakebenchError(
                "usage",
                f"{name} plays several runs, and this is one",
                "use pytest.mark.parametrize, or pytest -n of pytest-xdist",
            )
    try:
        _clear(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "give another folder with --wakebench-out, or make room"
        raise WakebenchError("environment", f"{folder}: cannot be made anew: {error.strerror}", hint) from None
    # The program ends when this process does, however that comes.
    own = ["--out", str(folder), "--force", "--json", "--parent", str(os.getpid())]
    below = program.folder in scenario.parents
    file = str(scenario.relative_to(program.folder) if below else scenario)
    code, output, talk = program.call("run", file, *words, *own)
    try:
        answer = json.loads(output)
    except ValueError:
        raise refusal(code, output, talk) from None
    is_over = isinstance(answer, dict) and answer.get("schema") == "wake.run/1"
    # A run that broke off, such as on a full disk, has no results.
    if not is_over or not (folder / "results.json").exists():
        raise refusal(code, output, talk)
    return Run(program, folder, scenario, talk)


def _clear(folder: Path) -> None:
    """Removes a run that broke off: the program would go on with it, and does not replace it."""
    journal, lock, results = (folder / name for name in ("journal.sqlite", "journal.sqlite.lock", "results.json"))
    # One that ended while it wrote its results leaves them empty.
    if not journal.exists() or (results.exists() and results.stat().st_size > 0):
        return
    if lock.exists():
        with open(lock, "r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                # Somebody plays there: the program says so.
                return
    shutil.rmtree(folder)


def option_words(options: Mapping[str, Any]) -> list[str]:
    """The options of `wakebench run` as words: `seed=7, set={"wakeWindow": "first"}, apps=["build"], no_journal=True`."""
    words: list[str] = []
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is True:
            words.append(name)
        elif isinstance(value, Mapping):
            for setting, each in value.items():
                words += [name, f"{setting}={_word(each)}"]
        elif isinstance(value, (list, tuple)):
            for each in value:
                words += [name, _word(each)]
        elif value is not None and value is not False:
            words += [name, _word(value)]
    return words


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Wakebench:
    """The fixture `wakebench`: the program, for one test. It is looked for when it is first needed."""

    def __init__(
        self,
        find: Callable[[], Program],
        place: Path,
        search: Sequence[Path],
        words: Sequence[str],
        told: Callable[[str], None],
    ) -> None:
        self._find = find
        #: The folders where files are looked for.
        self.search = search
        self._words = words
        self._told = told
        self._counts: dict[str, int] = {}
        #: The folder for the files of the test's runs.
        self.place = place

    @property
    def program(self) -> Program:
        """The program that plays."""
        return self._find()

    def run(self, scenario: str | os.PathLike[str], **options: Any) -> Run:
        """Plays a scenario, by the path of its file or by its text, with options of `wakebench run`.

        A relative path is below the folder of the test, else below pytest's root folder. There are looked for the files
        that a text names, and the bundles of both.
        """
        if isinstance(scenario, str) and "\n" in scenario:
            path = self.write("scenario.yaml", scenario, self.new("scenario"))
        else:
            path = self.existing(scenario, "scenario")
        beside = [word for folder in self.search for word in ("--apps", str(folder))]
        words = [*self._words, *option_words(options), *beside]
        run = play(self.program, path, self.new("run"), words)
        self._told(f"{run}\n{run.story()}\n{run.talk}")
        return run

    def existing(self, path: str | os.PathLike[str], what: str) -> Path:
        """The file of a path, from the folders on where files are looked for."""
        for folder in self.search:
            found = folder / path
            if found.exists():
                return found
        listed = " or ".join(map(str, self.search))
        raise WakebenchError("invalid-file", f"no {what} file '{os.fspath(path)}'", f"expected it in {listed}")

    @staticmethod
    def write(name: str, text: str, folder: Path) -> Path:
        """Writes a file into a folder, which is made where it is not there."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(text, "utf-8")
        return path

    def new(self, name: str) -> Path:
        """A path in the test's folder that this test has not had before."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return self.place / (name if count == 1 else f"{name}-{count}")

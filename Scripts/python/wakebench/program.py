"""The program `wakebench`: where it is, how it is called, and what it says when it refuses."""

from __future__ import annotations

import json
import operator
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

# What `wakebench exit-codes` lists, in the words of its answers in JSON.
EXIT_CODES: dict[int, str] = {
    1: "internal",
    2: "usage",
    3: "not-found",
    4: "wrong-state",
    5: "verdict-mismatch",
    6: "timeout",
    7: "expectation-failed",
    8: "app-fault",
    9: "daemon-unreachable",
    10: "non-determinism",
    11: "invalid-file",
    12: "environment",
    130: "interrupted",
}

# The most that is kept of what a command says on stderr, the end of it.
TALK_LIMIT = 64 << 10


def number_of(name: str) -> int:
    """The exit code of a name; that of an unclassified error for another word."""
    return next((number for number, word in EXIT_CODES.items() if word == name), 1)


class WakebenchError(Exception):
    """What the program refuses, or what keeps it from being asked.

    `name` is the exit code's, such as `invalid-file`; `code` is its number; `hint` is what to do about it, or empty. `place` is
    where it is wrong, such as `night.yaml:7:5`, or empty.
    """

    def __init__(self, name: str, message: str, hint: str = "", code: int | None = None, place: str = "") -> None:
        super().__init__(name, message, hint, code, place)
        self.place = place
        self.name = name
        self.code = number_of(name) if code is None else code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.line}  [{self.name}, exit code {self.code}]"

    @property
    def line(self) -> str:
        """The program's own line: what is wrong, and what to do about it."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


# Whoever reads of these two looks for the line of the test, and not for ours.
HIDDEN = operator.methodcaller("errisinstance", (WakebenchError, AssertionError))
__tracebackhide__ = HIDDEN


@dataclass(frozen=True)
class Program:
    """An executable `wakebench`, called in a folder that relative paths are below."""

    path: str
    folder: Path

    @classmethod
    def find(cls, named: str | None, root: Path, folder: Path) -> Program:
        """The one that `named` or the variable WAKEBENCH names, else that on PATH, else one built at `root` or above it."""
        variable = os.environ.get("WAKEBENCH")
        for origin, value in (("--wakebench ", named), ("WAKEBENCH=", variable)):
            if value:
                found = shutil.which(value if os.path.isabs(value) or os.sep not in value else str(folder / value))
                if found:
                    return cls(os.path.abspath(found), folder)
                raise WakebenchError(
                    "not-found", f"{origin}{value}: no such program", "name wakebench by its path, or leave it out"
                )
        found = shutil.which("wakebench")
        if found:
            return cls(os.path.abspath(found), folder)
        for above in (root, *root.parents):
            for kind in ("debug", "release"):
                built = above / ".build" / kind / "wakebench"
                if built.is_file() and os.access(built, os.X_OK):
                    return cls(str(built), folder)
        raise WakebenchError(
            "not-found",
            f"no program wakebench on PATH, and none built in {root} or above it",
            "put it on PATH, or name it with --wakebench or in the variable WAKEBENCH",
        )

    @property
    def word(self) -> str:
        """What to type to start it: its name where PATH leads to it."""
        found = shutil.which("wakebench")
        return "wakebench" if found and os.path.abspath(found) == self.path else self.path

    def call(self, *words: str) -> tuple[int, str, str]:
        """Runs a command to its end: its exit code, its answer, and what it said on stderr.

        What interrupts the test, such as Ctrl-C, interrupts the command, and is raised again when that has ended.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = _wait(self._start(words, output, errors))
            output.seek(0)
            return code, output.read().decode("utf-8", "replace"), tail(errors)

    def answer(self, *words: str) -> str:
        """The answer of a command that must not fail."""
        code, output, talk = self.call(*words)
        if code:
            raise refusal(code, output, talk)
        return output

    def lines(self, *words: str) -> Iterator[bytes]:
        """The answer of a command, line by line as it comes; what is not asked for is not waited for."""
        with tempfile.TemporaryFile() as errors:
            process = self._start(words, subprocess.PIPE, errors)
            assert process.stdout is not None
            try:
                yield from process.stdout
            except GeneratorExit:
                process.terminate()
                raise
            finally:
                process.stdout.close()
                code = _wait(process)
            if code:
                raise refusal(code, "", tail(errors))

    def _start(self, words: Sequence[str], output: Any, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            # In a session of its own a terminal's Ctrl-C reaches it once, from here.
            return subprocess.Popen(
                [self.path, *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=self.folder,
                start_new_session=True,
            )
        except OSError as error:
            raise WakebenchError(
                "environment", f"{self.path}: cannot be started: {error.strerror}", "name another with --wakebench"
            ) from None


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait()
    except BaseException:
        # An interrupted run writes its reports before it goes.
        process.send_signal(signal.SIGINT)
        try:
            process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        raise


def tail(file: IO[bytes]) -> str:
    """The end of a file that a command writes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TALK_LIMIT))
    return file.read().decode("utf-8", "replace")


def refusal(code: int, output: str, talk: str) -> WakebenchError:
    """The error of a command that ended with a code: of its answer in JSON, else of its last line on stderr."""
    error = _object(output).get("error")
    if isinstance(error, dict):
        kind, message = str(error.get("kind", "")), str(error.get("message", ""))
        return WakebenchError(kind, message, str(error.get("hint") or ""), code, place_of(error))
    said: list[str] = [line for line in talk.splitlines() if line and not line.startswith("wakebench: note: ")]
    line = said[-1] if said else "it said nothing"
    if line.startswith("wakebench: "):
        line = line[len("wakebench: ") :]
    if code < 0:
        return WakebenchError("internal", f"wakebench was ended by {_signal_name(-code)}: {line}", code=code)
    return WakebenchError(EXIT_CODES.get(code, "internal"), line, code=code)


def place_of(error: dict[str, Any]) -> str:
    """Where an error of an answer in JSON is."""
    return ":".join(str(error[key]) for key in ("file", "line", "column") if key in error)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

"""Sweeps as their users begin them: the command in a process of its own."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

HERE = pathlib.Path(__file__).parent
STAND_IN = HERE / "failing_wakebench.py"


# A sweep of the stand-in takes seconds.
PATIENCE = 180


def until(what: str, condition: Callable[[], Any], seen: Callable[[], Any], seconds: float = 60) -> Any:
    """What a condition comes to, once it is true; else says what is seen instead."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"no {what} within {seconds:.0f} s, but {seen()}"
        time.sleep(0.02)
    return value


@dataclass
class Command:
    """`wakebench-sweep` in a folder of the test's, with its table `t.sqlite`."""

    folder: pathlib.Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> pathlib.Path:
        return self.folder / "t-runs"

    def begin(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Begins a sweep in a session of its own, so that a test may interrupt all of it as a terminal does."""
        program = shutil.which("wakebench-sweep")
        assert program, "wakebench-sweep is not installed; run Scripts/sweep/test"
        return subprocess.Popen(
            [sys.executable, program, *words, "-o", "t.sqlite"],
            cwd=self.folder,
            env={**os.environ, **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, **environment: str) -> tuple[int, str, str]:
        """A sweep to its end: the exit code, what it printed, and what it complained of."""
        return self.end(self.begin(*words, **environment))

    def end(self, process: subprocess.Popen[str], patience: float = PATIENCE) -> tuple[int, str, str]:
        """The same of a sweep that has begun. How far it was, it says at times that nobody can tell."""
        try:
            output, errors = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"no end of the sweep within {patience:.0f} s, but {process.communicate()}, {self.rows()[-5:]}")
        complaints = [line for line in errors.splitlines(keepends=True) if "seeds a second" not in line]
        return process.returncode, output, "".join(complaints)

    def rows(self, columns: str = "*", condition: str = "true") -> list[Any]:
        """What the table holds; one column is a list of its values."""
        if not (self.folder / "t.sqlite").exists():
            return []
        connection = sqlite3.connect(self.folder / "t.sqlite", timeout=60)
        try:
            found = connection.execute(f"SELECT {columns} FROM runs WHERE {condition} ORDER BY seed").fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()
        return [row[0] for row in found] if found and len(found[0]) == 1 else found


@pytest.fixture
def command(tmp_path: pathlib.Path) -> Command:
    """A command that plays the stand-in, with a scenario `s.yaml` for it."""
    (tmp_path / "s.yaml").write_text("scenario: s\n")
    return Command(tmp_path, {"WAKEBENCH": str(STAND_IN), "GO": str(tmp_path / "go")})

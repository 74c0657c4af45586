"""The table of results: one SQLite file that only the client writes, a row for each run that is over."""

from __future__ import annotations

import os
import pathlib
import sqlite3
from collections.abc import Iterable
from typing import Any

from .plan import Combination, Refusal

APPLICATION = 0x77616B65
"""SQLite's application_id of such a file: `wake`."""

SCHEMA = """
CREATE TABLE runs (
    scenario TEXT NOT NULL,     -- the whole path
    profile TEXT NOT NULL,      -- empty for the scenario's own
    settings TEXT NOT NULL,     -- NAME=VALUE by name, a space between them; empty for none
    seed INTEGER NOT NULL,
    outcome TEXT NOT NULL,      -- passed, failed or error
    exit_code INTEGER NOT NULL,
    decisions INTEGER,
    took_ms INTEGER,            -- by the wall clock
    complaint TEXT,             -- the first
    place TEXT,                 -- of the complaint in the scenario
    folder TEXT,                -- of the run, when it is kept
    worker TEXT NOT NULL,       -- HOST:PID
    PRIMARY KEY (scenario, profile, settings, seed)
) WITHOUT ROWID
"""
INSERT = """
INSERT INTO runs VALUES (:scenario, :profile, :settings, :seed, :outcome, :exit_code, :decisions, :took_ms, :complaint,
    :place, :folder, :worker) ON CONFLICT DO NOTHING
"""
ORDER = "ORDER BY scenario, profile, settings, seed"


class Table:
    """An open table. A batch is written in one transaction, and each run once: the first word on it stands."""

    def __init__(self, path: str, resume: bool) -> None:
        self.path = os.path.abspath(path)
        exists = os.path.exists(self.path)
        if not os.path.isdir(os.path.dirname(self.path)):
            raise Refusal(3, f"{path}: there is no such folder; make it, or name another file with -o")
        try:
            address = f"{pathlib.Path(self.path).as_uri()}?mode={'rw' if exists else 'rwc'}"
            self.connection = sqlite3.connect(address, uri=True, timeout=60, isolation_level=None)
            if self.connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                if self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise Refusal(11, f"{path}: is no table of a sweep; name another file with -o")
                self.connection.executescript(f"BEGIN; {SCHEMA}; PRAGMA application_id = {APPLICATION}; COMMIT")
        except sqlite3.DatabaseError as error:
            raise Refusal(11, f"{path}: {error}; name another file with -o") from None
        if self.counts() and not resume:
            raise Refusal(4, f"{path}: is there already; go on with it by --resume, or name another file with -o")

    def done(self, combination: Combination) -> set[int]:
        """The seeds of a combination that have a row."""
        query = "SELECT seed FROM runs WHERE (scenario, profile, settings) = (?, ?, ?)"
        return {seed for (seed,) in self.connection.execute(query, combination.key)}

    def add(self, combination: Combination, rows: Iterable[dict[str, Any]]) -> None:
        """Writes the rows of a batch, all or none."""
        names = dict(zip(("scenario", "profile", "settings"), combination.key))
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(INSERT, [names | row for row in rows])
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise Refusal(12, f"{self.path}: {error}; see to it, and go on with --resume") from None

    def counts(self) -> dict[str, int]:
        """How many runs there are by outcome."""
        return dict(self.connection.execute("SELECT outcome, count(*) FROM runs GROUP BY outcome ORDER BY outcome DESC"))

    def failing(self, most: int) -> list[sqlite3.Row]:
        """The first runs that did not pass."""
        cursor = self.connection.cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(f"SELECT * FROM runs WHERE outcome != 'passed' {ORDER} LIMIT ?", [most]).fetchall()

    def folders(self) -> set[str]:
        """The run folders that are kept."""
        return {folder for (folder,) in self.connection.execute("SELECT folder FROM runs WHERE folder IS NOT NULL")}

    def exit_code(self) -> int:
        """What wakebench says of a suite: the code of the first error, else whether an expectation was missed."""
        error = self.connection.execute(f"SELECT exit_code FROM runs WHERE outcome = 'error' {ORDER} LIMIT 1").fetchone()
        return error[0] if error else 7 if self.counts().get("failed") else 0

    def close(self) -> None:
        self.connection.close()

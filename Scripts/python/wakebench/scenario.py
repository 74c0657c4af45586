"""A scenario that a test puts together, and that is played as a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .bench import Wakebench
from .program import HIDDEN
from .run import Run
from .writing import written

__tracebackhide__ = HIDDEN


class Scenario:
    """The fixture `scenario`: devices, apps, steps and expectations in the words of scenario files (Devices/README.md).

    Keywords are keys, with `_` for `-`. Values are plain data: texts, numbers, truth values, lists, dictionaries, and bytes,
    which are written in hexadecimal.
    """

    def __init__(self, name: str, bench: Wakebench) -> None:
        self._bench = bench
        self._fields: dict[str, Any] = {"scenario": re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "scenario"}
        self._devices: list[dict[str, Any]] = []
        self._apps: list[dict[str, Any]] = []
        self._steps: list[dict[str, Any]] = []
        self._expectations: list[dict[str, Any]] = []
        # The text of a device by the name of its file, which stands beside the scenario.
        self._files: dict[str, str] = {}

    def device(self, source: str | os.PathLike[str] | Mapping[str, Any], name: str | None = None, **fields: Any) -> str:
        """Adds a device: the path of its file, the text of one, or its plain data. The answer is its name, for the steps."""
        if isinstance(source, Mapping) or (isinstance(source, str) and "\n" in source):
            name = name or f"device{len(self._devices) + 1}"
            file = f"{name}.yaml"
            self._files[file] = written(source) if isinstance(source, Mapping) else source
        else:
            file = str(self._bench.existing(source, "device"))
            name = name or _name(Path(file).stem)
        self._devices.append({"file": file, "name": name, **_keys(fields)})
        return name

    def app(self, app: str | os.PathLike[str], name: str | None = None, **fields: Any) -> str:
        """Adds an app: a bundle `Name.app`, or the identifier of one that the scenario plays itself. The answer is its name."""
        text = os.fspath(app)
        if text.endswith(".app"):
            name = name or _name(Path(text).stem)
            entry = {"bundle": text}
        else:
            name = name or _name(text.rpartition(".")[2])
            entry = {"scripted": text}
        self._apps.append({**entry, "name": name, **_keys(fields)})
        return name

    def step(self, **fields: Any) -> None:
        """Adds a step: `at=`, `after=` or `when=`, and one thing to do."""
        self._steps.append(_keys(fields))

    def expect(self, **fields: Any) -> None:
        """Adds an expectation; `run.ok` says whether all were met."""
        self._expectations.append(_keys(fields))

    def set(self, **fields: Any) -> None:
        """Sets other keys of the scenario, such as `until="1h"`, `profile="ios13"` or `settings={"wakeWindow": "first"}`."""
        self._fields.update(_keys(fields))

    @property
    def text(self) -> str:
        """The scenario file."""
        lists = {"devices": self._devices, "apps": self._apps, "steps": self._steps, "expect": self._expectations}
        return written({**self._fields, **{key: value for key, value in lists.items() if value}})

    def run(self, **options: Any) -> Run:
        """Writes the files, and plays the scenario with options of `wakebench run`."""
        folder = self._bench.new("scenario")
        for file, text in self._files.items():
            self._bench.write(file, text, folder)
        return self._bench.run(self._bench.write("scenario.yaml", self.text, folder), **options)


def _keys(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in fields.items()}


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)

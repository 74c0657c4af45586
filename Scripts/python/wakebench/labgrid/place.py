"""Places of labgrid: reserved by their tags, acquired, and given back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..program import WakebenchError


@contextmanager
def reserved(tags: Sequence[str], coordinator: str | None = None) -> Iterator[str]:
    """Reserves a place with tags, such as `["wakebench=phone"]`, waits for it, and acquires it; the answer is its name.

    The reservation is in LG_TOKEN meanwhile, so that `RemotePlace: {name: +}` is this place.
    """
    if coordinator:
        os.environ["LG_COORDINATOR"] = coordinator
    before = os.environ.get("LG_TOKEN")
    token = ""
    process = subprocess.Popen(
        [*_client, "reserve", "--shell", "--wait", *tags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    try:
        with process:
            assert process.stdout is not None and process.stderr is not None
            said = process.stdout.readline()
            token = said.strip().rpartition("=")[2]
            rest = process.stdout.read() + process.stderr.read()
        if process.returncode or not said.startswith("export LG_TOKEN="):
            raise _refusal("reserve", process.returncode, said + rest)
        os.environ["LG_TOKEN"] = token
        acquired = _call("-p", "+", "acquire")
        try:
            found = re.search(r"acquired place (\S+)", acquired)
            yield found[1] if found else "+"
        finally:
            _call("-p", "+", "release")
    finally:
        if token:
            try:
                _call("cancel-reservation", token)
            except WakebenchError:
                # It ends by itself where nobody has its place.
                pass
        os.environ.pop("LG_TOKEN", None)
        if before is not None:
            os.environ["LG_TOKEN"] = before


_client = (sys.executable, "-m", "labgrid.remote.client")


def _call(*words: str) -> str:
    done = subprocess.run([*_client, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise _refusal(words[-1], done.returncode, done.stdout + done.stderr)
    return done.stdout


def _refusal(what: str, code: int, said: str) -> WakebenchError:
    lines = [each for each in said.splitlines() if each.strip()]
    return WakebenchError(
        "environment",
        f"labgrid-client {what} ended with {code}: {lines[-1].strip() if lines else 'it said nothing'}",
        "see 'labgrid-client places' and 'labgrid-client resources'",
    )

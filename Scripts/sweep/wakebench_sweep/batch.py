"""What a worker does: it plays one batch of seeds with `wakebench run`.

The module is sent to workers with each task, so that they need Dask alone: it uses nothing but Python's own library, and
its answer is plain values.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
from typing import Any

MARK = ".sweep"
"""A file in a batch's folder that names its table: what is in no row there, such as what a dead worker left, can go."""

FAULTS = {2, 3, 11, 12}
"""Exit codes of a run that no other seed would change: usage, not found, an invalid file, something missing."""


def play(words: list[str], seeds: list[int], folder: str, keep: str, table: str) -> dict[str, Any]:
    """Plays `wakebench run WORDS` with each seed, and keeps the run folders in a new folder below `folder`.

    Gives `rows`, one a seed that was played to an end, and `refused`, None or the exit code and the reason for which there
    is no point in playing more. Seeds without a row were not played, and `lost` says why.
    """
    worker = f"{socket.gethostname()}:{os.getpid()}"
    program = shutil.which(os.environ.get("WAKEBENCH") or "wakebench")
    if program is None:
        return refusal(
            12,
            f"the worker {worker} finds no {os.environ.get('WAKEBENCH') or 'wakebench'}; have it on the PATH that the worker "
            "is started with, or name the program in WAKEBENCH there",
        )
    try:
        os.makedirs(folder, exist_ok=True)
        own = pathlib.Path(tempfile.mkdtemp(prefix=f"seeds-{seeds[0]}-{seeds[-1]}-", dir=folder))
        (own / MARK).write_text(table)
        command = [program, "run", *words, "--seeds", ",".join(map(str, seeds)), "--json", "--no-journal", "--quiet"]
        command += ["--parent", str(os.getpid()), "--out", str(own)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, start_new_session=True)
        answer = read(ended)
        for run in answer["rows"]:
            run["worker"] = worker
        tidy(own, answer["rows"], keep)
    except OSError as error:
        return refusal(12, f"the worker {worker}: {error}; see to it, and go on with --resume")
    return answer


def refusal(code: int, reason: str) -> dict[str, Any]:
    """An answer without a row."""
    return {"rows": [], "refused": (code, reason), "lost": ""}


def read(ended: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """What the program printed, as an answer."""
    try:
        said = json.loads(ended.stdout)
    except ValueError:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        how = f"was ended by signal {-ended.returncode}" if ended.returncode < 0 else f"ended with {ended.returncode}"
        return {"rows": [], "refused": None, "lost": f"wakebench {how} without an answer: {last}".rstrip(": ")}
    if "error" in said:
        error = said["error"]
        reason = "; ".join(filter(None, [error["message"], error.get("hint")]))
        return refusal(error["code"], reason)
    for run in said["runs"]:
        if run["outcome"] == "error" and run["exit_code"] in FAULTS:
            return refusal(run["exit_code"], run["fault"]["message"])
    # One that was interrupted before it could say so is an error in the suite's eyes.
    over = {"passed", "failed"} if ended.returncode == 130 else {"passed", "failed", "error"}
    played = [row(run) for run in said["runs"] if run["outcome"] in over]
    return {"rows": played, "refused": None, "lost": "wakebench was interrupted"}


def row(run: dict[str, Any]) -> dict[str, Any]:
    """What the table keeps of a run of `suite.json`; `folder` is the run's name in the suite."""
    results = run.get("results") or {}
    complaint, place = None, None
    for expectation in results.get("expectations", []):
        if expectation["failure"] is not None:
            complaint, place = f"{expectation['expected']}; {expectation['failure']}", expectation["place"]
            break
    if run.get("fault"):
        complaint, place = f"{run['fault']['kind']}: {run['fault']['message']}", None
    return {
        "seed": run["seed"],
        "outcome": run["outcome"],
        "exit_code": run["exit_code"],
        "decisions": results.get("decisions"),
        "took_ms": run["took_ms"],
        "complaint": complaint,
        "place": place,
        "folder": run["name"],
    }


def tidy(own: pathlib.Path, rows: list[dict[str, Any]], keep: str) -> None:
    """Removes from a batch's folder all but the runs that are kept, whose rows then say where they are."""
    kept = {run["folder"] for run in rows if keep == "all" or keep == "failing" and run["outcome"] != "passed"}
    for run in rows:
        run["folder"] = str(own / run["folder"]) if run["folder"] in kept else None
    for entry in list(own.iterdir()):
        if entry.name in kept:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != MARK:
            entry.unlink()
    if not kept:
        (own / MARK).unlink()
        own.rmdir()

"""A sweep of a true scenario, beside a plain loop of a shell: SEEDS and LOOP are what Scripts/sweep/test made."""

import os
import pathlib
import re
import signal

from conftest import HERE, Command, until

LOOP = os.environ["SWEEP_LOOP"]
WAKEBENCH = os.environ["SWEEP_WAKEBENCH"]
SEEDS = int(os.environ["SWEEP_SEEDS"])


def test_a_worker_that_is_killed_costs_no_seed_and_the_failing_ones_are_those_of_a_plain_loop(tmp_path, capsys):
    command = Command(tmp_path, {"WAKEBENCH": WAKEBENCH})
    process = command.begin(str(HERE / "door.yaml"), "--seeds", f"1-{SEEDS}", "--workers", "2")
    until("third of the rows", lambda: len(command.rows()) >= SEEDS // 3, lambda: len(command.rows()), 60 + SEEDS)
    victim = command.rows("worker")[-1]
    os.kill(int(victim.rpartition(":")[2]), signal.SIGKILL)
    code, output, errors = command.end(process, 60 + 2 * SEEDS)

    assert code == 7, errors
    assert command.rows("seed") == list(range(1, SEEDS + 1))
    assert len(set(command.rows("worker"))) == 3, "the killed worker was not missed"
    expected = [int(seed) for seed in pathlib.Path(LOOP).read_text().split()]
    assert expected and command.rows("seed", "outcome = 'failed'") == expected
    assert command.rows("seed", "outcome = 'error'") == []
    folders = [pathlib.Path(folder) for folder in command.rows("folder", "folder IS NOT NULL")]
    assert len(folders) == len(expected) and all((folder / "report.html").exists() for folder in folders)
    assert sorted(folders) == sorted(command.runs.glob("*/*/*.seed-*"))
    rate = re.search(r"([\d.]+) seeds a second$", output.strip())
    with capsys.disabled():
        print(f"\nsweep: {SEEDS} seeds, one of 2 workers killed, {len(expected)} failed, {rate[1]} seeds a second")

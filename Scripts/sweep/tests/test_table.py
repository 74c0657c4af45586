"""The table of results."""

import pytest
from wakebench_sweep.plan import Combination, Refusal
from wakebench_sweep.table import Table

EMPTY = dict.fromkeys(("decisions", "took_ms", "complaint", "place", "folder"))
HERE = Combination("/s.yaml", "ios12", ("a=1",))


def row(seed, outcome="passed", exit_code=0):
    return EMPTY | {"seed": seed, "outcome": outcome, "exit_code": exit_code, "worker": "here:1"}


def test_a_run_is_in_the_table_once_and_the_first_word_stands(tmp_path):
    table = Table(str(tmp_path / "t"), resume=False)
    table.add(HERE, [row(1), row(2)])
    table.add(HERE, [row(2, "failed", 7), row(3)])
    assert table.done(HERE) == {1, 2, 3}
    assert table.counts() == {"passed": 3}


def test_the_exit_code_is_the_first_errors_or_else_that_an_expectation_was_missed(tmp_path):
    table = Table(str(tmp_path / "t"), resume=False)
    table.add(HERE, [row(1)])
    assert table.exit_code() == 0
    table.add(HERE, [row(2, "failed", 7)])
    assert table.exit_code() == 7
    table.add(HERE, [row(4, "error", 1), row(3, "error", 8)])
    assert table.exit_code() == 8


def test_a_table_that_is_there_is_refused_without_resume(tmp_path):
    Table(str(tmp_path / "t"), resume=False).add(HERE, [row(1)])
    with pytest.raises(Refusal, match="--resume") as refused:
        Table(str(tmp_path / "t"), resume=False)
    assert refused.value.code == 4
    assert Table(str(tmp_path / "t"), resume=True).done(HERE) == {1}


def test_a_table_without_a_run_is_as_good_as_none(tmp_path):
    Table(str(tmp_path / "t"), resume=False).close()
    assert Table(str(tmp_path / "t"), resume=False).counts() == {}


def test_what_is_no_table_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "t").write_text("some notes of mine, which are no database\n" * 100)
    with pytest.raises(Refusal, match="-o") as refused:
        Table(str(tmp_path / "t"), resume=True)
    assert refused.value.code == 11
    assert (tmp_path / "t").read_text().startswith("some notes")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Refusal, match="no such folder") as refused:
        Table(str(tmp_path / "not/t"), resume=False)
    assert refused.value.code == 3

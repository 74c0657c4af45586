"""What a command asks for, and what it may not."""

import pytest
from wakebench_sweep.plan import Combination, Refusal, batches, combinations, command, seeds


def test_seeds_are_ranges_and_numbers_each_once():
    assert seeds("1-3,9,2-4") == [1, 2, 3, 9, 4]


@pytest.mark.parametrize("text", ["", "1-", "3-1", "-1", "a", "1,,2", "1-2-3", "9223372036854775808", "1-1000001"])
def test_what_is_no_seed_is_refused_as_wrong_usage(text):
    with pytest.raises(Refusal, match="--seeds") as refused:
        seeds(text)
    assert refused.value.code == 2


def test_each_profile_is_combined_with_each_setting_once():
    found = combinations(["/a.yaml", "/a.yaml"], ["ios12", "ios17"], ["b=1,2", "a=3"])
    assert [each.key for each in found] == [
        ("/a.yaml", "ios12", "a=3 b=1"),
        ("/a.yaml", "ios12", "a=3 b=2"),
        ("/a.yaml", "ios17", "a=3 b=1"),
        ("/a.yaml", "ios17", "a=3 b=2"),
    ]


@pytest.mark.parametrize("settings", [["a"], ["=1"], ["a="], ["a=1,"], ["a=1", "a=2"], ["a=1 2"]])
def test_a_setting_without_name_or_value_is_refused(settings):
    with pytest.raises(Refusal, match="--set") as refused:
        combinations(["/a.yaml"], [], settings)
    assert refused.value.code == 2


def test_batches_leave_out_what_is_done():
    assert list(batches([1, 2, 3, 4, 5, 6], {2, 5}, 3)) == [[1, 3, 4], [6]]


def test_scenarios_of_one_name_have_folders_of_their_own():
    names = {Combination(path, "ios12", ("a=1",)).folder for path in ("/x/s.yaml", "/y/s.yaml")}
    assert len(names) == 2 and all(name.startswith("s.ios12.a=1.") for name in names)


def test_the_command_that_plays_a_run_again_survives_a_shell():
    expected = "wakebench run '/my scenario.yaml' --profile ios12 --set a=1 --set b=2 --seed 7"
    assert command("/my scenario.yaml", "ios12", "a=1 b=2", 7) == expected

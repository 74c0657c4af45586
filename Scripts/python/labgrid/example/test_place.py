"""A phone of a lab: reserved and acquired by wakebench_place, booted by the strategy, and woken by its belt."""

import pytest


@pytest.fixture
def phone(wakebench_target):
    """The phone of the place as it was made, with its app suspended."""
    strategy = wakebench_target.get_driver("WakebenchStrategy")
    strategy.transition("off")
    strategy.transition("unlocked")
    phone = wakebench_target.get_driver("WakebenchPhoneDriver")
    pulse = phone.app("pulse")
    with phone.follow(timeout=30) as news:
        pulse.launch()
        news.first(kind="notification-state-changed", verdict="foreground-deliver")
    pulse.home()
    pulse.wait("suspended", timeout="30s")
    return phone


def test_the_belt_wakes_the_app(phone, wakebench_target):
    belt = wakebench_target.get_driver("WakebenchAccessoryDriver")
    record = belt.notify("2A37", b"\x00\x49").expect(app="pulse", verdict="resume")
    assert record["event"]["subject"] == "belt/2A37"


def test_the_belt_does_not_wake_an_app_that_was_swiped_away(phone, wakebench_target):
    phone.app("pulse").force_quit()
    belt = wakebench_target.get_driver("WakebenchAccessoryDriver")
    assert not belt.notify("2A37", b"\x00\x49").decided(app="pulse", verdict="relaunch")

"""What a belt does to the apps of its users: `pytest Scripts/python/examples`."""

import pytest

NOTIFIED = "characteristic-notified"


@pytest.fixture
def pulse(scenario, device, app):
    """An app that follows the belt, launched, and left with its first value."""
    belt = device("belt.yaml")
    pulse = app(
        "com.example.pulse",
        modes=["bluetooth-central"],
        restore_identifier="central",
        uses=[{"device": belt, "characteristic": "2A37"}],
    )
    scenario.step(at=0, launch=pulse)
    scenario.step(when={"app": pulse, "verdict": "foreground-deliver", "kind": NOTIFIED}, home=pulse)
    return pulse


def test_the_belt_resumes_the_suspended_app(scenario, pulse):
    scenario.step(when={"app": pulse, "verdict": "resume", "kind": NOTIFIED}, note="the belt woke the app")
    scenario.expect(app=pulse, verdict="resume", kind=NOTIFIED, at_least=1)
    run = scenario.run()
    assert run.ok
    assert run.decisions(app=pulse, verdict="resume").first["event"]["subject"] == "belt/2A37"


@pytest.mark.parametrize("profile", ["ios13", "ios17"])
def test_the_belt_does_not_relaunch_an_app_that_was_swiped_away(scenario, pulse, profile):
    scenario.step(when={"app": pulse, "state": "suspended"}, force_quit=pulse)
    scenario.set(until="2m")
    run = scenario.run(profile=profile)
    run.expect(app=pulse, verdict="relaunch", count=0)
    assert "ForceQuit" in run.why(pulse)


def test_a_belt_that_drops_the_link_is_connected_again(scenario, pulse):
    scenario.step(when={"app": pulse, "state": "suspended"}, disconnect="belt")
    scenario.set(until="2m")
    run = scenario.run(seed=7)
    run.expect(app=pulse, kind="peripheral-disconnected", count=1)
    run.expect(app=pulse, kind="peripheral-connected", count=2)

"""What the tests of the plug-in share: the program, and small scenarios of apps that the bench plays itself."""

from __future__ import annotations

import pytest

from wakebench import Program

pytest_plugins = ["pytester"]

# An app that waits for nothing: nothing is decided.
QUIET = """\
scenario: quiet
apps: [{scripted: com.example.pulse, name: pulse}]
steps: [{at: 0, launch: pulse}]
until: 1s
"""

BELT = """\
device: bluetooth-peripheral
address: "F0:11:22:33:44:55"
advertising: {services: [180D]}
gatt:
  - service: 180D
    characteristics:
      - uuid: 2A37
        properties: [notify]
        notifications: [{after: 2s, values: ["0048", "0049", "004a"], every: 20s}]
"""

NIGHT = """\
scenario: night
devices: [{file: belt.yaml, name: belt}]
apps:
  - scripted: com.example.pulse
    name: pulse
    modes: [bluetooth-central]
    restore-identifier: central
    uses: [{device: belt, characteristic: 2A37}]
steps:
  - {at: 0, launch: pulse}
  - {when: {app: pulse, verdict: foreground-deliver, kind: characteristic-notified}, home: pulse}
until: 1m
expect:
"""


def night(*expectations: str) -> str:
    """A scenario in which a belt resumes an app."""
    return NIGHT + "".join(f"  - {each}\n" for each in expectations or ("{app: pulse, verdict: resume}",))


@pytest.fixture(autouse=True)
def bench(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program of these tests, for the sessions of pytest that they start."""
    folder = request.config.invocation_params.dir
    path = Program.find(request.config.getoption("wakebench"), request.config.rootpath, folder).path
    monkeypatch.setenv("WAKEBENCH", path)
    return path


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a belt, in which pytest is started; options of the session around do not reach it."""
    (pytester.path / "belt.yaml").write_text(BELT)
    return pytester

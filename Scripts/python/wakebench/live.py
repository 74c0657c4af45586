"""Phones that run: a client of `wakebench serve`, of the standard library alone."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Union

from .bench import option_words
from .control import Answer, Control, usual_socket
from .program import HIDDEN, WakebenchError
from .run import Decision, line, value_of

__tracebackhide__ = HIDDEN

# Seconds, or as in scenario files: `30s`, `1h30m`, `T+08:00:00`.
Time = Union[float, str, datetime.timedelta]

UNITS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86_400 * 10**9}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
CLOCK = re.compile(r"T\+(\d+):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?")


def nanoseconds(time: Time) -> int:
    """What a time is in nanoseconds: seconds, or a text such as `30s`, `1h30m` or `T+08:00:00`."""
    if isinstance(time, datetime.timedelta):
        return (time.days * 86_400 + time.seconds) * 10**9 + time.microseconds * 1000
    if isinstance(time, (int, float)):
        return round(time * 10**9)
    clock = CLOCK.fullmatch(time)
    if clock:
        whole = (int(clock[1]) * 60 + int(clock[2])) * 60 + int(clock[3])
        return whole * 10**9 + int((clock[4] or "").ljust(9, "0"))
    if time == "0":
        return 0
    if re.fullmatch(f"(?:{PART.pattern})+", time):
        total = sum(Fraction(number) * UNITS[unit] for number, unit in PART.findall(time))
        return round(total)
    raise WakebenchError("usage", f"'{time}' is no time", "such as 30s, 1h30m or T+08:00:00")


def _seconds(time: Time | None) -> float | None:
    return None if time is None else nanoseconds(time) / 1e9


@dataclass(frozen=True)
class Outcome:
    """What came of a command that a phone accepted.

    `command` is its number; `repeated` says that one with its identifier was accepted before: this is what came of it then, and
    nothing was done again; `settled`, that all that comes of it has been decided and answered; `at` is the phone's time then.
    """

    phone: LivePhone
    command: int
    at: str
    settled: bool
    repeated: bool
    #: What was decided meanwhile, a dictionary each, as `wakebench log` prints them.
    decisions: Sequence[Decision]
    #: What else happened, a dictionary each with `at`, `app`, `what`, `reason` and `pid`: what was done, ends of processes, notes.
    happened: Sequence[Answer] = ()
    #: What reached nobody or changed nothing, and why, a line each; none of it is in `happened`.
    notes: Sequence[str] = ()

    def decided(self, **wanted: str) -> list[Decision]:
        """Those decisions with an `app`, `verdict`, `reason`, `kind`, `rule` and `subject`."""
        apps = None
        if "app" in wanted:
            name = wanted.pop("app")
            apps = {each.bundle for each in self.phone.apps(name)}
        return [
            each
            for each in self.decisions
            if (apps is None or value_of(each, "app") in apps)
            and all(value_of(each, key) == value for key, value in wanted.items())
        ]

    def expect(self, **wanted: str) -> Decision:
        """Asserts that something was decided so, and gives the first; what was decided instead is the message."""
        found = self.decided(**wanted)
        if found:
            return found[0]
        words = " ".join(wanted.values()) or "a decision"
        said = [f"  {line(each)}" for each in self.decisions[-5:]] or ["  nothing was decided"]
        said += [f"  {note}" for note in self.notes[:5]]
        raise AssertionError("\n".join([f"{words}: none on {self.phone.name}; instead", *said]))


class LiveApp:
    """An app of a running phone, by its name in the scenario or its bundle identifier."""

    def __init__(self, phone: LivePhone, name: str, bundle: str) -> None:
        self.phone, self.name, self.bundle = phone, name, bundle

    @property
    def info(self) -> Answer:
        """What `wakebench app list` says of it: `state`, `pid`, `installed`, `window`, `last`."""
        return next(each for each in self.phone.ask("apps", app=self.bundle)["apps"])

    @property
    def state(self) -> str:
        """How it stands now: `active`, `background`, `suspended`, `not-running`."""
        return str(self.info["state"])

    @property
    def pid(self) -> int:
        """Its process; 0 for none, and for an app that the bench plays itself."""
        return int(self.info["pid"])

    def wait(self, state: str, timeout: Time | None = None) -> list[Decision]:
        """Waits until it is in a state, 10 s at most; exit code 6 when that is over. The answer is what was decided."""
        answer = self.phone.ask("wait", app=self.bundle, state=state, timeout=_seconds(timeout))
        return list(answer["decisions"])

    def can_wake(self, event: str) -> list[Decision]:
        """What would be decided of an event of a kind that it has had, if it came again now."""
        return list(self.phone.ask("can-wake", app=self.bundle, event=event)["decisions"])

    def launch(self, **options: Any) -> Outcome:
        """The user opens it. Options are those of `LivePhone.do`, here and below."""
        return self.phone.do({"launch": self.name}, **options)

    def home(self, **options: Any) -> Outcome:
        """The user leaves it for the home screen."""
        return self.phone.do({"home": self.name}, **options)

    def force_quit(self, **options: Any) -> Outcome:
        """The user swipes it away."""
        return self.phone.do({"force-quit": self.name}, **options)

    def terminate(self, cause: str = "memory", **options: Any) -> Outcome:
        """The system ends its process."""
        return self.phone.do({"terminate": self.name, "cause": cause}, **options)

    def notify(self, characteristic: str, value: str | bytes, **options: Any) -> Outcome:
        """Notifies its subscribers of a value, bytes or hexadecimal, as a peripheral that the bench plays."""
        return self.phone.do({"notify": self.name, "characteristic": characteristic, "value": value}, **options)

    def uninstall(self, **options: Any) -> Outcome:
        """The user removes it."""
        return self.phone.do({"uninstall": self.name}, **options)

    def __repr__(self) -> str:
        return f"<LiveApp {self.name} ({self.bundle}) of {self.phone.name}>"


class LiveDevice:
    """A device around a running phone."""

    def __init__(self, phone: LivePhone, name: str) -> None:
        self.phone, self.name = phone, name

    @property
    def info(self) -> Answer:
        """What `wakebench device list` says of it: `kind`, `connected`, and the `apps` that hold it."""
        return self.phone.device_info(self.name)

    @property
    def connected(self) -> bool:
        """Whether it has a link to the phone."""
        return bool(self.info["connected"])

    def notify(self, characteristic: str, value: str | bytes, **options: Any) -> Outcome:
        """It notifies a value, bytes or hexadecimal, to whoever has subscribed."""
        return self.phone.do({"notify": self.name, "characteristic": characteristic, "value": value}, **options)

    def disconnect(self, **options: Any) -> Outcome:
        """It drops its link."""
        return self.phone.do({"disconnect": self.name}, **options)

    def in_range(self, **options: Any) -> Outcome:
        """It comes into the phone's reach."""
        return self.phone.do({"in-range": self.name}, **options)

    def out_of_range(self, **options: Any) -> Outcome:
        """It leaves the phone's reach."""
        return self.phone.do({"out-of-range": self.name}, **options)

    def arm(self, fault: str, **options: Any) -> Outcome:
        """A fault of its file is what it does next."""
        return self.phone.do({"arm": self.name, "fault": fault}, **options)

    def forget_attributes(self, **options: Any) -> Outcome:
        """The phone forgets what it has found of its attributes (BTC-14)."""
        return self.phone.do({"forget-attributes": self.name}, **options)

    def __repr__(self) -> str:
        return f"<LiveDevice {self.name} of {self.phone.name}>"


class LivePhone:
    """A phone of a running bench, by its name, its UDID, or `booted` for the only one that is switched on."""

    def __init__(self, bench: LiveBench, name: str) -> None:
        self.bench, self.name = bench, name

    def ask(self, op: str, **members: Any) -> Answer:
        """Asks the daemon for something of this phone."""
        return self.bench.ask(op, phone=self.name, **members)

    @property
    def info(self) -> Answer:
        """What `wakebench phone list` says of it: `state`, `folder`, and of one that is booted `clock`, `at`, `locked`."""
        for each in self.bench.ask("phones")["phones"]:
            if self.name in (each["name"], each.get("udid")) or (self.name == "booted" and each["state"] == "booted"):
                return dict(each)
        raise WakebenchError("not-found", f"no phone '{self.name}'", "make one with create()")

    @property
    def state(self) -> str:
        """`booted`, `shutdown`, or `failed`."""
        return str(self.info["state"])

    @property
    def now(self) -> str:
        """Its time, such as `T+00:00:12.500`."""
        return str(self.ask("apps")["at"])

    @property
    def folder(self) -> str:
        """Its run folder, on the machine of the daemon: what `wakebench why --run` and `report` take."""
        return str(self.info["folder"])

    # On and off

    def boot(self) -> LivePhone:
        """Switches it on, from where it was shut down; nothing when it is on."""
        self.ask("boot")
        return self

    def shutdown(self) -> None:
        """Shuts it down; nothing when it is down."""
        self.ask("shutdown")

    def erase(self) -> None:
        """Brings it back to how it was made. It must be shut down, here and below."""
        self.ask("erase")

    def delete(self) -> None:
        """Removes it with its run."""
        self.ask("delete")

    def clone(self, name: str) -> LivePhone:
        """Copies it with its run."""
        self.ask("clone", to=name)
        return LivePhone(self.bench, name)

    def snapshot(self, action: str, name: str | None = None) -> list[str]:
        """`save`, `load` or `remove` a snapshot, or `list` them. The answer is the names of all."""
        return list(self.ask("snapshot", action=action, name=name)["snapshots"])

    # What happens to it

    def do(
        self,
        step: Mapping[str, Any],
        *,
        wait: bool | None = None,
        timeout: Time | None = None,
        id: str | None = None,
    ) -> Outcome:
        """Carries out any step of a scenario, without its time: `phone.do({"notify": "belt", ...})`.

        It waits until all that comes of it has been decided and answered, 10 s at most, and exit code 6 says that this was
        not so; a phone with a virtual clock, whose time stands still meanwhile, is not waited for unless `wait` is true. A
        command with an `id` is carried out once, however often it is given; another command with that `id` is refused.
        """
        return self._command({"step": dict(step)}, wait, timeout, id)

    def install(self, bundle: str | os.PathLike[str] | Mapping[str, Any], **options: Any) -> Outcome:
        """Installs an app, or another version over it: a bundle `Name.app`, or an entry of a scenario's `apps`."""
        entry = dict(bundle) if isinstance(bundle, Mapping) else {"bundle": os.path.abspath(bundle)}
        return self._command({"install": entry}, **options)

    def advance(self, time: Time, id: str | None = None) -> Outcome:
        """Lets the clock of a virtual phone go on by so much, and waits until it is there: `phone.advance("8h")`."""
        span = nanoseconds(time)
        return self._command({"advance": nanoseconds(self.now) + span, "by": span}, True, None, id)

    def until(self, time: Time, id: str | None = None) -> Outcome:
        """Lets the clock of a virtual phone go on to a time of its own; nothing when it is past that."""
        target = nanoseconds(time)
        return self._command({"advance": max(nanoseconds(self.now), target), "to": target}, True, None, id)

    def change(self, change: str, **options: Any) -> Outcome:
        """Something happens to the phone itself: `lock`, `unlock`, `reboot` and what else `phone:` has in a step."""
        return self.do({"phone": change}, **options)

    def lock(self, **options: Any) -> Outcome:
        """The user locks it."""
        return self.change("lock", **options)

    def unlock(self, **options: Any) -> Outcome:
        """The user unlocks it."""
        return self.change("unlock", **options)

    def reboot(self, **options: Any) -> Outcome:
        """It is switched off and on again; the first unlock is owed."""
        return self.change("reboot", **options)

    def wait_idle(self, timeout: Time | None = None) -> list[Decision]:
        """Waits until nothing is on its way. The answer is what was decided meanwhile."""
        return list(self.ask("wait", timeout=_seconds(timeout))["decisions"])

    def _command(
        self,
        command: Answer,
        wait: bool | None = None,
        timeout: Time | None = None,
        id: str | None = None,
    ) -> Outcome:
        waits = self.info.get("clock") != "virtual" if wait is None else wait
        answer = self.ask("do", command=command, wait=waits, timeout=_seconds(timeout), id=id)
        if waits and not answer["settled"]:
            raise WakebenchError(
                "timeout",
                f"{self.name}: accepted as command {answer['command']}, and not settled in time",
                "give a longer timeout, or wait=False",
            )
        return Outcome(
            self,
            answer["command"],
            answer["at"],
            answer["settled"],
            bool(answer.get("repeated")),
            tuple(answer["decisions"]),
            tuple(answer["happened"]),
            tuple(answer["notes"]),
        )

    # What it has

    def app(self, name: str) -> LiveApp:
        """An app by its name in the scenario or its bundle identifier."""
        found = self.apps(name)
        if len(found) > 1:
            listed = ", ".join(each.name for each in found)
            raise WakebenchError("usage", f"{self.name}: '{name}' are {len(found)} apps", f"name one of {listed}")
        return found[0]

    def apps(self, name: str | None = None) -> list[LiveApp]:
        """Its apps, or those that a name means."""
        return [LiveApp(self, each["name"], each["bundle"]) for each in self.ask("apps", app=name)["apps"]]

    def device(self, name: str) -> LiveDevice:
        """A device by its name in the scenario."""
        self.device_info(name)
        return LiveDevice(self, name)

    def devices(self) -> list[LiveDevice]:
        """The devices around it."""
        return [LiveDevice(self, each["name"]) for each in self.ask("devices")["devices"]]

    def device_info(self, name: str) -> Answer:
        """What `wakebench device list` says of one."""
        all = self.ask("devices")["devices"]
        for each in all:
            if each["name"] == name:
                return dict(each)
        listed = ", ".join(each["name"] for each in all) or "none"
        raise WakebenchError("not-found", f"{self.name}: no device '{name}'", f"it has {listed}")

    def follow(self, after: int | None = None, timeout: float | None = None) -> Following:
        """What happens to it from now on, or from the decision after one on; see `Following`."""
        return Following(self.bench.socket, self.name, after, timeout)

    def __repr__(self) -> str:
        return f"<LivePhone {self.name} at {self.bench.socket}>"


class Following(Iterator[Answer]):
    """What happens to a phone, or to all, as it happens: a dictionary each, on a connection of its own.

    Its `type` is `decision`, with `seq` and `record`; `row`, with `what`, `app` and `reason`, for what is no decision; or
    `gap`, with how many were `dropped` because this read too slowly: `follow(after=)` the last `seq` has the decisions again.
    It ends with the daemon, or when it is closed; `with phone.follow() as news:` closes it. After `timeout` seconds without
    news it raises a `WakebenchError` with exit code 6.
    """

    def __init__(self, socket: str, phone: str, after: int | None, timeout: float | None) -> None:
        self._control = Control(socket)
        try:
            #: The header of the stream: of each phone its `name`, `seed`, `at` and the `seq` of its last decision.
            self.header = self._control.ask("follow", phone=phone, after=after)
        except BaseException:
            self._control.close()
            raise
        #: How many seconds without news are an error; None for none.
        self.timeout = timeout

    def __next__(self) -> Answer:
        news = self._control.heard(self.timeout)
        if news is None:
            raise StopIteration
        return news

    def first(self, **wanted: str) -> Decision:
        """The record of the next decision with a `verdict`, `reason`, `kind`, `rule`, `subject` and the bundle of an `app`."""
        for each in self:
            if each["type"] == "decision" and all(value_of(each["record"], key) == wanted[key] for key in wanted):
                return dict(each["record"])
        raise WakebenchError("daemon-unreachable", f"the stream ended without {' '.join(wanted.values())}")

    def close(self) -> None:
        """Ends it."""
        self._control.close()

    def __enter__(self) -> Following:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LiveBench:
    """A running bench, by the control socket of its daemon; by default where the verbs of `wakebench` look for it."""

    def __init__(self, socket: str | os.PathLike[str] | None = None) -> None:
        #: The path of the control socket.
        self.socket = os.fspath(socket) if socket else usual_socket()
        self._control = Control(self.socket)

    def ask(self, op: str, **members: Any) -> Answer:
        """Asks the daemon for something; what it refuses is a `WakebenchError`."""
        return self._control.ask(op, **members)

    @property
    def hello(self) -> Answer:
        """What the daemon says of itself: `version`, `pid`, `state`, `phones`, `booted`, and with a page its address, `page`."""
        return self.ask("hello")

    def create(
        self,
        name: str,
        scenario: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> LivePhone:
        """Makes a phone, shut down, with the apps and devices of a scenario file: `bench.create("one", "belt.yaml")`.

        Options are those of `wakebench phone create`, with `_` for `-`: `clock="virtual", apps=["build"], seed=7`. The
        daemon reads the files, so that they are on its machine.
        """
        if "apps" in options:
            given = options["apps"]
            folders = [given] if isinstance(given, (str, os.PathLike)) else given
            options["apps"] = [os.path.abspath(each) for each in folders]
        path = None if scenario is None else os.path.abspath(scenario)
        self.ask("create", phone=name, scenario=path, options=option_words(options))
        return LivePhone(self, name)

    def phone(self, name: str = "booted") -> LivePhone:
        """A phone by its name or UDID; without one the only one that is booted."""
        return LivePhone(self, name)

    def phones(self) -> list[LivePhone]:
        """All phones, whether they are switched on or not."""
        return [LivePhone(self, each["name"]) for each in self.ask("phones")["phones"]]

    def follow(self, timeout: float | None = None) -> Following:
        """What happens to every phone that is or will be booted."""
        return Following(self.socket, "all", None, timeout)

    def close(self) -> None:
        """Ends the connection; the bench goes on."""
        self._control.close()

    def __enter__(self) -> LiveBench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LiveBench {self.socket}>"

"""A run that is over: what was decided, and what of its scenario's expectations was met."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .program import HIDDEN, Program, WakebenchError, number_of
from .writing import written

# What pytest leaves out of a test's traceback.
__tracebackhide__ = HIDDEN

Decision = dict[str, Any]

# How many decisions a message shows.
NEAREST = 5


@dataclass(frozen=True)
class Expectation:
    """A line of `expect:`.

    `expected` is what should have been, `place` where that stands, as `file` and `line` say apart; `found` says what was when it
    was not met, and is empty when it was. `details` are the nearest decisions, a line each, and the command that explains them.
    """

    expected: str
    place: str
    found: str
    details: str
    file: str
    line: int

    @property
    def met(self) -> bool:
        """Whether it was."""
        return not self.found

    def __str__(self) -> str:
        return f"{self.expected}; {self.found or 'met'}  [{self.place}]"


@dataclass(frozen=True)
class Fault:
    """What ended a run before its time: the exit code's name, a line, and that with the nearest decisions."""

    name: str
    message: str
    details: str


class Decisions:
    """The decisions of a run that fit, as `wakebench log` prints them; read anew, line by line, each time they are asked for.

    Calling them asks for fewer: `run.decisions(app="heart")(verdict="resume")`.
    """

    def __init__(self, run: Run, wanted: dict[str, str]) -> None:
        self._run = run
        self._wanted = wanted

    def __call__(
        self,
        *,
        app: str | None = None,
        verdict: str | None = None,
        reason: str | None = None,
        kind: str | None = None,
        rule: str | None = None,
        subject: str | None = None,
    ) -> Decisions:
        """Those of an app, by its name or bundle identifier, with a verdict, a reason, a kind of event, a rule, a subject."""
        given = {"app": app, "verdict": verdict, "reason": reason, "kind": kind, "rule": rule, "subject": subject}
        if app is not None:
            given["app"] = self._run.identifier(app)
        return Decisions(
            self._run, {**self._wanted, **{key: value for key, value in given.items() if value is not None}}
        )

    def __iter__(self) -> Iterator[Decision]:
        found = False
        for decision in self._run.records(self._wanted.get("app")):
            if self._fit(decision) == len(self._wanted):
                found = True
                yield decision
        if not found:
            self._check_words()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return self.first is not None

    @property
    def first(self) -> Decision | None:
        """The first of them; none when there is none."""
        return next(iter(self), None)

    def count(self) -> tuple[int, list[Decision]]:
        """How many there are, and the decisions that are nearest to them: those that fit best, the last of these."""
        count, best = 0, 0
        nearest: deque[Decision] = deque(maxlen=NEAREST)
        for decision in self._run.records(self._wanted.get("app")):
            fit = self._fit(decision)
            count += fit == len(self._wanted)
            if fit > best:
                best = fit
                nearest.clear()
            if fit == best:
                nearest.append(decision)
        if not count:
            self._check_words()
        return count, list(nearest)

    def _fit(self, decision: Decision) -> int:
        """How much of what is wanted the decision has."""
        return sum(value_of(decision, key) == value for key, value in self._wanted.items())

    def _check_words(self) -> None:
        """A word that the program does not know fits nothing, so that a test which expects nothing would hold for ever."""
        words = {key: value for key, value in self._wanted.items() if key not in ("app", "subject")}
        if words:
            _check(self._run.program, tuple(sorted(words.items())))

    def __repr__(self) -> str:
        """How many, and the last of the nearest where there is none."""
        try:
            count, nearest = self.count()
            shown = f"none; nearest {line(nearest[-1])}" if nearest and not count else str(count)
        except WakebenchError as error:
            shown = error.line
        return f"<{' '.join(['Decisions', *str(self).split()])}: {shown}>"

    def __str__(self) -> str:
        words = [self._run.name_of(value) if key == "app" else value for key, value in self._wanted.items()]
        return " ".join(words)


class Run:
    """A run that is over, in its folder. It is made by the fixtures `wakebench` and `scenario`."""

    def __init__(self, program: Program, folder: Path, scenario: Path, talk: str) -> None:
        self.program = program
        #: The run folder.
        self.folder = folder
        #: The scenario file.
        self.scenario = scenario
        #: What the program said on stderr, the last 64 KiB.
        self.talk = talk
        results = self._json(folder / "results.json")
        #: The scenario's file, as places have it.
        self.file: str = results["file"]
        fault = results.get("fault")
        #: Why it ended before its time: a step waited in vain, or an app could not be launched. None when it did not.
        self.fault: Fault | None = fault and Fault(fault["kind"], fault["message"], self._own(fault["details"]))
        #: The expectations of the scenario, in its order.
        self.expectations: list[Expectation] = [
            Expectation(
                each["expected"],
                each["place"],
                each["failure"] or "",
                self._own(each["details"]),
                each["file"],
                each["line"],
            )
            for each in results["expectations"]
        ]
        self._apps = self._read_apps()

    @property
    def ok(self) -> bool:
        """Whether it went to its end, and every expectation was met."""
        return self.fault is None and all(each.met for each in self.expectations)

    @property
    def decisions(self) -> Decisions:
        """Every decision, in order: a dictionary each, of which `run.decisions(app=..., verdict=...)` chooses."""
        return Decisions(self, {})

    @property
    def apps(self) -> dict[str, str]:
        """The bundle identifiers of the apps by what the scenario calls them."""
        return dict(self._apps)

    @property
    def report(self) -> Path:
        """The page of the run; made now where the program had left it out, as of a long run."""
        page = self.folder / "report.html"
        if not page.exists():
            self.program.answer("report", str(self.folder))
        return page

    def why(self, app: str, about: str | None = None) -> str:
        """What `wakebench why` says of an app; about a reason or a rule where one is given."""
        words = [self.identifier(app)] + ([about] if about else [])
        return self.program.answer("why", *words, "--run", str(self.folder))

    def log(self, app: str) -> str:
        """What a real app printed, all its processes together; empty for a scripted app."""
        path = self.folder / "apps" / f"{self.identifier(app)}.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def expect(
        self,
        *,
        app: str | None = None,
        verdict: str | None = None,
        reason: str | None = None,
        kind: str | None = None,
        rule: str | None = None,
        subject: str | None = None,
        count: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> None:
        """Asserts how many decisions fit, at least one when no number is given; what was decided instead is the message."""
        wanted = self.decisions(app=app, verdict=verdict, reason=reason, kind=kind, rule=rule, subject=subject)
        found, nearest = wanted.count()
        if count is None and at_least is None and at_most is None:
            at_least = 1
        bounds = []
        if count is not None:
            bounds.append((found == count, f"{count}"))
        if at_least is not None:
            bounds.append((found >= at_least, f"at least {at_least}"))
        if at_most is not None:
            bounds.append((found <= at_most, f"at most {at_most}"))
        if all(holds for holds, _ in bounds):
            return
        lines = [f"{wanted}: {', '.join(text for _, text in bounds)}; found {found}"]
        about = f" about {app}" if app else ""
        lines.append(f"nearest decisions{about}:" if nearest else f"nothing was decided{about}")
        lines += [f"  {line(decision)}" for decision in nearest]
        raise AssertionError("\n".join(lines + self._hints(app)))

    def identifier(self, app: str) -> str:
        """The bundle identifier of an app by either name."""
        if app in self._apps:
            return self._apps[app]
        if app in self._apps.values():
            return app
        known = [f"{name} ({identifier})" for name, identifier in self._apps.items()]
        more = f" and {len(known) - 10} more" if len(known) > 10 else ""
        listed = f"it has {', '.join(known[:10])}{more}" if known else "it has none"
        raise WakebenchError("not-found", f"the scenario has no app '{app}'", listed)

    def name_of(self, identifier: str) -> str:
        """What the scenario calls an app."""
        return next((name for name, each in self._apps.items() if each == identifier), identifier)

    def records(self, app: str | None) -> Iterator[Decision]:
        """The records of the run, or of one app's decisions, read as they come."""
        words = ["log", str(self.folder)] + (["--app", app] if app else [])
        for text in self.program.lines(*words):
            # The first line is about the run.
            if text.startswith(b'{"schema":"wake.decision/'):
                yield json.loads(text)

    def __repr__(self) -> str:
        if self.fault:
            state = f"{self.fault.name}: {self.fault.message}"
        else:
            failed = [each for each in self.expectations if not each.met]
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            state = f"not met: {failed[0]}{more}" if failed else "ok"
        return f"<Run {self.scenario.stem}: {state}>"

    def story(self) -> str:
        """What went wrong with its place, the nearest decisions, the commands that explain them, and where the page is."""
        lines: list[str] = []
        if self.fault:
            first, *rest = self.fault.details.splitlines() or [self.fault.message]
            lines += [f"{first}  [{self.fault.name}, exit code {number_of(self.fault.name)}]", *rest]
        failed = [each for each in self.expectations if not each.met]
        # Expectations about one app often have the same to tell.
        told = {self.fault.details.partition("\n")[2]} if self.fault else set()
        for place, each in enumerate(failed):
            lines.append(str(each))
            later = [other.details for other in failed[place + 1 :]]
            if each.details not in told and each.details not in later[:1]:
                lines += [f"  {text}" for text in each.details.splitlines()]
                told.add(each.details)
        return "\n".join([*lines, self._page()])

    def _hints(self, app: str | None) -> list[str]:
        why = (
            f"{shlex.quote(self.program.word)} why {self.identifier(app)} --run {shlex.quote(str(self.folder))}"
            if app
            else ""
        )
        return ([why] if why else []) + [self._page()]

    def _page(self) -> str:
        """Where the page is, or the command that makes it: of a long run the program leaves it out."""
        page = self.folder / "report.html"
        command = f"{shlex.quote(self.program.word)} report {shlex.quote(str(self.folder))}"
        return f"report: {page}" if page.exists() else f"report: made by {command}"

    def _own(self, details: str) -> str:
        """The same with a command that this shell finds."""
        lines = details.split("\n")
        if lines[-1].startswith("wakebench why "):
            lines[-1] = shlex.quote(self.program.word) + lines[-1][len("wakebench") :]
        return "\n".join(lines)

    def _read_apps(self) -> dict[str, str]:
        apps: dict[str, str] = {}
        with open(self.folder / "outcomes.ndjson", "rb") as file:
            for text in file:
                if text.startswith(b'{"schema":"wake.app/1"'):
                    app = json.loads(text)
                    apps[app["name"]] = app["app"]
        return apps

    @staticmethod
    def _json(path: Path) -> dict[str, Any]:
        try:
            value: dict[str, Any] = json.loads(path.read_bytes())
            return value
        except (OSError, ValueError) as error:
            raise WakebenchError(
                "environment", f"{path}: cannot be read: {error}", "take wakebench of this version"
            ) from None


def line(decision: Decision) -> str:
    """A decision in one line, with the check that decided it."""
    event, app = decision["event"], decision["app"]
    subject = f" {event['subject']}" if event.get("subject") else ""
    failed = next((check for check in decision["checks"] if check.get("decisive")), None)
    why = f"; not so: {failed['name']} [{failed['rule']}]" if failed else ""
    return (
        f"{decision['t'][:14]} {app['bundle'] if app else '-'} {event['kind']}{subject}: "
        f"{decision['verdict']}, {decision['reason']} [{decision['rule']}]{why}"
    )


def value_of(decision: Decision, key: str) -> Any:
    """What a decision has of what can be asked for."""
    if key == "app":
        return (decision["app"] or {}).get("bundle")
    return decision["event"].get(key) if key in ("kind", "subject") else decision[key]


@lru_cache(maxsize=256)
def _check(program: Program, words: tuple[tuple[str, str], ...]) -> None:
    """Has the program say whether it knows the words, as those of an expectation."""
    probe = {
        "scenario": "words",
        "apps": [{"scripted": "com.example.words", "name": "words"}],
        "steps": [{"at": 0, "launch": "words"}],
        "expect": [{"app": "words", **dict(words), "count": 0}],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(written(probe))
        file.flush()
        try:
            program.answer("scenario", "check", file.name)
        except WakebenchError as error:
            # Its place is in a file that nobody wrote.
            said = error.line[len(file.name) :].partition(": ")[2] if error.line.startswith(file.name) else error.line
            raise WakebenchError("usage", said) from None

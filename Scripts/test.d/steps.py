"""The steps of Scripts/test: what each runs, after which others, and how much of the machine it takes."""
import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY = 1_000.0

# Test targets that compute and read files, and keep a processor busy. All others start processes, and wait for them.
PURE = (
    "HouseTests", "FuzzTests", "WakeModelTests", "WakeRouterTests", "RandomWorldTests", "WakeWireTests", "WakeDevicesTests",
    "WakeCapturesTests", "WakeReportsTests",
)

# One suite of these, which keeps all processors busy.
WORLD = ("RandomWorldTests\\.RandomWorldTests",)

# About a third each of the tests that start processes. OutsideTests builds its package in the folder that CommandLineTests use.
BENCH = ("WakeBenchTests",)
COMMANDS = ("CommandLineTests", "OutsideTests")

# What of the sources a job of the lab is there for, beside what its own text names, and what the mutants are of. One whose rooms are
# as they were when it was last played may be left out of CI.
AREAS = "Sources/Bench/WakeBench/Areas"
BLUETOOTH = ("Sources/System/WakeBus", "Sources/System/WakeBlueZ", "Sources/EventSources/WakeBluetooth", f"{AREAS}/BluetoothArea*")
ACCESSORY = ("Sources/System/WakeUdev", "Sources/EventSources/WakeExternalAccessory", f"{AREAS}/AccessoryArea*")
SOUND = ("Sources/System/WakeALSA", "Sources/System/WakeUdev", "Sources/EventSources/WakeAudio", f"{AREAS}/AudioArea*")
# What the lab's devices on the air are.
AIR = ("Scripts/radio/wakebench_radio",)
CALLS = ("Sources/EventSources/WakeVoIP", f"{AREAS}/VoIPArea*", "Scripts/voip.d")
COMMON = ("Package.swift", "Sources/System/WakeProcesses", "Sources/System/WakeSystem", "Devices", "Tests/Support", "Scripts/test.d/build",
          "Scripts/debug", "Scripts/lab", "Scripts/lab.d/job", "Scripts/lab.d/air.py", "Scripts/lab.d/guest", "Scripts/lab.d/peers",
          "Scripts/lab.d/scenarios", "Scripts/lab.d/devices", "Scripts/lab.d/bundles")
MUTATED = ("Package.swift", "Sources/Core/WakeModel", "Sources/Core/WakeRouter", "Tests/WakeRouterTests", "Tests/RandomWorldTests",
           "Tests/Support/RouterSnapshots", "Scripts/mutate", "Scripts/mutate.d")
ROOMS = {
    "accessories": BLUETOOTH + ACCESSORY,
    "accessory-scenarios": BLUETOOTH + ACCESSORY,
    "audio": SOUND,
    "record": BLUETOOTH + AIR + ("Sources/Core/WakeCaptures",),
    "bluetooth": BLUETOOTH + ("Scripts/air.d", "Scripts/radio"),
    "voip": SOUND + CALLS,
}


class Step:
    """One command of Scripts/test.

    after:       names of the steps that must have ended well before
    processors:  how many it keeps busy; EVERY is all there are, 0 is for what mostly sleeps
    queue:       of the steps of one queue three are run at a time
    parts:       in which parts of Scripts/test it is run
    unless:      gives a reason to leave it out, or None
    limit:       seconds after which it is killed
    events:      the stream of tests' events that it leaves in the logs' folder, NAME.events; None for none
    """

    def __init__(
        self, name, command, after=(), processors=0.9, queue=None, parts=("all", "ci", "quick"), unless=None, limit=1_800, events=None,
        **environment,
    ):
        self.name, self.command, self.after, self.processors, self.queue = name, command, tuple(after), processors, queue
        self.parts, self.unless, self.limit, self.events, self.environment = parts, unless, limit, events, environment

    @property
    def file(self):
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def git(*words):
    """What git says; nothing where there is none."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


@functools.cache
def commits():
    """How many commits lead to the one at hand; 0 without git."""
    return int(git("rev-list", "--count", "HEAD") or 0)


@functools.cache
def lab_unable():
    """Why this machine cannot boot the lab, or None. In CI it must be able to, and fails otherwise."""
    if os.environ.get("WAKEBENCH_PART") == "ci":
        return None
    asked = subprocess.run([str(ROOT / "Scripts/lab"), "able"], capture_output=True, text=True)
    return asked.stderr.strip().removeprefix("lab: ") if asked.returncode else None


def left_out_of_ci(job, paths):
    """In CI a job of the lab, and the mutants, are left out where nothing that they are there for has changed since the commit that last
    played them, which Scripts/test.d/played.txt says, but at each fifth commit by count."""
    if os.environ.get("WAKEBENCH_PART") != "ci" or commits() % 5 == 0:
        return None
    played = dict(line.split() for line in (ROOT / "Scripts/test.d/played.txt").read_text().splitlines() if line and line[0] != "#")
    since = played.get(job)
    if not since or not git("cat-file", "-t", since) == "commit":
        return None
    if git("diff", "--name-only", since, "--", *paths) or git("ls-files", "--others", "--exclude-standard", "--", *paths):
        return None
    return f"its rooms are as they were at {since[:8]}, where it was played"


def tests(name, events, after, only=(), but=(), **rest):
    """A test process: of some targets or suites only, or of all but some."""
    choice = "".join(f" --{option} '^({'|'.join(names)})[./]'" for option, names in (("filter", only), ("skip", but)) if names)
    stream = f'--event-stream-output-path ".build/test/$WAKEBENCH_PART/{events}.events" --event-stream-version 0'
    # One after the other: the other processor has other steps, and time limits are those of a test, not of all that began with it.
    command = f"NO_COLOR=1 .build/debug/wakebenchPackageTests.xctest --testing-library swift-testing --no-parallel{choice} {stream}"
    return Step(name, command, after, events=events, **rest)


def lab_jobs():
    names = subprocess.run([str(ROOT / "Scripts/lab.d/job"), "--list"], capture_output=True, text=True, check=True).stdout
    for name, seconds in (line.split() for line in names.splitlines()):
        # A guest that comes too late for its sound card has lost the sound.
        alone = name in ("audio", "voip")
        yield Step(
            f"lab: {name}",
            f"Scripts/lab.d/job {name}",
            after=("lab's machine", "debug build", "release build", "packages"),
            processors=EVERY if alone else 0.4,
            queue="lab",
            parts=("all", "ci", "lab"),
            unless=lambda name=name: left_out_of_ci(
                name, (*ROOMS.get(name, BLUETOOTH + AIR), *COMMON, f"Scripts/lab.d/jobs/{name}.sh")
            ),
            limit=int(seconds) + 300,
        )


# For the test processes, whose packages look for a bench themselves.
TESTED = {"WAKEBENCH_TEST_PROGRAM": str(ROOT / ".build/release/wakebench")}
RELEASE = {"WAKEBENCH": str(ROOT / ".build/release/wakebench"), "WAKEBENCH_BINARIES": str(ROOT / ".build/release")}
BUILT = ("debug build", "release build", "packages")

STEPS = [
    Step("packages", "Scripts/install test", processors=0),
    Step("environments", "Scripts/venv all", after=("packages",), processors=0),
    Step("lab's machine", "Scripts/lab build", after=("packages",), processors=0, parts=("all", "ci", "lab"), unless=lab_unable),
    # A room waits for those below it, so that one build leaves a processor idle now and then: both go on side by side, and what needs
    # no release build is run beside that. The release build takes the longest way, and one processor; the other gives way.
    Step("debug build", "nice -n 10 Scripts/test.d/build debug", processors=1.0, limit=2_400),
    Step("release build", "Scripts/test.d/build release", processors=1.0, limit=2_400),
    tests("tests of the bench", "bench", BUILT, only=BENCH, processors=0.3, **TESTED),
    tests("tests of commands", "commands", BUILT, only=COMMANDS, processors=0.3, **TESTED),
    tests("tests of processes", "processes", BUILT, but=PURE + BENCH + COMMANDS, processors=0.3, **TESTED),
    *lab_jobs(),
    Step("clocks", "Scripts/lab.d/clocks", after=BUILT, processors=0, parts=("all", "ci", "clocks"), **RELEASE),
    Step("radio", "Scripts/radio/test", after=(*BUILT, "environments"), processors=0.4),
    Step("air", "Scripts/air.d/test && Scripts/air --slots 5", after=(*BUILT, "environments"), processors=0.6, **RELEASE),
    Step("gpsd", "Scripts/gpsd.d/test", after=BUILT, processors=0, **RELEASE),
    Step("voip", "Scripts/voip.d/test", after=BUILT, processors=0, **RELEASE),
    Step(
        "mutants", "Scripts/mutate --sample 10 --jobs 1", after=("debug build", "packages"),
        unless=lambda: left_out_of_ci("mutants", MUTATED),
    ),
    tests("tests of values", "values", ("debug build", "packages"), only=PURE, but=WORLD),
    tests("random world", "world", ("debug build",), only=WORLD),
    Step("format", "swift format lint --strict --recursive --parallel Sources Tests", after=("debug build",)),
    Step("steps", "Scripts/test.d/test", processors=0),
    Step("lab's starts", "Scripts/lab.d/starts", after=("lab's machine",), processors=0, parts=("all", "ci", "lab")),
    Step("lab's air", "Scripts/lab.d/orders", after=("lab's machine",), processors=0, parts=("all", "ci", "lab")),
    Step("lab's ends", "Scripts/lab.d/ends", processors=0, parts=("all", "ci", "lab")),
    Step("demo", "Scripts/demo", after=BUILT),
    Step(
        "demo in Python",
        'rm -rf .build/demo-python && "$WAKEBENCH" run Devices/Scenarios/heart-rate-belt-python.yaml --out .build/demo-python --quiet'
        " && Scripts/demo.d/verdicts .build/demo-python com.example.heartrate.python",
        after=BUILT,
        **RELEASE,
    ),
    Step("coverage", "Scripts/coverage", after=BUILT, **RELEASE),
    Step("shrink", "Scripts/shrink.d/test", after=BUILT, **RELEASE),
    Step("report", "Scripts/report.d/test", after=BUILT, **RELEASE),
    Step("page", "Scripts/page.d/test", after=BUILT, **RELEASE),
    Step("top", "Scripts/top.d/test", after=BUILT, **RELEASE),
    Step("captures", "Scripts/captures.d/test", after=BUILT, **RELEASE),
    Step("suite", "Scripts/suite.d/test", after=(*BUILT, "environments"), **RELEASE),
    Step("python", "Scripts/python/test", after=(*BUILT, "environments"), **RELEASE),
    Step("labgrid", "Scripts/python/labgrid/test", after=(*BUILT, "environments"), **RELEASE),
    Step("sweep", "Scripts/sweep/test", after=(*BUILT, "environments"), **RELEASE),
    Step("apns", "Scripts/apns.d/test", after=(*BUILT, "environments"), **RELEASE),
    Step("transfers", "Scripts/transfers.d/test", after=BUILT),
    Step("transfers, killed", "Scripts/transfers.d/killed", after=BUILT),
    # A few kills of each; for a search there are hundreds of them, by many seeds.
    Step(
        "kills",
        'Scripts/crash --transfers --program "$WAKEBENCH" --kills 12 --per-round 12 --files 70'
        ' && Scripts/crash --snapshots --program "$WAKEBENCH" --kills 20',
        after=BUILT,
        **RELEASE,
    ),
]


def chosen(part):
    return [step for step in STEPS if part in step.parts]


def environment(part):
    """For all steps of a part. CI plays less of what is played again and again: a whole run has all of it."""
    count = commits()
    less = {"WAKEBENCH_FREEZERS": ("cgroup2", "cgroup1", "sigstop")[count % 3]} if part == "ci" else {}
    return {"WAKEBENCH_PART": part, **less}

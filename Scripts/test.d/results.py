"""What the test processes of Scripts/test left: how long each test and suite took, which failed, and which were skipped and why."""
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SLOWEST = 25


class Tests:
    """Of all processes together; times in seconds."""

    def __init__(self):
        self.tests, self.suites, self.skipped = {}, {}, {}
        self.failures = set()

    @property
    def count(self):
        return len(self.tests) + len(self.skipped)

    @property
    def failed(self):
        return len(self.failures)

    @property
    def passed(self):
        return len(self.tests) - self.failed


def read(folder):
    """Reads the streams of events, folder/*.events, that Swift Testing has written."""
    tests = Tests()
    for file in sorted(folder.glob("*.events")):
        read_stream(file, tests)
    return tests


def read_stream(file, tests):
    names, suites, began = {}, set(), {}
    for line in file.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            # The last line of a process that was killed.
            continue
        payload = record["payload"]
        if record["kind"] == "test":
            name = f"{payload['id'].split('/')[0]}: {payload.get('displayName') or payload['name']}"
            # Two tests of a suite may have one title.
            names[payload["id"]] = f"{name} [{payload['name']}]" if name in names.values() else name
            if payload["kind"] == "suite":
                suites.add(payload["id"])
            continue
        test = payload.get("testID")
        if test not in names:
            continue
        name, now = names[test], payload["instant"]["absolute"]
        if payload["kind"] == "testStarted":
            began[test] = now
        elif payload["kind"] == "testEnded":
            times = tests.suites if test in suites else tests.tests
            times[name] = now - began[test]
            del began[test]
        elif payload["kind"] == "testSkipped" and test not in suites:
            tests.skipped[name] = reason(payload)
        elif payload["kind"] == "issueRecorded" and not payload.get("issue", {}).get("isKnown") and test not in suites:
            tests.failures.add(name)
    for test in began:
        # It ended the process, or was running when something else did.
        if test not in suites:
            tests.tests[names[test]] = 0.0
            tests.failures.add(names[test])


def reason(payload):
    """Swift Testing tells it in the text: `Test "..." skipped: "needs nginx"`."""
    text = payload["messages"][0]["text"] if payload.get("messages") else ""
    _, found, said = text.rpartition(" skipped: ")
    return said.strip('"') if found else "no reason is given"


def slowest(tests):
    for title, times in (("TEST", tests.tests), ("SUITE", tests.suites)):
        print(f"\n{'SECONDS':>8}  {title}, the {SLOWEST} slowest of {len(times)}")
        for name, seconds in sorted(times.items(), key=lambda each: -each[1])[:SLOWEST]:
            print(f"{seconds:>8.1f}  {name}")


def skipped(tests, part):
    """Says which tests were skipped, and why. In CI, where a machine has all that the tests need, these are the known ones.

    Gives a line for each that is there without being known, or the other way round."""
    known = set((HERE / "skipped.txt").read_text().splitlines()) - {""}
    print(f"\n{len(tests.skipped)} of {tests.count} tests were skipped, {len(known)} are in CI")
    for name, why in sorted(tests.skipped.items()):
        print(f"skipped: {name} ({why})")
    if part != "ci":
        return []
    wrong = [f"skipped, and not in Scripts/test.d/skipped.txt: {name} ({tests.skipped[name]})" for name in sorted(tests.skipped.keys() - known)]
    return wrong + [f"in Scripts/test.d/skipped.txt, and not skipped: {name}" for name in sorted(known - tests.skipped.keys())]

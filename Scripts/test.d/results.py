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
        # A line for each process that ended well and told less than all.
        self.cut_off = []

    @property
    def count(self):
        return len(self.tests) + len(self.skipped)

    @property
    def failed(self):
        return len(self.failures)

    @property
    def passed(self):
        return len(self.tests) - self.failed


def read(folder, whole):
    """Reads the streams of events, folder/NAME.events, that Swift Testing has written; those of `whole` must have an end."""
    tests = Tests()
    for file in sorted(folder.glob("*.events")):
        has_end = read_stream(file, tests)
        if file.stem in whole and not has_end:
            tests.cut_off.append(f"the tests of '{file.stem}' ended well, and did not say that they were all run")
    absent = [name for name in whole if not (folder / f"{name}.events").exists()]
    tests.cut_off += [f"the tests of '{name}' ended well, and said of none what came of it" for name in absent]
    return tests


def read_stream(file, tests):
    """Whether the stream has an end."""
    names, suites, began, has_end = {}, set(), {}, False
    untold = set()
    # A text in JSON may hold what else Python takes for the end of a line.
    for line in file.read_text(errors="replace").split("\n"):
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
            else:
                untold.add(payload["id"])
            continue
        has_end = has_end or payload["kind"] == "runEnded"
        test = payload.get("testID")
        if test not in names:
            continue
        name, now = names[test], payload["instant"]["absolute"]
        if payload["kind"] in ("testEnded", "testSkipped"):
            untold.discard(test)
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
    if has_end:
        tests.cut_off += [f"neither run nor skipped: {names[test]}" for test in sorted(untold - began.keys())]
    return has_end


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

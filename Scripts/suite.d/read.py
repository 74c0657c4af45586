"""Reads a suite's JUnit file with junitparser, and says whether it agrees with the suite's own object: JUNIT.xml suite.json."""

import json
import sys

from junitparser import Error, Failure, JUnitXml


def main() -> None:
    junit, suite = JUnitXml.fromfile(sys.argv[1]), json.load(open(sys.argv[2], encoding="utf-8"))
    outcomes = {run["name"]: run["outcome"] for run in suite["runs"]}
    read = {}
    for each in junit:
        kinds = {type(result) for case in each for result in case.result}
        read[each.name] = "error" if Error in kinds else "failed" if Failure in kinds else "passed"
    if read != outcomes:
        sys.exit(f"junitparser reads {read}, and the suite says {outcomes}")
    if junit.failures != sum(each.failures for each in junit) or junit.tests != sum(1 for each in junit for _ in each):
        sys.exit(f"the file's own counts are wrong: {junit.tests} tests, {junit.failures} failures")
    for run in suite["runs"]:
        for expectation in run["results"]["expectations"]:
            place = f"{expectation['file']}:{expectation['line']}"
            if expectation["file"] != run["scenario"] or expectation["place"] != place:
                sys.exit(f"{run['name']}: the place of {expectation['expected']} is {place} and {expectation['place']}")
    for case in (case for each in junit for case in each):
        if not case._elem.get("file"):
            sys.exit(f"{case.classname}: {case.name} has no file")
    failed = sorted(name for name, outcome in read.items() if outcome != "passed")
    print(f"junitparser: {len(read)} suites, {junit.tests} tests, {junit.failures} failures, {junit.errors} errors; not passed: {', '.join(failed)}")


main()

"""What a peripheral answers to writes and reads, decided as the simulated radio decides it.

    python -m wakebench_radio.air.answers VECTORS.json

The rules are those under `answers` in a file of Devices/Bluetooth. Given vectors that the simulated radio's own tests
made, each a device, what is asked of it and what came of it, it says which of them come out otherwise here, and ends
with 1 if any does.
"""

import json
import re
import sys
import zlib

from .device_file import canonical, nanoseconds, octets, place_of, wrong

LONGEST_VALUE = 512
LIMIT = 64
INSUFFICIENT_RESOURCES = 0x11
MOST = 0xFFFFFFFF
CONDITIONS = ("state", "same", "differ", "less", "subscribed", "unsubscribed")
DEEDS = (
    "notify", "indicate", "set", "error", "state", "variable", "report", "count", "delete", "cancel", "disconnect",
)
ON_AIR = ("notify", "indicate", "report", "disconnect")
# Core 5.4, Vol 3, Part F, 3.4.1.1, and the Core Specification Supplement, Part B, 1.2.
ERRORS = {
    "invalid-handle": 0x01, "read-not-permitted": 0x02, "write-not-permitted": 0x03, "invalid-pdu": 0x04,
    "insufficient-authentication": 0x05, "request-not-supported": 0x06, "invalid-offset": 0x07,
    "insufficient-authorization": 0x08, "prepare-queue-full": 0x09, "attribute-not-found": 0x0A,
    "attribute-not-long": 0x0B, "insufficient-encryption-key-size": 0x0C, "invalid-attribute-value-length": 0x0D,
    "unlikely-error": 0x0E, "insufficient-encryption": 0x0F, "unsupported-group-type": 0x10,
    "insufficient-resources": 0x11, "database-out-of-sync": 0x12, "value-not-allowed": 0x13,
    "write-request-rejected": 0xFC, "cccd-improperly-configured": 0xFD, "procedure-already-in-progress": 0xFE,
    "out-of-range": 0xFF,
}


def crc_16_ccitt(data, before=None):
    total = 0xFFFF if before is None else before & 0xFFFF
    for byte in data:
        total ^= byte << 8
        for _ in range(8):
            total = (total << 1 ^ 0x1021) & 0xFFFF if total & 0x8000 else total << 1
    return total


def crc_16_mcrf4xx(data, before=None):
    total = 0xFFFF if before is None else before & 0xFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ 0x8408 if total & 1 else total >> 1
    return total


def crc_32(data, before=None):
    return zlib.crc32(data, before or 0)


# Each with the octets of its result.
CHECKSUMS = {"crc-16-ccitt": (crc_16_ccitt, 2), "crc-16-mcrf4xx": (crc_16_mcrf4xx, 2), "crc-32": (crc_32, 4)}


def true(word):
    return word in (True, "true", "yes", "on")


def listed(value):
    return value if isinstance(value, list) else [value]


def compiled(text):
    """A pattern as a regular expression over hexadecimal digits."""
    digits = ("*" if text == "any" else text).replace(" ", "").lower()
    fixed = digits.removesuffix("*")
    if len(fixed) % 2 or not re.fullmatch(r"[0-9a-f?]*", fixed):
        raise wrong(text, f"'{text}'", "bytes such as \"01 0? ?? *\", or any")
    return re.compile(fixed.replace("?", "[0-9a-f]") + ("([0-9a-f]{2})*" if digits.endswith("*") else ""))


class Run:
    """An answer that is under way."""

    def __init__(self, number, rule, request, due):
        self.number, self.rule, self.request, self.due = number, rule, request, due
        self.action = 0
        self.has_waited = self.has_begun = False
        self.records, self.bytes = [], b""


class Rule:
    def __init__(self, own, service, described):
        self.own, self.service = own, service
        self.pattern = compiled(described["write"]) if "write" in described else None
        self.conditions = described.get("if", {})
        self.actions = described["do"]


class Machine:
    """The rules of one device, and its state. Times are in nanoseconds."""

    def __init__(self, file):
        self.mtu = int(file.get("mtu", 185))
        self.states = file.get("states", [])
        self.state = self.states[0] if self.states else None
        self.variables = {name: int(start) for name, start in (file.get("variables") or {}).items()}
        self.values, self.numbers, self.left = {}, {}, {}
        for name, described in (file.get("records") or {}).items():
            self.add_records(name, described)
        self.table = []
        for service, each in enumerate(file.get("gatt", [])):
            for characteristic in each.get("characteristics", []):
                self.table.append((service, canonical(characteristic["uuid"]), characteristic))
        self.rules = [
            [Rule(place, service, rule) for rule in characteristic.get("answers", [])]
            for place, (service, _, characteristic) in enumerate(self.table)
        ]
        self.runs, self.last_run = [], 0

    def add_records(self, name, described):
        listing = described["values"] if isinstance(described, dict) else described
        values = [octets(value) for value in listing]
        self.values[name], self.left[name] = values, list(range(len(values)))
        self.numbers[name] = list(range(len(values)))
        if isinstance(described, dict) and "number" in described:
            place = described["number"]
            at, width, order = int(place["at"]), int(place.get("width", 2)), place.get("order", "little")
            self.numbers[name] = [int.from_bytes(value[at:at + width], order) for value in values]

    @property
    def next_due(self):
        return min((run.due for run in self.runs), default=None)

    def answer(self, request, own, now, subscribed):
        """The error that a request fails with, or None, and the values that are set. A read is None."""
        # What comes later has no rules.
        for rule in self.rules[own] if own < len(self.rules) else []:
            if (rule.pattern is None) != (request is None):
                continue
            if request is not None and not rule.pattern.fullmatch(request.hex()):
                continue
            if self.holds(rule.conditions, rule, request or b"", subscribed):
                break
        else:
            return None, []
        if len(self.runs) >= LIMIT:
            return ERRORS["insufficient-resources"], []
        self.last_run += 1
        run = Run(self.last_run, rule, request or b"", now)
        effects = []
        is_over, error = self.go(run, now, True, effects, subscribed)
        if not is_over:
            self.runs.append(run)
        return error, effects

    def advance(self, now, subscribed):
        """Does what is due by a time, in the order in which it is."""
        effects = []
        while due := [run for run in self.runs if run.due <= now]:
            run = min(due, key=lambda run: (run.due, run.number))
            self.runs.remove(run)
            if not self.go(run, run.due, False, effects, subscribed)[0]:
                self.runs.append(run)
        return effects

    def link_gone(self):
        self.state = self.states[0] if self.states else None
        self.runs = []

    def go(self, run, now, is_reply, effects, subscribed):
        """Goes on with an answer until it is over, or something is to be waited for."""
        while run.action < len(run.rule.actions):
            action = run.rule.actions[run.action]
            if not run.has_waited:
                run.has_waited = True
                if pause := nanoseconds(action.get("after", "0")):
                    run.due = now + pause
                    return False, None
            if run.has_begun or self.holds(action.get("if", {}), run.rule, run.request, subscribed):
                deed = next(key for key in DEEDS if key in action)
                # What goes over the air comes after the response.
                if is_reply and deed in ON_AIR:
                    return False, None
                if deed == "error":
                    return True, self.code(action["error"])
                if self.perform(deed, action, run, effects):
                    run.due = now + nanoseconds(action.get("every", "0"))
                    return False, None
            run.action += 1
            run.has_waited = run.has_begun = False
        return True, None

    @staticmethod
    def code(text):
        return int(text, 16) if text.startswith("0x") else ERRORS[text]

    def perform(self, deed, action, run, effects):
        """Does one thing, or one piece of it; true when more of it is to come."""
        if deed in ("notify", "indicate"):
            if not run.has_begun:
                run.bytes = self.value(action[deed], run.request)
            return self.send(deed, action, run, effects)
        if deed == "report":
            if not run.has_begun:
                run.records = self.chosen(action["report"], action, run.request)
            return self.report(action, run, effects)
        if deed == "set":
            effects.append(("set", self.place(action, run.rule), self.value(action["set"], run.request)))
        elif deed == "state":
            self.state = action["state"]
        elif deed == "variable":
            name = action["variable"]
            if "to" in action:
                self.variables[name] = self.number(action["to"], run.request) & MOST
            else:
                self.variables[name] = self.variables[name] + self.number(action["add"], run.request) & MOST
        elif deed == "count":
            self.variables[action["into"]] = len(self.chosen(action["count"], action, run.request))
        elif deed == "delete":
            gone = self.chosen(action["delete"], action, run.request)
            self.left[action["delete"]] = [place for place in self.left[action["delete"]] if place not in gone]
        elif deed == "cancel":
            self.runs = []
        elif deed == "disconnect":
            effects.append(("disconnect", None, None))
        return False

    def send(self, way, action, run, effects):
        run.has_begun = True
        place, every = self.place(action, run.rule), nanoseconds(action.get("every", "0"))
        while True:
            length = self.mtu - 3 if true(action.get("fragments")) else len(run.bytes)
            piece, run.bytes = run.bytes[:length], run.bytes[length:]
            effects.append((way, place, piece))
            if every or not run.bytes:
                return bool(run.bytes)

    def report(self, action, run, effects):
        run.has_begun = True
        while run.records or run.bytes:
            if not run.bytes:
                run.bytes = self.values[action["report"]][run.records.pop(0)]
            self.send(action.get("with", "notify"), action, run, effects)
            if nanoseconds(action.get("every", "0")):
                break
        return bool(run.records or run.bytes)

    def chosen(self, name, action, request):
        low = self.number(action["from"], request) & MOST if "from" in action else 0
        high = self.number(action["to"], request) & MOST if "to" in action else MOST
        within = [place for place in self.left[name] if low <= self.numbers[name][place] <= high]
        pick = action.get("pick", "all")
        return within if pick == "all" else within[:1] if pick == "first" else within[-1:]

    def place(self, action, rule):
        """The position of the characteristic that an action is about."""
        return self.named(action["on"], rule) if "on" in action else rule.own

    def named(self, uuid, rule):
        wanted = canonical(uuid)
        near = [place for place, each in enumerate(self.table) if each[:2] == (rule.service, wanted)]
        return (near or [place for place, each in enumerate(self.table) if each[1] == wanted])[0]

    def holds(self, conditions, rule, request, subscribed):
        return all(self.one_holds(key, wanted, rule, request, subscribed) for key, wanted in conditions.items())

    def one_holds(self, key, wanted, rule, request, subscribed):
        if key == "state":
            return self.state in listed(wanted)
        if key in ("same", "differ"):
            return (self.value(wanted[0], request) == self.value(wanted[1], request)) == (key == "same")
        if key == "less":
            return self.number(wanted[0], request) & MOST < self.number(wanted[1], request) & MOST
        if key in ("subscribed", "unsubscribed"):
            return all((self.named(uuid, rule) in subscribed) == (key == "subscribed") for uuid in listed(wanted))
        if isinstance(wanted, dict):
            return int(wanted.get("from", 0)) <= self.variables[key] <= int(wanted.get("to", MOST))
        return self.variables[key] == int(wanted)

    # Values

    def value(self, described, request):
        parts, value = listed(described), b""
        for index, part in enumerate(parts):
            if not isinstance(part, dict):
                value += octets(part)
            elif "request" in part:
                value += self.piece(part, request)
            else:
                after = sum(self.size(each, request) for each in parts[index + 1:])
                number = self.number(part, request, value, after)
                width = self.width(part)
                value += (number & (1 << 8 * width) - 1).to_bytes(width, part.get("order", "little"))
        return value[:LONGEST_VALUE]

    @staticmethod
    def width(part):
        return int(part.get("width", CHECKSUMS[part["crc"]][1] if "crc" in part else 1))

    @staticmethod
    def piece(part, request):
        start = int(part["request"])
        return request[start:start + int(part["count"])] if "count" in part else request[start:]

    def size(self, part, request):
        if not isinstance(part, dict):
            return len(octets(part))
        return len(self.piece(part, request)) if "request" in part else self.width(part)

    def number(self, described, request, before=b"", after=0):
        if not isinstance(described, dict):
            return int(described)
        if "request" in described:
            return int.from_bytes(self.piece(described, request), described.get("order", "little"))
        if "variable" in described:
            return self.variables[described["variable"]]
        if "length" in described:
            extent = described["length"]
            if extent == "before":
                return len(before)
            return after if extent == "after" else len(self.value(extent, request))
        extent = described.get("of", "before")
        data = before if extent == "before" else self.value(extent, request)
        start = self.variables[described["continues"]] if "continues" in described else None
        return CHECKSUMS[described["crc"]][0](data, start)


def checked(file):
    """The machine of a device file, once all that its rules name is there."""
    try:
        machine = Machine(file)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        found = f"answers that cannot be read ({type(error).__name__} {error})"
        raise wrong(file, found, "what Devices/README.md has under 'Devices that answer'") from None
    for rules in machine.rules:
        for rule in rules:
            check_conditions(machine, rule, rule.conditions)
            for action in listed(rule.actions):
                check_action(machine, rule, action)
    return machine


def check_action(machine, rule, action):
    deeds = [deed for deed in DEEDS if isinstance(action, dict) and deed in action]
    # `state` and the like are conditions, too, but stand in `if`.
    if len(deeds) != 1:
        raise wrong(action, "what is no thing to do", f"one of {', '.join(DEEDS)}")
    for key in ("after", "every"):
        if key in action:
            nanoseconds(action[key])
    check_conditions(machine, rule, action.get("if", {}))
    if "on" in action:
        check_known(machine, rule, action["on"])
    deed, said = deeds[0], action[deeds[0]]
    known = {"state": machine.states, "variable": machine.variables}
    known |= {each: machine.values for each in ("report", "count", "delete")}
    if deed in known and said not in known[deed]:
        names = ", ".join(known[deed])
        raise wrong(said, f"an unknown name '{said}'", f"one of {names}" if names else f"the device to have a {deed}")
    if deed == "count" and action.get("into") not in machine.variables:
        raise wrong(action, "'count' into no variable", "'into' with a variable")
    if deed == "error" and said not in ERRORS and not re.fullmatch(r"0x[0-9a-fA-F]{1,2}", said):
        raise wrong(said, f"'{said}'", "an ATT error such as value-not-allowed, or 0x80")


def check_conditions(machine, rule, conditions):
    if not isinstance(conditions, dict):
        raise wrong(conditions, "no conditions", "a mapping")
    for key, wanted in conditions.items():
        if key not in CONDITIONS and key not in machine.variables:
            known = [*CONDITIONS, *machine.variables]
            raise wrong(wanted, f"an unknown condition '{key}'", f"one of {', '.join(known)}", place_of(conditions))
        if key in ("subscribed", "unsubscribed"):
            for uuid in listed(wanted):
                check_known(machine, rule, uuid)


def check_known(machine, rule, uuid):
    try:
        machine.named(uuid, rule)
    except IndexError:
        known = ", ".join(each[1] for each in machine.table)
        raise wrong(uuid, f"an unknown characteristic '{uuid}'", f"one of {known}") from None


# Vectors

def told(effect):
    """An effect as the vectors have it."""
    return effect[0] if effect[1] is None else f"{effect[0]} {effect[1]} {effect[2].hex()}"


def played(machine, step):
    """What comes of one step of the vectors."""
    subscribed = set(step["subscribed"])
    if step["do"] == "gone":
        machine.link_gone()
        return None, []
    if step["do"] == "advance":
        return None, [told(effect) for effect in machine.advance(step["at"], subscribed)]
    request = bytes.fromhex(step["value"]) if step["do"] == "write" else None
    error, effects = machine.answer(request, step["on"], step["at"], subscribed)
    return error, [told(effect) for effect in effects]


def check(path):
    with open(path, encoding="utf-8") as text:
        devices = json.load(text)
    wrong_ones = count = 0
    for device in devices:
        machine = Machine(device["device"])
        for number, step in enumerate(device["steps"]):
            error, effects = played(machine, step)
            count += 1
            wanted = (step.get("error"), step["effects"], step.get("next"))
            if (error, effects, machine.next_due) != wanted:
                wrong_ones += 1
                print(f"{device['name']}, step {number}: {step} here gives {error}, {effects}, next {machine.next_due}")
                break
    print(f"{count} steps of {len(devices)} devices, {wrong_ones} otherwise")
    return 1 if wrong_ones or not count else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("answers: expected VECTORS.json", file=sys.stderr)
        sys.exit(2)
    sys.exit(check(sys.argv[1]))

"""Reads the files under Devices/Bluetooth; Devices/README.md describes them.

Each scalar stays text, since 180D, 2A37 and 0048 are not numbers, and knows its line, as lists and mappings do. What
a device plays is read by the functions below, which say file and line of what is wrong. Wakebench's own reader is
stricter: it refuses keys that no device has. Durations are in seconds.
"""

import os
import pathlib
import re
import stat

from .failures import FileError, NoFile

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION = re.compile(r"0|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
BASE = "-0000-1000-8000-00805F9B34FB"
# Octets of a device file, as Wakebench's reader takes them at most.
LONGEST_FILE = 4 << 20
LONGEST_VALUE = 512
KINDS = ("bluetooth-peripheral", "bluetooth-central", "ibeacon")


class Text(str):
    place = ""


class Several(list):
    place = ""


class Fields(dict):
    place = ""


def place_of(value, otherwise=""):
    """file:line of what was read from a file."""
    return getattr(value, "place", "") or otherwise


def wrong(value, found, expected, otherwise=""):
    return FileError(place_of(value, otherwise) or "device", found, expected)


def read(path):
    """The fields of a device file."""
    # What is decided without a file needs no PyYAML.
    import yaml

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise NoFile(f"{path}: no ordinary file; name a device file that can be read")
        if os.path.getsize(path) > LONGEST_FILE:
            raise FileError(path, f"{os.path.getsize(path)} bytes", f"at most {LONGEST_FILE}")
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise NoFile(f"{path}: {error.strerror}; name a device file that can be read") from None
    try:
        node = yaml.compose(data.decode(), Loader=yaml.BaseLoader)
    except UnicodeDecodeError:
        raise FileError(path, "bytes that are no UTF-8", "a device file in UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FileError(f"{path}:{line}", error.problem or "no YAML", "a device file in YAML") from None
    except yaml.YAMLError as error:
        raise FileError(path, str(error), "a device file in YAML") from None
    except RecursionError:
        raise FileError(path, "values in values without end", "a device file") from None
    file = plain(node, path, set()) if node is not None else Fields()
    if not isinstance(file, dict):
        raise wrong(file, "no mapping", "a device file, which begins with 'device:'")
    file.place = file.place or path
    kind = file.get("device")
    if kind not in KINDS:
        found = "no 'device'" if kind is None else f"device '{kind}'"
        raise wrong(kind, found, f"one of {', '.join(KINDS)}", place_of(file))
    return file


def plain(node, path, around):
    """What a node of YAML stands for, with its place. An anchor within itself is refused."""
    place = f"{path}:{node.start_mark.line + 1}"
    if node.id == "scalar":
        made = Text(node.value)
    elif id(node) in around:
        raise FileError(place, "a value within itself", "values without anchors")
    elif node.id == "sequence":
        made = Several(plain(each, path, around | {id(node)}) for each in node.value)
    else:
        made = Fields()
        for key, value in node.value:
            if key.id != "scalar":
                raise FileError(place, "a key that is no word", "a word")
            if key.value in made:
                raise FileError(f"{path}:{key.start_mark.line + 1}", f"a second '{key.value}'", "each key once")
            made[key.value] = plain(value, path, around | {id(node)})
    made.place = place
    return made


# Parts of a file

def required(fields, key):
    if not isinstance(fields, dict):
        raise wrong(fields, "no mapping", f"a mapping with '{key}'")
    if key not in fields:
        raise wrong(fields, f"no '{key}'", "one")
    return fields[key]


def several(fields, key):
    """The list under a key; an empty one without it."""
    value = fields.get(key) if isinstance(fields, dict) else required(fields, key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong(value, f"no list of {key}", "a list", place_of(fields))
    return value


def text(value, expected):
    if not isinstance(value, str):
        raise wrong(value, "no text", expected)
    return value


def seconds(value):
    """A duration: numbers with units, such as 152.5ms, 2s or 1h30m, or 0."""
    if not DURATION.fullmatch(text(value, "a duration such as 2s")):
        raise wrong(value, f"'{value}'", "a duration, such as 100ms, 2s or 1h30m")
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", value))


def nanoseconds(value):
    return round(seconds(value) * 1e9)


def octets(value, limit=LONGEST_VALUE):
    digits = text(value, "bytes such as \"0048\"").replace(" ", "")
    if len(digits) % 2 or not re.fullmatch(r"[0-9a-fA-F]*", digits):
        raise wrong(value, f"'{value}'", "bytes in hexadecimal, such as \"0048\"")
    if len(digits) > 2 * limit:
        raise wrong(value, f"{len(digits) // 2} bytes", f"at most {limit}")
    return bytes.fromhex(digits)


def integer(value, low, high):
    if not re.fullmatch(r"-?\d{1,12}", text(value, "a number")) or not low <= int(value) <= high:
        raise wrong(value, f"'{value}'", f"a number from {low} to {high}")
    return int(value)


def decimal(value, low, high):
    if not re.fullmatch(r"-?\d+(\.\d+)?", text(value, "a number")) or not low <= float(value) <= high:
        raise wrong(value, f"'{value}'", f"a number from {low} to {high}")
    return float(value)


def truth(value):
    if value not in ("true", "yes", "on", "false", "no", "off"):
        raise wrong(value, f"'{value}'", "true or false")
    return value in ("true", "yes", "on")


def word(value, among):
    if value not in among:
        raise wrong(value, f"'{value}'", f"one of {', '.join(among)}")
    return str(value)


def long(uuid):
    """The 36 capitals of a UUID."""
    capitals = str(uuid).upper()
    made = {4: "0000" + capitals + BASE, 8: capitals + BASE}.get(len(capitals), capitals)
    if not re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", made):
        raise wrong(uuid, f"'{uuid}'", "a UUID, such as 180D or 6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    return made


def canonical(uuid):
    """How a UUID is shown: four capitals for those of the Bluetooth base, else 36."""
    capitals = long(uuid)
    return capitals[4:8] if capitals.startswith("0000") and capitals.endswith(BASE) else capitals


def address(value):
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text(value, "an address")):
        raise wrong(value, f"'{value}'", "an address, such as \"F0:11:22:33:44:55\"")
    return str(value).upper()


def name(value):
    if not 1 <= len(text(value, "a name").encode()) <= 248:
        raise wrong(value, f"a name of {len(value.encode())} bytes", "1 to 248 bytes")
    return str(value)


def faults(fields, effects):
    """The faults of a device, {name: (key, value)}: each has one effect, which `effects` reads by its key."""
    known = {}
    for fault in several(fields, "faults"):
        called = text(required(fault, "name"), "a name")
        keys = [key for key in fault if key != "name"]
        if len(keys) != 1 or keys[0] not in effects:
            found = f"fault '{called}' with {', '.join(keys) or 'no effect'}"
            raise wrong(fault, found, f"one of {', '.join(effects)}")
        known[str(called)] = (keys[0], effects[keys[0]](fault[keys[0]]))
    return known


# Timetables

def spelled_out(fields, key):
    """[(seconds before the first value, seconds between values, values)], and whether it begins again."""
    entries = []
    for entry in several(fields, key):
        if isinstance(entry, dict) and "recorded" in entry:
            entries += [(pause, 0.0, [value]) for pause, value in recorded(entry["recorded"])]
        else:
            values, every = values_of(entry)
            entries.append((seconds(entry["after"]) if "after" in entry else 0.0, every, values))
    repeats = truth(fields["repeat"]) if "repeat" in fields else False
    if repeats and not any(after or every for after, every, _ in entries):
        raise wrong(fields["repeat"], "a repetition that takes no time", f"a pause in {key}", place_of(fields))
    return entries, repeats


def recorded(value):
    """A stream as it was captured: a pause and a value a line, where - is a value without bytes."""
    steps = []
    for line in text(value, "lines").splitlines():
        words = [type(value)(each) for each in line.split()]
        if len(words) != 2:
            raise wrong(value, f"'{line}'", "a pause and a value a line")
        for each in words:
            each.place = place_of(value)
        steps.append((seconds(words[0]), b"" if words[1] == "-" else octets(words[1])))
    return steps


def values_of(entry):
    """The values of an entry of a timetable, and the seconds from one to the next."""
    if not isinstance(entry, dict) or ("counter" in entry) == ("values" in entry):
        raise wrong(entry, "an entry of a timetable", "'values' or 'counter'")
    if "values" in entry:
        values = [octets(each) for each in several(entry, "values")]
        if not values or len(values) > 1 and "every" not in entry:
            raise wrong(entry, f"{len(values)} values", "one, or several with 'every'")
        return values, seconds(entry["every"]) if "every" in entry else 0.0
    counter = entry["counter"]
    prefix = octets(counter["prefix"], 508) if "prefix" in required_mapping(counter) else b"\0"
    width = integer(counter["width"], 1, 4) if "width" in counter else 2
    first = integer(counter["from"], 0, 0xFFFFFFFF) if "from" in counter else 0
    count, bound = integer(required(counter, "count"), 1, 10_000_000), 1 << 8 * width
    return Counted(prefix, width, first, count, bound), seconds(required(counter, "every"))


def required_mapping(value):
    if not isinstance(value, dict):
        raise wrong(value, "no mapping", "a mapping")
    return value


class Counted:
    """The values of a counter, made one by one."""

    def __init__(self, prefix, width, first, count, bound):
        self.prefix, self.width, self.first, self.count, self.bound = prefix, width, first, count, bound

    def __iter__(self):
        for step in range(self.count):
            yield self.prefix + ((self.first + step) % self.bound).to_bytes(self.width, "big")

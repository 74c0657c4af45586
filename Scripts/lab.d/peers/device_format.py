"""What the files under Devices have in common, for the programs that play them."""

import re

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def say(*words):
    print(*words, flush=True)


def seconds(text):
    """A duration of the device format: numbers with units, such as 152.5ms, 2s or 1h30m, or 0."""
    if not re.fullmatch(r"0|(\d+(\.\d+)?(ms|s|m|h|d))+", str(text)):
        raise SystemExit(f"'{text}' is no duration; write 100ms, 2s or 1h30m")
    return sum(
        float(number) * UNITS[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", str(text))
    )


def octets(text):
    return bytes.fromhex(str(text))


def flat(entries):
    """The entries of a timetable, with one for each line of what was recorded."""
    for entry in entries:
        if "recorded" not in entry:
            yield entry
            continue
        for line in entry["recorded"].splitlines():
            pause, value = line.split()
            yield {"after": pause, "values": ["" if value == "-" else value]}


def spelled_out(entry):
    """The values of an entry of a timetable, and the time from one to the next."""
    if "counter" not in entry:
        return [octets(value) for value in entry["values"]], entry.get("every", "0s")
    counter = entry["counter"]
    prefix, width = octets(counter.get("prefix", "00")), int(counter.get("width", 2))
    first, bound = int(counter.get("from", 0)), 1 << 8 * width
    return [
        prefix + ((first + step) % bound).to_bytes(width, "big") for step in range(int(counter["count"]))
    ], counter["every"]

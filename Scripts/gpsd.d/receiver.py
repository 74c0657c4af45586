"""A GNSS receiver on a terminal of its own, played from an NMEA log at the pace of the log's own times.

    receiver.py LOG.nmea

Prints the terminal's path first, and begins when a line comes on standard input. Ends with the log, when its standard input
does.
"""

import os
import pty
import sys
import time
import tty


def epochs(lines):
    """The sentences of one time, together, and the seconds since midnight that they say."""
    group, current = [], None
    for line in lines:
        fields = line.split(",")
        if fields[0][3:] in ("RMC", "GGA") and fields[1]:
            moment = int(fields[1][:2]) * 3600 + int(fields[1][2:4]) * 60 + float(fields[1][4:])
            if current is not None and moment != current:
                yield current, group
                group = []
            current = moment
        group.append(line)
    if group:
        yield current, group


receiver, line = pty.openpty()
tty.setraw(line)
path = os.ttyname(line)
# gpsd gives its rights away before it opens its receiver.
os.chmod(path, 0o666)
print(path, flush=True)
sys.stdin.readline()
with open(sys.argv[1], encoding="ascii") as log:
    sentences = [text.strip() for text in log if text.strip()]
began, first = time.monotonic(), None
for moment, group in epochs(sentences):
    first = moment if first is None else first
    time.sleep(max(0.0, began + (moment - first) % 86400 - time.monotonic()))
    os.write(receiver, "".join(text + "\r\n" for text in group).encode("ascii"))
sys.stdin.read()

"""Reading captures: usage captures.py WAKEBENCH FOLDER [MEGABYTES].

Writes a btsnoop of so many megabytes (300): the session of a belt, then its notifications again and again, as a stream of days has them. Has
wakebench import it three times, the file in memory, and says how many megabytes a second that is and how much memory it took; the same for a
tenth of the file, of which the whole may take little more memory. Then scapy, of PyPI, dissects the same packets in a pcap of a few megabytes as far as
ATT. Exits with 1 when wakebench counts other notifications than were written, or its memory grows with the file.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import time

wakebench, folder = sys.argv[1], pathlib.Path(sys.argv[2])
megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 300
session = pathlib.Path("Tests/WakeCapturesTests/Captures/belt-central.btsnoop").read_bytes()
# Microseconds from the year 0 to 1970.
EPOCH = 0x00DCDDB30F2F8000


def records():
    at = 16
    while at < len(session):
        length, flags = struct.unpack_from(">4xII", session, at)
        stamp = struct.unpack_from(">Q", session, at + 16)[0]
        yield stamp, flags, session[at + 24 : at + 24 + length]
        at += 24 + length


def is_notification(packet):
    return len(packet) > 9 and packet[0] == 2 and packet[7] == 4 and packet[9] in (0x1B, 0x1D)


def is_end(packet):
    return packet[0] == 4 and packet[1] == 5


class Stream:
    """The session, and then a stream of notifications and what controllers say between them, of which each comes 10 ms after the last."""

    def __init__(self):
        every = list(records())
        # Up to the first link's end, so that it stays up.
        end = next(place for place, each in enumerate(every) if is_end(each[2]))
        self.head = every[:end]
        told = [packet for _, _, packet in self.head if is_notification(packet)]
        completed = bytes([4, 0x13, 5, 1]) + told[0][1:3] + b"\1\0"
        self.turn = [(1, packet) for packet in told] + [(3, completed)]
        self.told = len(told)

    def btsnoop(self, path, size):
        """Writes it, and says how many notifications it has."""
        head = b"btsnoop\0" + struct.pack(">II", 1, 1002)
        head += b"".join(self.record(stamp, flags, packet) for stamp, flags, packet in self.head)
        stamp, count = self.head[-1][0], self.told
        with open(path, "wb") as file:
            written = file.write(head)
            while written < size:
                turns = []
                for _ in range(2000):
                    for flags, packet in self.turn:
                        stamp += 10_000
                        turns.append(self.record(stamp, flags, packet))
                count += 2000 * self.told
                written += file.write(b"".join(turns))
        return count

    @staticmethod
    def record(stamp, flags, packet):
        return struct.pack(">IIIIQ", len(packet), len(packet), flags, 0, stamp) + packet

    def pcap(self, path, size):
        with open(path, "wb") as file:
            written = file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 201))
            stamp = self.head[-1][0] - EPOCH
            while written < size:
                for flags, packet in self.turn:
                    stamp += 10_000
                    head = struct.pack("<IIII", *divmod(stamp, 1_000_000), len(packet) + 4, len(packet) + 4)
                    written += file.write(head + struct.pack(">I", flags & 1) + packet)


def imported(path):
    """What wakebench said of a file, the seconds that it took, and the most memory that it had, in MiB."""
    began = time.perf_counter()
    program = subprocess.Popen([wakebench, "import", path, "--json"], stdout=subprocess.PIPE)
    said = program.stdout.read()
    _, status, usage = os.wait4(program.pid, 0)
    if status:
        sys.exit(f"captures: wakebench import ended with {status}")
    return json.loads(said), time.perf_counter() - began, usage.ru_maxrss / 1024


def wakebench_speed(stream, size):
    path = folder / f"{size}.btsnoop"
    count = stream.btsnoop(path, size * 1_000_000)
    exact = path.stat().st_size / 1_000_000
    # Into the page cache, and not into this process: a child's peak begins with its parent's size.
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
    runs = [imported(path) for _ in range(3)]
    said = runs[0][0]
    found = sum(device["notifications"] for device in said["devices"])
    if found != count:
        sys.exit(f"captures: {count} notifications written, {found} read")
    best = exact / min(run[1] for run in runs)
    memory = max(run[2] for run in runs)
    total = sum(said["records"].values())
    print(f"wakebench: {exact:.0f} MB, {total} records, {count} notifications: {best:.0f} MB/s, {memory:.0f} MiB at most")
    path.unlink()
    return best, memory


def scapy_speed(stream):
    from scapy.layers.bluetooth import ATT_Handle_Value_Indication, ATT_Handle_Value_Notification
    from scapy.utils import PcapReader

    path = folder / "few.pcap"
    stream.pcap(path, 1_000_000)
    began, count = time.perf_counter(), 0
    with PcapReader(str(path)) as packets:
        for packet in packets:
            count += ATT_Handle_Value_Notification in packet or ATT_Handle_Value_Indication in packet
    took = time.perf_counter() - began
    # The same records in btsnoop have 4 bytes more each.
    speed = path.stat().st_size / 1_000_000 / took
    print(f"scapy: {path.stat().st_size / 1_000_000:.0f} MB, {count} notifications: {speed:.2f} MB/s")
    return speed


stream = Stream()
_, few = wakebench_speed(stream, max(1, megabytes // 10))
fast, many = wakebench_speed(stream, megabytes)
slow = scapy_speed(stream)
print(f"wakebench reads {fast / slow:.0f} times as fast as scapy")
if many > few * 1.5 + 16:
    sys.exit(f"captures: {few:.0f} MiB became {many:.0f} MiB with ten times the file")

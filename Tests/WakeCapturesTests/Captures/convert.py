"""Writes belt-central.btsnoop, which Bumble made, in the other formats: those that editcap writes by it, and those that no program of Linux
writes (PacketLogger, BlueZ's monitor, Nordic's sniffer) here. tshark reads them all, which notified.py shows."""

import gzip
import pathlib
import struct
import subprocess

HERE = pathlib.Path(__file__).parent
SOURCE = HERE / "belt-central.btsnoop"
# Microseconds from the year 0 to 1970.
EPOCH = 0x00DCDDB30F2F8000
CENTRAL, PERIPHERAL = bytes.fromhex("eeddccbbaaf0"), bytes.fromhex("5544332211f0")
ACCESS, ADVERTISING = 0x50655DAB, 0x8E89BED6


def records():
    """Microseconds since 1970, whether the host sent it, the packet with its type."""
    data = SOURCE.read_bytes()
    at = 16
    while at < len(data):
        _, length, flags, _, stamp = struct.unpack_from(">IIIIQ", data, at)
        yield stamp - EPOCH, not flags & 1, data[at + 24 : at + 24 + length]
        at += 24 + length


def packet_logger(order):
    kinds = {(1, True): 0, (4, False): 1, (2, True): 2, (2, False): 3}
    for time, sent, packet in records():
        head = (len(packet) + 8, *divmod(time, 1_000_000), kinds[packet[0], sent])
        yield struct.pack(order + "IIIB", *head) + packet[1:]


def monitor_kind(sent, packet):
    return {(1, True): 2, (4, False): 3, (2, True): 4, (2, False): 5}[packet[0], sent]


def monitor():
    yield b"btsnoop\0" + struct.pack(">II", 1, 2001)
    first = next(records())[0]
    # New Index: primary, on a virtual bus, with its address and name.
    added = bytes([0, 0]) + CENTRAL + b"hci0\0\0\0\0"
    yield struct.pack(">IIIIQ", len(added), len(added), 0, 0, first + EPOCH) + added
    last = first
    for last, sent, packet in records():
        size = len(packet) - 1
        yield struct.pack(">IIIIQ", size, size, monitor_kind(sent, packet), 0, last + EPOCH) + packet[1:]
    yield struct.pack(">IIIIQ", 0, 0, 1, 0, last + EPOCH)


def pcap(link_type, packets, order="<", nanoseconds=False):
    yield struct.pack(order + "IHHIIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for time, packet in packets:
        seconds, rest = divmod(time, 1_000_000)
        yield struct.pack(order + "IIII", seconds, rest * (1000 if nanoseconds else 1), len(packet), len(packet)) + packet


def linux_monitor():
    for time, sent, packet in records():
        yield time, struct.pack(">HH", 0, monitor_kind(sent, packet)) + packet[1:]


class Sniffer:
    """What a sniffer of Nordic's would have heard of the same session."""

    def __init__(self):
        self.counter = 0
        self.sequence = {True: 0, False: 0}

    def heard(self, access, pdu, sent=True, good=True):
        self.counter += 1
        payload = struct.pack("<I", access) + pdu + bytes(3)
        flags = (1 if good else 0) | (2 if sent and access != ADVERTISING else 0)
        body = struct.pack("<BBBBHI", 10, flags, 37, 50, self.counter, 150) + payload
        kind = 2 if access == ADVERTISING else 6
        return b"\x01" + struct.pack("<HBHB", len(body), 3, self.counter, kind) + body

    def data(self, kind, body, sent):
        header = kind | self.sequence[sent] << 3
        self.sequence[sent] ^= 1
        return bytes([header, len(body)]) + body

    def advertisement(self, report):
        # One report of HCI, as the packet on the air.
        kind = {0: 0, 4: 4}[report[0]]
        data = report[9 : 9 + report[8]]
        return bytes([kind | 0x40, 6 + len(data)]) + report[2:8] + data

    def packets(self):
        for time, sent, packet in records():
            if packet[0] == 4 and packet[1] == 0x3E and packet[3] == 2:
                yield time, self.heard(ADVERTISING, self.advertisement(packet[5:]))
            elif packet[0] == 4 and packet[1] == 0x3E and packet[3] in (1, 10):
                self.sequence = {True: 0, False: 0}
                link = struct.pack("<I3sBHHHH5sB", ACCESS, b"\1\2\3", 2, 4, 12, 0, 72, b"\xff\xff\xff\xff\x1f", 5)
                yield time, self.heard(ADVERTISING, bytes([0xC5, 34]) + CENTRAL + PERIPHERAL + link)
            elif packet[0] == 4 and packet[1] == 5:
                yield time, self.heard(ACCESS, self.data(3, b"\x02\x13", True), True)
            elif packet[0] == 2:
                yield from self.fragments(time, sent, packet[5:])

    def fragments(self, time, sent, whole):
        for start in range(0, len(whole), 27):
            pdu = self.data(1 if start else 2, whole[start : start + 27], sent)
            yield time, self.heard(ACCESS, pdu, sent)
            if self.counter % 5 == 0:
                # Not acknowledged, so sent again; and once more, damaged.
                yield time, self.heard(ACCESS, pdu, sent)
                yield time, self.heard(ACCESS, pdu[:-1] + b"\x55", sent, good=False)


def write(name, parts):
    (HERE / name).write_bytes(b"".join(parts))


write("belt-old.pklg", packet_logger(">"))
write("belt-new.pklg", packet_logger("<"))
write("belt-monitor.btsnoop", monitor())
write("belt-monitor.pcap", pcap(254, linux_monitor(), ">", nanoseconds=True))
write("belt-sniffer.pcap", pcap(272, Sniffer().packets()))
for name, kind in (("belt.pcapng", "pcapng"), ("belt-nanoseconds.pcap", "nsecpcap")):
    subprocess.run(["editcap", "-F", kind, HERE / "belt-central.pcap", HERE / name], check=True)
# Two sections, of which the second has the notifications.
for name, part in (("first.pcapng", "1-200"), ("second.pcapng", "201-9999")):
    subprocess.run(["editcap", "-r", "-F", "pcapng", HERE / "belt-central.pcap", HERE / name, part], check=True)
write("belt-sections.pcapng", [(HERE / "first.pcapng").read_bytes(), (HERE / "second.pcapng").read_bytes()])
for name in ("first.pcapng", "second.pcapng"):
    (HERE / name).unlink()
# Packed in two parts, one behind the other, as gzip and others write long files.
whole = (HERE / "belt-central.pcap").read_bytes()
write("belt-parts.pcap.gz", [gzip.compress(part, mtime=0) for part in (whole[:5000], whole[5000:])])

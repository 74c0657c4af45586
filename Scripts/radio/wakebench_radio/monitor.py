"""What goes between the host and its controller, as the kernel's HCI monitor tells it (include/net/bluetooth/hci_mon.h).

Each packet of a monitor's socket has a head of three numbers of two octets, least significant first: an opcode, N of
the adapter's hciN and the length of what follows.
"""

import logging
import socket

from .packets import PacketSocket, packet_pair

log = logging.getLogger(__name__)

NEW_INDEX, DEL_INDEX, INDEX_INFO, SYSTEM_NOTE = 0, 1, 10, 12
# By type of an HCI packet (Core 5.4, Vol 4, Part A, 2): the opcodes of one that is sent and of one that comes.
OPCODES = {1: (2, 2), 2: (4, 5), 3: (6, 7), 4: (3, 3), 5: (18, 19)}
# Octets that wait for a reader: more than a second of a busy link.
MOST_WAITING = 1 << 20
# A primary controller on a virtual bus.
KIND_AND_BUS = b"\0\0"
# SO_TIMESTAMP of Linux, which Python has no name for: the reader gets the time at which a frame was written.
TIMESTAMP = getattr(socket, "SO_TIMESTAMP", 29)


class Monitor(PacketSocket):
    """One reader's socket. What it does not take in time is lost, and counted in a note once it reads again."""

    def __init__(self, ours, index, closed):
        super().__init__(ours, MOST_WAITING, lambda packet: None, closed)
        self.index, self.lost = index, 0

    def tell(self, frame):
        # While some are lost the rest is, too, so that the note stands where they would.
        if self.lost or not self.send(frame):
            self.lost += 1

    def emptied(self):
        if self.lost:
            note = f"wakebench: {self.lost} frames lost\0".encode()
            self.lost = 0
            self.send(frame_of(SYSTEM_NOTE, self.index, note))


class Monitors:
    """The readers of one adapter. The radio is tapped while there is one.

    `radio` gives the radio that is used now.
    """

    def __init__(self, index, radio):
        self.index, self.radio = index, radio
        self.readers = []
        # Whether the adapter is there: frames before its New Index are told to no reader.
        self.there = False

    def open(self):
        """The client's socket of a new reader."""
        ours, theirs = packet_pair()
        theirs.setsockopt(socket.SOL_SOCKET, TIMESTAMP, 1)
        reader = Monitor(ours, self.index, lambda: self.closed(reader))
        self.readers.append(reader)
        self.introduce([reader])
        self.tap()
        return theirs

    def closed(self, reader):
        self.readers.remove(reader)
        self.tap()

    def tap(self):
        self.radio().tap(self.packet if self.readers and self.there else None)

    def introduce(self, readers):
        radio = self.radio()
        address = bytes(radio.address)
        version = radio.host.local_version
        manufacturer = (version.company_identifier if version else 0).to_bytes(2, "little")
        for each in readers:
            each.tell(frame_of(NEW_INDEX, self.index, KIND_AND_BUS + address + f"hci{self.index}".encode().ljust(8, b"\0")))
            each.tell(frame_of(INDEX_INFO, self.index, address + manufacturer))

    def came(self):
        """The adapter is there, or there again."""
        self.there = True
        if self.readers:
            self.introduce(self.readers)
            self.tap()

    def went(self):
        self.there = False
        if self.readers:
            self.tap()
        for each in self.readers:
            each.tell(frame_of(DEL_INDEX, self.index))

    def packet(self, packet, sent):
        """One packet as it is on the transport, with its type before it; those of unknown types are left out."""
        opcodes = OPCODES.get(packet[0])
        if opcodes is None or len(packet) > 0x10000:
            return
        frame = frame_of(opcodes[0 if sent else 1], self.index, packet[1:])
        for each in self.readers:
            each.tell(frame)


def frame_of(opcode, index, octets=b""):
    return b"".join(number.to_bytes(2, "little") for number in (opcode, index, len(octets))) + octets

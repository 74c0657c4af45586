"""The Attribute Protocol's server on one link: what a peer asks of the adapter's table.

Nothing waits here: an attribute of an application calls back when it has answered, in the order of the bus, so that a
value that the application sends behind its answer is behind it on the air, too. Bumble's own server answers in tasks of
their own, gives a long read as several reads of the whole, and leaves requests without an answer (gatt_server.py).
"""

import asyncio
import collections
import itertools
import logging
import struct

from bumble.att import ErrorCode

from .bearer import LONGEST_MTU, LONGEST_VALUE
from .table import DATABASE_HASH, ENCRYPTED, FORBIDDEN, OPEN, PRIMARY, SECONDARY, shortened

log = logging.getLogger(__name__)

# Requests that may wait behind the one under way, which a peer of the protocol never sends; parts of prepared writes
# that do not follow each other (BlueZ, gatt-server.c); values that wait for confirmations, and commands for their
# application; packets of values that wait for the controller.
MOST_REQUESTS, MOST_PARTS, MOST_INDICATIONS, MOST_COMMANDS, MOST_PACKETS = 16, 30, 1024, 1024, 4096
# Seconds for a confirmation (Core 5.4, Vol 3, Part F, 3.3.3).
CONFIRMING = 30
ERROR, CONFIRMATION, COMMAND = 0x01, 0x1E, 0x40
NOTIFICATION, INDICATION, WRITE_COMMAND = 0x1B, 0x1D, 0x52
READ_BY_TYPE = 0x08


class Refusal(Exception):
    """A request is refused: an ATT error code, and the handle that it is about."""

    def __init__(self, code, handle=0):
        super().__init__(code)
        self.code, self.handle = code, handle


class Link:
    """What one peer asks, one request at a time, and the values that it is sent.

    `bearer` has the connection; `level()` says how secure it is, from OPEN to SECURE; `end(reason)` ends it.
    """

    def __init__(self, table, bearer, place, level, end):
        self.table, self.bearer, self.place, self.level, self.end = table, bearer, place, level, end
        # By configuration: its bits. And what the peer said in Client Supported Features.
        self.subscriptions, self.features = {}, 0
        # The request under way: its code, and its number, by which late answers are told.
        self.asked, self.turn = None, 0
        self.waiting = collections.deque()
        # Prepared writes: [handle, offset, octets].
        self.prepared = []
        # Indications: (handle, value, what is called when it is confirmed); the first one is on the air.
        self.indications, self.confirming = collections.deque(), None
        self.commands = self.lost = 0
        # Robust caching: the table changed, and the peer has been told so by an error.
        self.is_unaware = self.is_told = False
        self.is_given_up = self.ended = False

    # Packets

    def send(self, packet):
        if self.bearer.alive:
            self.bearer.send(packet)

    def hear(self, packet):
        code = packet[0]
        if self.ended or self.is_given_up:
            return
        if code == CONFIRMATION:
            self.confirmed()
        elif code & COMMAND:
            if code == WRITE_COMMAND and len(packet) >= 3 and not self.is_unaware:
                self.command(struct.unpack_from("<H", packet, 1)[0], packet[3:])
        elif self.asked is None:
            self.begin(packet)
        elif len(self.waiting) < MOST_REQUESTS:
            self.waiting.append(packet)
        else:
            self.give_up("it does not wait for answers")

    def give_up(self, reason):
        """The peer does not keep to the protocol. What it still says is not heard."""
        if not self.is_given_up:
            self.is_given_up = True
            self.end(reason)

    def begin(self, packet):
        self.asked = packet[0]
        self.turn += 1
        try:
            self.check_table(packet)
            handler = self.handlers.get(self.asked)
            if handler is None:
                raise Refusal(ErrorCode.REQUEST_NOT_SUPPORTED)
            handler(self, packet)
        except Refusal as refusal:
            self.refuse(refusal.code, refusal.handle)
        except struct.error:
            self.refuse(ErrorCode.INVALID_PDU)
        except Exception:
            log.exception("%s: a request failed: %s", self.place, packet.hex())
            self.refuse(ErrorCode.UNLIKELY_ERROR)

    def answer(self, packet):
        self.asked = None
        self.send(packet)
        if self.waiting and not self.ended:
            self.begin(self.waiting.popleft())

    def refuse(self, code, handle=0):
        self.answer(struct.pack("<BBHB", ERROR, self.asked, handle, code))

    def answerer(self, attribute, then):
        """What an attribute answers with: `then(value)` goes on, an error is the request's answer."""
        turn = self.turn

        def answered(code, value=b""):
            if self.ended or self.turn != turn or self.asked is None:
                return
            if code:
                self.refuse(code, attribute.handle)
            else:
                then(value)

        return answered

    def check_table(self, packet):
        """Robust caching (Core 5.4, Vol 3, Part G, 2.5.2.1): a peer that may know an old table hears of that once."""
        if not self.is_unaware:
            return
        reads_hash = packet[0] == READ_BY_TYPE and packet[5:] == DATABASE_HASH
        if reads_hash or self.is_told:
            self.is_unaware = self.is_told = False
        else:
            self.is_told = True
            raise Refusal(ErrorCode.DATABASE_OUT_OF_SYNC)

    # Access

    def attribute(self, handle):
        found = self.table.attributes.get(handle)
        if found is None:
            raise Refusal(ErrorCode.INVALID_HANDLE, handle)
        return found

    def check(self, needed, attribute, forbidden):
        if needed == FORBIDDEN:
            raise Refusal(forbidden, attribute.handle)
        if needed != OPEN and self.level() < needed:
            lacks = ErrorCode.INSUFFICIENT_ENCRYPTION if needed == ENCRYPTED else ErrorCode.INSUFFICIENT_AUTHENTICATION
            raise Refusal(lacks, attribute.handle)

    def read(self, attribute, offset, then):
        self.check(attribute.read, attribute, ErrorCode.READ_NOT_PERMITTED)
        if attribute.source is not None:
            attribute.source.read(self, attribute, offset, self.answerer(attribute, then))
        elif offset > len(attribute.value):
            raise Refusal(ErrorCode.INVALID_OFFSET, attribute.handle)
        else:
            then(attribute.value[offset:])

    def exchange_mtu(self, packet):
        theirs, = unpack("<H", packet)
        self.bearer.set_mtu(theirs)
        self.answer(struct.pack("<BH", 0x03, LONGEST_MTU))

    def read_value(self, packet):
        handle, = unpack("<H", packet)
        self.read(self.attribute(handle), 0, lambda value: self.answer(b"\x0b" + value[:self.bearer.mtu - 1]))

    def read_part(self, packet):
        handle, offset = unpack("<HH", packet)
        self.read(self.attribute(handle), offset, lambda value: self.answer(b"\x0d" + value[:self.bearer.mtu - 1]))

    def write(self, attribute, value, offset, kind, then):
        self.check(attribute.write, attribute, ErrorCode.WRITE_NOT_PERMITTED)
        attribute.source.write(self, attribute, value, offset, kind, self.answerer(attribute, then))

    def write_value(self, packet):
        handle, = struct.unpack_from("<H", packet, 1)
        self.write(self.attribute(handle), packet[3:], 0, "request", lambda _: self.answer(b"\x13"))

    def command(self, handle, value):
        """A write without an answer: what is not permitted is dropped, and what an application does not keep up with."""
        attribute = self.table.attributes.get(handle)
        if attribute is None or self.commands >= MOST_COMMANDS:
            return
        try:
            self.check(attribute.write, attribute, ErrorCode.WRITE_NOT_PERMITTED)
        except Refusal:
            return
        self.commands += 1

        def answered(code, value=b""):
            self.commands -= 1

        attribute.source.write(self, attribute, value, 0, "command", answered)

    def prepare(self, packet):
        handle, offset = struct.unpack_from("<HH", packet, 1)
        attribute, value = self.attribute(handle), packet[5:]
        self.check(attribute.write, attribute, ErrorCode.WRITE_NOT_PERMITTED)
        last = self.prepared[-1] if self.prepared else None
        if last and last[0] == handle and last[1] + len(last[2]) == offset and len(last[2]) + len(value) <= LONGEST_VALUE:
            last[2] += value
        elif len(self.prepared) < MOST_PARTS:
            self.prepared.append([handle, offset, value])
        else:
            raise Refusal(ErrorCode.PREPARE_QUEUE_FULL, handle)
        self.answer(b"\x17" + packet[1:])

    def execute(self, packet):
        flags, = unpack("<B", packet)
        parts, self.prepared = self.prepared, []
        if flags == 1:
            self.execute_next(collections.deque(parts))
        else:
            self.answer(b"\x19")

    def execute_next(self, parts):
        """One write for each stretch of parts, in order; the first that is refused ends it."""
        if not parts:
            self.answer(b"\x19")
            return
        handle, offset, value = parts.popleft()
        try:
            self.write(self.attribute(handle), value, offset, "reliable", lambda _: self.execute_next(parts))
        except Refusal as refusal:
            # It may come behind the answer of an application, where no other code takes it.
            self.refuse(refusal.code, refusal.handle)

    # Discovery

    def asked_range(self, packet):
        start, end = struct.unpack_from("<HH", packet, 1)
        if not 0 < start <= end:
            raise Refusal(ErrorCode.INVALID_HANDLE, start)
        return start, self.table.within(start, end)

    def answer_list(self, code, start, entries):
        """Answers with entries of one length, as many as fit. `entries` are octets, in order."""
        if not entries:
            raise Refusal(ErrorCode.ATTRIBUTE_NOT_FOUND, start)
        length, room = min(len(entries[0]), self.bearer.mtu - 2, 255), self.bearer.mtu - 2
        said = entries[0][:length]
        for each in entries[1:]:
            if len(each) != length or len(said) + length > room:
                break
            said += each
        self.answer(bytes([code, length]) + said)

    def find_information(self, packet):
        unpack("<HH", packet)
        start, found = self.asked_range(packet)
        if not found:
            raise Refusal(ErrorCode.ATTRIBUTE_NOT_FOUND, start)
        size, said = len(found[0].type), b""
        for each in found:
            if len(each.type) != size or len(said) + 2 + size > self.bearer.mtu - 2:
                break
            said += struct.pack("<H", each.handle) + each.type
        self.answer(bytes([0x05, 1 if size == 2 else 2]) + said)

    def find_by_value(self, packet):
        start, found = self.asked_range(packet)
        kind, value = packet[5:7], packet[7:]
        if len(kind) != 2:
            raise Refusal(ErrorCode.INVALID_PDU)
        said = b"".join(
            struct.pack("<HH", each.handle, each.end or each.handle) for each in found
            if each.type == kind and each.value == value
        )
        if not said:
            raise Refusal(ErrorCode.ATTRIBUTE_NOT_FOUND, start)
        self.answer(b"\x07" + said[:(self.bearer.mtu - 1) // 4 * 4])

    def read_by_type(self, packet):
        start, found = self.asked_range(packet)
        kind = self.kind(packet[5:])
        found = [each for each in found if each.type == kind]
        if not found:
            raise Refusal(ErrorCode.ATTRIBUTE_NOT_FOUND, start)
        if found[0].value is None:
            # The peer asks for those behind it by another request.
            head = struct.pack("<H", found[0].handle)
            self.read(found[0], 0, lambda value: self.answer_list(0x09, start, [head + value]))
            return
        self.check(found[0].read, found[0], ErrorCode.READ_NOT_PERMITTED)
        plain = itertools.takewhile(lambda each: each.value is not None, found)
        self.answer_list(0x09, start, [struct.pack("<H", each.handle) + each.value for each in plain])

    def read_by_group(self, packet):
        start, found = self.asked_range(packet)
        kind = self.kind(packet[5:])
        if kind not in (PRIMARY, SECONDARY):
            raise Refusal(ErrorCode.UNSUPPORTED_GROUP_TYPE, start)
        self.answer_list(0x11, start, [
            struct.pack("<HH", each.handle, each.end) + each.value for each in found if each.type == kind
        ])

    @staticmethod
    def kind(octets):
        if len(octets) not in (2, 16):
            raise Refusal(ErrorCode.INVALID_PDU)
        return shortened(octets)

    handlers = {
        0x02: exchange_mtu, 0x04: find_information, 0x06: find_by_value, 0x08: read_by_type, 0x0A: read_value,
        0x0C: read_part, 0x10: read_by_group, 0x12: write_value, 0x16: prepare, 0x18: execute,
    }

    # Values

    def notify(self, handle, value):
        if self.bearer.queue.pending >= MOST_PACKETS:
            if not self.lost:
                log.warning("%s: the controller does not keep up; notifications are lost", self.place)
            self.lost += 1
            return
        self.send(struct.pack("<BH", NOTIFICATION, handle) + value[:self.bearer.mtu - 3])

    def indicate(self, handle, value, on_confirmed=lambda: None):
        """Sends an indication behind those that wait. Without a confirmation within 30 s the link is ended."""
        if len(self.indications) >= MOST_INDICATIONS:
            log.warning("%s: an indication is lost: too many wait for their confirmations", self.place)
            return
        self.indications.append((handle, value, on_confirmed))
        if len(self.indications) == 1:
            self.indicate_first()

    def indicate_first(self):
        handle, value, _ = self.indications[0]
        self.send(struct.pack("<BH", INDICATION, handle) + value[:self.bearer.mtu - 3])
        self.confirming = asyncio.get_running_loop().call_later(
            CONFIRMING, self.give_up, "it does not confirm an indication"
        )

    def confirmed(self):
        if not self.indications:
            return
        self.confirming.cancel()
        handle, _, on_confirmed = self.indications.popleft()
        if handle == self.table.service_changed.handle:
            self.is_unaware = self.is_told = False
        on_confirmed()
        if self.indications and not self.ended:
            self.indicate_first()

    def table_changed(self, start, end):
        if self.features:
            self.is_unaware, self.is_told = True, False
        if self.subscriptions.get(self.table.changes):
            self.indicate(self.table.service_changed.handle, struct.pack("<HH", start, end))

    # Ends

    def close(self):
        """The link is gone: no answer is sent, and its subscriptions end."""
        self.ended = True
        if self.confirming is not None:
            self.confirming.cancel()
        self.waiting.clear()
        self.indications.clear()
        subscriptions, self.subscriptions = self.subscriptions, {}
        for each in subscriptions:
            if each.listener is not None:
                each.listener.unsubscribed(self)


def unpack(form, packet):
    """The fields of a request that has these and nothing else."""
    if len(packet) != 1 + struct.calcsize(form):
        raise Refusal(ErrorCode.INVALID_PDU)
    return struct.unpack_from(form, packet, 1)

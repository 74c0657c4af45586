"""The table of attributes that an adapter serves: GAP, GATT, and the services of applications.

An attribute with a `value` is answered from it. Any other has a `source`, whose `read(link, attribute, offset, answer)`
and `write(link, attribute, value, offset, kind, answer)` call `answer(code, value)`: an ATT error code, or 0 and a value.
"""

import dataclasses
import struct

from bumble import crypto
from bumble.att import ErrorCode

from .bearer import canonical

PRIMARY, SECONDARY, CHARACTERISTIC = (struct.pack("<H", each) for each in (0x2800, 0x2801, 0x2803))
EXTENDED, CONFIGURATION = struct.pack("<H", 0x2900), struct.pack("<H", 0x2902)
DATABASE_HASH = struct.pack("<H", 0x2B2A)
# Attributes whose values, or types alone, make the Database Hash (Core 5.4, Vol 3, Part G, 7.3.1).
HASHED = {struct.pack("<H", each) for each in (0x2800, 0x2801, 0x2802, 0x2803, 0x2900)}
HASHED_TYPES = {struct.pack("<H", each) for each in (0x2901, 0x2902, 0x2903, 0x2904, 0x2905)}
# The Bluetooth Base UUID as it is on the air, without its last four octets: a short UUID stands there.
BASE = bytes.fromhex("fb349b5f8000008000100000")
READ, WRITE, NOTIFY, INDICATE = 0x02, 0x08, 0x10, 0x20
# What a link has to be for an access: anything, encrypted, encrypted by a key that was compared or entered, and that by
# LE Secure Connections. FORBIDDEN is never met.
OPEN, ENCRYPTED, AUTHENTICATED, SECURE, FORBIDDEN = range(5)
APPEARANCE = bytes(2)


def uuid_octets(text):
    """A UUID in any of its forms as it is on the air: 2 octets where it is short, else 16, least significant first.

    Raises ValueError.
    """
    letters = canonical(text)
    if letters is None:
        raise ValueError(f"no UUID: {text}")
    return shortened(bytes.fromhex(letters.replace("-", ""))[::-1])


def shortened(octets):
    """The long form of a short UUID is the same UUID."""
    return octets[12:14] if len(octets) == 16 and octets[:12] == BASE and octets[14:] == b"\0\0" else octets


@dataclasses.dataclass(eq=False)
class Attribute:
    """`end` is the last handle of a service's group; `read` and `write` are OPEN to FORBIDDEN."""

    type: bytes
    value: bytes = None
    read: int = OPEN
    write: int = FORBIDDEN
    source: object = None
    handle: int = 0
    end: int = 0


class Configuration:
    """The source of a Client Characteristic Configuration: each link has its own.

    `listener` has `subscribed(link)` and `unsubscribed(link)`.
    """

    def __init__(self, properties, listener=None):
        self.allowed = (1 if properties & NOTIFY else 0) | (2 if properties & INDICATE else 0)
        self.listener = listener

    def read(self, link, attribute, offset, answer):
        value = bytes([link.subscriptions.get(self, 0), 0])
        answer(*((ErrorCode.INVALID_OFFSET, b"") if offset > 2 else (0, value[offset:])))

    def write(self, link, attribute, value, offset, kind, answer):
        if offset or len(value) != 2:
            answer(ErrorCode.INVALID_OFFSET if offset else ErrorCode.INVALID_ATTRIBUTE_LENGTH, b"")
            return
        bits, before = int.from_bytes(value, "little"), link.subscriptions.get(self, 0)
        if bits & ~self.allowed:
            answer(ErrorCode.CCCD_IMPROPERLY_CONFIGURED, b"")
            return
        if bits:
            link.subscriptions[self] = bits
        else:
            link.subscriptions.pop(self, None)
        # The answer goes out at once, as with bluetoothd; values that the application sends on it come behind.
        answer(0, b"")
        if self.listener is not None and bool(bits) != bool(before):
            (self.listener.subscribed if bits else self.listener.unsubscribed)(link)


class ClientFeatures:
    """The source of Client Supported Features (2B29): what a link said stays said."""

    def read(self, link, attribute, offset, answer):
        answer(*((ErrorCode.INVALID_OFFSET, b"") if offset > 1 else (0, bytes([link.features])[offset:])))

    def write(self, link, attribute, value, offset, kind, answer):
        if offset or not value:
            answer(ErrorCode.INVALID_OFFSET if offset else ErrorCode.INVALID_ATTRIBUTE_LENGTH, b"")
        elif link.features & ~value[0]:
            answer(ErrorCode.VALUE_NOT_ALLOWED, b"")
        else:
            # Robust caching alone: there are no enhanced bearers, and no notifications of several values.
            link.features = value[0] & 1
            answer(0, b"")


class Live:
    """The source of a value that is made when it is read: `value()`."""

    def __init__(self, value):
        self.value = value

    def read(self, link, attribute, offset, answer):
        value = self.value()
        answer(*((ErrorCode.INVALID_OFFSET, b"") if offset > len(value) else (0, value[offset:])))


def service(uuid, *characteristics, primary=True):
    """The attributes of a service, without handles. Each characteristic is a list that `characteristic` made."""
    made = [Attribute(PRIMARY if primary else SECONDARY, uuid)]
    for each in characteristics:
        made += each
    return made


def characteristic(uuid, properties, value, *descriptors):
    """Its declaration, its value and what describes it. The declaration's value is completed with the handles."""
    return [Attribute(CHARACTERISTIC, bytes([properties]) + bytes(2) + uuid), value, *descriptors]


class Table:
    """Attributes by handle, in order. Handles of a service that went are not given again as long as others are free.

    `name` is a function that gives the device's name. `changed(start, end)` is called for each service that comes or
    goes.
    """

    def __init__(self, name, changed):
        self.attributes, self.highest = {}, 0
        self.hash = None
        self.changed = lambda start, end: None
        short = uuid_octets
        self.add(service(
            short("1800"),
            characteristic(
                short("2A00"), READ, Attribute(short("2A00"), source=Live(lambda: name().encode()[:248]))
            ),
            characteristic(short("2A01"), READ, Attribute(short("2A01"), APPEARANCE)),
        ))
        self.service_changed = Attribute(short("2A05"), read=FORBIDDEN)
        self.changes = Configuration(INDICATE)
        self.add(service(
            short("1801"),
            characteristic(
                short("2A05"), INDICATE, self.service_changed,
                Attribute(CONFIGURATION, write=OPEN, source=self.changes),
            ),
            characteristic(
                short("2B29"), READ | WRITE, Attribute(short("2B29"), write=OPEN, source=ClientFeatures())
            ),
            characteristic(DATABASE_HASH, READ, Attribute(DATABASE_HASH, source=Live(self.digest))),
        ))
        self.changed = changed

    def add(self, attributes, wished=0):
        """Gives a service's attributes their handles, from `wished` on if that is not 0. False if there is no room."""
        first = self.place(len(attributes), wished)
        if first is None:
            return False
        for handle, each in enumerate(attributes, first):
            each.handle = handle
            if each.type == CHARACTERISTIC:
                each.value = each.value[:1] + struct.pack("<H", handle + 1) + each.value[3:]
        attributes[0].end = attributes[-1].handle
        self.attributes.update({each.handle: each for each in attributes})
        self.attributes = dict(sorted(self.attributes.items()))
        self.highest = max(self.highest, attributes[0].end)
        self.hash = None
        self.changed(first, attributes[0].end)
        return True

    def place(self, count, wished):
        places = [wished] if wished else [self.highest + 1] + [each.end + 1 for each in self.services()]
        for first in places:
            last = first + count - 1
            if last <= 0xFFFF and not any(each.handle <= last and each.end >= first for each in self.services()):
                return first
        return None

    def remove(self, attributes):
        for each in attributes:
            del self.attributes[each.handle]
        self.hash = None
        self.changed(attributes[0].handle, attributes[0].end)

    def services(self):
        return [each for each in self.attributes.values() if each.end]

    def within(self, start, end):
        return [each for handle, each in self.attributes.items() if start <= handle <= end]

    def digest(self):
        """The Database Hash: 16 octets, least significant first."""
        if self.hash is None:
            said = b""
            for handle, each in self.attributes.items():
                if each.type in HASHED:
                    said += struct.pack("<H", handle) + each.type + each.value
                elif each.type in HASHED_TYPES:
                    said += struct.pack("<H", handle) + each.type
            self.hash = crypto.aes_cmac(said, bytes(16))[::-1]
        return self.hash

"""LEAdvertisingManager1: what clients advertise."""

import asyncio
import logging
import struct

from dbus_fast import Variant

from .bus import PROPERTIES, Interface, Refused, exported
from .host import LinkEnded, RadioFailure
from .table import uuid_octets

log = logging.getLogger(__name__)

ADVERTISEMENT = "org.bluez.LEAdvertisement1"
# Seconds that a client has to tell its advertisement, and for calls whose answers are not waited for.
READING, TELLING = 10, 25
# Octets of a legacy advertisement and of its scan response (Core 5.4, Vol 6, Part B, 2.3.1.3).
LONGEST = 31
# Milliseconds between advertisements where the client says nothing: TGAP(adv_fast_interval2) (Core 5.4, Vol 3, Part C,
# Appendix A). The range of what it can say is BlueZ's.
INTERVAL = 100, 150
SHORTEST_INTERVAL, LONGEST_INTERVAL = 20, 10_485
# By property: its type.
SIGNATURES = {
    "Type": "s", "ServiceUUIDs": "as", "SolicitUUIDs": "as", "ManufacturerData": "a{qv}", "ServiceData": "a{sv}",
    "Data": "a{yv}", "Discoverable": "b", "Includes": "as", "LocalName": "s", "Appearance": "q", "Timeout": "q",
    "MinInterval": "u", "MaxInterval": "u",
}
FLAGS_FIELD, NAME_FIELD, APPEARANCE_FIELD, MANUFACTURER_FIELD = 0x01, 0x09, 0x19, 0xFF
# The types of a list of services and of service data, by the length of a UUID.
SERVICES, SOLICITED, DATA = {2: 0x03, 16: 0x07}, {2: 0x14, 16: 0x15}, {2: 0x16, 16: 0x21}
GENERAL_DISCOVERABLE, NO_CLASSIC = 0x02, 0x04


def unparsed():
    return Refused("Failed", "Failed to parse advertisement.")


def field(kind, value):
    if len(value) > 254:
        raise ValueError("a field is too long")
    return bytes([1 + len(value), kind]) + value


def octets_of(variant):
    if variant.signature != "ay":
        raise ValueError("data is no array of octets")
    return bytes(variant.value)


class Described:
    """An advertisement as its client describes it. Raises ValueError where it cannot be said on the air."""

    def __init__(self, said, name):
        values = {}
        for each, value in said.items():
            if each in SIGNATURES:
                if value.signature != SIGNATURES[each]:
                    raise ValueError(f"{each} is not of type {SIGNATURES[each]}")
                values[each] = value.value
        kind = values.get("Type")
        if kind not in ("peripheral", "broadcast"):
            raise ValueError("Type is neither peripheral nor broadcast")
        self.connectable = kind == "peripheral"
        self.data, self.response = self.advertisement(values), self.scan_response(values, name)
        if len(self.data) > LONGEST or len(self.response) > LONGEST:
            raise ValueError(
                f"{len(self.data)} octets and {len(self.response)} in the scan response; there is room for {LONGEST} each"
            )
        least = values.get("MinInterval", INTERVAL[0])
        self.interval = least, values.get("MaxInterval", max(INTERVAL[1], least))
        if not SHORTEST_INTERVAL <= self.interval[0] <= self.interval[1] <= LONGEST_INTERVAL:
            raise ValueError("MinInterval and MaxInterval are not in order, from 20 to 10485 ms")
        self.seconds = values.get("Timeout", 0)

    def advertisement(self, values):
        said = b""
        if self.connectable:
            flags = NO_CLASSIC | (GENERAL_DISCOVERABLE if values.get("Discoverable") else 0)
            said += field(FLAGS_FIELD, bytes([flags]))
        for name, kinds in (("ServiceUUIDs", SERVICES), ("SolicitUUIDs", SOLICITED)):
            uuids = [uuid_octets(each) for each in values.get(name, [])]
            for size, kind in kinds.items():
                if listed := b"".join(each for each in uuids if len(each) == size):
                    said += field(kind, listed)
        for company, value in values.get("ManufacturerData", {}).items():
            said += field(MANUFACTURER_FIELD, struct.pack("<H", company) + octets_of(value))
        for text, value in values.get("ServiceData", {}).items():
            uuid = uuid_octets(text)
            said += field(DATA[len(uuid)], uuid + octets_of(value))
        if "Appearance" in values or "appearance" in values.get("Includes", []):
            said += field(APPEARANCE_FIELD, struct.pack("<H", values.get("Appearance", 0)))
        for kind, value in values.get("Data", {}).items():
            said += field(kind, octets_of(value))
        return said

    def scan_response(self, values, name):
        if "LocalName" not in values and "local-name" not in values.get("Includes", []):
            return b""
        return field(NAME_FIELD, values.get("LocalName", name).encode())


class Advertisement:
    """What one client registered under one path. `told` is what the radio gave for it, once it is on the air."""

    def __init__(self):
        self.told = self.timer = None


class AdvertisingManager(Interface):
    interface = "org.bluez.LEAdvertisingManager1"

    def __init__(self, adapter):
        self.adapter = adapter
        # By client and path.
        self.advertisements = {}
        # Bumble looks for a free set before it waits for the controller.
        self.turn = asyncio.Lock()

    def properties(self):
        there = len(self.advertisements)
        return {
            "ActiveInstances": Variant("y", there),
            "SupportedInstances": Variant("y", max(self.adapter.radio.most_advertisements - there, 0)),
            "SupportedIncludes": Variant("as", ["appearance", "local-name"]),
            "SupportedSecondaryChannels": Variant("as", []),
            "SupportedFeatures": Variant("as", []),
            "SupportedCapabilities": Variant(
                "a{sv}", {"MaxAdvLen": Variant("y", LONGEST), "MaxScnRspLen": Variant("y", LONGEST)}
            ),
        }

    def tell_count(self):
        self.changed("ActiveInstances", "SupportedInstances")

    @exported("oa{sv}")
    async def RegisterAdvertisement(self, sender, path, _):
        self.adapter.check_ready()
        key = sender, path
        if key in self.advertisements:
            raise Refused("AlreadyExists", "Already Exists")
        if len(self.advertisements) >= self.adapter.radio.most_advertisements:
            raise Refused("NotPermitted", "Maximum advertisements reached")
        made = self.advertisements[key] = Advertisement()
        try:
            described = await self.read(sender, path)
            await self.begin(key, made, described)
        except Refused:
            if self.advertisements.get(key) is made:
                del self.advertisements[key]
            raise
        self.tell_count()

    async def read(self, sender, path):
        bus = self.adapter.owner_bus
        try:
            answer = await bus.call(sender, path, PROPERTIES, "GetAll", "s", [ADVERTISEMENT], seconds=READING)
            if answer.signature != "a{sv}":
                raise ValueError("GetAll does not give properties")
            return Described(answer.body[0], self.adapter.alias)
        except (Refused, ValueError) as error:
            log.warning("%s%s: no advertisement: %s", sender, path, error)
            raise unparsed() from None

    async def begin(self, key, made, described):
        async with self.turn:
            radio = self.adapter.radio
            self.adapter.check_ready()
            if self.advertisements.get(key) is not made:
                # Its client is gone, or took it back.
                raise Refused("Failed", "Failed to register advertisement")
            try:
                made.told = await radio.advertise(
                    described.data, described.response, described.connectable, described.interval
                )
            except (RadioFailure, LinkEnded) as failure:
                self.adapter.tell_failure("RegisterAdvertisement", failure)
                raise Refused("Failed", "Failed to register advertisement") from None
            if self.advertisements.get(key) is not made:
                await radio.end_advertising(made.told)
                raise Refused("Failed", "Failed to register advertisement")
        if described.seconds:
            made.timer = asyncio.get_running_loop().call_later(described.seconds, self.expire, key)

    @exported("o")
    async def UnregisterAdvertisement(self, sender, path):
        if (sender, path) not in self.advertisements:
            raise Refused("DoesNotExist", "Does Not Exist")
        await self.end(self.take(sender, path))

    def take(self, *key):
        made = self.advertisements.pop(key)
        if made.timer is not None:
            made.timer.cancel()
        self.tell_count()
        return made

    async def end(self, made):
        async with self.turn:
            told, made.told = made.told, None
            if told is not None:
                await self.adapter.radio.end_advertising(told)

    def expire(self, key):
        self.adapter.owner_bus.start(self.end(self.take(*key)))
        self.release(key)

    def release(self, key):
        """Tells a client that what it registered is gone."""
        sender, path = key
        self.adapter.owner_bus.ask(
            sender, path, ADVERTISEMENT, "Release", "", [], lambda answer, refusal: None, TELLING
        )

    async def resume(self):
        """Goes on after a connection, which ends advertising. What the controller refuses now is tried again later."""
        async with self.turn:
            for made in list(self.advertisements.values()):
                if made.told is None or made.told.enabled or not self.adapter.powered or self.adapter.closing:
                    continue
                try:
                    await self.adapter.radio.advertise_again(made.told)
                except (RadioFailure, LinkEnded) as failure:
                    log.info("%s", failure)

    def client_gone(self, sender):
        for key in list(self.advertisements):
            if key[0] == sender:
                self.adapter.owner_bus.start(self.end(self.take(*key)))

    def close(self):
        """The controller forgot all: what was advertised is given back."""
        for key in list(self.advertisements):
            self.take(*key).told = None
            self.release(key)

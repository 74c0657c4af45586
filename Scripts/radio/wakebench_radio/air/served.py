"""A characteristic of a device file as it is served, and how a device pairs and dies."""

from bumble import att
from bumble.gatt import Characteristic
from bumble.pairing import PairingDelegate

from ..host import Passkey
from . import device_file
from .device_file import canonical, several


def bug_of(text):
    """None, or what kills a device: (hang or vanish, octets of the value that does)."""
    kind, _, length = text.partition(":")
    if kind == "none" and not length:
        return None
    if kind in ("hang", "vanish") and length.isdecimal():
        return kind, int(length)
    raise ValueError(f"no bug '{text}'; use none, hang:LENGTH or vanish:LENGTH")


class Delegate(PairingDelegate):
    """Pairs as the file says."""

    def __init__(self, way):
        self.way = way
        capability = {
            "numeric": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT, "passkey": PairingDelegate.DISPLAY_OUTPUT_ONLY,
        }
        super().__init__(capability.get(way.partition(" ")[0], PairingDelegate.NO_OUTPUT_NO_INPUT))

    async def accept(self):
        return self.way != "reject"

    async def generate_passkey(self):
        return Passkey(self.way.partition(" ")[2])


class Served:
    """A characteristic of the file, as it is served."""

    def __init__(self, place, described):
        self.place, self.described = place, described
        self.uuid = canonical(device_file.required(described, "uuid"))
        self.value = device_file.octets(described["value"]) if "value" in described else b""
        self.security = device_file.word(described.get("security", "none"), ("none", "encrypted", "authenticated"))
        self.properties = Characteristic.Properties(0)
        for word in several(described, "properties"):
            known = {each.name.lower().replace("_", "-"): each for each in Characteristic.Properties}
            self.properties |= known[device_file.word(word, known)]
        self.entries, self.repeats = device_file.spelled_out(described, "notifications")
        self.descriptors = [
            (device_file.long(device_file.required(each, "uuid")), device_file.octets(each.get("value", "")))
            for each in several(described, "descriptors")
        ]
        self.timetable = self.built = None

    @property
    def permissions(self):
        can, made = Characteristic.Properties, att.Attribute.Permissions(0)
        if self.properties & can.READ:
            made |= att.Attribute.READABLE
        if self.properties & (can.WRITE | can.WRITE_WITHOUT_RESPONSE):
            made |= att.Attribute.WRITEABLE
        return made

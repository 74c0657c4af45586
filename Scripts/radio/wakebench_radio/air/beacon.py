"""An iBeacon on the air, played from a file under Devices/Bluetooth.

A controller measures no distance: of the timetable of distances only what is within reach and what is not can be
played. It tells: `ready` when the timetable begins, `on the air METRES`, `silent`, `armed FAULT`.
"""

import asyncio
import itertools
import math
import uuid

from bumble.core import AdvertisingData
from bumble.device import AdvertisingType

from . import device_file
from .device_file import several
from .failures import Refused
from .station import Station, guarded, packed

# Apple's company number, little-endian, and how an iBeacon's data begins.
HEAD = bytes([0x4C, 0x00, 0x02, 0x15])
# What is weaker than this is not heard, in dBm, as in the simulated radio.
SENSITIVITY = -100.0


class Distances:
    """How far from the phone a beacon is, in time: a pause at the distance before, then a way to another.

    `legs` are (seconds of the pause, seconds of the way, metres or None for out of reach).
    """

    def __init__(self, legs, repeats):
        self.legs = legs
        self.total = sum(after + over for after, over, _ in legs)
        self.repeats = repeats and self.total > 0

    @classmethod
    def read(cls, file):
        legs = []
        for entry in several(file, "distance"):
            said = device_file.required(entry, "metres")
            metres = None if said == "away" else device_file.decimal(said, 0.01, 10_000)
            legs.append((
                device_file.seconds(entry.get("after", "0")), device_file.seconds(entry.get("over", "0")), metres,
            ))
        if not legs:
            raise device_file.wrong(file.get("distance", file), "no distance", "at least one distance, or 'position'")
        return cls(legs, device_file.truth(file.get("repeat", "false")))

    def pieces(self, before):
        """One time through, as [(begin, end, metres at the begin, metres at the end)]; it is at `before` first."""
        pieces, time = [], 0.0
        for after, over, metres in self.legs:
            if after:
                pieces.append((time, time + after, before, before))
            if over:
                first = metres if before is None else before
                pieces.append((time + after, time + after + over, first, metres if metres is not None else first))
            time += after + over
            before = metres
        return pieces

    def changes(self, reach):
        """When it comes within reach and goes, as (seconds, metres or None), for ever if it begins again.

        The first one is at 0. Where it stands at the end it stays.
        """
        begin, before, was = 0.0, None, ()
        for time_through in itertools.count():
            changed = False
            for first, last, one, other in self.pieces(before):
                for time, metres in crossings(first, last, one, other, reach):
                    if was != (metres is not None):
                        was, changed = metres is not None, True
                        yield begin + time, metres
            begin, before = begin + self.total, self.legs[-1][2]
            # The second time is as all that follow.
            if not self.repeats or time_through and not changed:
                break
        heard = before if before is not None and before <= reach else None
        if was != (heard is not None):
            yield begin, heard


def crossings(first, last, one, other, reach):
    """Of a way at even speed: its begin, and where it crosses `reach`, as (time, metres or None)."""
    heard = [each is not None and each <= reach for each in (one, other)]
    yield first, one if heard[0] else None
    if heard[0] != heard[1] and one is not None and other is not None:
        yield first + (last - first) * (reach - one) / (other - one), reach if heard[1] else None


class Beacon(Station):
    kind = "beacon"

    def read(self):
        file = self.file
        self.power = device_file.integer(file.get("measured-power", "-59"), -127, 20)
        self.exponent = device_file.decimal(file.get("radio", {}).get("path-loss", "2"), 1, 6)
        self.pause = device_file.seconds(file.get("interval", "100ms")) * 1000
        self.numbers = [device_file.integer(file.get(key, "0"), 0, 0xFFFF) for key in ("major", "minor")]
        self.uuid = uuid.UUID(device_file.long(device_file.required(file, "uuid"))).bytes
        self.distances = Distances([(0, 0, self.metres_of(file["position"]))], False) if "position" in file else (
            Distances.read(file)
        )
        self.faults = device_file.faults(
            file,
            {
                "silent": device_file.seconds,
                "weaken": lambda value: device_file.decimal(value, 0, 100),
                "measured-power": lambda value: device_file.integer(value, -127, 20),
                "renumber": lambda value: [
                    device_file.integer(device_file.required(value, key), 0, 0xFFFF) for key in ("major", "minor")
                ],
            },
        )
        self.radius = self.radius_of(self.power)
        self.is_near = self.is_mute = self.is_silenced = False
        self.played = None

    @staticmethod
    def metres_of(position):
        """Where a phone at 0, 0 is; a place on the globe is taken for near, as nothing says where the phone is."""
        if "x" not in position:
            return 1.0
        x, y = (device_file.decimal(device_file.required(position, key), -100_000, 100_000) for key in ("x", "y"))
        return max(0.01, math.hypot(x, y))

    def radius_of(self, power):
        """Metres at which it is as weak as a phone can hear."""
        return math.pow(10, (power - SENSITIVITY) / (10 * self.exponent))

    def advertisement(self):
        numbers = b"".join(each.to_bytes(2, "big") for each in self.numbers)
        data = HEAD + self.uuid + numbers + self.power.to_bytes(1, "big", signed=True)
        said = packed([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, data)])
        return said, b"", AdvertisingType.UNDIRECTED

    def interval(self):
        return self.pause

    # On the air

    async def begin(self):
        self.began = asyncio.get_running_loop().time()
        self.tell("ready")
        self.play()

    def play(self):
        if self.played:
            self.played.cancel()
        self.played = self.do(self.come_and_go())

    async def come_and_go(self):
        clock = asyncio.get_running_loop()
        passed, last = clock.time() - self.began, None
        for time, metres in self.distances.changes(self.radius):
            if time > passed:
                if last is not None:
                    await self.be_near(last[0])
                    last = None
                await asyncio.sleep(self.began + time - clock.time())
                await self.be_near(metres)
            else:
                last = (metres,)
        if last is not None:
            await self.be_near(last[0])

    async def be_near(self, metres):
        self.is_near = metres is not None
        await self.renew(metres)

    async def renew(self, metres=None):
        """Advertises if it is within reach and nothing keeps it silent."""
        wanted = self.is_near and not self.is_mute and not self.is_silenced
        was = self.advertises
        async with self.advertising:
            self.advertises = wanted
            await (self.start_advertising() if wanted else self.stop_advertising())
        if wanted != was:
            distance = [] if metres is None else [f"{metres:g}"]
            self.tell(*["on the air", *distance] if wanted else ["silent"])

    async def silence(self):
        self.is_silenced = True
        await self.renew()

    async def advertise(self):
        self.is_silenced = False
        await self.renew()

    async def disconnect(self):
        """There is nothing to end."""

    async def arm(self, name):
        effect, value = self.known_fault(self.faults, name)
        if effect == "silent":
            self.is_mute = True
            asyncio.get_running_loop().call_later(value, guarded(self.speak))
        elif effect == "weaken":
            self.radius = self.radius_of(self.power - value)
            self.play()
        elif effect == "measured-power":
            self.power = value
        else:
            self.numbers = value
        await self.renew()
        self.tell("armed", name)

    def speak(self):
        self.is_mute = False
        self.do(self.renew())

    async def order(self, words):
        if words[0] == "disconnect":
            raise Refused("a beacon has no links")
        await super().order(words)

    def known_orders(self):
        return "use silence, advertise, leave, arm FAULT, stop or quit"

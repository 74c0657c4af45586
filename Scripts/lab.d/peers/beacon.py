"""An iBeacon on the air, played by Bumble from a file under Devices/Bluetooth.

    beacon.py DEVICE.yaml TRANSPORT

The simulated radio plays the same file, so both ends of a comparison have one script. The lab's controllers measure no
signal strength: of the timetable of distances only what is within reach and what is not can be played.

Each thing that happens is one line on standard output: `ready` when the timetable begins, `on the air METRES`, `silent`.
"""

import argparse
import asyncio
import math
import sys
import uuid

import ending
import yaml
from device_format import say, seconds
from bumble.core import AdvertisingData
from bumble.device import AdvertisingType, Device
from bumble.hci import Address
from bumble.transport import open_transport

# Apple's company number, little-endian, and how an iBeacon's data begins.
HEAD = bytes([0x4C, 0x00, 0x02, 0x15])
# What is weaker than this is not heard, in dBm, as in the simulated radio.
SENSITIVITY = -100.0


class Distances:
    """How far from the phone the beacon is, in time: a pause at the distance before, then a way to another."""

    def __init__(self, entries, repeat):
        self.legs = []
        for entry in entries:
            metres = None if entry["metres"] == "away" else float(entry["metres"])
            self.legs.append((seconds(entry.get("after", "0")), seconds(entry.get("over", "0")), metres))
        self.total = sum(after + over for after, over, _ in self.legs)
        self.repeat = repeat and self.total > 0

    def metres(self, time):
        """None when it is out of reach, as it is before the first distance."""
        before = None
        if self.repeat and time >= self.total:
            time, before = time % self.total, self.legs[-1][2]
        for after, over, metres in self.legs:
            if time < after:
                return before
            time -= after
            if time < over:
                if before is None or metres is None:
                    return metres
                return before + (metres - before) * time / over
            time -= over
            before = metres
        return before


class Beacon:
    def __init__(self, file, transport):
        self.distances = Distances(file.get("distance", [{"metres": "1"}]), file.get("repeat") in ("true", "yes", "on"))
        power = int(file.get("measured-power", -59))
        exponent = float(file.get("radio", {}).get("path-loss", 2))
        self.reach = math.pow(10, (power - SENSITIVITY) / (10 * exponent))
        self.interval = seconds(file.get("interval", "100ms")) * 1000
        numbers = [int(file.get(key, 0)).to_bytes(2, "big") for key in ("major", "minor")]
        data = HEAD + uuid.UUID(file["uuid"]).bytes + b"".join(numbers) + power.to_bytes(1, "big", signed=True)
        self.device = Device.with_hci("", Address(file["address"]), transport.source, transport.sink)
        self.device.advertising_data = bytes(
            AdvertisingData(
                [(AdvertisingData.FLAGS, bytes([0x06])), (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, data)]
            )
        )
        self.device.scan_response_data = b""

    async def play(self):
        """Advertises anew every second while it is within reach: btvirt's controllers send an advertisement once, when
        either side begins."""
        clock = asyncio.get_running_loop()
        began, was_heard = clock.time(), False
        while True:
            metres = self.distances.metres(clock.time() - began)
            is_heard = metres is not None and metres <= self.reach
            if was_heard:
                await self.device.stop_advertising()
            if is_heard:
                await self.device.start_advertising(
                    advertising_type=AdvertisingType.UNDIRECTED,
                    advertising_interval_min=self.interval,
                    advertising_interval_max=self.interval,
                )
            if is_heard != was_heard:
                say(f"on the air {metres:g}" if is_heard else "silent")
            was_heard = is_heard
            await asyncio.sleep(1)

    async def live(self):
        await self.device.power_on()
        say("ready")
        await ending.play(self.play())
        await ending.leave(self.device.stop_advertising())


async def main():
    parser = argparse.ArgumentParser(description="Plays an iBeacon from a file under Devices/Bluetooth on the air.")
    parser.add_argument("device")
    parser.add_argument("transport")
    arguments = parser.parse_args()
    with open(arguments.device, encoding="utf-8") as text:
        # Every scalar stays text: a UUID of digits alone is no number.
        file = yaml.load(text, Loader=yaml.BaseLoader)
    if file.get("device") != "ibeacon":
        raise SystemExit(f"beacon: {arguments.device} is no ibeacon")
    async with await open_transport(arguments.transport) as transport:
        await Beacon(file, transport).live()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)

"""Counts a belt's values with Bumble's own host until the value 65535: the job of NotificationBenchmarkApp, for comparison.

    counter.py TRANSPORT
"""

import asyncio
import sys

from bumble.core import AdvertisingData, UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

NAME, LAST = "Fast Belt", 65_535


async def main(transport):
    async with await open_transport(transport) as controller:
        device = Device.with_hci("Counter", Address("F0:00:00:00:00:01"), controller.source, controller.sink)
        await device.power_on()
        found = asyncio.get_running_loop().create_future()

        def advertised(advertisement):
            name = advertisement.data.get(AdvertisingData.COMPLETE_LOCAL_NAME)
            if name == NAME and not found.done():
                found.set_result(advertisement.address)

        device.on("advertisement", advertised)
        await device.start_scanning()
        address = await asyncio.wait_for(found, 20)
        await device.stop_scanning()
        peer = Peer(await device.connect(address))
        await peer.discover_services([UUID.from_16_bits(0x180D)])
        await peer.discover_characteristics([UUID.from_16_bits(0x2A37)])
        [measurement] = peer.get_characteristics_by_uuid(UUID.from_16_bits(0x2A37))
        ended = asyncio.Event()
        received, lost, expected = 0, 0, 0

        def notified(value):
            nonlocal received, lost, expected
            number = int.from_bytes(value, "big")
            if number == LAST:
                return ended.set()
            lost += (number - expected) & 0xFFFF
            expected = number + 1
            received += 1

        await peer.subscribe(measurement, notified)
        await asyncio.wait_for(ended.wait(), 300)
        print(f"counted values={received} lost={lost}", flush=True)


asyncio.run(main(sys.argv[1]))

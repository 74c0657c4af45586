"""Makes belt-central.btsnoop, belt-peripheral.btsnoop and belt-central.pcap: a peripheral of Scripts/radio plays belt.yaml to a central of
Bumble, on linked controllers in this process, and each end's HCI traffic is kept.

    PYTHONPATH=Scripts/radio "$(Scripts/venv Scripts/radio/requirements.txt)/bin/python" Tests/WakeCapturesTests/Captures/make.py

What the central was notified is on standard output, a line each.
"""

import asyncio
import pathlib
import tempfile

from bumble.core import UUID, BaseBumbleError
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.snoop import BtSnooper, PcapSnooper
from bumble.transport import open_transport

from wakebench_radio.air import device_file
from wakebench_radio.air.peripheral import Peripheral
from wakebench_radio.link import Air, serve

HERE = pathlib.Path(__file__).parent


class Both:
    """Keeps packets in two files."""

    def __init__(self, *snoopers):
        self.snoopers = snoopers

    def snoop(self, packet, direction):
        for snooper in self.snoopers:
            snooper.snoop(packet, direction)


async def session(central, address, again):
    found = asyncio.get_running_loop().create_future()

    def advertised(advertisement):
        if advertisement.address == address and not found.done():
            found.set_result(advertisement)

    central.on("advertisement", advertised)
    await central.start_scanning(filter_duplicates=False)
    await asyncio.wait_for(found, 10)
    # So that there are enough advertisements to tell the interval.
    await asyncio.sleep(0.1 if again else 2)
    await central.stop_scanning()
    link = await central.connect(address)
    peer = Peer(link)
    if not again:
        await peer.request_mtu(64)
    await peer.discover_services()
    for service in peer.services:
        await service.discover_characteristics()
        for characteristic in service.characteristics:
            await characteristic.discover_descriptors()

    def one(uuid):
        return peer.get_characteristics_by_uuid(UUID(uuid))[0]

    print("name", (await one("2A00").read_value()).decode())
    print("read", (await one("2A38").read_value()).hex())
    print("read", (await one("2A24").read_value()).hex())
    await one("2A39").write_value(b"\x01", with_response=True)
    await one("6E400002-B5A3-F393-E0A9-E50E24DCCA9E").write_value(b"abc", with_response=False)
    try:
        await one("2A37").read_value()
        await peer.gatt_client.read_value(0x0FFF)
    except BaseBumbleError as error:
        print("error", type(error).__name__)
    await one("2A37").subscribe(lambda value: print("2A37", bytes(value).hex()))
    await one("6E400003-B5A3-F393-E0A9-E50E24DCCA9E").subscribe(
        lambda value: print("6E400003", bytes(value).hex()), prefer_notify=False
    )
    await asyncio.sleep(2 if again else 0.55)
    await link.disconnect()
    await asyncio.sleep(0.2)


async def main():
    air = Air()
    with tempfile.TemporaryDirectory() as folder:
        near, far = [await serve(f"unix:{folder}/{number}", air, number + 1) for number in range(2)]
        file = device_file.read(HERE / "belt.yaml")
        player = Peripheral(file, far.transport, lambda *_: None, {"capture": HERE / "belt-peripheral.btsnoop"})
        await player.live()
        async with await open_transport(near.transport) as transport:
            central = Device.with_hci("Central", Address("F0:AA:BB:CC:DD:EE"), transport.source, transport.sink)
            with open(HERE / "belt-central.btsnoop", "wb") as btsnoop, open(HERE / "belt-central.pcap", "wb") as pcap:
                central.host.snooper = Both(BtSnooper(btsnoop), PcapSnooper(pcap))
                await central.power_on()
                await asyncio.sleep(0.2)
                for again in (False, True):
                    await session(central, Address(file["address"]), again)
                central.host.snooper = None
        await player.stop()
        for each in near, far:
            each.close()


asyncio.run(main())

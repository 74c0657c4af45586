"""A third stack to compare with: bleak as the central. bleak_central.py NAME UUID COUNT prints COUNT notifications."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner


async def main(name, uuid, count):
    heard = {}

    def is_it(device, said):
        heard[device.address] = said.local_name
        return said.local_name == name

    found = await BleakScanner.find_device_by_filter(is_it, timeout=90)
    if found is None:
        sys.exit(f"central: {name} was not heard in 90 s; heard: {heard or 'nothing'}")
    values = asyncio.Queue()
    # A guest without KVM takes longer than the ten seconds that bleak waits.
    async with BleakClient(found, timeout=90) as client:
        await client.start_notify(
            f"0000{uuid}-0000-1000-8000-00805f9b34fb", lambda _, value: values.put_nowait(bytes(value))
        )
        for _ in range(count):
            print((await asyncio.wait_for(values.get(), 60)).hex(), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

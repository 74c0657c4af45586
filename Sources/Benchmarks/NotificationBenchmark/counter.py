"""Counts a belt's values with bleak until the value 65535: the job of NotificationBenchmarkApp, for comparison.

    counter.py start|acquire
"""

import asyncio
import os
import sys

from bleak import BleakClient, BleakScanner

CHARACTERISTIC = "00002a37-0000-1000-8000-00805f9b34fb"
LAST = 65_535


async def main(way):
    device = await BleakScanner.find_device_by_name("Fast Belt", timeout=20)
    if device is None:
        raise SystemExit("counter: no Fast Belt")
    ended = asyncio.Event()
    received, lost, expected = 0, 0, 0

    def notified(_, value):
        nonlocal received, lost, expected
        number = int.from_bytes(value, "big")
        if number == LAST:
            return ended.set()
        lost += (number - expected) & 0xFFFF
        expected = number + 1
        received += 1

    async with BleakClient(device) as client:
        await client.start_notify(CHARACTERISTIC, notified, bluez={"use_start_notify": way == "start"})
        await asyncio.wait_for(ended.wait(), 300)
        print(f"counted values={received} lost={lost}", flush=True)


asyncio.run(main(sys.argv[1]))
os._exit(0)

"""Counts a fast belt's notifications with bleak, and what they cost: the job of NotificationBenchmarkApp, for comparison.

    bleak_counter.py NAME
"""

import asyncio
import os
import sys
import time

from bleak import BleakClient, BleakScanner

CHARACTERISTIC = "00002a37-0000-1000-8000-00805f9b34fb"
WARM_UP, MEASURED = 400, 4000


class Counter:
    def __init__(self):
        self.received, self.lost, self.last = 0, 0, None
        self.enough = asyncio.Event()

    def notified(self, _, value):
        number = int.from_bytes(value[-2:], "big")
        if self.last is not None:
            self.lost += (number - self.last - 1) & 0xFFFF
        self.last = number
        self.received += 1
        if self.received == WARM_UP:
            self.began = time.monotonic(), time.process_time()
        if self.received == WARM_UP + MEASURED:
            clock, processor = time.monotonic() - self.began[0], time.process_time() - self.began[1]
            print(f"measured values={MEASURED} lost={self.lost} seconds={clock:.3f} bleak={processor:.3f}", flush=True)
            self.enough.set()


async def main(name):
    device = await BleakScanner.find_device_by_name(name, timeout=60)
    if device is None:
        raise SystemExit(f"bleak_counter: no {name} on the air")
    counter = Counter()
    async with BleakClient(device) as client:
        await client.start_notify(CHARACTERISTIC, counter.notified)
        await asyncio.wait_for(counter.enough.wait(), 300)


asyncio.run(main(" ".join(sys.argv[1:])))
os._exit(0)

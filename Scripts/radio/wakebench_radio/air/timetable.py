"""The values of a characteristic or a channel, in order, each with the pause before it."""

import asyncio

# Seconds behind its time after which a timetable goes on from now, and does not catch up.
BEHIND = 1.0


class Timetable:
    """Time goes by for it while it runs. Its place is the device's, not a link's: it stays over disconnections.

    `entries` are (seconds before the first value, seconds between values, values): device_file.spelled_out.
    """

    def __init__(self, entries, repeats):
        self.entries, self.repeats = entries, repeats
        self.running, self.standing = asyncio.Event(), asyncio.Event()
        self.standing.set()
        # When the last value was due, by the loop's clock; None after it stood still.
        self.reference = None

    def set_running(self, runs):
        if runs == self.running.is_set():
            return
        (self.running.set if runs else self.running.clear)()
        (self.standing.clear if runs else self.standing.set)()
        if not runs:
            self.reference = None

    async def play(self, send):
        """Awaits send(value) for each value when it is due."""
        while self.entries:
            for after, every, values in self.entries:
                pause = after
                for value in values:
                    await self.wait(pause)
                    await send(value)
                    pause = every
            if not self.repeats:
                return

    async def wait(self, pause):
        """Lets `pause` seconds go by during which it runs."""
        loop = asyncio.get_running_loop()
        while True:
            await self.running.wait()
            now = loop.time()
            if self.reference is None or now - self.reference - pause > BEHIND:
                self.reference = now
            due = self.reference + pause
            try:
                async with asyncio.timeout_at(due):
                    await self.standing.wait()
            except TimeoutError:
                if self.running.is_set():
                    self.reference = due
                return
            pause = max(0.0, due - loop.time())

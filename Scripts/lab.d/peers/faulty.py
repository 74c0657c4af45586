"""Peripherals on the air, some with a bug that kills them, for checks and fuzzing.

    faulty.py DEVICE.yaml TRANSPORT NAME ADDRESS BUG [DEVICE.yaml ...]

Each plays its file; NAME and ADDRESS replace the file's, and - leaves it as it is. BUG says what comes of the first value of so
many bytes or more that is written to it, in one piece or in parts:
  none          nothing
  hang:100      neither that request nor any other is answered, on this link and the next
  vanish:100    the link is closed without an answer, and it advertises no more
"""

import asyncio
import sys

import belt
import yaml
from bumble.att import ATT_WRITE_NOT_PERMITTED_ERROR, ATT_Error, Attribute
from bumble.transport import open_transport
from device_format import say

write_value = Attribute.write_value


async def write_if_permitted(attribute, bearer, value):
    # Bumble looks at no permissions, and gives no answer at all where a value of its own cannot be written.
    if not attribute.permissions & Attribute.WRITEABLE:
        raise ATT_Error(ATT_WRITE_NOT_PERMITTED_ERROR)
    await write_value(attribute, bearer, value)


Attribute.write_value = write_if_permitted


class Faulty(belt.Peripheral):
    def __init__(self, file, transport, bug):
        super().__init__(file, transport)
        self.bug, _, length = bug.partition(":")
        self.length, self.is_dead = int(length or 0), False
        server = self.device.gatt_server
        hear, respond = server.on_gatt_pdu, server.send_response
        server.on_gatt_pdu = lambda *heard: None if self.is_dead else hear(*heard)
        server.send_response = lambda *answer: None if self.is_dead else respond(*answer)

    def ask(self, place, request):
        if self.bug != "none" and request is not None and len(request) >= self.length:
            say("dies of", len(request), "bytes:", self.bug)
            self.is_dead = True
            if self.bug == "vanish":
                self.do(self.vanish())
        super().ask(place, request)

    async def vanish(self):
        await self.silence()
        await self.disconnect()


async def play(device, transport, name, address, bug):
    with open(device, encoding="utf-8") as text:
        file = belt.plain(yaml.load(text, Loader=yaml.BaseLoader))
    file |= {key: value for key, value in (("name", name), ("address", address)) if value != "-"}
    async with await open_transport(transport) as opened:
        await Faulty(file, opened, bug).live(None)


async def main():
    words = sys.argv[1:]
    await asyncio.gather(*(play(*words[start : start + 5]) for start in range(0, len(words), 5)))


if __name__ == "__main__":
    asyncio.run(main())

"""What a monitor tells of the packets between the bridge and its controller."""

import asyncio
import socket
import struct
import sys
import unittest

from .support import ADAPTER, BOUND, CHARACTERISTIC, DEVICE, HCI0, PROPERTIES, Client, RadioTest, World
from .test_links import heart_rate

RADIO = "org.wakebench.Radio1"
NEW_INDEX, DEL_INDEX, COMMAND, EVENT, SENT, RECEIVED, INDEX_INFO, NOTE = 0, 1, 2, 3, 4, 5, 10, 12


class Reader:
    """The frames of a monitor: (opcode, index, octets)."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)
        self.frames = []

    @staticmethod
    async def open(client):
        answer = await client.call(HCI0, RADIO, "Monitor")
        return Reader(answer.unix_fds[answer.body[0]])

    async def read(self):
        """One frame more."""
        packet = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.socket, 70_000), BOUND)
        opcode, index, length = struct.unpack_from("<HHH", packet)
        assert len(packet) == 6 + length, packet.hex()
        self.frames.append((opcode, index, packet[6:]))
        return self.frames[-1]

    async def until(self, condition):
        """Reads until a frame is as wanted, and returns it."""
        while not condition(frame := await self.read()):
            pass
        return frame

    def close(self):
        self.socket.close()


class Monitored(RadioTest):
    async def monitor(self):
        reader = await Reader.open(self.client)
        self.addCleanup(reader.close)
        return reader

    async def ask(self):
        """Has the bridge answer a call: what it does with packets before that is done."""
        await self.client.call(HCI0, PROPERTIES, "GetAll", "s", ADAPTER)

    async def test_it_begins_with_the_adapter_and_its_address(self):
        reader = await self.monitor()
        address = bytes.fromhex(self.said["adapters"][0]["address"].replace(":", ""))[::-1]
        opcode, index, octets = await reader.read()
        self.assertEqual((opcode, index, octets), (NEW_INDEX, 0, b"\0\0" + address + b"hci0\0\0\0\0"))
        opcode, index, octets = await reader.read()
        self.assertEqual((opcode, index, octets[:6], len(octets)), (INDEX_INFO, 0, address, 8))

    async def test_commands_events_and_data_of_both_ways_are_told_in_order(self):
        reader = await self.monitor()
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await self.client.read(self.client.attribute(path, CHARACTERISTIC, "2A37"))
        # LE Extended Create Connection, its completion, a read request over ATT and its response.
        kinds = [
            await reader.until(lambda frame: frame[0] == COMMAND and frame[2][:2] in (b"\x43\x20", b"\x0d\x20")),
            await reader.until(lambda frame: frame[0] == EVENT and frame[2][0] == 0x3E and frame[2][2] in (1, 10)),
            await reader.until(lambda frame: frame[0] == SENT and frame[2][6:9] == b"\4\0\x0a"),
            await reader.until(lambda frame: frame[0] == RECEIVED and frame[2][6:9] == b"\4\0\x0b"),
        ]
        self.assertEqual({frame[1] for frame in kinds}, {0})

    async def test_several_readers_get_the_same(self):
        first, second = await self.monitor(), await self.monitor()
        await self.client.discover()
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")

        def stops(frame):
            return frame[0] == COMMAND and frame[2][:2] in (b"\x42\x20", b"\x0c\x20") and not frame[2][3]

        for each in (first, second):
            await each.until(stops)
        self.assertEqual(second.frames[2:], first.frames[-len(second.frames) + 2:])

    async def test_a_reader_that_is_gone_leaves_the_others(self):
        first, second = await self.monitor(), await self.monitor()
        first.close()
        await self.client.discover()
        await second.until(lambda frame: frame[0] == COMMAND)

    async def test_frames_have_the_time_at_which_they_were_written(self):
        reader = await self.monitor()
        come = asyncio.Event()
        asyncio.get_running_loop().add_reader(reader.socket, come.set)
        await asyncio.wait_for(come.wait(), BOUND)
        asyncio.get_running_loop().remove_reader(reader.socket)
        _, more, _, _ = reader.socket.recvmsg(1000, 100)
        self.assertEqual([each[:2] for each in more], [(socket.SOL_SOCKET, 29)])

    async def test_a_reader_that_does_not_read_loses_frames_and_is_told_how_many(self):
        idle, reader = await self.monitor(), await self.monitor()
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        # The socket has room for some hundred frames, and the bridge keeps 1 MiB.
        task = asyncio.ensure_future(reader.until(lambda frame: False))
        self.addCleanup(task.cancel)
        while len(reader.frames) < 20_000:
            await asyncio.gather(*(self.client.write(place, bytes(180), "command") for _ in range(50)))
        await self.ask()
        self.assertTrue(self.client.objects[path][DEVICE]["Connected"], "the link does not suffer")
        opcode, index, octets = await idle.until(lambda frame: frame[0] == NOTE)
        self.assertEqual(index, 0)
        self.assertTrue(octets.startswith(b"wakebench: ") and octets.endswith(b" frames lost\0"), octets)
        lost = int(octets.split()[1])
        self.assertGreater(lost, 0)
        # The readers began with the same, and have it again behind the loss.
        self.assertEqual(idle.frames[:100], reader.frames[:100])
        self.assertLess(len(idle.frames), len(reader.frames))


class MonitoredLoss(unittest.IsolatedAsyncioTestCase):
    async def test_an_adapter_that_goes_and_comes_back_is_told(self):
        asyncio.get_running_loop().set_debug(False)
        world = World(2)
        self.addCleanup(world.end)
        await asyncio.to_thread(world.begin_bridge)
        client = await Client.open(world.address)
        self.addCleanup(client.close)
        reader = await Reader.open(client)
        self.addCleanup(reader.close)
        world.air.kill()
        await reader.until(lambda frame: frame[0] == DEL_INDEX)
        world.air = world.begin([sys.executable, "-m", "wakebench_radio.link", *world.sockets])
        before = len(reader.frames)
        await reader.until(lambda frame: frame[0] == NEW_INDEX)
        self.assertEqual(len(reader.frames), before + 1, "nothing is told of an adapter that is not there")
        await client.until(lambda: HCI0 in client.objects, "the adapter")
        await client.discover()
        await reader.until(lambda frame: frame[0] == COMMAND)
        await client.call(HCI0, ADAPTER, "StopDiscovery")


if __name__ == "__main__":
    unittest.main()

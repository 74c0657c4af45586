"""What is written to the bus: together where it can be, in order, and descriptors with their message."""

import asyncio
import os
import socket
import unittest
from types import SimpleNamespace

from wakebench_radio.bus import PatientWriter


class Text:
    """A message that is its own octets."""

    def __init__(self, octets, descriptors=None):
        self.octets, self.unix_fds = octets, descriptors

    def _marshall(self, _):
        return bytearray(self.octets)


class Writer(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        # Each write is one packet of such a socket.
        ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        self.addCleanup(self.theirs.close)
        ours.setblocking(False)
        self.theirs.setblocking(False)
        self.lost = []
        bus = SimpleNamespace(
            _negotiate_unix_fd=True, _sock=ours, _loop=asyncio.get_running_loop(), _fd=ours.fileno(), unique_name=":1.1",
            _user_disconnect=False, _finalize=self.lost.append,
        )
        self.writer = PatientWriter(bus)

    def received(self):
        packets = []
        try:
            while packet := self.theirs.recv(1 << 20):
                packets.append(packet)
        except BlockingIOError:
            pass
        return packets

    async def test_held_messages_are_written_together(self):
        sent = [asyncio.get_running_loop().create_future() for _ in range(3)]
        self.writer.held = True
        for octets, future in zip((b"a", b"b", b"c"), sent):
            self.writer.schedule_write(Text(octets), future)
        self.assertEqual(self.received(), [])
        self.writer.release()
        self.assertEqual(self.received(), [b"abc"])
        self.assertTrue(all(each.done() for each in sent))

    async def test_a_message_with_descriptors_goes_alone_and_in_its_place(self):
        self.writer.held = True
        reading, writing = os.pipe()
        for each in (reading, writing):
            self.addCleanup(os.close, each)
        for message in (Text(b"a"), Text(b"b", [reading]), Text(b"c"), Text(b"d")):
            self.writer.schedule_write(message)
        self.writer.release()
        octets, descriptors, _, _ = socket.recv_fds(self.theirs, 10, 4)
        self.assertEqual((octets, descriptors), (b"a", []))
        octets, descriptors, _, _ = socket.recv_fds(self.theirs, 10, 4)
        self.assertEqual((octets, len(descriptors)), (b"b", 1))
        os.close(descriptors[0])
        self.assertEqual(self.received(), [b"cd"])

    async def test_a_full_socket_is_waited_for(self):
        for number in range(2000):
            self.writer.schedule_write(Text(number.to_bytes(2, "big") * 100))
        octets = b""
        while len(octets) < 2000 * 200:
            octets += b"".join(self.received())
            await asyncio.sleep(0)
        self.assertEqual(octets, b"".join(number.to_bytes(2, "big") * 100 for number in range(2000)))
        self.assertEqual(self.lost, [])


if __name__ == "__main__":
    unittest.main()

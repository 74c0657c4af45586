"""L2CAP channels of clients: opened to peers, and opened by them."""

import asyncio
import os
import socket
import unittest

from bumble import hci, l2cap
from bumble.core import ProtocolError
from bumble.hci import Address
from bumble.l2cap import LeCreditBasedChannelSpec

from wakebench_radio.channels import CREDITS, MPS

from .offers import Central, Offers
from .support import (
    ADAPTER, BOUND, DEVICE, HCI0, PROPERTIES, Agent, Between, Client, RadioTest, World, accept_pairing, register,
)

RADIO = "org.wakebench.Radio1"
PSM = 0x25
Response = l2cap.L2CAP_LE_Credit_Based_Connection_Response


class Stream:
    """The client's end of a channel."""

    def __init__(self, descriptor):
        self.blocking = os.get_blocking(descriptor)
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)
        self.loop = asyncio.get_running_loop()

    async def send(self, octets):
        await asyncio.wait_for(self.loop.sock_sendall(self.socket, octets), BOUND)

    async def read(self, count=None):
        """So many octets, or all until the hang-up."""
        octets = b""
        while count is None or len(octets) < count:
            part = await asyncio.wait_for(self.loop.sock_recv(self.socket, 65_536), BOUND)
            if not part:
                break
            octets += part
        return octets

    def fill(self):
        """Writes until there is no room. Returns what went."""
        octets = b""
        while True:
            part = bytes((len(octets) + index) * 31 % 251 for index in range(1000))
            try:
                octets += part[:self.socket.send(part)]
            except BlockingIOError:
                return octets

    def close(self):
        self.socket.close()


class Served:
    """A channel that the peer accepted: what it got, and its end."""

    def __init__(self, channel, reads=True):
        self.channel, self.got, self.closed = channel, b"", asyncio.Event()
        self.changed = asyncio.Event()
        if not reads:
            # No credits go back.
            channel.peer_credits_threshold = -1
        channel.sink = self.take
        channel.on("close", self.closed.set)

    def take(self, octets):
        self.got += octets
        self.changed.set()

    async def until(self, octets):
        while self.got != octets and len(self.got) < len(octets):
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), BOUND)
        return self.got == octets

    async def end(self):
        await asyncio.wait_for(self.closed.wait(), BOUND)


class ChannelTest(RadioTest):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        await accept_pairing(self.client)

    async def linked(self, reads=True, credits=256, **how):
        """A peer that serves channels, and its path."""
        peripheral = await self.peripheral(**how)
        self.served = asyncio.Queue()
        peripheral.device.create_l2cap_server(
            LeCreditBasedChannelSpec(psm=PSM, max_credits=credits),
            lambda channel: self.served.put_nowait(Served(channel, reads)),
        )
        return peripheral, await self.client.link(peripheral.address)

    async def open(self, path, psm=PSM):
        answer = await self.client.call(HCI0, RADIO, "OpenChannel", "oq", path, psm)
        stream = Stream(answer.unix_fds[answer.body[0]])
        self.addCleanup(stream.close)
        return stream

    async def both(self, path):
        stream = await self.open(path)
        return stream, await asyncio.wait_for(self.served.get(), BOUND)

    def forgotten(self, channel):
        """Bumble's end keeps the number of a closed channel."""
        channel.manager.le_coc_channels[channel.connection.handle].pop(channel.destination_cid, None)

    async def stalled(self, channel, credits):
        """Waits until the peer's end has no credits of a kind, and gets none while the bridge answers 20 calls."""
        quiet = 0
        while quiet < 20:
            await self.client.call(HCI0, PROPERTIES, "GetAll", "s", ADAPTER)
            quiet = 0 if getattr(channel, credits) else quiet + 1

    def refuse(self, peripheral, *results):
        """The peer answers openings with these results, and then as it would."""
        manager, results = peripheral.device.l2cap_channel_manager, list(results)
        take = manager.on_l2cap_le_credit_based_connection_request

        def answer(connection, cid, request):
            if not results:
                take(connection, cid, request)
                return
            manager.send_control_frame(connection, cid, Response(
                identifier=request.identifier, destination_cid=0, mtu=23, mps=23, initial_credits=0,
                result=results.pop(0),
            ))

        manager.on_l2cap_le_credit_based_connection_request = answer


class Opened(ChannelTest):
    async def test_bytes_go_both_ways(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        sent = os.urandom(100_000)
        await stream.send(sent)
        self.assertTrue(await served.until(sent))
        served.channel.write(sent)
        self.assertEqual(await stream.read(len(sent)), sent)

    async def test_the_descriptor_does_not_block(self):
        _, path = await self.linked()
        self.assertFalse((await self.open(path)).blocking)

    async def test_what_comes_right_behind_the_answer_is_there(self):
        peripheral, path = await self.linked()
        peripheral.device.create_l2cap_server(LeCreditBasedChannelSpec(psm=0x26), lambda each: each.write(b"hello"))
        stream = await self.open(path, 0x26)
        self.assertEqual(await stream.read(5), b"hello")

    async def test_several_channels_of_one_link_are_apart(self):
        _, path = await self.linked()
        pairs = [await self.both(path) for _ in range(3)]
        for index, (stream, _) in enumerate(pairs):
            await stream.send(bytes([index]) * 1000)
        for index, (_, served) in enumerate(pairs):
            self.assertTrue(await served.until(bytes([index]) * 1000))

    async def test_a_channel_can_be_opened_again_and_again(self):
        _, path = await self.linked()
        for _ in range(70):
            stream, served = await self.both(path)
            stream.close()
            await served.end()
            self.forgotten(served.channel)

    async def test_a_refusal_ends_in_its_result(self):
        peripheral, path = await self.linked()
        results = [0x0004, 0x0006, 0x0007, 0x0009, 0x000B, 0x0123]
        self.refuse(peripheral, *results)
        for result in results:
            refusal = await self.refused(self.open(path))
            self.assertEqual((refusal.name, refusal.text.split()[-1]), ("org.bluez.Error.Failed", f"0x{result:04x}"))

    async def test_a_psm_that_nobody_serves_is_refused(self):
        _, path = await self.linked()
        self.assertTrue((await self.refused(self.open(path, 0x77))).text.endswith(" 0x0002"))

    async def test_a_peer_that_knows_no_channels_has_no_such_psm(self):
        peripheral, path = await self.linked()
        manager = peripheral.device.l2cap_channel_manager
        manager.on_l2cap_le_credit_based_connection_request = lambda connection, cid, request: (
            manager.send_control_frame(
                connection, cid, l2cap.L2CAP_Command_Reject(identifier=request.identifier, reason=0, data=b"")
            )
        )
        self.assertTrue((await self.refused(self.open(path))).text.endswith(" 0x0002"))

    async def test_a_channel_that_wants_security_is_opened_after_pairing(self):
        peripheral, path = await self.linked()
        self.refuse(peripheral, 0x0005)
        await self.both(path)
        self.assertTrue(peripheral.links[0].is_encrypted)
        self.assertTrue(self.client.objects[path][DEVICE]["Paired"])

    async def test_security_that_is_not_enough_is_refused_after_one_more_try(self):
        peripheral, path = await self.linked()
        self.refuse(peripheral, 0x0008, 0x0005)
        self.assertTrue((await self.refused(self.open(path))).text.endswith(" 0x0005"))

    async def test_a_device_without_a_link_is_not_connected(self):
        _, path = await self.linked()
        await self.client.call(path, DEVICE, "Disconnect")
        self.assertEqual((await self.refused(self.open(path))).name, "org.bluez.Error.NotConnected")

    async def test_no_psm_beyond_255_is_taken(self):
        _, path = await self.linked()
        for psm in (0, 256):
            self.assertEqual((await self.refused(self.open(path, psm))).name, "org.bluez.Error.InvalidArguments")

    async def test_an_opening_fails_with_its_link(self):
        peripheral, path = await self.linked()
        asked = asyncio.Event()
        peripheral.device.l2cap_channel_manager.on_l2cap_le_credit_based_connection_request = (
            lambda *_: asked.set()
        )
        opening = asyncio.ensure_future(self.open(path))
        await asyncio.wait_for(asked.wait(), BOUND)
        await peripheral.links[0].disconnect()
        self.assertEqual((await self.refused(opening)).name, "org.bluez.Error.NotConnected")
        order = [event[0] for event in self.client.events]
        self.assertLess(order.index("disconnected"), order.index("error"))


class Paced(ChannelTest):
    async def test_a_client_that_does_not_read_stops_the_peer(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        sent = os.urandom(1_000_000)
        served.channel.write(sent)
        room = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        await self.stalled(served.channel, "credits")
        left = sum(map(len, served.channel.out_queue)) + len(served.channel.out_sdu or b"")
        self.assertGreater(left, len(sent) - room - 2 * CREDITS * MPS)
        self.assertEqual(await stream.read(len(sent)), sent, "nothing is lost")

    async def test_a_peer_that_gives_no_credits_stops_the_client(self):
        _, path = await self.linked(reads=False, credits=10)
        stream, served = await self.both(path)
        sent = stream.fill()
        # What Bumble's end says of itself: 10 PDUs of at most 2048 octets.
        self.assertLess(len(sent), 2_000_000)
        await self.stalled(served.channel, "peer_credits")
        sent += stream.fill()
        with self.assertRaises(BlockingIOError):
            stream.socket.send(b"more")
        self.assertLess(len(served.got), 10 * 2048)
        served.channel.peer_credits_threshold = served.channel.peer_max_credits // 2
        served.channel.peer_credits = 10
        served.channel.send_control_frame(l2cap.L2CAP_LE_Flow_Control_Credit(
            identifier=9, cid=served.channel.source_cid, credits=10
        ))
        self.assertTrue(await served.until(sent), "nothing is lost")

    async def test_a_peer_that_sends_without_credits_is_closed(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        served.channel.credits = 10_000
        served.channel.write(bytes(2_000_000))
        await served.end()
        octets = await stream.read()
        self.assertEqual(octets, bytes(len(octets)))

    async def test_a_peer_whose_lengths_are_wrong_is_closed(self):
        _, path = await self.linked()
        for frame in (b"\1", b"\xff\xff", b"\1\0ab", bytes(MPS + 1)):
            with self.subTest(frame=frame[:4]):
                stream, served = await self.both(path)
                served.channel.send_pdu(frame)
                await served.end()
                self.forgotten(served.channel)
                self.assertEqual(await stream.read(), b"")

    async def test_a_peer_that_gives_too_many_credits_is_closed(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        for _ in range(2):
            served.channel.send_control_frame(l2cap.L2CAP_LE_Flow_Control_Credit(
                identifier=9, cid=served.channel.source_cid, credits=0xFFFF
            ))
        await served.end()
        self.assertEqual(await stream.read(), b"")


class Ended(ChannelTest):
    async def test_bytes_before_the_peers_hang_up_are_read(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        served.channel.write(b"last words")
        await served.channel.disconnect()
        self.assertEqual(await stream.read(), b"last words")

    async def test_what_a_slow_client_has_not_read_at_the_end_of_the_link_is_still_there(self):
        peripheral, path = await self.linked()
        stream, served = await self.both(path)
        sent = os.urandom(300_000)
        served.channel.write(sent)
        await self.stalled(served.channel, "credits")
        left = sum(map(len, served.channel.out_queue)) + len(served.channel.out_sdu or b"")
        await peripheral.links[0].disconnect()
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        octets = await stream.read()
        self.assertGreaterEqual(len(octets), len(sent) - left)
        self.assertEqual(octets, sent[:len(octets)])

    async def test_the_end_of_the_link_hangs_up(self):
        peripheral, path = await self.linked()
        stream, _ = await self.both(path)
        await peripheral.links[0].disconnect()
        self.assertEqual(await stream.read(), b"")

    async def test_a_peer_that_vanishes_hangs_up(self):
        peripheral, path = await self.linked()
        stream, _ = await self.both(path)
        await peripheral.vanish()
        self.assertEqual(await stream.read(), b"")

    async def test_what_the_client_wrote_before_it_closed_arrives(self):
        _, path = await self.linked()
        stream, served = await self.both(path)
        sent = stream.fill()
        stream.close()
        self.assertTrue(await served.until(sent))
        await served.end()

    async def test_the_end_of_a_client_is_told_to_a_peer_that_takes_no_more(self):
        _, path = await self.linked(reads=False, credits=3)
        stream, served = await self.both(path)
        stream.fill()
        stream.close()
        await served.end()


class Listening:
    async def listen(self, encrypted=False):
        """A PSM, and the socket on which channels come."""
        answer = await self.client.call(HCI0, RADIO, "ListenChannels", "b", encrypted)
        listener = socket.socket(fileno=answer.unix_fds[answer.body[1]])
        self.addCleanup(listener.close)
        listener.setblocking(False)
        return answer.body[0], listener

    async def accepted(self, listener):
        """What a listener is given: a text and a stream."""
        loop, come = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(listener, come.set)
        await asyncio.wait_for(come.wait(), BOUND)
        loop.remove_reader(listener)
        said, descriptors, _, _ = socket.recv_fds(listener, 100, 1)
        stream = Stream(descriptors[0])
        self.addCleanup(stream.close)
        return said.decode(), stream


class Listened(Listening, ChannelTest):
    async def opened(self, peripheral, psm):
        spec = LeCreditBasedChannelSpec(psm=psm)
        return Served(await asyncio.wait_for(peripheral.links[0].create_l2cap_channel(spec), BOUND))

    async def refused_with(self, peripheral, psm):
        with self.assertRaises(ProtocolError) as caught:
            await self.opened(peripheral, psm)
        return int(caught.exception.error_code)

    async def test_a_peer_opens_a_channel(self):
        peripheral, _ = await self.linked()
        psm, listener = await self.listen()
        self.assertIn(psm, range(0x80, 0x100))
        opened = await self.opened(peripheral, psm)
        said, stream = await self.accepted(listener)
        self.assertEqual(said, f"{peripheral.address} random")
        self.assertFalse(stream.blocking)
        sent = os.urandom(50_000)
        opened.channel.write(sent)
        self.assertEqual(await stream.read(len(sent)), sent)
        await stream.send(sent)
        self.assertTrue(await opened.until(sent))
        await opened.channel.disconnect()
        self.assertEqual(await stream.read(), b"")

    async def test_each_listener_has_a_psm_of_its_own(self):
        first, second = await self.listen(), await self.listen()
        self.assertNotEqual(first[0], second[0])

    async def test_a_listener_that_is_closed_listens_no_more(self):
        peripheral, _ = await self.linked()
        psm, listener = await self.listen()
        listener.close()
        self.assertEqual(await self.refused_with(peripheral, psm), 0x0002)

    async def test_a_channel_outlives_its_listener(self):
        peripheral, _ = await self.linked()
        psm, listener = await self.listen()
        opened = await self.opened(peripheral, psm)
        _, stream = await self.accepted(listener)
        listener.close()
        await stream.send(b"still here")
        self.assertTrue(await opened.until(b"still here"))

    async def test_a_link_that_is_not_encrypted_is_refused_by_its_key(self):
        """Authentication while there is no key, encryption once there is one; then it is accepted."""
        peripheral, path = await self.linked()
        psm, listener = await self.listen(encrypted=True)
        self.assertEqual(await self.refused_with(peripheral, psm), 0x0005)
        await self.client.call(path, DEVICE, "Pair")
        await self.opened(peripheral, psm)
        await self.accepted(listener)
        await self.client.call(path, DEVICE, "Disconnect")
        await self.client.link(peripheral.address)
        if not peripheral.links[0].is_encrypted:
            self.assertEqual(await self.refused_with(peripheral, psm), 0x0008)

    async def test_numbers_and_sizes_that_are_wrong_are_refused(self):
        peripheral, _ = await self.linked()
        psm, _ = await self.listen()
        manager = peripheral.device.l2cap_channel_manager
        answers = asyncio.Queue()
        manager.on_l2cap_le_credit_based_connection_response = lambda _, cid, frame: answers.put_nowait(frame)
        good = {"le_psm": psm, "source_cid": 0x60, "mtu": 100, "mps": 100, "initial_credits": 1}
        for wrong, result in (
            ({"le_psm": 0xFF}, 0x0002), ({"source_cid": 4}, 0x0009), ({"mtu": 22}, 0x000B), ({"mps": 22}, 0x000B),
            ({}, 0), ({}, 0x000A),
        ):
            manager.send_control_frame(
                peripheral.links[0], l2cap.L2CAP_LE_SIGNALING_CID,
                l2cap.L2CAP_LE_Credit_Based_Connection_Request(identifier=1, **{**good, **wrong}),
            )
            answer = await asyncio.wait_for(answers.get(), BOUND)
            self.assertEqual(int(answer.result), result)


class Overtaken(Listening, unittest.IsolatedAsyncioTestCase):
    """A central's first request comes before the controller's word of which advertisement it answered."""

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        world = World(controllers=2)
        self.addCleanup(world.end)
        between = await Between.begin(world.sockets[0], f"{world.folder}/between")
        self.addCleanup(between.close)
        held = hci.HCI_LE_ADVERTISING_SET_TERMINATED_EVENT
        between.up = lambda packet: () if packet[:2] == b"\x04\x3e" and packet[3] == held else (packet,)
        said = await asyncio.to_thread(world.begin_bridge, transports=[between.transport])
        self.client = await Client.open(world.address)
        self.addCleanup(self.client.close)
        await Offers(self.client).advertise("/adv")
        self.agent = Agent(await Client.open(world.address), {})
        self.addCleanup(self.agent.client.close)
        await register(self.agent.client, "NoInputNoOutput")
        self.central = await Central.begin(world.sockets[1])
        self.addAsyncCleanup(self.central.vanish)
        bridge = Address(said["adapters"][0]["address"], Address.PUBLIC_DEVICE_ADDRESS)
        self.link = await asyncio.wait_for(self.central.device.connect(bridge), BOUND)

    async def test_a_central_is_a_connected_device_before_its_channel(self):
        psm, listener = await self.listen()
        await asyncio.wait_for(self.link.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm)), BOUND)
        self.assertEqual((await self.accepted(listener))[0], f"{self.central.address} random")
        await self.client.until(lambda: self.client.objects[self.central.path][DEVICE]["Connected"], "the device")

    async def test_a_central_pairs(self):
        self.agent.answers["RequestAuthorization"] = lambda *_: ("", [])
        await asyncio.wait_for(self.link.pair(), BOUND)
        await self.client.until(lambda: self.client.objects[self.central.path][DEVICE]["Paired"], "the pairing")

    async def test_a_central_does_not_pair_without_the_agent(self):
        with self.assertRaises(ProtocolError):
            await asyncio.wait_for(self.link.pair(), BOUND)
        self.assertEqual(self.agent.asked, [("RequestAuthorization", self.central.path)])


del ChannelTest

if __name__ == "__main__":
    unittest.main()

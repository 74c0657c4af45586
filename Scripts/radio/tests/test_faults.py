"""Faults around the bridge: of its transport at each moment, its controller, its peers and its clients."""

import asyncio
import contextlib
import random
import signal
import tempfile
import unittest
from types import SimpleNamespace

from bumble import att, hci
from bumble.core import UUID
from dbus_fast import Message, Variant
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

from wakebench_radio.host import Line, RadioFailure

from .support import (
    ADAPTER, BOUND, CHARACTERISTIC, DESCRIPTOR, DEVICE, HCI0, PROPERTIES, SERVICE, Agent, Between, Client,
    Peripheral, RadioTest, Refusal, World, command_of, register,
)
from .test_links import heart_rate

SCAN = hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND
CONNECT = (hci.HCI_LE_CREATE_CONNECTION_COMMAND, hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND)
GONE = "see what is behind it; /org/bluez/hci0 is withdrawn until it is back"


class FaultTest(unittest.IsolatedAsyncioTestCase):
    """Each test has a world of its own, with something between the bridge and its controller."""

    # A command and a link's first request do not fail by themselves.
    limits = {"host.COMMAND": 600, "bearer.FIRST": 600}

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.world = World()
        self.addCleanup(self.world.end)
        self.between = await Between.begin(self.world.sockets[0], f"{self.world.folder}/between")
        self.addCleanup(self.between.close)
        self.errors = self.enterContext(tempfile.TemporaryFile("w+"))

    async def bridge(self):
        said = await asyncio.to_thread(
            self.world.begin_bridge, transports=[self.between.transport], limits=self.limits, stderr=self.errors
        )
        if said is None:
            return None
        client = await Client.open(self.world.address)
        self.addCleanup(client.close)
        return client

    async def peripheral(self, *services, socket=1):
        made = await Peripheral.begin(self.world.sockets[socket], services or [heart_rate()])
        self.addAsyncCleanup(made.vanish)
        return made

    def lines(self):
        """What the bridge wrote, without where it came from."""
        self.errors.seek(0)
        return [line.removeprefix(f"radio: {self.between.transport}: ") for line in self.errors.read().splitlines()]

    async def refused(self, work):
        with self.assertRaises(Refusal) as caught:
            await asyncio.wait_for(work, BOUND)
        return caught.exception.name.removeprefix("org.bluez.Error.")

    async def back(self, client):
        """The adapter came back, and can be used as before."""
        await client.until(lambda: HCI0 in client.objects, "the adapter")
        await client.link((await self.peripheral(socket=2)).address)

    async def command(self, *codes):
        """Waits for a command, which does not reach the controller."""
        came = asyncio.get_running_loop().create_future()

        def down(packet):
            if command_of(packet) not in codes:
                return (packet,)
            if not came.done():
                came.set_result(None)
            return ()

        self.between.down = down
        return came

    def refuse(self, *codes):
        """Refuses commands with a hardware failure (0x03): by a status, whatever they are answered with else."""

        def down(packet):
            if command_of(packet) not in codes:
                return (packet,)
            if codes == (hci.HCI_RESET_COMMAND,):
                self.between.to_host(b"\x04\x0e\x04\1" + packet[1:3] + b"\3")
            else:
                self.between.to_host(b"\x04\x0f\x04\3\1" + packet[1:3])
            return ()

        self.between.down = down


class LossTests(FaultTest):
    """The transport is lost at each moment: one line is said, what waits fails, and the adapter comes back."""

    async def cannot_begin(self, reason):
        self.assertIsNone(await self.bridge())
        self.assertEqual(await asyncio.to_thread(self.world.bridge.wait, BOUND), 12)
        self.assertEqual(self.lines(), [f"cannot be made ready: {reason}; see whether a controller is there, and"
                                        " whether something else uses it"])

    async def test_before_the_reset_is_answered(self):
        def down(packet):
            self.between.cut()
            return ()

        self.between.down = down
        await self.cannot_begin("the transport was closed")

    async def test_after_the_reset_is_answered(self):
        def down(packet):
            if command_of(packet) != hci.HCI_RESET_COMMAND:
                self.between.cut()
            return (packet,)

        self.between.down = down
        await self.cannot_begin("the transport was closed")

    async def lost(self, client, reason="the transport was closed"):
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertEqual(self.lines(), [f"lost: {reason}; {GONE}"])
        self.between.down = self.between.up = lambda packet: (packet,)
        await self.back(client)

    async def test_in_discovery(self):
        client = await self.bridge()
        await client.discover()
        self.between.cut()
        await self.lost(client)

    async def test_while_a_scan_begins(self):
        client = await self.bridge()
        came = await self.command(SCAN)
        starting = asyncio.ensure_future(client.call(HCI0, ADAPTER, "StartDiscovery"))
        await asyncio.wait_for(came, BOUND)
        self.between.cut()
        self.assertEqual(await self.refused(starting), "Failed")
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertEqual(self.lines()[-1], f"lost: the transport was closed; {GONE}")
        self.between.down = lambda packet: (packet,)
        await self.back(client)

    async def test_while_it_connects(self):
        client = await self.bridge()
        peripheral = await self.peripheral()
        await client.discover()
        path = await client.find(peripheral.address)
        await client.call(HCI0, ADAPTER, "StopDiscovery")
        came = await self.command(*CONNECT)
        connecting = asyncio.ensure_future(client.call(path, DEVICE, "Connect"))
        await asyncio.wait_for(came, BOUND)
        self.between.cut()
        self.assertEqual(await self.refused(connecting), "Failed")
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertEqual(self.lines()[-1], f"lost: the transport was closed; {GONE}")
        self.between.down = lambda packet: (packet,)
        await self.back(client)

    async def test_while_services_are_discovered(self):
        client = await self.bridge()
        peripheral = await self.peripheral()
        await client.discover()
        path = await client.find(peripheral.address)
        came = asyncio.get_running_loop().create_future()

        def down(packet):
            if packet[0] != 2:
                return (packet,)
            came.done() or came.set_result(None)
            return ()

        self.between.down = down
        await client.call(path, DEVICE, "Connect")
        await asyncio.wait_for(came, BOUND)
        pairing, = await client.begin(client.call(path, DEVICE, "Pair"))
        self.between.cut()
        self.assertEqual(await self.refused(pairing), "AuthenticationCanceled")
        await self.lost(client)

    async def test_in_the_middle_of_other_requests(self):
        client = await self.bridge()
        path = await client.link((await self.peripheral()).address)
        place = client.attribute(path, CHARACTERISTIC, "2A37")
        self.between.down = lambda packet: (packet,) if packet[0] != 2 else ()
        calls = await client.begin(
            client.write(place, b"\1"), client.write(place, bytes(400)), client.call(place, CHARACTERISTIC, "StartNotify"),
            client.read(client.attribute(path, DESCRIPTOR, "2902"), DESCRIPTOR),
        )
        self.between.cut()
        for each in calls:
            self.assertEqual(await self.refused(each), "NotConnected")
        await self.lost(client)

    async def test_in_the_middle_of_a_read(self):
        client = await self.bridge()
        path = await client.link((await self.peripheral()).address)
        place = client.attribute(path, CHARACTERISTIC, "2A37")
        self.between.down = lambda packet: (packet,) if packet[0] != 2 else ()
        reading, = await client.begin(client.read(place))
        self.between.cut()
        self.assertEqual(await self.refused(reading), "NotConnected")
        await self.lost(client)
        self.assertIn(("disconnected", path, "org.bluez.Reason.Timeout", "Connection timeout"), client.events)

    async def test_in_pairing(self):
        client = await self.bridge()
        agent = Agent(client, {"RequestAuthorization": lambda *_: None})
        await register(client, "NoInputNoOutput")
        path = await client.link((await self.peripheral()).address)
        pairing = asyncio.ensure_future(client.call(path, DEVICE, "Pair"))
        await agent.until(1)
        self.between.cut()
        self.assertEqual(await self.refused(pairing), "AuthenticationCanceled")
        await agent.until(2)
        self.assertEqual(agent.asked[1], ("Cancel",))
        await self.lost(client)

    async def test_in_pairing_over_a_transport_that_tells_of_no_loss(self):
        """Bumble hears of the end of a websocket, as of netsim, from this program alone."""
        ends = []

        async def pass_on(websocket):
            reader, writer = await asyncio.open_unix_connection(self.between.controller)
            ends.append(websocket)

            async def up():
                while octets := await reader.read(65536):
                    await websocket.send(octets)

            passing = asyncio.ensure_future(up())
            with contextlib.suppress(ConnectionClosed):
                async for octets in websocket:
                    writer.write(octets)
            passing.cancel()
            writer.close()

        server = await serve(pass_on, "127.0.0.1", 0)
        self.addCleanup(server.close)
        transport = f"ws-client:ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        await asyncio.to_thread(
            self.world.begin_bridge, transports=[transport], limits=self.limits | {"agent.PAIRING": 600}, stderr=self.errors
        )
        client = await Client.open(self.world.address)
        self.addCleanup(client.close)
        agent = Agent(client, {"RequestAuthorization": lambda *_: None})
        await register(client, "NoInputNoOutput")
        path = await client.link((await self.peripheral()).address)
        pairing = asyncio.ensure_future(client.call(path, DEVICE, "Pair"))
        await agent.until(1)
        ends[0].transport.abort()
        self.assertEqual(await self.refused(pairing), "AuthenticationCanceled")

    async def test_before_the_adapter_is_announced(self):
        """It is lost while another transport is opened."""
        other = await Between.begin(self.world.sockets[1], f"{self.world.folder}/other")
        self.addCleanup(other.close)
        held, ready = asyncio.Event(), asyncio.Event()
        read = []

        def hold(packet):
            held.set()
            read.append(packet)
            return ()

        def asks_again(packet):
            # A controller that is ready and says nothing is asked for its address.
            if command_of(packet) == hci.HCI_READ_BD_ADDR_COMMAND:
                times.append(asyncio.get_running_loop().time())
                if times[-1] - times[0] > 1:
                    ready.set()
            return (packet,)

        times, other.down, self.between.down = [], hold, asks_again
        starting = asyncio.ensure_future(asyncio.to_thread(
            self.world.begin_bridge, transports=[self.between.transport, other.transport], stderr=self.errors
        ))
        await asyncio.wait_for(asyncio.gather(held.wait(), ready.wait()), BOUND)
        self.between.cut()
        other.down = lambda packet: (packet,)
        for packet in read:
            other.ends[1].write(packet)
        self.assertIsNone(await starting)
        self.assertEqual(await asyncio.to_thread(self.world.bridge.wait, BOUND), 12)
        self.assertEqual(self.lines(), ["lost: the transport was closed; see what is behind it"])

    async def test_in_the_turn_in_which_the_controller_is_ready(self):
        line = Line("unix:none", self.fail)
        line.transport, line.host = SimpleNamespace(), SimpleNamespace(finish=lambda: None)

        async def start():
            line.lose("the transport was closed")

        with self.assertRaisesRegex(RadioFailure, "unix:none: cannot be made ready: the transport was closed"):
            await line.ready(start())

    async def test_a_stopped_bridge_that_is_continued(self):
        client = await self.bridge()
        await client.link((await self.peripheral()).address)
        self.world.bridge.send_signal(signal.SIGSTOP)
        self.between.cut()
        self.world.bridge.send_signal(signal.SIGCONT)
        await self.lost(client)


class SilenceTests(FaultTest):
    """A command that is not answered: its name is said, and the adapter is made anew."""

    limits = {}

    async def silent(self, work, *codes):
        """What a call is refused with while commands are not answered; the last line that was said."""
        client = self.client
        await self.command(*codes)
        name = await self.refused(work(client))
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        said = self.lines()[-1]
        self.between.down = lambda packet: (packet,)
        await self.back(client)
        return name, said

    async def test_a_scan_that_is_not_begun(self):
        self.client = await self.bridge()
        name, said = await self.silent(lambda client: client.discover(), SCAN)
        self.assertEqual(name, "Failed")
        self.assertEqual(
            said, f"lost: the controller does not answer HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND in 4 s; {GONE}"
        )

    async def test_a_connection_that_is_not_cancelled(self):
        client = await self.bridge()
        peripheral = await self.peripheral()
        await client.discover()
        path = await client.find(peripheral.address)
        await client.call(HCI0, ADAPTER, "StopDiscovery")
        # Neither the connection nor its end is told.
        came = asyncio.get_running_loop().create_future()
        cancel = hci.HCI_LE_CREATE_CONNECTION_CANCEL_COMMAND

        def down(packet):
            code = command_of(packet)
            if code in (*CONNECT, cancel):
                done = b"\x04\x0e\4\1" + packet[1:3] + b"\0" if code == cancel else b"\x04\x0f\4\0\1" + packet[1:3]
                self.between.to_host(done)
                came.done() or came.set_result(None)
                return ()
            return (packet,)

        self.between.down = down
        connecting = asyncio.ensure_future(client.call(path, DEVICE, "Connect"))
        await asyncio.wait_for(came, BOUND)
        await client.call(path, DEVICE, "Disconnect")
        self.assertEqual(await self.refused(connecting), "Failed")
        self.assertIn("the controller does not give up to connect to", self.lines()[-1])
        # What is said helps.
        self.between.down = lambda packet: (packet,)
        for powered in (False, True):
            await client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", powered))
        await client.link(peripheral.address)

    async def test_a_controller_that_takes_no_commands(self):
        client = await self.bridge()
        # Num_HCI_Command_Packets is 0 in each answer.
        self.between.up = lambda packet: (
            (packet[:3] + b"\0" + packet[4:],) if packet[:2] == b"\x04\x0e" else
            (packet[:4] + b"\0" + packet[5:],) if packet[:2] == b"\x04\x0f" else (packet,)
        )
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertIn("lost: the controller does not answer HCI_", self.lines()[0])
        self.between.up = lambda packet: (packet,)
        await self.back(client)

    async def test_an_air_full_of_advertisements_does_not_hide_it(self):
        client = await self.bridge()
        await self.peripheral()
        await client.discover(DuplicateData=Variant("b", True))
        await self.command(SCAN)
        await client.call(HCI0, ADAPTER, "StopDiscovery")
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertIn("lost: the controller does not answer HCI_LE_SET_EXTENDED_SCAN_ENABLE", self.lines()[-1])


class RefusalTests(FaultTest):
    """Commands that are refused: the call fails, a line says why, and the next one is done."""

    async def test_the_reset(self):
        self.refuse(hci.HCI_RESET_COMMAND)
        self.assertIsNone(await self.bridge())
        self.assertEqual(await asyncio.to_thread(self.world.bridge.wait, BOUND), 12)
        said = self.lines()
        self.assertEqual(len(said), 1, said)
        self.assertIn("cannot be made ready: ", said[0])
        self.assertIn("HARDWARE_FAILURE", said[0])

    async def test_a_scan(self):
        client = await self.bridge()
        self.refuse(SCAN)
        self.assertEqual(await self.refused(client.discover()), "Failed")
        said = self.lines()
        self.assertEqual(len(said), 1, said)
        self.assertIn("the controller refuses to scan: ", said[0])
        self.between.down = lambda packet: (packet,)
        await client.discover()

    async def test_a_scan_that_another_filter_ends(self):
        """The filter is taken, as with bluetoothd, and a line says what the controller does not do."""
        client = await self.bridge()
        await client.discover()
        self.refuse(SCAN)
        await client.call(HCI0, ADAPTER, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "bredr")})
        said = self.lines()
        self.assertEqual(len(said), 1, said)
        self.assertIn("SetDiscoveryFilter: ", said[0])
        self.assertIn("the controller refuses to scan: ", said[0])

    async def test_a_connection(self):
        client = await self.bridge()
        peripheral = await self.peripheral()
        await client.discover()
        path = await client.find(peripheral.address)
        await client.call(HCI0, ADAPTER, "StopDiscovery")
        self.refuse(*CONNECT)
        self.assertEqual(await self.refused(client.call(path, DEVICE, "Connect")), "Failed")
        said = self.lines()
        self.assertEqual(len(said), 1, said)
        self.assertIn("the controller refuses to connect: ", said[0])
        self.between.down = lambda packet: (packet,)
        await client.call(path, DEVICE, "Connect")

    async def test_an_end_of_a_link(self):
        client = await self.bridge()
        path = await client.link((await self.peripheral()).address)
        self.refuse(hci.HCI_DISCONNECT_COMMAND)
        await client.call(path, DEVICE, "Disconnect")
        self.assertFalse(client.objects[path][DEVICE]["Connected"], "it counts as ended")


class BabbleTests(FaultTest):
    """What a controller says unasked: it is left out, and values go on."""

    limits = {}

    async def survives(self, packets):
        client = await self.bridge()
        path = await client.link((await self.peripheral()).address)
        place = client.attribute(path, CHARACTERISTIC, "2A37")
        for packet in packets:
            self.between.to_host(packet)
        self.assertEqual(await client.read(place), b"\0\x48")
        self.assertLess(len(self.lines()), 2, self.lines())
        return client

    async def test_events_of_handles_that_are_not_there(self):
        handle = b"\xab\x0c"
        await self.survives([
            b"\x04\x05\x04\0" + handle + b"\x13",
            b"\x04\x08\x04\0" + handle + b"\1",
            b"\x04\x13\x05\1" + handle + b"\5\0",
            b"\x04\x3e\x0a\x03\0" + handle + bytes(6),
            b"\x04\x3e\x0d\x05" + handle + bytes(10),
            b"\x04\x3e\x06\x0c\0" + handle + b"\1\1",
            b"\x02" + handle + b"\x08\0\4\0\4\0\x1b\1\0\0",
        ])

    async def test_events_of_what_was_never_asked_for(self):
        events = [bytes([4, code, 20]) + bytes(20) for code in range(1, 0x60) if code not in (0x05, 0x0E, 0x0F, 0x10)]
        await self.survives(events + [bytes([4, 0x3E, 30, code]) + bytes(29) for code in range(3, 0x40)])

    async def test_answers_that_nobody_waits_for(self):
        await self.survives([b"\x04\x0e\x04\1\x05\x0c\0", b"\x04\x0f\x04\0\1\x0d\x20", b"\x04\x0e\x04\1\x0c\x20\x0c"])

    async def test_a_link_that_nobody_asked_for(self):
        client = await self.survives([
            b"\x04\x3e\x13\1\0\x33\x03\0\1\1\2\3\4\5\xc6\x18\0\0\0\x2a\0\0",
        ])
        self.assertEqual(len([each for each in client.objects.values() if DEVICE in each]), 1)

    async def test_random_events(self):
        chance = random.Random(7)
        await self.survives([
            bytes([4, chance.choice((0x3E, chance.randrange(0x40, 0xFF))), length]) + chance.randbytes(length)
            for length in (chance.randrange(60) for _ in range(1000))
        ])

    async def test_a_hardware_error_brings_the_adapter_back(self):
        client = await self.bridge()
        self.between.to_host(b"\x04\x10\x01\x42")
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertEqual(self.lines(), [f"lost: the controller reports a hardware error 0x42; {GONE}"])
        await self.back(client)

    async def test_a_length_that_swallows_what_follows_brings_the_adapter_back(self):
        client = await self.bridge()
        # The head of a packet of 65535 octets: the next answers are taken for its body.
        self.between.to_host(b"\x02\1\0\xff\xff")
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertIn("lost: the controller does not answer HCI_READ_BD_ADDR_COMMAND in 4 s", self.lines()[0])
        await self.back(client)


class QueueTests(FaultTest):
    """The controller's buffers are full of packets of a link that ends."""

    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.client = await self.bridge()
        self.far, other = await self.peripheral(), await self.peripheral(socket=2)
        path, other_path = await self.client.link(self.far.address), await self.client.link(other.address)
        self.place, self.other_place = (
            self.client.attribute(each, CHARACTERISTIC, "2A37") for each in (path, other_path)
        )
        # Number Of Completed Packets is not told.
        self.between.up = lambda packet: () if packet[:2] == b"\x04\x13" else (packet,)
        self.commands = await self.client.begin(*(self.client.write(self.place, b"\1", "command") for _ in range(130)))

    async def test_commands_that_wait_for_room_fail_with_the_link(self):
        await self.far.links[0].disconnect()
        said = await asyncio.wait_for(asyncio.gather(*self.commands, return_exceptions=True), BOUND)
        self.assertEqual([each.name for each in said[-60:]], ["org.bluez.Error.NotConnected"] * 60)

    async def test_another_link_goes_on(self):
        reading, = await self.client.begin(self.client.read(self.other_place))
        await self.far.links[0].disconnect()
        self.assertEqual(await asyncio.wait_for(reading, BOUND), b"\0\x48")
        await asyncio.gather(*self.commands, return_exceptions=True)


class PeerTests(FaultTest):
    """What a peer does that it should not: the link goes on, and what the client asked for is answered."""

    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.client = await self.bridge()
        self.far = await self.peripheral()
        self.path = await self.client.link(self.far.address)
        self.place = self.client.attribute(self.path, CHARACTERISTIC, "2A37")

    def send(self, pdu, cid=att.ATT_CID):
        self.far.device.host.send_l2cap_pdu(self.far.links[0].handle, cid, pdu)

    async def test_an_answer_that_cannot_be_read_is_an_error(self):
        server = self.far.device.gatt_server
        server.on_att_read_request = lambda bearer, request: self.send(b"\x01\x0a")
        self.assertEqual(await self.refused(self.client.read(self.place)), "Failed")
        del server.on_att_read_request
        self.assertEqual(await self.client.read(self.place), b"\0\x48")

    async def test_answers_that_nobody_asked_for_are_left_out(self):
        for code in (0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21, 0x1B, 0x1D, 0x23):
            self.send(bytes([code]))
            self.send(bytes([code]) + bytes(9))
        # Its answer comes behind all these, which would else meet a request of the bridge.
        await self.unreadable_request()
        self.assertEqual(await self.client.read(self.place), b"\0\x48")

    async def unreadable_request(self):
        """The answer to a read without a handle: the code of the request, and the error."""
        told = asyncio.get_running_loop().create_future()
        self.far.links[0].gatt_client.on_gatt_pdu = told.set_result
        self.send(b"\x0a")
        answer = await asyncio.wait_for(told, BOUND)
        return answer.request_opcode_in_error, answer.error_code

    async def test_a_request_that_cannot_be_read_is_refused(self):
        self.assertEqual(await self.unreadable_request(), (0x0A, att.ErrorCode.INVALID_PDU))
        self.assertEqual(await self.client.read(self.place), b"\0\x48")

    async def test_garbage_on_all_channels_is_survived(self):
        chance = random.Random(3)
        for _ in range(500):
            self.send(chance.randbytes(chance.randrange(1, 30)), chance.choice((1, 5, 6, 0x40, 0x3F)))
        self.assertEqual(await self.client.read(self.place), b"\0\x48")

    async def test_a_table_without_end_is_given_up(self):
        await self.client.call(self.path, DEVICE, "Disconnect")
        server = self.far.device.gatt_server

        def services(bearer, request):
            first = request.starting_handle
            self.send(b"\x11\6" + b"".join(
                each.to_bytes(2, "little") * 2 + b"\x0d\x18" for each in range(first, min(first + 20, 0xFFFF))
            ))

        server.on_att_read_by_group_type_request = services
        await self.link_again()
        self.assertIn("its services cannot be read: it tells of more than 4096 attributes", self.lines()[-1])

    async def link_again(self):
        await self.client.until(lambda: not self.client.objects[self.path][DEVICE]["Connected"], "the end")
        await self.client.call(self.path, DEVICE, "Connect")
        await self.client.until(lambda: self.client.objects[self.path][DEVICE]["ServicesResolved"], "ServicesResolved")

    async def lists(self, **answers):
        """Links again to a peer that lists what is said here, by the kind of request; all else it has not."""
        await self.client.call(self.path, DEVICE, "Disconnect")

        def answer(kind):
            def answered(bearer, request):
                said = answers[kind](request.starting_handle) if kind in answers else b""
                wanted = getattr(request, "attribute_group_type", None) or getattr(request, "attribute_type", None)
                if wanted not in (None, UUID("2800"), UUID("2803")):
                    said = b""
                self.send(said or b"\1" + bytes([request.op_code]) + request.starting_handle.to_bytes(2, "little") + b"\x0a")

            return answered

        for kind in ("read_by_group_type", "read_by_type", "find_information"):
            setattr(self.far.device.gatt_server, f"on_att_{kind}_request", answer(kind))
        await self.link_again()

    async def test_descriptors_without_end_are_given_up(self):
        await self.lists(
            read_by_group_type=lambda first: b"\x11\6\1\0\xff\xff\x0d\x18" if first == 1 else b"",
            read_by_type=lambda first: b"\x09\7\2\0\2\3\0\x37\x2a" if first == 1 else b"",
            find_information=lambda first: b"\5\1" + b"".join(
                each.to_bytes(2, "little") + b"\1\x29" for each in range(first, min(first + 40, 0xFFFF))
            ),
        )
        self.assertIn("its services cannot be read: it tells of more than 4096 attributes", self.lines()[-1])

    async def test_a_service_whose_uuid_has_a_wrong_length_is_left_out(self):
        await self.lists(read_by_group_type=lambda first: b"\x11\7\1\0\5\0\x0d\x18\0" if first == 1 else b"")
        self.assertEqual([there for there in self.client.objects.values() if SERVICE in there], [])

    async def test_a_characteristic_whose_value_is_elsewhere_is_left_out(self):
        await self.lists(
            read_by_group_type=lambda first: b"\x11\6\1\0\x10\0\x0d\x18" if first == 1 else b"",
            read_by_type=lambda first: b"\x09\7\2\0\2\0\0\x37\x2a\4\0\2\5\0\x38\x2a" if first == 1 else b"",
        )
        shown = [place.rpartition("/")[2] for place, there in self.client.objects.items() if CHARACTERISTIC in there]
        self.assertEqual(shown, ["char0004"])

    async def test_a_read_that_is_not_answered_ends_with_the_link(self):
        asked = asyncio.Event()
        self.far.device.gatt_server.on_att_read_request = lambda bearer, request: asked.set()
        reading, = await self.client.begin(self.client.read(self.place))
        await asyncio.wait_for(asked.wait(), BOUND)
        self.assertFalse(reading.done())
        await self.client.call(self.path, DEVICE, "Disconnect")
        self.assertEqual(await self.refused(reading), "NotConnected")


class ClientTests(RadioTest):
    """What a client of the bus does that it should not."""

    async def linked(self):
        self.far = await self.peripheral(heart_rate())
        self.path = await self.client.link(self.far.address)
        return self.client.attribute(self.path, CHARACTERISTIC, "2A37")

    async def test_options_of_another_type_are_refused(self):
        place = await self.linked()
        for member, signature, body in (
            ("ReadValue", "a{sv}", [{"offset": Variant("s", "1")}]), ("ReadValue", "a{sv}", [{"offset": Variant("n", -1)}]),
            ("WriteValue", "aya{sv}", [b"x", {"type": Variant("i", 3)}]),
            ("WriteValue", "aya{sv}", [b"x", {"offset": Variant("t", 1 << 40)}]),
        ):
            with self.subTest(member=member, body=body):
                refusal = await self.refused(self.client.call(place, CHARACTERISTIC, member, signature, *body))
                self.assertEqual(refusal.name, "org.bluez.Error.InvalidArguments")

    async def test_values_longer_than_any_are_refused(self):
        place = await self.linked()
        for length in (513, 100_000):
            refusal = await self.refused(self.client.write(place, bytes(length)))
            self.assertEqual(refusal.text, "Operation failed with ATT error: 0x0d")

    async def test_a_filter_by_what_is_no_uuid_is_refused(self):
        refusal = await self.refused(self.client.discover(UUIDs=Variant("as", ["heart"])))
        self.assertEqual(refusal.name, "org.bluez.Error.InvalidArguments")

    async def test_calls_without_end_are_refused_and_those_under_way_are_answered(self):
        place = await self.linked()
        held = asyncio.get_running_loop().create_future()
        server = self.far.device.gatt_server
        server.on_att_read_request = lambda bearer, request: held.done() or held.set_result((bearer, request))
        message = {"destination": "org.bluez", "path": place, "interface": CHARACTERISTIC, "member": "ReadValue",
                   "signature": "a{sv}", "body": [{}]}
        calls = [asyncio.ensure_future(self.client.bus.call(Message(**message))) for _ in range(9000)]
        request = await asyncio.wait_for(held, BOUND)
        done, _ = await asyncio.wait(calls, timeout=BOUND, return_when=asyncio.FIRST_COMPLETED)
        self.assertEqual({each.result().error_name for each in done}, {"org.freedesktop.DBus.Error.LimitsExceeded"})
        await self.client.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Address")
        del server.on_att_read_request
        server.on_gatt_pdu(*request)
        await asyncio.wait_for(asyncio.gather(*calls), 60)
        refused = [each.result().error_name for each in calls if each.result().error_name]
        self.assertLess(len(refused), 1000)

    async def test_a_client_that_goes_in_the_middle_of_a_call_holds_nothing_up(self):
        place = await self.linked()
        held = asyncio.get_running_loop().create_future()
        server = self.far.device.gatt_server
        server.on_att_read_request = lambda bearer, request: held.done() or held.set_result((bearer, request))
        other = await Client.open(self.world.address)
        reading = asyncio.ensure_future(other.read(place))
        request = await asyncio.wait_for(held, BOUND)
        other.close()
        del server.on_att_read_request
        server.on_gatt_pdu(*request)
        self.assertEqual(await self.client.read(place), b"\0\x48")
        with self.assertRaises(Exception):
            await reading

    async def test_a_client_that_does_not_read_costs_the_others_nothing(self):
        place = await self.linked()
        idle = await Client.open(self.world.address)
        asyncio.get_running_loop().remove_reader(idle.bus._fd)
        await self.client.call(place, CHARACTERISTIC, "StartNotify")
        characteristic = next(each for each in self.far.device.gatt_server.attributes if each.type == "2A37")
        for number in range(3000):
            await self.far.device.notify_subscribers(characteristic, number.to_bytes(2, "big"))
        await self.client.until(lambda: len(self.client.values(place)) >= 3000, "all values")
        self.assertEqual(self.client.values(place), [number.to_bytes(2, "big") for number in range(3000)])

    async def test_no_value_is_lost_while_the_bridge_is_stopped(self):
        place = await self.linked()
        await self.client.call(place, CHARACTERISTIC, "StartNotify")
        characteristic = next(each for each in self.far.device.gatt_server.attributes if each.type == "2A37")
        for number in range(1500):
            if number == 300:
                self.world.bridge.send_signal(signal.SIGSTOP)
            await self.far.device.notify_subscribers(characteristic, number.to_bytes(2, "big"))
            # Five seconds and a half in which the bridge is stopped: longer than a command may take.
            await asyncio.sleep(0.005)
        self.world.bridge.send_signal(signal.SIGCONT)
        await self.client.until(lambda: len(self.client.values(place)) >= 1500, "all values")
        self.assertEqual(self.client.values(place), [number.to_bytes(2, "big") for number in range(1500)])
        self.assertTrue(self.client.objects[self.path][DEVICE]["Connected"])


if __name__ == "__main__":
    unittest.main()

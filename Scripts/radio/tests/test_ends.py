"""Ends: of the bridge, of its parent, its bus and its transports; and what stops without an end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from bumble.transport.common import PacketParser

from wakebench_radio import host
from wakebench_radio.bus import Bus
from wakebench_radio.hci import Radio
from wakebench_radio.host import Line, RadioFailure

from .support import ADAPTER, DEVICE, HCI0, BOUND, Client, Peripheral, World, program
from .test_links import heart_rate


# Nothing ends by its limit.
PATIENT = {"host.COMMAND": 600, "__main__.ENDING": 600}


class Ends(unittest.IsolatedAsyncioTestCase):
    """Each test has a world of its own, since it breaks it."""

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.world = World()
        self.addCleanup(self.world.end)

    async def bridge(self, *more, **how):
        return await asyncio.to_thread(self.world.begin_bridge, *more, **how)

    async def open(self):
        client = await Client.open(self.world.address)
        self.addCleanup(client.close)
        return client

    async def linked(self, place=1):
        """A client, a peripheral and the device's path, with a link between them."""
        client = await self.open()
        peripheral = await Peripheral.begin(self.world.sockets[place], [heart_rate()])
        self.addAsyncCleanup(peripheral.vanish)
        return client, peripheral, await client.link(peripheral.address)

    async def ended(self, process):
        """The exit code of a process that ends."""
        return await asyncio.to_thread(process.wait, BOUND)

    async def test_sigterm_disconnects_and_ends(self):
        await self.bridge(limits=PATIENT)
        client, peripheral, path = await self.linked()
        reason = asyncio.get_running_loop().create_future()
        peripheral.links[0].on("disconnection", reason.set_result)
        self.world.bridge.send_signal(signal.SIGTERM)
        self.assertEqual(await asyncio.wait_for(reason, BOUND), 0x13, "the peer is told")
        self.assertEqual(await self.ended(self.world.bridge), 0)
        await client.until(lambda: ("owner", "org.bluez", "") in client.events, "the name's end")
        self.assertIn(("disconnected", path, "org.bluez.Reason.Local", "Connection terminated by local host"),
                      client.events)

    async def test_sigterm_ends_it_while_a_controller_is_silent(self):
        asked = asyncio.Event()

        async def silent(reader, writer):
            await reader.read(1)
            asked.set()

        server = await asyncio.start_unix_server(silent, f"{self.world.folder}/silent")
        self.addCleanup(server.close)
        # What waits for the controller is left.
        limits = {"host.COMMAND": 600, "host.STARTING": 600, "host.OPENING": 600}
        process = self.world.begin([
            sys.executable, *program(limits), "--bus", self.world.address, "--hci", f"unix:{self.world.folder}/silent",
        ])
        await asyncio.wait_for(asked.wait(), BOUND)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(await self.ended(process), 0)

    async def test_a_signal_for_its_group_leaves_its_bus_until_its_end(self):
        folder = f"{self.world.folder}/own"
        bridge = self.world.begin(
            [sys.executable, *program(PATIENT), "--folder", folder, "--hci", self.world.sockets[0]],
            stderr=subprocess.PIPE, start_new_session=True,
        )
        self.assertTrue(await asyncio.to_thread(bridge.stdout.readline))
        client = await Client.open(f"unix:path={folder}/bus")
        name = "org.freedesktop.DBus"
        answer = await client.call_to(name, "/org/freedesktop/DBus", name, "GetConnectionUnixProcessID", "s", name)
        self.assertNotEqual(os.getpgid(answer.body[0]), bridge.pid)
        gone = asyncio.ensure_future(client.bus.wait_for_disconnect())
        os.killpg(bridge.pid, signal.SIGTERM)
        self.assertEqual(await self.ended(bridge), 0)
        self.assertEqual(bridge.stderr.read(), "")
        with self.assertRaises(EOFError):
            await asyncio.wait_for(gone, BOUND)

    async def test_the_end_of_the_parent_ends_it(self):
        reading, writing = os.pipe()
        await self.bridge("--parent", str(reading), limits=PATIENT, pass_fds=[reading])
        os.close(reading)
        self.assertIsNone(self.world.bridge.poll())
        os.close(writing)
        self.assertEqual(await self.ended(self.world.bridge), 0)

    async def test_the_end_of_the_bus_ends_it(self):
        await self.bridge(limits=PATIENT, stderr=subprocess.PIPE)
        _, peripheral, _ = await self.linked()
        reason = asyncio.get_running_loop().create_future()
        peripheral.links[0].on("disconnection", reason.set_result)
        self.world.bus.process.kill()
        self.assertEqual(await asyncio.wait_for(reason, BOUND), 0x13, "links end with it")
        self.assertEqual(await self.ended(self.world.bridge), 12)
        said = self.world.bridge.stderr.read().splitlines()
        self.assertEqual(said, [f"radio: {self.world.address}: it is gone; see whether dbus-daemon runs there"])

    async def test_a_signal_that_finds_the_end_of_the_bus_is_dropped(self):
        bus = Bus(self.world.address)
        await bus.open()
        bus.connection._sock.shutdown(socket.SHUT_WR)
        bus.emit("/", "org.test.Test1", "Told")
        self.assertFalse(bus.usable)

    async def test_a_killed_bridge_is_a_timeout_for_the_peer(self):
        await self.bridge()
        client, peripheral, _ = await self.linked()
        reason = asyncio.get_running_loop().create_future()
        peripheral.links[0].on("disconnection", reason.set_result)
        self.world.bridge.kill()
        self.assertEqual(await asyncio.wait_for(reason, BOUND), 0x08)
        await client.until(lambda: ("owner", "org.bluez", "") in client.events, "the name's end")
        # The controller is as new for the next one.
        await self.bridge()
        await self.linked(2)

    async def test_a_lost_transport_withdraws_the_adapter(self):
        await self.bridge(stderr=subprocess.PIPE)
        client, _, path = await self.linked()
        self.world.air.kill()
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        self.assertFalse([each for each in client.objects if each.startswith(HCI0)])
        self.assertIn(("disconnected", path, "org.bluez.Reason.Timeout", "Connection timeout"), client.events)
        order = [event[1] for event in client.events if event[0] == "removed"]
        self.assertEqual(order[-1], HCI0, "the adapter goes last")
        line = await asyncio.to_thread(self.world.bridge.stderr.readline)
        self.assertEqual(
            line.strip(),
            f"radio: {self.world.sockets[0]}: lost: the transport was closed; see what is behind it; {HCI0} is"
            " withdrawn until it is back",
        )

    async def test_a_transport_that_is_back_brings_the_adapter_back(self):
        await self.bridge(stderr=subprocess.DEVNULL)
        client = await self.open()
        self.world.air.kill()
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        air = self.world.begin([sys.executable, "-m", "wakebench_radio.link", *self.world.sockets])
        self.assertTrue(json.loads(await asyncio.to_thread(air.stdout.readline)))
        await client.until(lambda: HCI0 in client.objects, "the adapter")
        await self.linked()

    async def test_a_stopped_controller_is_found(self):
        await self.bridge(stderr=subprocess.PIPE)
        client, _, _ = await self.linked()
        self.world.air.send_signal(signal.SIGSTOP)
        await client.until(lambda: HCI0 not in client.objects, "the adapter's end")
        line = await asyncio.to_thread(self.world.bridge.stderr.readline)
        self.assertIn("lost: the controller does not answer HCI_READ_BD_ADDR_COMMAND in 4 s;", line)

    async def test_a_stopped_bridge_goes_on_when_it_is_continued(self):
        await self.bridge()
        client, _, path = await self.linked()
        self.world.bridge.send_signal(signal.SIGSTOP)
        asking = asyncio.ensure_future(client.read(client.attribute(path, "org.bluez.GattCharacteristic1", "2A37")))
        await asyncio.wait({asking}, timeout=0.5)
        self.assertFalse(asking.done())
        self.world.bridge.send_signal(signal.SIGCONT)
        self.assertEqual(await asking, b"\0\x48")
        self.assertTrue(client.objects[path][DEVICE]["Connected"])

    async def test_two_transports_are_two_adapters(self):
        said = await self.bridge(transports=self.world.sockets[:2])
        self.assertEqual([each["path"] for each in said["adapters"]], [HCI0, "/org/bluez/hci1"])
        client = await self.open()
        self.assertEqual(
            [client.objects[each["path"]][ADAPTER]["Address"] for each in said["adapters"]],
            [each["address"] for each in self.world.controllers[:2]],
        )

    async def test_the_line_goes_to_the_descriptor_that_is_named(self):
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "wakebench_radio", "--bus", self.world.address, "--hci", self.world.sockets[0]]
        process = self.world.begin([*command, "--ready", str(writing)], pass_fds=[writing])
        os.close(writing)
        with open(reading, encoding="utf-8") as text:
            line = await asyncio.to_thread(text.read)
        self.assertEqual(json.loads(line)["adapters"][0]["path"], HCI0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(await asyncio.to_thread(process.stdout.read), "")

    # What cannot begin

    async def failure(self, *words):
        """What is said on standard error by a bridge that cannot begin: one line."""
        process = self.world.begin([sys.executable, "-m", "wakebench_radio", *words], stderr=subprocess.PIPE)
        said = await asyncio.to_thread(process.stderr.read)
        self.assertEqual(await asyncio.to_thread(process.wait, BOUND), 12, said)
        self.assertEqual(said.count("\n"), 1, said)
        return said.strip()

    async def test_a_transport_that_cannot_be_opened_is_named(self):
        reasons = {
            f"unix:{self.world.folder}/none": " within 5 s: No such file or directory; start what listens there first",
            "tcp-client:127.0.0.1:1": " within 5 s: Connect call failed ('127.0.0.1', 1); start what listens there",
            "tcp-client:nowhere": ": what stands behind its colon is not complete; see --help",
            "pigeon:x": ": unknown transport scheme; see --help",
            "localhost:6402": ": unknown transport scheme; for a TCP port write tcp-client:localhost:6402",
            "tcp:127.0.0.1:6402": ": unknown transport scheme; for a TCP port write tcp-client:127.0.0.1:6402",
            "serial:/dev/none": ": could not open port /dev/none",
            "usb:": ": what stands behind its colon is not complete; see --help",
            f"unix:{self.world.folder}/{'x' * 120}": ": AF_UNIX path too long; name a shorter path",
            "tcp-client:localhost:99999": ": 99999 is no port; use 1 to 65535",
        }
        saying = (self.failure("--bus", self.world.address, "--hci", transport) for transport in reasons)
        for (transport, reason), said in zip(reasons.items(), await asyncio.gather(*saying)):
            with self.subTest(transport=transport):
                self.assertTrue(said.startswith(f"radio: {transport}: cannot be opened{reason}"), said)
                self.assertIn("; ", said, "a remedy")

    async def test_a_controller_that_says_nothing_is_named(self):
        silent = await asyncio.start_unix_server(lambda reader, writer: None, f"{self.world.folder}/silent")
        self.addCleanup(silent.close)
        said = await self.failure("--bus", self.world.address, "--hci", f"unix:{self.world.folder}/silent")
        self.assertIn("cannot be made ready: the controller does not answer HCI_RESET_COMMAND in 4 s; see whether a", said)

    async def test_a_second_host_of_a_controller_is_told(self):
        await self.bridge()
        said = await self.failure("--bus", self.world.address, "--hci", self.world.sockets[0])
        self.assertIn("cannot be made ready: the transport was closed; see whether", said)

    async def test_keys_that_cannot_be_read_are_named(self):
        file = f"{self.world.folder}/{self.world.controllers[0]['address'].replace(':', '-')}.json"
        with open(file, "w", encoding="utf-8") as text:
            text.write("{")
        said = await self.failure(
            "--bus", self.world.address, "--hci", self.world.sockets[0], "--keys", self.world.folder
        )
        self.assertTrue(said.startswith(f"radio: {file}: no keys: "), said)

    async def test_a_bus_that_is_not_there_is_named(self):
        said = await self.failure("--bus", f"unix:path={self.world.folder}/none", "--hci", self.world.sockets[0])
        self.assertIn("No such file or directory; see whether dbus-daemon runs there", said)

    async def test_a_name_that_is_taken_is_told(self):
        await self.bridge()
        said = await self.failure("--bus", self.world.address, "--hci", self.world.sockets[1])
        self.assertIn("org.bluez has another owner there", said)

    async def test_what_is_not_hci_is_told(self):
        async def babble(reader, writer):
            await reader.read(1)
            writer.write(b"\xff\xfe" * 64)

        server = await asyncio.start_unix_server(babble, f"{self.world.folder}/babble")
        self.addCleanup(server.close)
        said = await self.failure("--bus", self.world.address, "--hci", f"unix:{self.world.folder}/babble")
        self.assertIn("cannot be made ready: what comes is not HCI; see its speed", said)


class Lines(unittest.IsolatedAsyncioTestCase):
    """What is to listen behind a transport comes late, or does not."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    async def test_what_listens_late_is_waited_for(self):
        failed, open_transport = asyncio.Event(), host.open_transport

        async def opening(name):
            try:
                return await open_transport(name)
            except OSError:
                failed.set()
                raise

        line = Line(f"unix:{self.folder}/late", None)
        with mock.patch.object(host, "open_transport", opening):
            waiting = asyncio.ensure_future(line.open(BOUND))
            await asyncio.wait_for(failed.wait(), BOUND)
            server = await asyncio.start_unix_server(lambda _, writer: writer.close(), f"{self.folder}/late")
            self.addCleanup(server.close)
            await asyncio.wait_for(waiting, BOUND)
        self.assertIsNotNone(line.transport)
        await line.close_transport()

    async def test_a_place_that_cannot_be_used_has_its_remedy(self):
        remedies = {
            PermissionError(13, "Permission denied"): "run it as a user that may connect there",
            socket.gaierror(-2, "Name or service not known"): "see the host's name",
            ConnectionRefusedError(111, "Connection refused"): "start what listens there first",
        }
        for error, remedy in remedies.items():
            with self.subTest(remedy=remedy):
                said = str(Line("tcp-client:there:1", self.fail).failure("cannot be opened", error))
                self.assertTrue(said.endswith(f"; {remedy}"), said)

    async def test_only_what_may_come_is_waited_for(self):
        for name, reason in (("serial:/dev/none", "could not open port"), ("pigeon:x", "unknown transport scheme")):
            with self.subTest(name=name), self.assertRaisesRegex(RadioFailure, f"cannot be opened: .*{reason}"):
                await asyncio.wait_for(Line(name, None).open(10 * BOUND), BOUND)

    async def test_one_that_is_opened_anew_is_not_waited_for(self):
        with self.assertRaisesRegex(RadioFailure, "cannot be opened: No such file or directory; start what listens"):
            await Line(f"unix:{self.folder}/none", None).open()


class Sockets(unittest.IsolatedAsyncioTestCase):
    async def test_an_hci_socket_that_ends_is_a_loss(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        ours.setblocking(False)
        radio = Radio("hci-socket:0", SimpleNamespace(lost=None))
        packets = []
        parser = PacketParser(SimpleNamespace(on_packet=packets.append))
        radio.transport = SimpleNamespace(source=SimpleNamespace(socket=ours, parser=parser))
        asyncio.get_running_loop().add_reader(ours, lambda: None)
        radio.read_socket(ours)
        theirs.send(b"\x04\x0e\x01\0")
        theirs.close()
        await asyncio.wait_for(radio.gone.wait(), BOUND)
        self.assertEqual((packets, radio.lost), ([b"\x04\x0e\x01\0"], "the adapter is gone"))


if __name__ == "__main__":
    unittest.main()

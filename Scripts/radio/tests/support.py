"""What the tests stand on: a bus, linked controllers, the bridge between them, a client of the bus, a peripheral."""

import asyncio
import ctypes
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.hci import Address
from bumble.transport import open_transport
from bumble.transport.common import PacketParser
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from wakebench_radio.bus import PatientWriter
from wakebench_radio.private_bus import PrivateBus

# Seconds that a condition is waited for. Nothing takes as long unless something is wrong.
BOUND = 30
ADAPTER, DEVICE = "org.bluez.Adapter1", "org.bluez.Device1"
SERVICE, CHARACTERISTIC = "org.bluez.GattService1", "org.bluez.GattCharacteristic1"
DESCRIPTOR = "org.bluez.GattDescriptor1"
PROPERTIES, MANAGER = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
HCI0 = "/org/bluez/hci0"
# Of the agents here.
AGENT = "/test/agent"
PACKAGE = os.path.join(os.path.dirname(__file__), "..")
# The peripherals of the tests are cut off in the middle of what they do, and a world is made in one call that waits: of
# both Bumble and asyncio tell at length.
for name in ("bumble", "asyncio"):
    logging.getLogger(name).setLevel(logging.CRITICAL)


def end_with_parent():
    """A process ends when the tests are killed (PR_SET_PDEATHSIG, 1)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def program(limits):
    """The bridge as arguments of Python, with other limits (see World.begin_bridge)."""
    lines = []
    for name, seconds in limits.items():
        module, limit = name.split(".")
        lines.append(f"from wakebench_radio import {module}; {module}.{limit} = {seconds}")
    return "-c", "\n".join((*lines, "from wakebench_radio import __main__", "__main__.main()"))


class World:
    """A folder with a bus, controllers and a bridge, each a process of its own."""

    def __init__(self, controllers=3):
        self.folder = tempfile.mkdtemp(prefix="radio-")
        self.processes = []
        self.address = f"unix:path={self.folder}/bus"
        self.bus = PrivateBus(self.folder)
        self.bus.start()
        self.sockets = [f"unix:{self.folder}/c{index}" for index in range(controllers)]
        self.air = self.begin([sys.executable, "-m", "wakebench_radio.link", *self.sockets])
        self.controllers = json.loads(self.air.stdout.readline())["controllers"]
        self.bridge = None

    def begin(self, command, **more):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": PACKAGE},
            preexec_fn=end_with_parent, **more,
        )
        self.processes.append(process)
        return process

    def begin_bridge(self, *more, transports=None, limits={}, **how):
        """Starts the bridge on the first controller, and returns what it says when it is ready.

        `limits` are other limits of it, in seconds, by module and name: {"host.COMMAND": 600}. With long ones a test sees
        what answers by itself, on a machine of any speed. A module is named before those that take its limits over.
        """
        command = [sys.executable, *program(limits), "--bus", self.address, *more]
        for each in transports or self.sockets[:1]:
            command += ["--hci", each]
        self.bridge = self.begin(command, **how)
        line = self.bridge.stdout.readline()
        return json.loads(line) if line else None

    def end(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.bus.stop()
        shutil.rmtree(self.folder)


class Refusal(Exception):
    """An error answer."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text


class Client:
    """A client of the bus. It keeps the objects, and what happened to them, in order: (what, path, ...)."""

    def __init__(self, bus):
        self.bus, self.objects, self.events, self.changed = bus, {}, [], asyncio.Event()
        self.waiters = []

    @staticmethod
    async def open(address):
        bus = await MessageBus(bus_address=address, negotiate_unix_fd=True).connect()
        bus._writer = PatientWriter(bus)
        client = Client(bus)
        bus.add_message_handler(client.hear)
        for rule in ("type='signal',sender='org.bluez'", "type='signal',member='NameOwnerChanged',arg0='org.bluez'"):
            await client.call_to("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
                                 "s", rule)
        answer = await client.call("/", MANAGER, "GetManagedObjects")
        client.objects = {
            path: {name: plain(values) for name, values in there.items()} for path, there in answer.body[0].items()
        }
        return client

    def close(self):
        self.bus.disconnect()

    def hear(self, message):
        if message.message_type is MessageType.ERROR:
            self.events.append(("error", message.error_name))
        elif message.message_type is MessageType.METHOD_RETURN:
            self.events.append(("answer", message.reply_serial))
        if message.message_type is not MessageType.SIGNAL:
            return None
        if message.member == "InterfacesAdded" and message.path == "/":
            path, there = message.body
            self.objects.setdefault(path, {}).update({name: plain(values) for name, values in there.items()})
            self.events.append(("added", path, list(there)))
        elif message.member == "InterfacesRemoved" and message.path == "/":
            path, names = message.body
            self.objects.pop(path, None)
            self.events.append(("removed", path, names))
        elif message.member == "PropertiesChanged":
            interface, values, gone = message.body
            there = self.objects.setdefault(message.path, {}).setdefault(interface, {})
            there.update(plain(values))
            for name in gone:
                there.pop(name, None)
            self.events.append(("changed", message.path, plain(values), gone))
        elif message.member == "Disconnected":
            self.events.append(("disconnected", message.path, *message.body))
        elif message.member == "NameOwnerChanged":
            self.events.append(("owner", message.body[0], message.body[2]))
        for condition, future in self.waiters:
            if not future.done() and condition():
                future.set_result(True)
        return None

    async def until(self, condition, what="a condition"):
        """Waits until a condition on what was heard holds."""
        if condition():
            return
        future = asyncio.get_running_loop().create_future()
        self.waiters.append((condition, future))
        try:
            await asyncio.wait_for(future, BOUND)
        except asyncio.TimeoutError:
            raise AssertionError(f"{what} did not come; the last events: {self.events[-6:]}") from None
        finally:
            self.waiters.remove((condition, future))

    async def call(self, path, interface, member, signature="", *body):
        return await self.call_to("org.bluez", path, interface, member, signature, *body)

    async def call_to(self, destination, path, interface, member, signature, *body):
        message = Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature, body=list(body)
        )
        answer = await asyncio.wait_for(self.bus.call(message), BOUND)
        if answer.message_type is MessageType.ERROR:
            raise Refusal(answer.error_name, answer.body[0] if answer.body else "")
        return answer

    async def begin(self, *calls):
        """Begins calls, and returns their tasks once org.bluez has taken all of them."""
        tasks = [asyncio.ensure_future(each) for each in calls]
        # A task of its own is sent behind them.
        await asyncio.ensure_future(self.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Powered"))
        return tasks

    # What the tests say often

    async def discover(self, **said):
        await self.call(HCI0, ADAPTER, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le"), **said})
        await self.call(HCI0, ADAPTER, "StartDiscovery")

    async def find(self, address):
        """The path of a device that is heard."""
        path = f"{HCI0}/dev_{address.replace(':', '_')}"
        await self.until(lambda: path in self.objects, f"the device {address}")
        return path

    async def link(self, address):
        """The path of a device that is connected and resolved."""
        await self.discover()
        path = await self.find(address)
        await self.call(HCI0, ADAPTER, "StopDiscovery")
        await self.call(path, DEVICE, "Connect")
        await self.until(lambda: self.objects[path][DEVICE].get("ServicesResolved"), "ServicesResolved")
        return path

    def attribute(self, device, interface, uuid):
        """The path of an attribute of a device, by the short form of its UUID."""
        return next(
            path for path, there in self.objects.items()
            if path.startswith(device) and there.get(interface, {}).get("UUID", "").startswith(f"0000{uuid}".lower())
        )

    async def read(self, path, interface=CHARACTERISTIC):
        return (await self.call(path, interface, "ReadValue", "a{sv}", {})).body[0]

    async def write(self, path, value, kind="request"):
        await self.call(path, CHARACTERISTIC, "WriteValue", "aya{sv}", value, {"type": Variant("s", kind)})

    def values(self, path):
        """The values of a characteristic that were signalled."""
        return [
            event[2]["Value"] for event in self.events if event[:2] == ("changed", path) and "Value" in event[2]
        ]


def plain(values):
    return {name: value.value for name, value in values.items()}


class Agent:
    """An agent on the bus.

    `answers` are by method: a function of the arguments, for the signature and the body, or None for no answer.
    """

    def __init__(self, client, answers):
        self.client, self.asked, self.answers, self.called = client, [], answers, asyncio.Event()
        client.bus.add_message_handler(self.hear)

    def hear(self, message):
        if message.message_type is not MessageType.METHOD_CALL or message.path != AGENT:
            return None
        self.asked.append((message.member, *message.body))
        self.called.set()
        if message.member not in self.answers:
            return Message.new_error(message, "org.bluez.Error.Rejected", "no")
        said = self.answers[message.member](*message.body)
        return True if said is None else Message.new_method_return(message, *said)

    async def until(self, count):
        """Waits until it was asked so often."""
        async with asyncio.timeout(BOUND):
            while len(self.asked) < count:
                self.called.clear()
                await self.called.wait()


async def register(client, capability):
    manager = "org.bluez.AgentManager1"
    await client.call("/org/bluez", manager, "RegisterAgent", "os", AGENT, capability)
    await client.call("/org/bluez", manager, "RequestDefaultAgent", "o", AGENT)


async def accept_pairing(client):
    """An agent that takes pairing in which nothing is compared."""
    agent = Agent(client, {"RequestAuthorization": lambda *_: ("", [])})
    await register(client, "NoInputNoOutput")
    return agent


class Peripheral:
    """A Bumble device on the second controller. `name` is in its scan response."""

    count = 0

    @staticmethod
    async def begin(transport, services=(), advertisement=None, response=None, mtu=185, advertise=True):
        self = Peripheral()
        Peripheral.count += 1
        self.address = f"F0:AA:00:{os.getpid() >> 8 & 0xFF:02X}:{os.getpid() & 0xFF:02X}:{Peripheral.count:02X}"
        self.transport = await open_transport(transport)
        self.device = Device.with_hci("peripheral", Address(self.address), self.transport.source, self.transport.sink)
        self.device.gatt_server.max_mtu = mtu
        self.device.add_services(list(services))
        self.device.advertising_data = advertisement or bytes(AdvertisingData([(0x01, b"\6"), (0x03, b"\x0d\x18")]))
        self.device.scan_response_data = response or bytes(AdvertisingData([(0x09, b"Far End")]))
        self.connected = asyncio.Event()
        self.links = []
        self.device.on("connection", self.link_up)
        # Its transport is closed in the middle of what it does.
        self.device.on("error", lambda error: None)
        await self.device.power_on()
        if advertise:
            await self.advertise()
        return self

    def link_up(self, link):
        self.links.append(link)
        link.on("error", lambda error: None)
        link.on("disconnection", lambda reason: self.links.remove(link))
        self.connected.set()

    async def advertise(self, **more):
        await self.device.start_advertising(
            auto_restart=True, advertising_interval_min=30, advertising_interval_max=30, **more
        )

    async def vanish(self):
        """Goes without a word: its controller is cut off."""
        await self.transport.close()


class Between:
    """Stands between a host and its controller. What passes can be held back, changed and added to.

    `down` and `up` are functions of a packet to the controller or to the host, for the packets that go on.
    """

    @staticmethod
    async def begin(controller, place):
        self = Between()
        self.controller, self.place, self.transport = controller.partition(":")[2], place, f"unix:{place}"
        self.down = self.up = lambda packet: (packet,)
        self.ends, self.came = [], asyncio.Event()
        self.server = await asyncio.start_unix_server(self.host_came, place)
        return self

    async def host_came(self, reader, writer):
        far_reader, far_writer = await asyncio.open_unix_connection(self.controller)
        self.ends = [writer, far_writer]
        self.came.set()
        await asyncio.gather(self.pass_on(reader, far_writer, "down"), self.pass_on(far_reader, writer, "up"))

    async def pass_on(self, reader, writer, direction):
        def took(packet):
            for each in getattr(self, direction)(packet):
                writer.write(each)

        parser = PacketParser(SimpleNamespace(on_packet=took))
        try:
            while octets := await reader.read(65536):
                parser.feed_data(octets)
        except OSError:
            pass
        writer.close()

    def to_host(self, octets):
        self.ends[0].write(octets)

    def cut(self):
        """Ends the connection to the host, as a dongle that is pulled out does."""
        for each in self.ends:
            each.transport.abort()

    def close(self):
        self.cut()
        self.server.close()


def command_of(packet):
    """The code of a command, or of what answers one in an event; None of other packets."""
    if packet[0] == 1:
        return int.from_bytes(packet[1:3], "little")
    if packet[:2] == b"\x04\x0e":
        return int.from_bytes(packet[4:6], "little")
    if packet[:2] == b"\x04\x0f":
        return int.from_bytes(packet[5:7], "little")
    return None


class RadioTest(unittest.IsolatedAsyncioTestCase):
    """Tests on one world for the class, with a client and a peripheral for each test."""

    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.said = cls.world.begin_bridge()

    @classmethod
    def tearDownClass(cls):
        cls.world.end()

    async def asyncSetUp(self):
        # It is on in these tests, and slows a thousand calls down to minutes.
        asyncio.get_running_loop().set_debug(False)
        self.client = await Client.open(self.world.address)
        self.addCleanup(self.client.close)

    async def peripheral(self, *services, socket=1, **how):
        made = await Peripheral.begin(self.world.sockets[socket], services, **how)
        self.addAsyncCleanup(made.vanish)
        return made

    async def refused(self, work):
        """The error that a call answers with."""
        with self.assertRaises(Refusal) as caught:
            await work
        return caught.exception

"""What the tests of the peripheral role stand on: an application and advertisements on the bus, and centrals."""

import asyncio
import os

from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport
from dbus_fast import Message, MessageType, Variant

from .support import BOUND, CHARACTERISTIC, DESCRIPTOR, HCI0, MANAGER, PROPERTIES, SERVICE, RadioTest, plain

GATT, ADVERTISING = "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"
ADVERTISEMENT = "org.bluez.LEAdvertisement1"


class Error(Exception):
    """What an application refuses a call with."""

    def __init__(self, name, text=""):
        super().__init__(name)
        self.name, self.text = f"org.bluez.Error.{name}", text


class Offers:
    """Objects of a client. `calls` are the calls of org.bluez on them, in order: (path, member, arguments).

    `answers` has, by (path, member), a function of the arguments: it returns the answer's value, raises Error, or
    returns the event `NEVER` for no answer.
    """

    NEVER = object()

    def __init__(self, client):
        self.client, self.bus = client, client.bus
        # By path: (interface, properties).
        self.objects, self.calls, self.answers = {}, [], {}
        self.bus.add_message_handler(self.hear)

    def service(self, root, uuid, **more):
        self.objects[root] = SERVICE, {"UUID": Variant("s", uuid), "Primary": Variant("b", True), **more}

    def characteristic(self, root, name, uuid, *flags, value=None, acquires=True):
        path = f"{root}/{name}"
        properties = {"UUID": Variant("s", uuid), "Flags": Variant("as", list(flags)), "Service": Variant("o", root)}
        if acquires:
            properties["NotifyAcquired"] = Variant("b", False)
        self.objects[path] = CHARACTERISTIC, properties
        if value is not None:
            self.answers[path, "ReadValue"] = lambda options: value[options.get("offset", 0):]
        return path

    def descriptor(self, characteristic, name, uuid, value):
        path = f"{characteristic}/{name}"
        self.objects[path] = DESCRIPTOR, {
            "UUID": Variant("s", uuid), "Flags": Variant("as", ["read"]), "Characteristic": Variant("o", characteristic),
        }
        self.answers[path, "ReadValue"] = lambda options: value[options.get("offset", 0):]
        return path

    def advertisement(self, path, **properties):
        self.objects[path] = ADVERTISEMENT, {"Type": Variant("s", "peripheral"), **properties}

    def hear(self, message):
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        if message.interface == MANAGER:
            below = {path: there for path, there in self.objects.items()
                     if path == message.path or path.startswith(message.path.rstrip("/") + "/")}
            managed = {path: {interface: properties} for path, (interface, properties) in below.items()}
            return Message.new_method_return(message, "a{oa{sa{sv}}}", [managed])
        arguments = [plain(each) if isinstance(each, dict) else each for each in message.body]
        interface, properties = self.objects.get(message.path, ("", {}))
        if message.interface == PROPERTIES and message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [properties])
        if message.interface == PROPERTIES and message.member == "Set":
            properties[message.body[1]] = message.body[2]
        self.calls.append((message.path, message.member, arguments))
        self.told()
        known = {
            "WriteValue": lambda *_: None, "Set": lambda *_: None, "StartNotify": lambda: None, "Release": lambda: None,
            "StopNotify": lambda: None, "Confirm": lambda: None, "AcquireNotify": self.not_supported,
        }
        answer = self.answers.get((message.path, message.member)) or known.get(message.member)
        try:
            if answer is None:
                raise Error("Failed")
            value = answer(*arguments)
        except Error as error:
            return Message.new_error(message, error.name, error.text)
        if value is self.NEVER:
            return True
        if isinstance(value, tuple):
            return Message.new_method_return(message, "hq", [0, value[1]], [value[0]])
        return Message.new_method_return(message, *(["ay", [value]] if value is not None else []))

    @staticmethod
    def not_supported(_):
        raise Error("NotSupported")

    def told(self):
        for condition, future in self.client.waiters:
            if not future.done() and condition():
                future.set_result(True)

    def called(self, path, member):
        return [arguments for where, what, arguments in self.calls if (where, what) == (path, member)]

    def value(self, path, value):
        """Signals a value of a characteristic."""
        self.bus.send(
            Message(path=path, interface=PROPERTIES, member="PropertiesChanged", message_type=MessageType.SIGNAL,
                    signature="sa{sv}as", body=[CHARACTERISTIC, {"Value": Variant("ay", value)}, []])
        )

    def removed(self, root, path):
        self.bus.send(
            Message(path=root, interface=MANAGER, member="InterfacesRemoved", message_type=MessageType.SIGNAL,
                    signature="oas", body=[path, [self.objects[path][0]]])
        )

    async def register(self, root, adapter=HCI0):
        await self.client.call(adapter, GATT, "RegisterApplication", "oa{sv}", root, {})

    async def unregister(self, root):
        await self.client.call(HCI0, GATT, "UnregisterApplication", "o", root)

    async def advertise(self, path, adapter=HCI0, **properties):
        self.advertisement(path, **properties)
        await self.client.call(adapter, ADVERTISING, "RegisterAdvertisement", "oa{sv}", path, {})

    async def end_advertising(self, path):
        await self.client.call(HCI0, ADVERTISING, "UnregisterAdvertisement", "o", path)


class Central:
    """A Bumble device on another controller."""

    count = 0

    @staticmethod
    async def begin(transport, mtu=185, services=()):
        self = Central()
        Central.count += 1
        self.address = f"F0:AA:01:{os.getpid() >> 8 & 0xFF:02X}:{os.getpid() & 0xFF:02X}:{Central.count:02X}"
        self.path = f"{HCI0}/dev_{self.address.replace(':', '_')}"
        self.transport = await open_transport(transport)
        self.device = Device.with_hci("central", Address(self.address), self.transport.source, self.transport.sink)
        self.device.gatt_server.max_mtu = self.mtu = mtu
        self.device.on("error", lambda error: None)
        for each in services:
            self.device.add_service(each)
        self.advertisements = asyncio.Queue()
        self.device.on("advertisement", self.advertisements.put_nowait)
        await self.device.power_on()
        self.link = self.peer = None
        return self

    async def heard(self, condition):
        """The advertisement that a condition holds for."""
        await self.device.start_scanning(active=True, filter_duplicates=False, scanning_phys=(1,))
        try:
            async with asyncio.timeout(BOUND):
                while True:
                    heard = await self.advertisements.get()
                    if condition(heard):
                        return heard
        finally:
            await self.device.stop_scanning()

    async def connect(self, address="00:AA:01:00:00:01"):
        connecting = self.device.connect(Address(address, Address.PUBLIC_DEVICE_ADDRESS))
        self.link = await asyncio.wait_for(connecting, BOUND)
        self.link.on("error", lambda error: None)
        self.peer = Peer(self.link)
        await self.peer.request_mtu(self.mtu)

    async def discover(self):
        self.peer.gatt_client.services = []
        await self.peer.discover_services()
        for service in self.peer.services:
            await service.discover_characteristics()
            for each in service.characteristics:
                await each.discover_descriptors()

    def find(self, uuid):
        for service in self.peer.services:
            for each in service.characteristics:
                if each.uuid == UUID(uuid):
                    return each
        return None

    async def read(self, uuid):
        return bytes(await asyncio.wait_for(self.peer.gatt_client.read_value(self.find(uuid)), BOUND))

    async def write(self, uuid, value, response=True):
        work = self.peer.gatt_client.write_value(self.find(uuid), value, with_response=response)
        await asyncio.wait_for(work, BOUND)

    async def subscribe(self, uuid, notify=True):
        """A queue of the values that come."""
        values = asyncio.Queue()
        await self.peer.gatt_client.subscribe(self.find(uuid), values.put_nowait, prefer_notify=notify)
        return values

    async def ask(self, request):
        return await asyncio.wait_for(self.peer.gatt_client.send_request(request), BOUND)

    async def vanish(self):
        await self.transport.close()


class OffersTest(RadioTest):
    """Tests with an application on the bus; each one's end takes it along."""

    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.offers = Offers(self.client)

    async def central(self, socket=1, **how):
        made = await Central.begin(self.world.sockets[socket], **how)
        self.addAsyncCleanup(made.vanish)
        return made

    async def linked(self, socket=1, **how):
        """A central that is connected and knows the table."""
        if "/adv" not in self.offers.objects:
            await self.offers.advertise("/adv")
        central = await self.central(socket, **how)
        await central.connect()
        await central.discover()
        return central

    async def got(self, queue):
        return bytes(await asyncio.wait_for(queue.get(), BOUND))

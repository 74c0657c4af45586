"""GattService1, GattCharacteristic1 and GattDescriptor1 of a remote device.

The paths hold handles in four hexadecimal digits, as bluetoothd's do: a characteristic's is that of its declaration.
"""

import asyncio
import contextlib
import logging

from bumble.att import ErrorCode
from dbus_fast import Variant

from .bearer import BUSY, LONGEST_VALUE, Refusal, Silent
from .bus import Interface, Refused, WithDescriptors, exported
from .host import LinkEnded
from .packets import PacedSocket, PacketSocket, packet_pair

log = logging.getLogger(__name__)

CONFIGURATION = "00002902-0000-1000-8000-00805f9b34fb"
BROADCAST, READ, COMMAND, WRITE, NOTIFY, INDICATE = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
FLAGS = (
    (BROADCAST, "broadcast"), (READ, "read"), (COMMAND, "write-without-response"), (WRITE, "write"), (NOTIFY, "notify"),
    (INDICATE, "indicate"), (0x40, "authenticated-signed-writes"), (0x80, "extended-properties"),
)
# Octets that wait for a client which does not read its socket; later values are lost.
MOST_WAITING = 1 << 20
UNPAIRED = (
    ErrorCode.INSUFFICIENT_AUTHENTICATION, ErrorCode.INSUFFICIENT_ENCRYPTION_KEY_SIZE, ErrorCode.INSUFFICIENT_ENCRYPTION,
)


def refused(code):
    """What bluetoothd answers for an ATT error (gatt-client.c), but with the code for 07 and 0d, which it hides."""
    if code in UNPAIRED:
        return Refused("NotPermitted", "Not paired")
    known = {
        ErrorCode.READ_NOT_PERMITTED: ("NotPermitted", "Read not permitted"),
        ErrorCode.WRITE_NOT_PERMITTED: ("NotPermitted", "Write not permitted"),
        ErrorCode.REQUEST_NOT_SUPPORTED: ("NotSupported", "Operation is not supported"),
        ErrorCode.INSUFFICIENT_AUTHORIZATION: ("NotAuthorized", "Operation Not Authorized"),
    }
    return Refused(*known.get(code, ("Failed", f"Operation failed with ATT error: 0x{code:02x}")))


def option(options, name, signature):
    """An option of a call, or None; refused where it is of another type."""
    value = options.get(name)
    if value is not None and value.signature != signature:
        raise Refused("InvalidArguments", "Invalid arguments in method call")
    return value and value.value


def not_connected():
    return Refused("NotConnected", "Not Connected")


class RemoteService(Interface):
    interface = "org.bluez.GattService1"

    def __init__(self, device, facts, path):
        self.device, self.facts, self.place = device, facts, path
        self.characteristics = []

    def properties(self):
        device = self.device
        return {
            "UUID": Variant("s", self.facts.uuid),
            "Device": Variant("o", device.place),
            "Primary": Variant("b", self.facts.primary),
            "Includes": Variant("ao", [f"{device.place}/service{each:04x}" for each in self.facts.includes]),
        }


class Attribute(Interface):
    """What can be read and written: a characteristic's value, or a descriptor."""

    value = b""

    def __init__(self, device, handle, path):
        self.device, self.handle, self.place = device, handle, path

    async def on_link(self, work):
        """The result of an operation on the link. `work` is a function of the bearer that gives a coroutine."""
        bearer = self.device.bearer
        if bearer is None or self.bus is None:
            raise not_connected()
        try:
            try:
                return await self.device.operate(work(bearer))
            except Refusal as refusal:
                if refusal.code not in UNPAIRED or not await self.device.secure(bearer):
                    raise
                return await self.device.operate(work(bearer))
        except Refusal as refusal:
            raise refused(refusal.code) from refusal
        except LinkEnded:
            raise not_connected() from None
        except Silent:
            raise refused(ErrorCode.UNLIKELY_ERROR) from None

    async def read_value(self, options):
        offset = option(options, "offset", "q") or 0
        value = await self.on_link(lambda bearer: bearer.read(self.handle, offset))
        if not offset:
            self.value = value
            if self.bus is not None:
                # Before the answer, once, also when it is the same: clients count on this echo.
                self.bus.tell_value(self, value)
        return value

    async def write_value(self, value, offset, reliable=False):
        if offset + len(value) > LONGEST_VALUE:
            raise refused(ErrorCode.INVALID_ATTRIBUTE_LENGTH)
        await self.on_link(lambda bearer: bearer.write(self.handle, value, offset, reliable))


class RemoteDescriptor(Attribute):
    interface = "org.bluez.GattDescriptor1"

    def __init__(self, characteristic, handle, uuid, path):
        super().__init__(characteristic.device, handle, path)
        self.characteristic, self.uuid = characteristic, uuid

    def properties(self):
        return {
            "UUID": Variant("s", self.uuid),
            "Characteristic": Variant("o", self.characteristic.place),
            "Value": Variant("ay", self.value),
        }

    @exported("a{sv}", "ay")
    async def ReadValue(self, _, options):
        return await self.read_value(options)

    @exported("aya{sv}")
    async def WriteValue(self, _, value, options):
        if self.uuid == CONFIGURATION:
            # StartNotify and AcquireNotify write it.
            raise Refused("NotPermitted", "Write not permitted")
        offset = option(options, "offset", "q") or 0
        await self.write_value(bytes(value), offset)


class RemoteCharacteristic(Attribute):
    interface = "org.bluez.GattCharacteristic1"

    def __init__(self, service, facts, path):
        super().__init__(service.device, facts.value_handle, path)
        self.service, self.facts = service, facts
        self.descriptors = []
        # The clients that called StartNotify, the sockets of AcquireNotify and AcquireWrite, and what is written.
        self.notified = set()
        self.notify_socket = self.write_socket = None
        self.configured = 0
        self.configuring = asyncio.Lock()
        # Subscribed by the bridge itself.
        self.kept = False

    def properties(self):
        said = {
            "UUID": Variant("s", self.facts.uuid),
            "Service": Variant("o", self.service.place),
            "Value": Variant("ay", self.value),
            "Flags": Variant("as", [word for bit, word in FLAGS if self.facts.properties & bit]),
        }
        if self.facts.properties & (NOTIFY | INDICATE):
            said["Notifying"] = Variant("b", bool(self.notified))
        if self.facts.properties & COMMAND:
            said["WriteAcquired"] = Variant("b", self.write_socket is not None)
        if self.facts.properties & NOTIFY:
            said["NotifyAcquired"] = Variant("b", self.notify_socket is not None)
        bearer = self.device.bearer
        said["MTU"] = Variant("q", bearer.mtu if bearer else 23)
        return said

    # Values

    @exported("a{sv}", "ay")
    async def ReadValue(self, _, options):
        return await self.read_value(options)

    @exported("aya{sv}")
    async def WriteValue(self, _, value, options):
        said = option(options, "type", "s")
        offset = option(options, "offset", "q") or 0
        if said not in (None, "command", "request", "reliable"):
            raise Refused("NotSupported", "Operation is not supported")
        if self.write_socket is not None:
            raise Refused("NotPermitted", "Write acquired")
        if said == "command" or said is None and not self.facts.properties & WRITE:
            if not self.facts.properties & COMMAND and said is None:
                raise Refused("NotSupported", "Operation is not supported")
            await self.command(bytes(value))
            return
        await self.write_value(bytes(value), offset, said == "reliable")

    async def command(self, value):
        bearer = self.device.bearer
        if bearer is None or self.bus is None:
            raise not_connected()
        if len(value) > bearer.mtu - 3:
            raise refused(ErrorCode.INVALID_ATTRIBUTE_LENGTH)
        if bearer.is_full:
            raise Refused("Failed", "too many commands wait; wait for their answers")
        try:
            # Nothing is awaited before: commands keep the order of their calls.
            bearer.command(self.handle, value)
            await bearer.room()
        except LinkEnded:
            raise not_connected() from None

    def heard(self, value):
        """A notification or an indication."""
        self.value = value
        if self.notified and self.bus is not None:
            self.bus.tell_value(self, value)
        if self.notify_socket is not None:
            self.notify_socket.tell(value)

    # Subscriptions

    @exported()
    async def StartNotify(self, sender):
        self.check_notifies()
        if self.notify_socket is not None:
            raise Refused("NotPermitted", "Notify acquired")
        if sender in self.notified:
            if self.configuring.locked():
                raise Refused("InProgress", "In Progress")
            return
        first = not self.notified
        # Before the request: values may come before its response.
        self.notified.add(sender)
        try:
            await self.configure()
        except Refused:
            self.notified.discard(sender)
            raise
        if first:
            self.changed("Notifying")

    @exported()
    async def StopNotify(self, sender):
        if sender not in self.notified:
            raise Refused("Failed", "No notify session started")
        self.notified.discard(sender)
        if not self.notified:
            self.changed("Notifying")
        await self.configure()

    @exported("a{sv}", "hq")
    async def AcquireNotify(self, _, options):
        self.check_notifies()
        if self.notify_socket is not None:
            raise Refused("NotPermitted", "Notify acquired")
        if self.notified:
            raise Refused("InProgress", "In Progress")
        ours, theirs = packet_pair()
        self.notify_socket = NotifySocket(ours, self.notify_released)
        try:
            await self.configure()
            if self.notify_socket is None:
                raise not_connected()
        except Refused:
            theirs.close()
            self.drop_notify_socket()
            raise
        self.changed("NotifyAcquired")
        return WithDescriptors([0, self.device.bearer.mtu], [theirs.detach()])

    def check_notifies(self):
        if not self.facts.properties & (NOTIFY | INDICATE) or self.configuration is None:
            raise Refused("NotSupported", "Operation is not supported")
        if self.device.bearer is None:
            raise not_connected()

    @property
    def configuration(self):
        return next((handle for handle, uuid in self.facts.descriptors if uuid == CONFIGURATION), None)

    async def configure(self):
        """Writes the client's configuration if it is not what the subscribers want."""
        async with self.configuring:
            wanted = 0
            if self.notified or self.notify_socket is not None or self.kept:
                wanted = 1 if self.facts.properties & NOTIFY else 2
            if wanted == self.configured:
                return
            await self.on_link(lambda bearer: bearer.write(self.configuration, bytes([wanted, 0])))
            self.configured = wanted

    async def settle(self):
        try:
            await self.configure()
        except Refused as refusal:
            log.debug("%s: ending a subscription: %s", self.place, refusal.text)

    def notify_released(self):
        """The client closed its end."""
        self.drop_notify_socket()
        self.changed("NotifyAcquired")
        if self.device.bearer is not None:
            self.device.start(self.settle())

    def drop_notify_socket(self):
        held, self.notify_socket = self.notify_socket, None
        if held is not None:
            held.close()

    # Commands by a socket

    @exported("a{sv}", "hq")
    def AcquireWrite(self, _, options):
        if not self.facts.properties & COMMAND:
            raise Refused("NotSupported", "Operation is not supported")
        if self.write_socket is not None:
            raise Refused("NotPermitted", "Write acquired")
        bearer = self.device.bearer
        if bearer is None:
            raise not_connected()
        ours, theirs = packet_pair()
        self.write_socket = PacedSocket(
            ours, 0, lambda value: self.take_command(bearer, value), self.drop_write_socket, bearer.queue, BUSY
        )
        self.changed("WriteAcquired")
        return WithDescriptors([0, bearer.mtu], [theirs.detach()])

    def take_command(self, bearer, value):
        """Each packet of the socket is a command. One that is too long is left out, and one behind the link's end."""
        if len(value) <= bearer.mtu - 3:
            with contextlib.suppress(LinkEnded):
                bearer.command(self.handle, value)

    def drop_write_socket(self):
        held, self.write_socket = self.write_socket, None
        if held is not None:
            held.close()
            self.changed("WriteAcquired")

    # Ends

    def client_gone(self, sender):
        if sender in self.notified:
            self.notified.discard(sender)
            if not self.notified:
                self.changed("Notifying")
            if self.device.bearer is not None:
                self.device.start(self.settle())

    def link_gone(self):
        """The link is gone, or the characteristic with its service."""
        self.notified.clear()
        self.configured, self.kept = 0, False
        self.drop_notify_socket()
        self.drop_write_socket()


class NotifySocket(PacketSocket):
    """A client's socket for values, one a packet. `released` is called when the client closes its end."""

    def __init__(self, ours, released):
        super().__init__(ours, MOST_WAITING, lambda packet: None, released)
        self.lost = False

    def tell(self, value):
        if not self.send(value) and not self.lost:
            self.lost = True
            log.warning("a client does not read the socket of AcquireNotify: values are lost")


def objects_of(device, service):
    """The objects of a service: (path, interface), each behind what it belongs to."""
    remote = RemoteService(device, service, f"{device.place}/service{service.handle:04x}")
    made = [(remote.place, remote)]
    for each in service.characteristics:
        characteristic = RemoteCharacteristic(remote, each, f"{remote.place}/char{each.handle:04x}")
        remote.characteristics.append(characteristic)
        made.append((characteristic.place, characteristic))
        for handle, uuid in each.descriptors:
            descriptor = RemoteDescriptor(characteristic, handle, uuid, f"{characteristic.place}/desc{handle:04x}")
            characteristic.descriptors.append(descriptor)
            made.append((descriptor.place, descriptor))
    return made

"""GattManager1: services of clients, in the adapter's table, and the calls and values between them and peers."""

import logging
import os
import re
import socket

from bumble.att import ErrorCode
from dbus_fast import Variant

from .bearer import LONGEST_VALUE
from .bus import MANAGER, PROPERTIES, Interface, Refused, exported
from .packets import PacketSocket
from .table import (
    AUTHENTICATED, CONFIGURATION, ENCRYPTED, EXTENDED, FORBIDDEN, INDICATE, NOTIFY, OPEN, READ, SECURE, WRITE, Attribute,
    Configuration, characteristic, service, uuid_octets,
)

log = logging.getLogger(__name__)

SERVICE, CHARACTERISTIC, DESCRIPTOR = (f"org.bluez.Gatt{each}1" for each in ("Service", "Characteristic", "Descriptor"))
# Seconds that an application has for its objects, for a peer's request, and for calls whose answers are not waited for.
READING, ANSWERING, TELLING = 10, 10, 25
BROADCAST, COMMAND, SIGNED, EXTENDED_PROPERTIES = 0x01, 0x04, 0x40, 0x80
# By flag: the properties that it stands for, and what an access has to be then: (properties, read, write, configuration).
FLAGS = {
    "broadcast": (BROADCAST, None, None, None),
    "read": (READ, OPEN, None, None),
    "write-without-response": (COMMAND, None, OPEN, None),
    "write": (WRITE, None, OPEN, None),
    "notify": (NOTIFY, None, None, OPEN),
    "indicate": (INDICATE, None, None, OPEN),
    "authenticated-signed-writes": (SIGNED, None, OPEN, None),
    "extended-properties": (EXTENDED_PROPERTIES, None, None, None),
    "reliable-write": (EXTENDED_PROPERTIES, None, OPEN, None),
    "writable-auxiliaries": (EXTENDED_PROPERTIES, None, None, None),
    # With bluetoothd the application is asked before each part of a prepared write; here once, with the whole value.
    "authorize": (0, None, None, None),
}
for _word, _level in (("encrypt", ENCRYPTED), ("encrypt-authenticated", AUTHENTICATED), ("secure", SECURE)):
    FLAGS[f"{_word}-read"] = READ, _level, None, None
    FLAGS[f"{_word}-write"] = WRITE, None, _level, None
    FLAGS[f"{_word}-notify"] = NOTIFY, None, None, _level
    FLAGS[f"{_word}-indicate"] = INDICATE, None, None, _level
# Extended properties (0x2900) by flag.
AUXILIARIES = {"reliable-write": 1, "writable-auxiliaries": 2}
# What is an attribute of the table's own making, and services that are bluetoothd's own.
RESERVED = {uuid_octets(each) for each in ("2800", "2801", "2802", "2803", "2900", "2902")}
OWN_SERVICES = {uuid_octets(each) for each in ("1800", "1801")}
# By the last word of an error's name, the ATT error of bluetoothd (gatt-database.c). NotPermitted says it of the access.
ERRORS = {
    "Failed": 0x80, "NotSupported": ErrorCode.REQUEST_NOT_SUPPORTED, "NotAuthorized": ErrorCode.INSUFFICIENT_AUTHORIZATION,
    "InvalidValueLength": ErrorCode.INVALID_ATTRIBUTE_LENGTH, "InvalidOffset": ErrorCode.INVALID_OFFSET,
    "InProgress": ErrorCode.PROCEDURE_ALREADY_IN_PROGRESS, "ImproperlyConfigured": ErrorCode.CCCD_IMPROPERLY_CONFIGURED,
}


def error_code(refusal, forbidden):
    """The ATT error that an application's error stands for. One that its text names goes before all."""
    if said := re.fullmatch(r"0[xX]0*([0-9a-fA-F]{1,2})", refusal.text.strip()):
        return int(said[1], 16) or ErrorCode.UNLIKELY_ERROR
    if refusal.name == "org.bluez.Error.NotPermitted":
        return forbidden
    prefix, _, word = refusal.name.rpartition(".")
    return ERRORS.get(word, ErrorCode.UNLIKELY_ERROR) if prefix == "org.bluez.Error" else ErrorCode.UNLIKELY_ERROR


class Wrong(Exception):
    """An application's objects cannot be served: which one, and why."""


def typed(values, name, signature, otherwise=None):
    """A property of a type. Without `otherwise` it has to be there."""
    value = values.get(name)
    if value is None and otherwise is not None:
        return otherwise
    if value is None or value.signature != signature:
        raise Wrong(f"{name} of type {signature} is not there")
    return value.value


def uuid_of(values, reserved):
    try:
        octets = uuid_octets(typed(values, "UUID", "s"))
    except ValueError as error:
        raise Wrong(str(error)) from None
    if octets in reserved:
        raise Wrong(f"{values['UUID'].value} is served by the adapter itself")
    return octets


class Offered:
    """A characteristic or descriptor of an application: the source of its attribute."""

    def __init__(self, application, path, interface, values):
        self.application, self.path, self.interface = application, path, interface
        self.words = typed(values, "Flags", "as", otherwise=[])
        for word in self.words:
            if word not in FLAGS:
                raise Wrong(f"no flag {word}")
        known = [FLAGS[word] for word in self.words]
        self.properties = 0
        for each in known:
            self.properties |= each[0]
        # The strictest of what the flags want.
        self.needs = [max((each[part] for each in known if each[part] is not None), default=FORBIDDEN)
                      for part in (1, 2, 3)]
        self.attribute = Attribute(
            uuid_of(values, RESERVED), read=self.needs[0], write=self.needs[1], source=self
        )

    def options(self, link, **more):
        return {
            "device": Variant("o", link.place), "link": Variant("s", "LE"), "mtu": Variant("q", link.bearer.mtu), **more
        }

    def call(self, member, signature, body, on_answer, seconds=ANSWERING):
        application = self.application
        application.bus.ask(application.sender, self.path, self.interface, member, signature, body, on_answer, seconds)

    def tell(self, member):
        """Makes a call whose answer is not waited for."""
        self.call(member, "", [], lambda answer, refusal: None, TELLING)

    def read(self, link, attribute, offset, answer):
        more = {"offset": Variant("q", offset)} if offset else {}

        def answered(said, refusal):
            if refusal is not None:
                answer(error_code(refusal, ErrorCode.READ_NOT_PERMITTED), b"")
            elif said.signature != "ay":
                answer(ErrorCode.UNLIKELY_ERROR, b"")
            else:
                answer(0, bytes(said.body[0]))

        self.call("ReadValue", "a{sv}", [self.options(link, **more)], answered)

    def write(self, link, attribute, value, offset, kind, answer):
        more = {"type": Variant("s", kind)}
        if offset:
            more["offset"] = Variant("q", offset)

        def answered(said, refusal):
            answer(0 if refusal is None else error_code(refusal, ErrorCode.WRITE_NOT_PERMITTED), b"")

        self.call("WriteValue", "aya{sv}", [bytes(value), self.options(link, **more)], answered)


class OfferedCharacteristic(Offered):
    """Its subscribers, and its values to them."""

    def __init__(self, application, path, values):
        super().__init__(application, path, CHARACTERISTIC, values)
        # With this property AcquireNotify is called first, which says which link subscribes.
        self.acquires = "NotifyAcquired" in values
        self.subscribers, self.acquired = [], None
        self.configuration = Configuration(self.properties, self)
        self.descriptors = []

    def attributes(self):
        described = []
        auxiliaries = sum({AUXILIARIES[word] for word in self.words if word in AUXILIARIES})
        if auxiliaries:
            described.append(Attribute(EXTENDED, bytes([auxiliaries, 0])))
        if self.properties & (NOTIFY | INDICATE):
            described.append(Attribute(CONFIGURATION, write=self.needs[2], source=self.configuration))
        described += [each.attribute for each in self.descriptors]
        return characteristic(self.attribute.type, self.properties, self.attribute, *described)

    # Subscriptions

    def subscribed(self, link):
        self.subscribers.append(link)
        if self.acquired is not None:
            return
        if not self.acquires:
            self.tell("StartNotify")
            return

        def answered(said, refusal):
            if refusal is None:
                self.take_socket(said)
            elif refusal.name.rpartition(".")[2] not in ("NoReply", "Failed") and link in self.subscribers:
                self.tell("StartNotify")

        self.call("AcquireNotify", "a{sv}", [self.options(link)], answered)

    def unsubscribed(self, link):
        if link in self.subscribers:
            self.subscribers.remove(link)
        if self.subscribers:
            return
        if self.acquired is not None:
            self.release()
        elif self.application.is_served:
            self.tell("StopNotify")

    def value(self, value):
        """A value for all that are subscribed: notified where they want that, else indicated."""
        handle = self.attribute.handle
        for link in list(self.subscribers):
            if link.subscriptions.get(self.configuration, 0) & 1:
                link.notify(handle, value)
            else:
                link.indicate(handle, value, self.confirmed)

    def confirmed(self):
        if self.acquired is not None:
            self.acquired.send(b"\1")
        elif self.application.is_served:
            self.tell("Confirm")

    # The socket of AcquireNotify

    def take_socket(self, said):
        if said.signature != "hq" or said.body[0] >= len(said.unix_fds):
            return
        descriptor = said.unix_fds.pop(said.body[0])
        os.set_inheritable(descriptor, False)
        acquired = socket.socket(fileno=descriptor)
        if not self.subscribers or self.acquired is not None or acquired.type != socket.SOCK_SEQPACKET:
            acquired.close()
            return
        acquired.setblocking(False)
        # It reads one value a turn, so that one application does not hold the others up.
        self.acquired = PacketSocket(acquired, 0, lambda value: self.value(value[:LONGEST_VALUE]), self.release)

    def release(self):
        acquired, self.acquired = self.acquired, None
        if acquired is not None:
            acquired.close()

    # Ends

    def withdrawn(self):
        for link in self.subscribers:
            link.subscriptions.pop(self.configuration, None)
        self.subscribers.clear()
        self.release()


class Application:
    """What one client registered under one path."""

    def __init__(self, manager, sender, root):
        self.manager, self.bus = manager, manager.adapter.owner_bus
        self.sender, self.root = sender, root
        self.is_served = True
        # By the path of a service: its attributes, and its characteristics. And the paths that are followed.
        self.services, self.followed = {}, []

    async def read(self):
        """Reads the objects, and puts their services into the table. Raises Refused."""
        await self.bus.match(self.sender, self.root, True)
        try:
            answer = await self.bus.call(self.sender, self.root, MANAGER, "GetManagedObjects", seconds=READING)
        except Refused as refusal:
            log.info("%s%s: %s", self.sender, self.root, refusal.text)
            raise Refused("Failed", "No object received") from None
        if not self.is_served:
            raise Refused("Failed", "Failed")
        if answer.signature != "a{oa{sa{sv}}}" or not answer.body[0]:
            raise Refused("Failed", "No object received")
        path = self.root
        try:
            for path, wished, attributes, offered in self.described(answer.body[0]):
                if not self.manager.adapter.table.add(attributes, max(wished, 0)):
                    raise Wrong(f"no room for it at handle {wished}" if wished else "no room for it")
                self.serve(path, wished, attributes, offered)
        except Wrong as wrong:
            log.warning("%s: %s: %s; it is not served", self.sender, path, wrong)
            raise Refused("Failed", "Failed to create entry in database") from None
        if not self.services:
            raise Refused("Failed", "No valid service object found")
        self.follow(self.root, self.objects_heard)

    def described(self, objects):
        """For each service: (path, the handle that it wishes, its attributes, its characteristics).

        The handle is 0 where it wants to be told which one it gets, and -1 where it says nothing of it.
        """
        under = self.root.rstrip("/") + "/"
        objects = {path: there for path, there in objects.items() if path == self.root or path.startswith(under)}
        made = []
        for path, there in objects.items():
            if SERVICE not in there:
                continue
            try:
                values = there[SERVICE]
                uuid = uuid_of(values, OWN_SERVICES)
                offered = [
                    self.characteristic(objects, place, each[CHARACTERISTIC]) for place, each in objects.items()
                    if CHARACTERISTIC in each and typed(each[CHARACTERISTIC], "Service", "o") == path
                ]
                attributes = service(
                    uuid, *[each.attributes() for each in offered], primary=typed(values, "Primary", "b", otherwise=True)
                )
                made.append((path, typed(values, "Handle", "q", otherwise=-1), attributes, offered))
            except Wrong as wrong:
                raise Wrong(f"{path}: {wrong}") from None
        return made

    def characteristic(self, objects, path, values):
        made = OfferedCharacteristic(self, path, values)
        for place, there in objects.items():
            if DESCRIPTOR in there and typed(there[DESCRIPTOR], "Characteristic", "o") == path:
                made.descriptors.append(Offered(self, place, DESCRIPTOR, there[DESCRIPTOR]))
        return made

    def serve(self, path, wished, attributes, offered):
        self.services[path] = attributes, offered
        for each in offered:
            self.follow(each.path, lambda message, each=each: self.heard(each, message))
        if wished == 0:
            # So that it can wish for the same one the next time.
            self.bus.ask(
                self.sender, path, PROPERTIES, "Set", "ssv", [SERVICE, "Handle", Variant("q", attributes[0].handle)],
                lambda answer, refusal: None, TELLING,
            )

    # What it says

    def follow(self, path, on_signal):
        self.followed.append((path, on_signal))
        self.bus.follow(self.sender, path, on_signal)

    def heard(self, offered, message):
        if message.interface != PROPERTIES or message.member != "PropertiesChanged":
            return
        if message.signature == "sa{sv}as" and message.body[0] == CHARACTERISTIC:
            value = message.body[1].get("Value")
            if value is not None and value.signature == "ay":
                offered.value(bytes(value.value))

    def objects_heard(self, message):
        """A service that goes is no longer served; what comes later is not looked at, as with bluetoothd."""
        if message.interface == MANAGER and message.member == "InterfacesRemoved" and message.signature == "oas":
            path, interfaces = message.body
            if path in self.services and SERVICE in interfaces:
                self.withdraw_service(path)

    # Ends

    def withdraw_service(self, path):
        attributes, offered = self.services.pop(path)
        for each in offered:
            each.withdrawn()
        self.manager.adapter.table.remove(attributes)

    def withdraw(self):
        self.is_served = False
        for path in list(self.services):
            self.withdraw_service(path)
        for path, on_signal in self.followed:
            self.bus.unfollow(self.sender, path, on_signal)
        self.followed.clear()
        self.bus.start(self.unmatch())

    async def unmatch(self):
        try:
            await self.bus.match(self.sender, self.root, False)
        except Refused:
            # The bus is gone, or the rule never was there.
            pass


class GattManager(Interface):
    interface = "org.bluez.GattManager1"

    def __init__(self, adapter):
        self.adapter = adapter
        # By client and path.
        self.applications = {}

    @exported("oa{sv}")
    async def RegisterApplication(self, sender, path, _):
        key = sender, path
        if key in self.applications:
            raise Refused("AlreadyExists", "Already Exists")
        application = self.applications[key] = Application(self, sender, path)
        try:
            await application.read()
        except Refused:
            if self.applications.get(key) is application:
                self.drop(key)
            raise

    @exported("o")
    def UnregisterApplication(self, sender, path):
        if (sender, path) not in self.applications:
            raise Refused("DoesNotExist", "Does Not Exist")
        self.drop((sender, path))

    def drop(self, key):
        self.applications.pop(key).withdraw()

    def client_gone(self, sender):
        for key in list(self.applications):
            if key[0] == sender:
                self.drop(key)

    def close(self):
        for key in list(self.applications):
            self.drop(key)

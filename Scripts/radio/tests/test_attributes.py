"""Attributes: values that are read, written and notified, and what is said of those that are refused."""

import asyncio
import os
import socket
import struct
import unittest

from bumble.att import ATT_Error, AttributeValue
from bumble.core import UUID
from bumble.gatt import Characteristic, Descriptor, Service
from dbus_fast import Message, MessageType, Variant

from .support import CHARACTERISTIC, DESCRIPTOR, DEVICE, Client, RadioTest

Every = Characteristic.Properties
OPEN = Characteristic.READABLE | Characteristic.WRITEABLE
MANY = 1000


class Far:
    """A peripheral's service: 2A37 does all, 2A38 indicates, 2A39 is only read; 2901 describes the first."""

    def __init__(self):
        self.value, self.written, self.refusal, self.subscribed = b"\0\x48", [], None, []
        self.heard = asyncio.Event()
        self.written_to = lambda: None
        self.main = Characteristic(
            "2A37", Every.READ | Every.WRITE | Every.WRITE_WITHOUT_RESPONSE | Every.NOTIFY, OPEN,
            AttributeValue(read=self.read, write=self.write), [Descriptor("2901", Descriptor.READABLE, b"Heart")],
        )
        self.indicated = Characteristic("2A38", Every.INDICATE, OPEN, b"")
        self.plain = Characteristic("2A39", Every.READ, OPEN, b"plain")
        self.service = Service("180D", [self.main, self.indicated, self.plain])
        self.main.on("subscription", lambda link, notifies, indicates: self.subscription(notifies))

    def subscription(self, notifies):
        self.subscribed.append(bool(notifies))
        self.heard.set()

    def read(self, link):
        if self.refusal is not None:
            raise ATT_Error(self.refusal)
        return self.value

    def write(self, link, value):
        if self.refusal is not None:
            raise ATT_Error(self.refusal)
        self.written.append(bytes(value))
        self.written_to()
        self.heard.set()

    async def until(self, condition):
        while not condition():
            self.heard.clear()
            await asyncio.wait_for(self.heard.wait(), 20)


class Attributes(RadioTest):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.far = Far()
        self.end = await self.peripheral(self.far.service)
        self.path = await self.client.link(self.end.address)
        self.main = self.client.attribute(self.path, CHARACTERISTIC, "2A37")

    async def notify(self, value):
        await self.end.device.notify_subscribers(self.far.main, value)

    # Reads

    async def test_a_long_value_is_read_whole(self):
        self.far.value = bytes(range(256)) + bytes(range(200))
        self.assertEqual(await self.client.read(self.main), self.far.value)

    async def test_a_value_of_just_one_response_is_read_whole(self):
        self.far.value = bytes(184)
        self.assertEqual(await self.client.read(self.main), self.far.value)

    async def test_a_part_is_read_from_its_offset(self):
        self.far.value = bytes(range(256))
        options = {"offset": Variant("q", 250)}
        answer = await self.client.call(self.main, CHARACTERISTIC, "ReadValue", "a{sv}", options)
        self.assertEqual(answer.body[0], bytes(range(250, 256)))

    async def test_a_read_tells_its_value_once_before_the_answer(self):
        await self.client.read(self.main)
        self.assertEqual(self.client.values(self.main), [b"\0\x48"])
        await self.client.read(self.main)
        self.assertEqual(self.client.values(self.main), [b"\0\x48"] * 2)

    async def test_a_descriptor_is_read(self):
        place = self.client.attribute(self.path, DESCRIPTOR, "2901")
        self.assertTrue(place.startswith(f"{self.main}/desc"))
        self.assertEqual(await self.client.read(place, DESCRIPTOR), b"Heart")

    # Writes

    async def test_a_request_is_written(self):
        await self.client.write(self.main, b"\1\2\3")
        self.assertEqual(self.far.written, [b"\1\2\3"])

    async def test_a_long_request_is_written_in_parts(self):
        await self.client.write(self.main, bytes(400))
        self.assertEqual(self.far.written, [bytes(400)])

    async def test_a_reliable_write_is_written(self):
        await self.client.write(self.main, b"abc", "reliable")
        self.assertEqual(self.far.written, [b"abc"])

    async def test_commands_keep_their_order_and_none_is_lost(self):
        values = [struct.pack("<H", index) for index in range(MANY)]
        await asyncio.gather(*(self.client.write(self.main, value, "command") for value in values))
        await self.far.until(lambda: len(self.far.written) == MANY)
        self.assertEqual(self.far.written, values)

    async def test_a_command_that_is_too_long_is_refused(self):
        refusal = await self.refused(self.client.write(self.main, bytes(183), "command"))
        self.assertEqual(refusal.text, "Operation failed with ATT error: 0x0d")
        await self.client.write(self.main, bytes(182), "command")

    async def test_a_subscription_cannot_be_written_by_hand(self):
        place = self.client.attribute(self.path, DESCRIPTOR, "2902")
        refusal = await self.refused(self.client.call(place, DESCRIPTOR, "WriteValue", "aya{sv}", b"\1\0", {}))
        self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.NotPermitted", "Write not permitted"))

    async def test_errors_are_said_as_bluetoothd_says_them(self):
        for code, name, text in (
            (0x02, "NotPermitted", "Read not permitted"),
            (0x03, "NotPermitted", "Write not permitted"),
            (0x05, "NotPermitted", "Not paired"),
            (0x06, "NotSupported", "Operation is not supported"),
            (0x07, "Failed", "Operation failed with ATT error: 0x07"),
            (0x08, "NotAuthorized", "Operation Not Authorized"),
            (0x0D, "Failed", "Operation failed with ATT error: 0x0d"),
            (0x0E, "Failed", "Operation failed with ATT error: 0x0e"),
            (0x0F, "NotPermitted", "Not paired"),
            (0x80, "Failed", "Operation failed with ATT error: 0x80"),
        ):
            with self.subTest(code=code):
                self.far.refusal = code
                for work in (self.client.read(self.main), self.client.write(self.main, b"\1")):
                    refusal = await self.refused(work)
                    self.assertEqual((refusal.name, refusal.text), (f"org.bluez.Error.{name}", text))

    # Notifications

    async def test_none_of_many_values_is_lost(self):
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        values = [struct.pack("<H", index) for index in range(MANY)]
        for value in values:
            await self.notify(value)
        await self.client.until(lambda: len(self.client.values(self.main)) == MANY, "all values")
        self.assertEqual(self.client.values(self.main), values)

    async def test_a_response_comes_before_the_values_behind_it(self):
        """The peer notifies at once when it is written to; its response leaves first, and comes first."""
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        events = self.client.events
        self.far.written_to = lambda: asyncio.ensure_future(self.notify(b"\7"))
        for _ in range(20):
            del events[:]
            await self.client.write(self.main, b"\1")
            await self.client.until(lambda: len(self.client.values(self.main)) == 1, "the value")
            self.assertEqual([event[0] for event in events], ["answer", "changed"])

    async def test_equal_values_are_each_told(self):
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        for _ in range(3):
            await self.notify(b"\7")
        await self.client.until(lambda: self.client.values(self.main) == [b"\7"] * 3, "three values")

    async def test_values_before_the_end_of_a_link_come_before_it(self):
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        for index in range(20):
            await self.notify(bytes([index]))
        await self.end.links[0].disconnect()
        await self.client.until(lambda: not self.client.objects[self.path][DEVICE]["Connected"], "the end")
        self.assertEqual(len(self.client.values(self.main)), 20)

    async def test_indications_are_confirmed(self):
        place = self.client.attribute(self.path, CHARACTERISTIC, "2A38")
        await self.client.call(place, CHARACTERISTIC, "StartNotify")
        for index in range(3):
            await asyncio.wait_for(self.end.device.indicate_subscribers(self.far.indicated, bytes([index])), 10)
        await self.client.until(lambda: len(self.client.values(place)) == 3, "three indications")

    async def test_what_does_not_notify_is_refused(self):
        place = self.client.attribute(self.path, CHARACTERISTIC, "2A39")
        for member, arguments in (("StartNotify", ()), ("AcquireNotify", ("a{sv}", {}))):
            refusal = await self.refused(self.client.call(place, CHARACTERISTIC, member, *arguments))
            self.assertEqual(refusal.name, "org.bluez.Error.NotSupported")

    async def test_a_subscription_is_shared_and_ends_with_its_last_client(self):
        other = await Client.open(self.world.address)
        self.addCleanup(other.close)
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        await other.call(self.main, CHARACTERISTIC, "StartNotify")
        await self.client.call(self.main, CHARACTERISTIC, "StopNotify")
        self.assertEqual(self.far.subscribed, [True], "the other client still listens")
        await self.notify(b"\1")
        await other.until(lambda: other.values(self.main) == [b"\1"], "the value")
        await other.call(self.main, CHARACTERISTIC, "StopNotify")
        self.assertEqual(self.far.subscribed, [True, False])

    async def test_a_client_that_vanishes_ends_its_subscription(self):
        other = await Client.open(self.world.address)
        await other.call(self.main, CHARACTERISTIC, "StartNotify")
        other.close()
        await self.far.until(lambda: self.far.subscribed == [True, False])

    async def test_a_second_start_of_a_client_is_answered(self):
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        await self.client.call(self.main, CHARACTERISTIC, "StopNotify")
        await self.far.until(lambda: self.far.subscribed == [True, False])

    async def test_options_of_another_type_are_refused(self):
        for options in {"offset": Variant("s", "1")}, {"type": Variant("q", 1)}:
            refusal = await self.refused(
                self.client.call(self.main, CHARACTERISTIC, "WriteValue", "aya{sv}", b"\0", options)
            )
            self.assertEqual(refusal.name, "org.bluez.Error.InvalidArguments")

    # Sockets

    async def acquire(self, member, place=None):
        answer = await self.client.call(place or self.main, CHARACTERISTIC, member, "a{sv}", {})
        place, mtu = answer.body
        made = socket.socket(fileno=answer.unix_fds[place])
        made.setblocking(False)
        self.addCleanup(made.close)
        return made, mtu

    async def test_values_come_by_the_socket_and_none_is_lost(self):
        made, mtu = await self.acquire("AcquireNotify")
        self.assertEqual((mtu, made.type), (185, socket.SOCK_SEQPACKET))
        for index in range(MANY):
            await self.notify(struct.pack("<H", index))
        loop = asyncio.get_running_loop()
        for index in range(MANY):
            self.assertEqual(await asyncio.wait_for(loop.sock_recv(made, 1024), 20), struct.pack("<H", index))
        self.assertEqual(self.client.values(self.main), [], "no signals beside it")

    async def test_the_end_of_the_socket_ends_the_subscription(self):
        made, _ = await self.acquire("AcquireNotify")
        self.assertEqual(self.far.subscribed, [True])
        made.close()
        await self.far.until(lambda: self.far.subscribed == [True, False])

    async def test_the_end_of_the_link_ends_the_socket(self):
        made, _ = await self.acquire("AcquireNotify")
        await self.notify(b"\1")
        await self.end.links[0].disconnect()
        loop = asyncio.get_running_loop()
        self.assertEqual(await asyncio.wait_for(loop.sock_recv(made, 1024), 20), b"\1", "what came before the end")
        self.assertEqual(await asyncio.wait_for(loop.sock_recv(made, 1024), 20), b"")

    async def test_the_socket_excludes_signals_and_a_second_socket(self):
        await self.acquire("AcquireNotify")
        for member, arguments in (("StartNotify", ()), ("AcquireNotify", ("a{sv}", {}))):
            refusal = await self.refused(self.client.call(self.main, CHARACTERISTIC, member, *arguments))
            self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.NotPermitted", "Notify acquired"))

    async def test_a_subscription_excludes_the_socket(self):
        await self.client.call(self.main, CHARACTERISTIC, "StartNotify")
        refusal = await self.refused(self.client.call(self.main, CHARACTERISTIC, "AcquireNotify", "a{sv}", {}))
        self.assertEqual(refusal.name, "org.bluez.Error.InProgress")

    async def test_commands_go_by_a_socket(self):
        made, mtu = await self.acquire("AcquireWrite")
        self.assertEqual(mtu, 185)
        loop = asyncio.get_running_loop()
        values = [struct.pack("<H", index) for index in range(MANY)]
        for value in values:
            await loop.sock_sendall(made, value)
        await self.far.until(lambda: len(self.far.written) == MANY)
        self.assertEqual(self.far.written, values)
        refusal = await self.refused(self.client.write(self.main, b"\1", "command"))
        self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.NotPermitted", "Write acquired"))

    async def test_the_end_of_the_link_ends_the_socket_of_commands(self):
        made, _ = await self.acquire("AcquireWrite")
        await self.end.links[0].disconnect()
        self.assertEqual(await asyncio.wait_for(asyncio.get_running_loop().sock_recv(made, 1024), 20), b"")

    async def test_the_end_of_the_socket_of_commands_is_told(self):
        made, _ = await self.acquire("AcquireWrite")
        self.assertTrue(self.client.objects[self.main][CHARACTERISTIC]["WriteAcquired"])
        made.close()
        await self.client.until(
            lambda: not self.client.objects[self.main][CHARACTERISTIC]["WriteAcquired"], "the end of the socket"
        )

    async def test_descriptors_do_not_stay_open_in_the_bridge(self):
        folder = f"/proc/{self.world.bridge.pid}/fd"
        before = len(os.listdir(folder))
        for _ in range(5):
            made, _ = await self.acquire("AcquireNotify")
            made.close()
            await self.client.until(
                lambda: not self.client.objects[self.main][CHARACTERISTIC]["NotifyAcquired"], "its end"
            )
        # Nor do those that are sent to it.
        for _ in range(5):
            with open(os.devnull, encoding="utf-8") as held:
                message = Message(
                    destination="org.bluez", path=self.path, interface=DEVICE, member="Nothing", signature="h",
                    body=[0], unix_fds=[held.fileno()],
                )
                self.assertIs((await self.client.bus.call(message)).message_type, MessageType.ERROR)
        self.assertEqual(len(os.listdir(folder)), before)

    # Changes

    async def test_changed_services_come_and_go_on_a_link_that_stays_resolved(self):
        device = self.end.device
        added = Service("180F", [Characteristic("2A19", Every.READ | Every.WRITE_WITHOUT_RESPONSE, OPEN, b"\x64")])
        device.add_service(added)
        first, last = added.handle, added.end_group_handle
        await device.indicate_subscribers(
            device.gatt_service.service_changed_characteristic, struct.pack("<HH", first, last)
        )
        await self.client.until(
            lambda: any(there.get(CHARACTERISTIC, {}).get("UUID", "").startswith("00002a19")
                        for there in self.client.objects.values()), "the new service"
        )
        place = self.client.attribute(self.path, CHARACTERISTIC, "2A19")
        self.assertEqual(await self.client.read(place), b"\x64")
        self.assertTrue(self.client.objects[self.path][DEVICE]["ServicesResolved"])
        commands, _ = await self.acquire("AcquireWrite", place)
        server = device.gatt_server
        server.services.remove(added)
        server.attributes = [each for each in server.attributes if not first <= each.handle <= last]
        server.attributes_by_handle.clear()
        await device.indicate_subscribers(
            device.gatt_service.service_changed_characteristic, struct.pack("<HH", first, last)
        )
        await self.client.until(lambda: place not in self.client.objects, "the end of the service")
        self.assertEqual(
            await asyncio.wait_for(asyncio.get_running_loop().sock_recv(commands, 1024), 20), b"", "its socket ends with it"
        )
        self.assertIn(self.main, self.client.objects)
        self.assertEqual(await self.client.read(self.main), b"\0\x48", "the others are as they were")

    async def test_changes_that_come_while_services_are_read_are_one(self):
        device, held, seen = self.end.device, asyncio.Event(), []
        server = device.gatt_server
        answer = server.on_att_read_by_group_type_request

        async def late(bearer, request):
            await held.wait()
            await answer(bearer, request)

        def asked(bearer, request):
            if request.starting_handle == 1 and request.attribute_group_type == UUID("2800"):
                seen.append(request)
            asyncio.ensure_future(late(bearer, request))

        server.on_att_read_by_group_type_request = asked
        changed = device.gatt_service.service_changed_characteristic
        for _ in range(20):
            await device.indicate_subscribers(changed, struct.pack("<HH", 1, 0xFFFF))
        held.set()
        added = Service("180F", [Characteristic("2A19", Every.READ, OPEN, b"\x64")])
        device.add_service(added)
        await device.indicate_subscribers(changed, struct.pack("<HH", added.handle, added.end_group_handle))
        await self.client.until(
            lambda: any(there.get(CHARACTERISTIC, {}).get("UUID", "").startswith("00002a19")
                        for there in self.client.objects.values()), "the new service"
        )
        count = None
        while count != len(seen):
            # Until nothing is asked any more.
            count = len(seen)
            await asyncio.sleep(0.3)
        self.assertLessEqual(count, 3)


if __name__ == "__main__":
    unittest.main()

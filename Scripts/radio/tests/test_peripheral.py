"""GattManager1: services of applications, as true centrals find and use them."""

import asyncio
import socket
import struct
import unittest

from bumble import att
from bumble.core import UUID, ProtocolError
from bumble.device import Peer
from bumble.gatt import Characteristic
from bumble.pairing import PairingConfig
from dbus_fast import Variant

from .offers import Error, Offers, OffersTest
from .support import (
    ADAPTER, BOUND, CHARACTERISTIC, DEVICE, HCI0, PROPERTIES, SERVICE, Agent, Client, accept_pairing, register,
)
from .test_pairing import Capability, FarAgent, locked

HEART, RATE, PLACE, POINT = "180D", "2A37", "2A38", "2A39"


class Peripheral(OffersTest):
    async def code(self, work):
        """The ATT error that a central gets."""
        with self.assertRaises(att.ATT_Error) as caught:
            await work
        return int(caught.exception.error_code)

    async def served(self, *flags, value=b"\1", uuid=PLACE, root="/app", **how):
        """The path of the one characteristic of a service that is registered."""
        self.offers.service(root, HEART)
        path = self.offers.characteristic(root, "char0", uuid, *flags, value=value, **how)
        await self.offers.register(root)
        return path

    # Services

    async def test_a_central_finds_what_applications_registered(self):
        self.offers.service("/one", HEART)
        rate = self.offers.characteristic("/one", "char0", RATE, "notify", "read")
        self.offers.descriptor(rate, "desc0", "2901", b"Rate")
        self.offers.characteristic("/one", "char1", PLACE, "read")
        self.offers.service("/two", "6e1f0001-5c2d-4a0b-9b4c-2f7a8d1e3c50")
        self.offers.characteristic("/two", "char0", "6e1f0002-5c2d-4a0b-9b4c-2f7a8d1e3c50", "write")
        await self.offers.register("/one")
        await self.offers.register("/two")
        central = await self.linked()
        found = [each.uuid for each in central.peer.services]
        self.assertEqual(found, [UUID(each) for each in ("1800", "1801", HEART, "6e1f0001-5c2d-4a0b-9b4c-2f7a8d1e3c50")])
        self.assertEqual([each.uuid for each in central.peer.services[2].characteristics], [UUID(RATE), UUID(PLACE)])
        self.assertEqual([each.type for each in central.find(RATE).descriptors], [UUID("2902"), UUID("2901")])
        self.assertEqual(central.find(RATE).properties, Characteristic.Properties.NOTIFY | Characteristic.Properties.READ)
        self.assertEqual(bytes(await central.peer.gatt_client.read_value(central.find(RATE).descriptors[1])), b"Rate")

    async def test_the_central_is_a_connected_device_before_its_first_request(self):
        path = await self.served("read")
        seen = []

        def read(options):
            seen.append(dict(self.client.objects[options["device"]][DEVICE]))
            return b"\1"

        self.offers.answers[path, "ReadValue"] = read
        central = await self.linked()
        self.assertEqual(await central.read(PLACE), b"\1")
        self.assertEqual((seen[0]["Address"], seen[0]["AddressType"], seen[0]["Connected"]),
                         (central.address, "random", True))
        options = self.offers.called(path, "ReadValue")[0][0]
        self.assertEqual(options, {"device": central.path, "link": "LE", "mtu": 185})

    async def test_a_handle_is_chosen_and_told(self):
        self.offers.service("/app", HEART, Handle=Variant("q", 0))
        await self.offers.register("/app")
        await self.client.until(lambda: self.offers.called("/app", "Set"), "the handle")
        interface, name, value = self.offers.called("/app", "Set")[0]
        self.assertEqual((interface, name), (SERVICE, "Handle"))
        central = await self.linked()
        self.assertIn(value.value, [each.handle for each in central.peer.services])

    async def test_a_wished_handle_is_given_or_refused(self):
        self.offers.service("/one", HEART, Handle=Variant("q", 0x200))
        self.offers.service("/two", "1809", Handle=Variant("q", 0x200))
        await self.offers.register("/one")
        refusal = await self.refused(self.offers.register("/two"))
        self.assertEqual(refusal.name, "org.bluez.Error.Failed")
        central = await self.linked()
        self.assertIn(0x200, [each.handle for each in central.peer.services])
        self.assertFalse(self.offers.called("/one", "Set"), "it has what it wished")

    async def test_an_application_is_registered_once(self):
        await self.served("read")
        self.assertEqual((await self.refused(self.offers.register("/app"))).name, "org.bluez.Error.AlreadyExists")
        await self.offers.unregister("/app")
        self.assertEqual((await self.refused(self.offers.unregister("/app"))).name, "org.bluez.Error.DoesNotExist")
        await self.offers.register("/app")

    async def test_what_cannot_be_served_is_refused(self):
        for root, objects in (
            ("/empty", lambda: None),
            ("/gatt", lambda: self.offers.service("/gatt", "1801")),
            ("/uuid", lambda: self.offers.service("/uuid", "no uuid")),
            ("/flag", lambda: (self.offers.service("/flag", HEART),
                               self.offers.characteristic("/flag", "char0", RATE, "shout"))),
            ("/ccc", lambda: (self.offers.service("/ccc", HEART),
                              self.offers.characteristic("/ccc", "char0", "2902", "read"))),
        ):
            objects()
            with self.subTest(root):
                self.assertEqual((await self.refused(self.offers.register(root))).name, "org.bluez.Error.Failed")

    async def test_a_uuid_is_taken_in_each_of_its_forms(self):
        for root, uuid in (("/one", "0x1809"), ("/two", "0000180A-0000-1000-8000-00805F9B34FB"), ("/three", "0000180f")):
            self.offers.service(root, uuid)
            await self.offers.register(root)
        central = await self.linked()
        found = [each.uuid for each in central.peer.services[2:]]
        self.assertEqual(found, [UUID(each) for each in ("1809", "180A", "180F")])

    async def test_what_is_no_uuid_is_refused(self):
        for root, uuid in (("/one", "0x1f"), ("/two", "+180"), ("/three", "18_0d"), ("/four", "1_0_0_00")):
            self.offers.service(root, uuid)
            with self.subTest(uuid):
                self.assertEqual((await self.refused(self.offers.register(root))).name, "org.bluez.Error.Failed")

    async def test_service_changed_tells_connected_centrals(self):
        central = await self.linked()
        changes = await central.subscribe("2A05", notify=False)
        before = await central.read("2B2A")
        await self.served("read")
        changed = await self.got(changes)
        await central.discover()
        service = next(each for each in central.peer.services if each.uuid == UUID(HEART))
        self.assertEqual(changed, struct.pack("<HH", service.handle, service.end_group_handle))
        self.assertNotEqual(await central.read("2B2A"), before)
        await self.offers.unregister("/app")
        self.assertEqual(await self.got(changes), changed)
        await central.discover()
        self.assertIsNone(central.find(PLACE))

    async def test_a_central_with_robust_caching_hears_that_its_table_is_old(self):
        await self.served("read", root="/one")
        central = await self.linked()
        await central.write("2B29", b"\1")
        self.offers.service("/two", "1809")
        await self.offers.register("/two")
        self.assertEqual(await self.code(central.read(PLACE)), 0x12)
        self.assertEqual(await central.read(PLACE), b"\1")

    async def test_a_service_whose_object_goes_is_no_longer_served(self):
        self.offers.service("/app", HEART)
        self.offers.service("/app/two", "1809")
        await self.offers.register("/app")
        central = await self.linked()
        changes = await central.subscribe("2A05", notify=False)
        self.offers.removed("/app", "/app/two")
        await self.got(changes)
        await central.discover()
        found = [each.uuid for each in central.peer.services]
        self.assertIn(UUID(HEART), found)
        self.assertNotIn(UUID("1809"), found)

    async def test_a_client_that_vanishes_takes_its_services_along(self):
        other = await Client.open(self.world.address)
        offers = Offers(other)
        offers.service("/app", HEART)
        offers.characteristic("/app", "char0", PLACE, "read")
        await offers.register("/app")
        await self.offers.advertise("/adv")
        central = await self.linked()
        changes = await central.subscribe("2A05", notify=False)
        self.assertIsNotNone(central.find(PLACE))
        other.close()
        await self.got(changes)
        await central.discover()
        self.assertIsNone(central.find(PLACE))

    # Reads and writes

    async def test_a_long_value_is_read_by_offsets(self):
        value = bytes(range(200))
        path = await self.served("read", value=value)
        central = await self.linked(mtu=100)
        self.assertEqual(await central.read(PLACE), value)
        offsets = [options.get("offset", 0) for options, in self.offers.called(path, "ReadValue")]
        self.assertEqual(offsets, [0, 99, 198])

    async def test_a_value_is_read_by_its_type(self):
        await self.served("read", value=b"\7")
        central = await self.linked()
        answer = await central.ask(
            att.ATT_Read_By_Type_Request(starting_handle=1, ending_handle=0xFFFF, attribute_type=UUID(PLACE))
        )
        self.assertEqual([bytes(value) for _, value in answer.attributes], [b"\7"])

    async def test_a_write_is_answered_when_the_application_has_answered(self):
        path = await self.served("write", uuid=POINT)
        central = await self.linked()
        await central.write(POINT, b"\1")
        value, options = self.offers.called(path, "WriteValue")[0]
        self.assertEqual((value, options["device"], options["type"]), (b"\1", central.path, "request"))
        self.offers.answers[path, "WriteValue"] = lambda *_: Offers.NEVER
        writing = asyncio.ensure_future(central.write(POINT, b"\2"))
        await self.client.until(lambda: len(self.offers.called(path, "WriteValue")) == 2, "the write")
        self.assertFalse(writing.done())
        writing.cancel()

    async def test_commands_are_passed_on_in_order(self):
        path = await self.served("write-without-response", uuid=POINT)
        central = await self.linked()
        for number in range(50):
            await central.write(POINT, bytes([number]), response=False)
        await self.client.until(lambda: len(self.offers.called(path, "WriteValue")) == 50, "50 commands")
        calls = self.offers.called(path, "WriteValue")
        self.assertEqual([value[0] for value, _ in calls], list(range(50)))
        self.assertEqual({options["type"] for _, options in calls}, {"command"})

    async def test_prepared_writes_are_one_write(self):
        path = await self.served("write", uuid=POINT)
        central = await self.linked(mtu=50)
        await central.write(POINT, bytes(range(200)))
        self.assertEqual([value for value, _ in self.offers.called(path, "WriteValue")], [bytes(range(200))])

    async def test_prepared_writes_can_be_given_up(self):
        path = await self.served("write", uuid=POINT)
        central = await self.linked()
        handle = central.find(POINT).handle
        part = att.ATT_Prepare_Write_Request(attribute_handle=handle, value_offset=0, part_attribute_value=b"\1")
        self.assertEqual(bytes((await central.ask(part)).part_attribute_value), b"\1")
        await central.ask(att.ATT_Execute_Write_Request(flags=0))
        await central.write(POINT, b"\2")
        self.assertEqual([value for value, _ in self.offers.called(path, "WriteValue")], [b"\2"])

    async def test_a_queue_of_prepared_writes_is_bounded(self):
        await self.served("write", uuid=POINT)
        central = await self.linked()
        handle, codes = central.find(POINT).handle, set()
        for _ in range(40):
            part = att.ATT_Prepare_Write_Request(attribute_handle=handle, value_offset=5, part_attribute_value=b"\1")
            answer = await central.ask(part)
            codes.add(getattr(answer, "error_code", 0))
        self.assertEqual(codes, {0, 0x09})

    async def test_errors_are_those_of_the_application(self):
        path = await self.served("read", "write")
        central = await self.linked()
        for error, code in (
            (Error("Failed", "0x81"), 0x81), (Error("NotPermitted", "0x2"), 0x02), (Error("Unlikely", "0x11"), 0x11),
            (Error("NotAuthorized"), 0x08), (Error("NotSupported"), 0x06), (Error("InvalidOffset"), 0x07),
            (Error("InvalidValueLength"), 0x0D), (Error("Failed", "it broke"), 0x80), (Error("Other"), 0x0E),
        ):
            with self.subTest(error.name, text=error.text):
                def refuse(*_, error=error):
                    raise error

                self.offers.answers[path, "ReadValue"] = self.offers.answers[path, "WriteValue"] = refuse
                self.assertEqual(await self.code(central.read(PLACE)), code)
                self.assertEqual(await self.code(central.write(PLACE, b"\1")), code)

    async def test_what_the_flags_do_not_have_is_not_permitted(self):
        path = await self.served("notify")
        central = await self.linked()
        self.assertEqual(await self.code(central.read(PLACE)), 0x02)
        self.assertEqual(await self.code(central.write(PLACE, b"\1")), 0x03)
        self.assertFalse(self.offers.called(path, "ReadValue"))

    async def test_what_wants_encryption_is_read_by_who_paired(self):
        path = await self.served("encrypt-read")
        central = await self.linked()
        self.assertEqual(await self.code(central.read(PLACE)), 0x0F)
        self.assertFalse(self.offers.called(path, "ReadValue"))
        await asyncio.wait_for(central.link.pair(), 20)
        self.assertEqual(await central.read(PLACE), b"\1")
        await self.client.until(lambda: self.client.objects[central.path][DEVICE]["Paired"], "Paired")

    async def test_a_key_that_nobody_compared_is_not_authenticated(self):
        await self.served("encrypt-authenticated-read")
        central = await self.linked()
        self.assertEqual(await self.code(central.read(PLACE)), 0x05)
        await asyncio.wait_for(central.link.pair(), 20)
        self.assertEqual(await self.code(central.read(PLACE)), 0x05)

    async def test_an_application_that_does_not_answer_holds_up_neither_its_central_for_long_nor_others(self):
        path = await self.served("read")
        silent = self.offers.answers[path, "ReadValue"]
        self.offers.answers[path, "ReadValue"] = lambda _: Offers.NEVER
        first, second = await self.linked(), await self.linked(socket=2)
        reading = asyncio.ensure_future(first.read(PLACE))
        await self.client.until(lambda: self.offers.called(path, "ReadValue"), "the read")
        self.offers.answers[path, "ReadValue"] = silent
        self.assertEqual(await second.read(PLACE), b"\1")
        self.assertFalse(reading.done())
        self.assertEqual(await self.code(reading), 0x0E)
        self.assertEqual(await first.read(PLACE), b"\1")

    async def test_nonsense_is_answered(self):
        await self.served("read")
        central = await self.linked()
        send, client = central.peer.gatt_client.send_gatt_pdu, central.peer.gatt_client
        answers = asyncio.Queue()
        client.on_gatt_pdu = answers.put_nowait
        for packet, code in (
            (b"\x0a", 0x04), (b"\x0a\1\0\0", 0x04), (b"\x0a\xff\xff", 0x01), (b"\x3e\1", 0x06), (b"\x08\2\0\1\0\0\x28", 0x01),
            (b"\x08\1\0\2\0\0", 0x04), (b"\x10\1\0\xff\xff\3\x28", 0x10), (b"\x0c\1\0\xff\xff", 0x07), (b"\2", 0x04),
            (b"\x06\1\0\xff\xff\0", 0x04), (b"\x16\1\0", 0x04),
        ):
            with self.subTest(packet.hex()):
                send(packet)
                answer = await asyncio.wait_for(answers.get(), 10)
                self.assertEqual(int(answer.error_code), code)
        send(b"\x52\1")
        send(b"\xd2" + bytes(20))
        send(b"\x0a\1\0")
        self.assertEqual(bytes((await asyncio.wait_for(answers.get(), 10)).attribute_value), b"\0\x18")

    async def test_a_peer_that_does_not_wait_for_answers_is_disconnected(self):
        path = await self.served("read")
        self.offers.answers[path, "ReadValue"] = lambda _: Offers.NEVER
        central = await self.linked()
        gone = asyncio.Event()
        central.link.on("disconnection", lambda reason: gone.set())
        for _ in range(40):
            central.peer.gatt_client.send_gatt_pdu(b"\x0a" + central.find(PLACE).handle.to_bytes(2, "little"))
        await asyncio.wait_for(gone.wait(), 20)

    async def test_a_locked_value_of_a_central_is_not_paired_for(self):
        """A pairing request is a central's to send."""
        other = await Client.open(self.world.address)
        self.addCleanup(other.close)
        agent = await accept_pairing(other)
        central = await self.linked(services=[locked()])
        await self.client.until(lambda: self.client.objects[central.path][DEVICE]["ServicesResolved"], "ServicesResolved")
        refusal = await self.refused(self.client.read(self.client.attribute(central.path, CHARACTERISTIC, RATE)))
        self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.NotPermitted", "Not paired"))
        self.assertEqual(agent.asked, [])

    async def pairs(self, capability, secure_connections=True, **answers):
        """A central that can pair, and an agent of another client."""
        user = await Client.open(self.world.address)
        self.addCleanup(user.close)
        agent = Agent(user, answers)
        await register(user, "DisplayYesNo")
        await self.served("read")
        central = await self.linked()
        central.device.pairing_config_factory = lambda link: PairingConfig(
            sc=secure_connections, delegate=FarAgent(capability),
            identity_address_type=PairingConfig.AddressType.RANDOM,
        )
        return central, agent

    async def test_numbers_are_compared_with_a_central(self):
        """An agent is asked for that alone, as with bluetoothd."""
        central, agent = await self.pairs(
            Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT, RequestConfirmation=lambda *_: ("", [])
        )
        await asyncio.wait_for(central.link.pair(), BOUND)
        self.assertEqual([each[:2] for each in agent.asked], [("RequestConfirmation", central.path)])

    async def compares_nothing(self, secure_connections):
        central, agent = await self.pairs(
            Capability.NO_OUTPUT_NO_INPUT, secure_connections, RequestAuthorization=lambda *_: ("", [])
        )
        await asyncio.wait_for(central.link.pair(), BOUND)
        self.assertEqual(agent.asked, [("RequestAuthorization", central.path)])

    async def test_an_agent_is_asked_where_a_central_compares_nothing(self):
        await self.compares_nothing(True)

    async def test_an_agent_is_asked_where_a_central_compares_nothing_by_legacy_pairing(self):
        await self.compares_nothing(False)

    async def refuses_a_central(self, secure_connections):
        central, agent = await self.pairs(Capability.NO_OUTPUT_NO_INPUT, secure_connections)
        with self.assertRaises(ProtocolError):
            await asyncio.wait_for(central.link.pair(), BOUND)
        self.assertEqual(agent.asked, [("RequestAuthorization", central.path)])
        self.assertFalse(self.client.objects[central.path][DEVICE]["Paired"])

    async def test_an_agent_that_refuses_a_central_is_obeyed(self):
        await self.refuses_a_central(True)

    async def test_an_agent_that_refuses_a_central_is_obeyed_by_legacy_pairing(self):
        await self.refuses_a_central(False)

    async def test_a_central_that_does_not_wait_for_the_agent_is_not_paired(self):
        central, agent = await self.pairs(Capability.NO_OUTPUT_NO_INPUT, False, RequestAuthorization=lambda *_: None)
        pairing = asyncio.ensure_future(central.link.pair())
        await agent.until(1)
        central.device.smp_manager.sessions[central.link.handle].send_pairing_random_command()
        with self.assertRaises(ProtocolError):
            await asyncio.wait_for(pairing, BOUND)
        await agent.until(2)
        self.assertEqual(agent.asked[1], ("Cancel",))

    async def test_a_central_does_not_pair_anew_where_nothing_is_compared(self):
        """Else any central with its address could have its place; so it is with bluetoothd (JustWorksRepairing)."""
        central, agent = await self.pairs(Capability.NO_OUTPUT_NO_INPUT, RequestAuthorization=lambda *_: ("", []))
        await asyncio.wait_for(central.link.pair(), BOUND)
        await self.client.until(lambda: self.client.objects[central.path][DEVICE]["Paired"], "Paired")
        await central.device.keystore.delete_all()
        with self.assertRaises(ProtocolError):
            await asyncio.wait_for(central.link.pair(), BOUND)
        self.assertEqual(agent.asked, [("RequestAuthorization", central.path)])

    async def test_a_central_is_asked_to_pair(self):
        central, agent = await self.pairs(
            Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT, RequestConfirmation=lambda *_: ("", [])
        )
        asked = []

        def requested(requirements):
            asked.append(asyncio.ensure_future(central.link.pair()))

        central.link.on("security_request", requested)
        await self.client.call(central.path, DEVICE, "Pair")
        self.assertEqual(len(asked), 1, "a pairing request is the central's to send")
        await asyncio.wait_for(asked[0], BOUND)
        self.assertTrue(self.client.objects[central.path][DEVICE]["Paired"])
        self.assertEqual([each[:2] for each in agent.asked], [("RequestConfirmation", central.path)])

    async def test_a_central_that_does_not_pair_holds_up_the_call_until_the_link_ends(self):
        central, _ = await self.pairs(Capability.NO_OUTPUT_NO_INPUT)
        asked = asyncio.get_running_loop().create_future()
        central.link.on("security_request", asked.set_result)
        pairing = asyncio.ensure_future(self.client.call(central.path, DEVICE, "Pair"))
        await asyncio.wait_for(asked, BOUND)
        await central.link.disconnect()
        self.assertEqual((await self.refused(pairing)).name, "org.bluez.Error.AuthenticationCanceled")

    async def test_a_peripheral_can_use_the_table_too(self):
        """Whose link was made from here, too."""
        path = await self.served("read")
        peripheral = await self.peripheral()
        device = await self.client.link(peripheral.address)
        peer = Peer(peripheral.links[0])
        await peer.discover_services()
        for each in peer.services:
            await each.discover_characteristics()
        found = peer.get_characteristics_by_uuid(UUID(PLACE))[0]
        self.assertEqual(bytes(await peer.gatt_client.read_value(found)), b"\1")
        self.assertEqual(self.offers.called(path, "ReadValue")[0][0]["device"], device)

    # Subscriptions

    async def test_a_subscription_is_acquired_then_started(self):
        path = await self.served("notify", uuid=RATE)
        central = await self.linked()
        await central.subscribe(RATE)
        await self.client.until(lambda: self.offers.called(path, "StartNotify"), "StartNotify")
        members = [member for where, member, _ in self.offers.calls if where == path]
        self.assertEqual(members, ["AcquireNotify", "StartNotify"])
        self.assertEqual(self.offers.called(path, "AcquireNotify")[0][0],
                         {"device": central.path, "link": "LE", "mtu": 185})

    async def test_without_the_property_a_subscription_is_started_alone(self):
        path = await self.served("notify", uuid=RATE, acquires=False)
        central = await self.linked()
        await central.subscribe(RATE)
        await self.client.until(lambda: self.offers.called(path, "StartNotify"), "StartNotify")
        self.assertFalse(self.offers.called(path, "AcquireNotify"))

    async def test_values_go_to_those_who_are_subscribed(self):
        path = await self.served("notify", uuid=RATE)
        first, second = await self.linked(), await self.linked(socket=2)
        values = await first.subscribe(RATE)
        self.offers.value(path, b"\0\x48")
        self.assertEqual(await self.got(values), b"\0\x48")
        others = await second.subscribe(RATE)
        await self.client.until(lambda: len(self.offers.called(path, "StartNotify")) == 2, "a StartNotify each")
        # One signal a value, also of an equal one, and cut to what a packet holds.
        for value in (b"\1", b"\1", bytes(300)):
            self.offers.value(path, value)
            for each in (values, others):
                self.assertEqual(await self.got(each), value[:182])

    async def test_the_last_one_who_unsubscribes_stops_the_notifications(self):
        path = await self.served("notify", uuid=RATE)
        first, second = await self.linked(), await self.linked(socket=2)
        await first.subscribe(RATE)
        await second.subscribe(RATE)
        await first.peer.gatt_client.unsubscribe(first.find(RATE))
        self.assertFalse(self.offers.called(path, "StopNotify"))
        await second.link.disconnect()
        await self.client.until(lambda: self.offers.called(path, "StopNotify"), "StopNotify")
        self.assertFalse(self.client.objects[second.path][DEVICE]["Connected"], "the link's end is told before")

    async def test_a_value_sent_behind_an_answer_comes_behind_it(self):
        path = await self.served("write", "notify", uuid=POINT)
        central = await self.linked()
        values, order = await central.subscribe(POINT), []

        def write(*_):
            # In the loop's next turn, so behind the answer on the bus.
            asyncio.get_running_loop().call_soon(self.offers.value, path, b"\2")

        self.offers.answers[path, "WriteValue"] = write
        hear = central.peer.gatt_client.on_gatt_pdu

        def hearing(pdu):
            order.append(pdu.op_code)
            hear(pdu)

        central.peer.gatt_client.on_gatt_pdu = hearing
        await central.write(POINT, b"\1")
        await self.got(values)
        self.assertEqual(order, [0x13, 0x1B])

    async def test_indications_are_confirmed_one_by_one(self):
        path = await self.served("indicate", uuid=RATE)
        central = await self.linked()
        values = await central.subscribe(RATE, notify=False)
        for number in range(5):
            self.offers.value(path, bytes([number]))
        self.assertEqual([await self.got(values) for _ in range(5)], [bytes([number]) for number in range(5)])
        await self.client.until(lambda: len(self.offers.called(path, "Confirm")) == 5, "a Confirm each")

    async def test_each_central_that_confirms_is_told(self):
        path = await self.served("indicate", uuid=RATE)
        first, second = await self.linked(), await self.linked(socket=2)
        values = [await each.subscribe(RATE, notify=False) for each in (first, second)]
        self.offers.value(path, b"\1")
        for each in values:
            await self.got(each)
        await self.client.until(lambda: len(self.offers.called(path, "Confirm")) == 2, "two times Confirm")

    async def test_a_central_that_does_not_confirm_gets_no_second_indication(self):
        path = await self.served("indicate", uuid=RATE)
        first, second = await self.linked(), await self.linked(socket=2)
        first.peer.gatt_client.send_confirmation = lambda confirmation: None
        values = [await each.subscribe(RATE, notify=False) for each in (first, second)]
        self.offers.value(path, b"\1")
        self.offers.value(path, b"\2")
        self.assertEqual([await self.got(values[1]) for _ in range(2)], [b"\1", b"\2"])
        self.assertEqual(await self.got(values[0]), b"\1")
        self.assertTrue(values[0].empty())

    async def test_a_configuration_that_means_nothing_is_refused(self):
        await self.served("notify", uuid=RATE)
        central = await self.linked()
        configuration = central.find(RATE).descriptors[0]
        for value, code in ((b"\2\0", 0xFD), (b"\1", 0x0D), (b"\0\1", 0xFD)):
            with self.subTest(value.hex()):
                work = central.peer.gatt_client.write_value(configuration, value, with_response=True)
                self.assertEqual(await self.code(work), code)

    async def test_a_configuration_belongs_to_one_central(self):
        await self.served("notify", uuid=RATE)
        first, second = await self.linked(), await self.linked(socket=2)
        await first.subscribe(RATE)
        values = [bytes(await each.peer.gatt_client.read_value(each.find(RATE).descriptors[0])) for each in (first, second)]
        self.assertEqual(values, [b"\1\0", b"\0\0"])

    async def test_values_of_an_acquired_socket_are_notified(self):
        path = await self.served("notify", uuid=RATE)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        self.offers.answers[path, "AcquireNotify"] = lambda options: (theirs.fileno(), options["mtu"])
        central = await self.linked()
        values = await central.subscribe(RATE)
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(ours, b"\1")
        await loop.sock_sendall(ours, b"\2")
        self.assertEqual([await self.got(values) for _ in range(2)], [b"\1", b"\2"])
        theirs.close()
        await central.peer.gatt_client.unsubscribe(central.find(RATE))
        self.assertEqual(await asyncio.wait_for(loop.sock_recv(ours, 10), 20), b"", "it is closed with the last one")
        self.assertFalse(self.offers.called(path, "StartNotify"))

    async def test_values_that_somebody_else_signals_are_not_believed(self):
        path = await self.served("notify", uuid=RATE)
        central = await self.linked()
        values = await central.subscribe(RATE)
        other = await Client.open(self.world.address)
        self.addCleanup(other.close)
        Offers(other).value(path, b"\x66")
        await other.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Address")
        self.offers.value(path, b"\1")
        self.assertEqual(await self.got(values), b"\1")

    async def test_the_end_of_a_link_ends_what_it_waits_for(self):
        path = await self.served("read")
        self.offers.answers[path, "ReadValue"] = lambda _: Offers.NEVER
        central = await self.linked()
        reading = asyncio.ensure_future(central.read(PLACE))
        await self.client.until(lambda: self.offers.called(path, "ReadValue"), "the read")
        await central.link.disconnect()
        await self.client.until(lambda: not self.client.objects[central.path][DEVICE]["Connected"], "the end")
        reading.cancel()
        self.offers.answers[path, "ReadValue"] = lambda _: b"\2"
        again = await self.linked(socket=2)
        self.assertEqual(await again.read(PLACE), b"\2")

    async def test_both_roles_at_once(self):
        """A central that comes while a peripheral is being connected is not taken for it."""
        await self.served("read")
        peripheral = await self.peripheral(socket=2, advertise=False)
        await peripheral.advertise()
        await self.client.discover()
        device = await self.client.find(peripheral.address)
        await peripheral.device.stop_advertising()
        connecting, = await self.client.begin(self.client.call(device, DEVICE, "Connect"))
        central = await self.linked()
        self.assertEqual(await central.read(PLACE), b"\1")
        self.assertFalse(connecting.done())
        await peripheral.advertise()
        await connecting
        self.assertTrue(self.client.objects[device][DEVICE]["Connected"])
        self.assertTrue(self.client.objects[central.path][DEVICE]["Connected"])

    async def test_services_stay_while_the_adapter_is_off(self):
        await self.served("read")
        await self.offers.advertise("/adv")
        for on in (False, True):
            await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", on))
        await self.client.until(lambda: self.offers.called("/adv", "Release"), "Release")
        await self.offers.advertise("/adv")
        central = await self.linked()
        self.assertEqual(await central.read(PLACE), b"\1")


if __name__ == "__main__":
    unittest.main()

"""LEAdvertisingManager1: what is heard of advertisements, beside connections and of several clients."""

import asyncio
import unittest

from bumble import hci
from bumble.core import AdvertisingData
from bumble.hci import Address
from dbus_fast import Variant

from wakebench_radio import link

from .offers import ADVERTISING, GATT, Central, Offers, OffersTest
from .support import ADAPTER, BOUND, DEVICE, HCI0, PROPERTIES, Client, World

UUIDS = {"ServiceUUIDs": Variant("as", ["180d", "0000180F-0000-1000-8000-00805f9b34fb"])}
OVERFLOW = bytes([1]) + bytes(range(16))


def fields(heard):
    return dict(heard.data.ad_structures)


def named(name):
    return lambda heard: fields(heard).get(AdvertisingData.COMPLETE_LOCAL_NAME) == name


def of_adapter(heard):
    return heard.address == Address("00:AA:01:00:00:01", Address.PUBLIC_DEVICE_ADDRESS)


class Advertising(OffersTest):
    async def counts(self):
        said = (await self.client.call(HCI0, PROPERTIES, "GetAll", "s", ADVERTISING)).body[0]
        return said["ActiveInstances"].value, said["SupportedInstances"].value

    async def test_an_advertisement_is_heard_with_its_scan_response(self):
        await self.offers.advertise("/adv", **UUIDS, LocalName=Variant("s", "Strap"), Discoverable=Variant("b", True))
        heard = await (await self.central()).heard(named(b"Strap"))
        self.assertEqual(fields(heard), {0x01: b"\6", 0x03: b"\x0d\x18\x0f\x18", 0x09: b"Strap"})
        self.assertEqual(heard.address.to_string(False), self.client.objects[HCI0][ADAPTER]["Address"])
        self.assertTrue(heard.is_connectable)

    async def test_long_uuids_and_data_are_heard(self):
        await self.offers.advertise(
            "/adv", ManufacturerData=Variant("a{qv}", {0x4C: Variant("ay", OVERFLOW)}),
            ServiceData=Variant("a{sv}", {"180d": Variant("ay", b"\7")}),
        )
        heard = await (await self.central()).heard(lambda heard: 0xFF in fields(heard))
        self.assertEqual(fields(heard), {0x01: b"\4", 0xFF: b"\x4c\0" + OVERFLOW, 0x16: b"\x0d\x18\7"})
        await self.offers.end_advertising("/adv")
        text = "6e1f0001-5c2d-4a0b-9b4c-2f7a8d1e3c50"
        await self.offers.advertise("/long", ServiceUUIDs=Variant("as", [text]))
        heard = await (await self.central(socket=2)).heard(lambda heard: 0x07 in fields(heard))
        self.assertEqual(fields(heard)[0x07], bytes.fromhex(text.replace("-", ""))[::-1])

    async def test_a_broadcast_is_not_connectable(self):
        self.offers.objects["/adv"] = "org.bluez.LEAdvertisement1", {}
        await self.offers.advertise("/adv", Type=Variant("s", "broadcast"), **UUIDS)
        heard = await (await self.central()).heard(lambda heard: of_adapter(heard) and 0x03 in fields(heard))
        self.assertFalse(heard.is_connectable)
        self.assertNotIn(0x01, fields(heard))

    async def test_what_does_not_fit_or_means_nothing_is_refused(self):
        for properties in (
            {"LocalName": Variant("s", "a name of thirty octets in all")},
            {"ServiceUUIDs": Variant("as", ["6e1f0001-5c2d-4a0b-9b4c-2f7a8d1e3c50"] * 2)},
            {"ServiceUUIDs": Variant("as", ["no uuid"])},
            {"ServiceUUIDs": Variant("s", "180d")},
            {"Type": Variant("s", "peripheral!")},
            {"ManufacturerData": Variant("a{qv}", {1: Variant("s", "text")})},
            {"MinInterval": Variant("u", 5)},
        ):
            with self.subTest(str(properties)):
                refusal = await self.refused(self.offers.advertise("/adv", **properties))
                self.assertEqual((refusal.name, refusal.text),
                                 ("org.bluez.Error.Failed", "Failed to parse advertisement."))
        self.assertEqual((await self.counts())[0], 0)
        # The longest name that there is room for.
        await self.offers.advertise("/adv", LocalName=Variant("s", "a name of twenty-nine octets!"))

    async def test_an_advertisement_is_registered_once(self):
        await self.offers.advertise("/adv", **UUIDS)
        self.assertEqual((await self.refused(self.offers.advertise("/adv"))).name, "org.bluez.Error.AlreadyExists")
        await self.offers.end_advertising("/adv")
        refusal = await self.refused(self.offers.end_advertising("/adv"))
        self.assertEqual(refusal.name, "org.bluez.Error.DoesNotExist")

    async def test_several_are_heard_at_once_as_many_as_there_is_room_for(self):
        _, room = await self.counts()
        for number in range(room):
            await self.offers.advertise(f"/adv{number}", LocalName=Variant("s", f"name {number}"))
        self.assertEqual(await self.counts(), (room, 0))
        refusal = await self.refused(self.offers.advertise("/more"))
        self.assertEqual(refusal.name, "org.bluez.Error.NotPermitted")
        central = await self.central()
        for number in range(room):
            await central.heard(named(b"name %d" % number))
        await self.offers.end_advertising("/adv0")
        await self.offers.advertise("/more", LocalName=Variant("s", "another"))
        await central.heard(named(b"another"))

    async def test_registrations_at_once_are_all_heard(self):
        await asyncio.gather(*(
            self.offers.advertise(f"/adv{number}", LocalName=Variant("s", f"at once {number}")) for number in range(4)
        ))
        central = await self.central()
        for number in range(4):
            await central.heard(named(b"at once %d" % number))

    async def test_advertising_goes_on_after_a_connection_and_after_its_end(self):
        await self.offers.advertise("/adv", LocalName=Variant("s", "goes on"))
        first, second = await self.central(), await self.central(socket=2)
        await first.connect()
        await second.heard(named(b"goes on"))
        await second.connect()
        await self.client.until(
            lambda: all(self.client.objects.get(each.path, {}).get(DEVICE, {}).get("Connected") for each in (first, second)),
            "two centrals",
        )
        await second.link.disconnect()
        await second.heard(named(b"goes on"))

    async def test_what_was_taken_back_is_not_heard_and_takes_no_connection(self):
        await self.offers.advertise("/gone", LocalName=Variant("s", "gone"))
        central = await self.central()
        await central.heard(named(b"gone"))
        await self.offers.end_advertising("/gone")
        await self.offers.advertise("/adv", LocalName=Variant("s", "there"))
        self.assertEqual((await self.counts())[0], 1)
        there = []
        central.device.on("advertisement", lambda heard: there.append(fields(heard).get(0x09)))
        # What the central heard before is not of interest any more.
        while not central.advertisements.empty():
            central.advertisements.get_nowait()
        await central.heard(named(b"there"))
        self.assertNotIn(b"gone", there)
        await self.offers.end_advertising("/adv")
        connecting = asyncio.ensure_future(central.device.connect(Address("00:AA:01:00:00:01", 0), timeout=1))
        with self.assertRaises(Exception):
            await asyncio.wait_for(connecting, BOUND)

    async def test_a_client_that_vanishes_takes_its_advertisement_along(self):
        other = await Client.open(self.world.address)
        await Offers(other).advertise("/adv", **UUIDS)
        self.assertEqual((await self.counts())[0], 1)
        other.close()
        await self.client.until(
            lambda: self.client.objects[HCI0][ADVERTISING]["ActiveInstances"] == 0, "the advertisement's end"
        )

    async def test_a_timeout_ends_it_and_releases_its_object(self):
        await self.offers.advertise("/adv", Timeout=Variant("q", 1), **UUIDS)
        await self.client.until(lambda: self.offers.called("/adv", "Release"), "Release")
        self.assertEqual((await self.counts())[0], 0)

    async def test_an_adapter_that_is_off_does_not_advertise(self):
        await self.offers.advertise("/adv", **UUIDS)
        await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", False))
        await self.client.until(lambda: self.offers.called("/adv", "Release"), "Release")
        self.assertEqual((await self.refused(self.offers.advertise("/two"))).name, "org.bluez.Error.NotReady")
        await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", True))
        await self.offers.advertise("/two", LocalName=Variant("s", "on again"))
        await (await self.central()).heard(named(b"on again"))


class Controllers(unittest.IsolatedAsyncioTestCase):
    """On controllers that are other than those of most tests."""

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.world = World(controllers=1)
        self.addCleanup(self.world.end)
        self.air = link.Air()

    async def begin(self, change):
        """The bridge on a controller that `change` was made to, a client with offers, and a central's transport."""
        servers = [await link.serve(f"unix:{self.world.folder}/own{number}", self.air, number) for number in (1, 2)]
        for each in servers:
            self.addCleanup(each.close)
        self.server, self.controller = servers[0], servers[0].controller
        change(self.controller)
        await asyncio.to_thread(self.world.begin_bridge, transports=[servers[0].transport])
        self.client = await Client.open(self.world.address)
        self.addCleanup(self.client.close)
        self.offers = Offers(self.client)
        return servers[1].transport

    async def central(self, transport):
        made = await Central.begin(transport)
        self.addAsyncCleanup(made.vanish)
        return made

    @staticmethod
    def without_sets(controller):
        controller.le_features &= ~hci.LeFeatureMask.LE_EXTENDED_ADVERTISING

    async def test_a_controller_without_sets_has_one_advertisement_that_goes_on(self):
        transport = await self.begin(self.without_sets)
        await self.offers.advertise("/adv", LocalName=Variant("s", "one"))
        said = self.client.objects[HCI0][ADVERTISING]
        self.assertEqual((said["ActiveInstances"], said["SupportedInstances"]), (1, 0))
        central = await self.central(transport)
        await central.heard(named(b"one"))
        await central.connect()
        await central.discover()
        await central.heard(named(b"one"))
        await central.link.disconnect()
        await central.connect()
        await self.offers.end_advertising("/adv")
        await self.offers.advertise("/two", LocalName=Variant("s", "two"))
        await central.heard(named(b"two"))

    async def test_a_controller_that_cannot_advertise_offers_neither_manager(self):
        def change(controller):
            self.without_sets(controller)
            controller.supported_commands.discard(hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND)

        await self.begin(change)
        self.assertEqual(list(self.client.objects[HCI0]), [ADAPTER, "org.wakebench.Radio1"])
        self.assertEqual(self.client.objects[HCI0][ADAPTER]["Roles"], ["central"])
        self.assertNotIn(GATT, self.client.objects[HCI0])

    async def test_advertising_that_is_refused_during_a_connection_begins_again_at_its_end(self):
        transport = await self.begin(lambda controller: None)
        await self.offers.advertise("/adv", LocalName=Variant("s", "again"))
        enable = self.controller.on_hci_le_set_extended_advertising_enable_command
        refused = asyncio.Event()

        def refusing(command):
            if self.controller.le_connections and command.enable:
                refused.set()
                return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
            return enable(command)

        self.controller.on_hci_le_set_extended_advertising_enable_command = refusing
        central = await self.central(transport)
        await central.connect()
        await asyncio.wait_for(refused.wait(), BOUND)
        await central.link.disconnect()
        await central.heard(named(b"again"))

    async def test_an_adapter_that_was_lost_takes_services_anew(self):
        transport = await self.begin(lambda controller: None)
        self.offers.service("/app", "180D")
        self.offers.characteristic("/app", "char0", "2A38", "read", value=b"\1")
        await self.offers.register("/app")
        await self.offers.advertise("/adv")
        central = await self.central(transport)
        await central.connect()
        self.server.drop()
        await self.client.until(lambda: HCI0 not in self.client.objects, "the adapter's end")
        await self.client.until(lambda: HCI0 in self.client.objects, "the adapter")
        await self.offers.register("/app")
        await self.offers.advertise("/adv")
        await central.connect()
        await central.discover()
        self.assertEqual([str(each.uuid)[:12] for each in central.peer.services],
                         ["UUID-16:1800", "UUID-16:1801", "UUID-16:180D"])
        self.assertEqual(await central.read("2A38"), b"\1")

    async def test_the_fence_is_answered_when_the_controller_has_taken_the_values_before_it(self):
        held, holds = [], False
        send = link.LinkedController.send_hci_packet

        def sending(packet):
            if holds and isinstance(packet, hci.HCI_Number_Of_Completed_Packets_Event):
                held.append(packet)
            else:
                send(self.controller, packet)

        def change(controller):
            controller.send_hci_packet = sending

        transport = await self.begin(change)
        self.offers.service("/app", "180D")
        path = self.offers.characteristic("/app", "char0", "2A37", "notify")
        await self.offers.register("/app")
        await self.offers.advertise("/adv")
        central = await self.central(transport)
        await central.connect()
        await central.discover()
        values = await central.subscribe("2A37")
        holds = True
        buffers = self.controller.total_num_le_acl_data_packets
        for number in range(buffers + 1):
            self.offers.value(path, bytes([number]))
        fence = asyncio.ensure_future(self.client.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Address"))
        # What is asked behind it is answered; a task of its own is sent behind it.
        await asyncio.ensure_future(self.client.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Alias"))
        for number in range(buffers):
            self.assertEqual(bytes(await asyncio.wait_for(values.get(), BOUND)), bytes([number]))
        self.assertFalse(fence.done())
        holds = False
        for packet in held:
            send(self.controller, packet)
        await asyncio.wait_for(fence, BOUND)
        self.assertEqual(bytes(await asyncio.wait_for(values.get(), BOUND)), bytes([buffers]))


if __name__ == "__main__":
    unittest.main()

"""Discovery: what is told of a device, to whom, and when."""

import unittest

from bumble.core import AdvertisingData
from bumble.device import AdvertisingType
from dbus_fast import Variant

from .support import ADAPTER, DEVICE, HCI0, MANAGER, Client, RadioTest


class Discovery(RadioTest):
    async def test_the_adapter_says_what_peers_see(self):
        adapter = self.client.objects[HCI0][ADAPTER]
        self.assertEqual(adapter["Address"], self.world.controllers[0]["address"])
        self.assertEqual(adapter["AddressType"], "public")
        self.assertTrue(adapter["Powered"])
        self.assertEqual(self.said["adapters"][0], {
            "path": HCI0, "address": adapter["Address"], "transport": self.world.sockets[0]
        })

    async def test_advertisement_and_scan_response_are_told_as_one(self):
        peripheral = await self.peripheral()
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        added = self.client.objects[path][DEVICE]
        self.assertEqual(added["Name"], "Far End")
        self.assertEqual(added["UUIDs"], ["0000180d-0000-1000-8000-00805f9b34fb"])
        self.assertEqual(added["AddressType"], "random")
        self.assertIn("RSSI", added)
        self.assertEqual([event[0] for event in self.client.events if event[1] == path], ["added"], "one signal")

    async def test_an_advertisement_without_a_response_is_told_too(self):
        peripheral = await self.peripheral(advertise=False)
        await peripheral.advertise(advertising_type=AdvertisingType.UNDIRECTED)
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        self.assertNotIn("Name", self.client.objects[path][DEVICE])

    async def test_data_of_services_and_makers_is_told(self):
        said = [(0xFF, b"\x4c\0\2\3"), (0x16, b"\x0f\x18\x64"), (0x0A, b"\xfc")]
        peripheral = await self.peripheral(advertisement=bytes(AdvertisingData(said)))
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        device = self.client.objects[path][DEVICE]
        self.assertEqual(device["ManufacturerData"][0x4C].value, b"\2\3")
        self.assertEqual(device["ServiceData"]["0000180f-0000-1000-8000-00805f9b34fb"].value, b"\x64")
        self.assertEqual(device["TxPower"], -4)

    async def test_without_duplicates_the_same_is_told_once(self):
        peripheral = await self.peripheral()
        await self.client.discover(DuplicateData=Variant("b", False))
        path = await self.client.find(peripheral.address)
        # Until another one is made ready and heard, the first one advertises many times.
        other = await self.peripheral(socket=2)
        await self.client.find(other.address)
        self.assertEqual([event[0] for event in self.client.events if event[1] == path], ["added"])

    async def test_each_discovery_tells_the_strength_anew(self):
        peripheral = await self.peripheral()
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")
        await self.client.until(lambda: "RSSI" not in self.client.objects[path][DEVICE], "RSSI gone")
        await self.client.discover()
        await self.client.until(lambda: "RSSI" in self.client.objects[path][DEVICE], "RSSI")

    async def test_with_duplicates_each_advertisement_is_told(self):
        peripheral = await self.peripheral()
        await self.client.discover(DuplicateData=Variant("b", True))
        path = await self.client.find(peripheral.address)
        await self.client.until(
            lambda: sum(event[0] == "changed" and event[1] == path and "RSSI" in event[2]
                        for event in self.client.events) >= 10, "ten sightings"
        )

    async def test_a_filter_keeps_others_away(self):
        peripheral = await self.peripheral()
        other = await Client.open(self.world.address)
        self.addCleanup(other.close)
        battery, heart = ([f"0000{each}-0000-1000-8000-00805f9b34fb"] for each in ("180f", "180d"))
        await self.client.discover(UUIDs=Variant("as", battery), Pattern=Variant("s", peripheral.address))
        path = f"{HCI0}/dev_{peripheral.address.replace(':', '_')}"
        # What another client wants is told to all, as with bluetoothd.
        self.assertNotIn(path, (await self.client.call("/", MANAGER, "GetManagedObjects")).body[0])
        await other.discover(UUIDs=Variant("as", heart))
        await self.client.until(lambda: path in self.client.objects, "the device that the other one wants")

    async def test_the_end_of_discovery_forgets_the_strength(self):
        peripheral = await self.peripheral()
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")
        await self.client.until(lambda: "RSSI" not in self.client.objects[path][DEVICE], "RSSI gone")

    async def test_the_end_of_discovery_drops_what_cannot_be_connected(self):
        peripheral = await self.peripheral(advertise=False)
        await peripheral.advertise(advertising_type=AdvertisingType.UNDIRECTED)
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")
        await self.client.until(lambda: path not in self.client.objects, "the device's end")
        self.assertIn(("removed", path, [DEVICE]), self.client.events)

    async def test_a_removed_device_comes_back_as_new(self):
        peripheral = await self.peripheral()
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "RemoveDevice", "o", path)
        await self.client.until(lambda: ("removed", path, [DEVICE]) in self.client.events, "the device's end")
        await self.client.find(peripheral.address)
        said = [event[0] for event in self.client.events if event[1] == path and event[0] != "changed"]
        self.assertEqual(said, ["added", "removed", "added"])

    async def test_a_client_that_vanishes_ends_its_discovery(self):
        other = await Client.open(self.world.address)
        await other.discover()
        await self.client.until(lambda: self.client.objects[HCI0][ADAPTER]["Discovering"], "Discovering")
        other.close()
        await self.client.until(lambda: not self.client.objects[HCI0][ADAPTER]["Discovering"], "its end")

    async def test_discovery_is_started_and_stopped_once_by_each(self):
        self.assertEqual((await self.refused(self.client.call(HCI0, ADAPTER, "StopDiscovery"))).text,
                         "No discovery started")
        await self.client.discover()
        again = await self.refused(self.client.call(HCI0, ADAPTER, "StartDiscovery"))
        self.assertEqual(again.name, "org.bluez.Error.InProgress")

    async def test_wrong_arguments_are_refused(self):
        for body in ({"Transport": Variant("s", "wire")}, {"DuplicateData": Variant("s", "yes")}):
            refusal = await self.refused(self.client.call(HCI0, ADAPTER, "SetDiscoveryFilter", "a{sv}", body))
            self.assertEqual(refusal.name, "org.bluez.Error.InvalidArguments")
        refusal = await self.refused(self.client.call(HCI0, ADAPTER, "RemoveDevice", "s", "x"))
        self.assertEqual(refusal.name, "org.freedesktop.DBus.Error.UnknownMethod")
        refusal = await self.refused(self.client.call(HCI0, ADAPTER, "RemoveDevice", "o", f"{HCI0}/dev_0"))
        self.assertEqual(refusal.name, "org.bluez.Error.DoesNotExist")


if __name__ == "__main__":
    unittest.main()

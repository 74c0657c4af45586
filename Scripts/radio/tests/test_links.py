"""Links: their order of signals, their ends and what fails with them."""

import asyncio
import unittest
from xml.etree import ElementTree

from bumble.att import AttributeValue
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from dbus_fast import Variant

from .support import ADAPTER, BOUND, CHARACTERISTIC, DEVICE, HCI0, PROPERTIES, SERVICE, Client, RadioTest


def heart_rate(read=None, write=None):
    """A service with one characteristic that does all."""
    every = Characteristic.Properties
    value = AttributeValue(read=read or (lambda link: b"\0\x48"), write=write or (lambda link, value: None))
    return Service("180D", [
        Characteristic(
            "2A37", every.READ | every.WRITE | every.WRITE_WITHOUT_RESPONSE | every.NOTIFY,
            Characteristic.READABLE | Characteristic.WRITEABLE, value,
        )
    ])


class Links(RadioTest):
    async def found(self, peripheral):
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")
        return path

    def changes(self, path, *names):
        """What was said of a device's properties, in order."""
        return [
            (name, event[2][name]) for event in self.client.events if event[:2] == ("changed", path)
            for name in names if name in event[2]
        ]

    async def test_connected_is_told_before_the_answer_and_resolved_after_the_objects(self):
        path = await self.found(await self.peripheral(heart_rate()))
        await self.client.call(path, DEVICE, "Connect")
        self.assertEqual(self.changes(path, "Connected"), [("Connected", True)])
        await self.client.until(lambda: self.client.objects[path][DEVICE]["ServicesResolved"], "ServicesResolved")
        resolved = next(
            index for index, event in enumerate(self.client.events)
            if event[:2] == ("changed", path) and event[2].get("ServicesResolved")
        )
        added = [index for index, event in enumerate(self.client.events)
                 if event[0] == "added" and event[1].startswith(f"{path}/")]
        self.assertGreater(len(added), 5)
        self.assertLess(max(added), resolved)

    async def test_paths_hold_the_handles_of_declarations(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        attributes = peripheral.device.gatt_server.attributes
        value = next(each for each in attributes if isinstance(each, Characteristic) and each.uuid == "2A37")
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        self.assertEqual(int(place[-4:], 16), value.handle - 1)
        service = self.client.objects[place][CHARACTERISTIC]["Service"]
        self.assertEqual(self.client.objects[service][SERVICE]["UUID"], "0000180d-0000-1000-8000-00805f9b34fb")

    async def test_objects_tell_what_they_have(self):
        """Introspect, which busctl and d-feet show."""
        peripheral = await self.peripheral(heart_rate())
        path = await self.found(peripheral)
        answer = await self.client.call(HCI0, "org.freedesktop.DBus.Introspectable", "Introspect")
        node = ElementTree.fromstring(answer.body[0])
        self.assertIn(path.rpartition("/")[2], [each.get("name") for each in node.findall("node")])
        adapter = next(each for each in node.findall("interface") if each.get("name") == ADAPTER)
        powered = next(each for each in adapter.findall("property") if each.get("name") == "Powered")
        self.assertEqual((powered.get("type"), powered.get("access")), ("b", "readwrite"))
        method = next(each for each in adapter.findall("method") if each.get("name") == "SetDiscoveryFilter")
        self.assertEqual([dict(each.items()) for each in method], [{"type": "a{sv}", "direction": "in"}])

    async def test_the_longest_mtu_is_asked_for(self):
        peripheral = await self.peripheral(heart_rate(), mtu=185)
        path = await self.client.link(peripheral.address)
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        self.assertEqual(self.client.objects[place][CHARACTERISTIC]["MTU"], 185)

    async def test_the_name_is_read_over_the_link(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await self.client.until(lambda: self.client.objects[path][DEVICE]["Name"] == "peripheral", "the name")

    async def test_the_peer_that_hangs_up_is_the_reason(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await peripheral.links[0].disconnect()
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        self.assertIn(
            ("disconnected", path, "org.bluez.Reason.Remote", "Connection terminated by remote user"),
            self.client.events,
        )

    async def test_the_peer_that_vanishes_is_a_timeout(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await peripheral.vanish()
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        self.assertIn(
            ("disconnected", path, "org.bluez.Reason.Timeout", "Connection timeout"), self.client.events
        )

    async def test_disconnect_is_the_local_host(self):
        path = await self.client.link((await self.peripheral(heart_rate())).address)
        await self.client.call(path, DEVICE, "Disconnect")
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        self.assertIn(
            ("disconnected", path, "org.bluez.Reason.Local", "Connection terminated by local host"),
            self.client.events,
        )

    async def test_the_end_of_a_link_is_told_in_order(self):
        """Reason, Connected and ServicesResolved in one, the answers that fail, the objects."""
        asked = asyncio.Event()

        async def never(link):
            asked.set()
            await asyncio.Event().wait()

        peripheral = await self.peripheral(heart_rate(read=never))
        path = await self.client.link(peripheral.address)
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        reading = asyncio.ensure_future(self.client.read(place))
        await asyncio.wait_for(asked.wait(), BOUND)
        await peripheral.links[0].disconnect()
        service = place.rsplit("/", 1)[0]
        await self.client.until(
            lambda: any(event[0] == "removed" and event[1] == service for event in self.client.events), "the objects' end"
        )
        refusal = await self.refused(reading)
        self.assertEqual(refusal.name, "org.bluez.Error.NotConnected")
        begin = next(index for index, event in enumerate(self.client.events) if event[0] == "disconnected")
        order = [event[0] for event in self.client.events[begin:]]
        self.assertEqual(order[:2], ["disconnected", "changed"])
        both = self.client.events[begin + 1][2]
        self.assertEqual((both["Connected"], both["ServicesResolved"]), (False, False))
        self.assertEqual(order[2:4], ["error", "removed"])
        gone = [event[1] for event in self.client.events if event[0] == "removed"]
        self.assertLess(gone.index(place), gone.index(service), "what is below goes first")

    async def test_requests_that_wait_fail_with_the_link(self):
        async def never(link):
            await asyncio.Event().wait()

        peripheral = await self.peripheral(heart_rate(read=never))
        path = await self.client.link(peripheral.address)
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        reads = await self.client.begin(*(self.client.read(place) for _ in range(5)))
        await peripheral.links[0].disconnect()
        for each in reads:
            self.assertEqual((await self.refused(each)).name, "org.bluez.Error.NotConnected")

    async def test_disconnect_ends_an_attempt_to_connect(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.found(peripheral)
        await peripheral.device.stop_advertising()
        connecting, = await self.client.begin(self.client.call(path, DEVICE, "Connect"))
        await self.client.call(path, DEVICE, "Disconnect")
        refusal = await self.refused(connecting)
        self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.Failed", "le-connection-abort-by-local"))
        # The controller is free for the next attempt.
        await peripheral.advertise()
        await self.client.call(path, DEVICE, "Connect")

    async def test_two_attempts_take_turns(self):
        first, second = await self.peripheral(heart_rate()), await self.peripheral(heart_rate(), socket=2)
        await self.client.discover()
        paths = [await self.client.find(each.address) for each in (first, second)]
        await asyncio.gather(*(self.client.call(path, DEVICE, "Connect") for path in paths))
        for path in paths:
            self.assertTrue(self.client.objects[path][DEVICE]["Connected"])
        self.assertTrue(self.client.objects[HCI0][ADAPTER]["Discovering"], "discovery goes on after it")

    async def test_a_second_connect_is_refused_while_the_first_is_under_way(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.found(peripheral)
        await peripheral.device.stop_advertising()
        connecting, = await self.client.begin(self.client.call(path, DEVICE, "Connect"))
        self.assertEqual((await self.refused(self.client.call(path, DEVICE, "Connect"))).name,
                         "org.bluez.Error.InProgress")
        await peripheral.advertise()
        await connecting
        # Once it is there it is a success.
        await self.client.call(path, DEVICE, "Connect")

    async def test_a_link_stays_when_its_client_vanishes(self):
        peripheral = await self.peripheral(heart_rate())
        other = await Client.open(self.world.address)
        path = await other.link(peripheral.address)
        other.close()
        await self.client.until(lambda: not self.client.objects[HCI0][ADAPTER]["Discovering"], "the client's end")
        self.assertTrue(self.client.objects[path][DEVICE]["Connected"])
        await self.client.call(path, DEVICE, "Disconnect")

    async def test_a_removed_device_is_disconnected(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "RemoveDevice", "o", path)
        self.assertNotIn(path, self.client.objects)
        self.assertFalse([each for each in self.client.objects if each.startswith(path)])

    async def test_power_off_ends_links_and_power_on_serves_again(self):
        peripheral = await self.peripheral(heart_rate())
        path = await self.client.link(peripheral.address)
        await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", False))
        self.assertFalse(self.client.objects[path][DEVICE]["Connected"])
        self.assertFalse(self.client.objects[HCI0][ADAPTER]["Powered"])
        self.assertEqual((await self.refused(self.client.call(HCI0, ADAPTER, "StartDiscovery"))).name,
                         "org.bluez.Error.NotReady")
        await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER, "Powered", Variant("b", True))
        self.assertTrue(self.client.objects[HCI0][ADAPTER]["Powered"])
        await self.client.link(peripheral.address)

    async def test_the_peer_sees_the_address_that_the_adapter_says(self):
        peripheral = await self.peripheral(heart_rate())
        await self.client.link(peripheral.address)
        said = self.client.objects[HCI0][ADAPTER]["Address"]
        self.assertEqual(peripheral.links[0].peer_address, Address(said, Address.PUBLIC_DEVICE_ADDRESS))


if __name__ == "__main__":
    unittest.main()

"""Reports of controllers that the linked ones do not make: legacy ones, long ones, cut ones, private addresses."""

import asyncio
import unittest
from types import SimpleNamespace

from bumble import crypto, hci
from bumble.hci import Address
from bumble.smp import AddressResolver
from dbus_fast import Variant

from wakebench_radio.adapter import Adapter, Filter
from wakebench_radio.device import Heard

from .support import BOUND

Kind = hci.HCI_LE_Extended_Advertising_Report_Event.EventType
FAR = Address("F0:CC:00:00:00:01")


class Objects:
    """A bus that keeps what is put on it, and what is told."""

    def __init__(self):
        self.vanished, self.there, self.told = [], {}, []
        self.news = asyncio.Event()

    def add(self, path, each):
        each.bus, each.path = self, path
        self.there[path] = {name: value.value for name, value in each.properties().items()}
        self.news.set()

    def remove(self, path):
        self.there.pop(path, None)

    def tell_changed(self, each, values, gone=()):
        self.told.append({name: value.value for name, value in values.items()})


def extended(data, kind, status=0, address=FAR, rssi=-40):
    return hci.HCI_LE_Extended_Advertising_Report_Event.Report(
        event_type=kind | status << 5, address_type=address.address_type, address=address, primary_phy=1,
        secondary_phy=1, advertising_sid=0, tx_power=127, rssi=rssi, periodic_advertising_interval=0,
        direct_address_type=0, direct_address=Address.ANY, data=data,
    )


def legacy(data, kind, address=FAR):
    return hci.HCI_LE_Advertising_Report_Event.Report(
        event_type=kind, address_type=address.address_type, address=address, data=data, rssi=-40
    )


class Reports(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.bus = Objects()
        keys = SimpleNamespace(has=lambda address: False)
        self.adapter = Adapter(self.bus, 0, "none:", keys, None)
        self.adapter.radio.device = SimpleNamespace(address_resolver=None)
        self.adapter.sessions.add(":1.1")

    def device(self, address=FAR):
        return self.bus.there.get(f"/org/bluez/hci0/dev_{address.to_string(False).replace(':', '_')}")

    async def test_legacy_reports_are_merged(self):
        self.adapter.heard(legacy(b"\2\1\6", 0))
        self.assertIsNone(self.device(), "it waits for its response")
        self.adapter.heard(legacy(b"\3\x09Hi", 4))
        self.assertEqual((self.device()["Name"], self.device()["AdvertisingFlags"]), ("Hi", b"\6"))

    async def test_an_advertisement_that_is_not_answered_is_told_alone(self):
        self.adapter.heard(legacy(b"\2\1\6", 0))
        await asyncio.wait_for(self.bus.news.wait(), BOUND)
        self.assertNotIn("Name", self.device())

    async def test_the_next_advertisement_tells_the_one_before(self):
        self.adapter.heard(legacy(b"\2\1\6", 0))
        self.adapter.heard(legacy(b"\2\1\6", 0))
        self.assertIsNotNone(self.device())

    async def test_what_cannot_be_scanned_is_told_at_once(self):
        self.adapter.heard(legacy(b"\3\x09Hi", 3))
        self.assertEqual(self.device()["Name"], "Hi")

    async def test_parts_of_a_long_advertisement_are_joined(self):
        value = b"\xff\x4c\0" + bytes(300)
        data = bytes([253]) + value[:253] + b"\3\x09Hi"
        self.adapter.heard(extended(data[:200], Kind.CONNECTABLE_ADVERTISING, 1))
        self.assertIsNone(self.device())
        self.adapter.heard(extended(data[200:], Kind.CONNECTABLE_ADVERTISING))
        self.assertEqual(self.device()["Name"], "Hi")
        self.assertEqual(len(self.device()["ManufacturerData"][0x4C].value), 250)

    async def test_unknown_strength_is_left_out(self):
        self.adapter.heard(extended(b"\3\x09Hi", Kind(0), rssi=127))
        self.assertNotIn("RSSI", self.device())

    async def test_a_private_address_is_resolved(self):
        key, identity = bytes(range(16)), Address("F0:CC:00:00:00:09")
        random = b"\1\2\x43"
        private = Address(crypto.ah(key, random) + random, Address.RANDOM_DEVICE_ADDRESS)
        self.adapter.radio.device.address_resolver = AddressResolver([(key, identity)])
        self.adapter.heard(extended(b"\3\x09Hi", Kind(0), address=private))
        self.assertIsNotNone(self.device(identity))
        self.assertEqual(next(iter(self.adapter.devices.values())).air_address, private)

    async def test_anonymous_advertisements_are_nobody(self):
        report = extended(b"\3\x09Hi", Kind(0))
        report.address = SimpleNamespace(address_type=0xFF)
        self.adapter.heard(report)
        self.assertFalse(self.bus.there)

    async def test_the_table_of_devices_is_bounded(self):
        for number in range(1100):
            address = Address(number.to_bytes(2, "little") + b"\0\0\xcc\xf0", Address.RANDOM_DEVICE_ADDRESS)
            self.adapter.heard(extended(b"\3\x09Hi", Kind(0), address=address))
        self.assertEqual(len(self.adapter.devices), 1024)
        self.assertEqual(len(self.bus.there), 1024)

    def test_cut_and_strange_data_is_survived(self):
        for data, name in (
            (b"\3\x09Hi\5\x09A", "Hi"), (b"\0\3\x09Hi", None), (b"\3\x09\xff\xfe", "\ufffd\ufffd"), (b"\1", None),
            (b"\1\x09", None), (b"\3\x09H\0", "H"), (b"\xff", None), (b"", None),
        ):
            with self.subTest(data=data):
                heard = Heard()
                heard.take(data)
                self.assertEqual(heard.name, name)

    def test_filters_choose_by_strength_and_pattern(self):
        heart = "0000180d-0000-1000-8000-00805f9b34fb"
        device = SimpleNamespace(uuids=[heart], rssi=-50, tx_power=0, text="F0:CC", name="Belt")
        for said, wanted in (
            ({}, True),
            ({"RSSI": Variant("n", -60)}, True), ({"RSSI": Variant("n", -40)}, False),
            ({"Pathloss": Variant("q", 50)}, True), ({"Pathloss": Variant("q", 49)}, False),
            ({"Pattern": Variant("s", "F0:")}, True), ({"Pattern": Variant("s", "Bel")}, True),
            ({"Pattern": Variant("s", "elt")}, False),
            ({"UUIDs": Variant("as", ["0x180D"])}, True),
            ({"UUIDs": Variant("as", ["180f"])}, False),
            ({"Transport": Variant("s", "bredr")}, False),
        ):
            with self.subTest(said=said):
                self.assertEqual(Filter(said).wants(device), wanted)


if __name__ == "__main__":
    unittest.main()

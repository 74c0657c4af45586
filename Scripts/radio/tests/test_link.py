"""The linked controllers that the other tests and wakebench air stand on."""

import asyncio
import json
import os
import tempfile
import unittest

from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

from wakebench_radio.link import Air, serve

from .support import BOUND, PACKAGE
from .test_links import heart_rate

CENTRAL, PERIPHERAL = "F0:BB:00:00:00:01", "F0:BB:00:00:00:02"
Kind = hci.HCI_LE_Extended_Advertising_Report_Event.EventType


class Controllers(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        folder = tempfile.TemporaryDirectory(prefix="radio-link-")
        self.addCleanup(folder.cleanup)
        self.air, self.servers = Air(), []
        for number, where in enumerate((f"unix:{folder.name}/one", "tcp:127.0.0.1:0"), 1):
            self.servers.append(await serve(where, self.air, number))
            self.addCleanup(self.servers[-1].close)
        self.central = await self.host(0, CENTRAL)
        self.peripheral = await self.host(1, PERIPHERAL)
        self.peripheral.advertising_data = bytes(AdvertisingData([(0x01, b"\6")]))
        self.peripheral.scan_response_data = bytes(AdvertisingData([(0x09, b"Far End")]))
        self.peripheral.add_services([heart_rate()])

    async def host(self, index, address):
        transport = await open_transport(self.servers[index].transport)
        self.addAsyncCleanup(transport.close)
        device = Device.with_hci("host", Address(address), transport.source, transport.sink)
        await asyncio.wait_for(device.power_on(), BOUND)
        return device

    async def reports(self, count, **how):
        """So many reports of a scan: pairs of the event type and the data."""
        found, full = [], asyncio.get_running_loop().create_future()

        def heard(report):
            found.append((Kind(report.event_type), bytes(report.data)))
            if len(found) == count:
                full.set_result(None)

        self.central.host.on("advertising_report", heard)
        await self.central.start_scanning(**how)
        await asyncio.wait_for(full, BOUND)
        await self.central.stop_scanning()
        self.central.host.remove_listener("advertising_report", heard)
        return found[:count]

    async def advertise(self, **how):
        await self.peripheral.start_advertising(advertising_interval_min=20, advertising_interval_max=20, **how)

    async def linked(self):
        """Both ends of a link."""
        far = asyncio.get_running_loop().create_future()
        self.peripheral.once("connection", far.set_result)
        await self.advertise()
        link = await asyncio.wait_for(self.central.connect(Address(PERIPHERAL)), BOUND)
        return link, await asyncio.wait_for(far, BOUND)

    def end_of(self, link):
        ended = asyncio.get_running_loop().create_future()
        link.on("disconnection", ended.set_result)
        return asyncio.wait_for(ended, BOUND)

    async def test_an_active_scan_hears_responses(self):
        await self.advertise()
        legacy = Kind.LEGACY_ADVERTISING_PDU_USED | Kind.CONNECTABLE_ADVERTISING | Kind.SCANNABLE_ADVERTISING
        self.assertEqual(await self.reports(2), [
            (legacy, self.peripheral.advertising_data),
            (legacy | Kind.SCAN_RESPONSE, self.peripheral.scan_response_data),
        ])

    async def test_a_passive_scan_hears_none(self):
        await self.advertise()
        self.assertFalse(any(kind & Kind.SCAN_RESPONSE for kind, _ in await self.reports(3, active=False)))

    async def test_duplicates_are_filtered(self):
        await self.advertise()
        found = []
        self.central.host.on("advertising_report", found.append)
        await self.central.start_scanning(filter_duplicates=True)
        # While the other one scans as well, the first one hears each advertisement too.
        heard = asyncio.get_running_loop().create_future()
        advertiser, count = self.servers[1].controller, 0
        send = advertiser.advertise

        def counting(*said):
            nonlocal count
            count += 1
            send(*said)
            if count == 5:
                heard.set_result(None)

        advertiser.advertise = counting
        await asyncio.wait_for(heard, BOUND)
        self.assertEqual(len(found), 2, "one advertisement, one response")

    async def test_too_much_to_advertise_is_refused(self):
        self.peripheral.advertising_data = bytes(32)
        with self.assertRaises(hci.HCI_Error):
            await self.advertise()

    async def test_a_cancelled_connection_completes(self):
        connecting = asyncio.ensure_future(self.central.connect(Address(PERIPHERAL), timeout=0.05))
        await asyncio.wait({connecting}, timeout=BOUND)
        self.assertIsInstance(connecting.exception(), Exception)
        await self.linked()

    async def test_who_ends_a_link_is_told_apart(self):
        link, far = await self.linked()
        ours, theirs = self.end_of(link), self.end_of(far)
        await far.disconnect()
        self.assertEqual((await ours, await theirs), (0x13, 0x16))

    async def test_a_host_that_goes_is_a_timeout_for_its_peer(self):
        link, _ = await self.linked()
        ended = self.end_of(link)
        self.servers[1].drop()
        self.assertEqual(await ended, 0x08)

    async def test_a_reset_ends_all(self):
        link, far = await self.linked()
        ended = self.end_of(link)
        await self.peripheral.host.send_sync_command(hci.HCI_Reset_Command())
        self.assertEqual(await ended, 0x13)
        self.assertFalse(list(self.servers[1].controller.advertisers()))

    async def test_a_second_host_is_refused(self):
        transport = await open_transport(self.servers[0].transport)
        await asyncio.wait_for(asyncio.wait({transport.source.terminated}), BOUND)
        await self.linked()

    async def test_each_command_is_answered(self):
        link, _ = await self.linked()
        self.assertEqual(await asyncio.wait_for(link.get_rssi(), BOUND), -50)
        await asyncio.wait_for(link.set_phy(), BOUND)
        for command in (
            hci.HCI_Read_Remote_Version_Information_Command(connection_handle=link.handle),
            hci.HCI_Disconnect_Command(connection_handle=0x0EFF, reason=0x13),
            hci.HCI_Inquiry_Command(lap=0x9E8B33, inquiry_length=1, num_responses=0),
        ):
            try:
                await asyncio.wait_for(self.central.host.send_async_command(command), BOUND)
            except hci.HCI_Error:
                pass

    async def test_values_go_through(self):
        link, _ = await self.linked()
        peer = Peer(link)
        await peer.request_mtu(185)
        await peer.discover_services()
        await peer.discover_characteristics()
        value = peer.get_characteristics_by_uuid(heart_rate().characteristics[0].uuid)[0]
        self.assertEqual(await value.read_value(), b"\0\x48")


class Command(unittest.IsolatedAsyncioTestCase):
    async def test_the_script_serves_controllers(self):
        with tempfile.TemporaryDirectory(prefix="radio-link-") as folder:
            script = await asyncio.create_subprocess_exec(
                os.path.join(PACKAGE, "link"), f"unix:{folder}/new/c0", "tcp:127.0.0.1:0", stdout=asyncio.subprocess.PIPE
            )
            try:
                said = json.loads(await asyncio.wait_for(script.stdout.readline(), BOUND))
                transport = await open_transport(said["controllers"][0]["transport"])
                device = Device.with_hci("host", Address(CENTRAL), transport.source, transport.sink)
                await asyncio.wait_for(device.power_on(), BOUND)
                await transport.close()
            finally:
                script.terminate()
                self.assertEqual(await asyncio.wait_for(script.wait(), BOUND), 0)


if __name__ == "__main__":
    unittest.main()

"""Links whose attributes a client speaks itself."""

import asyncio
import socket
import unittest

from bumble import att
from bumble.gatt import Characteristic, Service

from .offers import OffersTest
from .support import ADAPTER, BOUND, DEVICE, HCI0, PROPERTIES, Client, RadioTest
from .test_links import heart_rate

RADIO = "org.wakebench.Radio1"


class Raw:
    """The client's end of a link: PDUs."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)

    @staticmethod
    async def open(client, path):
        answer = await client.call(HCI0, RADIO, "OpenAttributes", "o", path)
        return Raw(answer.unix_fds[answer.body[0]])

    async def read(self):
        return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.socket, 1024), BOUND)

    async def ask(self, text):
        sending = asyncio.get_running_loop().sock_sendall(self.socket, bytes.fromhex(text))
        await asyncio.wait_for(sending, BOUND)
        return (await self.read()).hex()

    def close(self):
        self.socket.close()


class RawAttributes(RadioTest):
    async def found(self, *services, **how):
        peripheral = await self.peripheral(*(services or (heart_rate(),)), **how)
        await self.client.discover()
        path = await self.client.find(peripheral.address)
        await self.client.call(HCI0, ADAPTER, "StopDiscovery")
        return peripheral, path

    async def open(self, path, client=None):
        raw = await Raw.open(client or self.client, path)
        self.addCleanup(raw.close)
        return raw

    async def ended(self, path):
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end of the link")

    async def test_requests_and_responses_go_through_as_they_are(self):
        peripheral, path = await self.found(mtu=100)
        raw = await self.open(path)
        self.assertEqual(await raw.ask("020502"), "036400")
        # Read By Group Type of nothing: the error names the request and its handle.
        self.assertEqual(await raw.ask("1000f0ffff0028"), "011000f00a")

    async def test_nothing_else_speaks_on_the_link(self):
        peripheral, path = await self.found()
        heard = []
        take = peripheral.device.on_gatt_pdu
        peripheral.device.l2cap_channel_manager.register_fixed_channel(
            att.ATT_CID, lambda handle, pdu: (heard.append(bytes(pdu).hex()), take(handle, pdu))
        )
        raw = await self.open(path)
        await raw.ask("020502")
        await raw.ask("0a0100")
        await self.client.call(HCI0, PROPERTIES, "GetAll", "s", ADAPTER)
        self.assertEqual(heard, ["020502", "0a0100"])
        device = self.client.objects[path][DEVICE]
        self.assertEqual((device["Connected"], device["ServicesResolved"]), (True, False))

    async def test_what_no_client_should_send_goes_too(self):
        peripheral, path = await self.found()
        heard = asyncio.Queue()
        peripheral.device.l2cap_channel_manager.register_fixed_channel(
            att.ATT_CID, lambda handle, pdu: heard.put_nowait(bytes(pdu))
        )
        raw = await self.open(path)
        for pdu in (b"\xff", b"\x0a", b"\x12\1", bytes(517), b"\x55" * 600):
            raw.socket.send(pdu)
            self.assertEqual(await asyncio.wait_for(heard.get(), BOUND), pdu)

    async def test_what_comes_malformed_is_passed_on(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        for pdu in (b"\x01", b"\x1b\1", b"\xee\xee", bytes(300)):
            peripheral.device.host.send_l2cap_pdu(peripheral.links[0].handle, att.ATT_CID, pdu)
            self.assertEqual(await raw.read(), pdu)

    async def test_requests_of_the_peer_are_the_clients_to_answer(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        asking = asyncio.ensure_future(peripheral.links[0].gatt_client.request_mtu(300))
        self.assertEqual(await raw.read(), b"\2\x2c\1")
        raw.socket.send(b"\3\x2c\1")
        self.assertEqual(await asyncio.wait_for(asking, BOUND), 300)

    async def test_values_come_unasked_and_in_order(self):
        every = Characteristic.Properties
        values = Characteristic("2A37", every.NOTIFY, 0)
        peripheral, path = await self.found(Service("180D", [values]))
        raw = await self.open(path)
        configuration = values.handle + 1
        self.assertEqual(await raw.ask(f"12{configuration:02x}000100"), "13")
        for number in range(500):
            await peripheral.device.notify_subscriber(peripheral.links[0], values, number.to_bytes(2, "big"))
        got = [await raw.read() for _ in range(500)]
        self.assertEqual(got, [bytes([0x1B, values.handle, 0]) + number.to_bytes(2, "big") for number in range(500)])

    async def test_a_client_that_closes_ends_the_link(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        gone = asyncio.Event()
        peripheral.links[0].on("disconnection", lambda _: gone.set())
        raw.close()
        await self.ended(path)
        # And it can have another one.
        await asyncio.wait_for(gone.wait(), BOUND)
        self.assertEqual(await (await self.open(path)).ask("1000f0ffff0028"), "011000f00a")

    async def test_a_client_that_vanishes_ends_the_link(self):
        _, path = await self.found()
        other = await Client.open(self.world.address)
        raw = await self.open(path, other)
        other.close()
        raw.close()
        await self.ended(path)

    async def test_the_end_of_the_link_hangs_up_behind_the_last_response(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        peripheral.device.host.send_l2cap_pdu(peripheral.links[0].handle, att.ATT_CID, b"\x1b\1\0\7")
        await peripheral.links[0].disconnect()
        self.assertEqual([await raw.read(), await raw.read()], [b"\x1b\1\0\7", b""])
        await self.ended(path)

    async def test_a_peer_that_vanishes_hangs_up(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        await peripheral.vanish()
        self.assertEqual(await raw.read(), b"")

    async def test_disconnect_ends_the_link(self):
        _, path = await self.found()
        raw = await self.open(path)
        await self.client.call(path, DEVICE, "Disconnect")
        self.assertEqual(await raw.read(), b"")

    async def test_a_device_that_has_a_link_is_refused(self):
        peripheral, path = await self.found()
        await self.client.call(path, DEVICE, "Connect")
        self.assertEqual((await self.refused(self.open(path))).name, "org.bluez.Error.InProgress")

    async def test_disconnect_ends_an_attempt(self):
        peripheral, path = await self.found()
        await peripheral.device.stop_advertising()
        opening, = await self.client.begin(self.open(path))
        await self.client.call(path, DEVICE, "Disconnect")
        refusal = await self.refused(opening)
        self.assertEqual((refusal.name, refusal.text), ("org.bluez.Error.Failed", "le-connection-abort-by-local"))

    async def test_an_unknown_device_is_refused(self):
        refusal = await self.refused(self.open(f"{HCI0}/dev_00_00_00_00_00_00"))
        self.assertEqual(refusal.name, "org.bluez.Error.DoesNotExist")

    async def test_the_next_link_of_a_usual_kind_is_read_again(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        raw.close()
        await self.ended(path)
        await self.client.call(path, DEVICE, "Connect")
        await self.client.until(lambda: self.client.objects[path][DEVICE]["ServicesResolved"], "ServicesResolved")

    async def test_a_client_that_writes_faster_than_the_air_is_stopped(self):
        peripheral, path = await self.found()
        raw = await self.open(path)
        sent = 0
        try:
            while sent < 20_000:
                raw.socket.send(b"\x52\xff\xff" + bytes(200))
                sent += 1
        except BlockingIOError:
            pass
        self.assertLess(sent, 20_000)
        # And goes on once there is room.
        self.assertEqual(await raw.ask("1000f0ffff0028"), "011000f00a")


class Central(OffersTest):
    async def test_a_device_that_connects_itself_meanwhile_is_refused(self):
        central = await self.linked()
        await central.link.disconnect()
        await self.client.until(lambda: not self.client.objects[central.path][DEVICE]["Connected"], "the end of the link")
        opening, = await self.client.begin(Raw.open(self.client, central.path))
        await central.connect()
        self.assertEqual((await self.refused(opening)).name, "org.bluez.Error.InProgress")
        self.assertTrue(self.client.objects[central.path][DEVICE]["Connected"])


if __name__ == "__main__":
    unittest.main()

"""Devices of wakebench_radio.air over linked controllers, with a plain Bumble host as the far end."""

import asyncio
import contextlib
import itertools
import logging
import pathlib
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from bumble.att import ATT_CID, ATT_Error, ATT_Read_Multiple_Request, ErrorCode
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address, LeFeatureMask
from bumble.l2cap import L2capError, LeCreditBasedChannelSpec
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

from wakebench_radio.air import answers, device_file
from wakebench_radio.air.__main__ import KINDS
from wakebench_radio.air.beacon import Beacon, Distances
from wakebench_radio.air.central import Central, advertises, overflow_bit
from wakebench_radio.air.failures import FileError, NoFile, Refused, TransportError
from wakebench_radio.air.peripheral import Peripheral
from wakebench_radio.host import LinkEnded, Passkey
from wakebench_radio.link import Air, serve

DEVICES = pathlib.Path(__file__).resolve().parents[3] / "Devices" / "Bluetooth"
# What it logs of refusals that are meant is no news.
logging.getLogger("bumble").setLevel(logging.CRITICAL)
# Seconds until something that must come about counts as missing.
LIMIT = 30

BELT = """
device: bluetooth-peripheral
name: Belt
address: "F0:11:22:33:44:55"
advertising: {interval: 20ms, services: [180D], manufacturer-data: "ffff01"}
gatt:
  - service: 180D
    characteristics:
      - {uuid: 2A37, properties: [notify], notifications: [{after: 10ms, values: ["0048", "0049"], every: 10ms}]}
      - {uuid: 2A38, properties: [read, write], value: "01", descriptors: [{uuid: 2901, value: "41"}]}
      - {uuid: 2A39, properties: [write], security: encrypted}
      - {uuid: 2A3A, properties: [write], security: authenticated}
      - {uuid: 2A1C, properties: [indicate]}
      - uuid: 2A3B
        properties: [read]
        answers: [{read: any, do: [{variable: n, add: 1}, {set: [{variable: n}, "LONG"]}]}]
      - uuid: 2A52
        properties: [write, notify]
        answers:
          - {write: "00", do: [{error: "0x80"}]}
          - {write: "01", do: [{notify: "aa"}, {notify: "bb", after: 10ms}]}
          - {write: "02", do: [{disconnect: true}]}
  - service: 180F
    characteristics: [{uuid: 2A19, properties: [read], value: "5a"}]
  - {service: 1801, characteristics: [{uuid: 2A05, properties: [indicate]}]}
variables: {n: 0}
l2cap:
  - {psm: 128, echo: true, send: [{after: 10ms, values: ["c0", "c1"], every: 10ms}]}
  - {psm: 129, security: encrypted}
faults:
  - {name: late, late-subscribe-answer: 300ms}
  - {name: drop, disconnect-after: 1}
  - {name: moved, stale-handles: 16}
  - {name: mute, no-answer: 100ms}
  - {name: stuck, hold-notifications: 200ms}
  - {name: short, cut-values: 1}
  - {name: closes, close-channel-after: 1}
  - {name: refuses, refuse-channels: true}
  - name: gone
    change-services:
      {remove: [180F], add: [{service: 1809, characteristics: [{uuid: 2A1E, properties: [read]}]}]}
  - {name: renamed, change-name: Other}
""".replace("LONG", "ab" * 300)


class Told:
    """Lines that a device has told, which can be waited for."""

    def __init__(self):
        self.lines, self.came = [], asyncio.Condition()

    def __call__(self, *words):
        self.lines.append(" ".join(str(each) for each in words))
        asyncio.ensure_future(self.wake())

    async def wake(self):
        async with self.came:
            self.came.notify_all()

    async def until(self, begin, count=1):
        """Waits until so many lines that begin so have come, and gives the last of them."""

        def found():
            return [line for line in self.lines if line.startswith(begin)]

        try:
            async with asyncio.timeout(LIMIT), self.came:
                await self.came.wait_for(lambda: len(found()) >= count)
        except TimeoutError:
            raise AssertionError(f"no '{begin}' within {LIMIT} s in {self.lines}") from None
        return found()[count - 1]


class Keypad(PairingDelegate):
    """Enters the number that the lock shows."""

    def __init__(self, number):
        super().__init__(PairingDelegate.KEYBOARD_INPUT_ONLY)
        self.number = number

    async def get_number(self):
        return self.number


class OnAir(unittest.IsolatedAsyncioTestCase):
    """An air with three controllers: the far end's and two for devices."""

    async def asyncSetUp(self):
        # A loop that looks for mistakes takes twice as long.
        asyncio.get_running_loop().set_debug(False)
        self.end = contextlib.AsyncExitStack()
        self.folder = pathlib.Path(self.end.enter_context(tempfile.TemporaryDirectory()))
        self.air = Air()
        self.sockets = [await serve(f"unix:{self.folder}/{number}", self.air, number + 1) for number in range(3)]
        for each in self.sockets:
            self.end.callback(each.close)

    async def asyncTearDown(self):
        await self.end.aclose()

    def file(self, text):
        path = self.folder / "device.yaml"
        path.write_text(text)
        return device_file.read(str(path))

    async def play(self, kind, text, socket=1, **options):
        """A device on the air, and what it tells."""
        told = Told()
        device = kind(self.file(text), self.sockets[socket].transport, told, options)
        await device.live()
        self.end.push_async_callback(device.stop)
        return device, told

    async def far_end(self, name="Far", address="F0:AA:00:00:00:01", socket=0):
        """A plain Bumble host."""
        transport = await open_transport(self.sockets[socket].transport)
        self.end.push_async_callback(transport.close)
        device = Device.with_hci(name, Address(address), transport.source, transport.sink)
        await device.power_on()
        return device

    async def hear(self, device, address, active=True, wanted=lambda advertisement: True):
        """The next advertisement from an address."""
        heard = asyncio.get_running_loop().create_future()

        def take(advertisement):
            if advertisement.address == Address(address) and wanted(advertisement) and not heard.done():
                heard.set_result(advertisement)

        device.on("advertisement", take)
        await device.start_scanning(active=active, filter_duplicates=False)
        try:
            return await asyncio.wait_for(heard, LIMIT)
        finally:
            await device.stop_scanning()
            device.remove_listener("advertisement", take)

    async def connect(self, device, address="F0:11:22:33:44:55"):
        async with asyncio.timeout(LIMIT):
            peer = Peer(await device.connect(Address(address)))
            await peer.discover_services()
            for service in peer.services:
                await service.discover_characteristics()
        return peer

    @staticmethod
    def characteristic(peer, uuid):
        return next(each for service in peer.services for each in service.characteristics if each.uuid == UUID(uuid))

    async def code_of(self, work):
        with self.assertRaises(ATT_Error) as raised:
            async with asyncio.timeout(LIMIT):
                await work
        return int(raised.exception.error_code)

    async def values(self, peer, uuid):
        """Subscribes, and gives a queue of what comes."""
        came = asyncio.Queue()
        await peer.subscribe(self.characteristic(peer, uuid), lambda value: came.put_nowait(bytes(value).hex()))
        return came

    @staticmethod
    async def next(queue):
        return await asyncio.wait_for(queue.get(), LIMIT)

    @staticmethod
    async def ended(peer):
        """Waits for the end of a link, and gives the reason."""
        gone = asyncio.get_running_loop().create_future()
        peer.connection.on("disconnection", lambda reason: gone.done() or gone.set_result(reason))
        return await asyncio.wait_for(gone, LIMIT)


class AdvertisingTests(OnAir):
    async def test_services_manufacturer_data_and_name_are_heard(self):
        await self.play(Peripheral, BELT)
        heard = await self.hear(await self.far_end(), "F0:11:22:33:44:55")
        self.assertEqual(
            heard.data.ad_structures,
            [
                (AdvertisingData.FLAGS, b"\x06"),
                (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"\x0d\x18"),
                (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, b"\xff\xff\1"),
                (AdvertisingData.COMPLETE_LOCAL_NAME, b"Belt"),
            ],
        )
        self.assertTrue(heard.is_connectable)

    async def test_a_name_that_does_not_fit_comes_in_the_scan_response(self):
        await self.play(Peripheral, BELT.replace("name: Belt", "name: A belt with a long name", 1))
        heard = await self.hear(
            await self.far_end(), "F0:11:22:33:44:55",
            wanted=lambda each: each.data.get(AdvertisingData.COMPLETE_LOCAL_NAME),
        )
        self.assertEqual(heard.data.get(AdvertisingData.COMPLETE_LOCAL_NAME), "A belt with a long name")

    async def test_a_name_longer_than_a_scan_response_is_shortened(self):
        device, _ = await self.play(Peripheral, BELT.replace("name: Belt", f"name: {'n' * 40}", 1))
        self.assertEqual(device.advertisement()[1], bytes([30, AdvertisingData.SHORTENED_LOCAL_NAME]) + b"n" * 29)

    async def test_a_device_that_is_not_connectable_is_heard_so(self):
        await self.play(Peripheral, BELT.replace("interval: 20ms", "connectable: false, interval: 20ms"))
        heard = await self.hear(await self.far_end(), "F0:11:22:33:44:55")
        self.assertFalse(heard.is_connectable)

    async def test_it_advertises_again_after_a_link(self):
        _, told = await self.play(Peripheral, BELT)
        far = await self.far_end()
        peer = await self.connect(far)
        await peer.connection.disconnect()
        await told.until("disconnected remote user terminated connection 0x13")
        await self.hear(far, "F0:11:22:33:44:55")

    async def test_a_repeated_advertisement_is_off_for_one_command_alone(self):
        controller = self.sockets[1].controller
        controller.le_features &= ~LeFeatureMask.LE_EXTENDED_ADVERTISING
        asked, take = asyncio.Queue(), controller.on_hci_command_packet
        controller.on_hci_command_packet = lambda command: (asked.put_nowait(command.name), take(command))[1]
        device, told = await self.play(Peripheral, BELT, again=0.1)
        while not asked.empty():
            asked.get_nowait()
        for _ in range(3):
            self.assertEqual(await self.next(asked), "HCI_LE_SET_ADVERTISING_ENABLE_COMMAND")
        far = await self.far_end()
        peer = await self.connect(far)
        await asyncio.sleep(0.2)
        self.assertFalse(list(controller.advertisers()))
        await peer.connection.disconnect()
        await told.until("disconnected")
        await told.until("advertising", 2)
        await self.hear(far, device.address)

    async def test_it_advertises_while_connected_where_the_file_says_so(self):
        await self.play(Peripheral, BELT.replace("interval: 20ms", "while-connected: true, interval: 20ms"))
        far = await self.far_end()
        await self.connect(far)
        await self.hear(far, "F0:11:22:33:44:55")

    async def test_silence_and_advertise(self):
        device, told = await self.play(Peripheral, BELT)
        await device.order(["silence"])
        self.assertFalse(list(self.sockets[1].controller.advertisers()))
        await device.order(["advertise"])
        await self.hear(await self.far_end(), "F0:11:22:33:44:55")
        self.assertEqual(told.lines, ["advertising", "silent", "advertising"])

    async def test_silence_on_a_link_lasts_after_it(self):
        device, told = await self.play(Peripheral, BELT)
        peer = await self.connect(await self.far_end())
        await device.order(["silence"])
        await peer.connection.disconnect()
        await told.until("disconnected")
        self.assertFalse(list(self.sockets[1].controller.advertisers()))

    async def test_another_name_is_advertised(self):
        device, told = await self.play(Peripheral, BELT)
        await device.order(["arm", "renamed"])
        heard = await self.hear(await self.far_end(), "F0:11:22:33:44:55")
        self.assertEqual(heard.data.get(AdvertisingData.COMPLETE_LOCAL_NAME), "Other")
        self.assertEqual(told.lines[1:], ["renamed Other", "armed renamed"])

    async def test_what_is_too_long_to_advertise_is_refused_with_its_line(self):
        with self.assertRaises(FileError) as raised:
            await self.play(Peripheral, BELT.replace("ffff01", "ff" * 30))
        self.assertIn("device.yaml:5: 39 bytes to advertise; expected at most 31", str(raised.exception))


class AttributeTests(OnAir):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.device, self.told = await self.play(Peripheral, BELT)
        self.far = await self.far_end()
        self.peer = await self.connect(self.far)

    def of(self, uuid):
        return self.characteristic(self.peer, uuid)

    async def test_a_value_is_read(self):
        self.assertEqual(await self.of("2A38").read_value(), b"\1")

    async def test_a_write_is_kept_and_told(self):
        await self.of("2A38").write_value(b"\2", with_response=True)
        self.assertEqual(await self.of("2A38").read_value(), b"\2")
        await self.told.until("wrote 2A38 02")

    async def test_write_commands_keep_their_order(self):
        for number in range(100):
            await self.of("2A38").write_value(bytes([number]))
        await self.told.until("wrote 2A38 63")
        wrote = [line for line in self.told.lines if line.startswith("wrote")]
        self.assertEqual(wrote, [f"wrote 2A38 {number:02x}" for number in range(100)])

    async def test_reading_what_has_no_read_is_refused(self):
        self.assertEqual(await self.code_of(self.of("2A37").read_value()), 0x02)

    async def test_writing_what_has_no_write_is_refused(self):
        self.assertEqual(await self.code_of(self.of("2A37").write_value(b"\1", with_response=True)), 0x03)

    async def test_preparing_a_write_of_what_has_none_is_refused(self):
        writing = self.peer.gatt_client.write_long_value(self.of("2A37").handle, b"\1" * 50)
        self.assertEqual(await self.code_of(writing), 0x03)

    async def test_a_prepared_write_is_one_write(self):
        await self.peer.gatt_client.write_long_value(self.of("2A38").handle, b"\7" * 100)
        self.assertEqual(await self.told.until("wrote"), f"wrote 2A38 {'07' * 100}")

    async def test_the_mtu_is_the_one_of_the_file(self):
        self.assertEqual(await self.peer.request_mtu(517), 185)

    async def test_a_long_read_is_one_read(self):
        self.assertEqual((await self.of("2A3B").read_value()).hex(), "01" + "ab" * 300)
        self.assertEqual((await self.of("2A3B").read_value()).hex(), "02" + "ab" * 300)

    async def test_what_is_no_request_is_answered_so(self):
        answered = asyncio.get_running_loop().create_future()
        self.peer.gatt_client.on_gatt_pdu = answered.set_result
        self.far.send_l2cap_pdu(self.peer.connection.handle, ATT_CID, b"\x0a\x01")
        answer = await asyncio.wait_for(answered, LIMIT)
        self.assertEqual((answer.request_opcode_in_error, int(answer.error_code)), (0x0A, 0x04))

    async def test_reading_several_values_of_which_one_is_not_readable_is_refused(self):
        handles = [self.of("2A38").handle, self.of("2A37").handle]
        request = ATT_Read_Multiple_Request(set_of_handles=handles)
        answer = await asyncio.wait_for(self.peer.gatt_client.send_request(request), LIMIT)
        self.assertEqual(int(answer.error_code), 0x02)

    async def test_the_timetable_begins_with_the_subscription(self):
        came = await self.values(self.peer, "2A37")
        self.assertEqual([await self.next(came), await self.next(came)], ["0048", "0049"])
        told = [line for line in self.told.lines if "2A37" in line]
        self.assertEqual(told, ["subscribed 2A37", "notified 2A37 0048", "notified 2A37 0049"])

    async def test_an_order_notifies(self):
        came = await self.values(self.peer, "2A52")
        await self.device.order(["notify", "2a52", "beef"])
        self.assertEqual(await self.next(came), "beef")

    async def test_an_order_indicates_where_there_are_only_indications(self):
        came = await self.values(self.peer, "2A1C")
        await self.device.order(["notify", "2A1C", "06"])
        self.assertEqual(await self.next(came), "06")

    async def test_an_order_without_subscribers_is_refused(self):
        with self.assertRaises(Refused) as raised:
            await self.device.order(["notify", "2A37", "00"])
        self.assertEqual(str(raised.exception), "nobody is subscribed to 2A37")

    async def test_a_rule_refuses_with_its_error(self):
        self.assertEqual(await self.code_of(self.of("2A52").write_value(b"\0", with_response=True)), 0x80)
        await self.told.until("refused 2A52 80")

    async def test_a_rule_notifies_now_and_later(self):
        came = await self.values(self.peer, "2A52")
        await self.of("2A52").write_value(b"\1", with_response=True)
        self.assertEqual([await self.next(came), await self.next(came)], ["aa", "bb"])

    async def test_what_a_rule_sends_follows_the_response(self):
        await self.values(self.peer, "2A52")
        codes, hear = [], self.peer.gatt_client.on_gatt_pdu

        def record(pdu):
            codes.append(pdu.op_code)
            hear(pdu)

        self.peer.gatt_client.on_gatt_pdu = record
        await self.of("2A52").write_value(b"\1", with_response=True)
        await self.told.until("notified 2A52 bb")
        self.assertEqual(codes[:2], [0x13, 0x1B])

    async def test_a_rule_ends_the_link(self):
        ended = asyncio.ensure_future(self.ended(self.peer))
        await self.of("2A52").write_value(b"\2", with_response=True)
        self.assertEqual(await ended, 0x13)

    async def test_a_lost_link_with_an_unconfirmed_indication_holds_nothing_up(self):
        await self.values(self.peer, "2A1C")
        self.peer.gatt_client.send_confirmation = lambda confirmation: None
        order = asyncio.ensure_future(self.device.order(["notify", "2A1C", "06"]))
        await asyncio.wait({order}, timeout=0.05)
        self.assertFalse(order.done())
        await self.peer.connection.disconnect()
        with self.assertRaises(Refused):
            await asyncio.wait_for(order, LIMIT)


class DeviceTests(OnAir):
    """Devices of Devices/Bluetooth."""

    def shipped(self, name, before="", after=""):
        return (DEVICES / f"{name}.yaml").read_text().replace(before or name, after or name)

    async def test_a_glucose_meter_reports_its_records_and_says_that_it_is_done(self):
        text = self.shipped("glucose-meter", "every: 1500ms", "every: 10ms")
        await self.play(Peripheral, text, no_security=True)
        peer = await self.connect(await self.far_end(), "F0:11:22:33:A0:00")
        measured, said = await self.values(peer, "2A18"), await self.values(peer, "2A52")
        await self.characteristic(peer, "2A52").write_value(bytes.fromhex("0101"), with_response=True)
        self.assertEqual(await self.next(said), "06000101")
        numbers = [(await self.next(measured))[2:6] for _ in range(6)]
        self.assertEqual(numbers, ["0100", "0200", "0300", "0400", "0500", "0600"])

    async def test_a_lock_is_opened_with_the_answer_to_its_challenge(self):
        await self.play(Peripheral, self.shipped("challenge-lock"))
        peer = await self.connect(await self.far_end(), "F0:11:22:33:A5:00")
        uuid = "C2A9A50{}-8A2D-4B6E-9B43-5B0D6A8D0E11"
        order = self.characteristic(peer, uuid.format(2))
        self.assertEqual(await self.code_of(order.write_value(b"\0\0\0\0\0", with_response=True)), 0xFC)
        challenge = await self.characteristic(peer, uuid.format(1)).read_value()
        states = await self.values(peer, uuid.format(3))
        answer = zlib.crc32(challenge + b"open sesame" + b"\0").to_bytes(4, "little")
        await order.write_value(b"\0" + answer, with_response=True)
        self.assertEqual(await self.next(states), "00")

    async def test_a_device_asks_for_its_parameters(self):
        await self.play(Peripheral, self.shipped("slow-update"))
        far = await self.far_end()
        connection = await asyncio.wait_for(far.connect(Address("F0:11:22:33:44:99")), LIMIT)
        changed = asyncio.get_running_loop().create_future()
        connection.on("connection_parameters_update", lambda *_: changed.done() or changed.set_result(None))
        await asyncio.wait_for(changed, LIMIT)
        self.assertEqual(connection.parameters.connection_interval, 495)


class SecurityTests(OnAir):
    async def pair(self, way, delegate, expects):
        _, told = await self.play(Peripheral, BELT + f"pairing: {way}\n")
        far = await self.far_end()
        far.pairing_config_factory = lambda connection: PairingConfig(
            delegate=delegate, identity_address_type=PairingConfig.AddressType.RANDOM
        )
        peer = await self.connect(far)
        for uuid in ("2A39", "2A3A"):
            write = self.characteristic(peer, uuid).write_value(b"\1", with_response=True)
            self.assertEqual(await self.code_of(write), 0x05)
        await asyncio.wait_for(peer.connection.pair(), LIMIT)
        await told.until("paired F0:AA:00:00:00:01")
        await self.characteristic(peer, "2A39").write_value(b"\1", with_response=True)
        authenticated = self.characteristic(peer, "2A3A")
        if expects:
            await authenticated.write_value(b"\1", with_response=True)
        else:
            self.assertEqual(await self.code_of(authenticated.write_value(b"\1", with_response=True)), 0x05)

    async def test_just_works_gives_encryption_alone(self):
        await self.pair("just-works", PairingDelegate(), False)

    async def test_a_passkey_gives_authentication(self):
        await self.pair("passkey 246810", Keypad(246810), True)

    async def test_000000_is_a_passkey(self):
        await self.pair("passkey 000000", Keypad(Passkey(0)), True)

    async def test_the_same_number_at_both_ends_gives_authentication(self):
        await self.pair("numeric", PairingDelegate(PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT), True)

    async def test_a_device_can_refuse_to_pair(self):
        _, told = await self.play(Peripheral, BELT + "pairing: reject\n")
        peer = await self.connect(await self.far_end())
        with self.assertRaises(Exception):
            await asyncio.wait_for(peer.connection.pair(), LIMIT)
        self.assertFalse([line for line in told.lines if line.startswith("paired")])

    async def test_security_can_be_left_out(self):
        await self.play(Peripheral, BELT, no_security=True)
        peer = await self.connect(await self.far_end())
        await self.characteristic(peer, "2A3A").write_value(b"\1", with_response=True)


class ChannelTests(OnAir):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.device, self.told = await self.play(Peripheral, BELT)
        self.peer = await self.connect(await self.far_end())

    async def open(self, psm=128):
        """A channel, and a queue of what comes on it."""
        opening = self.peer.connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
        channel, came = await asyncio.wait_for(opening, LIMIT), asyncio.Queue()
        channel.sink = lambda value: came.put_nowait(value.hex())
        return channel, came

    async def test_it_sends_its_timetable(self):
        _, came = await self.open()
        self.assertEqual([await self.next(came), await self.next(came)], ["c0", "c1"])

    async def test_it_echoes(self):
        channel, came = await self.open()
        channel.write(b"\xee")
        self.assertIn("ee", [await self.next(came) for _ in range(3)])
        await self.told.until("channel got 128 ee")

    async def test_a_channel_opens_a_second_time(self):
        channel, _ = await self.open()
        await channel.disconnect()
        await self.told.until("channel closed 128")
        await self.open()
        await self.told.until("channel opened 128", 2)

    async def test_a_channel_is_refused_once_that_is_armed(self):
        await self.device.order(["arm", "refuses"])
        with self.assertRaises(L2capError):
            await self.open()

    async def test_a_channel_without_the_security_is_refused(self):
        with self.assertRaises(L2capError) as raised:
            await self.open(129)
        self.assertEqual(raised.exception.error_code, 5)

    async def test_a_channel_closes_after_so_many_values(self):
        await self.device.order(["arm", "closes"])
        _, came = await self.open()
        await self.told.until("channel closed 128")
        self.assertEqual(await self.next(came), "c0")


class FaultTests(OnAir):
    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.device, self.told = await self.play(Peripheral, BELT)
        self.far = await self.far_end()
        self.peer = await self.connect(self.far)

    async def test_a_subscription_is_answered_late(self):
        await self.device.order(["arm", "late"])
        began = asyncio.get_running_loop().time()
        came = await self.values(self.peer, "2A37")
        self.assertGreaterEqual(asyncio.get_running_loop().time() - began, 0.3)
        # The subscription counted at once.
        self.assertFalse(came.empty())

    async def test_the_link_drops_after_a_value(self):
        await self.device.order(["arm", "drop"])
        ended = asyncio.ensure_future(self.ended(self.peer))
        came = await self.values(self.peer, "2A37")
        await ended
        self.assertEqual(await self.next(came), "0048")

    async def test_handles_move_when_the_link_goes(self):
        before = self.characteristic(self.peer, "2A38").handle
        await self.device.order(["arm", "moved"])
        await self.peer.connection.disconnect()
        await self.told.until("disconnected")
        peer = await self.connect(self.far)
        self.assertEqual(self.characteristic(peer, "2A38").handle, before + 16)
        self.assertEqual(await self.characteristic(peer, "2A38").read_value(), b"\1")

    async def test_no_answer_and_then_no_link(self):
        await self.device.order(["arm", "mute"])
        ended = asyncio.ensure_future(self.ended(self.peer))
        with self.assertRaises(asyncio.CancelledError):
            await self.characteristic(self.peer, "2A38").read_value()
        await ended
        peer = await self.connect(self.far)
        self.assertEqual(await self.characteristic(peer, "2A38").read_value(), b"\1")

    async def test_values_are_held_and_go_on(self):
        await self.device.order(["arm", "stuck"])
        began = asyncio.get_running_loop().time()
        came = await self.values(self.peer, "2A37")
        self.assertEqual(await self.next(came), "0048")
        self.assertGreaterEqual(asyncio.get_running_loop().time() - began, 0.19)

    async def test_values_are_cut(self):
        await self.device.order(["arm", "short"])
        self.assertEqual(await self.next(await self.values(self.peer, "2A37")), "00")

    async def test_services_go_and_come_and_are_told(self):
        came = await self.values(self.peer, "2A05")
        await self.device.order(["arm", "gone"])
        told = bytes.fromhex(await self.next(came))
        battery = self.characteristic(self.peer, "2A19")
        self.assertLess(int.from_bytes(told[:2], "little"), battery.handle)
        self.assertEqual(await self.code_of(battery.read_value()), 0x01)
        self.peer.gatt_client.services = []
        await self.peer.discover_services()
        uuids = [each.uuid for each in self.peer.services]
        self.assertIn(UUID("1809"), uuids)
        self.assertNotIn(UUID("180F"), uuids)

    async def test_a_fault_that_is_not_there_is_refused(self):
        with self.assertRaises(Refused) as raised:
            await self.device.order(["arm", "none"])
        self.assertIn("no fault 'none'; the device has late, drop", str(raised.exception))


class BugTests(OnAir):
    async def test_it_hangs_after_a_long_value(self):
        _, told = await self.play(Peripheral, BELT, bug="hang:20")
        peer = await self.connect(await self.far_end())
        await self.characteristic(peer, "2A38").write_value(b"\1" * 19, with_response=True)
        write = asyncio.ensure_future(self.characteristic(peer, "2A38").write_value(b"\1" * 20, with_response=True))
        await told.until("dies of 20 bytes: hang:20")
        await asyncio.wait({write}, timeout=0.2)
        self.assertFalse(write.done())
        await peer.connection.disconnect()
        await asyncio.wait({write})

    async def test_it_vanishes_after_a_long_value(self):
        _, told = await self.play(Peripheral, BELT, bug="vanish:20")
        peer = await self.connect(await self.far_end())
        ended = asyncio.ensure_future(self.ended(peer))
        await self.characteristic(peer, "2A38").write_value(b"\1" * 20)
        await ended
        await told.until("silent")
        self.assertFalse(list(self.sockets[1].controller.advertisers()))


class LifeTests(OnAir):
    async def test_stopping_ends_the_link(self):
        device, told = await self.play(Peripheral, BELT)
        peer = await self.connect(await self.far_end())
        ended = asyncio.ensure_future(self.ended(peer))
        await device.stop()
        await ended
        self.assertEqual(told.lines[-1], "stopped")

    async def test_what_goes_to_and_from_the_controller_is_captured(self):
        path = self.folder / "belt.btsnoop"
        device, told = await self.play(Peripheral, BELT, capture=str(path))
        peer = await self.connect(await self.far_end())
        await self.next(await self.values(peer, "2A37"))
        await device.stop()
        octets = path.read_bytes()
        self.assertTrue(octets.startswith(b"btsnoop\0" + bytes.fromhex("00000001 000003ea")))
        # HCI_Reset, sent, and what answers it, received.
        self.assertEqual(octets[24:28] + octets[40:44], bytes.fromhex("00000002 01030c00"))
        self.assertEqual(octets[52:56] + octets[68:71], bytes.fromhex("00000003 040e04"))
        handle = device.served[0].built.handle.to_bytes(2, "little")
        self.assertIn(b"\x1b" + handle + b"\x00\x48", octets)

    async def test_it_comes_back_after_leaving(self):
        device, _ = await self.play(Peripheral, BELT)
        far = await self.far_end()
        ended = asyncio.ensure_future(self.ended(await self.connect(far)))
        await device.order(["leave"])
        await ended
        await device.order(["advertise"])
        await self.connect(far)

    async def test_a_far_end_that_is_gone_is_told_and_another_one_finds_it(self):
        _, told = await self.play(Peripheral, BELT)
        await self.connect(await self.far_end())
        self.sockets[0].drop()
        await told.until("disconnected connection timeout 0x08")
        await self.connect(await self.far_end())
        await told.until("connected", 2)

    async def test_two_links_hear_the_same_and_one_can_go(self):
        text = BELT.replace("interval: 20ms", "while-connected: true, interval: 20ms")
        device, told = await self.play(Peripheral, text)
        first = await self.connect(await self.far_end())
        second = await self.connect(await self.far_end("Other", "F0:AA:00:00:00:02", 2))
        queues = [await self.values(peer, "2A52") for peer in (first, second)]
        await device.order(["notify", "2A52", "01"])
        self.assertEqual([await self.next(queue) for queue in queues], ["01", "01"])
        await first.connection.disconnect()
        await told.until("disconnected")
        await device.order(["notify", "2A52", "02"])
        self.assertEqual(await self.next(queues[1]), "02")

    async def test_a_lost_transport_is_known(self):
        device, _ = await self.play(Peripheral, BELT)
        self.sockets[1].drop()
        self.assertIn("transport lost", await asyncio.wait_for(asyncio.shield(device.lost), LIMIT))

    async def test_a_transport_that_is_not_there_is_named(self):
        device = Peripheral(self.file(BELT), f"unix:{self.folder}/none", Told(), {})
        with self.assertRaises(TransportError) as raised:
            await device.live()
        self.assertIn(f"unix:{self.folder}/none: ", str(raised.exception))

    async def test_a_word_that_is_no_transport_is_named(self):
        device = Peripheral(self.file(BELT), "nonsense", Told(), {})
        with self.assertRaises(TransportError):
            await device.live()


CENTRAL = """
device: bluetooth-central
name: Reader
address: "F0:AA:00:00:00:02"
script:
  - {connect: 180D, within: 5s}
  - discover
  - read: 2A38
  - {write: 2A38, value: "02"}
  - read: 2A37
  - {subscribe: 2A37}
  - {await: 2A37, count: 2, within: 5s}
  - unsubscribe: 2A37
  - {write: 2A38, value: "0304", how: prepared}
  - {exchange: 128, value: "ee", within: 5s}
  - {exchange: 7, value: "ee", within: 5s}
  - read: 2AFF
  - disconnect
faults: [{name: hangs-up, disconnect-after: 1}, {name: slow, slow-reader: 1s}]
"""


class CentralTests(OnAir):
    async def test_the_script_is_played(self):
        await self.play(Peripheral, BELT)
        _, told = await self.play(Central, CENTRAL, 2)
        await told.until("finished")
        self.assertEqual(
            [line for line in told.lines if not line.startswith("exchanged")],
            [
                "ready", "connected F0:11:22:33:44:55", "service 180D 2A37 2A38 2A39 2A3A 2A1C 2A3B 2A52",
                "service 180F 2A19", "read 2A38 01", "wrote 2A38 02", "read 2A37 error 0x02", "subscribed 2A37",
                "notified 2A37 0048", "notified 2A37 0049", "unsubscribed 2A37", "wrote 2A38 0304",
                "opened channel 128", "refused channel 7",
                "missing 2AFF", "disconnected connection terminated by local host 0x16", "finished",
            ],
        )

    async def test_a_search_ends(self):
        _, told = await self.play(Central, CENTRAL.replace("within: 5s", "within: 50ms", 1), 2)
        await told.until("finished")
        self.assertEqual(told.lines, ["ready", "gave up 180D", "finished"])

    async def test_a_fault_hangs_up(self):
        await self.play(Peripheral, BELT)
        _, told = await self.play(Central, CENTRAL, 2, faults=["hangs-up"])
        await told.until("finished")
        ended = "disconnected connection terminated by local host 0x16"
        self.assertEqual(told.lines[-3:], ["read 2A38 01", ended, "finished"])

    async def test_a_lost_link_leaves_out_the_rest(self):
        device, _ = await self.play(Peripheral, BELT)
        script = CENTRAL.replace("count: 2, within: 5s", "count: 9")
        _, told = await self.play(Central, script, 2)
        await told.until("notified 2A37 0049")
        await device.order(["disconnect"])
        await told.until("finished")
        self.assertEqual(told.lines[-2:], ["disconnected remote user terminated connection 0x13", "finished"])

    async def test_a_fault_of_the_simulated_radio_alone_is_refused(self):
        central, _ = await self.play(Central, CENTRAL, 2)
        with self.assertRaises(Refused):
            await central.order(["arm", "slow"])

    async def test_orders_do_one_thing_beside_the_script(self):
        _, belt = await self.play(Peripheral, BELT)
        script = CENTRAL[:CENTRAL.index("script:")] + "script: [wait: 1h]\n"
        central, told = await self.play(Central, script, 2)
        with self.assertRaises(Refused):
            await central.order(["read", "2A38"])
        for words in ("connect 180D", "read 2A38", "write 2A38 0a", "write 2A38 0b command", "subscribe 2A37"):
            await asyncio.wait_for(central.order(words.split()), LIMIT)
        await told.until("notified 2A37 0049")
        await belt.until("wrote 2A38 0b")
        self.assertIn("read 2A38 01", told.lines)
        await central.order(["disconnect"])
        await told.until("disconnected")

    async def test_the_overflow_area_is_read(self):
        area = bytearray(16)
        area[overflow_bit("180D") // 8] |= 1 << overflow_bit("180D") % 8
        said = [(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, b"\x4c\0\1" + bytes(area))]
        self.assertTrue(advertises(said, "180D", True))
        self.assertFalse(advertises(said, "180D", False))


BEACON = """
device: ibeacon
address: "C2:5B:00:00:02:00"
uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
major: 1
minor: 20
interval: 20ms
distance: [{metres: 2}]
faults: [{name: silent, silent: 100ms}, {name: far, weaken: 60}, {name: reset, renumber: {major: 3, minor: 4}}]
"""


class BeaconTests(OnAir):
    async def test_the_frame_is_heard(self):
        await self.play(Beacon, BEACON)
        heard = await self.hear(await self.far_end(), "C2:5B:00:00:02:00")
        self.assertEqual(
            heard.data.get(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, raw=True).hex(),
            "4c000215e2c56db5dffb48d2b060d0f5a71096e000010014c5",
        )
        self.assertFalse(heard.is_connectable)

    async def test_it_comes_and_goes(self):
        text = BEACON.replace("[{metres: 2}]", "[{after: 50ms, metres: 2}, {after: 50ms, metres: away}]")
        _, told = await self.play(Beacon, text)
        await told.until("silent")
        self.assertEqual(told.lines, ["ready", "on the air 2", "silent"])

    async def test_a_fault_silences_it_for_a_while(self):
        beacon, told = await self.play(Beacon, BEACON)
        await told.until("on the air 2")
        await beacon.order(["arm", "silent"])
        await told.until("on the air", 2)
        self.assertEqual(told.lines[2:], ["silent", "armed silent", "on the air"])

    async def test_a_weak_one_is_not_heard(self):
        beacon, told = await self.play(Beacon, BEACON)
        await told.until("on the air 2")
        await beacon.order(["arm", "far"])
        await told.until("silent")

    async def test_its_numbers_change(self):
        beacon, _ = await self.play(Beacon, BEACON)
        await beacon.order(["arm", "reset"])
        self.assertEqual(beacon.advertisement()[0].hex()[-10:], "00030004c5")


class DistanceTests(unittest.TestCase):
    def changes(self, legs, repeats=False, reach=10, count=8):
        return list(itertools.islice(Distances(legs, repeats).changes(reach), count))

    def test_before_the_first_distance_it_is_away(self):
        self.assertEqual(self.changes([(5, 0, 3)]), [(0, None), (5, 3)])

    def test_a_way_crosses_the_reach(self):
        self.assertEqual(self.changes([(0, 0, 20), (0, 10, 0)]), [(0, None), (5, 10)])

    def test_a_repetition_goes_on(self):
        self.assertEqual(self.changes([(1, 0, 3), (1, 0, None)], True, count=4), [(0, None), (1, 3), (2, None), (3, 3)])

    def test_a_repetition_without_change_ends(self):
        self.assertEqual(self.changes([(1, 0, 3), (1, 0, 4)], True), [(0, None), (1, 3)])


class FileTests(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "device.yaml"
            path.write_text(text)
            try:
                file = device_file.read(str(path))
                kind = KINDS[file["device"]]

                async def make():
                    kind(file, "", lambda *_: None, {})

                asyncio.run(make())
            except FileError as error:
                return str(error).replace(folder + "/", "")
        return None

    def test_all_device_files_are_read(self):
        for path in sorted(DEVICES.glob("*.yaml")):
            with self.subTest(path.name):
                self.assertIsNone(self.read(path.read_text()))

    def test_errors_name_file_and_line(self):
        for before, after, expected in (
            ("2A37", "2A3", "device.yaml:9: '2A3'; expected a UUID, such as 180D"),
            ("properties: [notify]", "properties: [shout]", "device.yaml:9: 'shout'; expected one of broadcast"),
            ("interval: 20ms", "interval: soon", "device.yaml:5: 'soon'; expected a duration"),
            ("F0:11:22:33:44:55", "F0:11", "device.yaml:4: 'F0:11'; expected an address"),
            ("error: \"0x80\"", "error: oops", "device.yaml:20: 'oops'; expected an ATT error"),
            ("write: \"02\"", "write: \"0z\"", "device.yaml:22: '0z'; expected bytes such as"),
            ("disconnect: true", "explode: true", "device.yaml:22: what is no thing to do; expected one of notify"),
            ("bluetooth-peripheral", "toaster", "device.yaml:2: device 'toaster'; expected one of bluetooth"),
            ("name: late,", "name: late, x: 1,", "device.yaml:31: fault 'late' with x, late-subscribe-answer;"),
        ):
            with self.subTest(after):
                self.assertIn(expected, self.read(BELT.replace(before, after, 1)) or "no error")

    def test_the_errors_of_files_are_those_of_the_protocol(self):
        self.assertEqual(sorted(answers.ERRORS.values()), sorted(ErrorCode))

    def test_what_is_no_yaml_is_named(self):
        self.assertTrue(self.read("device: [").startswith("device.yaml:"))

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaises(NoFile) as raised:
            device_file.read("/none.yaml")
        self.assertEqual(raised.exception.code, 3)


class EndedLinks(unittest.IsolatedAsyncioTestCase):
    async def test_a_request_of_a_link_that_ends_before_it_begins_is_not_made(self):
        """Bumble would wait for its answer."""
        central, begun = Central.__new__(Central), []
        central.peer = object()

        async def work():
            begun.append(True)

        asyncio.get_running_loop().call_soon(setattr, central, "peer", None)
        with self.assertRaises(LinkEnded):
            await central.request(work())
        self.assertEqual(begun, [])


if __name__ == "__main__":
    unittest.main()

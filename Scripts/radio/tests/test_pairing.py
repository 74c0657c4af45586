"""Pairing: what agents are asked, what is kept, and what is refused without it."""

import asyncio
import os
import shutil
import tempfile
import unittest
from types import SimpleNamespace

from bumble.gatt import Characteristic, Service
from bumble.hci import Role
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import ErrorCode

from wakebench_radio.agent import Delegate, pair
from wakebench_radio.bus import Refused
from wakebench_radio.host import Passkey

from .support import (
    ADAPTER, AGENT, BOUND, CHARACTERISTIC, DEVICE, HCI0, PROPERTIES, Agent, Client, Peripheral, RadioTest, World, register,
)

Capability = PairingDelegate.IoCapability


def locked():
    """A service whose value wants an encrypted link."""
    return Service("180D", [
        Characteristic(
            "2A37", Characteristic.Properties.READ,
            Characteristic.READABLE | Characteristic.READ_REQUIRES_ENCRYPTION, b"secret",
        )
    ])


class FarAgent(PairingDelegate):
    """The user of the peripheral. It shows a number to `shown`, or takes the one that is there."""

    def __init__(self, capability, accepts=True):
        super().__init__(capability)
        self.passkey = 123_456
        self.shown = asyncio.get_running_loop().create_future()
        self.accepts = accepts

    async def accept(self):
        return self.accepts

    async def compare_numbers(self, number, digits):
        return True

    async def display_number(self, number, digits):
        self.shown.set_result(number)

    async def get_number(self):
        return await self.shown

    async def generate_passkey(self):
        return self.passkey


class Pairing(RadioTest):
    async def far(self, capability=Capability.NO_OUTPUT_NO_INPUT, accepts=True):
        """A peripheral with a locked value, and the path of the linked device."""
        agent = FarAgent(capability, accepts)
        end = await self.peripheral(locked())
        end.device.pairing_config_factory = lambda link: PairingConfig(
            delegate=agent, identity_address_type=PairingConfig.AddressType.RANDOM
        )
        return end, agent, await self.client.link(end.address)

    async def register(self, capability="NoInputNoOutput", **answers):
        agent = Agent(self.client, answers or {"RequestAuthorization": lambda *_: ("", [])})
        await register(self.client, capability)
        return agent

    async def test_a_locked_value_pairs_the_device(self):
        _, _, path = await self.far()
        await self.register()
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        self.assertEqual(await self.client.read(place), b"secret")
        self.assertTrue(self.client.objects[path][DEVICE]["Paired"])
        self.assertTrue(self.client.objects[path][DEVICE]["Bonded"])
        self.assertEqual(await self.client.read(place), b"secret")

    async def test_a_second_pair_already_exists(self):
        _, _, path = await self.far()
        await self.register()
        await self.client.call(path, DEVICE, "Pair")
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AlreadyExists")

    async def test_the_key_serves_the_next_link(self):
        _, _, path = await self.far()
        await self.register()
        await self.client.call(path, DEVICE, "Pair")
        await self.client.call(path, DEVICE, "Disconnect")
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        await self.client.call(path, DEVICE, "Connect")
        await self.client.until(lambda: self.client.objects[path][DEVICE]["ServicesResolved"], "ServicesResolved")
        place = self.client.attribute(path, CHARACTERISTIC, "2A37")
        self.assertEqual(await self.client.read(place), b"secret", "encrypted when it is asked for")

    async def test_numbers_are_compared_by_the_agent(self):
        _, _, path = await self.far(Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        agent = await self.register("DisplayYesNo", RequestConfirmation=lambda *_: ("", []))
        await self.client.call(path, DEVICE, "Pair")
        self.assertEqual([each[:2] for each in agent.asked], [("RequestConfirmation", path)])
        self.assertIsInstance(agent.asked[0][2], int)

    async def test_a_passkey_is_displayed_by_the_agent(self):
        _, far, path = await self.far(Capability.KEYBOARD_INPUT_ONLY)
        agent = await self.register(
            "KeyboardDisplay", DisplayPasskey=lambda _, number, entered: (far.shown.set_result(number), ("", []))[1]
        )
        await self.client.call(path, DEVICE, "Pair")
        self.assertEqual(agent.asked[0][0], "DisplayPasskey")

    async def test_a_passkey_is_entered_by_the_agent(self):
        _, _, path = await self.far(Capability.DISPLAY_OUTPUT_ONLY)
        agent = await self.register("KeyboardDisplay", RequestPasskey=lambda *_: ("u", [123_456]))
        await self.client.call(path, DEVICE, "Pair")
        self.assertEqual(agent.asked, [("RequestPasskey", path)])

    async def test_a_wrong_passkey_fails(self):
        _, _, path = await self.far(Capability.DISPLAY_OUTPUT_ONLY)
        await self.register("KeyboardDisplay", RequestPasskey=lambda *_: ("u", [123_457]))
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationFailed")

    async def test_000000_is_a_passkey(self):
        _, far, path = await self.far(Capability.DISPLAY_OUTPUT_ONLY)
        far.passkey = Passkey(0)
        await self.register("KeyboardDisplay", RequestPasskey=lambda *_: ("u", [0]))
        await self.client.call(path, DEVICE, "Pair")
        self.assertTrue(self.client.objects[path][DEVICE]["Paired"])

    async def test_an_agent_that_refuses_is_rejected(self):
        _, _, path = await self.far(Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        await self.register("DisplayYesNo", Release=lambda *_: ("", []))
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationRejected")
        self.assertFalse(self.client.objects[path][DEVICE]["Paired"])

    async def comparing_nothing(self, secure_connections, **answers):
        """An agent and the path of a device with which nothing can be compared."""
        end, far, path = await self.far()
        end.device.pairing_config_factory = lambda link: PairingConfig(
            sc=secure_connections, delegate=far, identity_address_type=PairingConfig.AddressType.RANDOM
        )
        agent = Agent(self.client, answers)
        await register(self.client, "KeyboardDisplay")
        return agent, path

    async def rejected(self, secure_connections):
        agent, path = await self.comparing_nothing(secure_connections)
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationRejected")
        self.assertEqual(agent.asked, [("RequestAuthorization", path)])
        self.assertFalse(self.client.objects[path][DEVICE]["Paired"])

    async def test_an_agent_that_refuses_is_rejected_where_nothing_is_compared(self):
        await self.rejected(True)

    async def test_an_agent_that_refuses_is_rejected_where_nothing_is_compared_by_legacy_pairing(self):
        await self.rejected(False)

    async def test_an_agent_is_asked_once_where_nothing_is_compared(self):
        agent, path = await self.comparing_nothing(True, RequestAuthorization=lambda *_: ("", []))
        await self.client.call(path, DEVICE, "Pair")
        self.assertEqual(agent.asked, [("RequestAuthorization", path)])

    async def test_an_agent_is_asked_once_by_legacy_pairing(self):
        agent, path = await self.comparing_nothing(False, RequestAuthorization=lambda *_: ("", []))
        await self.client.call(path, DEVICE, "Pair")
        self.assertEqual(agent.asked, [("RequestAuthorization", path)])
        self.assertEqual(await self.client.read(self.client.attribute(path, CHARACTERISTIC, "2A37")), b"secret")

    async def test_without_an_agent_nothing_is_paired(self):
        _, _, path = await self.far()
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationFailed")
        self.assertFalse(self.client.objects[path][DEVICE]["Paired"])

    async def test_a_peer_that_refuses_fails(self):
        _, _, path = await self.far(accepts=False)
        await self.register()
        refusal = await self.refused(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationFailed")

    async def test_a_link_that_ends_cancels_pairing(self):
        end, _, path = await self.far(Capability.KEYBOARD_INPUT_ONLY)
        agent = await self.register("KeyboardDisplay", DisplayPasskey=lambda *_: ("", []))
        pairing = asyncio.ensure_future(self.client.call(path, DEVICE, "Pair"))
        await asyncio.wait_for(agent.called.wait(), BOUND)
        await end.links[0].disconnect()
        refusal = await self.refused(pairing)
        self.assertEqual(refusal.name, "org.bluez.Error.AuthenticationCanceled")

    async def unanswered(self):
        """An agent that has a number to confirm, and does not answer; the far end, its agent, and the call of Pair."""
        end, far, path = await self.far(Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        agent = await self.register("DisplayYesNo", RequestConfirmation=lambda *_: None)
        far.compare_numbers = lambda number, digits: asyncio.get_running_loop().create_future()
        pairing = asyncio.ensure_future(self.client.call(path, DEVICE, "Pair"))
        await agent.until(1)
        return agent, end, pairing

    async def test_an_agent_hears_of_the_end_of_the_link(self):
        agent, end, pairing = await self.unanswered()
        await end.links[0].disconnect()
        self.assertEqual((await self.refused(pairing)).name, "org.bluez.Error.AuthenticationCanceled")
        await agent.until(2)
        self.assertEqual(agent.asked[1], ("Cancel",))

    async def test_an_agent_hears_of_pairing_that_the_peer_ends(self):
        agent, end, pairing = await self.unanswered()
        session = end.device.smp_manager.sessions[end.links[0].handle]
        session.send_pairing_failed(ErrorCode.UNSPECIFIED_REASON)
        self.assertEqual((await self.refused(pairing)).name, "org.bluez.Error.AuthenticationFailed")
        await agent.until(2)
        self.assertEqual(agent.asked[1], ("Cancel",))

    async def test_an_agent_that_hears_of_an_end_was_asked(self):
        told = []
        bus = SimpleNamespace(ask=lambda *facts: told.append(facts[3]))
        device = SimpleNamespace(place="/dev", text="dev", paired=False)
        delegate = Delegate(bus, device, ":1.1", ":1.1", AGENT, Capability.NO_OUTPUT_NO_INPUT, by_peer=True)
        asking = asyncio.ensure_future(delegate.confirm())
        asyncio.get_running_loop().call_soon(delegate.over)
        with self.assertRaises(asyncio.CancelledError):
            await asking
        self.assertEqual(told, ["RequestAuthorization", "Cancel"])

    async def test_what_an_agent_says_to_a_passkey_is_not_looked_at(self):
        _, far, path = await self.far(Capability.KEYBOARD_INPUT_ONLY)
        agent = await self.register("KeyboardDisplay", Release=lambda *_: ("", []))
        pairing = asyncio.ensure_future(self.client.call(path, DEVICE, "Pair"))
        await agent.until(1)
        self.assertEqual(agent.asked[0][0], "DisplayPasskey")
        far.shown.set_result(agent.asked[0][2] ^ 1)
        self.assertEqual((await self.refused(pairing)).name, "org.bluez.Error.AuthenticationFailed")

    async def test_the_end_of_the_client_ends_its_pairing(self):
        end, far, path = await self.far(Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        agent = await self.register("DisplayYesNo", RequestConfirmation=lambda *_: None)
        other = await Client.open(self.world.address)
        pairing = asyncio.ensure_future(other.call(path, DEVICE, "Pair"))
        await agent.until(1)
        other.close()
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end of the link")
        await agent.until(2)
        self.assertEqual(agent.asked[1], ("Cancel",))
        with self.assertRaises(Exception):
            await pairing

    async def test_requests_for_security_without_end_leave_room_for_calls(self):
        end, _, path = await self.far(Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        agent = await self.register("DisplayYesNo", RequestConfirmation=lambda *_: None)
        end.links[0].request_pairing()
        await agent.until(1)
        for index in range(8400):
            end.links[0].request_pairing()
            if index % 100 == 0:
                await end.links[0].drain()
        await end.links[0].drain()
        await self.client.call(HCI0, PROPERTIES, "Get", "ss", ADAPTER, "Address")
        await self.client.read(self.client.attribute(path, CHARACTERISTIC, "2A00"))
        self.assertEqual(len(agent.asked), 1)

    async def test_a_second_client_that_pairs_is_told(self):
        """Also while the first one's link is made."""
        end, _, path = await self.far()
        await self.client.call(path, DEVICE, "Disconnect")
        await self.client.until(lambda: not self.client.objects[path][DEVICE]["Connected"], "the end")
        await end.device.stop_advertising()
        first, = await self.client.begin(self.client.call(path, DEVICE, "Pair"))
        self.assertEqual((await self.refused(self.client.call(path, DEVICE, "Pair"))).name, "org.bluez.Error.InProgress")
        await self.client.call(path, DEVICE, "CancelPairing")
        self.assertEqual((await self.refused(first)).name, "org.bluez.Error.AuthenticationCanceled")

    async def test_a_removed_device_is_no_longer_paired(self):
        end, _, path = await self.far()
        await self.register()
        await self.client.call(path, DEVICE, "Pair")
        await self.client.call(HCI0, ADAPTER, "RemoveDevice", "o", path)
        await end.device.keystore.delete_all()
        await self.client.discover()
        await self.client.find(end.address)
        self.assertFalse(self.client.objects[path][DEVICE]["Paired"])

    async def test_agents_are_told_apart(self):
        manager = "org.bluez.AgentManager1"
        await self.register("KeyboardDisplay")
        again = await self.refused(self.client.call("/org/bluez", manager, "RegisterAgent", "os", AGENT, ""))
        self.assertEqual(again.name, "org.bluez.Error.AlreadyExists")
        await self.client.call("/org/bluez", manager, "UnregisterAgent", "o", AGENT)
        gone = await self.refused(self.client.call("/org/bluez", manager, "UnregisterAgent", "o", AGENT))
        self.assertEqual(gone.name, "org.bluez.Error.DoesNotExist")


class EndedLinks(unittest.IsolatedAsyncioTestCase):
    async def test_a_link_that_ends_before_its_pairing_begins_cancels_it(self):
        """Its end was told in the turn before: Bumble's pairing would wait for it for ever."""
        manager = SimpleNamespace(sessions={})
        adapter = SimpleNamespace(radio=SimpleNamespace(device=SimpleNamespace(smp_manager=manager)))
        for role in (Role.CENTRAL, Role.PERIPHERAL):
            with self.subTest(role=role.name):
                begun = []
                link = SimpleNamespace(
                    role=role, handle=1, pair=lambda: begun.append("pair"), on=lambda event, _: begun.append(event)
                )
                device = SimpleNamespace(
                    bearer=SimpleNamespace(connection=link, alive=False), adapter=adapter, text="F0:00:00:00:00:01"
                )
                with self.assertRaises(Refused) as caught:
                    await asyncio.wait_for(pair(device, SimpleNamespace(over=lambda: None)), BOUND)
                self.assertEqual(caught.exception.name, "org.bluez.Error.AuthenticationCanceled")
                self.assertEqual(begun, [])


class Keys(unittest.IsolatedAsyncioTestCase):
    async def test_keys_are_kept_over_a_restart(self):
        asyncio.get_running_loop().set_debug(False)
        world, folder = World(), tempfile.mkdtemp(prefix="radio-keys-")
        self.addCleanup(world.end)
        self.addCleanup(shutil.rmtree, folder)
        await asyncio.to_thread(world.begin_bridge, "--keys", folder)
        end = await Peripheral.begin(world.sockets[1], [locked()])
        self.addAsyncCleanup(end.vanish)
        end.device.pairing_config_factory = lambda link: PairingConfig(
            delegate=FarAgent(Capability.NO_OUTPUT_NO_INPUT), identity_address_type=PairingConfig.AddressType.RANDOM
        )
        client = await Client.open(world.address)
        Agent(client, {"RequestAuthorization": lambda *_: ("", [])})
        await register(client, "NoInputNoOutput")
        path = await client.link(end.address)
        await client.call(path, DEVICE, "Pair")
        client.close()
        world.bridge.terminate()
        await asyncio.to_thread(world.bridge.wait)
        file = os.path.join(folder, f"{world.controllers[0]['address'].replace(':', '-')}.json")
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        await asyncio.to_thread(world.begin_bridge, "--keys", folder)
        client = await Client.open(world.address)
        self.addCleanup(client.close)
        self.assertTrue(client.objects[path][DEVICE]["Paired"], "it is there without being heard")
        await client.call(path, DEVICE, "Connect")
        await client.until(lambda: client.objects[path][DEVICE]["ServicesResolved"], "ServicesResolved")
        self.assertEqual(await client.read(client.attribute(path, CHARACTERISTIC, "2A37")), b"secret")


if __name__ == "__main__":
    unittest.main()

"""AgentManager1, and what its agents answer while a device is paired."""

import asyncio
import logging

from bumble import pairing, smp
from bumble.core import ProtocolError

from .bus import Interface, Refused, exported
from .host import LinkEnded, bounded

log = logging.getLogger(__name__)

AGENT = "org.bluez.Agent1"
# Seconds that a user has to answer, and that pairing may take.
ANSWERING, PAIRING = 60, 60
Capability = pairing.PairingDelegate.IoCapability
CAPABILITIES = {
    "": Capability.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
    "KeyboardDisplay": Capability.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
    "DisplayOnly": Capability.DISPLAY_OUTPUT_ONLY,
    "DisplayYesNo": Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "KeyboardOnly": Capability.KEYBOARD_INPUT_ONLY,
    "NoInputNoOutput": Capability.NO_OUTPUT_NO_INPUT,
}


class AgentManager(Interface):
    interface = "org.bluez.AgentManager1"

    def __init__(self, bus):
        # By client: the path of its agent and its capability. The default one answers where the caller has none.
        self.bus_of_agents = bus
        self.agents, self.default = {}, None
        bus.vanished.append(self.client_gone)

    @exported("os")
    def RegisterAgent(self, sender, path, capability):
        if sender in self.agents:
            raise Refused("AlreadyExists", "Already Exists")
        if capability not in CAPABILITIES:
            raise Refused("InvalidArguments", "Invalid arguments in method call")
        self.agents[sender] = path, CAPABILITIES[capability]
        self.default = self.default or sender

    @exported("o")
    def UnregisterAgent(self, sender, path):
        if self.agents.get(sender, (None,))[0] != path:
            raise Refused("DoesNotExist", "Does Not Exist")
        self.client_gone(sender)

    @exported("o")
    def RequestDefaultAgent(self, sender, path):
        if self.agents.get(sender, (None,))[0] != path:
            raise Refused("DoesNotExist", "Does Not Exist")
        self.default = sender

    def client_gone(self, sender):
        self.agents.pop(sender, None)
        if self.default == sender:
            self.default = next(iter(self.agents), None)

    def delegate(self, device, sender):
        """Who answers for one device: the caller's agent, else the default one, else nobody."""
        client = sender if sender in self.agents else self.default
        path, capability = self.agents.get(client, (None, Capability.NO_OUTPUT_NO_INPUT))
        return Delegate(self.bus_of_agents, device, client, path, capability)


class Session(smp.Session):
    """Bumble's, which asks nobody before a legacy pairing in which nothing is compared."""

    asked = False

    def send_pairing_confirm_command(self):
        compares_nothing = self.pairing_method == smp.PairingMethod.JUST_WORKS and not self.sc
        if compares_nothing and self.is_initiator and not self.asked:
            self.asked = True
            self.prompt_user_for_confirmation(super().send_pairing_confirm_command)
        else:
            super().send_pairing_confirm_command()


class Delegate(pairing.PairingDelegate):
    """Asks an agent. What it refuses, or does not answer, is refused, and so is all where there is no agent, but a peer that
    begins to pair."""

    def __init__(self, bus, device, client, path, capability):
        super().__init__(capability)
        self.bus, self.device, self.client, self.path = bus, device, client, path
        self.rejected = self.authorized = False

    async def ask(self, member, signature="", *values):
        """The body of the answer, or None."""
        if self.path is None:
            log.warning("%s: pairing needs an agent, and there is none; register one (AgentManager1)", self.device.text)
            return None
        try:
            answer = await self.bus.call(
                self.client, self.path, AGENT, member, "o" + signature, [self.device.place, *values], seconds=ANSWERING
            )
        except Refused as refusal:
            log.info("%s: %s: %s %s", self.device.text, member, refusal.name, refusal.text)
            self.rejected = True
            return None
        return answer.body

    async def accept(self):
        # The peer begins.
        self.authorized = self.path is None
        return await self.authorize()

    async def authorize(self):
        self.authorized = self.authorized or await self.ask("RequestAuthorization") is not None
        return self.authorized

    async def confirm(self, auto=False):
        # Nothing is compared.
        return await self.authorize()

    async def compare_numbers(self, number, digits):
        return await self.ask("RequestConfirmation", "u", number) is not None

    async def get_number(self):
        body = await self.ask("RequestPasskey")
        return body[0] if body and isinstance(body[0], int) else None

    async def display_number(self, number, digits):
        await self.ask("DisplayPasskey", "uq", number, 0)


async def pair(device, delegate):
    """Pairs a device whose link is up. Refused says what bluetoothd says of a failure."""
    bearer = device.bearer
    connection = bearer.connection
    try:
        await bounded(connection.pair(), PAIRING)
    except ProtocolError as error:
        log.warning("%s: pairing failed: %s; remove old bonds at both ends", device.text, error.error_name)
        if getattr(delegate, "rejected", False):
            raise Refused("AuthenticationRejected", "Authentication Rejected") from None
        raise Refused("AuthenticationFailed", "Authentication Failed") from None
    except LinkEnded:
        raise Refused("AuthenticationCanceled", "Authentication Canceled") from None
    except asyncio.TimeoutError:
        device.start(device.end_link())
        raise Refused("AuthenticationTimeout", "Authentication Timeout") from None
    finally:
        end_session(device, bearer)


def end_session(device, bearer):
    """Bumble keeps a session of pairing until the link ends, and takes the next pairing for a part of it."""
    session = device.adapter.radio.device.smp_manager.sessions.get(bearer.connection.handle)
    if session is not None and bearer.alive:
        asyncio.get_running_loop().call_soon(session.on_disconnection, 0)

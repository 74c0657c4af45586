"""AgentManager1, and what its agents answer while a device is paired."""

import asyncio
import logging

from bumble import pairing
from bumble.core import ProtocolError

from .bus import Interface, Refused, exported
from .hci import LinkEnded, bounded

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
        if client is None:
            return pairing.PairingDelegate(Capability.NO_OUTPUT_NO_INPUT)
        path, capability = self.agents[client]
        return Delegate(self.bus_of_agents, device, client, path, capability)


class Delegate(pairing.PairingDelegate):
    """Asks an agent. What it refuses, or does not answer, is refused."""

    def __init__(self, bus, device, client, path, capability):
        super().__init__(capability)
        self.bus, self.device, self.client, self.path = bus, device, client, path
        self.rejected = False

    async def ask(self, member, signature="", *values):
        """The body of the answer, or None."""
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
        return await self.ask("RequestAuthorization") is not None

    async def confirm(self, auto=False):
        # Nothing is compared: whoever called Pair wants it.
        return True

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
        log.warning("%s: pairing failed: %s", device.text, error.error_name)
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

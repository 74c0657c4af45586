"""AgentManager1, and what its agents answer while a device is paired."""

import asyncio
import logging

from bumble import pairing, smp
from bumble.core import ProtocolError
from bumble.hci import Role

from .bus import Interface, Refused, exported
from .host import LinkEnded, Passkey, bounded

log = logging.getLogger(__name__)

AGENT = "org.bluez.Agent1"
# Seconds that a user has to answer, that pairing may take, and for calls whose answers are not waited for.
ANSWERING, PAIRING, TELLING = 60, 60, 25
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

    def delegate(self, device, sender, by_peer=False):
        """What answers for one device: the caller's agent, else the default one, else none. `by_peer`: the peer pairs."""
        client = sender if sender in self.agents else self.default
        path, capability = self.agents.get(client, (None, Capability.NO_OUTPUT_NO_INPUT))
        return Delegate(self.bus_of_agents, device, sender, client, path, capability, by_peer)


class Session(smp.Session):
    """Bumble's, which asks for nothing before a legacy pairing in which nothing is compared."""

    asked = authorized = False

    def send_pairing_confirm_command(self):
        if self.pairing_method != smp.PairingMethod.JUST_WORKS or self.sc:
            super().send_pairing_confirm_command()
        elif not self.asked:
            self.asked = True
            self.prompt_user_for_confirmation(self.confirmed)

    def confirmed(self):
        self.authorized = True
        super().send_pairing_confirm_command()

    def on_smp_pairing_random_command(self, command):
        if self.asked and not self.authorized:
            # Bumble would go on with a peer that does not wait for the answer.
            self.send_pairing_failed(smp.ErrorCode.UNSPECIFIED_REASON)
        else:
            super().on_smp_pairing_random_command(command)


class Delegate(pairing.PairingDelegate):
    """Asks an agent. What it refuses, or does not answer, is refused, and so is all where there is no agent, but a peer that
    begins to pair.

    `caller` is the client that called Pair, and `client` the agent's.
    """

    def __init__(self, bus, device, caller, client, path, capability, by_peer):
        super().__init__(capability)
        self.bus, self.device, self.caller, self.by_peer = bus, device, caller, by_peer
        self.client, self.path = client, path
        self.rejected = self.cancelled = False
        # The answer that is waited for.
        self.asking = None

    async def ask(self, member, signature="", *values):
        """The body of the answer, or None."""
        if self.path is None:
            log.warning("%s: pairing needs an agent, and there is none; register one (AgentManager1)", self.device.text)
            return None
        answered = self.asking = asyncio.get_running_loop().create_future()

        def on_answer(message, refusal):
            if not answered.done():
                answered.set_exception(refusal) if refusal else answered.set_result(message)

        # Sent before anything can end it: a Cancel is never for a question that the agent does not know.
        self.bus.ask(
            self.client, self.path, AGENT, member, "o" + signature, [self.device.place, *values], on_answer, ANSWERING
        )
        try:
            answer = await answered
        except asyncio.CancelledError:
            # Pairing is over. An agent is told so where its answer is no longer waited for, and only there.
            self.tell("Cancel")
            raise
        except Refused as refusal:
            log.info("%s: %s: %s %s", self.device.text, member, refusal.name, refusal.text)
            if refusal.name.endswith(".NoReply"):
                self.tell("Cancel")
            self.rejected = True
            return None
        finally:
            self.asking = None
        return answer.body

    def tell(self, member, signature="", *values):
        self.bus.ask(self.client, self.path, AGENT, member, signature, list(values), lambda *_: None, TELLING)

    def over(self):
        """Pairing ended, whatever the user says."""
        if self.asking is not None:
            self.asking.cancel()

    async def accept(self):
        # The method decides what is asked, as with bluetoothd.
        return True

    async def confirm(self, auto=False):
        # Nothing is compared. A device that is paired is not replaced by another one so (BlueZ, JustWorksRepairing).
        if self.device.paired:
            log.warning("%s: it pairs anew, and compares nothing: refused; remove it first", self.device.text)
            return False
        return self.by_peer and self.path is None or await self.ask("RequestAuthorization") is not None

    async def compare_numbers(self, number, digits):
        return await self.ask("RequestConfirmation", "u", number) is not None

    async def get_number(self):
        body = await self.ask("RequestPasskey")
        return Passkey(body[0]) if body and isinstance(body[0], int) else None

    async def generate_passkey(self):
        return Passkey(await super().generate_passkey())

    async def display_number(self, number, digits):
        self.tell("DisplayPasskey", "ouq", self.device.place, number, 0)


class Nothing(pairing.PairingDelegate):
    """Answers for a link that is not told yet: nothing pairs on it."""

    async def accept(self):
        return False

    def over(self):
        pass


async def pair(device, delegate):
    """Pairs a device whose link is up. Refused says what bluetoothd says of a failure."""
    bearer = device.bearer
    try:
        await bounded(begin_pairing(bearer), PAIRING)
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
        delegate.over()
        end_session(device, bearer)


async def begin_pairing(bearer):
    """Pairs by Bumble, which waits for ever on a link that has ended: it may have since this task was made."""
    if not bearer.alive:
        raise LinkEnded
    connection = bearer.connection
    await (connection.pair() if connection.role == Role.CENTRAL else paired_by_central(connection))


async def paired_by_central(connection):
    """Asks a central to pair, which alone can begin that, and waits until it has. Raises as Bumble's pairing does."""
    over = asyncio.get_running_loop().create_future()

    def fail(error):
        over.done() or over.set_exception(error)

    listeners = {
        "pairing": lambda _: over.done() or over.set_result(None),
        "pairing_failure": lambda reason: fail(ProtocolError(reason, "smp", reason.name)),
        "disconnection": lambda _: fail(LinkEnded()),
    }
    for event, listener in listeners.items():
        connection.on(event, listener)
    try:
        connection.request_pairing()
        await over
    finally:
        for event, listener in listeners.items():
            connection.remove_listener(event, listener)


def end_session(device, bearer):
    """Bumble keeps a session of pairing until the link ends, and takes the next pairing for a part of it."""
    session = device.adapter.radio.device.smp_manager.sessions.get(bearer.connection.handle)
    if session is not None and bearer.alive:
        session.pairing_config.delegate.over()
        asyncio.get_running_loop().call_soon(session.on_disconnection, 0)

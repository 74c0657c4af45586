"""AgentManager1: the agents that answer for pairing."""

from .bus import Interface, Refused, exported


class AgentManager(Interface):
    interface = "org.bluez.AgentManager1"

    def __init__(self, bus):
        # By client: the path of its agent and its capability. The default one answers where the caller has none.
        self.agents, self.default = {}, None
        bus.vanished.append(self.client_gone)

    @exported("os")
    def RegisterAgent(self, sender, path, capability):
        if sender in self.agents:
            raise Refused("AlreadyExists", "Already Exists")
        self.agents[sender] = path, capability

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

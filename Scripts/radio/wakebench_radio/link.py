"""Linked controllers on sockets: an air of its own, for hosts that speak HCI.

    Scripts/radio/link SOCKET [SOCKET...]

SOCKET is unix:PATH or tcp:HOST:PORT; port 0 takes a free one. Each has one controller behind it, and serves one host at
a time: a second one is refused. Once all listen, one line is printed, a JSON object {"controllers": [{"transport":
"tcp-client:127.0.0.1:4711", "address": "00:AA:01:00:00:01"}, ...]}: `transport` is what Bumble's hosts are given.

The controllers are Bumble's, with what its own ones leave out (read in bumble 0.0.236, controller.py and link.py): true
scan responses in active scans only, the kind of an advertisement, filtered duplicates, the cancelling of a connection,
a reset that resets, a host that goes, and an answer to each command.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import errno
import json
import logging
import os
import signal
import socket
import stat
import sys

from bumble import controller, hci, link, ll
from bumble.core import InvalidPacketError, PhysicalTransport
from bumble.transport.common import PacketParser

log = logging.getLogger(__name__)

# Signal strength of all that is heard, in dBm: what Bumble's controllers say, too.
RSSI = -50
# Octets of a legacy advertisement and of its scan response (Core 5.4, Vol 6, Part B, 2.3.1.3).
LEGACY_LENGTH = 31
# Octets that wait for a host that does not read. Above the first limit advertisements are not told to it, as with full
# buffers of a real controller; above the second one it is cut off.
CROWDED, CHOKED = 1 << 18, 1 << 24

Error = hci.HCI_ErrorCode
Kind = hci.HCI_LE_Extended_Advertising_Report_Event.EventType
Properties = hci.HCI_LE_Set_Extended_Advertising_Parameters_Command.AdvertisingProperties
# By the type of a legacy advertisement.
LEGACY_KINDS = {
    0: Kind.CONNECTABLE_ADVERTISING | Kind.SCANNABLE_ADVERTISING,
    1: Kind.CONNECTABLE_ADVERTISING | Kind.DIRECTED_ADVERTISING,
    2: Kind.SCANNABLE_ADVERTISING,
    3: Kind(0),
    4: Kind.CONNECTABLE_ADVERTISING | Kind.DIRECTED_ADVERTISING,
}


@dataclasses.dataclass
class Advertisement(ll.AdvExtInd):
    """What is heard of an advertiser at once: the advertisement, its kind, and its response to a scan."""

    kind: Kind = Kind(0)
    response: bytes = b""


class Advertiser(controller.LegacyAdvertiser):
    """Bumble's, for each type of advertisement, with its interval in units of 625 us."""

    def _on_timer_fired(self):
        self.send_advertising_data()
        pause = max(self.advertising_interval_min * 0.000625, 0.02)
        self.timer_handle = asyncio.get_running_loop().call_later(pause, self._on_timer_fired)

    def send_advertising_data(self):
        if self.enabled:
            self.controller.advertise(self, self.advertising_data, self.kind)

    @property
    def kind(self):
        return LEGACY_KINDS.get(self.advertising_type, Kind(0)) | Kind.LEGACY_ADVERTISING_PDU_USED


def kind_of_set(advertising_set):
    said = advertising_set.parameters.advertising_event_properties
    kind = Kind(0)
    for word, bit in (
        (Properties.CONNECTABLE_ADVERTISING, Kind.CONNECTABLE_ADVERTISING),
        (Properties.SCANNABLE_ADVERTISING, Kind.SCANNABLE_ADVERTISING),
        (Properties.DIRECTED_ADVERTISING, Kind.DIRECTED_ADVERTISING),
        (Properties.USE_LEGACY_ADVERTISING_PDUS, Kind.LEGACY_ADVERTISING_PDU_USED),
    ):
        if said & word:
            kind |= bit
    return kind


class AdvertisingSet(controller.AdvertisingSet):
    """Bumble's, which says itself what is heard of it: several sets have the same address."""

    def send_extended_advertising_data(self):
        periodic = bytes(self.periodic_advertising_data) or None
        self.controller.advertise(self, self.data, kind_of_set(self), self.parameters.advertising_sid, periodic)


class End(controller.Connection):
    """One end of a connection. It knows the other one, so that nothing is found by address."""

    far = None

    def on_acl_pdu(self, pdu):
        far = self.far
        asyncio.get_running_loop().call_soon(far.controller.on_link_acl_data, far.peer_address, self.transport, pdu)

    def send_ll_control_pdu(self, packet):
        far = self.far
        asyncio.get_running_loop().call_soon(far.controller.hear_control, far, packet)


class Air(link.LocalLink):
    """What connects controllers. Advertisements arrive a turn of the loop later, and a connection is made at once."""

    def send_advertising_pdu(self, sender_controller, packet):
        loop = asyncio.get_running_loop()
        for each in self.controllers:
            if each is not sender_controller and each.listens:
                loop.call_soon(each.on_ll_advertising_pdu, packet)

    def connectable(self, address):
        """The controller that takes a connection under this address now, with the advertiser that does."""
        for each in self.controllers:
            if advertiser := each.connectable(address):
                return each, advertiser
        return None, None


class LinkedController(controller.Controller):
    """Bumble's controller with what it leaves out. It belongs to one host at a time."""

    acl_data_packet_length = le_acl_data_packet_length = 251
    supported_max_tx_octets = supported_max_rx_octets = suggested_max_tx_octets = 251

    def __init__(self, name, air, public_address):
        super().__init__(name, link=air, public_address=public_address)
        self.le_legacy_advertiser = Advertiser(self)
        self.supported_commands = {
            code for code in controller.Controller.supported_commands
            if hasattr(self, f"on_{hci.HCI_Command.command_name(code).lower()}")
        }
        self.active_scan = False
        self.told = set()
        self.accepted = set()

    # Advertisements

    @property
    def listens(self):
        return self.le_scan_enable or self.pending_le_connection is not None

    def advertisers(self):
        """All that advertise now, each with its kind."""
        if self.le_legacy_advertiser.enabled:
            yield self.le_legacy_advertiser, self.le_legacy_advertiser.kind
        for each in self.advertising_sets.values():
            if each.enabled and each.parameters:
                yield each, kind_of_set(each)

    def connectable(self, address):
        for each, kind in self.advertisers():
            if kind & Kind.CONNECTABLE_ADVERTISING and each.address == address:
                return each
        return None

    def advertise(self, advertiser, data, kind, sid=0, periodic=None):
        self.link.send_advertising_pdu(
            self,
            Advertisement(
                advertiser.address, bytes(data), sid=sid, kind=kind, periodic_advertising_data=periodic,
                response=bytes(advertiser.scan_response_data),
            ),
        )

    def on_advertising_pdu(self, pdu):
        if self.le_scan_enable:
            directed = bool(pdu.kind & Kind.DIRECTED_ADVERTISING)
            self.report(pdu, pdu.kind, b"" if directed else pdu.data)
            if self.active_scan and pdu.kind & Kind.SCANNABLE_ADVERTISING:
                self.report(pdu, pdu.kind | Kind.SCAN_RESPONSE, pdu.response)
        wanted = self.pending_le_connection
        if wanted is None:
            return
        if wanted.initiator_filter_policy:
            if pdu.advertiser_address not in self.accepted:
                return
        elif wanted.peer_address != pdu.advertiser_address:
            return
        self.create_le_connection(pdu.advertiser_address)

    def report(self, pdu, kind, data):
        """Tells the host of one packet. What came already is left out where the host asked for that."""
        address = pdu.advertiser_address
        if self.filter_duplicates:
            key = (bytes(address), address.address_type, kind, data)
            if key in self.told:
                return
            self.told.add(key)
        if self.le_features & hci.LeFeatureMask.LE_EXTENDED_ADVERTISING:
            report = hci.HCI_LE_Extended_Advertising_Report_Event.Report(
                event_type=kind, address_type=address.address_type, address=address, primary_phy=hci.Phy.LE_1M,
                secondary_phy=0 if kind & Kind.LEGACY_ADVERTISING_PDU_USED else hci.Phy.LE_1M,
                advertising_sid=0xFF if kind & Kind.LEGACY_ADVERTISING_PDU_USED else pdu.sid, tx_power=127, rssi=RSSI,
                periodic_advertising_interval=0, direct_address_type=0, direct_address=hci.Address.ANY, data=data,
            )
            self.send_hci_packet(hci.HCI_LE_Extended_Advertising_Report_Event([report]))
            return
        if not kind & Kind.LEGACY_ADVERTISING_PDU_USED:
            return
        code = 4 if kind & Kind.SCAN_RESPONSE else next(
            code for code, each in LEGACY_KINDS.items() if each == kind & ~Kind.LEGACY_ADVERTISING_PDU_USED
        )
        report = hci.HCI_LE_Advertising_Report_Event.Report(
            event_type=code, address_type=address.address_type, address=address, data=data, rssi=RSSI
        )
        self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([report]))

    def on_hci_le_set_scan_enable_command(self, command):
        self.told.clear()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_set_scan_parameters_command(self, command):
        self.active_scan = bool(command.le_scan_type)
        return super().on_hci_le_set_scan_parameters_command(command)

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self.told.clear()
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        if self.le_scan_enable:
            return hci.HCI_StatusReturnParameters(Error.COMMAND_DISALLOWED_ERROR)
        self.active_scan = any(command.scan_types)
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_set_advertising_set_random_address_command(self, command):
        self.make_set(command.advertising_handle)
        return super().on_hci_le_set_advertising_set_random_address_command(command)

    def on_hci_le_set_extended_advertising_parameters_command(self, command):
        self.make_set(command.advertising_handle)
        return super().on_hci_le_set_extended_advertising_parameters_command(command)

    def make_set(self, handle):
        self.advertising_sets.setdefault(handle, AdvertisingSet(controller=self, handle=handle))

    def on_hci_le_set_extended_advertising_data_command(self, command):
        if self.too_long(command.advertising_handle, command.advertising_data):
            return hci.HCI_StatusReturnParameters(Error.INVALID_COMMAND_PARAMETERS_ERROR)
        return super().on_hci_le_set_extended_advertising_data_command(command)

    def on_hci_le_set_extended_scan_response_data_command(self, command):
        if self.too_long(command.advertising_handle, command.scan_response_data):
            return hci.HCI_StatusReturnParameters(Error.INVALID_COMMAND_PARAMETERS_ERROR)
        return super().on_hci_le_set_extended_scan_response_data_command(command)

    def too_long(self, handle, data):
        known = self.advertising_sets.get(handle)
        legacy = known and known.parameters and kind_of_set(known) & Kind.LEGACY_ADVERTISING_PDU_USED
        return bool(legacy) and len(data) > LEGACY_LENGTH

    def on_hci_le_set_extended_advertising_enable_command(self, command):
        if command.enable:
            # Started twice, a set of Bumble's would be heard twice as often.
            for handle in command.advertising_handles:
                if known := self.advertising_sets.get(handle):
                    known.stop()
        return super().on_hci_le_set_extended_advertising_enable_command(command)

    # Connections

    def on_hci_le_clear_filter_accept_list_command(self, command):
        self.accepted.clear()
        return super().on_hci_le_clear_filter_accept_list_command(command)

    def on_hci_le_add_device_to_filter_accept_list_command(self, command):
        self.accepted.add(hci.Address(bytes(command.address), hci.AddressType(command.address_type)))
        return super().on_hci_le_add_device_to_filter_accept_list_command(command)

    def on_hci_le_remove_device_from_filter_accept_list_command(self, command):
        self.accepted.discard(hci.Address(bytes(command.address), hci.AddressType(command.address_type)))
        return super().on_hci_le_remove_device_from_filter_accept_list_command(command)

    def create_le_connection(self, peer_address):
        """Both ends at once, while the other one still advertises; else this one goes on waiting."""
        wanted = self.pending_le_connection
        far, advertiser = self.link.connectable(peer_address)
        if far is None or peer_address in self.le_connections:
            return
        own = self.public_address if wanted.own_address_type == hci.OwnAddressType.PUBLIC else self.random_address
        extended = isinstance(wanted, hci.HCI_LE_Extended_Create_Connection_Command)
        interval = wanted.connection_interval_mins[0] if extended else wanted.connection_interval_min
        latency = wanted.max_latencies[0] if extended else wanted.max_latency
        timeout = wanted.supervision_timeouts[0] if extended else wanted.supervision_timeout
        self.pending_le_connection = None
        theirs = far.end(hci.Role.PERIPHERAL, peer_address, own)
        ours = self.end(hci.Role.CENTRAL, own, peer_address)
        theirs.far, ours.far = ours, theirs
        for each in (theirs, ours):
            each.controller.send_hci_packet(
                hci.HCI_LE_Connection_Complete_Event(
                    status=Error.SUCCESS, connection_handle=each.handle, role=each.role,
                    peer_address_type=each.peer_address.address_type, peer_address=each.peer_address,
                    connection_interval=interval, peripheral_latency=latency, supervision_timeout=timeout,
                    central_clock_accuracy=0,
                )
            )
        if isinstance(advertiser, controller.AdvertisingSet):
            far.send_hci_packet(
                hci.HCI_LE_Advertising_Set_Terminated_Event(
                    status=Error.SUCCESS, advertising_handle=advertiser.handle, connection_handle=theirs.handle,
                    num_completed_extended_advertising_events=0,
                )
            )
        advertiser.stop()

    def end(self, role, own, peer):
        made = End(
            controller=self, handle=self.allocate_connection_handle(), role=role, self_address=own, peer_address=peer,
            link=self.link, transport=PhysicalTransport.LE,
            link_type=hci.HCI_Connection_Complete_Event.LinkType.ACL,
        )
        self.le_connections[peer] = made
        return made

    def hear_control(self, end, packet):
        """What comes for an end that is gone already is dropped."""
        if self.le_connections.get(end.peer_address) is end:
            self.on_ll_control_pdu(end.peer_address, packet)

    def on_hci_le_create_connection_cancel_command(self, command):
        if self.pending_le_connection is None:
            return hci.HCI_StatusReturnParameters(Error.COMMAND_DISALLOWED_ERROR)
        peer = self.pending_le_connection.peer_address
        self.pending_le_connection = None
        asyncio.get_running_loop().call_soon(
            self.send_hci_packet,
            hci.HCI_LE_Connection_Complete_Event(
                status=Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
                peer_address_type=peer.address_type, peer_address=peer, connection_interval=0, peripheral_latency=0,
                supervision_timeout=0, central_clock_accuracy=0,
            ),
        )
        return hci.HCI_StatusReturnParameters(Error.SUCCESS)

    def on_hci_disconnect_command(self, command):
        known = self.find_le_connection_by_handle(command.connection_handle)
        if known is not None:
            self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
            known.send_ll_control_pdu(ll.TerminateInd(command.reason))
            self.on_le_disconnected(known, Error.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)
        elif self.find_classic_connection_by_handle(command.connection_handle):
            super().on_hci_disconnect_command(command)
        else:
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)

    def leave(self, reason):
        """Ends all that this controller does. The other end of each connection is told `reason`."""
        self.le_legacy_advertiser.stop()
        for each in self.advertising_sets.values():
            each.stop()
        self.advertising_sets.clear()
        self.le_scan_enable = self.active_scan = self.filter_duplicates = False
        self.pending_le_connection = None
        self.told.clear()
        self.accepted.clear()
        for each in list(self.le_connections.values()):
            each.send_ll_control_pdu(ll.TerminateInd(reason))
        self.le_connections.clear()

    def on_hci_reset_command(self, command):
        self.leave(Error.REMOTE_USER_TERMINATED_CONNECTION_ERROR)
        return super().on_hci_reset_command(command)

    # Answers to all commands

    def on_hci_command_packet(self, command):
        if hasattr(self, f"on_{command.name.lower()}") or isinstance(command, hci.HCI_SyncCommand):
            super().on_hci_command_packet(command)
        else:
            self._send_hci_command_status(Error.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)

    def on_hci_read_rssi_command(self, command):
        known = self.find_le_connection_by_handle(command.handle)
        status = Error.SUCCESS if known else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        return hci.HCI_Read_RSSI_ReturnParameters(status=status, handle=command.handle, rssi=RSSI)

    def on_hci_le_set_data_length_command(self, command):
        known = self.find_le_connection_by_handle(command.connection_handle)
        status = Error.SUCCESS if known else Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        return hci.HCI_StatusAndConnectionHandleReturnParameters(status, command.connection_handle)

    def on_hci_le_set_phy_command(self, command):
        """All links are 1M, and stay so."""
        if not self.find_le_connection_by_handle(command.connection_handle):
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.send_hci_packet(
            hci.HCI_LE_PHY_Update_Complete_Event(
                status=Error.SUCCESS, connection_handle=command.connection_handle,
                tx_phy=hci.Phy.LE_1M, rx_phy=hci.Phy.LE_1M,
            )
        )

    def on_hci_read_remote_version_information_command(self, command):
        if not self.find_connection_by_handle(command.connection_handle):
            self._send_hci_command_status(Error.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
            return
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.send_hci_packet(
            hci.HCI_Read_Remote_Version_Information_Complete_Event(
                status=Error.SUCCESS, connection_handle=command.connection_handle, version=self.lmp_version,
                manufacturer_name=self.manufacturer_company_identifier, subversion=self.lmp_subversion,
            )
        )


class Host(asyncio.Protocol):
    """A host that has connected to a socket. Garbage, and a host that does not read, end it."""

    def __init__(self, server):
        self.server, self.transport, self.parser = server, None, PacketParser(server.controller)

    def connection_made(self, transport):
        if self.server.host is not None:
            log.warning("%s: a second host is refused; each socket takes one", self.server.transport)
            transport.abort()
            return
        if sock := transport.get_extra_info("socket"):
            if sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.transport, self.server.host = transport, self
        self.server.controller.leave(Error.REMOTE_USER_TERMINATED_CONNECTION_ERROR)
        self.server.controller.host = self

    def data_received(self, data):
        if self.server.host is not self:
            return
        try:
            self.parser.feed_data(data)
        except InvalidPacketError as error:
            log.warning("%s: not HCI: %s; the host is cut off", self.server.transport, error)
            self.transport.abort()

    def on_packet(self, packet):
        if self.server.host is not self or self.transport.is_closing():
            return
        waiting = self.transport.get_write_buffer_size()
        if waiting > CHOKED:
            log.warning("%s: the host does not read; it is cut off", self.server.transport)
            self.transport.abort()
        elif waiting <= CROWDED or packet[:2] != b"\x04\x3e" or packet[3] not in (0x02, 0x0D):
            self.transport.write(packet)

    def connection_lost(self, error):
        if self.server.host is self:
            self.server.host = None
            self.server.controller.host = None
            self.server.controller.leave(Error.CONNECTION_TIMEOUT_ERROR)


def require_free(place):
    """Raises OSError where a program listens at a path already, or it is no socket's: asyncio would remove it."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(place).st_mode):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        # Nothing is connected: a socket of datagrams does not fit one that listens. A path that is too long fails here as there.
        if other.connect_ex(place) == errno.EPROTOTYPE:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


class Server:
    """A controller on a socket. `transport` is what a Bumble host is given, `address` the controller's public one."""

    def __init__(self, linked):
        self.controller, self.host, self.server, self.transport = linked, None, None, None
        # Of the path of a Unix socket.
        self.inode = None

    @property
    def address(self):
        return self.controller.public_address.to_string(False)

    async def listen(self, where):
        loop = asyncio.get_running_loop()
        kind, _, place = where.partition(":")
        if kind == "unix" and place:
            os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
            require_free(place)
            self.server = await loop.create_unix_server(lambda: Host(self), place)
            self.transport, self.inode = f"unix:{place}", os.stat(place).st_ino
        elif kind == "tcp" and place.rpartition(":")[2].isdecimal():
            name, _, port = place.rpartition(":")
            self.server = await loop.create_server(lambda: Host(self), name or "127.0.0.1", int(port))
            bound = self.server.sockets[0].getsockname()
            self.transport = f"tcp-client:{bound[0]}:{bound[1]}"
        else:
            raise ValueError(f"{where}: no socket; use unix:PATH or tcp:HOST:PORT")

    def drop(self):
        """Cuts the host off, as a controller that is pulled out does."""
        if self.host:
            self.host.transport.abort()

    def close(self):
        self.server.close()
        self.drop()
        if self.inode is not None:
            with contextlib.suppress(OSError):
                # The path may be another's by now.
                if os.stat(self.transport[5:]).st_ino == self.inode:
                    os.unlink(self.transport[5:])


async def serve(where, air, number):
    """A controller of this air on a socket; `number` from 1 to 255 makes its public address, 00:AA:01:00:00:NN."""
    server = Server(LinkedController(f"C{number}", air, f"00:AA:01:00:00:{number:02X}"))
    await server.listen(where)
    return server


async def run(sockets):
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    air, servers = Air(), []
    try:
        for number, where in enumerate(sockets, 1):
            try:
                servers.append(await serve(where, air, number))
            except (OSError, ValueError) as error:
                text = str(error) if where in str(error) else f"{where}: {error}"
                print(f"link: {text}", file=sys.stderr)
                return 12
        told = [{"transport": each.transport, "address": each.address} for each in servers]
        print(json.dumps({"controllers": told}), flush=True)
        await ended.wait()
        return 0
    finally:
        for each in servers:
            each.close()


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/radio/link",
        description="Serves linked controllers, one on each socket, for one host each.",
    )
    parser.add_argument("socket", nargs="+", help="unix:PATH or tcp:HOST:PORT; port 0 takes a free one")
    logging.basicConfig(level=logging.WARNING, format="link: %(message)s")
    # Bumble's lines name each packet; what matters of them is said here.
    for name in ("bumble.controller", "bumble.hci"):
        logging.getLogger(name).setLevel(logging.ERROR)
    sys.exit(asyncio.run(run(parser.parse_args().socket)))


if __name__ == "__main__":
    main()

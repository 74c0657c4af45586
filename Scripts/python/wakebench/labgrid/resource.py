"""The resources: a bench, its phones, the accessories around them, and Bluetooth adapters of its machine."""

from __future__ import annotations

import attr
from labgrid.factory import target_factory
from labgrid.resource.common import ManagedResource, NetworkResource, Resource
from labgrid.resource.remote import RemotePlaceManager

TEXT = attr.validators.instance_of(str)


@attr.s(eq=False)
class Bench:
    """What leads to a bench.

    Args:
        socket (str): the control socket of its daemon, on its machine
    """

    socket = attr.ib(validator=TEXT, kw_only=True)


@attr.s(eq=False)
class Phone(Bench):
    """What leads to a phone.

    Args:
        phone (str): its name on the bench
    """

    phone = attr.ib(validator=TEXT, kw_only=True)


@attr.s(eq=False)
class Accessory(Phone):
    """What leads to an accessory.

    Args:
        device (str): the name of a device around the phone, as its scenario has it
    """

    device = attr.ib(validator=TEXT, kw_only=True)


@attr.s(eq=False)
class Adapter(Bench):
    """What leads to a Bluetooth adapter that phones of a bench can have.

    Args:
        address (str): its Bluetooth address
        interface (str): what Linux calls it, such as hci0: it is available while that is there
    """

    address = attr.ib(validator=TEXT, kw_only=True)
    interface = attr.ib(default="", validator=TEXT, kw_only=True)


@target_factory.reg_resource
@attr.s(eq=False)
class WakebenchBench(Bench, Resource):
    """A bench on this machine, all of it: for tests that make phones of their own."""


@target_factory.reg_resource
@attr.s(eq=False)
class WakebenchPhone(Phone, Resource):
    """A phone of a bench on this machine."""


@target_factory.reg_resource
@attr.s(eq=False)
class WakebenchAccessory(Accessory, Resource):
    """A device around a phone of a bench on this machine."""


@target_factory.reg_resource
@attr.s(eq=False)
class WakebenchAdapter(Adapter, Resource):
    """A Bluetooth adapter of this machine, for phones with `--backend bluez`."""


@attr.s(eq=False)
class Remote(NetworkResource, ManagedResource):
    """A resource that an exporter has; whether it is available is the exporter's to say."""

    manager_cls = RemotePlaceManager

    def __attrs_post_init__(self) -> None:
        self.timeout = 10.0
        super().__attrs_post_init__()


@target_factory.reg_resource
@attr.s(eq=False)
class NetworkWakebenchBench(Bench, Remote):
    """A bench on an exporter's machine."""


@target_factory.reg_resource
@attr.s(eq=False)
class NetworkWakebenchPhone(Phone, Remote):
    """A phone of a bench on an exporter's machine."""


@target_factory.reg_resource
@attr.s(eq=False)
class NetworkWakebenchAccessory(Accessory, Remote):
    """A device around a phone of a bench on an exporter's machine."""


@target_factory.reg_resource
@attr.s(eq=False)
class NetworkWakebenchAdapter(Adapter, Remote):
    """A Bluetooth adapter of an exporter's machine."""

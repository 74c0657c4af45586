"""The drivers: clients of a bench, its phones and accessories."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import attr
from labgrid.driver.common import Driver
from labgrid.factory import target_factory
from labgrid.protocol import PowerProtocol, ResetProtocol
from labgrid.step import step

from ..live import Following, LiveApp, LiveBench, LiveDevice, LivePhone, Outcome, Time
from .reach import Reach


class Reaching(Driver):
    """Is connected to a bench while it is active."""

    _reach: Reach | None = None

    def _resource(self) -> object:
        raise NotImplementedError

    def on_activate(self) -> None:
        """Connects."""
        self._reach = Reach(self._resource())

    def on_deactivate(self) -> None:
        """Ends the connection; what was switched on stays so."""
        if self._reach:
            self._reach.close()
            self._reach = None

    @property
    def bench(self) -> LiveBench:
        """The client of the bench."""
        assert self._reach is not None
        return self._reach.bench


@target_factory.reg_driver
@attr.s(eq=False)
class WakebenchBenchDriver(Reaching):
    """A bench, all of it: `driver.create("one", "belt.yaml").boot()`."""

    bindings = {
        "resource": {"WakebenchBench", "NetworkWakebenchBench"},
        "adapter": {"WakebenchAdapter", "NetworkWakebenchAdapter", None},
    }

    def _resource(self) -> object:
        return self.resource

    @Driver.check_active
    @step(args=["name"])
    def create(self, name: str, scenario: str | None = None, **options: Any) -> LivePhone:
        """Makes a phone; the daemon reads the scenario, on its machine. With an adapter in the place, its radio is that one."""
        if self.adapter and "backend" not in options:
            options |= {"backend": "bluez", "adapter": self.adapter.address}
        return self.bench.create(name, scenario, **options)

    @Driver.check_active
    def phone(self, name: str) -> LivePhone:
        """A phone by its name."""
        return self.bench.phone(name)

    @Driver.check_active
    def phones(self) -> list[LivePhone]:
        """All phones."""
        return self.bench.phones()


@target_factory.reg_driver
@attr.s(eq=False)
class WakebenchPhoneDriver(Reaching, PowerProtocol, ResetProtocol):
    """A phone: its power, its apps, and any step of a scenario. `labgrid-client power` switches it.

    Args:
        delay (float): how many seconds `cycle` leaves it off
    """

    bindings = {"resource": {"WakebenchPhone", "NetworkWakebenchPhone"}}
    delay = attr.ib(default=0.0, validator=attr.validators.instance_of((int, float)))

    def _resource(self) -> object:
        return self.resource

    @property
    def phone(self) -> LivePhone:
        """The client of the phone."""
        return self.bench.phone(self.resource.phone)

    @Driver.check_active
    @step()
    def on(self) -> None:
        """Boots it."""
        self.phone.boot()

    @Driver.check_active
    @step()
    def off(self) -> None:
        """Shuts it down."""
        self.phone.shutdown()

    @Driver.check_active
    @step()
    def cycle(self) -> None:
        """Shuts it down, and boots it."""
        self.off()
        if self.delay:
            time.sleep(self.delay)
        self.on()

    @Driver.check_active
    @step()
    def get(self) -> bool:
        """Whether it is booted."""
        return self.phone.state == "booted"

    @Driver.check_active
    @step()
    def reset(self) -> None:
        """Reboots it as its user does: the first unlock is owed."""
        self.phone.reboot()

    @Driver.check_active
    @step()
    def erase(self) -> None:
        """Brings it back to how it was made; it is shut down then."""
        self.phone.shutdown()
        self.phone.erase()

    @Driver.check_active
    @step(args=["step_"], result=False)
    def do(self, step_: Mapping[str, Any], **options: Any) -> Outcome:
        """Carries out any step of a scenario."""
        return self.phone.do(step_, **options)

    @Driver.check_active
    def app(self, name: str) -> LiveApp:
        """An app by its name or bundle identifier."""
        return self.phone.app(name)

    @Driver.check_active
    def device(self, name: str) -> LiveDevice:
        """A device around it."""
        return self.phone.device(name)

    @Driver.check_active
    @step(args=["span"])
    def advance(self, span: Time) -> Outcome:
        """Lets the clock of a virtual phone go on."""
        return self.phone.advance(span)

    @Driver.check_active
    def follow(self, after: int | None = None, timeout: float | None = None) -> Following:
        """What happens to it from now on."""
        return self.phone.follow(after, timeout)


@target_factory.reg_driver
@attr.s(eq=False)
class WakebenchAccessoryDriver(Reaching):
    """An accessory around a phone that is booted."""

    bindings = {"resource": {"WakebenchAccessory", "NetworkWakebenchAccessory"}}

    def _resource(self) -> object:
        return self.resource

    @property
    def device(self) -> LiveDevice:
        """The client of the device."""
        return LiveDevice(self.bench.phone(self.resource.phone), self.resource.device)

    @Driver.check_active
    @step(args=["characteristic", "value"])
    def notify(self, characteristic: str, value: str | bytes, **options: Any) -> Outcome:
        """It notifies a value."""
        return self.device.notify(characteristic, value, **options)

    @Driver.check_active
    @step()
    def disconnect(self, **options: Any) -> Outcome:
        """It drops its link."""
        return self.device.disconnect(**options)

    @Driver.check_active
    @step()
    def in_range(self, **options: Any) -> Outcome:
        """It comes into the phone's reach."""
        return self.device.in_range(**options)

    @Driver.check_active
    @step()
    def out_of_range(self, **options: Any) -> Outcome:
        """It leaves the phone's reach."""
        return self.device.out_of_range(**options)

    @Driver.check_active
    @step(args=["fault"])
    def arm(self, fault: str, **options: Any) -> Outcome:
        """A fault of its file is what it does next."""
        return self.device.arm(fault, **options)

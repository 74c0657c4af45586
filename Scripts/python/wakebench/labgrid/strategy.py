"""The strategy: a phone in a state that tests can begin with."""

from __future__ import annotations

import enum

import attr
from labgrid.factory import target_factory
from labgrid.step import step
from labgrid.strategy.common import Strategy, StrategyError, never_retry


class Status(enum.Enum):
    """How a phone stands."""

    unknown = 0
    off = 1
    booted = 2
    unlocked = 3


@target_factory.reg_driver
@attr.s(eq=False)
class WakebenchStrategy(Strategy):
    """Brings a phone to `off`, `booted` or `unlocked`; with `labgrid-client -s booted`, too.

    Args:
        erase (bool): whether it is booted as it was made, and not from where it was shut down
    """

    bindings = {"phone": "WakebenchPhoneDriver"}
    erase = attr.ib(default=True, validator=attr.validators.instance_of(bool))
    status = attr.ib(default=Status.unknown)

    @never_retry
    @step(args=["status"])
    def transition(self, status: Status | str, *, step: object) -> None:
        """Brings it there."""
        status = _status(status)
        if status == self.status:
            step.skip("nothing to do")  # type: ignore[attr-defined]
            return
        if status is Status.unknown:
            raise StrategyError(f"can not transition to {status}")
        if status is Status.off:
            self.target.activate(self.phone)
            self.phone.off()
        elif status is Status.booted:
            self.transition(Status.off)
            if self.erase:
                self.phone.erase()
            self.phone.on()
        else:
            self.transition(Status.booted)
            self.phone.phone.unlock()
        self.status = status

    @never_retry
    @step(args=["status"])
    def force(self, status: Status | str, *, step: object) -> None:
        """Takes it to be there already."""
        status = _status(status)
        if status is Status.unknown:
            raise StrategyError(f"can not force state {status}")
        self.target.activate(self.phone)
        self.status = status


def _status(status: Status | str) -> Status:
    if isinstance(status, Status):
        return status
    try:
        return Status[status]
    except KeyError:
        known = ", ".join(each.name for each in Status if each is not Status.unknown)
        raise StrategyError(f"no state '{status}' of a phone; expected one of {known}") from None

"""labgrid's exporter, which has benches too: `wakebench-labgrid-exporter` takes the options of `labgrid-exporter`.

labgrid's own has no way to import what it exports; it hands on a NetworkWakebenchPhone as it stands in its file, and takes
it to be available. This one looks whether the daemon answers and has the phone, and hands phones out as they were made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attr
from labgrid.remote import exporter

from ..live import LiveBench
from ..program import WakebenchError
from . import resource as resources

# Where Linux has its Bluetooth adapters.
ADAPTERS = Path("/sys/class/bluetooth")


@attr.s(eq=False)
class BenchExport(exporter.ResourceExport):
    """A bench, or a part of one, by its daemon."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        # `reset: false` leaves a phone as it is from one user to the next.
        self.resets = self.local_params.pop("reset", True)
        self.local = getattr(resources, self.cls)(target=None, name=None, **self.local_params)
        self.local.poll = self._look
        self.data["cls"] = f"Network{self.cls}"

    def _get_params(self) -> dict[str, Any]:
        return {"host": self.host, **self.local_params}

    def _look(self) -> None:
        self.local.avail = self._is_there()

    def _is_there(self) -> bool:
        try:
            with LiveBench(self.local.socket) as bench:
                phone = getattr(self.local, "phone", None)
                return phone is None or any(each.name == phone for each in bench.phones())
        except WakebenchError:
            return False


@attr.s(eq=False)
class PhoneExport(BenchExport):
    """A phone, which is handed out as it was made, and is shut down when it is given back."""

    def acquire(self, place_name: str) -> None:
        """Hands it out."""
        if self.resets:
            try:
                with LiveBench(self.local.socket) as bench:
                    phone = bench.phone(self.local.phone)
                    phone.shutdown()
                    phone.erase()
            except WakebenchError as error:
                raise exporter.InvalidResourceRequestError(error.line) from None
        super().acquire(place_name)

    def release(self, *words: Any, **options: Any) -> None:
        """Takes it back."""
        super().release(*words, **options)
        if self.resets:
            try:
                with LiveBench(self.local.socket) as bench:
                    bench.phone(self.local.phone).shutdown()
            except WakebenchError as error:
                # Whoever acquires it next will hear, if it is still so.
                self.logger.warning("%s: %s", self.local.phone, error.line)


@attr.s(eq=False)
class AdapterExport(BenchExport):
    """A Bluetooth adapter, which is there while Linux has it."""

    def _is_there(self) -> bool:
        return super()._is_there() and (ADAPTERS / self.local.interface).exists()


exporter.exports.update(
    WakebenchBench=BenchExport,
    WakebenchPhone=PhoneExport,
    WakebenchAccessory=BenchExport,
    WakebenchAdapter=AdapterExport,
)


def main() -> None:
    """Runs labgrid's exporter."""
    exporter.main()

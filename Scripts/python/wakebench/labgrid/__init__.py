"""A bench of Wakebench as resources, drivers and a strategy of labgrid: `imports: [wakebench.labgrid]` in an environment file.

It needs the extra `wakebench[labgrid]`. `wakebench-labgrid-exporter` is labgrid's exporter that knows these resources.
"""

from .driver import WakebenchAccessoryDriver, WakebenchBenchDriver, WakebenchPhoneDriver
from .resource import (
    NetworkWakebenchAccessory,
    NetworkWakebenchAdapter,
    NetworkWakebenchBench,
    NetworkWakebenchPhone,
    WakebenchAccessory,
    WakebenchAdapter,
    WakebenchBench,
    WakebenchPhone,
)
from .strategy import Status, WakebenchStrategy

__all__ = [
    "NetworkWakebenchAccessory",
    "NetworkWakebenchAdapter",
    "NetworkWakebenchBench",
    "NetworkWakebenchPhone",
    "Status",
    "WakebenchAccessory",
    "WakebenchAccessoryDriver",
    "WakebenchAdapter",
    "WakebenchBench",
    "WakebenchBenchDriver",
    "WakebenchPhone",
    "WakebenchPhoneDriver",
    "WakebenchStrategy",
]

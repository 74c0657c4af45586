"""Plays Wakebench's scenarios in pytest, drives phones of a running bench, and says what was decided.

The plug-in has the fixtures `wakebench`, `scenario`, `device` and `app`, and `wakebench_bench` and `wakebench_phone`; these
are their types.
"""

from .bench import Wakebench
from .live import Following, LiveApp, LiveBench, LiveDevice, LivePhone, Outcome
from .program import Program, WakebenchError
from .run import Decisions, Expectation, Fault, Run
from .scenario import Scenario
from .served import ServedBench

__version__ = "0.1.0"
__all__ = [
    "Decisions",
    "Expectation",
    "Fault",
    "Following",
    "LiveApp",
    "LiveBench",
    "LiveDevice",
    "LivePhone",
    "Outcome",
    "Program",
    "Run",
    "Scenario",
    "ServedBench",
    "Wakebench",
    "WakebenchError",
]

"""Plays Wakebench's scenarios in pytest, and says what was decided.

The plug-in has the fixtures `wakebench`, `scenario`, `device` and `app`; these are their types.
"""

from .bench import Wakebench
from .program import Program, WakebenchError
from .run import Decisions, Expectation, Fault, Run
from .scenario import Scenario

__version__ = "0.1.0"
__all__ = ["Decisions", "Expectation", "Fault", "Program", "Run", "Scenario", "Wakebench", "WakebenchError"]

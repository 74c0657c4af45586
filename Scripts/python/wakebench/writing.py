"""A writer of plain data as YAML, which needs no library: dictionaries, lists, texts, bytes, numbers and truth values."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

# What YAML reads as a text without quotes. Every scalar is text to Wakebench, so quotes change nothing for it.
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def written(data: Mapping[str, Any]) -> str:
    """A file: a key a line, and below it an entry of a list a line."""
    lines = []
    for key, value in data.items():
        if isinstance(value, (list, tuple)) and value:
            lines.append(f"{_scalar(key)}:")
            lines += [f"  - {_flow(each)}" for each in value]
        else:
            lines.append(f"{_scalar(key)}: {_flow(value)}")
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (bytes, bytearray)):
        return f'"{value.hex()}"'
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise TypeError(
            f"{value!r} cannot be written in a scenario; give a dict, list, str, bytes, int, float, bool or path"
        )
    return value if PLAIN.fullmatch(value) else '"' + "".join(map(_escaped, value)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

#!/usr/bin/env bash
# pyte 0.8.2 (PyPI), a terminal emulator for tests, leaves out SU and SD of ECMA-48 (CSI Ps S and CSI Ps T: the lines of the page go
# up, or down). terminfo has them as `indn` and `rin` of screen, tmux and xterm, so ncurses scrolls a region by them; on pyte's
# screen nothing moves, no error is raised, and what a program draws afterwards stands among stale lines.
#
# Seen: after CSI 1 S the first line is still "one"; a line feed at the bottom, which means the same, moves it away.
# This script fails when that has changed. It needs python3 with venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyte==0.8.2
"$folder/venv/bin/python" - <<'END'
import pyte


def first_line(*more):
    """The first line of three after the text and something more."""
    screen = pyte.Screen(10, 3)
    stream = pyte.ByteStream(screen)
    for data in (b"one\r\ntwo\r\nthree", *more):
        stream.feed(data)
    return screen.display[0].rstrip()


seen = {
    "nothing more": first_line(),
    "SU, CSI 1 S": first_line(b"\x1b[1S"),
    "SD, CSI 1 T": first_line(b"\x1b[1T"),
    "a line feed on the last line": first_line(b"\n"),
    "RI on the first line": first_line(b"\x1b[1;1H\x1bM"),
}
for what, line in seen.items():
    print(f"{what}: the first line is {line!r}")
assert seen == {
    "nothing more": "one",
    "SU, CSI 1 S": "one",
    "SD, CSI 1 T": "one",
    "a line feed on the last line": "two",
    "RI on the first line": "",
}, "pyte behaves differently now"
print(f"as found with pyte {pyte.__version__ if hasattr(pyte, '__version__') else '0.8.2'}")
END
for terminal in screen-256color xterm-256color tmux-256color; do
    infocmp -1 "$terminal" 2>/dev/null | grep -E '^\s(indn|rin)=' | sed "s/^/$terminal: /" || true
done

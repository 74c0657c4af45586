#!/usr/bin/env bash
# rootcanal 1.13.0 (PyPI), Android's simulated Bluetooth controller, is a wheel for any platform (py3-none-any) that holds a program of
# Linux for x86_64, which asks for GLIBC_2.39 and GLIBCXX_3.4.32. pip installs it anywhere; on Debian 12 (glibc 2.36)
# `python -m rootcanal` then ends with messages of the dynamic loader. 1.10.0 has the same tag and asks for no more than GLIBC_2.34.
#
# Seen: the tag and the newest version of glibc that each program asks for. This script fails when that has changed. It needs python3
# with venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
for version in 1.10.0 1.13.0; do
    "$folder/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$folder" "rootcanal==$version"
done
"$folder/venv/bin/python" - "$folder" <<'END'
import pathlib
import re
import sys
import zipfile

seen = {}
for wheel in sorted(pathlib.Path(sys.argv[1]).glob("rootcanal-*.whl")):
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as parts:
        tags = re.findall("^Tag: (.*)$", parts.read(f"rootcanal-{version}.dist-info/WHEEL").decode(), re.M)
        program = parts.read("rootcanal/bin/linux-x86_64/rootcanal")
    newest = max(tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", program))
    seen[version] = (tags, f"GLIBC_{newest[0]}.{newest[1]}")
    print(version, *seen[version])
assert seen == {
    "1.10.0": (["py3-none-any"], "GLIBC_2.34"), "1.13.0": (["py3-none-any"], "GLIBC_2.39"),
}, "the wheels are others now"
print("as found with rootcanal 1.10.0 and 1.13.0")
END

#!/usr/bin/env bash
# Bumble 0.0.236 (PyPI) has simulated controllers on a link (bumble.controller, bumble.link). A scanner there never gets an
# advertiser's scan response: its report has the advertising data once more, in passive scans, too. A host that keeps
# names in the scan response, as most peripherals do, looks as if it had none, and a passive scanner is told of answers to requests that
# it never sent.
#
# Seen: for an advertiser with the advertising data 02 01 06 and the scan response 05 09 "Name", a passive scan tells an
# advertisement and a scan response, both with 020106. This script fails when that has changed. It needs python3 with venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bumble==0.0.236
"$folder/venv/bin/python" - <<'END'
import asyncio

from bumble.controller import Controller
from bumble.device import Device
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

ADVERTISED, RESPONSE = bytes.fromhex("020106"), bytes.fromhex("05094e616d65")


async def main():
    link = LocalLink()
    devices = []
    for name, address in ("advertiser", "F0:00:00:00:00:01"), ("scanner", "F0:00:00:00:00:02"):
        controller = Controller(name, link=link)
        controller.host = host = Host(controller, AsyncPipeSink(controller))
        device = Device(name=name, address=Address(address), host=host)
        devices.append(device)
        await device.power_on()
    advertiser, scanner = devices
    seen, enough = [], asyncio.Event()
    host = scanner.host

    def heard(report):
        # Bit 3 of the type of an extended report: a scan response.
        seen.append(("scan response" if int(report.event_type) & 8 else "advertisement", bytes(report.data)))
        if len(seen) >= 2:
            enough.set()

    host.on("advertising_report", heard)
    await scanner.start_scanning(active=False, legacy=True)
    advertiser.advertising_data, advertiser.scan_response_data = ADVERTISED, RESPONSE
    await advertiser.start_advertising()
    await asyncio.wait_for(enough.wait(), 20)
    for kind, data in seen[:2]:
        print(kind, data.hex())
    wanted = [("advertisement", ADVERTISED), ("scan response", ADVERTISED)]
    assert seen[:2] == wanted, "Bumble behaves differently now"
    print("as found with bumble 0.0.236")


asyncio.run(main())
END

"""Pushes with aioapns to a running bench, and ends with 1 at the first answer that is not the right one."""

import asyncio
import logging
import ssl
import sys
import time

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsTLSClientProtocol

port, folder, device = int(sys.argv[1]), sys.argv[2], sys.argv[3]
logging.disable(logging.ERROR)
TOPIC = "com.example.messenger"
COUNT = 10_000


class Local(APNsTLSClientProtocol):
    APNS_SERVER = "localhost"
    APNS_PORT = port


def client(topic=TOPIC):
    with open(f"{folder}/provider.p8", encoding="ascii") as file:
        key = file.read()
    context = ssl.create_default_context(cafile=f"{folder}/bench-identity/apns-authority.pem")
    made = APNs(max_connections=1, ssl_context=context, key=key, key_id="ABC123DEFG", team_id="DEF123GHIJ", topic=topic)
    made.pool.protocol_class = Local
    return made


async def expect(sender, status, reason, token=device, message=None, **options):
    request = NotificationRequest(token, message or {"aps": {"content-available": 1}}, **options)
    result = await asyncio.wait_for(sender.send_notification(request), 60)
    assert (result.status, result.description or "") == (str(status), reason), f"{result.status} {result.description}"


async def main():
    sender = client()
    background = {"priority": 5, "push_type": PushType.BACKGROUND}
    await expect(sender, 200, "", **background)
    await expect(sender, 400, "BadDeviceToken", token="a1" * 32, **background)
    await expect(client("com.example.other"), 400, "DeviceTokenNotForTopic", **background)
    await expect(sender, 413, "PayloadTooLarge", message={"aps": {"content-available": 1}, "text": "x" * 5_000}, **background)
    await expect(sender, 400, "BadExpirationDate", time_to_live=-int(time.time()) - 60, **background)
    print("apns: the bench gave Apple's answers to 5 pushes", flush=True)
    requests = [
        NotificationRequest(device, {"aps": {"content-available": 1}, "number": number}, **background) for number in range(COUNT)
    ]
    begun = time.monotonic()
    for start in range(0, COUNT, 500):
        sent = (sender.send_notification(request) for request in requests[start : start + 500])
        results = await asyncio.wait_for(asyncio.gather(*sent), 60)
        refused = [(result.status, result.description) for result in results if not result.is_successful]
        assert not refused, f"{len(refused)} pushes were refused, such as with {refused[0]}"
    print(f"apns: the bench accepted {COUNT} pushes over one connection in {time.monotonic() - begun:.1f} s", flush=True)


asyncio.run(main())

"""Pushes with aioapns to an endpoint on this machine, and ends with 1 at the first answer that is not the right one."""

import asyncio
import logging
import ssl
import sys
import time

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsTLSClientProtocol

port, folder = int(sys.argv[1]), sys.argv[2]
logging.disable(logging.ERROR)
DEVICE = "a1" * 32

# Apple's table, in the endpoint's order.
REASONS = [
    (400, "BadCollapseId"), (400, "BadDeviceToken"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"),
    (400, "BadTopic"), (400, "DeviceTokenNotForTopic"), (400, "DuplicateHeaders"), (400, "IdleTimeout"),
    (400, "InvalidPushType"), (400, "MissingDeviceToken"), (400, "MissingTopic"), (400, "PayloadEmpty"),
    (400, "TopicDisallowed"), (403, "BadCertificate"), (403, "ExpiredProviderToken"), (403, "Forbidden"),
    (403, "InvalidProviderToken"), (403, "MissingProviderToken"), (404, "BadPath"), (405, "MethodNotAllowed"),
    (410, "ExpiredToken"), (410, "Unregistered"), (413, "PayloadTooLarge"), (429, "TooManyProviderTokenUpdates"),
    (429, "TooManyRequests"), (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"),
]


class Local(APNsTLSClientProtocol):
    APNS_SERVER = "localhost"
    APNS_PORT = port


def client(**options):
    """A client with one connection, to the endpoint."""
    context = ssl.create_default_context(cafile=f"{folder}/identity/apns-authority.pem")
    made = APNs(max_connections=1, ssl_context=context, **options)
    made.pool.protocol_class = Local
    return made


def with_key(name, topic="com.example.app"):
    with open(f"{folder}/{name}.p8", encoding="ascii") as file:
        key = file.read()
    return client(key=key, key_id="ABC123DEFG", team_id="DEF123GHIJ", topic=topic)


checked = 0


async def expect(sender, status, reason, device=DEVICE, message=None, **options):
    global checked
    request = NotificationRequest(device, message or {"aps": {"alert": "hello"}}, **options)
    result = await asyncio.wait_for(sender.send_notification(request), 60)
    assert (result.status, result.description or "") == (str(status), reason), f"{result.status} {result.description}"
    assert result.notification_id == request.notification_id
    if status == 410:
        assert abs(time.time() - result.timestamp / 1000) < 60, f"{result.timestamp} is no time of now in milliseconds"
    checked += 1


async def answers():
    sender = with_key("provider")
    await expect(sender, 200, "")
    for kind in PushType:
        await expect(sender, 200, "", push_type=kind, priority=5, time_to_live=60, collapse_key="c" * 64)
    for number, (status, reason) in enumerate(REASONS):
        await expect(sender, status, reason, device=f"ff{number:02x}")
    await expect(sender, 400, "BadDeviceToken", device="none")
    await expect(sender, 400, "BadPriority", priority=7)
    await expect(sender, 400, "BadCollapseId", collapse_key="c" * 65)
    await expect(sender, 400, "BadTopic", apns_topic="com.example/app")
    await expect(sender, 413, "PayloadTooLarge", message={"a": "a" * 4089})
    await expect(sender, 200, "", message={"a": "a" * 4087})
    call = {"push_type": PushType.VOIP, "apns_topic": "com.example.app.voip"}
    await expect(sender, 413, "PayloadTooLarge", message={"a": "a" * 5113}, **call)
    await expect(sender, 200, "", message={"a": "a" * 5111}, **call)
    await expect(with_key("other"), 403, "InvalidProviderToken")
    certified = client(client_cert=f"{folder}/certificate.pem")
    await expect(certified, 200, "")
    await expect(certified, 400, "TopicDisallowed", apns_topic="com.example.app")
    print(f"apns: {checked} answers were right")


async def load(count=10_000, batch=500):
    sender = with_key("provider", "com.example.load")
    begun = time.monotonic()
    accepted = 0
    for first in range(0, count, batch):
        requests = [NotificationRequest(DEVICE, {"number": number}) for number in range(first, first + batch)]
        results = await asyncio.wait_for(asyncio.gather(*map(sender.send_notification, requests)), 60)
        assert [result.notification_id for result in results] == [request.notification_id for request in requests]
        accepted += sum(result.is_successful for result in results)
    assert accepted == count, f"{accepted} of {count} were accepted"
    assert len(sender.pool.connections) == 1
    print(f"apns: {accepted} pushes over one connection were accepted in {time.monotonic() - begun:.1f} s")


async def main():
    await answers()
    await load()


asyncio.run(main())

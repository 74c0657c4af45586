"""Requests to a daemon, some of which mean something and most of which were changed: see Scripts/garbage."""

import json


def good(chance):
    """A request that means something, with things of its own."""
    steps = [
        {"launch": "heart"}, {"home": "heart"}, {"phone": chance.choice(["lock", "unlock", "reboot"])},
        {"notify": "belt", "characteristic": "2A37", "value": "%04x" % chance.randrange(65536)},
        {"terminate": "heart", "cause": "memory"}, {"disconnect": "belt"}, {"in-range": "belt"}, {"out-of-range": "belt"},
        {"push": {"app": "heart", "payload": {"aps": {"content-available": 1}}}}, {"note": "x" * chance.randrange(2000)},
        {"position": {"latitude": chance.uniform(-90, 90), "longitude": chance.uniform(-180, 180)}},
    ]
    return chance.choice(
        [
            {"op": "do", "phone": "one", "wait": False, "command": {"step": chance.choice(steps)}},
            {"op": "do", "phone": "one", "command": {"advance": chance.randrange(1 << 62)}},
            {"op": "phones"}, {"op": "apps", "phone": "one"}, {"op": "devices", "phone": "booted"}, {"op": "hello"},
            {"op": "wait", "phone": "one", "app": "heart", "state": "suspended", "timeout": 0.01},
            {"op": "can-wake", "phone": "one", "app": "heart", "event": "characteristic-notified"},
            {"op": "follow", "phone": "one", "after": chance.randrange(100)},
            {"op": "snapshot", "phone": "one", "action": "list"}, {"op": "create", "phone": f"p{chance.randrange(3)}"},
            {"op": "delete", "phone": f"p{chance.randrange(3)}"},
        ]
    )


def value(chance, depth=0):
    kind = chance.randrange(8 if depth < 4 else 6)
    if kind == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(5))]
    if kind == 7:
        return {chance.choice(["op", "phone", "x", "step", "\u0000"]): value(chance, depth + 1) for _ in range(chance.randrange(5))}
    return chance.choice([None, True, -1, 1 << 63, 1e308, "", "one", "\ud83d\ude00", "../..", "a" * 5000, 0.5])


def mutated(chance):
    """The line of a request; one in six is as it should be, so that phones have a life meanwhile."""
    request = good(chance)
    kind = chance.randrange(6)
    if kind == 0:
        request[chance.choice(list(request))] = value(chance)
    elif kind == 1:
        request["command"] = value(chance)
    elif kind == 2 and "command" in request:
        step = request["command"].get("step")
        if isinstance(step, dict):
            step[chance.choice(list(step) + ["every", "at", "value"])] = value(chance)
    line = bytearray(json.dumps(request).encode())
    if kind == 3:
        for _ in range(chance.randrange(1, 8)):
            line[chance.randrange(len(line))] = chance.randrange(256)
    elif kind == 4:
        line = line[: chance.randrange(len(line))]
    return bytes(line)

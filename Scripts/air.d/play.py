"""Plays the plays of Scripts/air, several at a time: play.py [--slots N] [--list] [NAME...]."""

import argparse
import asyncio
import signal
import sys
import time

from plays import CLIENTS, PLAYS
from world import OUT, ROOT, Failed, Missing, World, bundles, python, wakebench

# All at once, values come as evenly as one at a time; the longest play is as long as twelve slots need for all.
SLOTS = 12
FAILED, USAGE, MISSING, OVERDUE = 1, 2, 12, 124


class Outcome:
    """What came of a play: 0 or an exit code of this program, seconds, and what there is to say."""

    def __init__(self, play, code, seconds, text, tails):
        self.play, self.code, self.seconds, self.text, self.tails = play, code, seconds, text, tails

    @property
    def word(self):
        return {0: "ok", MISSING: "missing", OVERDUE: "overdue"}.get(self.code, "FAILED")


async def outcome(play):
    began = time.monotonic()
    world = World(play.name)
    code, text, tails = 0, "", []
    try:
        await asyncio.wait_for(play.work(world, play), play.limit)
    except asyncio.TimeoutError:
        code, text = OVERDUE, f"it was still going on after {play.limit} s"
    except Failed as failure:
        code, text = FAILED, str(failure)
    except Missing as failure:
        code, text = MISSING, str(failure)
    finally:
        tails = list(world.tails())
        wrong = await world.end()
    if wrong:
        code, text = code or FAILED, "\n".join([text, *wrong]).strip()
    return Outcome(play, code, time.monotonic() - began, text, tails)


async def run(plays, slots):
    free, outcomes = asyncio.Semaphore(slots), []
    width = max(len(play.name) for play in plays)
    print(f"{'PLAY':<{width}}  {'RESULT':<8} {'SECONDS':>7}  THE LAB'S JOB", flush=True)

    async def one(play):
        async with free:
            found = await outcome(play)
        outcomes.append(found)
        print(f"{play.name:<{width}}  {found.word:<8} {found.seconds:>7.1f}  {play.lab or '-'}", flush=True)
        if found.code:
            print("\n".join(f"    {line}" for line in [*found.text.split("\n"), *found.tails]), flush=True)

    ends = await asyncio.gather(
        *(one(play) for play in sorted(plays, key=lambda play: -play.seconds)), return_exceptions=True
    )
    for error in ends:
        if error is not None:
            raise error
    return outcomes


async def whole(plays, slots):
    """All plays, unless a signal ends them."""
    work = asyncio.ensure_future(run(plays, slots))
    told = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, lambda number=number: (told.append(number), work.cancel()))
    began = time.monotonic()
    try:
        outcomes = await work
    except asyncio.CancelledError:
        return 128 + told[0]
    print(f"{len(plays)} plays in {time.monotonic() - began:.0f} s, {slots} at a time")
    failed = sorted(each.play.name for each in outcomes if each.code)
    for name in failed:
        print(f"FAILED: {name} ({(OUT / name).relative_to(ROOT)})")
    codes = {each.code for each in outcomes} - {0}
    return next((code for code in (FAILED, OVERDUE, MISSING) if code in codes), 0)


def chosen():
    parser = argparse.ArgumentParser(prog="Scripts/air", add_help=False)
    parser.add_argument("--slots", type=int, default=SLOTS)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = {play.name: play for play in PLAYS}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no play '{unknown[0]}'; see --list")
    if not 1 <= options.slots <= 32:
        parser.error(f"--slots {options.slots}: 1 to 32")
    return options, [known[name] for name in dict.fromkeys(options.names)]


def main():
    options, plays = chosen()
    if options.list:
        for play in PLAYS:
            print(f"{play.name:<28} {play.proves}")
        return 0
    if not plays:
        plays = PLAYS
    try:
        # All that waits for long is made before the first play.
        wakebench(), bundles(), python(), python(CLIENTS)
    except Missing as failure:
        print(f"air: {failure}", file=sys.stderr)
        return MISSING
    return asyncio.run(whole(plays, options.slots))


if __name__ == "__main__":
    sys.exit(main())
